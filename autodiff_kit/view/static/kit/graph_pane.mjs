// The pane with the graph: Python's drawing, classes toggled on it. Read next: transport.mjs.

import { attribute, button, drawing, enlargement, make, SVG } from "./dom.mjs";
import { besideStrip, overview } from "./overview.mjs";
import { firstView, fitted, held, isReadable, MARGIN, placed, readable, revealed, together, ZOOM, zoomed } from "./panning.mjs";
import { clamp } from "./steps.mjs";

// As view/svg_text.py and view/chips.py have them.
const INSET = 9;
const STACKED = 10; // half the height of a mark where lines are close
const TOLD_APART = 0.4; // the smallest scale at which boxes can be told apart
const meets = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
/** The room of slope and product where they stand below each other, on the arrow of the step. */
function stackOf({ rect, fields }) {
  const w = Math.max(...["sent", "slope"].map((name) => textWidth(fields?.[name] ?? ""))) + 2 * INSET;
  return { x: rect.x + (rect.w - w) / 2, y: rect.y - STACKED, w, h: rect.h + 2 * STACKED };
}
const textWidth = (text) => text.length * 14 * 0.6125 * 1.02;

/** Where a group is moved to. */
const origin = (group) => group.getAttribute("transform")?.match(/-?[\d.]+(e-?\d+)?/g)?.map(Number) ?? [0, 0];

/** Put another picture of a matrix into its place, or none; the numbers in full are seen while the mouse is there. */
function replace(place, picture, numbers) {
  if (place.picture === picture) return place.firstChild;
  place.picture = picture;
  place.replaceChildren(...(picture ? [drawing(picture)] : []));
  if (picture && numbers) {
    const title = document.createElementNS(SVG, "title");
    title.textContent = numbers;
    place.firstChild.prepend(title);
  }
  return place.firstChild;
}

/** The graph: the base drawing from Python, classes toggled on it, and the view that pans and zooms. */
export function graphPane(payload, still, pick) {
  const graph = { w: payload.width, h: payload.height };
  const svg = document.createElementNS(SVG, "svg");
  const words = `Computation graph, ${Object.keys(payload.nodes).length} nodes`;
  attribute(svg, { class: "adk-canvas", role: "group", "aria-label": words });
  const layer = document.createElementNS(SVG, "g");
  layer.setAttribute("class", "adk-layer");
  const rings = ["adk-ring-chosen", "adk-ring-focus"].map((name) => {
    const ring = document.createElementNS(SVG, "rect");
    ring.setAttribute("class", `adk-ring ${name} adk-hidden`);
    return ring;
  });
  layer.append(...drawing(payload.svg, "0 0 1 1").childNodes, ...rings);
  svg.append(layer);
  const zoomText = make("span", { class: "adk-zoom-text" });
  const tools = {
    out: button("out", "Zoom out", "-"),
    in: button("in", "Zoom in", "+"),
    fit: button("fit", "Fit the graph; again: all of it", "0"),
  };
  const zoomTools = make("div", { class: "adk-zoom", role: "group", "aria-label": "Zoom" });
  zoomTools.append(tools.out, zoomText, tools.in, tools.fit);

  // -- elements by id, once
  const nodes = {};
  const edges = {};
  const edgesInto = {};
  for (const group of layer.querySelectorAll("[data-node]")) {
    const id = group.dataset.node;
    if (!payload.nodes[id]) continue;
    const box = group.querySelector(".adk-box");
    const [x, y] = origin(group);
    const [w, h, rx] = ["width", "height", "rx"].map((name) => Number(box.getAttribute(name) ?? 0));
    // The box is the button, and its label says all of it in words; the texts are only for the eye.
    attribute(box, { role: "button", tabindex: "-1", "aria-pressed": "false" });
    group.querySelectorAll("text").forEach((text) => text.setAttribute("aria-hidden", "true"));
    const value = group.querySelector(".adk-value");
    const grad = group.querySelector("[data-grad]");
    const held = group.querySelector("[data-held]"); // the label where a .grad holds it
    const cells = group.querySelector(".adk-cells");
    const map = group.querySelector(".adk-grad-map");
    const own = cells?.innerHTML; // the picture of the value
    const [, numbers] = payload.nodes[id].facts?.find(([label]) => label === "value") ?? [];
    const hasSlots = group.querySelector("[data-slot]") != null;
    nodes[id] = { group, box, grad, held, hasSlots, cells, own, numbers, map, value, made: value?.textContent, rect: { x, y, w, h }, rx };
  }
  for (const mark of layer.querySelectorAll("[data-edge], [data-edge-label]")) {
    const path = mark.dataset.edge != null;
    const id = path ? mark.dataset.edge : mark.dataset.edgeLabel;
    const edge = (edges[id] ??= { marks: [] });
    edge.marks.push(mark);
    mark.setAttribute("aria-hidden", "true");
    if (path) [edge.from, edge.to] = [mark.dataset.from, mark.dataset.to];
  }
  for (const chip of layer.querySelectorAll("[data-chip]")) {
    chip.setAttribute("aria-hidden", "true"); // the caption says it in words
    const edge = (edges[chip.dataset.chip] ??= { marks: [] });
    edge.chip = chip;
    const [x, y] = origin(chip);
    const [w, h] = ["width", "height"].map((name) => Number(chip.querySelector("rect").getAttribute(name)));
    edge.rect = { x: x - w / 2, y, w, h };
    edge.map = chip.querySelector(".adk-grad-map");
    edge.rows = ["sent", "slope"].map((name) => {
      const text = chip.querySelector(`.adk-${name}-text`);
      return [name, chip.querySelector(`rect.adk-${name}`), text, Number(text?.getAttribute("x"))];
    });
  }
  // Words at the heads of arrows, and the room that each takes.
  const roles = [...layer.querySelectorAll("text.adk-arg")].map((mark) => {
    const [right, base] = ["x", "y"].map((name) => Number(mark.getAttribute(name)));
    const w = (textWidth(mark.textContent) * 13) / 14;
    return { mark, rect: { x: mark.getAttribute("text-anchor") === "end" ? right - w : right, y: base - 10, w, h: 13 } };
  });
  for (const slot of layer.querySelectorAll("[data-slot]")) {
    (edges[slot.dataset.slot] ??= { marks: [] }).slot = slot;
  }
  const stop = layer.querySelector(".adk-stop-box"); // of the error that ends the run
  const [x, y, w, h] = ["x", "y", "width", "height"].map((name) => Number(stop?.getAttribute(name)));
  const stopRect = stop && { x, y, w, h };
  // The label of a box, and the caption, say what is in a picture.
  layer.querySelectorAll(".adk-map").forEach((map) => map.setAttribute("aria-hidden", "true"));
  const firstNode = layer.querySelector(".adk-part-name, .adk-arg, [data-chip], [data-node]"); // over all lines
  for (const edge of Object.values(edges)) (edgesInto[edge.to] ??= []).push(edge);

  // -- view
  let pane = { w: 600, h: 400 }; // what is left of it beside the overview
  let full = pane;
  const isLarger = (scale, room) => graph.w * scale + 2 * MARGIN > room.w + 1 || graph.h * scale + 2 * MARGIN > room.h + 1;
  const rects = Object.fromEntries(Object.entries(nodes).map(([id, { rect }]) => [id, rect]));
  const map = overview(
    graph,
    rects,
    (x, y) => shift(pane.w / 2 - x * view.scale - view.x, pane.h / 2 - y * view.scale - view.y),
    (dx, dy) => shift(dx, dy),
  );
  function shift(dx, dy) {
    whole = asFirst = false;
    look(placed({ scale: view.scale, x: view.x + dx, y: view.y + dy }, graph, pane));
  }
  let view = null;
  let whole = false; // stay fitted when the pane changes its size
  let asFirst = true; // until it is zoomed or moved
  let fullest = null; // the view that shows all that can be read
  let anchor = null; // what must lie where another drawing had it
  function look(next, glide) {
    if (view && next === view) return;
    const hasMap = isLarger(next.scale, full);
    if (hasMap !== (pane !== full)) {
      pane = hasMap ? besideStrip(graph, full) : full;
      next = placed(next, graph, pane);
    }
    view = next;
    map.show(hasMap && view, pane, full);
    svg.classList.toggle("adk-glide", Boolean(glide) && !still());
    layer.style.transform = `translate(${view.x.toFixed(1)}px, ${view.y.toFixed(1)}px) scale(${view.scale.toFixed(3)})`;
    zoomText.textContent = `${Math.round(view.scale * 100)} %`;
    svg.classList.toggle("adk-pannable", hasMap);
  }
  function resize(width, height) {
    if (!width || !height) return;
    full = { w: width, h: height };
    const scale = anchor ? anchor.at.scale : asFirst ? firstView(graph, full).scale : whole ? 0 : view.scale;
    pane = isLarger(scale, full) ? besideStrip(graph, full) : full;
    if (anchor) {
      look(held(anchor.at, anchor.rect, graph, pane));
      if (nodes[anchor.id].group.classList.contains("adk-hidden")) reveal(active); // it is not made yet
      anchor = null;
      asFirst = false;
      return;
    }
    if (asFirst) look(firstView(graph, pane));
    else look(whole ? fitted(graph, full) : placed(view, graph, pane));
    if (focused == null && atError) show(atError);
    else reveal(focused ?? active);
  }
  function zoom(factor, point = { x: pane.w / 2, y: pane.h / 2 }, glide = true) {
    whole = asFirst = false;
    look(zoomed(view, factor, point, graph, pane), glide);
  }
  /** Show all that can be read; and all there is, if that is what is shown already. */
  function fit() {
    const all = fitted(graph, full);
    whole = isReadable(all) || view === fullest;
    asFirst = false;
    if (whole) return look(all, true);
    look(readable(graph, besideStrip(graph, full), nodes[active]?.rect), true);
    fullest = view;
  }
  /** Show all there is, where its boxes can still be told apart. */
  function all() {
    const next = fitted(graph, full);
    if (!view || next.scale < TOLD_APART || (isReadable(view) && !isLarger(view.scale, full))) return;
    whole = true;
    asFirst = false;
    look(next, true);
  }
  tools.out.addEventListener("click", () => zoom(1 / ZOOM.step));
  tools.in.addEventListener("click", () => zoom(ZOOM.step));
  tools.fit.addEventListener("click", fit);
  svg.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // the page scrolls as ever
      event.preventDefault();
      const at = svg.getBoundingClientRect();
      const scale = enlargement(svg.parentElement);
      const point = { x: (event.clientX - at.left) / scale, y: (event.clientY - at.top) / scale };
      zoom(Math.exp(-clamp(event.deltaY, -60, 60) / 200), point, false);
    },
    { passive: false },
  );
  let drag = null;
  svg.addEventListener("pointerdown", (event) => {
    if (event.button || !svg.classList.contains("adk-pannable")) return;
    drag = { x: event.clientX, y: event.clientY, view, scale: enlargement(svg.parentElement) };
  });
  svg.addEventListener("pointermove", (event) => {
    if (!drag) return;
    if (!event.buttons) return void (drag = null);
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y].map((moved) => moved / drag.scale);
    if (!drag.moved && Math.hypot(dx, dy) < 4) return;
    if (!drag.moved) svg.setPointerCapture(event.pointerId); // only now: a plain click must reach its node
    drag.moved = true;
    whole = asFirst = false;
    look(placed({ scale: view.scale, x: drag.view.x + dx, y: drag.view.y + dy }, graph, pane));
  });
  svg.addEventListener("pointercancel", () => (drag = null));

  // -- nodes: one of them is in the tab order, arrow keys move from there
  let tabStop = null;
  let focused = null;
  const idOf = (target) => target.closest?.("[data-node]")?.dataset.node;
  function ring(which, id) {
    rings[which].classList.toggle("adk-hidden", id == null);
    if (id == null) return;
    const { rect, rx } = nodes[id];
    const gap = which ? 6 : 4;
    const [x, y, width, height] = [rect.x - gap, rect.y - gap, rect.w + 2 * gap, rect.h + 2 * gap];
    attribute(rings[which], { x, y, width, height, rx: rx + gap });
  }
  function stopAt(id) {
    if (id === tabStop) return;
    nodes[tabStop]?.box.setAttribute("tabindex", "-1");
    nodes[id]?.box.setAttribute("tabindex", "0");
    tabStop = id;
  }
  function focus(id) {
    stopAt(id);
    nodes[id].box.focus({ preventScroll: true });
    reveal(id);
  }
  svg.addEventListener("click", (event) => {
    const moved = drag?.moved;
    drag = null;
    const id = idOf(event.target);
    if (moved || !nodes[id]) return;
    stopAt(id);
    nodes[id].box.focus({ preventScroll: true });
    pick(id);
  });
  svg.addEventListener("focusin", (event) => {
    focused = idOf(event.target);
    stopAt(focused);
    if (event.target.matches(":focus-visible")) ring(1, focused);
  });
  svg.addEventListener("focusout", () => ring(1, (focused = null)));

  /** Bring the first of some rectangles in sight, and what else fits. */
  function show(rects) {
    if (view) look(revealed(view, together(rects, view.scale, pane), graph, pane), true);
  }
  const reveal = (id) => nodes[id] && show([nodes[id].rect]);

  /** The uppermost of some boxes. */
  const top = (ids) => ids.filter((id) => nodes[id]).sort((a, b) => nodes[a].rect.y - nodes[b].rect.y)[0];

  let active = null;
  let atError = null; // what is to be in sight while the step shows why the run stopped
  let activeEdge = null;
  let idBefore = null;
  const STATES = [
    ["adk-has-grad", ({ g, grad }) => (grad ?? g) != null],
    ["adk-released", ({ released }) => Boolean(released)],
    ["adk-visited", ({ visited }) => Boolean(visited)],
  ];
  return {
    element: make("section", { class: "adk-graph" }, svg, map.element),
    zoomTools,
    svg,
    resize,
    zoom,
    fit,
    all,
    focus,
    /** Bring one node up to date. */
    update(id, fields, hidden) {
      const node = nodes[id];
      if (!node) return;
      node.group.classList.toggle("adk-hidden", hidden);
      map.update(id, hidden);
      for (const edge of edgesInto[id] ?? []) edge.marks.forEach((mark) => mark.classList.toggle("adk-hidden", hidden));
      for (const [name, holds] of STATES) node.group.classList.toggle(name, holds(fields));
      const text = fields.g ?? fields.grad ?? "";
      if (node.grad) node.grad.textContent = node.hasSlots ? fields.total || "= ?" : text;
      if (node.held) node.held.textContent = fields.g == null && fields.grad != null ? node.held.dataset.held : "gradient";
      if (node.value) node.value.textContent = fields.value ?? node.made; // else changed in place
      if (node.cells) replace(node.cells, fields.cells ?? node.own, fields.tensor ?? node.numbers);
      if (node.map) replace(node.map, text && fields.map, fields.gradient);
      const spoken = fields.map ? fields.gradient : text; // the picture has the numbers, the text their shape
      const now = fields.value == null ? "" : `, now ${fields.value}`; // as it was made stands in the label
      node.box.setAttribute("aria-label", payload.nodes[id].aria + now + (text && `, gradient ${spoken}`));
    },
    /** Bring what one arrow says up to date: the local slope, and what has come back along it. */
    carry(id, fields) {
      if (!edges[id]) return;
      const { marks, chip, map, slot, rows = [] } = Object.assign(edges[id], { fields });
      for (const mark of marks) mark.classList.toggle("adk-passed", fields?.sent != null);
      for (const mark of [...marks, chip, slot]) mark?.classList.toggle("adk-earlier", Boolean(fields?.earlier));
      chip?.classList.toggle("adk-hidden", fields?.sent == null);
      slot?.classList.toggle("adk-full", fields?.arrived != null);
      if (map) {
        const room = replace(map, fields?.map)?.getAttribute("width") ?? 0;
        map.setAttribute("transform", `translate(${-room / 2},${origin(map)[1]})`);
      }
      if (slot) slot.querySelector("text").textContent = fields?.arrived ?? "?";
      const now = edges[id] === activeEdge;
      for (const [name, rect, text, middle] of rows) {
        if (!text) continue;
        const isThere = now || name === "sent" || chip.dataset.row !== "alone"; // a wide slope has room only now
        const words = (isThere && fields?.[name === "sent" && !now ? "arrived" : name]) || "";
        text.textContent = words;
        const width = words ? textWidth(words) + 2 * INSET : 0;
        const isBelow = chip.dataset.row != null && now; // else slope and product stand beside each other
        const x = isBelow ? 0 : middle;
        const transform = `translate(0,${isBelow ? (name === "sent" ? -STACKED : STACKED) : 0})`;
        attribute(rect, { x: x - width / 2, width, transform });
        attribute(text, { x, transform });
      }
    },
    /** Mark what frame k is about and keep it in sight. */
    mark(frame) {
      const id = frame.node;
      if (active !== id) {
        nodes[active]?.group.classList.remove("adk-active");
        nodes[id]?.group.classList.add("adk-active");
        map.mark(id);
        active = id;
      }
      const edge = frame.edge == null ? null : edges[frame.edge];
      if (activeEdge !== edge) {
        const before = activeEdge;
        activeEdge = edge;
        for (const one of [before, edge]) {
          if (!one) continue;
          for (const mark of [...one.marks, one.chip, one.slot]) mark?.classList.toggle("adk-active", one === edge);
        }
        for (const id of [idBefore, frame.edge]) if (id != null) this.carry(id, edges[id]?.fields);
        idBefore = frame.edge;
        const stack = edge?.chip?.dataset.row != null ? stackOf(edge) : null;
        for (const { mark, rect } of roles) mark.classList.toggle("adk-covered", stack != null && meets(stack, rect));
        if (edge) firstNode.before(...edge.marks); // over the arrows it shares its way with, under the boxes
      }
      atError = null;
      if (frame.explanation && stopRect) {
        const at = frame.explanation.places.map(({ node }) => nodes[node]?.rect).filter(Boolean);
        return show((atError = [stopRect, ...at.reverse()]));
      }
      if (!nodes[id]) return;
      if (whole && !isReadable(view)) fit(); // the next step is to be read
      const rects = [nodes[id].rect, edge?.rect];
      if (edge?.map) rects.reverse(); // the step is about the picture on the arrow
      show([...rects, edge && nodes[edge.from === id ? edge.to : edge.from]?.rect]);
    },
    select(id, previous) {
      nodes[previous]?.box.setAttribute("aria-pressed", "false");
      nodes[previous]?.group.classList.remove("adk-selected");
      nodes[id]?.box.setAttribute("aria-pressed", "true");
      nodes[id]?.group.classList.add("adk-selected");
      ring(0, nodes[id] ? id : null);
    },
    reveal,
    /** Where some boxes lie in the pane: the middle of the upper side of the uppermost, and the scale. */
    placeOf(ids) {
      const id = top(ids);
      if (!view || id == null) return null;
      const { rect } = nodes[id];
      return { scale: view.scale, x: view.x + (rect.x + rect.w / 2) * view.scale, y: view.y + rect.y * view.scale };
    },
    /** Let some boxes lie where others lay in an earlier drawing; return the uppermost. */
    keepPlace(at, ids) {
      const id = top(ids);
      if (id != null && at) anchor = { id, at, rect: nodes[id].rect };
      return id;
    },
    /** One visible node must be reachable by Tab, and focus must not sink with a node that goes. */
    keepTabStop(visible, preferred) {
      if (tabStop != null && visible(tabStop)) return;
      const next = preferred != null && visible(preferred) ? preferred : payload.order.find(visible);
      if (next == null || !nodes[next]) return;
      if (focused != null) focus(next);
      else stopAt(next);
    },
  };
}
