// What an answer draws over the graph: what was chosen, what is missing, lost, asked or cut. Read next: question.mjs.

import { attribute, SVG } from "./dom.mjs";

const PILL = 24; // px high
const pillWidth = (text) => text.length * 7.9 + 22;

const part = (tag, attributes, ...content) => {
  const element = attribute(document.createElementNS(SVG, tag), attributes);
  element.append(...content);
  return element;
};

function pill(kind, text, x, y) {
  const width = pillWidth(text);
  const label = part("text", { y: PILL / 2 + 5, "text-anchor": "middle" }, text);
  const rect = part("rect", { x: -width / 2, width, height: PILL, rx: PILL / 2 });
  return part("g", { class: `adk-pill adk-pill-${kind}`, transform: `translate(${x},${y})` }, rect, label);
}

/** Where the box of a node lies. */
function boxAt(layer, id) {
  const group = layer.querySelector(`[data-node="${CSS.escape(id)}"]`);
  const box = group?.querySelector(".adk-box");
  if (!box) return null;
  const [x, y] = group.getAttribute("transform").match(/-?[\d.]+/g).map(Number);
  return { group, x, y, w: Number(box.getAttribute("width")), h: Number(box.getAttribute("height")), rx: box.getAttribute("rx") };
}

/** A layer over the drawing; `show(marks)` draws these and nothing else. */
export function markLayer(svg, size) {
  const layer = svg.querySelector(".adk-layer");
  const over = part("g", { class: "adk-marks", "aria-hidden": "true" });
  layer.append(over);
  const struck = [];
  let pills = [];

  /** Put a pill where it covers no other one, and inside of the drawing. */
  function place(kind, text, x, y) {
    const width = pillWidth(text);
    const left = Math.min(Math.max(x, width / 2), Math.max(size.w - width / 2, width / 2));
    let top = Math.min(Math.max(y, 0), size.h - PILL);
    while (pills.some((other) => Math.abs(other.y - top) < PILL + 2 && Math.abs(other.x - left) < (other.width + width) / 2)) {
      top += PILL + 3;
    }
    pills.push({ x: left, y: top, width });
    over.append(pill(kind, text, left, top));
  }

  function atNode({ kind, node, text }) {
    const box = boxAt(layer, node);
    if (!box) return;
    const { x, y, w, h, rx } = box;
    over.append(part("rect", { class: `adk-outline adk-outline-${kind}`, x, y, width: w, height: h, rx }));
    if (kind === "wrong") {
      const cross = part("path", { d: "M-5 -5L5 5M5 -5L-5 5" });
      over.append(part("g", { class: "adk-cross", transform: `translate(${x + w},${y})` }, part("circle", { r: 12 }), cross));
    }
    if (kind === "stop") over.append(part("path", { class: "adk-bar", d: `M${x - 8} ${y - 7}h${w + 16}` }));
    if (kind === "lost") strike(box.group.querySelector(".adk-grad"));
    if (text) place(kind, text, x + w / 2, y + h - PILL / 2);
  }

  function strike(element) {
    element?.classList.add("adk-struck");
    if (element) struck.push(element);
  }

  function atEdge({ kind, edge, text }) {
    const path = layer.querySelector(`path[data-edge="${CSS.escape(edge)}"]`);
    if (!path) return;
    const length = path.getTotalLength();
    const [middle, near] = [length / 2, length / 2 + 1].map((at) => path.getPointAtLength(at));
    if (kind === "lost") strike(layer.querySelector(`[data-slot="${CSS.escape(edge)}"]`));
    if (kind === "stop") {
      const angle = (Math.atan2(near.y - middle.y, near.x - middle.x) * 180) / Math.PI;
      over.append(part("path", { class: "adk-bar", d: "M0 -22V22", transform: `translate(${middle.x},${middle.y}) rotate(${angle})` }));
    } else over.append(part("path", { class: `adk-over adk-over-${kind}`, d: path.getAttribute("d") }));
    const side = kind === "stop" ? pillWidth(text ?? "") / 2 + 30 : 0;
    if (text) place(kind, text, middle.x + side, middle.y - PILL / 2);
  }

  function show(marks) {
    over.replaceChildren();
    struck.splice(0).forEach((element) => element.classList.remove("adk-struck"));
    pills = [];
    for (const mark of marks) if (mark.edge != null) atEdge(mark);
    for (const mark of marks) if (mark.node != null) atNode(mark);
  }
  return { show };
}
