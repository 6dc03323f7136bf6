// Figures open large: the picture itself moves into a dialog, so its ids stay the only ones, and back.
"use strict";

(() => {
  const figures = document.querySelectorAll("figure.fig");
  if (!figures.length) return;

  const dialog = document.createElement("dialog");
  dialog.className = "fig-large";
  dialog.setAttribute("aria-label", "Figure, large");
  dialog.innerHTML = '<form method="dialog"><button type="submit">Close</button></form><div class="fig-pane" tabindex="0" role="group" aria-label="Figure"></div>';
  const pane = dialog.lastElementChild;
  let home = null;

  const open = (frame) => {
    const picture = frame.querySelector("svg");
    if (!picture) return;
    if (!dialog.isConnected) document.body.append(dialog);
    home = frame;
    frame.style.minHeight = `${frame.offsetHeight}px`; // the page keeps its place
    pane.replaceChildren(picture);
    dialog.showModal();
    pane.scrollTo(0, 0);
  };
  dialog.addEventListener("close", () => {
    home.prepend(...pane.children);
    home.style.minHeight = "";
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });

  figures.forEach((figure) => {
    const frame = figure.querySelector(".wide");
    if (!frame?.querySelector("svg")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "fig-open";
    button.textContent = "Enlarge";
    button.addEventListener("click", () => open(frame));
    figure.prepend(button);
    frame.addEventListener("click", (event) => { if (event.target.closest("svg")) open(frame); });
  });
})();
