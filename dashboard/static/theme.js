// Before anything is drawn: the theme that was chosen here, else the system's.
"use strict";
(() => {
  const root = document.documentElement;
  const read = (name) => { try { return localStorage.getItem(name); } catch { return null; } };
  const write = (name, value) => { try { localStorage.setItem(name, value); } catch { /* private mode */ } };
  const theme = read("zklake.theme");
  if (theme === "dark" || theme === "light") root.dataset.theme = theme;
  root.dataset.zone = read("zklake.zone") === "local" ? "local" : "utc";

  const isDark = () =>
    root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-toggle]");
    if (!button) return;
    if (button.dataset.toggle === "theme") {
      root.dataset.theme = isDark() ? "light" : "dark";
      write("zklake.theme", root.dataset.theme);
    } else {
      root.dataset.zone = root.dataset.zone === "local" ? "utc" : "local";
      write("zklake.zone", root.dataset.zone);
    }
    document.dispatchEvent(new Event("looks-changed"));
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
    document.dispatchEvent(new Event("looks-changed")));
})();
