// The pane that tells all about one node. Read next: graph_pane.mjs.

import { button, make, scrolling } from "./dom.mjs";
import { pictures } from "./matrix.mjs";

/** A text whose shapes are not torn apart where it is broken into lines: `(2, 3)`. */
const unbroken = (text = "") => text.replace(/\((?:\d+, ?)+\d*\)/g, (shape) => shape.replaceAll(" ", "\u00a0"));

/**
 * All about one node: what it is, its value, and the gradient with the rule it goes through. `visit` goes to its
 * next step or the one before, `open` unfolds it; without Python there is no `open`.
 */
export function inspectorPane(payload, { unpin, visit, open }) {
  const title = make("div", { class: "adk-inspector-title" });
  const pin = button("pin", "Unpin: follow the steps again", "Esc");
  pin.append("unpin");
  pin.addEventListener("click", unpin);
  const before = button("back", "Step before this about this node", "P");
  const after = button("forward", "Next step about this node", "N");
  before.addEventListener("click", () => visit(-1));
  after.addEventListener("click", () => visit(1));
  const unfold = button("unfold", "Unfold this box", "u");
  unfold.append("unfold");
  unfold.addEventListener("click", () => open(payload.nodes[shown].opens));
  const body = scrolling("adk-inspector-body", "Inspector");
  const element = make("section", { class: "adk-inspector" });
  element.append(make("div", { class: "adk-inspector-head" }, title, pin, unfold, before, after), body);

  const ever = {}; // node -> all fields that any step sets: rows for others would stay empty
  for (const { set } of payload.frames) {
    for (const [id, fields] of Object.entries(set)) {
      for (const [key, value] of Object.entries(fields)) if (value != null) (ever[id] ??= new Set()).add(key);
    }
  }
  let shown = null; // node whose rows are in place
  let cells = {}; // of those rows that change with the steps
  let changed; // the value, where it was changed in place

  const details = make("details", { class: "adk-details" });
  const summary = make("summary", {}, make("b", {}, "details"), " shape, dtype, memory, backward rule");

  const ofValue = (id) => payload.nodes[id].facts.find(([label]) => label === "value")?.[1];

  function row(label, name) {
    const cell = make("dd");
    if (name) cells[name] = cell;
    return make("div", { class: `adk-fact ${name ? `adk-fact-${name}` : ""}` }, make("dt", {}, label), cell);
  }

  /** A text, with small matrices in it as tables; numbers that are not in a table stay below each other. */
  function write(cell, text) {
    if (!cell) return;
    const drawn = text && pictures(text);
    cell.classList.toggle("adk-none", !text);
    cell.classList.toggle("adk-grid", /^\[.*\n/.test(text));
    cell.replaceChildren(...(drawn?.isWritten ? [] : [unbroken(text || "not yet")]), ...(drawn?.elements ?? []));
  }

  function lay(id) {
    const node = payload.nodes[id];
    cells = {};
    const first = [row("What is it?", "what")];
    cells.what.textContent = unbroken(node.what);
    if (node.facts.some(([label]) => label === "value")) first.push(row("Value", "value"));
    if (ever[id]?.has("g") || ever[id]?.has("grad")) first.push(row("Gradient", "gradient"), row("Why?", "why"));
    const others = node.facts
      .filter(([label]) => label !== "value")
      .map(([label, text]) => {
        const fact = row(label, label === "saved" ? label : null);
        write(fact.lastChild, text);
        return fact;
      });
    if (ever[id]?.has("rule")) others.unshift(row("rule", "rule"));
    write(cells.value, ofValue(id));
    changed = undefined;
    title.textContent = title.title = node.title;
    details.replaceChildren(summary, make("dl", { class: "adk-facts" }, ...others));
    body.replaceChildren(make("dl", { class: "adk-facts" }, ...first), details);
    body.scrollTop = 0;
  }

  /** What a gradient is the sum of: one row for each arrow that has brought a part of it, and for what was there. */
  function why(id, fields, edges, now) {
    if (!cells.why) return;
    cells.why.parentElement.classList.toggle("adk-gone", !fields.why?.length);
    const from = Object.fromEntries(payload.nodes[id].uses);
    const rows = (fields.why ?? []).map((part) => {
      const { sent, arrived } = edges[part] ?? {};
      const product = sent && sent !== arrived ? sent.slice(0, sent.lastIndexOf(" = ")) : "";
      const [words, number] = Array.isArray(part) ? part : [from[part], arrived];
      const look = part === now ? "adk-row-now" : words === "sum" ? "adk-row-sum" : "";
      const columns = [make("th", { scope: "row" }, unbroken(words)), make("td", {}, unbroken(product)), make("td")];
      const whole = words === "sum" ? fields.gradient : edges[part]?.whole; // of a number: with the digits of a sum
      const isAbove = words === "sum" && whole && pictures(whole); // too large to be drawn twice
      write(columns[2], isAbove ? "the gradient above" : whole?.startsWith("[") ? whole : number);
      return make("tr", { class: look }, ...columns);
    });
    cells.why.replaceChildren(make("table", { class: "adk-uses" }, make("tbody", {}, ...rows)));
  }

  return {
    element,
    show(id, fields, pinned, edges, now) {
      pin.classList.toggle("adk-gone", !pinned);
      if (id == null) return;
      if (id !== shown) {
        lay((shown = id));
        unfold.classList.toggle("adk-gone", !open || !payload.nodes[id].opens);
      }
      if (fields.tensor !== changed) write(cells.value, (changed = fields.tensor) ?? ofValue(id));
      const held = fields.g ?? fields.grad; // of a folded box that is all: it has no numbers of its own
      write(cells.gradient, held ? (fields.gradient ?? held) : fields.grad === null && "cleared");
      why(id, fields, edges, now);
      cells.rule?.parentElement.classList.toggle("adk-gone", !fields.rule);
      const forms = fields.rule?.map((form) => make("div", { class: "adk-form" }, unbroken(form)));
      if (forms) cells.rule?.replaceChildren(...forms);
      const [, saved] = payload.nodes[id].facts.find(([label]) => label === "saved") ?? [];
      write(cells.saved, fields.released ? "nothing any more: backward has released it" : saved);
    },
  };
}
