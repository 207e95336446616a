// Times are sent in UTC; here they are written in the chosen zone, and ages count on.
"use strict";
(() => {
  const two = (number) => String(number).padStart(2, "0");
  const isLocal = () => document.documentElement.dataset.zone === "local";

  function parts(at) {
    return isLocal()
      ? [at.getFullYear(), at.getMonth() + 1, at.getDate(), at.getHours(), at.getMinutes(), at.getSeconds()]
      : [at.getUTCFullYear(), at.getUTCMonth() + 1, at.getUTCDate(), at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()];
  }

  function nameZone(at) {
    if (!isLocal()) return "UTC";
    const east = -at.getTimezoneOffset();
    return `UTC${east < 0 ? "−" : "+"}${two(Math.floor(Math.abs(east) / 60))}:${two(Math.abs(east) % 60)}`;
  }

  // In one letter, or as short as it can be said.
  const markZone = (at) => nameZone(at).replace(/^UTC$/, "Z").replace(/^UTC/, "");

  function writeAge(seconds) {
    const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
    let left = Math.max(0, Math.floor(seconds));
    const found = [];
    for (const [unit, size] of units) {
      const count = Math.floor(left / size);
      left -= count * size;
      if (count || found.length || unit === "s") found.push([count, unit]);
    }
    return found.slice(0, 2).filter(([count], place) => count || place === 0)
      .map(([count, unit]) => `${count} ${unit}`).join(" ");
  }

  function write(at, form) {
    const [year, month, day, hour, minute, second] = parts(at);
    switch (form) {
      case "age": return writeAge((Date.now() - at) / 1000);
      case "second": return `${two(hour)}:${two(minute)}:${two(second)}`;
      case "clock": return `${write(at, "second")}${markZone(at)}`;
      case "minute": return `${two(hour)}:${two(minute)}`;
      case "day": return `${two(month)}-${two(day)}`;
      case "zoned": return `${year}-${two(month)}-${two(day)} ${write(at, "second")} ${nameZone(at)}`;
      default: return `${year}-${two(month)}-${two(day)} ${write(at, "clock")}`;
    }
  }

  function rewrite(root, wanted) {
    for (const one of root.querySelectorAll("time[datetime], text[data-time]")) {
      if (wanted && one.dataset.form !== wanted) continue;
      const at = new Date(one.getAttribute("datetime") || one.dataset.time);
      one.textContent = write(at, one.dataset.form);
    }
  }

  function rewriteAll() {
    rewrite(document);
    for (const button of document.querySelectorAll('[data-toggle="zone"]'))
      button.textContent = isLocal() ? "Local" : "UTC";
    for (const name of document.querySelectorAll("[data-zone-name]"))
      name.textContent = nameZone(new Date());
  }

  document.addEventListener("looks-changed", rewriteAll);
  document.addEventListener("times-changed", rewriteAll);
  document.addEventListener("live-changed", rewriteAll);
  setInterval(() => rewrite(document, "age"), 1000);
  rewriteAll();
})();
