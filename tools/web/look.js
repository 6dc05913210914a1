function (selector, most) {
  // What a person sees of the page: its text, and what can be clicked and typed
  // into, each with a selector that finds it again.
  //
  // It runs in a world of its own, where the page has replaced no function. But
  // names of elements still stand in the way of what forms and the document are
  // asked (<input name=parentElement>), so everything is asked by its prototype.
  const getter = (type, name) => { const g = Object.getOwnPropertyDescriptor(type.prototype, name).get; return (o) => g.call(o); };
  const tagOf = getter(Element, "tagName"), idOf = getter(Element, "id"), parentOf = getter(Node, "parentElement"), elderOf = getter(Element, "previousElementSibling");
  const titleOf = getter(Document, "title"), bodyOf = getter(Document, "body"), rootOf = getter(Document, "documentElement");
  const attribute = (e, name) => Element.prototype.getAttribute.call(e, name);
  const find = (s) => Document.prototype.querySelector.call(document, s);
  const findAll = (s) => Document.prototype.querySelectorAll.call(document, s);
  const textOf = (e) => (e instanceof HTMLElement ? getter(HTMLElement, "innerText")(e) : getter(Node, "textContent")(e)) || "";
  const top = rootOf(document);
  let root = bodyOf(document) || top; // a picture has no body
  let found = !!root;
  if (selector) {
    try { root = find(selector); } catch (e) { root = null; }
    found = !!root;
  }
  const result = { title: titleOf(document).slice(0, 200), url: location.href.slice(0, 2000), text: "", found: found || !selector, controls: [], more: 0, unseen: 0 };
  if (!root) { return result; }
  // What a field holds, but nothing that is secret.
  const isInput = (e) => e instanceof HTMLInputElement;
  const typed = (e) => e instanceof HTMLTextAreaElement || e instanceof HTMLSelectElement || (isInput(e) && !["submit", "button", "reset", "image", "file", "hidden"].includes(e.type));
  const secret = (e) => e.type === "password"
    || /(^|\s)(cc-\S+|one-time-code|current-password|new-password)(\s|$)/i.test(attribute(e, "autocomplete") || "")
    || /passw|passcode|pwd|cvv|cvc/i.test(attribute(e, "name") + " " + idOf(e));
  const choices = (e) => {
    if (!(e instanceof HTMLSelectElement)) { return ""; }
    const labels = Array.from(e.options).slice(0, 30).map((o) => JSON.stringify(o.label.slice(0, 60)));
    return ", options: " + labels.join(", ") + (e.options.length > 30 ? " and " + (e.options.length - 30) + " more" : "");
  };
  const value = (e) => {
    if (!typed(e)) { return ""; }
    if (e.type === "checkbox" || e.type === "radio") { return e.checked ? "checked" : ""; }
    if (secret(e)) { return e.value ? "holds something that is not shown" : ""; }
    const text = e instanceof HTMLSelectElement ? Array.from(e.selectedOptions).map((o) => o.label).join(", ") : e.value;
    return (text ? "holds " + JSON.stringify(text.slice(0, 200)) + (text.length > 200 ? " and more" : "") : "") + choices(e);
  };
  if (typed(root) && !(root instanceof HTMLSelectElement)) {
    result.text = secret(root) ? value(root) : root.value.slice(0, most);
  } else {
    result.text = textOf(root).slice(0, most);
  }
  // A large page is not searched again and again for the shortest selector.
  const large = findAll("*").length > 10000;
  const one = (s) => { try { return s.length < 300 && findAll(s).length === 1; } catch (e) { return false; } };
  const path = (e) => {
    const id = idOf(e), name = attribute(e, "name"), tag = tagOf(e).toLowerCase();
    if (id && one("#" + CSS.escape(id.slice(0, 300)))) { return "#" + CSS.escape(id); }
    if (name && one(tag + '[name="' + CSS.escape(name.slice(0, 300)) + '"]')) { return tag + '[name="' + CSS.escape(name) + '"]'; }
    let s = "";
    for (let at = e; at && at !== top; at = parentOf(at)) {
      const kind = tagOf(at);
      let n = 1;
      for (let b = elderOf(at); b; b = elderOf(b)) { if (tagOf(b) === kind) { n++; } }
      s = kind.toLowerCase() + ":nth-of-type(" + n + ")" + (s ? " > " + s : "");
      if (!large && one(s)) { return s; }
    }
    return ":root > " + s;
  };
  const label = (e) => ((!(e instanceof HTMLTextAreaElement || e instanceof HTMLSelectElement) && textOf(e)) || attribute(e, "aria-label") || attribute(e, "placeholder") || (typed(e) && e.labels[0] && textOf(e.labels[0]).split("\n")[0])
    || (!typed(e) && attribute(e, "value")) || attribute(e, "title") || "").trim().slice(0, 80);
  const all = Element.prototype.querySelectorAll.call(root, "a[href], button, input:not([type=hidden]), select, textarea, [role=button], [contenteditable=true]");
  const looked = Math.min(all.length, 5000);
  result.unseen = all.length - looked;
  for (let i = 0; i < looked; i++) {
    const e = all[i];
    if (!Element.prototype.getClientRects.call(e).length || getComputedStyle(e).visibility === "hidden") { continue; }
    if (result.controls.length >= 60) { result.more++; continue; }
    const isLink = e instanceof HTMLAnchorElement;
    const kind = isLink ? "link" : isInput(e) ? "field " + e.type : tagOf(e).toLowerCase();
    const held = value(e);
    const line = kind + " " + JSON.stringify(label(e)) + " at " + path(e) + (isLink ? " -> " + e.href.slice(0, 300) : "") + (held ? " " + held : "");
    result.controls.push(line.slice(0, 1500));
  }
  return result;
}
