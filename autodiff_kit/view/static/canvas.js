// canvas.js - shows one picture that Python draws, and returns what is picked and dragged in it.
//
// After reading part 1 you can say how a pixel becomes a number on an axis; after part 2, why the keyboard reaches
// all that the mouse does. Python draws and says everything; it is asked by changing the traits `picked` and `point`.
// This file asks the network for nothing and puts nothing on `window`. Its looks: canvas.css.

import { ownKeys } from "./kit/keys.mjs";

// ---- 1. Pure functions: tested by tests/js, no document needed ---------------------------------------------

export const clamp = (value, low, high) => Math.min(Math.max(value, Math.min(low, high)), Math.max(low, high));

/** The round number (1, 2 or 5 times a power of ten) next above 1/400 of a range: what one key press moves. */
export function niceStep(from, to) {
  const least = Math.abs(to - from) / 400;
  if (!(least > 0) || !Number.isFinite(least)) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].find((digit) => digit * power >= least * (1 - 1e-9)) * power;
}

/** The nearest multiple of step inside the range, without digits that come from rounding. */
export function snapped(value, step, from, to) {
  const digits = clamp(2 - Math.floor(Math.log10(step)), 0, 20);
  return Number(clamp(Math.round(value / step) * step, from, to).toFixed(digits));
}

/**
 * The scale of a plot, from the data-* attributes of its `<g class="adk-axes">`: x0, x1, y0, y1 in data coordinates
 * lie at left, right, bottom, top in the drawing's own pixels. null where one of them is missing.
 */
export function scaleOf(data) {
  const names = ["x0", "x1", "y0", "y1", "left", "right", "top", "bottom"];
  const scale = Object.fromEntries(names.map((name) => [name, data[name] === undefined ? NaN : Number(data[name])]));
  if (!Object.values(scale).every(Number.isFinite) || scale.x0 === scale.x1 || scale.y0 === scale.y1) return null;
  scale.stepX = Number(data.stepX) || niceStep(scale.x0, scale.x1);
  scale.stepY = Number(data.stepY) || niceStep(scale.y0, scale.y1);
  return scale;
}

export const toPixel = (scale, [x, y]) => [
  scale.left + ((x - scale.x0) / (scale.x1 - scale.x0)) * (scale.right - scale.left),
  scale.bottom + ((y - scale.y0) / (scale.y1 - scale.y0)) * (scale.top - scale.bottom),
];

/** Data coordinates under a pixel, inside the plot and on its grid of steps. */
export function fromPixel(scale, [px, py]) {
  const x = scale.x0 + ((px - scale.left) / (scale.right - scale.left)) * (scale.x1 - scale.x0);
  const y = scale.y0 + ((py - scale.bottom) / (scale.top - scale.bottom)) * (scale.y1 - scale.y0);
  return [snapped(x, scale.stepX, scale.x0, scale.x1), snapped(y, scale.stepY, scale.y0, scale.y1)];
}

export const inside = (scale, [px, py]) =>
  px >= scale.left && px <= scale.right && py >= scale.top && py <= scale.bottom;

/** Where a key moves the point; null for keys that mean nothing here. A point on a curve (along "x") has one axis. */
export function movedBy(scale, [x, y], key, shift, along) {
  const times = shift ? 10 : 1;
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] }[key] ?? [];
  const byX = (steps) => snapped(x + steps * scale.stepX, scale.stepX, scale.x0, scale.x1);
  const byY = (steps) => snapped(y + steps * scale.stepY, scale.stepY, scale.y0, scale.y1);
  if (along === "x") {
    if (key === "Home") return [scale.x0, y];
    if (key === "End") return [scale.x1, y];
    return dx === undefined ? null : [byX((dx + dy) * times), y];
  }
  if (dx === undefined) return null;
  return dx ? [byX(dx * times), y] : [x, byY(dy * times)];
}

/**
 * Where a key leads from element `id`: left and right in the order of the drawing, up and down to the nearest one
 * above or below, sideways counting double. `places` are {id, x, y} of the centres, in the order of the drawing.
 */
export function neighbour(places, id, key) {
  const at = places.findIndex((place) => place.id === id);
  const here = places[at];
  if (!here) return null;
  const nearest = (way) => {
    const there = places.filter((place) => (place.y - here.y) * way > 2);
    const distance = (place) => Math.abs(place.y - here.y) + 2 * Math.abs(place.x - here.x);
    return there.reduce((best, place) => (best && distance(best) <= distance(place) ? best : place), null);
  };
  const found = {
    ArrowLeft: () => places[at - 1],
    ArrowRight: () => places[at + 1],
    ArrowUp: () => nearest(-1),
    ArrowDown: () => nearest(1),
    Home: () => places[0],
    End: () => places.at(-1),
  }[key];
  return found ? (found() ?? here).id : null;
}

// A picture shrinks so far on a narrow page, where text of 12.5 px is still 11 px, and then it scrolls; charts
// grow so far on a wide one.
const LEAST_SCALE = 0.88;
const MOST_SCALE = 1.2;

/**
 * How a picture of panels is laid out in so much room: side by side, `data-narrow` null, or below each other. `size`
 * is its width and height then, `least` how far it may shrink. Once below each other, they stay so at this width.
 */
export function layoutOf(width, data, room, wasNarrow) {
  const least = Number(data.least) || LEAST_SCALE;
  const narrow = data.narrow?.split(" ").map(Number) ?? [];
  const fits = !(room > 0) || room >= width * least;
  return { least, narrow: narrow.length === 2 && narrow[0] < width && (wasNarrow || !fits) ? narrow : null };
}

// ---- 2. Drawing ----------------------------------------------------------------------------------------------

function make(tag, attributes = {}, ...content) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...content);
  return element;
}

function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value == null) element.removeAttribute(name);
    else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
  }
  return element;
}

function parsed(text) {
  const found = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (found.localName !== "svg" || found.querySelector("parsererror")) return null;
  return document.importNode(found, true);
}

/** The words of the `<title>` of an element, which is taken away: as a tooltip it would cover the picture. */
function titleOf(element) {
  const title = [...element.children].find((child) => child.localName === "title");
  title?.remove();
  return title?.textContent ?? null;
}

/** anywidget's entry. What can be seen is in the model, so a view that is taken away and made again looks the same. */
function render({ model, el }) {
  const picture = make("div", { class: "adk-board-picture" });
  const caption = make("p", { class: "adk-board-caption", "aria-live": "polite" });
  const root = make("div", { class: "adk-root adk-board" }, picture, caption);
  el.append(root);
  const endKeys = ownKeys(root);

  let svg = null;
  let size = [0, 0]; // as Python drew it
  let narrow = false; // whether its panels stand below each other
  let axes = null;
  let scale = null;
  let handle = null;
  let dragging = false;
  let point = null; // newer than the trait until the next frame
  let frame = 0;

  const items = () => (svg ? [...svg.querySelectorAll("[data-id]")] : []);
  const here = () => {
    if (point) return point;
    const known = model.get("point");
    return known?.length === 2 ? known : handle ? [Number(handle.dataset.x), Number(handle.dataset.y)] : null;
  };

  /** Replace the picture as a whole; the keyboard's focus stays at the element of the same name. */
  function draw() {
    const focused = picture.contains(document.activeElement) ? document.activeElement : null;
    const heldId = focused?.dataset.id;
    const held = focused && focused === handle;
    const text = model.get("svg");
    svg = text ? parsed(text) : null;
    axes = handle = scale = null;
    if (!svg) {
      const words = text ? "The picture is damaged. Run the cell again." : "No picture yet.";
      picture.replaceChildren(make("p", { class: "adk-message" }, words));
      return;
    }
    const title = titleOf(svg);
    size = ["width", "height"].map((name) => parseFloat(svg.getAttribute(name)));
    if (svg.classList.contains("adk-chart")) svg.style.width = `${size[0] * MOST_SCALE}px`;
    axes = svg.querySelector(".adk-axes");
    scale = axes && scaleOf(axes.dataset);
    handle = scale && svg.querySelector(".adk-handle");
    const all = items();
    const busy = all.length || handle;
    set(svg, { role: busy ? "group" : "img", "aria-label": title ?? svg.getAttribute("aria-label") ?? "Picture" });
    for (const element of all) {
      set(element, { tabindex: -1 });
      const words = titleOf(element) ?? element.getAttribute("aria-label") ?? element.textContent;
      set(element, { role: "button", "aria-label": words.trim() || element.dataset.id });
    }
    if (handle) {
      set(handle, { tabindex: 0 });
      const along = handle.dataset.along === "x";
      set(handle, {
        role: "slider",
        "aria-roledescription": "draggable point",
        "aria-label": titleOf(handle) ?? handle.getAttribute("aria-label") ?? "Point",
        "aria-valuemin": Math.min(scale.x0, scale.x1),
        "aria-valuemax": Math.max(scale.x0, scale.x1),
        "aria-orientation": along ? "horizontal" : null,
      });
    }
    picture.replaceChildren(svg);
    fit();
    mark();
    place();
    const again = held ? handle : heldId === undefined ? null : all.find((item) => item.dataset.id === heldId);
    again?.focus({ preventScroll: true });
  }

  /** Lay the panels out in the room that there is; a picture that is wider still is scrolled, also by keyboard. */
  function fit() {
    if (!svg) return;
    const { paddingLeft, paddingRight } = getComputedStyle(picture);
    const room = picture.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
    const layout = layoutOf(size[0], svg.dataset, room, narrow);
    for (const panel of svg.querySelectorAll(":scope > .adk-panel")) {
      panel.dataset.wide ??= panel.getAttribute("transform");
      set(panel, { transform: layout.narrow ? panel.dataset.narrow : panel.dataset.wide });
    }
    narrow ||= Boolean(layout.narrow);
    const [width, height] = layout.narrow ?? size;
    if (svg.hasAttribute("data-narrow")) set(svg, { width, height, viewBox: `0 0 ${width} ${height}` });
    if (width) svg.style.minWidth = `${Math.ceil(width * layout.least)}px`;
    reach();
  }

  /** Let the keyboard reach a picture, and words, that have to be scrolled. */
  function reach() {
    const wide = picture.scrollWidth > picture.clientWidth + 1 || picture.scrollHeight > picture.clientHeight + 1;
    set(picture, { tabindex: wide ? 0 : null, role: wide ? "group" : null, "aria-label": wide ? "Picture" : null });
    set(caption, { tabindex: caption.scrollHeight > caption.clientHeight + 1 ? 0 : null });
  }

  /** Show which element is picked, and leave one of all in the tab order. */
  function mark() {
    const picked = model.get("picked");
    const all = items();
    const stop = all.find((item) => item === document.activeElement) ?? all.find((item) => item.dataset.id === picked);
    for (const item of all) {
      const chosen = item.dataset.id === picked;
      item.classList.toggle("adk-picked", chosen);
      set(item, { "aria-pressed": chosen, tabindex: item === (stop ?? all[0]) ? 0 : -1 });
    }
  }

  /** Show the handle where the point is now, which may be newer than the picture. */
  function place() {
    const at = handle && here();
    if (!at) return;
    const drawn = toPixel(scale, [Number(handle.dataset.x), Number(handle.dataset.y)]);
    const now = toPixel(scale, at);
    const dy = handle.dataset.along === "x" ? 0 : now[1] - drawn[1]; // the curve's height is Python's to say
    const moved = Math.abs(now[0] - drawn[0]) > 0.05 || Math.abs(dy) > 0.05;
    set(handle, {
      transform: moved ? `translate(${now[0] - drawn[0]} ${dy})` : null,
      "aria-valuenow": at[0],
      "aria-valuetext": handle.dataset.along === "x" ? `x = ${at[0]}` : `x = ${at[0]}, y = ${at[1]}`,
    });
  }

  function tell(name, value) {
    model.set(name, value);
    model.save_changes();
  }

  /** Move the point: seen at once, told to Python once a frame. */
  function move(to) {
    if (!to || String(to) === String(here())) return;
    point = to;
    place();
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      const newest = point;
      if (!dragging) point = null;
      tell("point", newest);
    });
  }

  function pick(element) {
    const { id } = element.dataset;
    tell("picked", id === model.get("picked") ? "" : id);
  }

  const pixelOf = (event) => {
    const matrix = axes?.getScreenCTM();
    if (!matrix) return [NaN, NaN];
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    return [x, y];
  };
  const along = ([x, y]) => (handle.dataset.along === "x" ? [x, here()[1]] : [x, y]);

  const listeners = {
    click(event) {
      const element = event.target.closest?.("[data-id]");
      if (element && picture.contains(element)) pick(element);
    },
    // The picture is replaced while the point is dragged, so it is the pane around it that holds the pointer.
    pointerdown(event) {
      if (!handle || event.button !== 0 || event.target.closest("[data-id]")) return;
      const grabbed = handle.contains(event.target);
      if (!grabbed && (event.pointerType === "touch" || !inside(scale, pixelOf(event)))) return;
      event.preventDefault();
      dragging = true;
      picture.setPointerCapture(event.pointerId);
      root.classList.add("adk-dragging");
      handle.focus({ preventScroll: true });
      if (!grabbed) move(along(fromPixel(scale, pixelOf(event))));
    },
    pointermove(event) {
      if (dragging && handle) move(along(fromPixel(scale, pixelOf(event))));
    },
    lostpointercapture() {
      dragging = false;
      root.classList.remove("adk-dragging");
      if (!frame) point = null;
    },
    keydown(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const element = event.target.closest("[data-id]");
      if (handle && event.target === handle) {
        const to = movedBy(scale, here(), event.key, event.shiftKey, handle.dataset.along);
        if (!to) return;
        move(to);
      } else if (!element) return;
      else if (event.key === "Enter" || event.key === " ") pick(element);
      else if (event.key === "Escape" && model.get("picked")) tell("picked", "");
      else {
        const places = items().map((item) => {
          const { x, y, width, height } = item.getBoundingClientRect();
          return { id: item.dataset.id, x: x + width / 2, y: y + height / 2 };
        });
        const to = neighbour(places, element.dataset.id, event.key);
        if (to == null) return;
        items().find((item) => item.dataset.id === to).focus();
        mark();
      }
      event.preventDefault();
      event.stopPropagation();
    },
  };
  for (const [name, listener] of Object.entries(listeners)) picture.addEventListener(name, listener);

  /** The line of words only ever grows while the page keeps its width, so that nothing below it jumps. */
  function say() {
    const words = model.get("caption");
    if (caption.textContent !== words) caption.textContent = words;
    caption.hidden = !words;
    const height = caption.offsetHeight;
    if (height > (parseFloat(caption.style.minHeight) || 0)) caption.style.minHeight = `${height}px`;
    reach();
  }
  /** Classes that Python gives the widget, as `add_class` does for every other kind of widget. */
  let given = [];
  function dress() {
    root.classList.remove(...given);
    given = [...(model.get("_dom_classes") ?? [])];
    root.classList.add(...given);
  }
  let width = 0;
  const sizes = new ResizeObserver(() => {
    if (root.clientWidth === width) return reach();
    width = root.clientWidth;
    caption.style.minHeight = "";
    say();
    narrow = false;
    fit();
  });
  sizes.observe(root);
  sizes.observe(picture);

  const changes = {
    "change:svg": draw,
    "change:caption": say,
    "change:picked": mark,
    "change:_dom_classes": dress,
    "change:point": () => dragging || place(),
  };
  for (const [name, listener] of Object.entries(changes)) model.on(name, listener);
  dress();
  draw();
  say();
  return () => {
    for (const [name, listener] of Object.entries(changes)) model.off(name, listener);
    cancelAnimationFrame(frame);
    sizes.disconnect();
    endKeys();
    root.remove();
  };
}

export default { render };
