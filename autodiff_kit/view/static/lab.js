// lab.js - the line of words between a lab's controls and its picture, and what those controls lack by themselves.
//
// After reading you know how a slider of ipywidgets gets its keys and its name. Python says the words; see
// widgets/lab.py.

import { ownKeys } from "./kit/keys.mjs";

/** The words of the label beside a control; a slider of ipywidgets does not know its own. */
export const labelOf = (element) =>
  element.closest(".jupyter-widgets.widget-inline-hbox")?.querySelector(".widget-label")?.textContent.trim() ?? "";

/** Give each slider of a lab its name. */
export function equip(lab) {
  for (const slider of lab.querySelectorAll("[role=slider]:not([aria-label])")) {
    if (labelOf(slider)) slider.setAttribute("aria-label", labelOf(slider));
  }
}

function render({ model, el }) {
  const words = document.createElement("div");
  words.className = "adk-lab-message";
  words.setAttribute("role", "alert");
  el.append(words);
  const say = () => {
    words.textContent = model.get("words");
    words.hidden = !words.textContent;
  };
  model.on("change:words", say);
  say();

  // The controls are put into the page at about the same time, some of them later than this.
  let lab = null;
  let endKeys = null;
  const watch = new MutationObserver(() => equip(lab));
  const frame = requestAnimationFrame(() => {
    lab = el.closest(".adk-lab");
    if (!lab) return;
    equip(lab);
    endKeys = ownKeys(lab);
    watch.observe(lab, { childList: true, subtree: true });
  });
  return () => {
    model.off("change:words", say);
    cancelAnimationFrame(frame);
    watch.disconnect();
    endKeys?.();
  };
}

export default { render };
