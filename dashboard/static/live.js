// The server says when what is shown has changed; then the page fetches itself anew, in place.
"use strict";
(() => {
  const live = () => document.getElementById("live");
  if (live()) {
    let source = null;
    let isWaiting = false;

    const refresh = () => {
      // Not while somebody selects text: it is made up for afterwards.
      if (String(getSelection())) { isWaiting = true; return; }
      isWaiting = false;
      htmx.trigger(live(), "lake-changed");
    };
    const say = (isSilent) => {
      const note = document.querySelector(".silence");
      if (note) note.hidden = !isSilent;
      document.body.classList.toggle("silent", isSilent);
    };
    const listen = () => {
      source = new EventSource(live().dataset.live);
      source.addEventListener("changed", refresh);
      source.onopen = () => say(false);
      source.onerror = () => {
        say(true);
        // After an answer that is no stream (a proxy's 502) a browser gives up.
        if (source && source.readyState === EventSource.CLOSED) {
          source = null;
          setTimeout(follow, 2000);
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
