// The server says when what is shown has changed; then the page fetches itself anew, in place.
import { morph } from "./morph.js";
{
  const live = () => document.getElementById("live");
  if (live()) {
    let source = null;
    let isWaiting = false;
    let isAsking = false;
    // The stream is cut; the page was asked for and not given (0: nobody answered).
    let isCut = false;
    let refused = null;
    // Why the server will not stream, in its own words.
    let reason = "";
    let retry = 0;

    // What the server said last, and what it says now: the page is between the two while somebody
    // points at what differs.
    let shown = live(), was = shown.cloneNode(true);
    let now = null;

    const apply = () => {
      if (!now) return;
      // Another script may have put another answer in its place.
      if (live() !== shown) { shown = live(); was = shown.cloneNode(true); }
      const left = morph(live(), was, now, [...document.querySelectorAll(":hover")].at(-1));
      if (!left) now = null;
      document.body.classList.toggle("held", Boolean(left));
      document.dispatchEvent(new Event("live-changed"));
    };
    const ask = async () => {
      isAsking = true;
      try {
        const answer = await fetch(location.href, { headers: { accept: "text/html" }, cache: "no-store" });
        refused = answer.ok ? null : answer.status;
        const page = answer.ok && new DOMParser().parseFromString(await answer.text(), "text/html");
        const found = page && page.getElementById("live");
        if (found) { now = found; apply(); }
      } catch { refused = 0; }
      isAsking = false;
      clearTimeout(retry);
      // A 401 again and again would ask for the password again and again.
      if (refused === 0 || refused >= 500) retry = setTimeout(refresh, 5000);
      say();
    };
    const refresh = () => {
      // Not while somebody selects text, nor twice at once: it is made up for afterwards.
      isWaiting = isAsking || Boolean(String(getSelection()));
      if (!isWaiting) ask();
    };
    // The pointer has gone elsewhere: what was held back may be shown.
    for (const name of ["pointerover", "pointerout", "focusout"])
      document.addEventListener(name, () => { if (now) setTimeout(apply, 50); });
    const say = () => {
      const isSilent = isCut || refused !== null;
      const note = document.querySelector(".silence");
      if (note) {
        const then = refused >= 400 && refused < 500 ? "Reload the page." : "Retrying.";
        const what = refused ? `answered with status ${refused}; this page is out of date` : "does not answer";
        const words = reason && refused === null ? reason : `The dashboard ${what}. ${then}`;
        note.textContent = isSilent ? words : "";
        note.hidden = !isSilent;
      }
      document.body.classList.toggle("silent", isSilent);
    };
    const takePulse = (event) => {
      for (const [name, at] of Object.entries(JSON.parse(event.data)))
        for (const one of document.querySelectorAll(`[data-pulse="${name}"] time`)) one.setAttribute("datetime", at);
      document.dispatchEvent(new Event("times-changed"));
    };
    // An EventSource does not show the answer it got.
    const askWhy = async (address) => {
      const stop = new AbortController();
      try {
        const answer = await fetch(address, { signal: stop.signal });
        const isPlain = (answer.headers.get("content-type") || "").startsWith("text/plain");
        reason = answer.status === 503 && isPlain ? (await answer.text()).slice(0, 300) : "";
        // The password is another one now: who asks again and again is held back at last.
        if (answer.status === 401 || answer.status === 429) refused = answer.status;
      } catch { reason = ""; }
      stop.abort();
      say();
      if (refused !== 401 && refused !== 429) setTimeout(follow, reason ? 30000 : 2000);
    };
    const listen = () => {
      source = new EventSource(live().dataset.live);
      source.addEventListener("changed", refresh);
      source.addEventListener("pulse", takePulse);
      source.onopen = () => { isCut = false; reason = ""; say(); };
      source.onerror = () => {
        isCut = true;
        say();
        // After an answer that is no stream (a proxy's 502) a browser gives up.
        if (source && source.readyState === EventSource.CLOSED) {
          const address = source.url;
          source = null;
          askWhy(address);
        }
      };
    };
    // A browser has six connections to a server: a page that nobody sees must not keep one.
    const follow = () => {
      if (document.hidden && source) { source.close(); source = null; }
      else if (!document.hidden && !source) listen();
    };
    follow();
    document.addEventListener("visibilitychange", follow);
    setInterval(() => { if (isWaiting) refresh(); }, 1000);
    addEventListener("pagehide", () => { if (source) source.close(); source = null; });
    addEventListener("pageshow", (event) => { if (event.persisted) follow(); });
  }

  // On a narrow screen the menu is a bar that scrolls.
  const current = document.querySelector(".side nav [aria-current]");
  if (current) current.parentElement.scrollLeft = current.offsetLeft - current.parentElement.clientWidth / 2;

  const query = document.getElementById("query");
  if (query) query.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) query.form.requestSubmit();
  });

  // What is cut is shown whole on hover.
  document.addEventListener("pointerover", ({ target }) => {
    const cut = target.closest && target.closest("td.name, h1, .then strong");
    if (!cut || cut.title) return;
    if (cut.scrollWidth > cut.clientWidth || cut.scrollHeight > cut.clientHeight + 2) cut.title = cut.textContent.trim();
  });

  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, textarea, select")) return;
    const search = document.querySelector('input[type="search"]');
    if (search) { event.preventDefault(); search.focus(); }
  });
}
