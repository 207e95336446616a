// The rises of lag and the numbered causes of Why, on the time axis of a figure.
// Only the page Why has them at hand: others ask it, after everything else is shown.
const FRESH_MS = 60_000;
const asked = new Map();

async function ask(address) {
  const known = asked.get(address);
  if (known && Date.now() - known.at < FRESH_MS) return known.rises;
  const answer = await fetch(address, { headers: { accept: "text/html" } });
  if (!answer.ok) throw new Error(`Why answers ${answer.status}`);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const data = page.querySelector("figure.timeline > script");
  const rises = data ? JSON.parse(data.textContent).rises || [] : [];
  asked.set(address, { at: Date.now(), rises });
  return rises;
}

function add(parent, name, className, part) {
  const made = document.createElement(name);
  made.className = className;
  if (part) { made.style.left = `${100 * part[0]}%`; made.style.width = `${100 * (part[1] - part[0])}%`; }
  return parent.appendChild(made);
}

export async function drawCauses(root, view) {
  const lane = root.querySelector(".causes");
  if (!lane) return;
  const flags = lane.querySelector(".flags"), shades = root.querySelector(".shades");
  let rises = view.rises;
  if (!rises) {
    if (!flags.firstChild) flags.textContent = "looking for causes …";
    try { rises = await ask(root.dataset.why); } catch { rises = null; }
    if (!root.isConnected) return;
    if (!rises) { flags.textContent = "the causes could not be asked; the page tries again when it is loaded anew"; return; }
  }
  const clamp = (value) => Math.min(1, Math.max(0, value));
  const find = (text) => (Date.parse(text) - view.data.start) / (view.data.end - view.data.start);
  flags.replaceChildren();
  shades.replaceChildren();
  const seen = rises.filter((rise) => find(rise.to) > 0 && find(rise.from) < 1);
  for (const rise of seen) {
    const part = [clamp(find(rise.from)), clamp(find(rise.to))];
    const bar = add(flags, "a", "rise", part);
    bar.href = rise.href;
    bar.dataset.says = rise.says;
    bar.setAttribute("aria-label", rise.says);
    bar.textContent = rise.says;
    add(shades, "i", "rise-time", part);
    let last = -Infinity;
    for (const cause of [...rise.causes].sort((one, other) => find(one.from) - find(other.from))) {
      const at = clamp(find(cause.from));
      add(shades, "i", "cause-time", [at, at]);
      const flag = add(flags, "a", "flag", null);
      // Those of one moment stand beside each other.
      last = Math.max(at * flags.clientWidth, last + 19);
      flag.style.left = `${Math.min(last, flags.clientWidth - 9)}px`;
      flag.href = rise.href;
      flag.textContent = cause.number;
      flag.dataset.says = cause.says;
      flag.setAttribute("aria-label", cause.says);
    }
  }
  if (!seen.length) flags.textContent = "no notable rise of lag in this time";
}
