// What a figure shows, as a picture and as rows.
import { findColour, writeMoment, writeTime } from "./numbers.js";

const HEAD = 44;

function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// Names come from the cluster: what a spreadsheet would take for a formula is made text.
function quote(value) {
  if (value === null || value === undefined) return "";
  const isRun = typeof value === "string" && /^[=+\-@\t\r]/.test(value) && !/^[+-]?\d+(\.\d+)?$/.test(value);
  const text = isRun ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function listRows(root, view) {
  const rows = [["kind", "name", "from", "to", "value", "least", "unit", "text"]];
  const { x, step, panels } = view.data;
  for (const { title, unit, band, lines } of panels) {
    const all = [...(band ? [{ label: band.label, values: band.most, least: band.least }] : []), ...lines];
    for (const line of all) x.forEach((second, place) => {
      if (line.values[place] === null) return;
      const [from, to] = [second, second + step].map((one) => writeTime(1000 * one));
      rows.push([title, line.label, from, to, line.values[place], line.least ? line.least[place] : null, unit, null]);
    });
  }
  for (const track of root.querySelectorAll(".track"))
    for (const lane of track.querySelectorAll(".lane"))
      for (const bar of lane.querySelectorAll("[data-from]"))
        rows.push([track.getAttribute("aria-label"), lane.dataset.name, bar.dataset.from, bar.dataset.to, null, null, null, bar.getAttribute("aria-label")]);
  return rows;
}

// Everything that is seen, from where it stands: canvases, bars, texts.
function paint(root, view, name) {
  const tracks = root.querySelector(".tracks"), box = tracks.getBoundingClientRect(), dots = 2, edge = 16;
  const canvas = document.createElement("canvas");
  canvas.width = dots * (box.width + 2 * edge);
  canvas.height = dots * (box.height + HEAD + 2 * edge);
  const ink = canvas.getContext("2d");
  ink.scale(dots, dots);
  ink.fillStyle = findColour("--card");
  ink.fillRect(0, 0, canvas.width, canvas.height);
  const write = (text, x, y, style, most) => {
    ink.font = style.font || `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    ink.fillStyle = style.isShape ? style.fill : style.color;
    ink.fillText(text, x, y, most);
  };
  const head = { font: "600 15px system-ui, sans-serif", color: findColour("--text") };
  write(name, edge, edge + 14, head);
  const range = `${writeMoment(view.data.start)} – ${writeMoment(view.data.end)}`;
  write(range, edge, edge + 34, { font: "12px system-ui, sans-serif", color: findColour("--faint") });
  ink.translate(edge - box.left, edge + HEAD - box.top);
  for (const one of tracks.querySelectorAll("canvas, rect, line, path, text, h3, .lane-label, .legend button, .rise, .flag, .shades i")) {
    const at = one.getBoundingClientRect(), style = getComputedStyle(one);
    if (!at.width && !at.height) continue;
    ink.save();
    ink.globalAlpha = Number(style.opacity);
    const cut = one.closest("svg, .flags, .legend, .shades");
    if (cut && cut !== one) { const edges = cut.getBoundingClientRect(); ink.beginPath(); ink.rect(edges.left - 8, edges.top - 8, edges.width + 16, edges.height + 16); ink.clip(); }
    if (one.tagName === "CANVAS") ink.drawImage(one, at.left, at.top, at.width, at.height);
    else if (one.tagName === "rect") { ink.fillStyle = style.fill; ink.fillRect(at.left, at.top, at.width, at.height); }
    else if (one.tagName === "line") { ink.fillStyle = style.stroke; ink.fillRect(at.left, at.top, 1, at.height); }
    else if (one.tagName === "path") { ink.fillStyle = style.fill; ink.translate(at.left + at.width / 2, at.top + at.height / 2); ink.rotate(Math.PI / 4); ink.fillRect(-5, -5, 10, 10); }
    else if (one.matches(".flag")) {
      ink.fillStyle = style.backgroundColor;
      ink.beginPath(); ink.arc(at.left + 9, at.top + 9, 9, 0, 7); ink.fill();
      write(one.textContent, at.left + 5.5, at.top + 13, style);
    } else if (one.matches(".shades i, .rise")) {
      ink.fillStyle = style.backgroundColor; ink.fillRect(at.left, at.top, Math.max(1, at.width), at.height);
      ink.textAlign = "right";
      if (one.textContent && at.width > 120) write(one.textContent, at.right - 6, at.bottom - 5, style);
    } else if (one.matches(".legend button")) {
      ink.fillStyle = getComputedStyle(one.querySelector(".swatch")).backgroundColor; ink.fillRect(at.left + 2, at.top + at.height / 2 - 2, 12, 4);
      write(`${one.title}  ${one.querySelector(".value").textContent}`, at.left + 19, at.bottom - 5, style, at.width - 20);
    } else if (one.tagName === "text") {
      if (cut && cut.closest(".lane-bars")) { const edges = cut.getBoundingClientRect(); ink.beginPath(); ink.rect(edges.left, edges.top - 9, edges.width, 40); ink.clip(); }
      write(one.textContent, at.left, at.bottom - 3, { font: `${style.fontSize} ${style.fontFamily}`, fill: style.fill, isShape: true });
    } else write(one.textContent, at.left + (one.querySelector(".swatch") ? 16 : 0), at.bottom - 4, style, at.width);
    ink.restore();
  }
  return canvas;
}

export function exportFigure(kind, root, view) {
  const title = document.querySelector("h1").textContent.trim().replace(/\s+/g, " ");
  const name = `zklake ${title} ${writeTime(view.data.start)}`.replace(/[^\p{L}\p{N}._-]+/gu, "-").slice(0, 120);
  if (kind === "csv") {
    const text = listRows(root, view).map((row) => row.map(quote).join(",")).join("\r\n");
    save(`${name}.csv`, new Blob([text, "\r\n"], { type: "text/csv" }));
    return;
  }
  // The axis may stand elsewhere while the page is scrolled.
  root.classList.add("painted");
  paint(root, view, title).toBlob((blob) => save(`${name}.png`, blob), "image/png");
  root.classList.remove("painted");
}
