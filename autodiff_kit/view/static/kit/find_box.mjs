// Find a node by its name or operation, or run to a condition: a line over the graph, while it is asked for.
//
// Names are looked for here. A condition is worked out by Python, which has the numbers: `host.ask`
// sends it there, and is null where no Python is. Read next: kit.mjs.

import { attribute, button, make } from "./dom.mjs";
import { isCondition, named, nextOf, nextStep } from "./find.mjs";

const PATIENCE = 6000; // ms to wait for Python

/** `at` tells step and selection; `go` and `pick` change them. */
export function findBar(payload, host, { at, go, pick }) {
  const hint = host.ask ? "Find h1 or mul, or run to abs(grad) > 1e3" : "Find a node: h1, mul ...";
  const label = host.ask ? "Find a node, or run to a condition" : "Find a node";
  const field = make("input", { type: "search", class: "adk-find-field", placeholder: hint, "aria-label": label });
  field.spellcheck = false;
  const buttons = { back: button("back", "Find backward", "Shift+Enter"), forward: button("forward", "Find forward", "Enter") };
  const said = make("p", { class: "adk-find-said", role: "status" });
  const known = new Map(); // condition -> what Python has answered
  let waiting = null;

  /** Let what Python answers to the last question move nothing. */
  function forget() {
    clearTimeout(waiting?.timer);
    waiting = null;
  }
  function say(text, isTrouble) {
    said.textContent = text;
    said.classList.toggle("adk-trouble", Boolean(isTrouble));
    field.setAttribute("aria-invalid", Boolean(isTrouble));
  }
  function toNode(text, way) {
    const ids = named(payload, text);
    const id = nextOf(ids, at().selected, way);
    if (id == null) {
      const or = host.ask ? " A condition has a comparison in it: value > 3" : "";
      return say(`No node has ${text} in its name or operation.${or}`, true);
    }
    pick(id);
    const where = payload.nodes[id].title;
    say(`${ids.indexOf(id) + 1} of ${ids.length}: ${where}`);
  }
  function toStep({ steps, error }, way) {
    if (error) return say(error, true);
    if (!steps.length) return say("It holds at no step.");
    const numbers = steps.map(([k]) => k);
    const next = nextStep(numbers, at().step, way);
    const step = next ?? (way > 0 ? numbers[0] : numbers.at(-1));
    const round = next == null ? `, from the ${way > 0 ? "start" : "end"} again` : "";
    go(step);
    const rank = numbers.indexOf(step);
    say(`Step ${step + 1}: ${steps[rank][1]} (${rank + 1} of ${steps.length}${round})`);
  }
  function run(way) {
    const text = field.value.trim();
    if (!text) return say("");
    if (!isCondition(text)) return toNode(text, way);
    if (!host.ask) return say("A condition needs Python: open the notebook and run its cell.", true);
    if (known.has(text)) return toStep(known.get(text), way);
    forget();
    const unheard = () => say("Python does not answer. Is it busy? If not, run the cell again.", true);
    waiting = { text, way, timer: setTimeout(unheard, PATIENCE) };
    say("Python is looking ...");
    host.ask({ find: text });
  }
  const element = make("div", { class: "adk-find", role: "search", hidden: "" }, field, buttons.back, buttons.forward, said);
  const opener = attribute(button("search", label, "/"), { "aria-expanded": "false" });
  function toggle(isOpen = element.hidden) {
    element.hidden = !isOpen;
    opener.setAttribute("aria-expanded", isOpen);
    if (!isOpen) {
      forget();
      say((field.value = ""));
    }
    (isOpen ? field : opener).focus();
  }
  opener.addEventListener("click", () => toggle());
  element.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target === field) run(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") toggle(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  buttons.back.addEventListener("click", () => run(-1));
  buttons.forward.addEventListener("click", () => run(1));

  return {
    element,
    opener,
    open: () => toggle(true),
    /** Python's answer: {find, steps: [[step, name], ...]} or {find, error}. */
    hear(answer) {
      known.set(answer.find, answer);
      if (waiting?.text !== answer.find) return;
      const { way } = waiting;
      forget();
      toStep(answer, way);
    },
    remove: forget,
  };
}
