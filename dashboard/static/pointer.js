// One crosshair through all panels and lanes of a figure. A drag zooms, a click pins a moment.
import { writeAddress, writeMoment, writeTime } from "./numbers.js";

const LEAST_DRAG = 5;

export function followPointer(root, view) {
  const tracks = root.querySelector(".tracks"), over = root.querySelector(".over");
  const [cross, pin, choice] = [".cross", ".pin", ".choice"].map((name) => over.querySelector(name));
  const tip = root.querySelector(".tip"), said = root.querySelector(".said");
  let from = null, isDrag = false;

  const share = (event) => {
    const box = over.getBoundingClientRect();
    return (event.clientX - box.left) / box.width;
  };
  const clamp = (part) => Math.min(1, Math.max(0, part));
  const find = (part) => view.data.start + part * (view.data.end - view.data.start);
  const place = (ms) => (ms - view.data.start) / (view.data.end - view.data.start);
  const pinned = () => Date.parse(new URL(location.href).searchParams.get("pin") || "");

  function show(part) {
    const isIn = part !== null && part >= 0 && part <= 1;
    cross.hidden = !isIn;
    const at = isIn ? find(part) : pinned();
    if (isIn) cross.style.left = `${100 * part}%`;
    view.read(Number.isFinite(at) ? at : null);
    if (isIn) over.dataset.at = writeTime(at); else delete over.dataset.at;
    say(isIn ? at : null);
  }

  function say(at) {
    const held = pinned(), shown = at ?? (Number.isFinite(held) ? held : null);
    said.replaceChildren();
    if (shown === null) { said.textContent = said.dataset.hint; return; }
    const time = document.createElement("strong");
    time.textContent = writeMoment(shown);
    said.append(time);
    if (at !== null || !Number.isFinite(held)) return;
    const link = document.createElement("a"), clear = document.createElement("button");
    const address = new URL(root.dataset.at, location.origin);
    address.searchParams.set("time", writeTime(held));
    link.href = address;
    link.textContent = "Time machine";
    clear.type = "button";
    clear.textContent = "Unpin";
    clear.addEventListener("click", () => keep(null));
    said.append(" ", link, " ", clear);
  }

  function keep(at) {
    history.replaceState(null, "", writeAddress({ pin: at === null ? null : writeTime(at) }));
    showPin();
    show(null);
  }

  function showPin() {
    const part = place(pinned());
    pin.hidden = !(part >= 0 && part <= 1);
    if (!pin.hidden) pin.style.left = `${100 * part}%`;
  }

  function drag(part) {
    const [low, high] = [Math.min(from, part), Math.max(from, part)].map(clamp);
    choice.hidden = false;
    choice.style.left = `${100 * low}%`;
    choice.style.width = `${100 * (high - low)}%`;
    return [low, high];
  }

  function explain(event) {
    const mark = event.target.closest("[aria-label][data-from], [data-says]");
    const text = mark && (mark.getAttribute("aria-label") || mark.dataset.says);
    tip.hidden = !text || isDrag;
    if (tip.hidden) return;
    tip.textContent = text;
    const box = root.getBoundingClientRect();
    const left = Math.min(event.clientX - box.left + 14, box.width - tip.offsetWidth - 4);
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${event.clientY - box.top + 18}px`;
  }

  tracks.addEventListener("pointermove", (event) => {
    const part = share(event);
    if (from !== null && (isDrag || Math.abs(part - from) * over.clientWidth >= LEAST_DRAG)) {
      if (!isDrag) tracks.setPointerCapture(event.pointerId);
      isDrag = true;
      drag(part);
    }
    show(isDrag ? clamp(part) : part);
    explain(event);
  });
  tracks.addEventListener("pointerleave", () => { if (!isDrag) show(null); tip.hidden = true; });
  tracks.addEventListener("pointerdown", (event) => {
    const part = share(event);
    if (event.button === 0 && part >= 0 && part <= 1 && !event.target.closest("button")) from = part;
  });
  tracks.addEventListener("pointerup", (event) => {
    if (from === null) return;
    const [low, high] = isDrag ? drag(share(event)) : [0, 0];
    const isClick = !isDrag && !event.target.closest("a, button");
    const at = find(clamp(from));
    from = null;
    if (isDrag) {
      choice.hidden = true;
      // The click that ends a drag opens nothing.
      addEventListener("click", (click) => click.preventDefault(), { capture: true, once: true });
      setTimeout(() => { isDrag = false; }, 0);
      if ((high - low) * over.clientWidth >= LEAST_DRAG) zoom(find(low), find(high));
    } else if (isClick) keep(at);
  });
  tracks.addEventListener("pointercancel", () => { from = null; isDrag = false; choice.hidden = true; });
  tracks.addEventListener("dragstart", (event) => event.preventDefault());
  tracks.addEventListener("keydown", (event) => {
    if (event.target !== tracks) return;
    const steps = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const step = 1000 * view.data.step;
    if (steps) {
      const held = Number.isFinite(pinned()) ? pinned() : view.data.end;
      keep(Math.min(view.data.end, Math.max(view.data.start, held + steps * (event.shiftKey ? 10 : 1) * step)));
    } else if (event.key === "Escape") keep(null);
    else if (event.key === "+" || event.key === "-") zoomBy(event.key === "+" ? 0.5 : 2);
    else return;
    event.preventDefault();
  });

  function zoom(start, end) {
    location.assign(writeAddress({ from: writeTime(start), to: writeTime(end), last: null, rise: null }));
  }
  // Around the pinned moment, if there is one. What has not happened yet is of no interest.
  function zoomBy(factor, shift = 0) {
    const { start, end } = view.data, held = pinned();
    const width = (end - start) * factor, middle = place(held) >= 0 && place(held) <= 1 ? held : (start + end) / 2;
    const from = middle - width / 2 + shift * width;
    const until = Math.min(from + width, Math.max(end, Date.now()));
    zoom(until - width, until);
  }
  for (const button of root.querySelectorAll("[data-zoom]"))
    button.addEventListener("click", () => zoomBy(Number(button.dataset.zoom), Number(button.dataset.shift || 0)));

  return { renew: () => { showPin(); show(null); } };
}
