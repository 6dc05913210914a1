"""Compares klawbot with another Telegram bot: first request, latency, memory, processor time.

Both get the same fake Telegram and the same fake model, one after the other, with their
default settings. Usage: compare.py KLAWBOT PICOCLAW [MESSAGES]
"""
import http.server, json, os, queue, statistics, subprocess, sys, tempfile, threading, time

USER = 22


class Fake(http.server.BaseHTTPRequestHandler):
    """Is Telegram below /bot and a model below /v1."""
    protocol_version = "HTTP/1.1"
    updates, sent, requests = queue.Queue(), queue.Queue(), []
    ids = iter(range(1, 10**9))

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.do_POST()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path.startswith("/v1/chat/completions"):
            Fake.requests.append(body)
            return self.model(json.loads(body).get("stream"))
        if self.path.startswith("/v1/"):
            return self.answer({"object": "list", "data": [{"id": "test-model", "object": "model"}]})
        self.telegram(self.path.rsplit("/", 1)[-1].split("?")[0], body)

    def model(self, stream):
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        if not stream:
            return self.answer({"id": "1", "object": "chat.completion", "model": "test-model", "choices": [
                {"index": 0, "message": {"role": "assistant", "content": "Hello!"}, "finish_reason": "stop"}], "usage": usage})
        chunk = {"id": "1", "object": "chat.completion.chunk", "model": "test-model", "choices": [
            {"index": 0, "delta": {"role": "assistant", "content": "Hello!"}, "finish_reason": None}]}
        last = {"id": "1", "object": "chat.completion.chunk", "model": "test-model", "choices": [
            {"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage}
        text = "".join("data: %s\n\n" % json.dumps(c) for c in (chunk, last)) + "data: [DONE]\n\n"
        self.write(text.encode(), "text/event-stream")

    def telegram(self, method, body):
        if method == "getMe":
            return self.ok({"id": 1, "is_bot": True, "first_name": "Bot", "username": "compare_bot"})
        if method == "getUpdates":
            try:
                return self.ok([self.updates.get(timeout=10)])
            except queue.Empty:
                return self.ok([])
        if method in ("sendMessage", "editMessageText"):
            Fake.sent.put((time.monotonic(), body))
            return self.ok({"message_id": next(Fake.ids), "date": int(time.time()), "text": "x",
                            "chat": {"id": USER, "type": "private"}})
        if method in ("getMyCommands",):
            return self.ok([])
        if method == "getWebhookInfo":
            return self.ok({"url": "", "pending_update_count": 0, "has_custom_certificate": False})
        self.ok(True)

    def ok(self, result):
        self.answer({"ok": True, "result": result})

    def answer(self, value):
        self.write(json.dumps(value).encode(), "application/json")

    def write(self, body, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except BrokenPipeError:
            pass  # a bot that ended while it polled


def say(text):
    """Sends a message and returns after how many seconds the answer came."""
    person = {"id": USER, "is_bot": False, "first_name": "Anna", "language_code": "en"}
    began = time.monotonic()
    Fake.updates.put({"update_id": next(Fake.ids), "message": {
        "message_id": next(Fake.ids), "date": int(time.time()), "text": text, "from": person,
        "chat": {"id": USER, "type": "private", "first_name": "Anna"}}})
    while True:
        at, body = Fake.sent.get(timeout=60)
        if b"Hello!" in body:
            return at - began


def used(pid):
    """Processor time in ms and resident memory in MB."""
    f = open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()
    rss = [l for l in open("/proc/%d/status" % pid) if l.startswith("VmRSS")][0].split()[1]
    return (int(f[11]) + int(f[12])) * 1000 / os.sysconf("SC_CLK_TCK"), int(rss) / 1000


def measure(name, argv, env, messages):
    Fake.requests.clear()
    log = open(os.path.join(env["HOME"], "log"), "w")
    p = subprocess.Popen(argv, env={**os.environ, **env}, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        say("hi")
        first = max(Fake.requests, key=len)
        open(name + "-request.json", "wb").write(first)
        cpu, idle = used(p.pid)
        took = []
        for n in range(messages):
            time.sleep(1.5)  # bots send at most a message a second to a chat
            took.append(say("hi"))
        now, rss = used(p.pid)
        print("%s: first request %d bytes; hi p50 %.3f s; %.1f ms of processor a turn; %.1f MB resident, %.1f after %d turns"
              % (name, len(first), statistics.median(took), (now - cpu) / messages, idle, rss, messages + 1), flush=True)
    finally:
        p.terminate()
        p.wait()


def serve():
    """Starts a server of its own for each bot: a poll of the last one may still wait."""
    Fake.updates, Fake.sent = queue.Queue(), queue.Queue()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Own", (Fake,), {"updates": Fake.updates}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return "http://127.0.0.1:%d" % server.server_port


def main():
    messages = int(sys.argv[3]) if len(sys.argv) > 3 else 50
    for again in range(2):  # twice, so that one that runs first has no drawback
        at = serve()
        home = tempfile.mkdtemp(prefix="compare-")
        env = {"HOME": home, "KLAWBOT_HOME": home}
        subprocess.run([sys.argv[1], "init", "--yes", "--token", "1000001:fake-token-for-tests", "--api-url", at, "--base-url", at + "/v1",
                        "--model", "test-model", "--owner", str(USER)], env={**os.environ, **env}, check=True, stdout=subprocess.DEVNULL)
        measure("klawbot", [sys.argv[1], "run"], env, messages)

        at = serve()
        home = tempfile.mkdtemp(prefix="compare-")
        env = {"HOME": home}
        subprocess.run([sys.argv[2], "onboard"], env={**os.environ, **env}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        file = os.path.join(home, ".picoclaw", "config.json")
        c = json.load(open(file))
        c["model_list"] = [{"model_name": "test", "model": "openai/test-model", "api_base": at + "/v1", "api_keys": ["k"], "api_key": "k"}]
        c["agents"]["defaults"]["model_name"] = "test"
        t = c["channels"]["telegram"]
        t.update({"enabled": True, "token": "1000001:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "base_url": at, "allow_from": [str(USER)]})
        json.dump(c, open(file, "w"))
        env["PICOCLAW_CHANNELS_TELEGRAM_TOKEN"] = t["token"]
        measure("picoclaw", [sys.argv[2], "gateway"], env, messages)


main()
