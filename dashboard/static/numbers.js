// Numbers and times as the charts write them.
export const isLocal = () => document.documentElement.dataset.zone === "local";

export function shorten(value) {
  for (const unit of ["", "k", "M", "G", "T"]) {
    if (Math.abs(value) < 1000) return `${+value.toFixed(unit || value % 1 ? 1 : 0)}${unit}`;
    value /= 1000;
  }
  return `${value.toFixed(0)}P`;
}

export function writeSeconds(value) {
  const [size, unit, smaller, least] = value >= 86400 ? [86400, "d", 3600, "h"] : value >= 3600 ? [3600, "h", 60, "min"] : [60, "min", 1, "s"];
  if (value < 60) return `${+value.toFixed(value < 10 && value % 1 ? 1 : 0)} s`;
  const rest = Math.floor((value % size) / smaller);
  return `${Math.floor(value / size)} ${unit}${rest ? ` ${rest} ${least}` : ""}`;
}

export const writeValue = (value, unit) =>
  value === null || value === undefined ? "–" : unit === "s" ? writeSeconds(value) : shorten(value);

export const writeTime = (ms) => new Date(Math.round(ms)).toISOString().replace(".000Z", "Z");

export function writeMoment(ms) {
  const at = new Date(ms), two = (number) => String(number).padStart(2, "0");
  if (!isLocal()) return `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`;
  const east = -at.getTimezoneOffset();
  const zone = `UTC${east < 0 ? "−" : "+"}${two(Math.floor(Math.abs(east) / 60))}:${two(Math.abs(east) % 60)}`;
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())} ${zone}`;
}

// A canvas does not know light-dark() and variables: an element that has the colour does.
const probe = document.body.appendChild(document.createElement("span"));
probe.hidden = true;
export function findColour(text) {
  probe.style.color = "";
  probe.style.color = text.startsWith("--") ? `var(${text})` : text;
  return getComputedStyle(probe).color;
}

// The same page with other parameters; null takes one away.
export function writeAddress(changes) {
  const address = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) address.searchParams.delete(name); else address.searchParams.set(name, value);
  }
  return address;
}
