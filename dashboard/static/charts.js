// Figures with a time axis: panels of lines, lanes below them, one crosshair through all.
import { drawCauses } from "./causes.js";
import { exportFigure } from "./export.js";
import { writeAddress } from "./numbers.js";
import { drawPanel } from "./panels.js";
import { followPointer } from "./pointer.js";

const views = new Map();

function readData(root) {
  const { figure, rises } = JSON.parse(root.querySelector("script").textContent);
  return { data: { ...figure, start: Date.parse(figure.start), end: Date.parse(figure.end) }, rises };
}

class View {
  constructor(root) {
    this.root = root;
    this.drawn = [];
    this.pointer = followPointer(root, this);
    for (const button of root.querySelectorAll("[data-export]"))
      button.addEventListener("click", () => exportFigure(button.dataset.export, root, this));
  }

  get only() { return new URL(location.href).searchParams.get("only"); }

  draw(isForced) {
    const { root } = this;
    this.text = root.querySelector("script").textContent;
    Object.assign(this, readData(root));
    if (isForced || !this.renew()) this.drawPanels();
    this.pointer.renew();
    drawCauses(root, this);
  }

  renew() {
    const { panels } = this.data;
    return panels.length === this.drawn.length && panels.every((panel, place) => this.drawn[place].renew(panel, this.data));
  }

  drawPanels() {
    const { root } = this;
    for (const { plot } of this.drawn) plot.destroy();
    const place = root.querySelector(".panels"), over = root.querySelector(".over");
    // Drawn anew at once: a page that loses its height for a moment scrolls.
    place.style.minHeight = `${place.offsetHeight}px`;
    place.replaceChildren();
    const width = root.querySelector(".tracks").clientWidth, only = this.only;
    const shared = { width, gutter: over.offsetLeft, only, choose: (label) => this.choose(label) };
    this.drawn = this.data.panels.map((panel) => drawPanel(place, panel, this.data, shared));
    place.style.minHeight = "";
    for (const lane of root.querySelectorAll(".lane[data-name]"))
      lane.classList.toggle("faint-lane", Boolean(only) && this.hasLine(only) && lane.dataset.name !== only && this.hasLine(lane.dataset.name));
  }

  hasLine(label) { return this.data.panels.some((panel) => panel.lines.some((line) => line.label === label)); }

  choose(label) {
    history.replaceState(null, "", writeAddress({ only: this.only === label ? null : label }));
    this.draw(true);
  }

  read(at) {
    const { x, step } = this.data;
    const index = at === null || !x.length ? null : Math.floor((at / 1000 - x[0]) / step);
    for (const one of this.drawn) one.read(index === null || index < 0 || index >= x.length ? null : index);
  }
}

function drawAll(isForced) {
  for (const [root, view] of views) if (!root.isConnected) { view.drawn.forEach(({ plot }) => plot.destroy()); views.delete(root); }
  for (const root of document.querySelectorAll("figure.timeline")) {
    const view = views.get(root) || new View(root);
    views.set(root, view);
    if (isForced || view.text !== root.querySelector("script").textContent) view.draw(isForced);
  }
}

// Where not all hours fit, the last ones are of interest.
for (const table of document.querySelectorAll(".newest")) table.scrollLeft = table.scrollWidth;
let waiting = 0;
addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(() => drawAll(true), 150); });
document.addEventListener("looks-changed", () => drawAll(true));
document.addEventListener("live-changed", () => drawAll(false));
drawAll(true);
