// What is wrong with a page for a screen reader or weak eyes: rules of axe-core that we could break.
() => {
  const faults = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  const isSeen = (one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const name = (one) => (one.getAttribute("aria-label") || one.textContent || one.title || "").trim()
    || [...one.querySelectorAll("img[alt], [aria-label]")].map((n) => n.alt || n.ariaLabel).join("");
  for (const one of all("input:not([type=hidden]), select, textarea"))
    if (!one.labels?.length && !one.getAttribute("aria-label")) faults.push(`no label: ${one.outerHTML}`);
  for (const one of all("a[href], button, summary"))
    if (isSeen(one) && !name(one)) faults.push(`no name: ${one.outerHTML.slice(0, 120)}`);
  for (const one of all("img:not([alt])")) faults.push(`no alt: ${one.outerHTML}`);
  for (const one of all("svg[role=img]:not([aria-label])")) faults.push("a drawing without a label");
  for (const one of all("thead th:empty")) faults.push("an empty header");
  const ids = all("[id]").map((one) => one.id);
  if (new Set(ids).size < ids.length) faults.push(`an id twice: ${ids}`);
  if (all("h1").length !== 1) faults.push("not one h1");
  if (all("main").length !== 1 || !all("nav[aria-label]").length) faults.push("landmarks");
  if (!document.documentElement.lang) faults.push("no language");
  for (const one of all(".scroll"))
    if (one.scrollWidth > one.clientWidth && one.tabIndex < 0 && !one.querySelector("a, button, [tabindex]"))
      faults.push("a table that scrolls, but not by the keyboard");
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const colour = (text) => {
    probe.clearRect(0, 0, 1, 1); probe.fillStyle = text; probe.fillRect(0, 0, 1, 1);
    return [...probe.getImageData(0, 0, 1, 1).data];
  };
  const ground = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const [r, g, b, a] = colour(getComputedStyle(at).backgroundColor);
      if (a === 255) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const seen = new Set();
  for (const one of all("main *, header *")) {
    const hasText = [...one.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!hasText || !isSeen(one) || one.closest("svg, script, .u-wrap, .unseen, .skip")) continue;
    const style = getComputedStyle(one);
    const [front, back] = [light(colour(style.color)), light(ground(one))];
    const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    const isLarge = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.6 && style.fontWeight >= 700);
    const what = `${one.tagName}.${one.className}: ${ratio.toFixed(2)}`;
    if (ratio < (isLarge ? 3 : 4.5) && !seen.has(what)) { seen.add(what); faults.push(`contrast ${what}`); }
  }
  return faults;
}
