// Lines over time. A drag chooses a time range, a click opens the time machine at that moment.
"use strict";
(() => {
  const drawn = new Map();
  // A canvas does not know light-dark(): an element that has the colour does.
  const probe = document.body.appendChild(document.createElement("span"));
  probe.hidden = true;
  const look = (name) => { probe.style.color = `var(${name})`; return getComputedStyle(probe).color; };
  const colour = (number) => look(`--c${number % 8}`);

  function shorten(value) {
    for (const unit of ["", "k", "M", "G", "T"]) {
      if (Math.abs(value) < 1000) return `${+value.toFixed(unit || value % 1 ? 1 : 0)}${unit}`;
      value /= 1000;
    }
    return `${value.toFixed(0)}P`;
  }

  function go(changes) {
    const address = new URL(location.href);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null) address.searchParams.delete(name); else address.searchParams.set(name, value);
    }
    location.assign(address);
  }

  const writeTime = (second) => new Date(Math.round(second * 1000)).toISOString().replace(".000Z", "Z");

  function choose(plot) {
    const { left, width } = plot.select;
    if (width < 5) return;
    const [from, to] = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
    go({ from: writeTime(from), to: writeTime(to), last: null });
  }

  function open(plot, figure) {
    plot.over.addEventListener("click", () => {
      if (plot.select.width >= 5 || plot.cursor.left < 0) return;
      const address = new URL(figure.dataset.at, location.origin);
      address.searchParams.set("time", writeTime(plot.posToVal(plot.cursor.left, "x")));
      location.assign(address);
    });
  }

  function draw(figure) {
    const { x, lines } = JSON.parse(figure.querySelector("script").textContent);
    const place = figure.querySelector(".plot");
    const unit = figure.dataset.unit;
    const axis = { stroke: look("--faint"), grid: { stroke: look("--line"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
    const options = {
      width: place.clientWidth, height: 220, padding: [12, 18, 0, 0],
      tzDate: (second) => document.documentElement.dataset.zone === "local"
        ? new Date(second * 1000) : uPlot.tzDate(new Date(second * 1000), "Etc/UTC"),
      cursor: { drag: { x: true, y: false }, sync: { key: "time" }, points: { size: 6 } },
      legend: { live: true },
      scales: { y: { range: (plot, low, high) => [0, Math.max(1, high * 1.08)] } },
      axes: [
        { ...axis, values: [
          [86400, "{MM}-{DD}", null, null, null, null, null, null, 1],
          [3600, "{HH}:{mm}", "\n{MM}-{DD}", null, null, null, null, null, 1],
          [60, "{HH}:{mm}", "\n{MM}-{DD}", null, null, null, null, null, 1],
          [1, "{HH}:{mm}:{ss}", "\n{MM}-{DD}", null, null, null, null, null, 1],
        ] },
        { ...axis, size: 56, values: (plot, ticks) => ticks.map((tick) => shorten(tick)) },
      ],
      series: [
        { label: document.documentElement.dataset.zone === "local" ? "Time (local)" : "Time (UTC)", value: "{YYYY}-{MM}-{DD} {HH}:{mm}:{ss}" },
        ...lines.map((line, number) => ({
          label: line.label, stroke: colour(number), width: 1.5, points: { show: false },
          value: (plot, value) => (value === null ? "–" : `${shorten(value)} ${unit}`),
        })),
      ],
      hooks: { setSelect: [choose], ready: [(plot) => open(plot, figure)] },
    };
    drawn.set(figure, new uPlot(options, [x, ...lines.map((line) => line.values)], place));
  }

  function drawAll() {
    for (const plot of drawn.values()) plot.destroy();
    drawn.clear();
    for (const figure of document.querySelectorAll("figure[data-chart]")) draw(figure);
    // Where not all hours fit, the last ones are of interest.
    for (const table of document.querySelectorAll(".newest")) table.scrollLeft = table.scrollWidth;
  }

  let waiting = 0;
  addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(drawAll, 150); });
  document.addEventListener("looks-changed", drawAll);
  document.addEventListener("htmx:afterSettle", drawAll);
  drawAll();
})();
