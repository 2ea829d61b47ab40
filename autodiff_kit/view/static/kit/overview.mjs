// The overview: a small map of a graph that is larger than its pane, the part in sight marked on it.
// Drag the mark, click beside it, or move it with the arrow keys. Read next: graph_pane.mjs.

import { attribute, make, SVG } from "./dom.mjs";
import { fitScale, isReadable, MARGIN } from "./panning.mjs";
import { clamp } from "./steps.mjs";

const STRIP = 74; // px that the strip takes from the pane
const MAP_INSET = 8; // px around the map in it
const LEAST_MARK = 6; // px, the mark is never thinner than this
const KEY_STEP = 0.2; // of the pane, what an arrow key moves

/** On which side of the pane the strip stands: beside a graph that is too high, else below. */
export const sideOf = (graph, pane) => (graph.h / pane.h >= graph.w / pane.w ? "right" : "bottom");

/** The pane that is left beside the strip. */
export const besideStrip = (graph, pane) =>
  sideOf(graph, pane) === "right" ? { w: pane.w - STRIP, h: pane.h } : { w: pane.w, h: pane.h - STRIP };

/** How wide a pane of this height has to be, so that the graph is as large as can be in it. */
export function widthFor(graph, height) {
  const scale = fitScale(graph, { w: Infinity, h: height });
  return isReadable({ scale }) ? graph.w * scale + 2 * MARGIN : graph.w + 2 * MARGIN + STRIP;
}

/** Where the map lies in the strip, which is as long as the pane. */
export function mapIn(graph, pane) {
  const isRight = sideOf(graph, pane) === "right";
  const [w, h] = isRight ? [STRIP, pane.h] : [pane.w, STRIP];
  const scale = Math.min((w - 2 * MAP_INSET) / graph.w, (h - 2 * MAP_INSET) / graph.h);
  return { scale, x: (w - graph.w * scale) / 2, y: (h - graph.h * scale) / 2 };
}

/** The part of the graph that is in sight, in graph pixels. */
export function inSight(view, graph, pane) {
  const axis = (offset, size, room) => {
    const from = clamp(-offset / view.scale, 0, size);
    return [from, clamp((room - offset) / view.scale, from, size) - from];
  };
  const [x, w] = axis(view.x, graph.w, pane.w);
  const [y, h] = axis(view.y, graph.h, pane.h);
  return { x, y, w, h };
}

/** How far a key moves the view, in pixels of the pane; null for other keys. */
export function moveOf(key, { w, h }, graph, scale) {
  const far = { x: graph.w * scale + w, y: graph.h * scale + h };
  return {
    ArrowUp: [0, KEY_STEP * h],
    ArrowDown: [0, -KEY_STEP * h],
    ArrowLeft: [KEY_STEP * w, 0],
    ArrowRight: [-KEY_STEP * w, 0],
    PageUp: [0, h],
    PageDown: [0, -h],
    Home: [far.x, far.y],
    End: [-far.x, -far.y],
  }[key] ?? null;
}

/**
 * The strip for a graph whose boxes are at `rects`, by id. `centre(x, y)` shows a point of the graph, `move(dx, dy)`
 * shifts the view.
 */
export function overview(graph, rects, centre, move) {
  const svg = document.createElementNS(SVG, "svg");
  attribute(svg, { class: "adk-overview-map", "aria-hidden": "true" });
  const layer = document.createElementNS(SVG, "g");
  const boxes = {};
  for (const [id, { x, y, w, h }] of Object.entries(rects)) {
    boxes[id] = document.createElementNS(SVG, "rect");
    attribute(boxes[id], { class: "adk-overview-box", x, y, width: w, height: h });
    layer.append(boxes[id]);
  }
  const mark = document.createElementNS(SVG, "rect");
  mark.setAttribute("class", "adk-overview-mark");
  svg.append(layer, mark);
  const strip = make("div", { class: "adk-overview", role: "slider", tabindex: "0", "aria-label": "Part of the graph in sight" }, svg);
  strip.hidden = true;
  let at = null; // {map, pane, scale}
  const point = (event) => {
    const { left, top, width } = strip.getBoundingClientRect();
    const larger = width / strip.offsetWidth || 1;
    const { map } = at;
    centre(((event.clientX - left) / larger - map.x) / map.scale, ((event.clientY - top) / larger - map.y) / map.scale);
  };
  strip.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    strip.setPointerCapture(event.pointerId);
    point(event);
  });
  strip.addEventListener("pointermove", (event) => {
    if (event.buttons && strip.hasPointerCapture(event.pointerId)) point(event);
  });
  strip.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const way = moveOf(event.key, at.pane, graph, at.scale);
    if (!way) return;
    event.preventDefault();
    event.stopPropagation();
    move(...way);
  });
  let active = null;
  return {
    element: strip,
    /** Show the map beside a pane with this view on the graph; nothing without a view. */
    show(view, pane, full) {
      strip.hidden = !view;
      if (!view) return;
      const map = mapIn(graph, full);
      at = { map, pane, scale: view.scale };
      const side = sideOf(graph, full);
      strip.dataset.side = side;
      layer.setAttribute("transform", `translate(${map.x} ${map.y}) scale(${map.scale})`);
      const seen = inSight(view, graph, pane);
      const [width, height] = [Math.max(LEAST_MARK, seen.w * map.scale), Math.max(LEAST_MARK, seen.h * map.scale)];
      attribute(mark, { x: map.x + seen.x * map.scale, y: map.y + seen.y * map.scale, width, height });
      const [from, part, whole] = side === "right" ? [seen.y, seen.h, graph.h] : [seen.x, seen.w, graph.w];
      const percent = (share) => Math.round((100 * share) / whole);
      attribute(strip, {
        "aria-orientation": side === "right" ? "vertical" : "horizontal",
        "aria-valuemin": 0,
        "aria-valuemax": 100,
        "aria-valuenow": percent(from),
        "aria-valuetext": `${percent(from)} to ${percent(from + part)} % of the graph`,
      });
    },
    /** Draw a box of the map as one that is there, or comes later. */
    update: (id, hidden) => boxes[id]?.classList.toggle("adk-later", hidden),
    /** Mark the box that a step is about. */
    mark(id) {
      boxes[active]?.classList.remove("adk-overview-now");
      boxes[id]?.classList.add("adk-overview-now");
      active = id;
    },
  };
}
