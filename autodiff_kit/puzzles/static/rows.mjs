// Rows of code in a puzzle: each with its number; one of them may be marked. Read next: lines.mjs.

import { tokens } from "../../view/static/kit/code.mjs";
import { make } from "../../view/static/kit/dom.mjs";

/** A text of Python in the colours of its tokens. */
export function code(text) {
  const element = make("code", {});
  const letters = [...text]; // code points, as `tokens` counts them
  let at = 0;
  for (const [start, stop, kind] of tokens(text)) {
    const word = letters.slice(start, stop).join("");
    element.append(letters.slice(at, start).join(""), make("span", { class: `adk-${kind}` }, word));
    at = stop;
  }
  element.append(letters.slice(at).join(""));
  return element;
}

/** The number in front of a row. */
export const numberOf = (line) => make("span", { class: "adk-puzzle-number", "aria-hidden": "true" }, String(line));

/** Rows of given code, each with its number; returns the next number. */
export function given(list, text, line) {
  for (const row of text.split("\n")) {
    const begins = line > 1 && /^\s*(def|class) /.test(row) ? " adk-puzzle-begins" : "";
    list.append(make("li", { class: `adk-puzzle-given${begins}`, "data-line": line }, numberOf(line), code(row)));
    line += 1;
  }
  return line;
}

/** Marks the row in which a line is; with 0, none. */
export function mark(list, line) {
  for (const row of list.querySelectorAll("[data-line]")) {
    const first = Number(row.dataset.line);
    const isIt = line >= first && line < first + Number(row.dataset.height ?? 1);
    row.classList.toggle("adk-puzzle-here", Boolean(line) && isIt);
  }
}
