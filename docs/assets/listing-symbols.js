// Symbols of listings: the head of a listing names the one that is read, and `s` goes to any of them.
"use strict";

(() => {
  const { line, numberOf, once, reveal, say } = window.track;
  const symbols = once(() => [...document.querySelectorAll(".lst pre b[data-to]")].map((mark) => {
    let begins = mark;
    while (begins.tagName !== "U") begins = begins.nextElementSibling;
    return { mark, begins, name: mark.id || mark.dataset.name, first: numberOf(begins), last: Number(mark.dataset.to) };
  }));
  if (!document.querySelector(".lst pre b[data-to]")) return;

  // What stands for a line on the screen: itself, or the closed fold that it is in.
  const shown = (element) => element?.closest("details:not([open])") ?? element;
  // Where the box around an element is: known even of a box that is not laid out, as what is in it is not.
  const boxed = (element) => element?.closest(".lst-box")?.getBoundingClientRect();
  const heads = [...document.querySelectorAll(".lst-head")].map((head) => {
    const listing = head.parentNode;
    return { head, listing, title: head.querySelector("b"), whole: head.querySelector("b").textContent };
  });
  const byListing = once(() => new Map(
    heads.map(({ listing }) => [listing, symbols().filter(({ mark }) => listing.contains(mark))])));

  const nameAt = ({ listing, whole }, y) => {
    let found = whole;
    for (const { mark, name, last } of byListing().get(listing)) {
      if (boxed(mark)?.top > y) break;
      const ends = line(last, listing);
      if (boxed(ends)?.bottom <= y) continue;
      if (shown(mark).getBoundingClientRect().top > y) break;
      const end = shown(ends);
      if (!end || end.getBoundingClientRect().bottom > y) found = name;
    }
    return found;
  };

  let waiting = false;
  const update = () => {
    waiting = false;
    for (const each of heads) {
      const { top, bottom } = each.listing.getBoundingClientRect();
      if (bottom < 0) continue;
      const under = each.head.getBoundingClientRect().bottom;
      const text = top < each.head.getBoundingClientRect().top - 1 ? nameAt(each, under + 2) : each.whole;
      if (each.title.textContent !== text) each.title.textContent = text;
    }
  };
  addEventListener("scroll", () => {
    if (!waiting) requestAnimationFrame(update);
    waiting = true;
  }, { passive: true });
  if (location.hash) requestAnimationFrame(update); // the page may have been scrolled before this was heard

  const dialog = document.createElement("dialog");
  dialog.className = "lst-jump";
  dialog.setAttribute("aria-label", "Go to a symbol");
  dialog.innerHTML = `<input type="text" role="combobox" aria-expanded="true" aria-controls="lst-symbols"
      aria-autocomplete="list" aria-label="Symbol" placeholder="Go to a symbol" spellcheck="false" autocomplete="off">
    <ul id="lst-symbols" role="listbox" aria-label="Symbols"></ul><p></p>`;
  const [input, list, count] = dialog.children;
  let matches = [];
  let at = 0;

  // Every letter typed occurs in this order; the closer together and the earlier, the better.
  const rank = (name, typed) => {
    const [text, wanted] = [name.toLowerCase(), typed.toLowerCase().replaceAll(" ", "")];
    const whole = text.indexOf(wanted);
    if (whole >= 0) return whole + text.length / 1000 - (text.split(".").includes(wanted) ? 1000 : 0);
    let place = -1;
    for (const letter of wanted) {
      place = text.indexOf(letter, place + 1);
      if (place < 0) return null;
    }
    return 1000 + place;
  };

  const mark = (index) => {
    at = Math.max(0, Math.min(index, matches.length - 1));
    [...list.children].forEach((item, n) => item.setAttribute("aria-selected", String(n === at)));
    input.setAttribute("aria-activedescendant", list.children[at]?.id ?? "");
    list.children[at]?.scrollIntoView({ block: "nearest" });
  };

  const filter = () => {
    const ranked = symbols().map((symbol) => [rank(symbol.name, input.value), symbol]).filter(([found]) => found !== null);
    if (input.value) ranked.sort(([one], [other]) => one - other);
    matches = ranked.map(([, symbol]) => symbol);
    list.replaceChildren(...matches.map(({ name, first, last }, index) => {
      const item = document.createElement("li");
      item.id = `lst-symbol-${index}`;
      item.setAttribute("role", "option");
      const lines = document.createElement("small");
      lines.textContent = first === last ? `${first}` : `${first}–${last}`;
      item.append(name, lines);
      item.addEventListener("click", () => choose(index));
      return item;
    }));
    count.textContent = `${matches.length} of ${symbols().length}. Arrows and Enter, Esc to close.`;
    mark(0);
  };

  const choose = (index) => {
    const symbol = matches[index];
    if (!symbol) return;
    dialog.close();
    const target = symbol.begins;
    if (symbol.mark.id || target.id) history.pushState(null, "", `#${symbol.mark.id || target.id}`);
    reveal(target);
    target.tabIndex = -1;
    target.focus({ preventScroll: true });
    say(`${symbol.name}, line ${symbol.first}`);
  };

  input.addEventListener("input", filter);
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + 10, PageUp: at - 10 }[event.key];
    if (step !== undefined) mark(step);
    else if (event.key === "Enter") choose(at);
    else return;
    event.preventDefault();
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });

  const open = () => {
    if (!dialog.isConnected) document.body.append(dialog);
    input.value = "";
    dialog.showModal();
    filter();
  };
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select, [contenteditable], dialog");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || event.key !== "s") return;
    event.preventDefault();
    event.stopPropagation(); // the theme would open its search
    open();
  }, true);
})();
