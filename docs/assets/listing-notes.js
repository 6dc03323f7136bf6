// Notes of listings: `n` and `p` walk from one to the next, and the lines that one speaks of are lit.
"use strict";

(() => {
  const { line, once, reveal, say, select } = window.track;
  const noted = document.querySelector(".lst-note") !== null;
  // A page of source has no notes, and its folds are walked instead.
  const walked = once(() => [...document.querySelectorAll(noted ? ".lst-note" : ".lst-fold > summary")]);

  const light = (note) => {
    document.querySelectorAll(".lst u.lit").forEach((lit) => lit.classList.remove("lit"));
    const listing = note?.closest(".lst");
    for (let n = Number(note?.dataset.from); n <= Number(note?.dataset.to); n += 1) line(n, listing)?.classList.add("lit");
  };
  const noteOf = (node) => node.closest?.(".lst-note") ?? null;
  const focused = () => noteOf(document.activeElement);
  document.addEventListener("pointerover", (event) => light(noteOf(event.target) ?? focused()));
  document.addEventListener("focusin", () => light(focused()));
  document.addEventListener("focusout", () => light(null));

  document.addEventListener("click", (event) => {
    const reference = event.target.closest?.(".lst-ref");
    if (!reference) return;
    event.preventDefault();
    const { from, to } = reference.closest(".lst-note").dataset;
    const first = line(from, reference.closest(".lst"));
    if (first.id) select({ first: Number(from), last: Number(to) });
    reveal(first);
  });

  const TOP = 90; // pixels that the heads of page and listing take
  // The stop that has the focus, or a place between two: half a step before the first one below the top of the view.
  const place = (stops) => {
    const here = stops.findIndex((stop) => stop.contains(document.activeElement));
    if (here >= 0) return here;
    const below = stops.findIndex((stop) => stop.getBoundingClientRect().top > TOP);
    return (below < 0 ? stops.length : below) - 0.5;
  };

  const go = (step) => {
    const stops = walked();
    const next = stops[step > 0 ? Math.floor(place(stops) + step) : Math.ceil(place(stops) + step)];
    if (!next) return say(step > 0 ? "No note below" : "No note above");
    next.focus({ preventScroll: true });
    if (next.dataset.from) {
      reveal(line(next.dataset.from, next.closest(".lst")));
      const { bottom } = next.getBoundingClientRect(); // on a narrow screen the note is below its lines
      if (bottom > innerHeight) next.scrollIntoView({ block: "nearest" });
      const lines = next.dataset.from === next.dataset.to ? `line ${next.dataset.from}` : `lines ${next.dataset.from} to ${next.dataset.to}`;
      say(`Note ${stops.indexOf(next) + 1} of ${stops.length}, ${lines}`);
    } else {
      next.scrollIntoView({ block: "nearest" });
      say(`Symbol ${stops.indexOf(next) + 1} of ${stops.length}`);
    }
  };

  // The folds of a page of source are one tab stop: the one that was visited last.
  const rove = (to) => {
    walked().forEach((fold) => { fold.tabIndex = fold === to ? 0 : -1; });
  };
  const few = once(() => {
    if (!noted && walked().length) {
      rove(walked().find((fold) => fold === document.activeElement) ?? walked()[0]);
      document.addEventListener("focusin", (event) => { if (walked().includes(event.target)) rove(event.target); });
    }
    // The signs beside headings lead where the table of contents leads too.
    if (walked().length) document.querySelectorAll(".headerlink").forEach((sign) => { sign.tabIndex = -1; });
    return true;
  });

  const KEYS = { n: () => go(1), p: () => go(-1) };
  // The theme has other uses for these keys, so they are heard before it hears them.
  document.addEventListener("keydown", (event) => {
    if (event.key === "Tab") few(); // before the focus moves
    const typing = event.target.closest("input, textarea, select, [contenteditable], dialog");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key] || !walked().length) return;
    event.preventDefault();
    event.stopPropagation();
    KEYS[event.key]();
  }, true);

  // Print opens what the style sheet cannot open in every browser.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll(".lst-fold:not([open])")];
    closed.forEach((fold) => { fold.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((fold) => { fold.open = false; }));
})();
