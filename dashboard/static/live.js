// The server says when what is shown has changed; then the page fetches itself anew, in place.
"use strict";
(() => {
  const live = () => document.getElementById("live");
  if (live()) {
    let source = null;
    let isWaiting = false;
    // The stream is cut; the page was asked for and not given (0: nobody answered).
    let isCut = false;
    let refused = null;
    // Why the server will not stream, in its own words.
    let reason = "";
    let retry = 0;

    const refresh = () => {
      // Not while somebody selects text: it is made up for afterwards.
      if (String(getSelection())) { isWaiting = true; return; }
      isWaiting = false;
      htmx.trigger(live(), "lake-changed");
    };
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
    document.addEventListener("htmx:afterRequest", ({ detail }) => {
      refused = detail.successful ? null : detail.xhr.status;
      clearTimeout(retry);
      // A 401 again and again would ask for the password again and again.
      if (refused === 0 || refused >= 500) retry = setTimeout(refresh, 5000);
      say();
    });
    const takePulse = (event) => {
      for (const [name, at] of Object.entries(JSON.parse(event.data)))
        for (const one of document.querySelectorAll(`[data-pulse="${name}"] time`)) one.setAttribute("datetime", at);
      document.dispatchEvent(new Event("times-changed"));
    };
    // An EventSource does not tell what it was answered.
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

  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, textarea, select")) return;
    const search = document.querySelector('input[type="search"]');
    if (search) { event.preventDefault(); search.focus(); }
  });
})();
