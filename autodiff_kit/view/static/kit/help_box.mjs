// What the marks mean and which keys there are; and one line for those who see a Stepper for the first time.
// Read next: kit.mjs.

import { make } from "./dom.mjs";
import { helpPanel, keyRow, markRow } from "./help_panel.mjs";

const KEYS = [
  ["n", "p", "next step, step before"],
  ["N", "P", "next or earlier step about the selected box"],
  ["Tab, arrows", "", "go to the graph, and from box to box"],
  ["Enter", "", "open a folded box, or keep another one in the inspector; Esc lets it go"],
  ["u", "f", "open the selected box if it is folded; fold the group it is in"],
  ["/", "", "find a node"],
  ["+", "-", "zoom; 0 shows as much as can be read, and again 0 the whole graph"],
  ["?", "", "this help"],
];
const MARKS = [
  ["2.", "adk-mark-value", "A value: it was computed forward."],
  ["3.", "adk-mark-gradient", "A gradient: it was computed backward."],
  ["dy/dx = 3.", "adk-mark-slope", "A local slope: how fast y grows with x alone."],
  ["1. × 3. = 3.", "adk-mark-sent", "What arrives at x: the gradient of y times the slope. The parts add up in x."],
  [
    "d(x * ·)/dx",
    "adk-mark-slope",
    "The slope for one use of x, where x is used more than once: the dot stands for the other factor, held still.",
  ],
  ["leaf", "adk-mark-leaf", "Round: a tensor that you made, a leaf or data. Dashed: not recorded; no gradient flows there."],
];

const SEEN = "autodiff-kit-hint-seen"; // in what the browser stores for this page's host

function stored(action) {
  try {
    return action(localStorage);
  } catch {
    return "?"; // storing is not allowed: then better no hint than one each time
  }
}

/** A button for the head, and the help that it opens; where Python is, steps are found by a condition. */
export function helpBox(root, hasPython) {
  const keys = KEYS.map(([key, other, words]) => {
    const more = key === "/" && hasPython ? ", or a step by a condition" : "";
    return keyRow([key, other].filter(Boolean), words + more);
  });
  const marks = MARKS.map(([text, look, words]) => markRow(text, look, words));
  const sections = [["What you see", marks], ["Keys", keys]];
  const help = helpPanel(sections, "Help: keys and marks", dismiss);

  let hint = null;
  function dismiss() {
    if (hint == null) return;
    stored((store) => store.setItem(SEEN, "yes"));
    document.querySelectorAll(".adk-welcome").forEach((one) => one.remove());
    hint = null;
  }
  /** Greet those who have never seen a Stepper here, in the first one of a page. */
  function greet(place) {
    if (document.querySelector(".adk-welcome") || stored((store) => store.getItem(SEEN)) != null) return;
    const done = make("button", { type: "button", class: "adk-welcome-done" }, "Got it");
    const words = "Step with n and p or the buttons below. Click a box, or code, to look into it.";
    hint = make("div", { class: "adk-welcome" }, make("p", {}, words), done);
    done.addEventListener("click", () => {
      dismiss();
      root.querySelector(".adk-range")?.focus({ preventScroll: true });
    });
    place.append(hint);
  }
  return { ...help, greet, dismiss };
}
