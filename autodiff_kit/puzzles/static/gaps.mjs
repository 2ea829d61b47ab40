// Gaps in code, each filled by one of several choices. Read first: rows.mjs. Read next: puzzle.js.

import { make } from "../../view/static/kit/dom.mjs";
import { code, given, mark, numberOf } from "./rows.mjs";

/** The board of one part, as in lines.mjs. */
export function gapsOf(part, { answer, keep }) {
  const program = make("ol", { class: "adk-puzzle-program", "aria-label": "The code" });
  const fields = [];
  let number = 1;
  part.sections.forEach((section, index) => {
    number = given(program, section.above, number);
    for (const { level, pieces } of part.rows.filter((row) => row.section === index)) {
      const row = make("li", { "data-line": number, "data-height": pieces.join("").split("\n").length },
        numberOf(number));
      row.style.setProperty("--adk-base", section.level);
      const content = make("span", { class: "adk-puzzle-text", style: `--adk-level: ${level}` });
      for (const piece of pieces) content.append(typeof piece === "number" ? gap(piece, number) : code(piece));
      row.append(content);
      program.append(row);
      number += Number(row.dataset.height);
    }
  });

  function gap(index, line) {
    const field = make("select", { class: "adk-puzzle-gap", "aria-label": `Gap ${index + 1}, line ${line}` },
      make("option", { value: "" }, "choose…"),
      ...part.choices[index].map((choice) => make("option", { value: choice }, choice)));
    field.value = answer?.[index] ?? "";
    field.addEventListener("change", () => {
      if (fields.every((other) => other.value)) keep(value());
      field.classList.toggle("adk-puzzle-open", !field.value);
    });
    field.classList.toggle("adk-puzzle-open", !field.value);
    fields[index] = field;
    return field;
  }
  const value = () => fields.map((field) => field.value);
  const lacks = () => (fields.every((field) => field.value) ? "" : "Choose something in every gap first.");
  return { element: make("div", {}, program), answer: value, lacks, mark: (line) => mark(program, line) };
}
