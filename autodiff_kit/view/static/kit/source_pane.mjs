// The pane with the learner's code. Read next: inspector_pane.mjs.

import { covers, segments, sideways, toWholeLines } from "./code.mjs";
import { enlargement, make, scrolling } from "./dom.mjs";

const LINE = 22; // px, height of a source line; kit.css says the same,
const GUTTER = [38, 62]; // and the width of its number, which stays in sight; with that of a place beside it,
const AROUND = { w: 14 + 1, h: 8 + 1 }; // and what is to the right and below: padding and border

/** The learner's code; `light` marks sub-expressions in it and scrolls to them within its own pane. */
export function sourcePane(payload, pick) {
  let gutter = GUTTER[Number(payload.frames.some(({ explanation }) => explanation))];
  const body = scrolling("adk-source-body", "Source");
  const numbers = []; // source -> line -> element
  const spans = []; // source -> line -> [{start, element}]
  const sheet = make("div", { class: "adk-lines" }); // as wide as the longest line
  body.append(sheet);
  if (!payload.sources.length) {
    const words = "No code to show: Python keeps no text of what is typed at its prompt, or comes from python -c or a pipe.";
    sheet.append(make("p", { class: "adk-no-source" }, words));
  }
  const places = new Map(); // element -> [source, line, column]
  const tops = []; // source -> px of its first line, known without asking the browser to lay out
  const wholes = [0]; // px where a line begins
  let top = 6;
  segments(payload).forEach((lines, s) => {
    const { name, first_line: first = 1 } = payload.sources[s];
    sheet.append(make("div", { class: "adk-source-name" }, name));
    top += LINE + 2;
    tops.push(top);
    numbers.push([]);
    spans.push(
      lines.map((parts, l) => {
        const row = parts.map(({ start, kind, text }) => {
          const element = make("span", { class: kind && `adk-${kind}` }, text);
          places.set(element, [s, l + 1, start]);
          return { start, element };
        });
        const number = make("span", { class: "adk-line-number", "aria-hidden": "true" }, String(first + l));
        const code = make("code", { class: "adk-code" }, ...row.map(({ element }) => element));
        numbers[s].push(number);
        sheet.append(make("div", { class: "adk-line" }, number, code));
        wholes.push(top + l * LINE);
        return row;
      }),
    );
    top += lines.length * LINE;
  });
  const longest = Math.max(0, ...payload.sources.flatMap(({ lines }) => lines.map((line) => [...line].length)));

  body.addEventListener("click", (event) => places.has(event.target) && pick(...places.get(event.target)));

  const lit = { "adk-lit": [], "adk-chosen": [], "adk-faulty": [], "adk-unrun": [] };
  let scrolledTo = "";
  // What is in sight, and how wide a character is: asking the browser in the midst of a step would cost a layout.
  const sight = { top: 0, left: 0, w: 0, h: 0, advance: 0 };
  body.addEventListener("scroll", () => ([sight.top, sight.left] = [body.scrollTop, body.scrollLeft]));
  function light(name, where) {
    lit[name].forEach((element) => element.classList.remove(name));
    lit[name] = [];
    if (where) add(name, where);
  }
  function add(name, where) {
    for (let line = where[1]; line <= where[3]; line += 1) {
      for (const { start, element } of spans[where[0]]?.[line - 1] ?? []) {
        if (covers(where, where[0], line, start)) lit[name].push(element);
      }
    }
    lit[name].forEach((element) => element.classList.add(name));
  }
  function scrollTo(where) {
    if (!where || !sight.h || String(where) === scrolledTo) return;
    scrolledTo = String(where);
    const [source, line, column, endLine, endColumn] = where;
    const y = tops[source] + (line - 1) * LINE;
    const top = toWholeLines(wholes, sight.top, sight.h, y, y + (endLine - line + 1) * LINE, 2 * LINE);
    const x = (column ?? 0) * sight.advance;
    const end = endLine === line && endColumn != null ? endColumn * sight.advance : x;
    const left = sideways(sight.w - gutter, x, end, 2 * sight.advance);
    if (top !== sight.top) body.scrollTop = sight.top = top;
    if (left !== sight.left) body.scrollLeft = sight.left = left;
  }
  return {
    element: make("section", { class: "adk-source" }, body),
    body,
    resize({ width, height }) {
      const line = body.querySelector(".adk-code > span");
      const advance = line ? line.getBoundingClientRect().width / [...line.textContent].length / enlargement(body) : 0;
      Object.assign(sight, { w: width, h: height, advance });
      scrolledTo = "";
      const last = top - 6 - height; // the furthest it scrolls, but for what makes the first line in sight a whole one
      sheet.style.paddingBottom = last > 0 ? `${(wholes.find((whole) => whole >= last) ?? last) - last}px` : "";
      const bar = body.offsetHeight - body.clientHeight; // where lines are too long even so
      return { width: Math.ceil(gutter + longest * advance) + AROUND.w, height: top + AROUND.h + bar };
    },
    /** Write the numbers of an explanation's places beside their lines; seen at the step that stops. */
    number(explanation) {
      for (const { where } of explanation?.places ?? []) if (where) add("adk-faulty", where);
      if (!explanation?.title) return; // a lone place has no number
      let most = 1; // numbers beside one line
      explanation.places.forEach(({ where }, i) => {
        const line = where && numbers[where[0]]?.[where[1] - 1];
        if (!line) return;
        const before = [...line.querySelectorAll("span")];
        const mark = make("span", { class: "adk-place-number" }, String(i + 1));
        if (before.length) before.at(-1).after(mark);
        else line.prepend(mark);
        most = Math.max(most, before.length + 1);
      });
      body.style.setProperty("--adk-places", most);
      gutter += 22 * (most - 1);
    },
    active: (where) => (light("adk-lit", where), scrollTo(where)),
    /** Strike out what did not run. */
    unrun: (where) => light("adk-unrun", where),
    chosen: (where, follow) => (light("adk-chosen", where), follow && scrollTo(where)),
  };
}
