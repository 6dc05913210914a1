function (selector) {
  // Finds an element. " >>> " leads into the one before: into its open shadow root,
  // or into the page of a frame of the same site.
  let e = null;
  for (const step of selector.split(" >>> ")) {
    const shadow = e && e.shadowRoot, page = e ? e.contentDocument : document;
    if (shadow) { e = DocumentFragment.prototype.querySelector.call(shadow, step); }
    else if (page) { e = Document.prototype.querySelector.call(page, step); }
    else { return null; }
    if (!e) { return null; }
  }
  return e;
}
