// Which keys are the widget's: the one place for it, for every widget of the kit. Read next: dom.mjs.

/** Keys that stay Jupyter's also inside of a widget: Ctrl+S saves, Shift+Enter runs the cell. */
const areJupyters = ({ ctrlKey, metaKey, shiftKey, key }) => ctrlKey || metaKey || (shiftKey && key === "Enter");

const MARK = "data-lm-suppress-shortcuts";
const EARLY = { capture: true };

/**
 * Keep the keys that are pressed inside of `root` from JupyterLab and Notebook, which would move the selection of
 * cells or run a command. They listen at the document, before anybody in it, and pass over what carries the mark
 * itself. The window is asked even earlier: whatever has the focus carries the mark just while they look.
 * A click anywhere in `root` gives it the keys. Events of which `isOwn` says so are the widget's in any case.
 * Returns a function that ends all this.
 */
export function ownKeys(root, isOwn = () => false) {
  const passes = (event) => areJupyters(event) && !isOwn(event);
  const mark = (event) => {
    if (root.contains(event.target) && !passes(event)) event.target.setAttribute(MARK, "true");
  };
  const unmark = (event) => event.target.removeAttribute(MARK);
  const keep = (event) => passes(event) || event.stopPropagation();
  root.tabIndex = -1;
  root.style.outline = "none"; // what has the focus inside of it has a ring of its own
  window.addEventListener("keydown", mark, EARLY);
  root.addEventListener("keydown", unmark, EARLY);
  root.addEventListener("keydown", keep);
  return () => {
    window.removeEventListener("keydown", mark, EARLY);
    root.removeEventListener("keydown", unmark, EARLY);
    root.removeEventListener("keydown", keep);
  };
}

/** Whether a page has the keys, and nothing in it has them yet. In a frame it must not take them from what is around. */
export const hasKeys = () =>
  document.activeElement === document.body && (window.parent === window || document.hasFocus());
