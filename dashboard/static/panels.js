// Lines over time, one uPlot per panel. All of them, and the lanes below, share one column of pixels:
// the width of uPlot's axis is that of the lanes' labels, and its scale is the figure's range.
import { findColour, writeValue } from "./numbers.js";

const make = (name, className, parent) => {
  const made = document.createElement(name);
  if (className) made.className = className;
  return parent ? parent.appendChild(made) : made;
};

// Colours are looked up once per drawing; what is not the chosen line steps back.
function listLines(panel, only) {
  const isSingle = panel.lines.length === 1;
  const lines = panel.lines.map((line) => {
    const stroke = findColour(line.tone || line.colour);
    const isFaint = only && panel.lines.some((one) => one.label === only) && line.label !== only;
    return { ...line, stroke, isFaint };
  });
  if (!panel.band) return { lines, band: null };
  const ink = isSingle ? lines[0].stroke : findColour("--text");
  return { lines, band: { ...panel.band, stroke: ink, hasLine: panel.unit !== "s" && !isSingle, isNamed: !isSingle } };
}

const fade = (colour, part) => colour.replace(/^(\w+)\((.*?)(?:\s*\/.*)?\)$/, (all, name, rest) =>
  name.startsWith("rgb") ? `rgb(${rest.replace(/,/g, " ")} / ${part})` : `${name}(${rest} / ${part})`);

function addLegend(list, items, choose, only) {
  return items.map((item) => {
    const button = make("button", "", make("li", "", list));
    button.type = "button";
    button.title = item.label;
    button.setAttribute("aria-pressed", String(item.label === only));
    make("i", "swatch", button).style.background = item.stroke;
    // Of a long name, the number of the partition is seen as well.
    const [, name, number] = /^([^]+?)(-\d{1,9})?$/.exec(item.label) || ["", item.label, ""];
    make("span", "name", button).textContent = name;
    make("span", "number", button).textContent = number || "";
    button.addEventListener("click", () => choose(item.label));
    return make("span", "value", button);
  });
}

const listX = (figure) => figure.x.map((second) => Math.min(second + figure.step / 2, figure.end / 1000));
const listData = (figure, { band, lines }) => [listX(figure), ...(band ? [band.most, band.least] : []), ...lines.map((line) => line.values)];
// Panels with the same names are the same drawing with other numbers.
const nameLines = (panel) => JSON.stringify([panel.title, panel.note, panel.lines.map((line) => [line.label, line.colour])]);

export function drawPanel(place, panel, figure, { width, gutter, only, choose }) {
  const root = make("div", "panel", place);
  const head = make("div", "panel-head", root);
  const title = make("h3", "", head);
  title.textContent = panel.title;
  make("small", "", title).textContent = ` ${panel.unit === "s" ? "" : panel.unit}${panel.note ? ` ${panel.note}` : ""}`;
  let range = figure, { lines, band } = listLines(panel, only);
  const list = () => [...(band && band.isNamed ? [band] : []), ...lines];
  const values = addLegend(make("ul", "legend", head), list(), choose, only);
  const series = [{}], bands = [];
  if (band) {
    series.push({ stroke: band.hasLine ? band.stroke : "transparent", width: band.hasLine ? 2 : 0, points: { show: false } });
    series.push({ stroke: "transparent", width: 0, points: { show: false } });
    bands.push({ series: [1, 2], fill: fade(band.stroke, 0.16) });
  }
  for (const line of lines) {
    const isArea = line.label === "produced" && line.tone;
    series.push({
      stroke: line.isFaint ? fade(line.stroke, 0.18) : line.stroke, width: line.label === only ? 2.5 : 1.5,
      fill: isArea ? fade(line.stroke, 0.25) : undefined, points: { show: false },
    });
  }
  const ink = findColour("--faint"), rule = findColour("--line");
  const plot = new uPlot({
    width, height: panel.unit === "records" ? 180 : 112, padding: [8, 0, 6, 0], bands,
    cursor: { show: false }, legend: { show: false },
    scales: {
      x: { time: false, range: () => [range.start / 1000, range.end / 1000] },
      y: { range: (self, low, high) => [0, Math.max(1, (high || 0) * 1.06)] },
    },
    axes: [
      { show: false },
      {
        size: gutter, gap: 8, stroke: ink, grid: { stroke: rule, width: 1 }, ticks: { show: false }, space: 34,
        font: "11px system-ui, sans-serif", values: (self, ticks) => ticks.map((tick) => writeValue(tick, panel.unit)),
        incrs: panel.unit === "s" ? [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400, 172800, 604800] : undefined,
      },
    ],
    series,
  }, listData(figure, { band, lines }), make("div", "plot", root));
  const write = (item, index) => {
    if (item !== band) return writeValue(item.values[index], panel.unit);
    const [least, most] = [band.least[index], band.most[index]].map((one) => writeValue(one, panel.unit));
    return least === most ? most : `${least}–${most}`;
  };
  return {
    plot,
    // Whether it could take the other numbers.
    renew: (other, figure) => {
      if (nameLines(other) !== nameLines(panel)) return false;
      ({ lines, band } = listLines(other, only));
      range = figure;
      plot.setData(listData(figure, { band, lines }));
      return true;
    },
    // The values at a point of the grid; without one, the last that are known.
    read: (index) => list().forEach((item, number) => {
      const known = item === band ? band.most : item.values;
      const last = known.reduce((found, value, place) => (value === null ? found : place), -1);
      const shown = index === null ? last : index;
      values[number].textContent = shown < 0 ? "–" : write(item, shown);
    }),
  };
}
