// What every page needs besides its listings: reports that name the note, and boxes that can be scrolled with keys.
(() => {
  // A report says which note was read last: the one that had the focus, or was pointed or linked at.
  const report = document.querySelector("a.report");
  const form = report?.href;
  const told = (note) => {
    const url = new URL(form);
    const place = `${location.pathname.split("/").pop()}#${note.id}`;
    for (const [name, text] of [...url.searchParams]) {
      const more = text.startsWith("Page: ") ? text.replace("\n", `\nNote: ${place}\n`) : text;
      url.searchParams.set(name, more);
    }
    report.href = url;
  };
  const noted = (node) => {
    const note = node?.closest?.(".lst-note[id]");
    if (report && note) told(note);
  };
  document.addEventListener("focusin", (event) => noted(event.target));
  document.addEventListener("pointerover", (event) => noted(event.target));
  const linked = () => noted(document.getElementById(decodeURIComponent(location.hash.slice(1))));
  addEventListener("hashchange", linked);
  linked();

  // The theme wraps tables and adds a landmark to each block of code while the page loads.
  const named = (box) => box.querySelector("caption, figcaption")?.textContent.trim() || "Scrolls sideways";
  const reachable = (box) => {
    const wide = box.scrollWidth > box.clientWidth + 1;
    if (wide === box.hasAttribute("tabindex")) return;
    for (const [name, value] of [["tabindex", "0"], ["role", "group"], ["aria-label", named(box)]]) {
      if (wide) box.setAttribute(name, value);
      else box.removeAttribute(name);
    }
  };
  const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => reachable(target)));
  const seen = new WeakSet();
  const look = () => {
    for (const box of document.querySelectorAll(".wide, .md-typeset__scrollwrap")) {
      if (seen.has(box)) continue;
      seen.add(box);
      sizes.observe(box);
    }
    for (const bar of document.querySelectorAll("nav.md-code__nav:not([role])")) bar.setAttribute("role", "none");
  };
  const article = document.querySelector("article");
  if (article) new MutationObserver(look).observe(article, { childList: true, subtree: true });
  look();
})();
