// Names in listings: a card with the signature and the first words of what a link leads to.
"use strict";

(() => {
  const root = new URL("..", document.currentScript.src).href; // this file is in assets/
  const WAIT = 250; // milliseconds that a pointer rests before a card is shown
  let known = null;
  let waiting = 0;

  // All names of the site are one file, fetched with the first card; a script, because file:// gives no other data.
  const names = () => {
    known ??= new Promise((resolve) => {
      const script = document.createElement("script");
      script.src = `${root}assets/names.js`;
      script.onload = () => resolve(window.trackNames ?? {});
      script.onerror = () => resolve({});
      document.head.append(script);
    });
    return known;
  };

  const card = document.createElement("div"); // in the page once it is shown
  card.className = "lst-card";
  card.id = "lst-card";
  card.setAttribute("role", "tooltip");
  card.hidden = true;

  const place = (link) => {
    const at = link.getBoundingClientRect();
    const below = at.bottom + 6 + card.offsetHeight < innerHeight;
    card.style.left = `${Math.max(8, Math.min(at.left, innerWidth - card.offsetWidth - 8))}px`;
    card.style.top = `${below ? at.bottom + 6 : at.top - 6 - card.offsetHeight}px`;
  };

  const hide = () => {
    clearTimeout(waiting);
    card.hidden = true;
    document.querySelector("[aria-describedby='lst-card']")?.removeAttribute("aria-describedby");
  };

  const show = async (link) => {
    const all = await names();
    const found = all[link.href.startsWith(root) ? link.href.slice(root.length) : link.href];
    if (!found || !link.matches(":hover, :focus")) return;
    const [signature, words] = found;
    const code = document.createElement("code");
    code.textContent = signature;
    const said = document.createElement("p");
    said.textContent = words;
    card.replaceChildren(...(words ? [code, said] : [code]));
    card.hidden = false;
    document.body.append(card);
    link.setAttribute("aria-describedby", "lst-card");
    place(link);
  };

  const linkOf = (event) => event.target.closest?.(".lst pre a[href], a.name");
  document.addEventListener("pointerover", (event) => {
    const link = linkOf(event);
    hide();
    if (link) waiting = setTimeout(show, WAIT, link);
  });
  document.addEventListener("focusin", (event) => { if (linkOf(event)) show(linkOf(event)); });
  document.addEventListener("focusout", hide);
  addEventListener("scroll", hide, { passive: true });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
})();
