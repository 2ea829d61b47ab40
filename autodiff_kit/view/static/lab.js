// lab.js - the line of words between a lab's controls and its picture, and what those controls lack by themselves.
//
// After reading you know why the arrow keys reach a slider of a lab: JupyterLab and Notebook take them away from
// anything that does not carry `data-lm-suppress-shortcuts` itself. Python says the words; see widgets/lab.py.

const FOCUSABLE = "input, select, textarea, button, [role=slider], [contenteditable]";

/** The words of the label beside a control; a slider of ipywidgets does not know its own. */
export const labelOf = (element) =>
  element.closest(".jupyter-widgets.widget-inline-hbox")?.querySelector(".widget-label")?.textContent.trim() ?? "";

/** Give every control of a lab its keys, and each slider its name. */
export function equip(lab) {
  for (const element of lab.querySelectorAll(FOCUSABLE)) {
    if (!element.dataset.lmSuppressShortcuts) element.dataset.lmSuppressShortcuts = "true";
    const nameless = element.matches("[role=slider]") && !element.hasAttribute("aria-label");
    if (nameless && labelOf(element)) element.setAttribute("aria-label", labelOf(element));
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
  const watch = new MutationObserver(() => equip(lab));
  const frame = requestAnimationFrame(() => {
    lab = el.closest(".adk-lab");
    if (!lab) return;
    equip(lab);
    watch.observe(lab, { childList: true, subtree: true });
  });
  return () => {
    model.off("change:words", say);
    cancelAnimationFrame(frame);
    watch.disconnect();
  };
}

export default { render };
