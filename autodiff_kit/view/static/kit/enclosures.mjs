// Frames around open parts: seen as soon as one of their boxes is, folded by a click on their name. For the eye and
// the mouse; the crumbs above the graph do the same by keys. Read next: graph_pane.mjs.

import { partsAround } from "./steps.mjs";

/** By place of a part, the step at which the first of its boxes appears. */
export function firstSteps(payload) {
  const steps = payload.parts.map(() => Infinity);
  for (const [id, { since }] of Object.entries(payload.nodes)) {
    for (const part of partsAround(payload, id)) {
      const k = payload.parts.indexOf(part);
      steps[k] = Math.min(steps[k], since);
    }
  }
  return steps;
}

/** The frames in a drawing. `fold` folds a part by its key; without it, and of a part that stays, there is no sign. */
export function partFrames(payload, drawing, fold) {
  const steps = firstSteps(payload);
  const marks = payload.parts.map((_, k) => [...drawing.querySelectorAll(`[data-part="${k}"]`)]);
  payload.parts.forEach(({ key, stays }, k) => {
    const name = marks[k].find((mark) => mark.matches("text"));
    if (!name) return;
    name.setAttribute("aria-hidden", "true");
    if (!fold || stays) return name.querySelector("tspan").remove();
    name.classList.add("adk-folds");
    name.addEventListener("click", () => fold(key));
  });
  return {
    show: (step) => marks.forEach((own, k) => own.forEach((mark) => mark.classList.toggle("adk-hidden", step < steps[k]))),
  };
}
