// The pane with the learner's code. Read next: inspector_pane.mjs.

import { covers, hanging, segments, toWholeLines } from "./code.mjs";
import { enlargement, make, scrolling } from "./dom.mjs";

const LINE = 22; // px, height of a row of source; kit.css says the same,
const GUTTER = [38, 62]; // and the width of its number; with that of a place beside it,
const AROUND = { w: 14 + 1, h: 8 + 1 }; // and what is to the right and below: padding and border,
const ABOVE = 6; // and above

/** The learner's code; `light` marks sub-expressions in it and scrolls to them within its own pane. */
export function sourcePane(payload, pick) {
  let gutter = GUTTER[Number(payload.frames.some(({ explanation }) => explanation))];
  const body = scrolling("adk-source-body", "Source");
  const numbers = []; // source -> line -> element
  const spans = []; // source -> line -> [{start, element}]
  const rows = []; // source -> line -> {element, top, height}, px; a long line is continued on rows below it
  const sheet = make("div", { class: "adk-lines" });
  body.append(sheet);
  if (!payload.sources.length) {
    const words = "No code to show: Python keeps no text of what is typed at its prompt, or comes from python -c or a pipe.";
    sheet.append(make("p", { class: "adk-no-source" }, words));
  }
  const places = new Map(); // element -> [source, line, column]
  let wholes = [0]; // px where a row begins
  segments(payload).forEach((lines, s) => {
    const { name, first_line: first = 1 } = payload.sources[s];
    sheet.append(make("div", { class: "adk-source-name" }, name));
    numbers.push([]);
    rows.push([]);
    spans.push(
      lines.map((parts, l) => {
        const row = parts.map(({ start, kind, text }) => {
          const element = make("span", { class: kind && `adk-${kind}` }, text);
          places.set(element, [s, l + 1, start]);
          return { start, element, top: 0, height: LINE };
        });
        const number = make("span", { class: "adk-line-number", "aria-hidden": "true" }, String(first + l));
        const code = make("code", { class: "adk-code" }, ...row.map(({ element }) => element));
        code.style.setProperty("--adk-hang", hanging(payload.sources[s].lines[l]));
        numbers[s].push(number);
        const element = make("div", { class: "adk-line" }, number, code);
        rows[s].push({ element, top: 0, height: LINE });
        sheet.append(element);
        return row;
      }),
    );
  });
  const longest = Math.max(0, ...payload.sources.flatMap(({ lines }) => lines.map((line) => [...line].length)));

  body.addEventListener("click", (event) => places.has(event.target) && pick(...places.get(event.target)));

  const lit = { "adk-lit": [], "adk-chosen": [], "adk-faulty": [], "adk-unrun": [] };
  let scrolledTo = "";
  // What is in sight, and where lines lie: asking the browser in the midst of a step would cost a layout.
  const sight = { top: 0, h: 0 };
  body.addEventListener("scroll", () => (sight.top = body.scrollTop));
  /** Ask the browser where the rows lie in a pane of this width. */
  function measure() {
    wholes = [0];
    rows.forEach((lines, s) =>
      lines.forEach((line, l) => {
        [line.top, line.height] = [ABOVE + line.element.offsetTop, line.element.offsetHeight];
        for (let at = line.top; at < line.top + line.height - 1; at += LINE) wholes.push(at);
        for (const span of spans[s][l]) {
          const isOne = line.height < 1.5 * LINE;
          span.top = isOne ? line.top : ABOVE + span.element.offsetTop;
          span.height = isOne ? line.height : span.element.offsetHeight;
        }
      }),
    );
  }
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
    const [source, line, , endLine] = where;
    const lines = rows[source]?.slice(line - 1, endLine) ?? [];
    const parts = lines.flatMap((_, l) => spans[source][line - 1 + l].filter(({ start }) => covers(where, source, line + l, start)));
    const shown = parts.length ? parts : lines; // an empty line has no parts
    if (!shown.length) return;
    const start = Math.min(...shown.map(({ top }) => top));
    const end = Math.max(...shown.map(({ top, height }) => top + height));
    const top = toWholeLines(wholes, sight.top, sight.h, start, end, 2 * LINE);
    if (top !== sight.top) body.scrollTop = sight.top = top;
  }
  return {
    element: make("section", { class: "adk-source" }, body),
    body,
    resize({ height }) {
      const line = body.querySelector(".adk-code > span");
      const text = line && document.createRange();
      text?.setStart(line.firstChild, 0);
      text?.setEnd(line.firstChild, 1);
      const advance = text ? text.getBoundingClientRect().width / enlargement(body) : 0; // of one character
      sheet.style.paddingBottom = "";
      measure();
      sight.h = height;
      scrolledTo = "";
      const bottom = ABOVE + sheet.offsetHeight;
      const last = bottom - ABOVE - height; // the furthest it scrolls, but for what makes the first row in sight a whole one
      sheet.style.paddingBottom = last > 0 ? `${(wholes.find((whole) => whole >= last) ?? last) - last}px` : "";
      return { width: Math.ceil(gutter + longest * advance) + AROUND.w, height: bottom + AROUND.h };
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
