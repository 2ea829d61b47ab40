// A "?" in the head of a widget, and the help that it opens over it: one design for all widgets of the kit.
// Read next: help_box.mjs, what the Stepper has in it.

import { button, make } from "./dom.mjs";

/** A row of the help: keys, or a mark with its look, or a name; and what it means. */
export const keyRow = (keys, words) => row(keys.flatMap((key) => [make("kbd", {}, key), " "]), words);
export const markRow = (text, look, words) => row([make("span", { class: look }, text)], words);
export const nameRow = (name, words) => row([make("code", {}, name)], words);
const row = (head, words) => make("tr", {}, make("th", { scope: "row" }, ...head), make("td", {}, words));

/** The button and the panel; `sections` are pairs of a title and its rows, `onOpen` is called each time it opens. */
export function helpPanel(sections, label, onOpen = () => {}) {
  const opener = button("help", label, "?");
  opener.setAttribute("aria-expanded", "false");
  const close = make("button", { type: "button", class: "adk-help-close" }, "Close");
  const panel = make("section", { class: "adk-help-panel adk-gone", role: "dialog", "aria-label": "Help", tabindex: "-1" });
  function fill(list) {
    const tables = list.filter(([, rows]) => rows.length);
    const parts = tables.flatMap(([title, rows]) => [make("h4", {}, title), make("table", {}, make("tbody", {}, ...rows))]);
    panel.replaceChildren(...parts, close);
  }
  const isOpen = () => !panel.classList.contains("adk-gone");
  function toggle(open = !isOpen()) {
    panel.classList.toggle("adk-gone", !open);
    opener.setAttribute("aria-expanded", String(open));
    (open ? panel : opener).focus({ preventScroll: true });
    if (open) onOpen();
  }
  /** Whether a key was one of the help's own: `?` opens and closes it, Esc closes it. */
  function isKey(key) {
    const isOwn = key === "?" || (key === "Escape" && isOpen());
    if (isOwn) toggle(key === "?" ? undefined : false);
    return isOwn;
  }
  opener.addEventListener("click", () => toggle());
  close.addEventListener("click", () => toggle(false));
  fill(sections);
  return { opener, panel, fill, isKey };
}
