function (find, selector, most) {
  // What a person sees of the page: its text, and what can be clicked and typed
  // into, each with a selector that finds it again.
  //
  // It runs in a world of its own, where the page has replaced no function. But
  // names of elements still stand in the way of what forms and the document are
  // asked (<input name=parentElement>), so everything is asked by its prototype.
  // Elements of a frame are of types of its own, which have the same names.
  const getter = (type, name) => { const g = Object.getOwnPropertyDescriptor(type.prototype, name).get; return (o) => g.call(o); };
  const tagOf = getter(Element, "tagName"), idOf = getter(Element, "id"), parentOf = getter(Node, "parentElement"), elderOf = getter(Element, "previousElementSibling");
  const ownerOf = getter(Node, "ownerDocument"), windowOf = getter(Document, "defaultView"), shadowOf = getter(Element, "shadowRoot"), childrenOf = getter(Node, "childNodes");
  const kindOf = getter(Node, "nodeType"), dataOf = getter(Node, "textContent");
  const titleOf = getter(Document, "title"), bodyOf = getter(Document, "body"), rootOf = getter(Document, "documentElement");
  const attribute = (e, name) => Element.prototype.getAttribute.call(e, name);
  const is = (e, type) => e instanceof windowOf(ownerOf(e))[type];
  // A place is the page, an open shadow root in it, or the page of a frame.
  const isPage = (at) => kindOf(at) === 9, isShadow = (at) => kindOf(at) === 11;
  const findAll = (at, s) => (isPage(at) ? Document : isShadow(at) ? DocumentFragment : Element).prototype.querySelectorAll.call(at, s);
  const placeOf = (e) => Node.prototype.getRootNode.call(e);
  const seen = (e) => Element.prototype.getClientRects.call(e).length > 0 && windowOf(ownerOf(e)).getComputedStyle(e).visibility !== "hidden";
  const textOf = (e) => (is(e, "HTMLElement") ? getter(HTMLElement, "innerText")(e) : dataOf(e)) || "";
  let root = bodyOf(document) || rootOf(document); // a picture has no body
  let found = !!root;
  if (selector) {
    try { root = find(selector); } catch (e) { root = null; }
    found = !!root;
  }
  const result = { title: titleOf(document).slice(0, 200), url: location.href.slice(0, 2000), text: "", found: found || !selector, controls: [], more: 0, unseen: 0 };
  if (!root) { return result; }
  // What a field holds, but nothing that is secret.
  const isInput = (e) => is(e, "HTMLInputElement");
  const typed = (e) => is(e, "HTMLTextAreaElement") || is(e, "HTMLSelectElement") || (isInput(e) && !["submit", "button", "reset", "image", "file", "hidden"].includes(e.type));
  const secret = (e) => e.type === "password"
    || /(^|\s)(cc-\S+|one-time-code|current-password|new-password)(\s|$)/i.test(attribute(e, "autocomplete") || "")
    || /passw|passcode|pwd|cvv|cvc/i.test(attribute(e, "name") + " " + idOf(e));
  const choices = (e) => {
    if (!is(e, "HTMLSelectElement")) { return ""; }
    const labels = Array.from(e.options).slice(0, 30).map((o) => JSON.stringify(o.label.slice(0, 60)));
    return ", options: " + labels.join(", ") + (e.options.length > 30 ? " and " + (e.options.length - 30) + " more" : "");
  };
  const value = (e) => {
    if (!typed(e)) { return ""; }
    if (e.type === "checkbox" || e.type === "radio") { return e.checked ? "checked" : ""; }
    if (secret(e)) { return e.value ? "holds something that is not shown" : ""; }
    const text = is(e, "HTMLSelectElement") ? Array.from(e.selectedOptions).map((o) => o.label).join(", ") : e.value;
    return (text ? "holds " + JSON.stringify(text.slice(0, 200)) + (text.length > 200 ? " and more" : "") : "") + choices(e);
  };
  if (typed(root) && !is(root, "HTMLSelectElement")) {
    result.text = secret(root) ? value(root) : root.value.slice(0, most);
  } else {
    result.text = textOf(root).slice(0, most);
  }
  // A selector is short where that is enough. A large page is not searched again
  // and again for the shortest one.
  const large = findAll(document, "*").length > 10000;
  const one = (place, s) => { try { return s.length < 300 && findAll(place, s).length === 1; } catch { return false; } };
  const path = (e) => {
    const place = placeOf(e), top = isPage(place) ? rootOf(place) : null, id = idOf(e), name = attribute(e, "name"), tag = tagOf(e).toLowerCase();
    if (id && one(place, "#" + CSS.escape(id.slice(0, 300)))) { return "#" + CSS.escape(id); }
    if (name && one(place, tag + '[name="' + CSS.escape(name.slice(0, 300)) + '"]')) { return tag + '[name="' + CSS.escape(name) + '"]'; }
    let s = "";
    for (let at = e; at && at !== top; at = parentOf(at)) {
      const kind = tagOf(at);
      let n = 1;
      for (let b = elderOf(at); b; b = elderOf(b)) { if (tagOf(b) === kind) { n++; } }
      s = kind.toLowerCase() + ":nth-of-type(" + n + ")" + (s ? " > " + s : "");
      if (!large && one(place, s)) { return s; }
    }
    return top ? ":root > " + s : s;
  };
  const label = (e) => ((!(is(e, "HTMLTextAreaElement") || is(e, "HTMLSelectElement")) && textOf(e)) || attribute(e, "aria-label") || attribute(e, "placeholder") || (typed(e) && e.labels[0] && textOf(e.labels[0]).split("\n")[0])
    || (!typed(e) && attribute(e, "value")) || attribute(e, "title") || "").trim().slice(0, 80);
  const controls = "a[href], button, input:not([type=hidden]), select, textarea, [role=button], [contenteditable=true]";
  // tell adds the controls of a part of the page, found behind a prefix.
  const tell = (part, prefix) => {
    const all = findAll(part, controls);
    const looked = Math.min(all.length, 5000);
    result.unseen += all.length - looked;
    for (let i = 0; i < looked; i++) {
      const e = all[i];
      if (!seen(e)) { continue; }
      if (result.controls.length >= 60) { result.more++; continue; }
      const isLink = is(e, "HTMLAnchorElement");
      const kind = isLink ? "link" : isInput(e) ? "field " + e.type : tagOf(e).toLowerCase();
      const held = value(e);
      const line = kind + " " + JSON.stringify(label(e)) + " at " + prefix + path(e) + (isLink ? " -> " + e.href.slice(0, 300) : "") + (held ? " " + held : "");
      result.controls.push(line.slice(0, 1500));
    }
  };
  // inside is the place that an element holds, null for none that anybody sees. A
  // component may have no box of its own; a frame has one in which there is room.
  const inside = (e) => {
    const shadow = shadowOf(e);
    if (shadow) { return seen(e) || windowOf(ownerOf(e)).getComputedStyle(e).display === "contents" ? shadow : null; }
    if (!/^I?FRAME$/.test(tagOf(e)) || !seen(e)) { return null; }
    const box = Element.prototype.getBoundingClientRect.call(e);
    return box.width > 10 && box.height > 10 ? e.contentDocument : null;
  };
  const words = (place) => {
    if (isPage(place)) { return bodyOf(place) ? textOf(bodyOf(place)) : ""; }
    const texts = Array.from(childrenOf(place), (n) => kindOf(n) === 3 ? dataOf(n) : kindOf(n) === 1 && seen(n) ? textOf(n) : "");
    return texts.map((t) => t.trim()).filter((t) => t).join("\n");
  };
  let places = 0;
  const tellAll = (part, prefix, depth) => {
    tell(part, prefix);
    const all = Array.from(findAll(part, "*")).slice(0, 20000);
    for (const e of kindOf(part) === 1 ? [part, ...all] : all) {
      const place = depth < 5 && places < 50 ? inside(e) : null;
      if (!place) { continue; }
      places++;
      result.text = (result.text + "\n\n" + words(place)).slice(0, most);
      tellAll(place, prefix + path(e) + " >>> ", depth + 1);
    }
  };
  tellAll(root, (selector || "").split(" >>> ").slice(0, -1).map((s) => s + " >>> ").join(""), 0);
  return result;
}
