function (selector, most) {
  // What a person sees of the page: its text, and what can be clicked and typed
  // into, each with a selector that finds it again.
  let root = document.body;
  let found = !!root;
  if (selector) {
    try { root = document.querySelector(selector); } catch (e) { root = null; }
    found = !!root;
  }
  const result = { title: document.title.slice(0, 200), url: location.href.slice(0, 2000), text: "", found: found || !selector, controls: [], more: 0 };
  if (!root) { return result; }
  result.text = (root.innerText || root.value || "").slice(0, most);
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
      if (one(s)) { break; }
    }
    return s;
  };
  for (const e of root.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, [role=button], [contenteditable=true]")) {
    if (!e.getClientRects().length || getComputedStyle(e).visibility === "hidden") { continue; }
    if (result.controls.length >= 60) { result.more++; continue; }
    const label = (e.innerText || e.getAttribute("aria-label") || e.getAttribute("placeholder") || (e.labels && e.labels[0] && e.labels[0].innerText) || e.getAttribute("value") || e.getAttribute("title") || "").trim().slice(0, 80);
    const kind = e.tagName === "A" ? "link" : e.tagName === "INPUT" ? "field " + e.type : e.tagName.toLowerCase();
    const to = e.tagName === "A" ? " -> " + e.href.slice(0, 300) : "";
    result.controls.push(kind + " " + JSON.stringify(label) + " at " + path(e) + to);
  }
  return result;
}
