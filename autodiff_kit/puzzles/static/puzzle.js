// puzzle.js - a puzzle of several parts: lines to be put in order (lines.mjs), or gaps to be filled (gaps.mjs).
//
// Python sends the lines (trait `task`) and what came of an answer (`state`), judges, and keeps. This file sends
// {part, answer}, {part, answer, keep: true} or {part, again: true}. Nothing here asks the network.

import { make } from "../../view/static/kit/dom.mjs";
import { ownKeys } from "../../view/static/kit/keys.mjs";
import { gapsOf } from "./gaps.mjs";
import { linesOf } from "./lines.mjs";

const PATIENCE = 30000; // ms until we say that Python does not answer; an infinite loop takes its time
const SILENCE =
  "Python has not answered. If it was restarted, or the notebook was opened again, since this cell was run: run the " +
  "cell again (Shift+Enter). Otherwise wait until the cell that is running has ended.";

/** What both kinds of puzzle share: the parts, the buttons, and what Python says. */
function frame(model, root) {
  const { parts, title, note } = model.get("task");
  const says = make("div", { class: "adk-puzzle-says", role: "status", "aria-live": "polite" });
  const told = make("div", { class: "adk-puzzle-told", role: "status", "aria-live": "polite" });
  const tabs = parts.map((part, number) => {
    const tab = make("button", { type: "button", class: "adk-puzzle-tab" }, part.names.join(", "));
    tab.addEventListener("click", () => show(number));
    return tab;
  });
  const check = make("button", { type: "button", class: "adk-puzzle-button adk-puzzle-check" }, "Check");
  const again = make("button", { type: "button", class: "adk-puzzle-button" }, "Begin again");
  const work = make("div", { class: "adk-puzzle-work" });
  const bar = make("div", { class: "adk-puzzle-tabs", role: "group", "aria-label": "Parts" }, ...tabs);
  root.append(
    make("div", { class: "adk-puzzle-title" }, title),
    ...(parts.length > 1 ? [bar] : []),
    work,
    make("div", { class: "adk-puzzle-buttons" }, check, again),
    says,
    told,
    ...(note ? [make("p", { class: "adk-puzzle-note" }, note)] : []),
  );
  const kind = model.get("task").kind === "gaps" ? gapsOf : linesOf;
  let current = 0;
  let board;
  let waiting = 0;
  let wanted = false;

  function send(content) {
    try {
      model.send({ part: current, ...content });
    } catch {
      silent(); // the kernel is gone
    }
  }
  function silent() {
    says.dataset.outcome = "";
    says.textContent = SILENCE;
  }
  function ask(content) {
    clearTimeout(waiting);
    waiting = setTimeout(silent, PATIENCE);
    wanted = true;
    says.dataset.outcome = "";
    says.textContent = content.again ? "" : "checking…";
    send(content);
  }
  function show(number) {
    current = number;
    board = kind(model.get("task").parts[number], {
      answer: model.get("state").parts[number].answer,
      keep: (answer) => (stale(), send({ keep: true, answer })),
      tell: (words) => (told.textContent = words),
    });
    work.replaceChildren(board.element);
    tell();
  }
  /** What was said is about lines that have changed since. */
  function stale() {
    says.dataset.stale = "";
    board.mark(0);
  }
  function tell() {
    clearTimeout(waiting);
    const { parts: states } = model.get("state");
    tabs.forEach((tab, number) => {
      tab.setAttribute("aria-pressed", String(number === current));
      tab.textContent = parts[number].names.join(", ") + (states[number].solved ? " ✓" : "");
    });
    const { outcome, text, picture, line } = states[current];
    delete says.dataset.stale;
    says.dataset.outcome = outcome;
    says.replaceChildren();
    if (outcome) {
      const sign = outcome === "right" ? "✓ Right" : "✗ Not yet";
      says.append(make("strong", {}, sign));
      const words = make("div", {});
      words.innerHTML = outcome === "right" ? "" : text + picture;
      says.append(words);
    }
    if (outcome === "right") {
      const names = parts[current].names.join(" and ");
      says.append(make("p", {}, "Your code does what it should, for all inputs that were drawn now. "
        + `Now write ${names} yourself, without looking: in the exercise's own cell.`));
    }
    board.mark(outcome === "wrong" ? line : 0);
    if (wanted) says.scrollIntoView({ block: "nearest" });
    wanted = false;
  }
  const replied = () => tell();
  const renewed = () => show(current);
  check.addEventListener("click", () => {
    const lacks = board.lacks();
    if (!lacks) return ask({ answer: board.answer() });
    says.dataset.outcome = "";
    says.textContent = lacks;
  });
  again.addEventListener("click", () => {
    ask({ again: true });
    told.textContent = "All lines are back.";
  });
  model.on("change:task", renewed);
  let count = -1;
  const onState = () => {
    const state = model.get("state");
    if (state.parts[current].answer === null && !state.parts[current].outcome) show(current);
    else if (state.count !== count) replied();
    count = state.count;
  };
  model.on("change:state", onState);
  show(0);
  return () => {
    clearTimeout(waiting);
    model.off("change:task", renewed);
    model.off("change:state", onState);
  };
}

function render({ model, el }) {
  const root = make("div", { class: "adk-root adk-puzzle", role: "group", "aria-label": model.get("task").title });
  el.append(root);
  const end = frame(model, root);
  const endKeys = ownKeys(root, ({ key, target }) => key === "Enter" && target.matches("button"));
  return () => {
    end();
    endKeys();
  };
}

export default { render };
