"use strict";
// Light or dark: what the system prefers, until the reader chooses; the choice is remembered where that is allowed.
(() => {
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try { chosen = localStorage.getItem("textgauge-theme"); } catch { /* pages of some browsers have no store */ }

  const show = () => {
    const dark = chosen ? chosen === "dark" : system.matches;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    button.setAttribute("aria-pressed", String(dark));
  };
  button.addEventListener("click", () => {
    chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("textgauge-theme", chosen); } catch { /* not remembered, still shown */ }
    show();
  });
  system.addEventListener("change", show);
  show();
})();
