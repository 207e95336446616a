// The slider of the time machine; names that are cut, in full when pointed at; tables that scroll.
"use strict";
(() => {
  // Where a name does not fit, its tooltip has all of it.
  document.addEventListener("pointerover", (event) => {
    const cut = event.target.closest ? event.target.closest(".name, .cut, h1, .lane-label") : null;
    if (!cut || cut.title) return;
    if (cut.scrollWidth > cut.clientWidth || cut.scrollHeight > cut.clientHeight + 2) cut.title = cut.textContent.trim();
  });

  // A table that is wider than its place must scroll by the keyboard, too.
  const letScroll = () => {
    for (const place of document.querySelectorAll(".scroll")) {
      if (place.scrollWidth <= place.clientWidth || place.tabIndex >= 0) continue;
      place.tabIndex = 0;
      place.setAttribute("role", "group");
      place.setAttribute("aria-label", "Table, scrolls sideways");
    }
  };
  letScroll();
  addEventListener("resize", letScroll);
  document.addEventListener("live-changed", letScroll);

  const slider = document.querySelector("[data-slider]");
  if (!slider) return;
  const field = document.querySelector("[data-moment]");
  let waiting = 0;
  let asking = null;

  const write = (seconds) => new Date(seconds * 1000).toISOString().replace(".000Z", "Z");

  async function show(address) {
    if (asking) asking.abort();
    asking = new AbortController();
    try {
      const answer = await fetch(address, { signal: asking.signal });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const found = page.getElementById("live");
      if (!found) { location.assign(address); return; }
      document.getElementById("live").replaceWith(document.adoptNode(found));
      history.replaceState(null, "", address);
      document.dispatchEvent(new Event("times-changed"));
      document.dispatchEvent(new Event("live-changed"));
    } catch (error) {
      if (error.name !== "AbortError") location.assign(address);
    }
  }

  slider.addEventListener("input", () => {
    const time = write(Number(slider.value));
    field.value = time;
    document.querySelector("[data-slider-time] time").setAttribute("datetime", time);
    document.dispatchEvent(new Event("times-changed"));
    const address = new URL(location.href);
    address.searchParams.set("time", time);
    clearTimeout(waiting);
    waiting = setTimeout(() => show(address), 150);
  });

  // The arrows move through time wherever one is, but where they move a cursor.
  addEventListener("keydown", (event) => {
    if (!["ArrowLeft", "ArrowRight"].includes(event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select, .scroll")) return;
    event.preventDefault();
    const steps = event.shiftKey ? 10 : 1;
    if (event.key === "ArrowLeft") slider.stepDown(steps); else slider.stepUp(steps);
    slider.dispatchEvent(new Event("input"));
  });
})();
