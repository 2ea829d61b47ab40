// Making elements: buttons with icons, parts that scroll, text that never makes anything jump.
// Read next: source_pane.mjs.

export const SVG = "http://www.w3.org/2000/svg";

export function attribute(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) if (value != null) element.setAttribute(name, value);
  return element;
}

export function make(tag, attributes = {}, ...content) {
  const element = attribute(document.createElement(tag), attributes);
  element.append(...content);
  return element;
}

export function drawing(text, viewBox) {
  const markup = text.startsWith("<svg") ? text : `<svg viewBox="${viewBox}">${text}</svg>`;
  const svg = markup.includes("xmlns=") ? markup : markup.replace("<svg", `<svg xmlns="${SVG}"`);
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml");
  if (parsed.querySelector("parsererror")) throw new Error("its picture is damaged");
  return document.importNode(parsed.documentElement, true);
}

const ICONS = {
  first: "M5 4v12M16 4l-8 6 8 6z",
  back: "M14 4l-8 6 8 6z",
  play: "M6 3.5l11 6.5-11 6.5z",
  pause: "M6 4h2.6v12H6zM11.4 4H14v12h-2.6z",
  forward: "M6 4l8 6-8 6z",
  last: "M15 4v12M4 4l8 6-8 6z",
  out: "M4.5 10h11",
  in: "M4.5 10h11M10 4.5v11",
  fit: "M3.5 7.5v-4h4M12.5 3.5h4v4M16.5 12.5v4h-4M7.5 16.5h-4v-4",
  close: "M4 4l6 4 6-4M4 16l6-4 6 4M4 10h12",
  unfold: "M4 7l6-4 6 4M4 13l6 4 6-4M4 10h12",
  search: "M8.5 3.5a5 5 0 1 1 0 10a5 5 0 1 1 0-10M12.2 12.2l4.3 4.3",
  help: "M7 7.5a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1-1.5 2.4M10 15.6v.4",
  pin: "M7 3h6l-1 6 3 3H5l3-3zM10 12v5",
};

export function icon(name) {
  const picture = drawing(`<path class="adk-icon-path" d="${ICONS[name]}"/>`, "0 0 20 20");
  return attribute(picture, { class: "adk-icon", "aria-hidden": "true" });
}

export function button(name, label, keys) {
  const title = keys ? `${label} (${keys})` : label;
  const attributes = { type: "button", class: `adk-button adk-${name}`, "aria-label": label, title };
  return make("button", attributes, icon(name));
}

/** How much larger an element is on the screen than it is laid out: a page for slides is enlarged as a whole. */
export const enlargement = (element) => element.getBoundingClientRect().width / element.offsetWidth || 1;

/** A part that scrolls: it must be reachable by keyboard, and so it needs a name. */
export const scrolling = (name, label) =>
  make("div", { class: name, tabindex: "0", role: "region", "aria-label": label });

/** A box that always has room for the longest of its texts, so that nothing below it ever jumps. */
export function steadyText(name, texts, attributes) {
  const longest = texts.reduce((a, b) => (b.length > a.length ? b : a), "");
  const room = make("p", { class: "adk-ghost-text", "aria-hidden": "true" }, longest);
  const live = make("p", { class: `adk-${name}-text`, ...attributes });
  return [live, make("div", { class: `adk-${name}` }, room, live)];
}

/**
 * Bring a widget into view that a cell has just made: in JupyterLab and Notebook the cell that is active then is
 * this one, or the next after Shift+Enter, and something of it is in sight. Elsewhere, and when all cells run, the
 * page stays where it is.
 */
export function showNew(root) {
  const cell = root.closest(".jp-Cell");
  const active = document.querySelector(".jp-Notebook .jp-Cell.jp-mod-active");
  if (!cell || !active || root.closest(".adk-lab") || (active !== cell && active !== cell.nextElementSibling)) return;
  const next = requestAnimationFrame; // in the first frame what is inside is measured, and takes its room
  next(() => next(() => {
    const { top, bottom } = cell.getBoundingClientRect();
    if (bottom < 0 || top > innerHeight) return;
    const isTall = root.offsetHeight > innerHeight - 120; // then what it begins with, not what it ends with
    root.scrollIntoView({ block: isTall ? "start" : "nearest" });
  }));
}
