function (find, selector, text) {
  // Makes an element ready to be typed into, with what stands there marked, so that
  // typing replaces it. What is chosen and not typed, it fills in itself. It says
  // what is to be done yet: "type", "" for nothing, or what is wrong.
  const refuse = (why) => ({ fault: why });
  let e;
  try { e = find(selector); } catch { e = null; }
  if (!e) { return refuse("is not there any more"); }
  const window = e.ownerDocument.defaultView; // that of its frame
  const is = (type) => e instanceof window[type];
  if (e.disabled || e.readOnly) { return refuse("cannot be changed"); }
  const changed = () => {
    for (const name of ["input", "change"]) { e.dispatchEvent(new window.Event(name, { bubbles: true })); }
    return {};
  };
  HTMLElement.prototype.focus.call(e);
  if (is("HTMLSelectElement")) {
    const wanted = text.trim(), all = Array.from(e.options);
    const same = (a) => a.trim().toLowerCase() === wanted.toLowerCase();
    const option = all.find((o) => o.label.trim() === wanted) || all.find((o) => o.value === wanted) || all.find((o) => same(o.label) || same(o.value));
    if (!option) { return refuse("has no option " + JSON.stringify(wanted) + ", but " + all.slice(0, 30).map((o) => JSON.stringify(o.label.slice(0, 60))).join(", ")); }
    if (option.disabled) { return refuse("does not let anybody choose " + JSON.stringify(wanted)); }
    option.selected = true;
    return changed();
  }
  if (is("HTMLTextAreaElement")) {
    e.select();
    return { type: true };
  }
  if (!is("HTMLInputElement")) {
    if (e.isContentEditable) { window.getSelection().selectAllChildren(e); }
    return { type: true };
  }
  const such = { date: "2026-11-28", time: "14:30", "datetime-local": "2026-11-28T14:30", month: "2026-11", week: "2026-W48", color: "#20a060", range: "50" }[e.type];
  if (such) {
    const before = e.value;
    e.value = text.trim();
    if (e.value !== text.trim().toLowerCase() && e.value !== text.trim()) {
      e.value = before;
      return refuse("takes a text such as " + such + ", not " + JSON.stringify(text.trim().slice(0, 60)));
    }
    return changed();
  }
  if (e.type === "file") { return refuse("takes files, and none are sent"); }
  if (["checkbox", "radio", "submit", "button", "reset", "image"].includes(e.type)) { return refuse("is not typed into: click it"); }
  e.select();
  return { type: true };
}
