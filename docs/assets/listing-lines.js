// Lines of a listing: an address for each and for every range of them, and copies of code and addresses.
"use strict";

(() => {
  const ICONS = {
    code: "M19 21H8V7h11m0-2H8a2 2 0 0 0-2 2v14a2 2 0 0 0 2 2h11a2 2 0 0 0 2-2V7a2 2 0 0 0-2-2m-3-4H4a2 2 0 0 0-2 2v14h2V3h12V1Z",
    here: "M3.9 12A3.1 3.1 0 0 1 7 8.9h4V7H7a5 5 0 0 0 0 10h4v-1.9H7A3.1 3.1 0 0 1 3.9 12M8 13h8v-2H8v2m9-6h-4v1.9h4a3.1 3.1 0 0 1 0 6.2h-4V17h4a5 5 0 0 0 0-10Z",
    upstream: "M14 3v2h3.6l-9.8 9.8 1.4 1.4L19 6.4V10h2V3m-2 16H5V5h7V3H5a2 2 0 0 0-2 2v14a2 2 0 0 0 2 2h14a2 2 0 0 0 2-2v-7h-2v7Z",
  };
  // The line of a number; where two listings of a page have the number, only the first one's has an id.
  const line = (number, listing = null) => {
    const first = document.getElementById(`L${number}`);
    return !listing || listing.contains(first) ? first : listing.querySelector(`u[data-n="L${number}"]`);
  };
  const numberOf = (shown) => Number((shown.id || shown.dataset.n).slice(1));
  // What a page has a lot of is looked up when it is first asked for, so that a long page loads as a short one does.
  const once = (make) => {
    let made = null;
    return () => (made ??= make());
  };
  // Once a page is there, the theme sets up each of its folds. On a page with a whole file it is kept from that: a listing
  // opens its folds itself, and goes without the theme's button for copying and its marks on words that were searched for.
  document.querySelector(".lst-whole")?.closest("[data-md-component]")?.removeAttribute("data-md-component");
  let chosen = null; // { first, last } of the lines that the address names

  // A message for those who hear the page.
  const region = document.createElement("div");
  region.className = "lst-said";
  region.setAttribute("role", "status");
  document.body.append(region);
  const say = (text) => { region.textContent = text; };

  // Opens the folds around an element and brings it to the top of the view.
  const reveal = (element) => {
    for (let fold = element.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    element.scrollIntoView({ block: "start", inline: "nearest" });
  };

  const parsed = (hash) => {
    const found = /^#L(\d+)(?:-L?(\d+))?$/.exec(hash);
    if (!found) return null;
    const [one, other] = [Number(found[1]), Number(found[2] ?? found[1])];
    return { first: Math.min(one, other), last: Math.max(one, other) };
  };
  const address = ({ first, last }) => (first === last ? `#L${first}` : `#L${first}-L${last}`);

  const choose = (range) => {
    document.querySelectorAll(".lst u.on").forEach((shown) => shown.classList.remove("on"));
    chosen = range;
    document.documentElement.classList.toggle("lst-chosen", range !== null);
    for (let number = range?.first; number <= range?.last; number += 1) line(number)?.classList.add("on");
  };

  // Lights the lines that the address names, and goes there.
  const follow = () => {
    const range = parsed(location.hash);
    choose(range);
    const target = range ? line(range.first) : document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target?.closest(".lst")) reveal(target);
  };

  const select = (range) => {
    choose(range);
    history.replaceState(history.state, "", address(range));
    say(range.first === range.last ? `Line ${range.first}` : `Lines ${range.first} to ${range.last}`);
  };

  document.addEventListener("click", (event) => {
    const number = event.target.closest?.(".lst pre u[id]");
    if (!number) return;
    const one = numberOf(number);
    const other = event.shiftKey && chosen ? chosen.first : one;
    select({ first: Math.min(one, other), last: Math.max(one, other) });
    getSelection().removeAllRanges(); // shift and a click also select text
  });

  // The lines of a listing as [number, text]; the numbers are not text, so there is nothing to take out.
  const lines = (listing) => [...listing.querySelectorAll("pre")].flatMap((block) => {
    const texts = block.textContent.split("\n");
    return [...block.querySelectorAll("u")].map((shown, index) => [numberOf(shown), texts[index]]);
  });

  // What a button speaks of: the chosen lines if they are in its listing, else all of it.
  const spokenOf = (listing) => {
    const all = lines(listing);
    const some = chosen ? all.filter(([number]) => chosen.first <= number && number <= chosen.last) : [];
    return some.length ? some : all;
  };
  const rangeOf = (rows) => ({ first: Math.min(...rows.map(([n]) => n)), last: Math.max(...rows.map(([n]) => n)) });
  const MAKES = {
    code: ["Copy code", (listing) => spokenOf(listing).map(([, text]) => text).join("\n") + "\n"],
    here: ["Copy a link to these lines", (listing) => location.href.split("#")[0] + address(rangeOf(spokenOf(listing)))],
    upstream: ["Copy the upstream permalink", (listing) =>
      listing.querySelector(".lst-head > a").href.split("#")[0] + address(rangeOf(spokenOf(listing)))],
  };

  const copy = async (text) => {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const area = document.createElement("textarea"); // no clipboard on plain http
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  };

  const button = (listing, kind, index) => {
    const made = document.createElement("button");
    const [label, text] = MAKES[kind];
    made.type = "button";
    made.title = label;
    made.setAttribute("aria-label", label);
    made.tabIndex = index ? -1 : 0; // one tab stop a listing; arrows move among its buttons
    made.innerHTML = `<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${ICONS[kind]}"/></svg>`;
    made.addEventListener("click", () => {
      copy(text(listing)).then(() => say("Copied"), () => say("The browser does not allow copying"));
    });
    return made;
  };

  document.querySelectorAll(".lst-tools").forEach((tools) => {
    const listing = tools.closest(".lst");
    tools.setAttribute("role", "toolbar");
    tools.setAttribute("aria-label", `Copy from ${listing.querySelector(".lst-head b").textContent}`);
    tools.append(...Object.keys(MAKES).map((kind, index) => button(listing, kind, index)));
    tools.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const buttons = [...tools.children];
      const next = buttons[buttons.indexOf(document.activeElement) + step];
      if (!next) return;
      document.activeElement.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  });

  window.track = { line, numberOf, once, reveal, say, select };
  addEventListener("hashchange", follow);
  if (location.hash) follow();
})();
