// lab.mjs - a lab is one card: its heading, its controls, what went wrong, its pictures, its words, its Stepper.
//
// After reading you know what goes back and forth. The browser counts how often each control was moved and sends that
// with the value (`_moves`); Python answers with the picture, with what all controls are set to (`state`), and with
// the counts that it has dealt with (`_answered`). So what a learner has just set stays on the screen until Python
// has seen it, and two changes in quick succession cannot undo each other. Read next: controls.mjs, ../canvas.js.

import board from "../canvas.js";
import viewer from "../kit/kit.mjs";
import { make } from "../kit/dom.mjs";
import { helpPanel, keyRow, nameRow } from "../kit/help_panel.mjs";
import { ownKeys } from "../kit/keys.mjs";
import { control } from "./controls.mjs";

const KEYS = [
  [["Tab"], "to the next control, or to what can be picked or dragged in the picture", () => true],
  [["←", "→"], "on a slider or a point: one step; PageUp and PageDown go further, Home and End to the ends of a slider", (kinds) => kinds.has("slider")],
  [["Enter"], "take the number or text that you typed; beside a slider, too", (kinds) => ["slider", "number", "text"].some((kind) => kinds.has(kind))],
  [["Space"], "turn a switch, or press a button", (kinds) => kinds.has("switch") || kinds.has("button")],
  [["?"], "this help; Esc closes it", () => true],
];
const BUSY = [400, 8000]; // ms without an answer: then it is said that Python works; and that it may be gone

/** What a control is to show: what it was set to here, until Python has answered that; then what Python says. */
export const current = (name, moves, answered, state) =>
  (moves[name]?.[0] ?? 0) > (answered[name] ?? 0) ? moves[name][1] : state[name];

/** Whether Python has still to answer. */
export const isWaiting = (moves, answered) =>
  Object.entries(moves).some(([name, [count]]) => count > (answered[name] ?? 0));

/** A part of the model under other names, as a picture of canvas.js asks for them. */
function part(model, names) {
  const renamed = (event) => names[event.replace("change:", "")];
  return {
    get: (name) => (names[name] ? model.get(names[name]) : undefined),
    set() {},
    save_changes() {},
    on: (event, answer) => renamed(event) && model.on(`change:${renamed(event)}`, answer),
    off: (event, answer) => renamed(event) && model.off(`change:${renamed(event)}`, answer),
  };
}

function render({ model, el }) {
  const root = make("div", { class: "adk-lab", role: "group" });
  const title = make("div", { class: "adk-lab-title" });
  const row = make("div", { class: "adk-lab-controls" });
  const lines = make("div", { class: "adk-lab-lines" });
  const message = make("div", { class: "adk-lab-message", role: "alert" });
  const anchor = make("div", { class: "adk-lab-anchor" }, message);
  const boards = make("div", { class: "adk-lab-boards" });
  const note = make("p", { class: "adk-lab-note" });
  const stage = make("div", { class: "adk-lab-stage" }, boards);
  const below = make("div", { class: "adk-lab-stepper" });
  const busy = make("span", { class: "adk-lab-busy", role: "status" });
  const reset = make("button", { type: "button", class: "adk-c-button adk-lab-reset" }, "Reset");
  const body = make("div", { class: "adk-lab-body" }, row, lines, stage);
  const help = helpPanel([], "Help: controls and keys");
  root.append(title, body, note, below, help.panel);
  el.append(root);
  const ends = [ownKeys(root)];

  // ---- the controls -----------------------------------------------------------------------------------------

  let drawn = new Map(); // controls by name
  const moves = () => model.get("_moves") ?? {};
  const answered = () => model.get("_answered") ?? {};
  function move(values) {
    const next = { ...moves() };
    for (const [name, value] of Object.entries(values)) next[name] = [(next[name]?.[0] ?? 0) + 1, value];
    model.set("_moves", next);
    model.save_changes();
    wait();
  }
  function show() {
    for (const [name, { show: set }] of drawn) {
      const value = current(name, moves(), answered(), model.get("state"));
      if (value != null) set(value);
    }
  }
  function lay() {
    const looks = model.get("_controls");
    if (String([...drawn.keys()]) !== String(looks.map(({ name }) => name))) {
      drawn = new Map(looks.map((look) => [look.name, control(look, (value) => move({ [look.name]: value }))]));
      const own = (isLine) => looks.filter(({ kind }) => (kind === "line") === isLine).map(({ name }) => drawn.get(name).element);
      row.replaceChildren(...own(false), make("span", { class: "adk-lab-end" }, busy, reset, help.opener));
      lines.replaceChildren(...own(true));
    }
    row.hidden = !looks.length;
    lines.hidden = !lines.childElementCount;
    for (const look of looks) drawn.get(look.name).draw(look);
    reset.hidden = looks.every(({ first }) => first == null);
    const shown = looks.filter(({ visible, kind }, k) => visible && (kind !== "line" || looks.findIndex((look) => look.kind === "line") === k));
    const kinds = new Set(shown.map(({ kind }) => kind));
    const names = shown.map(({ kind, label, help: words }) => nameRow(kind === "line" ? "a line of code" : label, words));
    const resets = reset.hidden ? [] : [nameRow("Reset", "Set all controls to what they were at first.")];
    const keys = KEYS.filter(([, , isUseful]) => isUseful(kinds)).map(([names, words]) => keyRow(names, words));
    help.fill([["Controls", [...names, ...resets]], ["Keys", keys]]);
    show();
  }
  reset.addEventListener("click", () => {
    const firsts = model.get("_controls").filter(({ first }) => first != null);
    move(Object.fromEntries(firsts.map(({ name, first }) => [name, first])));
  });

  root.addEventListener("keydown", (event) => {
    const isTyped = event.target.matches("input[type=text], select") || below.contains(event.target);
    if (!isTyped && !event.ctrlKey && !event.metaKey && !event.altKey && help.isKey(event.key)) event.preventDefault();
  });

  let timers = [];
  function wait() {
    timers.forEach(clearTimeout);
    timers = [];
    const isBusy = isWaiting(moves(), answered());
    root.setAttribute("aria-busy", isBusy);
    if (!isBusy) busy.textContent = "";
    else {
      const words = ["Running …", "No answer yet: Python is still running, or it has ended."];
      timers = words.map((text, k) => setTimeout(() => (busy.textContent = text), BUSY[k]));
    }
  }

  // ---- pictures and words -----------------------------------------------------------------------------------

  const picture = make("div", { class: "adk-lab-board" });
  const second = make("div", { class: "adk-lab-board" });
  if (model.get("_has_picture")) {
    boards.append(picture);
    ends.push(board.render({ model, el: picture }));
    picture.firstChild.prepend(anchor);
  } else below.before(anchor);
  function place() {
    if (!second.isConnected && (model.get("second_svg") || model.get("second_caption"))) {
      if (model.get("_are_beside")) boards.append(second);
      else stage.after(second);
      ends.push(board.render({ model: part(model, { svg: "second_svg", caption: "second_caption" }), el: second }));
    }
    body.classList.toggle("adk-lab-side", model.get("_controls_beside"));
    boards.classList.toggle("adk-lab-beside", model.get("_are_beside"));
    const wide = / width="([\d.]+)"/.exec(model.get("second_svg"))?.[1]; // less room than that, and it stands below
    if (wide) second.style.setProperty("--adk-second", `${Math.max(340, Math.ceil(wide) + 34)}px`);
    below.hidden = !viewer || !model.get("payload")?.byteLength;
  }
  function say() {
    title.textContent = model.get("heading");
    title.hidden = !title.textContent;
    root.setAttribute("aria-label", title.textContent || "Lab");
    message.textContent = model.get("alert");
    message.hidden = !message.textContent;
    anchor.classList.toggle("adk-lab-over", Boolean(model.get("svg")) || !below.hidden);
    note.textContent = model.get("note");
    note.hidden = !model.get("_has_note") && !note.textContent;
  }
  if (viewer) {
    const endViewer = { now: null };
    const showStepper = () => {
      place();
      if (below.hidden || endViewer.now) return;
      endViewer.now = viewer.render({ model, el: below });
    };
    ends.push(() => endViewer.now?.());
    ends.push(() => model.off("change:payload", showStepper));
    model.on("change:payload", showStepper);
    showStepper();
  }

  // Once there is a picture, its part of the card keeps its height while the page keeps its width: a larger graph is
  // scrolled, and what stands below the lab stays where it is.
  let width = 0;
  let isSteady = false;
  function settle() {
    if (!model.get("svg") || !picture.isConnected || !drawn.size || !root.clientWidth) return;
    if (isSteady && root.clientWidth === width) return;
    width = root.clientWidth;
    for (const part of [body, stage]) {
      part.classList.remove("adk-steady");
      part.style.height = "";
    }
    const part = getComputedStyle(stage).display === "contents" ? body : stage; // beside its controls, it has no height
    part.style.height = `${Math.ceil(part.getBoundingClientRect().height)}px`;
    part.classList.add("adk-steady");
    const wide = / width="([\d.]+)"/.exec(model.get("svg"))?.[1];
    if (wide) body.style.setProperty("--adk-picture", `${Math.ceil(wide) + 24}px`);
    isSteady = true;
  }
  const sizes = new ResizeObserver(settle);
  sizes.observe(root);

  const changes = {
    "change:_controls": lay,
    "change:state": show,
    "change:_answered": () => (show(), wait()),
    "change:heading": say,
    "change:alert": say,
    "change:note": say,
    "change:svg": () => (say(), settle()),
    "change:second_svg": place,
    "change:second_caption": place,
  };
  for (const [name, answer] of Object.entries(changes)) model.on(name, answer);
  place();
  say();
  lay();
  wait();
  settle();
  return () => {
    for (const [name, answer] of Object.entries(changes)) model.off(name, answer);
    timers.forEach(clearTimeout);
    sizes.disconnect();
    ends.forEach((end) => end());
    root.remove();
  };
}

export default { render };
