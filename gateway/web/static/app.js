'use strict';
(() => {
  const $ = id => document.getElementById(id);
  const policy = window.trustedTypes
    ? trustedTypes.createPolicy('klawbot', { createHTML: text => text })
    : { createHTML: text => text };
  const parse = html => {
    const t = document.createElement('template');
    t.innerHTML = policy.createHTML(html); // the page's own HTML: all text in it is escaped
    return t.content;
  };
  const words = () => ($('words') || document.body).dataset;

  // The bar: More closes by itself; Alt-1…9 are the pages, / is the search.
  const more = document.querySelector('.more');
  if (more) {
    document.querySelector('.top [aria-current=page]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
    document.addEventListener('click', e => { if (!more.contains(e.target)) more.open = false; });
    more.addEventListener('focusout', e => { if (e.relatedTarget && !more.contains(e.relatedTarget)) more.open = false; });
    more.addEventListener('keydown', e => { if (e.key === 'Escape') { more.open = false; more.firstElementChild.focus(); e.stopPropagation(); } });
  }
  document.addEventListener('keydown', e => {
    if (e.altKey && !e.ctrlKey && !e.metaKey && e.key >= '1' && e.key <= '9') {
      const link = document.querySelectorAll('.top nav a')[e.key - 1];
      if (link) { e.preventDefault(); link.click(); }
    }
    if (e.key === '/' && !e.altKey && !e.ctrlKey && !e.metaKey && !/^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName)) {
      const search = document.querySelector('input[type=search]') || $('text');
      if (search) { e.preventDefault(); search.focus(); }
    }
  });

  // Code is copied with one press.
  const copyable = root => root.querySelectorAll('.copy').forEach(b => { b.hidden = !navigator.clipboard; });
  copyable(document);
  document.addEventListener('click', async e => {
    const b = e.target.closest('.copy');
    if (!b) return;
    const said = b.textContent;
    await navigator.clipboard.writeText(b.closest('.code').querySelector('code').textContent);
    b.textContent = words().copied || '✓';
    setTimeout(() => { b.textContent = said; }, 1500);
  });

  const list = $('messages'), form = $('say');
  if (!list) return;
  const scroll = $('scroll');
  const toEnd = () => { scroll.scrollTop = scroll.scrollHeight; };
  const atEnd = () => scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 80;
  if (!form) return; // older messages
  toEnd();
  // Who reads the end stays there when a picture loads, an answer grows or a phone's keyboard opens.
  let stuck = true, top = scroll.scrollTop;
  scroll.addEventListener('scroll', () => {
    if (atEnd()) stuck = true; else if (scroll.scrollTop < top) stuck = false;
    top = scroll.scrollTop;
  });
  const watch = new ResizeObserver(() => { if (stuck) toEnd(); });
  watch.observe(scroll);
  watch.observe(list);

  const text = $('text'), live = $('live'), kept = sessionStorage;
  let rev = list.dataset.rev, source = null, retry = 0, lostTimer = 0, paused = false;
  const pending = []; // what was said and is not stored yet, in order

  // Messages stand in the order of their ids.
  const number = el => el.classList.contains('pending') ? Infinity : Number(el.id.slice(1)) || -1;
  function place(m) {
    const old = $('m' + m.id);
    if (m.key) list.querySelectorAll('[data-key]').forEach(el => { if (el !== old && el.dataset.key === m.key) el.remove(); });
    if (!m.html) { if (old) old.remove(); return; }
    const el = parse(m.html).firstElementChild;
    copyable(el);
    if (old) {
      if (old.contains(document.activeElement) && document.activeElement.name === 'data') { text.focus(); }
      old.replaceWith(el);
    } else {
      let before = list.lastElementChild;
      while (before && number(before) > m.id) before = before.previousElementSibling;
      if (before) before.after(el); else list.prepend(el);
    }
    const empty = $('empty');
    if (empty) empty.remove();
    if (m.said) stuck = true;
    if (stuck) toEnd();
  }

  // The stream: a hidden page has none, so that many pages don't use up the connections.
  let connecting = false;
  async function connect() {
    if (source || connecting || document.hidden || paused) return;
    connecting = true;
    await slot();
    connecting = false;
    if (document.hidden || paused) { close(); return; }
    const s = source = new EventSource('/events?after=' + rev);
    s.onopen = () => {
      retry = 0; found(); flush();
      list.querySelectorAll('[data-growing]').forEach(el => el.remove()); // what still grows comes next
    };
    s.addEventListener('row', e => {
      rev = e.lastEventId || rev;
      const m = JSON.parse(e.data);
      place(m);
      if (!m.said && m.html) live.textContent = ($('m' + m.id).querySelector('.text') || {}).textContent || '';
    });
    s.addEventListener('grow', e => place(JSON.parse(e.data)));
    s.addEventListener('gone', e => {
      const el = $('m' + JSON.parse(e.data).id);
      if (el && 'growing' in el.dataset) el.remove();
    });
    s.addEventListener('work', e => work(JSON.parse(e.data)));
    s.addEventListener('end', pause);
    s.onerror = () => {
      lose();
      if (s.readyState === EventSource.CLOSED) { close(); again(); }
    };
  }
  function close() {
    if (source) { source.close(); source = null; }
    if (release) { release(); release = null; }
  }
  function pause() { close(); paused = true; $('paused').hidden = false; }
  // A browser has six connections to a host, so four pages may have a stream; the next one
  // takes the place of another.
  let release = null;
  function hold(name, options) {
    return new Promise(got => {
      navigator.locks.request(name, options, lock => {
        if (!lock) { got(false); return null; }
        return new Promise(done => { release = done; got(true); });
      }).catch(() => { release = null; pause(); });
    });
  }
  async function slot() {
    if (!navigator.locks) return;
    for (let i = 0; i < 4; i++) if (await hold('stream' + i, { ifAvailable: true })) return;
    await hold('stream' + Math.floor(Math.random() * 4), { steal: true });
  }
  function again() {
    clearTimeout(again.timer);
    again.timer = setTimeout(async () => {
      try {
        const r = await fetch('/chat', { method: 'HEAD' });
        if (r.status === 401) { location.reload(); return; }
      } catch { /* not there yet */ }
      connect();
    }, Math.min(500 * 2 ** retry++, 5000));
  }
  function lose() { if (!lostTimer) lostTimer = setTimeout(() => { $('lost').hidden = false; }, 700); }
  function found() { clearTimeout(lostTimer); lostTimer = 0; $('lost').hidden = true; }
  function resume() { if (paused) { paused = false; $('paused').hidden = true; connect(); } }
  for (const name of ['keydown', 'pointerdown', 'focus']) window.addEventListener(name, resume);
  document.addEventListener('visibilitychange', () => { if (document.hidden) { close(); } else { connect(); } });
  window.addEventListener('pagehide', close);
  window.addEventListener('pageshow', connect);
  window.addEventListener('online', connect);

  // What the bot is at.
  let began = 0, ticking = 0;
  function work(w) {
    $('work').hidden = !w.text;
    $('stop').hidden = !w.text;
    $('what').textContent = w.text;
    clearInterval(ticking);
    if (!w.text) return;
    began = Date.now() - w.ago;
    const tick = () => { const s = Math.floor((Date.now() - began) / 1000); $('seconds').textContent = s > 0 ? s + ' s' : ''; };
    tick();
    ticking = setInterval(tick, 1000);
  }
  work({ text: '' });

  // Questions say how long they can be answered.
  setInterval(() => list.querySelectorAll('.left').forEach(el => {
    const s = Math.floor((el.dataset.until - Date.now()) / 1000);
    el.textContent = s > 0 ? words().left.replace('%s', Math.floor(s / 60) + ':' + String(s % 60).padStart(2, '0')) : '';
  }), 1000);

  // What is said goes once, however often it is sent: its key says that it is the same.
  function keep() {
    kept.setItem('pending', JSON.stringify(pending.filter(p => !p.files.length).map(p => ({ key: p.key, text: p.text }))));
  }
  function bubble(item) {
    const el = $('pending').content.cloneNode(true).firstElementChild;
    el.dataset.key = item.key;
    el.querySelector('.written').textContent = [item.text, ...item.files.map(f => '📎 ' + f.name)].filter(Boolean).join('\n');
    list.append(el);
    stuck = true;
    toEnd();
  }
  function say(value, files, voice) {
    if (!value.trim() && !files.length) return;
    const item = { key: crypto.randomUUID(), text: value, files, voice };
    pending.push(item);
    keep();
    bubble(item);
    flush();
  }
  let flushing = false;
  async function flush() {
    if (flushing) return;
    flushing = true;
    while (pending.length) {
      const item = pending[0], data = new FormData();
      data.append('key', item.key);
      data.append('text', item.text);
      if (item.voice) data.append('voice', '1');
      item.files.forEach(f => data.append('file', f));
      let status = 0;
      try { status = (await fetch('/chat/say', { method: 'POST', body: data, headers: { 'X-Klawbot': '1' } })).status; } catch { /* not connected */ }
      if (status === 401) { location.reload(); return; }
      if (status === 0 || status >= 500) { lose(); setTimeout(flush, 1000); break; }
      pending.shift();
      keep();
      if (status >= 400) {
        const el = [...list.querySelectorAll('.pending')].find(e => e.dataset.key === item.key);
        if (el) el.querySelector('footer').textContent = words().failed;
      } else if (!source) connect();
    }
    flushing = false;
  }
  for (const item of JSON.parse(kept.getItem('pending') || '[]')) {
    item.files = [];
    pending.push(item);
    if (![...list.querySelectorAll('[data-key]')].some(el => el.dataset.key === item.key)) bubble(item);
  }
  text.value = kept.getItem('draft') || '';
  text.addEventListener('input', () => kept.setItem('draft', text.value));
  form.addEventListener('submit', e => {
    e.preventDefault();
    say(text.value, chosen.splice(0), false);
    text.value = '';
    kept.removeItem('draft');
    showFiles();
    text.focus();
  });
  let entered = false; // Enter is down: it sends, and adds no line
  text.addEventListener('keydown', e => {
    entered = e.key === 'Enter' && !e.shiftKey && !e.isComposing;
    if (entered) { e.preventDefault(); form.requestSubmit(); }
  });
  text.addEventListener('beforeinput', e => { if (entered && e.inputType === 'insertLineBreak') e.preventDefault(); });
  document.addEventListener('keydown', e => { if (e.key === 'Escape' && !$('stop').hidden) $('stop').requestSubmit(); });

  // Stop, New and the buttons of questions need no new page.
  document.addEventListener('submit', async e => {
    const f = e.target;
    if (f === form || !f.closest('.page-chat main')) return;
    e.preventDefault();
    const data = new URLSearchParams(new FormData(f, e.submitter));
    const buttons = f.querySelectorAll('button');
    buttons.forEach(b => { b.disabled = true; });
    try { await fetch(f.action, { method: 'POST', body: data, headers: { 'X-Klawbot': '1' } }); } catch { lose(); }
    setTimeout(() => buttons.forEach(b => { b.disabled = false; }), f.classList.contains('buttons') ? 3000 : 0);
    text.focus();
  });

  // Files: chosen, dropped or pasted.
  const chosen = [], picker = form.querySelector('input[type=file]');
  function showFiles() {
    $('files').hidden = !chosen.length;
    $('files').replaceChildren(...chosen.map((f, i) => {
      const li = document.createElement('li'), b = document.createElement('button');
      b.type = 'button';
      b.textContent = '×';
      b.setAttribute('aria-label', words().drop + ': ' + f.name);
      b.onclick = () => { chosen.splice(i, 1); showFiles(); text.focus(); };
      li.append(f.name, b);
      return li;
    }));
  }
  const add = files => { chosen.push(...files); showFiles(); text.focus(); };
  picker.addEventListener('change', () => { add(picker.files); picker.value = ''; });
  text.addEventListener('paste', e => { if (e.clipboardData.files.length) { e.preventDefault(); add(e.clipboardData.files); } });
  document.addEventListener('dragover', e => e.preventDefault());
  document.addEventListener('drop', e => { e.preventDefault(); add(e.dataTransfer.files); });

  // Older messages come above, without a new page.
  list.addEventListener('click', async e => {
    const link = e.target.closest('.older a');
    if (!link) return;
    e.preventDefault();
    const r = await fetch(link.href);
    if (!r.ok) return;
    const page = parse(await r.text()), height = scroll.scrollHeight;
    const older = page.querySelector('.older a[href^="/chat/before"]');
    const messages = [...page.querySelectorAll('#messages > .message')];
    const row = link.parentElement;
    stuck = false;
    if (older) row.before(older.parentElement);
    row.replaceWith(...messages);
    messages.forEach(copyable);
    scroll.scrollTop += scroll.scrollHeight - height;
  });

  // The microphone: the samples become a WAV file, which every listener reads.
  const mic = $('mic');
  if (mic && navigator.mediaDevices && window.AudioContext) {
    mic.hidden = false;
    let stop = null;
    mic.onclick = async () => {
      if (stop) { stop(); return; }
      let stream;
      try { stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } }); } catch { live.textContent = words().mute; return; }
      const context = new AudioContext({ sampleRate: 16000 }), from = context.createMediaStreamSource(stream);
      const tap = context.createScriptProcessor(4096, 1, 1), chunks = [];
      tap.onaudioprocess = e => chunks.push(new Float32Array(e.inputBuffer.getChannelData(0)));
      from.connect(tap);
      tap.connect(context.destination);
      mic.setAttribute('aria-pressed', 'true');
      live.textContent = words().speaking;
      stop = () => {
        stop = null;
        mic.setAttribute('aria-pressed', 'false');
        stream.getTracks().forEach(t => t.stop());
        context.close();
        if (chunks.length) say('', [new File([wav(chunks, context.sampleRate)], 'voice.wav', { type: 'audio/wav' })], true);
      };
    };
  }
  function wav(chunks, rate) {
    const size = chunks.reduce((n, c) => n + c.length, 0) * 2, v = new DataView(new ArrayBuffer(44 + size));
    const put = (at, s) => [...s].forEach((c, i) => v.setUint8(at + i, c.charCodeAt(0)));
    put(0, 'RIFF'); v.setUint32(4, 36 + size, true); put(8, 'WAVEfmt '); v.setUint32(16, 16, true);
    v.setUint16(20, 1, true); v.setUint16(22, 1, true); v.setUint32(24, rate, true); v.setUint32(28, rate * 2, true);
    v.setUint16(32, 2, true); v.setUint16(34, 16, true); put(36, 'data'); v.setUint32(40, size, true);
    let at = 44;
    for (const c of chunks) for (const s of c) { v.setInt16(at, Math.max(-1, Math.min(1, s)) * 32767, true); at += 2; }
    return v.buffer;
  }

  connect();
  flush();
})();
