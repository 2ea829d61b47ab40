// The border between code and graph: dragged by mouse or moved by key, where they stand side by side. Read next: kit.mjs.

import { enlargement, make } from "./dom.mjs";
import { clamp } from "./steps.mjs";

const LEAST_PANE = 290; // px, of either side; kit.css says the same
const KEY_STEP_PX = 24;

/** Where the border may be in a stage of this width: px from its left side. */
export const dividerAt = (x, width) => clamp(x, LEAST_PANE, Math.max(LEAST_PANE, width - LEAST_PANE));

/** The border of a stage; `Home` or a double click gives it back to the layout. */
export function divider(stage) {
  const title = "Drag, or use the arrow keys; double click: as before";
  const says = { role: "separator", "aria-orientation": "vertical", "aria-label": "Border between code and graph", "aria-valuenow": 40 };
  const element = make("div", { class: "adk-divider", tabindex: "0", title, ...says });
  const now = () => stage.querySelector(".adk-source").offsetWidth; // the border is at its right side
  const tell = () => element.setAttribute("aria-valuenow", Math.round((100 * now()) / stage.offsetWidth));
  function move(x) {
    stage.style.setProperty("--adk-own-w", `${dividerAt(x, stage.offsetWidth)}px`);
    tell();
  }
  function reset() {
    stage.style.removeProperty("--adk-own-w");
    tell();
  }
  element.addEventListener("focus", tell);
  element.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    element.setPointerCapture(event.pointerId);
    event.preventDefault();
    element.focus({ preventScroll: true });
  });
  element.addEventListener("pointermove", (event) => {
    if (!element.hasPointerCapture(event.pointerId)) return;
    move((event.clientX - stage.getBoundingClientRect().left) / enlargement(stage));
  });
  element.addEventListener("dblclick", reset);
  element.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -KEY_STEP_PX, ArrowRight: KEY_STEP_PX }[event.key];
    if (step) move(now() + step);
    else if (event.key === "Home") reset();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return element;
}
