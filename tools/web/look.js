function (selector, most) {
  // What a person sees of the page: its text, and what can be clicked and typed
  // into, each with a selector that finds it again.
  let root = document.body || document.documentElement; // a picture has no body
  let found = !!root;
  if (selector) {
    try { root = document.querySelector(selector); } catch (e) { root = null; }
    found = !!root;
  }
  const result = { title: document.title.slice(0, 200), url: location.href.slice(0, 2000), text: "", found: found || !selector, controls: [], more: 0, unseen: 0 };
  if (!root) { return result; }
  // What a field holds, but nothing that is secret.
  const typed = (e) => e.tagName === "TEXTAREA" || e.tagName === "SELECT" || (e.tagName === "INPUT" && !["submit", "button", "reset", "image", "file", "hidden"].includes(e.type));
  const secret = (e) => e.type === "password"
    || /(^|\s)(cc-\S+|one-time-code|current-password|new-password)(\s|$)/i.test(e.getAttribute("autocomplete") || "")
    || /passw|passcode|pwd|cvv|cvc/i.test(e.getAttribute("name") + " " + e.id);
  const value = (e) => {
    if (!typed(e)) { return ""; }
    if (e.type === "checkbox" || e.type === "radio") { return e.checked ? "checked" : ""; }
    if (secret(e)) { return e.value ? "holds something that is not shown" : ""; }
    const text = e.tagName === "SELECT" ? [...e.selectedOptions].map((o) => o.label).join(", ") : e.value;
    return text ? "holds " + JSON.stringify(text.slice(0, 200)) + (text.length > 200 ? " and more" : "") : "";
  };
  if (typed(root) && root.tagName !== "SELECT") {
    result.text = secret(root) ? value(root) : root.value.slice(0, most);
  } else {
    result.text = (root.innerText ?? root.textContent ?? "").slice(0, most);
  }
  // A large page is not searched again and again for the shortest selector.
  const large = document.getElementsByTagName("*").length > 10000;
  const one = (s) => { try { return document.querySelectorAll(s).length === 1; } catch (e) { return false; } };
  const path = (e) => {
    if (e.id && one("#" + CSS.escape(e.id))) { return "#" + CSS.escape(e.id); }
    const name = e.getAttribute("name");
    const tag = e.tagName.toLowerCase();
    if (name && one(tag + '[name="' + CSS.escape(name) + '"]')) { return tag + '[name="' + CSS.escape(name) + '"]'; }
    let s = "";
    for (let at = e; at && at.nodeType === 1 && at !== document.documentElement; at = at.parentElement) {
      let n = 1;
      for (let b = at.previousElementSibling; b; b = b.previousElementSibling) { if (b.tagName === at.tagName) { n++; } }
      s = at.tagName.toLowerCase() + ":nth-of-type(" + n + ")" + (s ? " > " + s : "");
      if (!large && one(s)) { return s; }
    }
    return ":root > " + s;
  };
  const label = (e) => ((e.tagName !== "TEXTAREA" && e.innerText) || e.getAttribute("aria-label") || e.getAttribute("placeholder") || (e.labels && e.labels[0] && e.labels[0].innerText)
    || (!typed(e) && e.getAttribute("value")) || e.getAttribute("title") || "").trim().slice(0, 80);
  const all = root.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, [role=button], [contenteditable=true]");
  const looked = Math.min(all.length, 5000);
  result.unseen = all.length - looked;
  for (let i = 0; i < looked; i++) {
    const e = all[i];
    if (!e.getClientRects().length || getComputedStyle(e).visibility === "hidden") { continue; }
    if (result.controls.length >= 60) { result.more++; continue; }
    const kind = e.tagName === "A" ? "link" : e.tagName === "INPUT" ? "field " + e.type : e.tagName.toLowerCase();
    const to = e.tagName === "A" ? " -> " + e.href.slice(0, 300) : "";
    const held = value(e);
    result.controls.push(kind + " " + JSON.stringify(label(e)) + " at " + path(e) + to + (held ? " " + held : ""));
  }
  return result;
}
