// Lines to be put in order: by mouse, by touch and by keyboard. Read first: rows.mjs. Read next: gaps.mjs.

import { make } from "../../view/static/kit/dom.mjs";
import { code, given, mark, numberOf } from "./rows.mjs";

const KEYS = "Enter moves a line over. There: Shift+↑ ↓ move it, ← → move it out and in, Delete takes it back.";
const TAB = 26; // px that a level is drawn as while a line is dragged
const MOST_LEVELS = 8;

const action = (sign, label, act) => {
  const element = make("button", { type: "button", class: "adk-puzzle-tool", "aria-label": label, title: label }, sign);
  element.addEventListener("click", act);
  return element;
};

/** The board of one part: what it shows, what was answered so far, and what an answer lacks. */
export function linesOf(part, { answer, keep, tell }) {
  const texts = new Map(part.lines.map(({ id, text }) => [id, text]));
  // What was put where: {section, id, level}, in its order.
  let placed = (answer ?? []).map(([section, id, level]) => ({ section, id, level }));
  let selected = null; // the id of a line in the program
  let chosen = null; // the section in which one writes on, where it has no line yet
  const pool = make("ul", { class: "adk-puzzle-pool", "aria-label": "Lines to choose from" });
  const program = make("ol", { class: "adk-puzzle-program", "aria-label": "Your code" });
  const tools = make("div", { class: "adk-puzzle-tools", role: "group", "aria-label": "The chosen line" },
    action("↑", "Move up", () => move(selected, -1)),
    action("↓", "Move down", () => move(selected, 1)),
    action("⇤", "Move out", () => indent(selected, -1)),
    action("⇥", "Move in", () => indent(selected, 1)),
    action("✕", "Take back", () => takeBack(selected)));
  const columns = make("div", { class: "adk-puzzle-columns" },
    make("section", { "aria-label": "Lines" }, make("div", { class: "adk-puzzle-heading" }, "Lines"), pool,
      make("p", { class: "adk-puzzle-note" }, "Some of them are wrong, and are not needed.")),
    make("section", { "aria-label": "Code" },
      make("div", { class: "adk-puzzle-head" }, make("div", { class: "adk-puzzle-heading" }, "Your code"), tools), program));
  const element = make("div", {}, columns, make("p", { class: "adk-puzzle-note adk-puzzle-keys" }, KEYS));

  const at = (id) => placed.findIndex((line) => line.id === id);
  const words = (id) => {
    const index = at(id);
    const { level } = placed[index];
    const depth = ["not indented", "1 level in"][level] ?? `${level} levels in`;
    return `${texts.get(id)}, line ${index + 1} of ${placed.length}, ${depth}`;
  };
  const opens = (id) => texts.get(id).trimEnd().endsWith(":");

  function levelBehind(before) {
    return before ? Math.min(before.level + opens(before.id), MOST_LEVELS) : 0;
  }
  function changed(focus, told) {
    draw();
    if (focus) (element.querySelector(`[data-id="${focus}"]`) ?? program).focus?.();
    if (told) tell(told);
    keep(value());
  }
  function add(id, section, index, level) {
    placed.splice(index, 0, { section, id, level });
    selected = id;
    chosen = null;
  }
  const isEmpty = (section) => section < part.sections.length && !placed.some((line) => line.section === section);

  /** Behind the chosen line, else at the end; behind a return that ends a function, in the next one. */
  function takeOver(id) {
    const behind = at(selected) >= 0 ? at(selected) : placed.length - 1;
    let before = placed[behind];
    const isOver = before && before.level === 0 && texts.get(before.id).startsWith("return");
    if (chosen === null && isOver && isEmpty(before.section + 1)) chosen = before.section + 1;
    let place = behind + 1;
    if (chosen !== null) {
      before = { section: chosen, level: 0, id };
      place = placed.findIndex((line) => line.section > chosen);
      if (place < 0) place = placed.length;
    }
    const next = pool.querySelector(`[data-id="${id}"]`)?.closest("li");
    const neighbour = (next?.nextElementSibling ?? next?.previousElementSibling)?.querySelector("button")?.dataset.id;
    add(id, before?.section ?? 0, place, chosen === null ? levelBehind(before) : 0);
    changed(neighbour ?? id, words(id));
  }
  function takeBack(id) {
    const index = at(id);
    if (index < 0) return;
    placed.splice(index, 1);
    selected = placed[Math.min(index, placed.length - 1)]?.id ?? null;
    changed(selected ?? id, `${texts.get(id)}: taken back`);
  }
  function indent(id, by) {
    const line = placed[at(id)];
    if (!line) return;
    line.level = Math.min(Math.max(line.level + by, 0), MOST_LEVELS);
    changed(id, words(id));
  }
  /** One place up or down; at the border of a section, over what is given there. */
  function move(id, by) {
    const index = at(id);
    const line = placed[index];
    if (!line) return;
    const other = placed[index + by];
    if (other && other.section === line.section) placed.splice(index + by, 0, ...placed.splice(index, 1));
    else if (line.section + by >= 0 && line.section + by < part.sections.length) line.section += by;
    else return;
    changed(id, words(id));
  }

  function rowOf(line, number) {
    const text = texts.get(line.id);
    const id = line.id;
    const style = `--adk-level: ${line.level}`;
    const button = make("button", {
      type: "button", class: "adk-puzzle-line", "data-id": id, "aria-label": words(id), style,
      "aria-pressed": String(selected === id),
    }, code(text));
    const choose = () => {
      selected = id;
      chosen = null;
      select();
    };
    button.addEventListener("click", choose);
    button.addEventListener("focus", choose);
    button.addEventListener("keydown", (event) => {
      const way = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const isUpOrDown = event.key === "ArrowUp" || event.key === "ArrowDown";
      if (event.key === "Delete" || event.key === "Backspace") takeBack(id);
      else if (isUpOrDown && (event.shiftKey || event.altKey)) move(id, way);
      else if (isUpOrDown) program.querySelector(`[data-id="${placed[at(id) + way]?.id}"]`)?.focus();
      else if (way) indent(id, way);
      else return;
      event.preventDefault();
    });
    draggable(button, id);
    const height = text.split("\n").length;
    return make("li", { "data-line": number, "data-height": height }, numberOf(number), button);
  }

  function poolRow(id) {
    const button = make("button", { type: "button", class: "adk-puzzle-line", "data-id": id }, code(texts.get(id)));
    button.addEventListener("click", () => takeOver(id));
    button.addEventListener("keydown", (event) => {
      const way = { ArrowUp: "previousElementSibling", ArrowDown: "nextElementSibling" }[event.key];
      if (!way) return;
      event.preventDefault();
      button.closest("li")[way]?.querySelector("button").focus();
    });
    draggable(button, id);
    return make("li", {}, button);
  }

  function select() {
    for (const button of program.querySelectorAll("button")) {
      const { id, section } = button.dataset;
      const isIt = chosen === null ? id !== undefined && id === selected : section === String(chosen);
      button.setAttribute("aria-pressed", String(isIt));
    }
    for (const tool of tools.children) tool.disabled = at(selected) < 0;
  }

  function draw() {
    const used = new Set(placed.map((line) => line.id));
    pool.replaceChildren(...part.lines.filter(({ id }) => !used.has(id)).map(({ id }) => poolRow(id)));
    placed = part.sections.flatMap((_, section) => placed.filter((line) => line.section === section));
    program.replaceChildren();
    let number = 1;
    part.sections.forEach((section, index) => {
      number = given(program, section.above, number);
      const here = placed.filter((line) => line.section === index);
      for (const line of here) {
        const row = rowOf(line, number);
        row.style.setProperty("--adk-base", section.level);
        program.append(row);
        number += Number(row.dataset.height);
      }
      if (!here.length) {
        const space = make("button", { type: "button", class: "adk-puzzle-space", "data-section": index }, "your lines");
        space.addEventListener("click", () => {
          [chosen, selected] = [index, null];
          select();
        });
        const empty = make("li", { class: "adk-puzzle-empty", "data-line": number }, numberOf(number), space);
        empty.style.setProperty("--adk-base", section.level);
        program.append(empty);
        number += 1;
      }
    });
    select();
  }

  // By mouse and by finger: a line follows the pointer; how far to the right it is dropped says how far in it stands.
  function draggable(button, id) {
    let start = null;
    let target = null;
    const slot = make("li", { class: "adk-puzzle-slot", "aria-hidden": "true" });
    const end = () => {
      slot.remove();
      button.classList.remove("adk-puzzle-dragged");
      button.style.transform = "";
      start = target = null;
    };
    button.addEventListener("pointerdown", (event) => {
      if (event.button === 0) start = { x: event.clientX, y: event.clientY, isMoving: false };
    });
    button.addEventListener("pointermove", (event) => {
      if (!start) return;
      const [dx, dy] = [event.clientX - start.x, event.clientY - start.y];
      if (!start.isMoving && Math.hypot(dx, dy) < 8) return;
      if (!start.isMoving) button.setPointerCapture(event.pointerId);
      start.isMoving = true;
      button.classList.add("adk-puzzle-dragged");
      button.style.transform = `translate(${dx}px, ${dy}px)`;
      target = placeAt(event.clientX, event.clientY, id, start);
      if (!target) return slot.remove();
      slot.style.setProperty("--adk-base", part.sections[target.section].level);
      slot.style.setProperty("--adk-level", target.level);
      target.row.after(slot);
    });
    button.addEventListener("pointerup", () => {
      const [isMoving, place] = [start?.isMoving, target];
      end();
      if (!isMoving) return;
      button.addEventListener("click", (event) => event.stopImmediatePropagation(), { capture: true, once: true });
      const old = at(id);
      if (!place) return old >= 0 ? takeBack(id) : undefined;
      if (old >= 0) placed.splice(old, 1);
      const index = place.after ? at(place.after) + 1 : placed.findIndex((line) => line.section >= place.section);
      add(id, place.section, index < 0 ? placed.length : index, place.level);
      changed(id, words(id));
    });
    button.addEventListener("pointercancel", end);
  }

  /** Where a line would land: behind which row, in which section, how far in. */
  function placeAt(x, y, id, start) {
    const box = program.getBoundingClientRect();
    if (x < box.left || x > box.right || y < box.top - 20 || y > box.bottom + 20) return null;
    let [row, after, section] = [null, null, 0];
    let given = -1;
    for (const item of program.querySelectorAll("[data-line]")) {
      const { top, height } = item.getBoundingClientRect();
      const own = item.querySelector("[data-id]")?.dataset.id;
      if (own === id) continue;
      if (row && top + height / 2 > y) break;
      const isGiven = item.classList.contains("adk-puzzle-given");
      if (isGiven && !row?.classList.contains("adk-puzzle-given")) given += 1;
      [row, after, section] = [item, own ?? null, Math.max(given, 0)];
    }
    // Within given code there is no place: behind all of it.
    while (row?.nextElementSibling?.classList.contains("adk-puzzle-given")
      && row.classList.contains("adk-puzzle-given")) row = row.nextElementSibling;
    const before = placed[at(after)];
    const old = placed[at(id)];
    const from = old ? old.level : levelBehind(before);
    const moved = Math.round((x - start.x) / TAB);
    const level = old ? Math.min(Math.max(from + moved, 0), MOST_LEVELS) : from;
    return row && { row, after, section, level };
  }

  const value = () => placed.map(({ section, id, level }) => [section, id, level]);
  draw();
  const lacks = () => (placed.length ? "" : "Put lines into your code first.");
  return { element, answer: value, lacks, mark: (line) => mark(program, line) };
}
