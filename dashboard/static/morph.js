// Makes a part of the page what the server now says, and touches only what differs.
// `was` is what the server said before: what scripts made of it since (times, charts) is left alone.
// Nothing changes under the pointer, nor moves it: that is left for later, and the page says so.

// A figure is one thing: its lines and its lanes change together or not at all.
const isWhole = (node) => node.nodeType === Node.ELEMENT_NODE && node.hasAttribute("data-whole");

// A finger leaves no pointer behind. Who moves through a chart by keys loses nothing when it changes.
const canHover = matchMedia("(hover: hover)");
function isHeld(live) {
  if (canHover.matches && live.matches(":hover")) return true;
  const focused = document.activeElement;
  return focused.matches(":focus-visible") && !focused.matches(".tracks") && live.contains(focused);
}

// Whether what is pointed at would move, if this had more or fewer lines.
function isAbovePointer(live, hovered) {
  if (!hovered || !canHover.matches || !(hovered.compareDocumentPosition(live) & Node.DOCUMENT_POSITION_PRECEDING)) return false;
  const box = live.getBoundingClientRect();
  return box.bottom > 0 && box.top < innerHeight;
}

function takeAttributes(live, was, now) {
  for (const { name } of [...was.attributes]) if (!now.hasAttribute(name)) { live.removeAttribute(name); was.removeAttribute(name); }
  for (const { name, value } of now.attributes) {
    if (was.getAttribute(name) === value) continue;
    // What a person opened stays open.
    if (!(name === "open" && live.tagName === "DETAILS")) live.setAttribute(name, value);
    was.setAttribute(name, value);
  }
}

// Lines that came, went or changed places: what is the same at both ends stays.
function takeChildren(live, was, now) {
  let first = 0, last = 0;
  const [olds, news] = [[...was.childNodes], [...now.childNodes]], nodes = [...live.childNodes];
  while (first < Math.min(olds.length, news.length) && olds[first].isEqualNode(news[first])) first += 1;
  while (last < Math.min(olds.length, news.length) - first && olds.at(-1 - last).isEqualNode(news.at(-1 - last))) last += 1;
  const [liveNext, wasNext] = [nodes[olds.length - last] || null, olds[olds.length - last] || null];
  for (let place = first; place < olds.length - last; place += 1) { nodes[place].remove(); olds[place].remove(); }
  for (const node of news.slice(first, news.length - last)) {
    live.insertBefore(document.importNode(node, true), liveNext);
    was.insertBefore(node.cloneNode(true), wasNext);
  }
}

// Returns how much was left for later.
export function morph(live, was, now, hovered) {
  if (was.isEqualNode(now)) return 0;
  if (was.nodeType !== Node.ELEMENT_NODE) {
    const parent = live.parentElement;
    if (parent && isHeld(parent) && parent.tagName !== "SCRIPT") return 1;
    live.nodeValue = was.nodeValue = now.nodeValue;
    return 0;
  }
  if (isWhole(was) && isHeld(live)) return 1;
  takeAttributes(live, was, now);
  const [olds, news] = [[...was.childNodes], [...now.childNodes]];
  if (olds.length === news.length && olds.every((node, place) => node.nodeName === news[place].nodeName)) {
    const nodes = [...live.childNodes];
    return olds.reduce((left, node, place) => left + (nodes[place] ? morph(nodes[place], node, news[place], hovered) : 0), 0);
  }
  if (isHeld(live) || isAbovePointer(live, hovered)) return 1;
  takeChildren(live, was, now);
  return 0;
}
