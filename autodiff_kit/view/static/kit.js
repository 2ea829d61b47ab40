// kit.js - shows a payload (view/scene.py) and steps through it, in a notebook or in a page of its own.
//
// After reading part 1 you can say what a step changes; after part 2, how it is drawn. Everything shown was
// computed in Python: this file only picks the frame. It imports nothing, asks the network for nothing and
// puts nothing on `window`. Its looks are in kit.css.

// ---- 1. Pure functions: tested by tests/js, no document needed ---------------------------------------------

const READABLE = 0.72; // below this scale the labels are too small to read at a glance
const MARGIN = 18; // px kept free around the graph
const ZOOM = { least: 0.15, most: 3, step: 1.25 };

/** Read a payload: zlib-deflated JSON in any byte container. Throws an Error whose message is for the learner. */
export async function inflate(bytes) {
  const raw = new Uint8Array(bytes.buffer ?? bytes, bytes.byteOffset ?? 0, bytes.byteLength);
  let payload;
  try {
    const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
    payload = JSON.parse(await new Response(stream).text());
  } catch {
    throw new Error("The recording is cut short or damaged, so there is nothing to draw. Run the cell again.");
  }
  if (payload?.version !== 1) {
    throw new Error(
      `The recording is in format ${payload?.version}, and this viewer reads format 1. ` +
        "Make it again with the version of autodiff_kit that is installed here.",
    );
  }
  if (!payload.frames?.length) {
    throw new Error("Nothing was recorded: there is no step to show. Use at least one tensor while recording.");
  }
  return payload;
}

export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/** "7 of 21 · backward" */
export const counterText = ({ frames }, k) => `${k + 1} of ${frames.length} · ${frames[k].phase}`;

/** The phases in their order: each runs from its first frame to the first of the next one, or to the end. */
export function phases(payload) {
  const runs = [];
  payload.frames.forEach(({ phase }, k) => {
    if (runs.at(-1)?.phase === phase) return;
    if (runs.length) runs.at(-1).to = k;
    runs.push({ phase, from: k, to: payload.frames.length - 1 });
  });
  return runs.filter(({ from, to }) => to > from);
}

/** The node frame k is about; frames about none (a `finish`) keep the last one, so that nothing flickers. */
export function focusOf(payload, k) {
  for (; k >= 0; k -= 1) if (payload.frames[k].node != null) return payload.frames[k].node;
  return null;
}

/** What frame k shows of each node, worked out from nothing, as `Picture.state` does; the cursor must agree. */
export function stateAt(payload, k) {
  const nodes = {};
  for (const [id, { since }] of Object.entries(payload.nodes)) {
    nodes[id] = { hidden: k < since, active: id === payload.frames[k].node };
  }
  for (const frame of payload.frames.slice(0, k + 1)) {
    for (const [id, fields] of Object.entries(frame.set)) Object.assign(nodes[id], fields);
  }
  return nodes;
}

/**
 * Walks over the frames and remembers how to walk back, so that a step costs what it changes and not what is
 * there. `moveTo(k)` returns the ids of the nodes that look different now.
 */
export function cursor(payload) {
  const fields = {}; // node id -> fields set so far
  const undo = []; // frame -> [node id, key, value before]
  const born = payload.frames.map(() => []);
  for (const [id, node] of Object.entries(payload.nodes)) {
    fields[id] = {};
    born[node.since]?.push(id);
  }
  let at = -1;

  function forward(touched) {
    at += 1;
    undo[at] = [];
    for (const [id, changes] of Object.entries(payload.frames[at].set)) {
      for (const [key, value] of Object.entries(changes)) {
        undo[at].push([id, key, fields[id][key]]);
        fields[id][key] = value;
      }
      touched.add(id);
    }
    born[at].forEach((id) => touched.add(id));
  }

  function back(touched) {
    for (const [id, key, before] of undo[at].reverse()) {
      if (before === undefined) delete fields[id][key];
      else fields[id][key] = before;
      touched.add(id);
    }
    born[at].forEach((id) => touched.add(id));
    at -= 1;
  }

  return {
    fields,
    hidden: (id) => at < payload.nodes[id].since,
    moveTo(k) {
      const touched = new Set();
      while (at < k) forward(touched);
      while (at > k) back(touched);
      return touched;
    },
  };
}

/** Where an arrow key leads from node `id`: up and down along edges, left and right in reading order. */
export function neighbour(payload, id, key, visible = () => true) {
  const order = payload.order.filter(visible);
  const at = order.indexOf(id);
  const along = (ids) => ids.find(visible);
  switch (key) {
    case "ArrowUp":
      return along(payload.nodes[id].inputs) ?? order[at - 1] ?? id;
    case "ArrowDown":
      return along(payload.nodes[id].consumers) ?? order[at + 1] ?? id;
    case "ArrowLeft":
      return order[at - 1] ?? id;
    case "ArrowRight":
      return order[at + 1] ?? id;
    case "Home":
      return order[0] ?? id;
    case "End":
      return order.at(-1) ?? id;
    default:
      return null;
  }
}

const before = (line, column, otherLine, otherColumn) =>
  line < otherLine || (line === otherLine && column < otherColumn);

/** Does WHERE cover the character at (source, line, column)? Lines count from 1, columns from 0. */
export function covers(where, source, line, column) {
  if (!where || where[0] !== source) return false;
  const [, line0, column0, line1, column1] = where;
  return !before(line, column, line0, column0 ?? 0) && before(line, column, line1, column1 ?? Infinity);
}

/**
 * The node made by the innermost sub-expression at this place. Code in a loop makes several: asking again
 * with the last answer as `current` goes round them.
 */
export function nodeAtSource(payload, source, line, column, current = null, visible = () => true) {
  const inside = (a, b) =>
    !before(a[1], a[2] ?? 0, b[1], b[2] ?? 0) && !before(b[3], b[4] ?? Infinity, a[3], a[4] ?? Infinity);
  let innermost = null;
  let found = [];
  for (const id of payload.order) {
    const where = payload.nodes[id].where;
    if (!visible(id) || !covers(where, source, line, column)) continue;
    const same = innermost && String(where) === String(innermost);
    if (same) found.push(id);
    else if (!innermost || inside(where, innermost)) [innermost, found] = [where, [id]];
  }
  found.sort((a, b) => payload.nodes[a].since - payload.nodes[b].since);
  return found[(found.indexOf(current) + 1) % found.length] ?? null;
}

const TOKENS = new RegExp(
  [
    /(?<comment>#.*)/,
    /(?<string>[rbfu]*(?:"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?))/,
    /(?<number>\b\d[\w.]*)/,
    /(?<word>[\p{L}_][\p{L}\p{N}_]*)/u,
  ]
    .map((part) => part.source)
    .join("|"),
  "giu",
);
const KEYWORDS = new Set(
  ("and as assert async await break class continue def del elif else except finally for from global if import in is " +
    "lambda None nonlocal not or pass raise return True False try while with yield").split(" "),
);

/** Colours of one line: [[start, end, kind], ...] in characters (code points, as Python counts them). */
export function tokens(text) {
  const found = [];
  for (const match of text.matchAll(TOKENS)) {
    const groups = match.groups;
    const kind =
      (groups.comment && "comment") ||
      (groups.string && "string") ||
      (groups.number && "number") ||
      (KEYWORDS.has(groups.word) && "keyword");
    if (!kind) continue;
    const start = [...text.slice(0, match.index)].length;
    found.push([start, start + [...match[0]].length, kind]);
  }
  return found;
}

/** Cut every source line where any node or frame begins or ends, so that lighting is only toggling a class. */
export function segments(payload) {
  const cuts = payload.sources.map((source) => source.lines.map(() => new Set([0])));
  const places = [...Object.values(payload.nodes), ...payload.frames].map((thing) => thing.where);
  for (const where of places.filter(Boolean)) {
    const [source, line0, column0, line1, column1] = where;
    cuts[source]?.[line0 - 1]?.add(column0 ?? 0);
    if (column1 != null) cuts[source]?.[line1 - 1]?.add(column1);
  }
  return payload.sources.map((source, s) =>
    source.lines.map((text, l) => {
      const characters = [...text];
      const colours = tokens(text);
      colours.forEach(([start, end]) => cuts[s][l].add(start).add(end));
      const starts = [...cuts[s][l]].filter((cut) => cut < characters.length).sort((a, b) => a - b);
      return starts.map((start, i) => {
        const end = starts[i + 1] ?? characters.length;
        const colour = colours.find(([from, to]) => from <= start && end <= to);
        return { start, end, text: characters.slice(start, end).join(""), kind: colour?.[2] ?? null };
      });
    }),
  );
}

/** Where to scroll to, so that start to end is in sight: nowhere if it is, and its start if it is too long. */
export function scrolled(from, room, start, end, margin) {
  if (start >= from && end <= from + room) return from;
  const late = end + margin - room;
  return Math.max(0, start < from ? Math.min(start - margin, from) : Math.min(late, start - margin));
}

/** The largest scale, at most 1, at which the whole graph fits into the pane. */
export const fitScale = (graph, pane) =>
  clamp(Math.min((pane.w - 2 * MARGIN) / graph.w, (pane.h - 2 * MARGIN) / graph.h, 1), ZOOM.least, 1);

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

/** What to show at first: the whole graph where it stays readable, else its top at full size. */
export function firstView(graph, pane) {
  const view = fitted(graph, pane);
  return view.scale >= READABLE ? view : placed({ scale: 1, x: (pane.w - graph.w) / 2, y: MARGIN }, graph, pane);
}

/** Zoom by a factor and keep the point (in pane pixels) where it is. */
export function zoomed(view, factor, point, graph, pane) {
  const scale = clamp(view.scale * factor, ZOOM.least, ZOOM.most);
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

// ---- 2. Drawing ----------------------------------------------------------------------------------------------

const SVG = "http://www.w3.org/2000/svg";
const LINE = 20; // px, height of a source line; kit.css says the same,
const GUTTER = 38; // and the width of its number

function attribute(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) if (value != null) element.setAttribute(name, value);
  return element;
}

function make(tag, attributes = {}, ...content) {
  const element = attribute(document.createElement(tag), attributes);
  element.append(...content);
  return element;
}

/** JupyterLab and Notebook take arrow keys and Enter away from anything that does not carry this attribute. */
function focusable(element) {
  element.setAttribute("data-lm-suppress-shortcuts", "true");
  return element;
}

function drawing(text, viewBox) {
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
  pin: "M7 3h6l-1 6 3 3H5l3-3zM10 12v5",
};

function icon(name) {
  const picture = drawing(`<path class="adk-icon-path" d="${ICONS[name]}"/>`, "0 0 20 20");
  return attribute(picture, { class: "adk-icon", "aria-hidden": "true" });
}

function button(name, label, keys) {
  const title = keys ? `${label} (${keys})` : label;
  const attributes = { type: "button", class: `adk-button adk-${name}`, "aria-label": label, title };
  return focusable(make("button", attributes, icon(name)));
}

/** A part that scrolls: it must be reachable by keyboard, and so it needs a name. */
const scrolling = (name, label) =>
  focusable(make("div", { class: name, tabindex: "0", role: "region", "aria-label": label }));

/** A box that always has room for the longest of its texts, so that nothing below it ever jumps. */
function steadyText(name, texts, attributes) {
  const longest = texts.reduce((a, b) => (b.length > a.length ? b : a), "");
  const room = make("p", { class: "adk-ghost-text", "aria-hidden": "true" }, longest);
  const live = make("p", { class: `adk-${name}-text`, ...attributes });
  return [live, make("div", { class: `adk-${name}` }, room, live)];
}

/** The learner's code; `light` marks sub-expressions in it and scrolls to them within its own pane. */
function sourcePane(payload, pick) {
  const body = scrolling("adk-source-body", "Source");
  const spans = []; // source -> line -> [{start, element}]
  const places = new Map(); // element -> [source, line, column]
  const tops = []; // source -> px of its first line, known without asking the browser to lay out
  let top = 6;
  segments(payload).forEach((lines, s) => {
    const { name, first_line: first = 1 } = payload.sources[s];
    body.append(make("div", { class: "adk-source-name" }, name));
    top += LINE + 4;
    tops.push(top);
    spans.push(
      lines.map((parts, l) => {
        const row = parts.map(({ start, kind, text }) => {
          const element = make("span", { class: kind && `adk-${kind}` }, text);
          places.set(element, [s, l + 1, start]);
          return { start, element };
        });
        const number = make("span", { class: "adk-line-number", "aria-hidden": "true" }, String(first + l));
        const code = make("code", { class: "adk-code" }, ...row.map(({ element }) => element));
        body.append(make("div", { class: "adk-line" }, number, code));
        return row;
      }),
    );
    top += lines.length * LINE;
  });

  body.addEventListener("click", (event) => places.has(event.target) && pick(...places.get(event.target)));

  const lit = { "adk-lit": [], "adk-chosen": [] };
  let scrolledTo = "";
  // What is in sight, and how wide a character is: asking the browser in the midst of a step would cost a layout.
  const sight = { top: 0, left: 0, w: 0, h: 0, advance: 0 };
  body.addEventListener("scroll", () => ([sight.top, sight.left] = [body.scrollTop, body.scrollLeft]));
  function light(name, where) {
    lit[name].forEach((element) => element.classList.remove(name));
    lit[name] = [];
    if (!where) return;
    for (let line = where[1]; line <= where[3]; line += 1) {
      for (const { start, element } of spans[where[0]]?.[line - 1] ?? []) {
        if (covers(where, where[0], line, start)) lit[name].push(element);
      }
    }
    lit[name].forEach((element) => element.classList.add(name));
  }
  function scrollTo(where) {
    if (!where || !sight.h || String(where) === scrolledTo) return;
    scrolledTo = String(where);
    const [source, line, column, endLine, endColumn] = where;
    const y = tops[source] + (line - 1) * LINE;
    const top = scrolled(sight.top, sight.h, y, y + (endLine - line + 1) * LINE, 2 * LINE);
    const x = GUTTER + (column ?? 0) * sight.advance;
    const end = endLine === line && endColumn != null ? GUTTER + endColumn * sight.advance : x;
    const left = end <= sight.w ? 0 : scrolled(sight.left, sight.w, x, end, 4 * sight.advance);
    if (top !== sight.top) body.scrollTop = sight.top = top;
    if (left !== sight.left) body.scrollLeft = sight.left = left;
  }
  return {
    element: make("section", { class: "adk-source" }, body),
    body,
    resize({ width, height }) {
      const line = body.querySelector(".adk-code > span");
      const advance = line ? line.getBoundingClientRect().width / [...line.textContent].length : 0;
      Object.assign(sight, { w: width, h: height, advance });
      scrolledTo = "";
    },
    active: (where) => (light("adk-lit", where), scrollTo(where)),
    chosen: (where, follow) => (light("adk-chosen", where), follow && scrollTo(where)),
  };
}

/** All about one node: what it is, its value, and the gradient with the rule it goes through. */
function inspectorPane(payload, unpin) {
  const title = make("div", { class: "adk-inspector-title" });
  const pin = button("pin", "Unpin: follow the steps again", "Esc");
  pin.append("unpin");
  pin.addEventListener("click", unpin);
  const body = scrolling("adk-inspector-body", "Inspector");
  const element = make("section", { class: "adk-inspector" });
  element.append(make("div", { class: "adk-inspector-head" }, title, pin), body);

  const ever = {}; // node -> all fields that any step sets: rows for others would stay empty
  for (const { set } of payload.frames) {
    for (const [id, fields] of Object.entries(set)) {
      for (const key of Object.keys(fields)) (ever[id] ??= new Set()).add(key);
    }
  }
  let shown = null; // node whose rows are in place
  let cells = {}; // of those rows that change with the steps
  let changed; // the value, where it was changed in place
  let released = null;

  function row(label, name) {
    const cell = make("dd");
    if (name) cells[name] = cell;
    return make("div", { class: `adk-fact ${name ? `adk-fact-${name}` : ""}` }, make("dt", {}, label), cell);
  }

  /** The columns of a table of numbers must stay below each other. */
  function write(cell, text) {
    if (!cell) return;
    cell.textContent = text || "not yet";
    cell.classList.toggle("adk-none", !text);
    cell.classList.toggle("adk-grid", /^\[.*\n/.test(text));
  }

  function writeValue(node, now) {
    const [, text] = node.facts.find(([label]) => label === "value") ?? [];
    write(cells.value, now ?? text);
    if (!node.heat || now != null) return;
    const heat = drawing(node.heat);
    if (heat.querySelector("text")) cells.value.replaceChildren(); // it has the numbers in it
    cells.value.append(attribute(heat, { class: "adk-heat", role: "img", "aria-label": text }));
  }

  function lay(id) {
    const node = payload.nodes[id];
    cells = {};
    const rows = node.facts.map(([label, text]) => {
      const fact = row(label, label === "value" ? "value" : null);
      write(fact.lastChild, text);
      return fact;
    });
    const moving = [];
    if (ever[id]?.has("g") || ever[id]?.has("grad")) moving.push(row("gradient", "gradient"));
    if (ever[id]?.has("rule")) moving.push(row("rule", "rule"));
    rows.splice(node.facts.findIndex(([label]) => label === "value") + 1, 0, ...moving);
    writeValue(node, (changed = undefined));
    released = make("p", { class: "adk-released-note" });
    title.textContent = title.title = node.title;
    body.replaceChildren(make("dl", { class: "adk-facts" }, ...rows), released);
    body.scrollTop = 0;
  }

  return {
    element,
    show(id, fields, pinned) {
      pin.classList.toggle("adk-away", !pinned);
      if (id == null) return;
      if (id !== shown) lay((shown = id));
      if (fields.value !== changed) writeValue(payload.nodes[id], (changed = fields.value));
      const short = fields.grad ?? fields.g; // what stands in the box; `gradient` is all of it
      write(cells.gradient, short && (fields.gradient ?? short));
      write(cells.rule, fields.rule?.join(" "));
      const forms = fields.rule?.map((form) => make("div", { class: "adk-form" }, form));
      if (forms) cells.rule?.replaceChildren(...forms);
      released.textContent = fields.released ? "What it had saved is released." : "";
    },
  };
}

/** The graph: the base drawing from Python, classes toggled on it, and the view that pans and zooms. */
function graphPane(payload, still, pick) {
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
    fit: button("fit", "Fit the whole graph", "0"),
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
    const [x, y] = (group.getAttribute("transform") ?? "").match(/-?[\d.]+(e-?\d+)?/g)?.map(Number) ?? [0, 0];
    const [w, h, rx] = ["width", "height", "rx"].map((name) => Number(box.getAttribute(name) ?? 0));
    // The box is the button, and its label says all of it in words; the texts are only for the eye.
    attribute(focusable(box), { role: "button", tabindex: "-1", "aria-pressed": "false" });
    group.querySelectorAll("text").forEach((text) => text.setAttribute("aria-hidden", "true"));
    const value = group.querySelector(".adk-value");
    const grad = group.querySelector("[data-grad]");
    nodes[id] = { group, box, grad, value, made: value?.textContent, rect: { x, y, w, h }, rx };
  }
  for (const mark of layer.querySelectorAll("[data-edge], [data-edge-label]")) {
    const path = mark.dataset.edge != null;
    const id = path ? mark.dataset.edge : mark.dataset.edgeLabel;
    const edge = (edges[id] ??= { marks: [] });
    edge.marks.push(mark);
    mark.setAttribute("aria-hidden", "true");
    if (path) [edge.from, edge.to] = [mark.dataset.from, mark.dataset.to];
  }
  const firstNode = layer.querySelector("[data-node]");
  for (const edge of Object.values(edges)) (edgesInto[edge.to] ??= []).push(edge);

  // -- view
  let pane = { w: 600, h: 400 };
  let view = null;
  let whole = false; // stay fitted when the pane changes its size
  function look(next, glide) {
    if (view && next === view) return;
    view = next;
    svg.classList.toggle("adk-glide", Boolean(glide) && !still());
    layer.style.transform = `translate(${view.x.toFixed(1)}px, ${view.y.toFixed(1)}px) scale(${view.scale.toFixed(3)})`;
    zoomText.textContent = `${Math.round(view.scale * 100)} %`;
    const pannable = graph.w * view.scale + 2 * MARGIN > pane.w + 1 || graph.h * view.scale + 2 * MARGIN > pane.h + 1;
    svg.classList.toggle("adk-pannable", pannable);
  }
  function resize(width, height) {
    if (!width || !height) return;
    pane = { w: width, h: height };
    if (!view) {
      look(firstView(graph, pane));
      whole = view.scale === fitScale(graph, pane);
    } else look(whole ? fitted(graph, pane) : placed(view, graph, pane));
    reveal(focused ?? active);
  }
  function zoom(factor, point = { x: pane.w / 2, y: pane.h / 2 }, glide = true) {
    whole = false;
    look(zoomed(view, factor, point, graph, pane), glide);
  }
  function fit() {
    whole = true;
    look(fitted(graph, pane), true);
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
      const point = { x: event.clientX - at.left, y: event.clientY - at.top };
      zoom(Math.exp(-clamp(event.deltaY, -60, 60) / 200), point, false);
    },
    { passive: false },
  );
  let drag = null;
  svg.addEventListener("pointerdown", (event) => {
    if (event.button || !svg.classList.contains("adk-pannable")) return;
    drag = { x: event.clientX, y: event.clientY, view };
  });
  svg.addEventListener("pointermove", (event) => {
    if (!drag) return;
    if (!event.buttons) return void (drag = null);
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.moved && Math.hypot(dx, dy) < 4) return;
    if (!drag.moved) svg.setPointerCapture(event.pointerId); // only now: a plain click must reach its node
    drag.moved = true;
    whole = false;
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

  function reveal(id, other) {
    if (!view || !nodes[id]) return;
    let { rect } = nodes[id];
    if (nodes[other]) {
      const both = around(rect, nodes[other].rect);
      if (both.w * view.scale + MARGIN < pane.w && both.h * view.scale + MARGIN < pane.h) rect = both;
    }
    look(revealed(view, rect, graph, pane), true);
  }

  let active = null;
  let activeEdge = null;
  const STATES = [
    ["adk-has-grad", ({ g, grad }) => (grad ?? g) != null],
    ["adk-released", ({ released }) => Boolean(released)],
    ["adk-visited", ({ visited }) => Boolean(visited)],
  ];
  return {
    element: make("section", { class: "adk-graph" }, svg),
    zoomTools,
    svg,
    resize,
    zoom,
    fit,
    focus,
    /** Bring one node up to date. */
    update(id, fields, hidden) {
      const node = nodes[id];
      if (!node) return;
      node.group.classList.toggle("adk-hidden", hidden);
      for (const edge of edgesInto[id] ?? []) edge.marks.forEach((mark) => mark.classList.toggle("adk-hidden", hidden));
      for (const [name, holds] of STATES) node.group.classList.toggle(name, holds(fields));
      const text = fields.grad ?? fields.g ?? "";
      if (node.grad) node.grad.textContent = text;
      if (node.value) node.value.textContent = fields.value ?? node.made; // else changed in place
      node.box.setAttribute("aria-label", payload.nodes[id].aria + (text && `, gradient ${text}`));
    },
    /** Mark what frame k is about and keep it in sight. */
    mark(frame) {
      const id = frame.node;
      if (active !== id) {
        nodes[active]?.group.classList.remove("adk-active");
        nodes[id]?.group.classList.add("adk-active");
        active = id;
      }
      const edge = frame.edge == null ? null : edges[frame.edge];
      if (activeEdge !== edge) {
        activeEdge?.marks.forEach((mark) => mark.classList.remove("adk-active"));
        edge?.marks.forEach((mark) => mark.classList.add("adk-active"));
        if (edge) firstNode.before(...edge.marks); // over the arrows it shares its way with, under the boxes
        activeEdge = edge;
      }
      if (id != null) reveal(id, edge && (edge.from === id ? edge.to : edge.from));
    },
    select(id, previous) {
      nodes[previous]?.box.setAttribute("aria-pressed", "false");
      nodes[previous]?.group.classList.remove("adk-selected");
      nodes[id]?.box.setAttribute("aria-pressed", "true");
      nodes[id]?.group.classList.add("adk-selected");
      ring(0, nodes[id] ? id : null);
    },
    reveal,
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

const SPEEDS = [["0.5", "½×"], ["1", "1×"], ["2", "2×"], ["4", "4×"]];

/** Buttons, slider, counter, speed. `go` is asked to change the step; `show` is told that it changed. */
function transport(payload, go) {
  const last = payload.frames.length - 1;
  const buttons = {
    first: button("first", "First step"),
    back: button("back", "Step back", "p"),
    play: button("play", "Play"),
    forward: button("forward", "Step forward", "n"),
    last: button("last", "Last step"),
  };
  buttons.back.setAttribute("aria-keyshortcuts", "p");
  buttons.forward.setAttribute("aria-keyshortcuts", "n");
  const slider = focusable(make("input", { type: "range", class: "adk-range", min: 0, max: last, "aria-label": "Step" }));
  const counter = make("span", { class: "adk-counter" });
  const speeds = SPEEDS.map(([value, text]) => make("option", { value }, text));
  const speed = focusable(make("select", { class: "adk-speed", "aria-label": "Speed", title: "Speed" }, ...speeds));
  speed.value = "1";

  // The track: one piece for each phase, a mark where it turns; each fills up by itself.
  const track = make("div", { class: "adk-track", "aria-hidden": "true" });
  const fills = phases(payload).map(({ phase, from, to }) => {
    const done = make("div", { class: "adk-done" });
    const name = make("span", { class: "adk-piece-name" }, phase);
    const piece = make("div", { class: `adk-piece adk-piece-${phase}` }, name, done);
    piece.style.setProperty("--adk-from", from / last);
    piece.style.setProperty("--adk-to", to / last);
    track.append(piece);
    return (k) => done.style.setProperty("--adk-part", clamp((k - from) / (to - from), 0, 1));
  });

  let timer = null;
  let at = 0;
  function stop() {
    if (timer == null) return;
    clearTimeout(timer);
    timer = null;
    face("play", "Play");
  }
  function face(name, label) {
    buttons.play.replaceChildren(icon(name));
    buttons.play.setAttribute("aria-label", (buttons.play.title = label));
  }
  function tick() {
    go(at + 1);
    if (at >= last) stop();
    else timer = setTimeout(tick, 1000 / Number(speed.value));
  }
  function play() {
    if (timer != null) return stop();
    face("pause", "Pause");
    if (at >= last) go(0);
    timer = setTimeout(tick, 1000 / Number(speed.value));
  }
  const by = (k) => (stop(), go(k));
  buttons.first.addEventListener("click", () => by(0));
  buttons.back.addEventListener("click", () => by(at - 1));
  buttons.play.addEventListener("click", play);
  buttons.forward.addEventListener("click", () => by(at + 1));
  buttons.last.addEventListener("click", () => by(last));
  slider.addEventListener("input", () => by(Number(slider.value)));

  return {
    element: make(
      "div",
      { class: "adk-transport", role: "group", "aria-label": "Steps" },
      make("div", { class: "adk-buttons" }, ...Object.values(buttons)),
      make("div", { class: "adk-slider" }, track, slider),
      counter,
      speed,
    ),
    stop,
    by,
    at: () => at,
    show(k) {
      at = k;
      slider.value = k;
      slider.setAttribute("aria-valuetext", counterText(payload, k));
      counter.textContent = counterText(payload, k);
      fills.forEach((fill) => fill(k));
      const ends = { first: k === 0, back: k === 0, forward: k === last, last: k === last };
      // not `disabled`: that would take the focus away from whoever steps with Enter
      for (const [name, end] of Object.entries(ends)) buttons[name].setAttribute("aria-disabled", end);
    },
  };
}

/** Draw the whole Stepper into `root`. `host` holds step and selection; it is asked to change them, and tells back. */
function stepper(root, payload, host) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const walk = cursor(payload);
  const visible = (id) => !walk.hidden(id);
  const last = payload.frames.length - 1;
  let step = null;
  let selected = null;

  const go = (k) => host.step(clamp(k, 0, last));
  const pick = (id) => host.select(id === selected ? "" : id);
  const source = sourcePane(payload, (s, line, column) => {
    const id = nodeAtSource(payload, s, line, column, selected, visible);
    if (id == null) return;
    host.select(id);
    graph.reveal(id);
  });
  const graph = graphPane(payload, () => calm.matches, pick);
  const inspector = inspectorPane(payload, () => host.select(""));
  const controls = transport(payload, go);
  const captions = payload.frames.map(({ kind, caption: words }) => (kind === "error" ? `⚠ ${words}` : words));
  const [caption, captionBox] = steadyText("caption", captions, { "aria-live": "polite" });
  const stage = make("div", { class: "adk-stage" });
  stage.append(source.element, graph.element, captionBox, controls.element, inspector.element);
  root.style.setProperty("--adk-graph-height", `${clamp(payload.height + 2 * MARGIN, 300, 520)}px`);
  const lines = payload.sources.reduce((sum, { lines: { length } }) => sum + length + 1.2, 0);
  root.style.setProperty("--adk-source-height", `${lines * LINE + 14}px`);
  const title = make("div", { class: "adk-title" }, payload.title || "Computation graph");
  root.replaceChildren(make("div", { class: "adk-head" }, title, graph.zoomTools), stage);

  function inspect() {
    const id = selected ?? focusOf(payload, step);
    inspector.show(id, walk.fields[id] ?? {}, selected != null);
  }
  function show(k) {
    k = clamp(k, 0, last);
    if (k === step) return;
    step = k;
    const frame = payload.frames[k];
    for (const id of walk.moveTo(k)) graph.update(id, walk.fields[id], walk.hidden(id));
    root.dataset.phase = frame.phase;
    graph.mark(frame);
    graph.keepTabStop(visible, focusOf(payload, k));
    caption.textContent = captions[k];
    controls.show(k);
    source.active(frame.where);
    inspect();
  }
  function select(id) {
    const next = payload.nodes[id] ? id : null;
    if (next === selected) return;
    graph.select(next, selected);
    selected = next;
    source.chosen(payload.nodes[next]?.where, next != null);
    inspect();
  }

  const gone = new AbortController();
  const keys = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.tagName === "SELECT") return; // has keys of its own
    const id = event.target.closest("[data-node]")?.dataset.node;
    const to = id == null ? null : neighbour(payload, id, event.key, visible);
    if (to != null) graph.focus(to);
    else if (id != null && (event.key === "Enter" || event.key === " ")) pick(id);
    else if (event.key === "Escape" && selected != null) host.select("");
    else if (event.key === "n") controls.by(step + 1);
    else if (event.key === "p") controls.by(step - 1);
    else if (event.key === "+" || event.key === "=") graph.zoom(ZOOM.step);
    else if (event.key === "-") graph.zoom(1 / ZOOM.step);
    else if (event.key === "0") graph.fit();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  root.addEventListener("keydown", keys, { signal: gone.signal }); // the next recording brings its own

  // Every node starts hidden or not by its own `since`; afterwards only what a step touches is looked at.
  for (const id of Object.keys(payload.nodes)) graph.update(id, {}, true);
  const sizes = new ResizeObserver((entries) => {
    for (const { target, contentRect } of entries) {
      if (target === graph.svg) graph.resize(contentRect.width, contentRect.height);
      else source.resize(contentRect);
    }
    if (step != null) source.active(payload.frames[step].where);
  });
  sizes.observe(graph.svg);
  sizes.observe(source.body);
  return {
    show,
    select,
    remove() {
      controls.stop();
      sizes.disconnect();
      gone.abort();
    },
  };
}

function say(root, text) {
  root.replaceChildren(make("p", { class: "adk-message", role: "status" }, text));
}

/** anywidget's entry: state lives in the model, so a view that is taken away and made again looks the same. */
function render({ model, el }) {
  const root = make("div", { class: "adk-root" });
  el.append(root);
  let view = null;
  let asked = 0;
  const set = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  async function load() {
    const mine = (asked += 1);
    const bytes = model.get("payload");
    let payload;
    let problem = bytes?.byteLength ? null : "No recording yet: run the cell that makes this widget.";
    if (!problem) {
      try {
        payload = await inflate(bytes);
      } catch (error) {
        problem = error.message;
      }
    }
    if (mine !== asked) return; // a newer payload came, or the view is gone
    view?.remove();
    view = null;
    try {
      if (problem) return say(root, problem);
      view = stepper(root, payload, { step: (k) => set("step", k), select: (id) => set("selected", id) });
      view.show(model.get("step"));
      view.select(model.get("selected"));
    } catch (error) {
      view = null;
      say(root, `This recording cannot be drawn (${error.message}). Run the cell again.`);
    }
  }
  const listeners = {
    "change:payload": load,
    "change:step": () => view?.show(model.get("step")),
    "change:selected": () => view?.select(model.get("selected")),
  };
  for (const [name, listener] of Object.entries(listeners)) model.on(name, listener);
  load();
  return () => {
    asked += 1;
    for (const [name, listener] of Object.entries(listeners)) model.off(name, listener);
    view?.remove();
    root.remove();
  };
}

/** The same without Jupyter: `bytes` as in the trait, state in a plain object. Used by view/page.py. */
export function mount(el, bytes) {
  const state = { payload: bytes, step: 0, selected: "" };
  const listeners = {};
  const model = {
    get: (name) => state[name],
    set(name, value) {
      if (state[name] === value) return;
      state[name] = value;
      listeners[`change:${name}`]?.forEach((listener) => listener());
    },
    on: (name, listener) => (listeners[name] ??= new Set()).add(listener),
    off: (name, listener) => listeners[name]?.delete(listener),
    save_changes() {},
  };
  return render({ model, el });
}

export default { render };
