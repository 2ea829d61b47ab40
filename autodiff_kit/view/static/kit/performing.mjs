// "Be the engine": the learner makes the next step, and the kit answers. Data as in view/perform/script.py.
//
// What was answered lies in the model as a list, so that a view that is taken away and made again stands where it
// stood, and a page needs no kernel. Read first: walk.mjs.

import { modelOf } from "./alone.mjs";
import { make, showNew } from "./dom.mjs";
import { divider } from "./divider.mjs";
import { graphPane } from "./graph_pane.mjs";
import { helpPanel, keyRow, markRow } from "./help_panel.mjs";
import { hasKeys, ownKeys } from "./keys.mjs";
import { markLayer } from "./marks.mjs";
import { widthFor } from "./overview.mjs";
import { MARGIN, ZOOM } from "./panning.mjs";
import { questionPane } from "./question.mjs";
import { sourcePane } from "./source_pane.mjs";
import { clamp, cursor, inflate, neighbour } from "./steps.mjs";
import { lengthOf, walkOf } from "./walk.mjs";

const LEVELS = { worked: "Worked", guided: "Guided", free: "Free", exam: "Exam" };
const DOTS = 14; // of the last questions
const KEYS = [
  [["Tab"], "to the next part: the graph, the question, its buttons"],
  [["arrows"], "in the graph, from box to box"],
  [["Enter"], "choose the selected box; in a field, check the answer"],
  [["g", "q"], "go to the graph; go to the question"],
  [["1", "9"], "press the choice or button of that number in the question"],
  [["c"], "check the answer"],
  [["+", "-"], "zoom; 0 shows the whole graph"],
  [["?"], "this help"],
];
const MARKS = [
  ["? on an arrow", "", "The question is about what this arrow passes on."],
  ["1 of 2", "adk-mark-gradient", "So many of the gradients that flow into this node are here; it waits for the others."],
  ["✓ ↺ –", "", "In the row of dots: right at once, right later, shown to you."],
];
const SUMS = new Set(["sum", "grad", "leaf"]); // ask for what a box holds

function performer(root, payload, host) {
  const { script } = payload;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const frames = cursor(payload);
  let level = host.level();
  let isExam = level === "exam"; // while it stands again where it stood: as it was then
  let walk = walkOf(script, () => isExam);
  let chosen = new Set();
  let shown = new Set(); // concepts of which a worked step was seen
  let skipped = 0;
  let exam = []; // prompts of wrong answers, for the end
  const total = lengthOf(script);
  const isForPoints = script.closing != null; // then what is right is known elsewhere

  // -- parts
  const graph = graphPane(payload, () => calm.matches, pick);
  const marks = markLayer(graph.svg, { w: payload.width, h: payload.height });
  const source = sourcePane(payload, () => {});
  const question = questionPane({ answer, smaller, leave, next, again, restart });
  const levels = make("div", { class: "adk-levels", role: "radiogroup", "aria-label": "Level" });
  const levelButtons = Object.entries(LEVELS).map(([name, words]) => {
    const one = make("button", { type: "button", role: "radio", class: "adk-level", "data-level": name }, words);
    one.addEventListener("click", () => host.setLevel(name));
    return one;
  });
  levels.append(...levelButtons);
  levels.addEventListener("keydown", (event) => {
    const way = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!way) return;
    const names = Object.keys(LEVELS);
    const name = names.at((names.indexOf(level) + way) % names.length);
    host.setLevel(name);
    levelButtons[names.indexOf(name)].focus();
    event.preventDefault();
    event.stopPropagation();
  });
  const keyRows = KEYS.map(([keys, words]) => keyRow(keys, words));
  const markRows = MARKS.map(([text, look, words]) => markRow(text, look, words));
  const help = helpPanel([["Keys", keyRows], ["What you see", markRows]], "Help: keys and marks");
  const title = make("div", { class: "adk-title" }, "Be the engine");
  const about = make("div", { class: "adk-engine-about" });
  const head = make("div", { class: "adk-head" }, title, about, graph.zoomTools, ...(isForPoints ? [] : [levels]), help.opener);
  const dots = make("ol", { class: "adk-dots", "aria-hidden": "true" });
  const counter = make("p", { class: "adk-count" });
  const progress = make("div", { class: "adk-progress" }, dots, counter);
  const stage = make("div", { class: "adk-stage adk-engine-stage" });
  stage.append(source.element, graph.element, question.element, divider(stage));
  root.style.setProperty("--adk-graph-height", `${Math.max(payload.height + 2 * MARGIN, 300)}px`);
  root.replaceChildren(head, progress, stage, help.panel);

  // -- what the learner does
  const { note } = host;
  function pick(id) {
    const task = walk.task;
    if (!task || isWorked()) return;
    if (task.kind === "node") return answer(id);
    if (task.kind !== "nodes") return;
    if (!chosen.delete(id)) chosen.add(id);
    marks.show(asked());
    question.quiet();
    showChosen();
  }
  function answer(response) {
    if (!walk.task) return;
    const task = walk.task;
    const wasSmaller = walk.isSmaller();
    const verdict = walk.answer(response);
    if (verdict.outcome !== "unclear") note(["answer", response, isExam]);
    if (level === "exam" && !wasSmaller && verdict.outcome !== "unclear") {
      if (verdict.outcome === "wrong" && !isForPoints) exam.push(`${task.prompt} ${verdict.text}`);
      afterStep("noted", `Your answer is kept. What was right is told ${isForPoints ? "when you check" : "at the end"}.`);
      return;
    }
    if (verdict.outcome === "right") return afterStep("right", verdict.text);
    question.say(verdict.outcome, verdict.text, verdict.outcome === "unclear" && task.kind !== "value" ? "Nothing is chosen yet" : undefined);
    if (verdict.outcome === "wrong") {
      question.offer(response, walk.offersSmaller());
      marks.show([...asked(), ...verdict.marks]);
      source.unrun(verdict.marks.find(({ line }) => line)?.line);
      showProgress();
      const first = verdict.marks.find(({ node }) => node != null)?.node;
      if (first != null) graph.reveal(first);
    }
  }
  function afterStep(outcome, text, heading) {
    chosen = new Set();
    perform();
    show();
    question.say(outcome, skipped ? `${text} ${skippedWords()}` : text, heading);
    if (root.contains(document.activeElement) || document.activeElement === document.body) host.focus(question);
  }
  const skippedWords = () => `${skipped} step${skipped > 1 ? "s" : ""} like earlier ones ${skipped > 1 ? "were" : "was"} performed for you.`;
  /** Perform steps that are like others which were right at once; not in an exam. */
  function perform() {
    skipped = 0;
    while (isRoutine(walk.task)) {
      walk.skip();
      note(["skip"]);
      skipped += 1;
    }
  }
  function isRoutine(task) {
    if (!task?.repeats || level === "exam" || walk.isSmaller()) return false;
    const own = walk.records.slice(0, -1).filter(({ about }) => about === task.about);
    return own.length > 1 && own.slice(-2).every(({ tries, isRight }) => isRight && tries === 1);
  }
  const isWorked = () => level === "worked" && walk.task && !walk.isSmaller() && !shown.has(walk.task.about);
  function next() {
    const { right, about, reveal } = walk.task;
    shown.add(about);
    note(["show"]);
    walk.show();
    afterStep("noted", right || reveal, "Shown");
  }
  function smaller() {
    walk.askSmaller();
    note(["smaller"]);
    step();
  }
  function leave() {
    walk.leaveSmaller();
    note(["leave"]);
    step();
  }
  function step() {
    chosen = new Set();
    question.say("");
    show();
    host.focus(question);
  }
  function again() {
    chosen = new Set();
    question.quiet();
    marks.show(asked());
    source.unrun(null);
    showChosen();
    host.focus(question);
  }
  function restart() {
    host.restart();
    walk = walkOf(script, () => isExam);
    [shown, exam] = [new Set(), []];
    step();
  }

  // -- what is shown
  function show() {
    const { task } = walk;
    if (task?.withheld) Object.assign(task, { prompt: "One moment ...", hint: "" }, host.told().tasks?.[task.id]);
    if (task) {
      const words = walk.isSmaller() ? "A smaller question" : `${PARTS[task.part]} · ${walk.records.length + walk.skips} of ${total}`;
      question.ask(task, { level, chosen, isWorked: isWorked(), isSmaller: walk.isSmaller(), words });
    } else if (isForPoints) question.close(total, script.closing);
    else {
      question.end(walk.result(), script, exam.length > 0, exam);
      host.finish(walk.result());
    }
    const part = task?.part ?? script.parts.at(-1);
    about.textContent = `${payload.sources[0]?.name ?? ""}${payload.sources.length ? ", " : ""}${part}`;
    drawGraph();
    showProgress();
    source.unrun(null);
    source.active(task ? task.where : null);
  }
  function drawGraph() {
    const { task, pass } = walk;
    const isBefore = task && (task.about === "begin" || task.about === "seed");
    const frame = !task ? payload.frames.length - 1 : pass ? (pass.isOver ? pass.plan.end : pass.plan.frame - Number(isBefore)) : walk.stage.frame;
    frames.moveTo(clamp(frame, 0, payload.frames.length - 1));
    const isInPass = pass && !pass.isOver && !isBefore && task;
    root.classList.toggle("adk-in-pass", Boolean(isInPass));
    root.dataset.phase = task?.part === "build" ? "forward" : "backward";
    const hidden = (id) => frames.hidden(id);
    const open = openLeaves();
    const isOpenKind = task?.about === "recorded" && !isWorked(); // its look would say what is asked
    for (const id of payload.order) {
      const box = graph.svg.querySelector(`[data-node="${id}"]`);
      const isOpen = open.has(id) && box.querySelector(".adk-grad"); // what is no leaf of the graph has no room for it
      const own = isInPass ? fieldsOf(id) : { ...host.told().fields?.[id], ...(isOpen && { g: null, grad: "?", total: "= ?" }) };
      graph.update(id, { ...frames.fields[id], ...own }, hidden(id));
      box.classList.toggle("adk-asked", task?.node === id && SUMS.has(task.about));
      box.classList.toggle("adk-undecided", isOpenKind && task.node === id);
    }
    const sent = new Map((isInPass ? pass.sent : []).map(({ edge, fields }) => [edge, { ...fields, ...host.told().edges?.[edge] }]));
    for (const id of allEdges) graph.carry(id, isInPass ? { ...(frames.edges[id] ?? {}), ...(sent.get(id) ?? {}) } : (host.told().edges?.[id] ?? frames.edges[id]));
    const own = isOpenKind || task?.about === "inputs" || task?.about === "edges" ? task.node : null; // its edges are what is asked for
    for (const edge of graph.svg.querySelectorAll("[data-edge]")) {
      const isHidden = hidden(edge.dataset.to) || edge.dataset.to === own;
      for (const mark of graph.svg.querySelectorAll(`[data-edge="${edge.dataset.edge}"], [data-edge-label="${edge.dataset.edge}"]`)) {
        mark.classList.toggle("adk-hidden", isHidden);
      }
    }
    graph.mark({ node: task?.node ?? null, edge: null });
    if (isChoice()) graph.all(); // any node may be the answer
    graph.keepTabStop((id) => !hidden(id), task?.node);
    marks.show(asked());
    showChosen();
  }
  const allEdges = [...new Set([...graph.svg.querySelectorAll("[data-edge]")].map(({ dataset }) => dataset.edge))];
  /** What a box shows in the midst of a pass: how many of its contributions are here, or their sum. */
  function fieldsOf(id) {
    const plan = walk.pass.plan.nodes[id];
    if (!plan) return {};
    const [here, { task }] = [walk.count(id), walk];
    const isAsked = task.node === id && SUMS.has(task.about);
    const visited = walk.pass.visited.has(id);
    if (here === plan.needs && !isAsked) return { ...plan.fields, ...host.told().fields?.[id], visited };
    const words = isAsked ? "?" : here ? `${here} of ${plan.needs}` : null;
    if (!words) return {};
    return { g: words, total: isAsked ? "= ?" : words };
  }
  /** Leaves whose .grad is still to be asked for: until then, the picture does not say it. */
  function openLeaves() {
    if (walk.task?.part !== "state") return new Set();
    const left = walk.stage.tasks.slice(walk.stage.tasks.indexOf(walk.records.at(-1).task));
    return new Set(left.map((id) => script.tasks[id]).filter(({ about }) => about === "leaf").map(({ node }) => node));
  }
  /** The arrow that is asked about. */
  function asked() {
    const { task } = walk;
    return task?.edge != null ? [{ kind: "ask", edge: task.edge, text: "?" }] : [];
  }
  function showChosen() {
    for (const group of graph.svg.querySelectorAll("[data-node]")) {
      const isChosen = chosen.has(group.dataset.node);
      group.classList.toggle("adk-picked", isChosen);
      group.querySelector(".adk-box").setAttribute("aria-pressed", String(isChosen));
    }
    root.classList.toggle("adk-choosing", Boolean(isChoice() && !isWorked()));
  }
  const isChoice = () => walk.task?.kind === "node" || walk.task?.kind === "nodes";
  function showProgress() {
    const all = walk.records;
    const items = all.slice(-DOTS).map((one, k) => {
      const number = Math.max(0, all.length - DOTS) + k + 1;
      const isNow = walk.task && number === all.length;
      const kind = isNow ? "now" : level === "exam" ? "noted" : one.looked ? "looked" : one.tries === 1 ? "good" : "later";
      const sign = { now: number, noted: "·", looked: "–", good: "✓", later: "↺" }[kind];
      return make("li", { class: `adk-dot adk-dot-${kind}` }, String(sign));
    });
    dots.replaceChildren(...items);
    const { asked, at_once: atOnce, later, looked } = walk.result();
    const parts = [asked && `${atOnce} of ${asked} right at once`, later && `${later} later`, looked && `${looked} shown`].filter(Boolean);
    counter.textContent = level === "exam" || !parts.length ? "" : `${parts.join(", ")}.`;
  }
  function setLevel(name) {
    level = name;
    isExam = level === "exam";
    root.dataset.level = level;
    for (const one of levelButtons) {
      const isOn = one.dataset.level === level;
      one.setAttribute("aria-checked", String(isOn));
      one.setAttribute("tabindex", isOn ? "0" : "-1");
      one.textContent = `${isOn ? "✓ " : ""}${LEVELS[one.dataset.level]}`;
    }
    shown = new Set();
  }

  // -- keys
  const gone = new AbortController();
  root.addEventListener(
    "keydown",
    (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || question.isTyping()) return;
      const id = event.target.closest("[data-node]")?.dataset.node;
      const to = id == null ? null : neighbour(payload, id, event.key, (box) => !frames.hidden(box));
      if (to != null) graph.focus(to);
      else if (id != null && (event.key === "Enter" || event.key === " ")) pick(id);
      else if (event.key === "g" && walk.task) graph.focus(walk.task.node ?? payload.order.find((box) => !frames.hidden(box)));
      else if (event.key === "q") question.focus();
      else if (event.key === "c") question.check();
      else if (/^[1-9]$/.test(event.key) && question.press(Number(event.key))) event.preventDefault();
      else if (event.key === "+" || event.key === "=") graph.zoom(ZOOM.step);
      else if (event.key === "-") graph.zoom(1 / ZOOM.step);
      else if (event.key === "0") graph.fit();
      else if (help.isKey(event.key)) event.stopPropagation();
      else return;
      event.preventDefault();
      event.stopPropagation();
    },
    { signal: gone.signal },
  );

  for (const id of Object.keys(payload.nodes)) graph.update(id, {}, true);
  const sizes = new ResizeObserver((entries) => {
    for (const { target, contentRect } of entries) {
      if (target === graph.svg) {
        graph.resize(contentRect.width, contentRect.height);
        root.style.setProperty("--adk-graph-width", `${widthFor({ w: payload.width, h: payload.height }, contentRect.height)}px`);
        if (isChoice()) graph.all();
      } else {
        const { width, height } = source.resize(contentRect);
        root.style.setProperty("--adk-source-width", `${width}px`);
        root.style.setProperty("--adk-source-height", `${height}px`);
      }
    }
    source.active(walk.task ? walk.task.where : null);
  });
  sizes.observe(graph.svg);
  sizes.observe(source.body);

  /** Stand where the list of what was done has led. */
  function replay(log) {
    walk = walkOf(script, () => isExam);
    [shown, exam, chosen] = [new Set(), [], new Set()];
    for (const [what, response, wasExam] of log) {
      if (!walk.task) break;
      if (what === "answer") {
        isExam = wasExam;
        const { prompt } = walk.task;
        const verdict = walk.answer(response);
        if (wasExam && verdict.outcome === "wrong") exam.push(`${prompt} ${verdict.text}`);
      } else if (what === "skip") walk.skip();
      else if (what === "show") {
        shown.add(walk.task.about);
        walk.show();
      } else if (what === "smaller") walk.askSmaller();
      else if (what === "leave") walk.leaveSmaller();
    }
    isExam = level === "exam";
  }
  setLevel(level);
  replay(host.log());
  show();
  return {
    setLevel(name) {
      setLevel(name);
      if (!walk.task) return restart(); // all is done: another level begins it again
      if (!walk.isSmaller()) perform();
      question.say("");
      show();
    },
    focus: () => question.focus(),
    stand() {
      replay(host.log());
      question.say("");
      show();
    },
    /** More is known: the question that is asked, and numbers of the steps before. Who has gone to the graph stays there. */
    hear() {
      const had = root.contains(document.activeElement);
      show();
      if (had && !graph.element.contains(document.activeElement)) host.focus(question);
    },
    tell: (words, heading) => words && question.say("noted", words, heading),
    remove() {
      sizes.disconnect();
      gone.abort();
    },
  };
}

const PARTS = { build: "Build", backward: "Backward", state: "Afterwards" };

/** anywidget's entry; a page has a model of its own. */
function render({ model, el }) {
  const root = make("div", { class: "adk-root adk-engine" });
  el.append(root);
  const endKeys = ownKeys(root);
  let view = null;
  let isGone = false;
  const set = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  let own = null; // the list of answers as this view has left it
  const keep = (log) => {
    own = log;
    set("log", log);
  };
  async function load() {
    view?.remove();
    view = null;
    try {
      const payload = await inflate(model.get("payload"));
      if (isGone) return;
      view = performer(root, payload, {
        level: () => model.get("level"),
        setLevel: (name) => set("level", name),
        log: () => model.get("log") ?? [],
        told: () => model.get("told") ?? {},
        note: (entry) => keep([...(model.get("log") ?? []), entry]),
        restart() {
          keep([]);
          set("result", {});
        },
        finish: (result) => set("result", result),
        focus: (pane) => pane.focus(),
      });
      if (!model.get("log")?.length) view.tell(model.get("note"), "A long performance");
      if (model.get("alone")) view.focus();
      if (model.get("_is_new")) {
        set("_is_new", false);
        showNew(root);
      }
    } catch (error) {
      root.replaceChildren(make("p", { class: "adk-message", role: "status" }, `This cannot be drawn (${error.message}). Run the cell again.`));
    }
  }
  const changed = () => view?.setLevel(model.get("level"));
  const moved = () => model.get("log") === own || view?.stand(); // another view of it was answered, or Python
  const noted = () => view?.tell(model.get("note"));
  const heard = () => view?.hear();
  model.on("change:told", heard);
  model.on("change:payload", load);
  model.on("change:level", changed);
  model.on("change:note", noted);
  model.on("change:log", moved);
  load();
  return () => {
    isGone = true;
    model.off("change:told", heard);
    model.off("change:payload", load);
    model.off("change:level", changed);
    model.off("change:note", noted);
    model.off("change:log", moved);
    view?.remove();
    endKeys();
    root.remove();
  };
}

/** The same without Jupyter: state in a plain object. Used by view/perform/page.py. */
export function mount(el, bytes, level) {
  const alone = hasKeys(); // then they work at once
  const state = { payload: bytes, level, log: [], result: {}, note: "", _is_new: false, alone };
  return render({ model: modelOf(state), el });
}

export default { render };
