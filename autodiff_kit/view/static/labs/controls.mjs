// controls.mjs - one design of each control of a lab: slider, choice, line of code, switch, number, text, button.
//
// After reading part 1 you can say how a place on a slider becomes a number; after part 2, what a screen reader says
// of each control. What a control can be set to comes from Python (widgets/controls.py: `look`); what it is set to is
// told to the lab, which asks Python. Each control keeps its size, whatever it is set to. Looks: lab.css.

import { make } from "../kit/dom.mjs";

// ---- 1. Pure functions: tested by tests/js, no document needed ---------------------------------------------

/** How many steps a slider has; the last one may be a shorter one. */
export const stepsOf = ({ min, max, step }) => Math.max(0, Math.ceil((max - min) / step - 1e-9));

/** The value at a step, without the digits that adding steps brings. */
export const valueAt = (look, k) =>
  k >= stepsOf(look) ? look.max : Number((look.min + k * look.step).toPrecision(12));

/** The step nearest to a value. */
export const nearest = (look, value) => Math.min(Math.max(Math.round((value - look.min) / look.step), 0), stepsOf(look));

/** A number as it is shown: six digits, and a minus sign of its full width. */
export const shown = (value) => String(Number(Number(value).toPrecision(6))).replace("-", "−");

/** The number that a text stands for, within the bounds; null if it is none. */
export function typed(text, { min, max, whole }) {
  const plain = text.trim().replace("−", "-").replace(",", ".");
  const value = plain === "" ? NaN : Number(plain);
  if (!Number.isFinite(value)) return null;
  return Math.min(Math.max(whole ? Math.round(value) : value, min), max);
}

/** How many characters the widest of a slider's texts has. */
export function widest(look) {
  if (look.words) return Math.max(...look.words.map((word) => word.length));
  const last = stepsOf(look);
  const places = [0, 1, Math.floor(last / 2) + 1, last - 1, last];
  return Math.max(...places.map((k) => shown(valueAt(look, Math.min(Math.max(k, 0), last))).length));
}

// ---- 2. Drawing: each returns its element, `draw` for another look and `show` for another value ----------------

const prefix = `adk-c-${Math.random().toString(36).slice(2, 10)}`; // each lab on a page has this script for itself
let count = 0;
const named = (text, field) => {
  field.id ||= `${prefix}-${(count += 1)}`;
  return make("label", { class: "adk-c-label", for: field.id }, text);
};
const unitOf = (look) => (look.unit ? `\u202f${look.unit}` : "");

function slider(first, move) {
  let look = first;
  let value = null;
  const range = make("input", { type: "range", class: "adk-c-range", min: 0, step: 1 });
  const mark = make("span", { class: "adk-c-mark", "aria-hidden": "true" });
  const track = make("span", { class: "adk-c-track" }, range, mark);
  const field = first.words
    ? make("output", { class: "adk-c-readout" })
    : make("input", { type: "text", class: "adk-c-readout", inputmode: "decimal", autocomplete: "off", spellcheck: "false" });
  const unit = make("span", { class: "adk-c-unit" });
  const label = named(look.label, range);
  const textOf = (it) => (look.words ? look.words[it] : shown(it));
  function show(next) {
    value = next;
    const text = textOf(value);
    range.value = nearest(look, value);
    range.setAttribute("aria-valuetext", text + unitOf(look));
    range.style.setProperty("--adk-part", `${(100 * nearest(look, value)) / (stepsOf(look) || 1)}%`);
    if (first.words) field.textContent = text;
    else if (field !== document.activeElement) field.value = text;
  }
  function draw(next) {
    look = next;
    label.textContent = look.label;
    range.max = stepsOf(look);
    field.style.width = `${widest(look) + 1}ch`;
    field.setAttribute("aria-label", look.words ? look.label : `Value of ${look.label}`);
    unit.textContent = unitOf(look);
    mark.hidden = look.mark == null;
    if (look.mark != null) mark.style.setProperty("--adk-at", nearest(look, look.mark) / (stepsOf(look) || 1));
    if (value != null) show(value);
  }
  range.addEventListener("input", () => {
    show(valueAt(look, Number(range.value)));
    if (look.live) move(value);
  });
  range.addEventListener("change", () => look.live || move(value));
  field.addEventListener("change", () => {
    const next = typed(field.value, look);
    if (next !== null) move(next);
    field.value = textOf(next ?? value);
    show(next ?? value);
  });
  return { element: make("div", { class: "adk-c adk-c-slider" }, label, track, field, unit), draw, show };
}

/** Fill a list with words, if they are others than before. */
function fill(select, words) {
  if (select.options.length === words.length && words.every((word, k) => select.options[k].text === word)) return;
  select.replaceChildren(...words.map((word) => make("option", { value: word }, word)));
}

function choice(first, move) {
  const select = make("select", { class: "adk-c-select" });
  const label = named(first.label, select);
  select.addEventListener("change", () => move(select.selectedIndex));
  return {
    element: make("div", { class: "adk-c" }, label, select),
    draw(look) {
      label.textContent = look.label;
      fill(select, look.words);
    },
    show: (value) => (select.selectedIndex = value),
  };
}

function line(first, move) {
  const select = make("select", { class: "adk-c-select", "aria-label": first.label });
  const written = ([number, code]) => [make("span", { class: "adk-c-number", "aria-hidden": "true" }, number), make("code", {}, code)];
  const own = written([first.number, first.code]);
  const remark = make("span", { class: "adk-c-remark" });
  const [before, after] = [first.before, first.after].map((lines) => lines.flatMap(written));
  const element = make("div", { class: "adk-c-line" }, ...before, ...own, select, remark, ...after);
  select.addEventListener("change", () => move(select.selectedIndex));
  return {
    element,
    draw(look) {
      fill(select, look.words);
      remark.textContent = look.remark;
    },
    show(value) {
      select.selectedIndex = value;
      own[1].classList.toggle("adk-c-changed", value !== 0);
      select.classList.toggle("adk-c-changed", value !== 0);
    },
  };
}

function toggle(first, move) {
  const box = make("input", { type: "checkbox", class: "adk-c-box" });
  const words = make("span", {}, first.label);
  box.addEventListener("change", () => move(box.checked));
  return {
    element: make("label", { class: "adk-c adk-c-switch" }, box, words),
    draw: (look) => (words.textContent = look.label),
    show: (value) => (box.checked = value),
  };
}

function field(first, move, read, write) {
  const input = make("input", { type: "text", class: "adk-c-field", autocomplete: "off", spellcheck: "false" });
  const label = named(first.label, input);
  let look = first;
  let value = null;
  const show = (next) => {
    value = next;
    if (input !== document.activeElement) input.value = write(value);
  };
  input.addEventListener("change", () => {
    const next = read(input.value, look);
    if (next !== null) move(next);
    input.value = write(next ?? value);
  });
  return {
    element: make("div", { class: "adk-c" }, label, input, make("span", { class: "adk-c-unit" }, unitOf(first))),
    draw(next) {
      look = next;
      label.textContent = look.label;
    },
    show,
  };
}

function press(first, move) {
  const button = make("button", { type: "button", class: "adk-c-button" }, first.label);
  button.addEventListener("click", () => move(true));
  return { element: button, draw: (look) => (button.textContent = look.label), show() {} };
}

const KINDS = {
  slider,
  choice,
  line,
  switch: toggle,
  number: (look, move) => field(look, move, typed, shown),
  text: (look, move) => field(look, move, (text) => text, String),
  button: press,
};

/** A control as its look says; `move` is called with each value that it is set to. */
export function control(look, move) {
  const made = KINDS[look.kind](look, move);
  const draw = (next) => {
    made.draw(next);
    made.element.hidden = !next.visible;
    // On the element for the mouse; on what has the focus for screen readers, as its description.
    const field = made.element.querySelector("input, select");
    for (const element of [made.element, field]) if (element) element.title = next.help ?? "";
  };
  draw(look);
  return { ...made, draw };
}
