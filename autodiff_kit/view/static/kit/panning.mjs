// How a graph lies in its pane: what is in sight, fitting, zooming. Pure functions; a view is
// {scale, x, y}, graph and pane are {w, h}, all in px. Read next: dom.mjs.

import { clamp } from "./steps.mjs";

const READABLE = 0.7; // below this scale the labels are too small to read at a glance
export const MARGIN = 10; // px kept free around the graph
export const ZOOM = { least: 0.15, most: 3, step: 1.25 };

/** The largest scale, at most 1, at which the whole graph fits into the pane. */
export const fitScale = (graph, pane) =>
  clamp(Math.min((pane.w - 2 * MARGIN) / graph.w, (pane.h - 2 * MARGIN) / graph.h), 0.001, 1);

/** Keep a view sane: a graph smaller than the pane is centred, a larger one cannot be pushed out of sight. */
export function placed(view, graph, pane) {
  const axis = (offset, size, room) =>
    size + 2 * MARGIN <= room ? (room - size) / 2 : clamp(offset, room - MARGIN - size, MARGIN);
  return {
    scale: view.scale,
    x: axis(view.x, graph.w * view.scale, pane.w),
    y: axis(view.y, graph.h * view.scale, pane.h),
  };
}

/** The whole graph. */
export const fitted = (graph, pane) => placed({ scale: fitScale(graph, pane), x: 0, y: 0 }, graph, pane);

export const isReadable = (view) => view.scale >= READABLE;

/** The whole graph where it can be read, else as much of it around `rect` as can be; its top without one. */
export function readable(graph, pane, rect) {
  const view = fitted(graph, pane);
  if (isReadable(view)) return view;
  if (!rect) return placed({ scale: READABLE, x: (pane.w - graph.w * READABLE) / 2, y: MARGIN }, graph, pane);
  const middle = [rect.x + rect.w / 2, rect.y + rect.h / 2].map((at) => at * READABLE);
  return placed({ scale: READABLE, x: pane.w / 2 - middle[0], y: pane.h / 2 - middle[1] }, graph, pane);
}

/** What to show at first: the whole graph where it stays readable, else as much of its upper part as can be read. */
export function firstView(graph, pane) {
  const view = fitted(graph, pane);
  if (isReadable(view)) return view;
  const scale = clamp((pane.w - 2 * MARGIN) / graph.w, READABLE, 1);
  return placed({ scale, x: (pane.w - graph.w * scale) / 2, y: MARGIN }, graph, pane);
}

/** The view in which the middle of the upper side of `rect` (in graph pixels) lies at a point of the pane. */
export const held = ({ scale, x, y }, rect, graph, pane) =>
  placed({ scale, x: x - (rect.x + rect.w / 2) * scale, y: y - rect.y * scale }, graph, pane);

/** Zoom by a factor and keep the point (in pane pixels) where it is. */
export function zoomed(view, factor, point, graph, pane) {
  const least = Math.min(ZOOM.least, fitScale(graph, pane)); // what fits whole can be zoomed to
  const scale = clamp(view.scale * factor, least, ZOOM.most);
  const moved = (offset, at) => at - ((at - offset) * scale) / view.scale;
  return placed({ scale, x: moved(view.x, point.x), y: moved(view.y, point.y) }, graph, pane);
}

/** Move only if `rect` (in graph pixels) is not wholly in sight, and then so that more steps need no move. */
export function revealed(view, rect, graph, pane) {
  const axis = (offset, start, size, room) => {
    const from = offset + start * view.scale;
    const length = size * view.scale;
    const inSight = from >= MARGIN / 2 && from + length <= room - MARGIN / 2;
    return inSight ? offset : (room - length) / 2 - start * view.scale;
  };
  const x = axis(view.x, rect.x, rect.w, pane.w);
  const y = axis(view.y, rect.y, rect.h, pane.h);
  return x === view.x && y === view.y ? view : placed({ scale: view.scale, x, y }, graph, pane);
}

/** The smallest rectangle around both. */
export function around(a, b) {
  const x = Math.min(a.x, b.x);
  const y = Math.min(a.y, b.y);
  return { x, y, w: Math.max(a.x + a.w, b.x + b.w) - x, h: Math.max(a.y + a.h, b.y + b.h) - y };
}

/** The first of some rectangles, and of the others each that can be in sight with those before it. */
export function together([first, ...others], scale, pane) {
  return others.reduce((all, other) => {
    const both = other ? around(all, other) : all;
    return both.w * scale + MARGIN < pane.w && both.h * scale + MARGIN < pane.h ? both : all;
  }, first);
}
