// Shows a payload (view/scene.py) and steps through it, in a notebook or in a page of its own.
//
// Everything shown was computed in Python: the script only picks the frame. It asks the network for
// nothing and puts nothing on `window`; view/page.py joins its modules into one. Its looks are in
// kit.css. Read first: steps.mjs, which says what a step is.

import { modelOf } from "./alone.mjs";
import { nodeAtSource } from "./code.mjs";
import { crumbsBar } from "./crumbs.mjs";
import { button, make, showNew, steadyText } from "./dom.mjs";
import { divider } from "./divider.mjs";
import { partFrames } from "./enclosures.mjs";
import { errorPane } from "./error_pane.mjs";
import { nextStep, stepsOf } from "./find.mjs";
import { findBar } from "./find_box.mjs";
import { graphPane } from "./graph_pane.mjs";
import { helpBox } from "./help_box.mjs";
import { inspectorPane } from "./inspector_pane.mjs";
import { hasKeys, ownKeys } from "./keys.mjs";
import { widthFor } from "./overview.mjs";
import { MARGIN, ZOOM } from "./panning.mjs";
import { sourcePane } from "./source_pane.mjs";
import { boxesOf, clamp, cursor, focusOf, inflate, innermost, neighbour, sameMoment } from "./steps.mjs";
import { transport } from "./transport.mjs";

/** Draw the whole Stepper into `root`. `host` holds step and selection; it is asked to change them, and tells back. */
function stepper(root, payload, host) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const walk = cursor(payload);
  const visible = (id) => !walk.hidden(id);
  const last = payload.frames.length - 1;
  let step = null;
  let selected = null;

  const go = (k) => host.step(clamp(k, 0, last));
  const pick = (id) => host.select(id === selected ? "" : id);
  const source = sourcePane(payload, (s, line, column) => {
    const id = nodeAtSource(payload, s, line, column, selected, visible);
    if (id == null) return;
    host.select(id);
    graph.reveal(id);
  });
  const graph = graphPane(payload, () => calm.matches, pick);
  const subject = () => selected ?? focusOf(payload, step);
  function visit(way) {
    const to = nextStep(stepsOf(payload, subject()), step, way);
    if (to != null) controls.by(to);
  }
  const open = host.fold && ((key) => host.fold({ open: key }));
  const close = host.fold && ((key) => host.fold({ close: key }));
  const crumbs = crumbsBar(payload, close);
  const frames = partFrames(payload, graph.svg, close);
  graph.svg.addEventListener("dblclick", (event) => {
    const key = payload.nodes[event.target.closest("[data-node]")?.dataset.node]?.opens;
    if (key && open) open(key);
  });
  const inspector = inspectorPane(payload, { unpin: () => host.select(""), visit, open });
  const controls = transport(payload, go);
  const find = findBar(payload, host, {
    at: () => ({ step, selected }),
    go(k) {
      host.select(""); // the step tells of another node than the one that was chosen
      controls.by(k);
    },
    pick(id) {
      if (!visible(id)) controls.by(payload.nodes[id].since);
      host.select(id);
      graph.reveal(id);
    },
  });
  const captions = payload.frames.map(({ kind, caption: words }) => (kind === "error" ? `⚠ ${words}` : words));
  const failure = payload.frames.find(({ explanation }) => explanation)?.explanation;
  const explanation =
    failure &&
    errorPane(payload, failure, ({ where, node }) => {
      source.active(where);
      graph.reveal(node);
    });
  if (explanation) inspector.element.append(explanation);
  source.number(failure);
  const [caption, captionBox] = steadyText("caption", captions, { "aria-live": "polite" });
  const stage = make("div", { class: "adk-stage" });
  stage.append(source.element, graph.element, captionBox, controls.element, find.element, inspector.element, divider(stage));
  stage.classList.toggle("adk-failed", failure != null); // more room for words, at all steps alike
  const isSet = root.style.getPropertyValue("--adk-graph-height") !== "";
  if (!host.isSteady || !isSet) root.style.setProperty("--adk-graph-height", `${Math.max(payload.height + 2 * MARGIN, 300)}px`);
  const words = payload.title || "Computation graph";
  const title = make("div", { class: "adk-title", title: words }, words);
  const help = helpBox(root, Boolean(host.ask));
  const head = make("div", { class: "adk-head" }, title, crumbs.hint, find.opener, graph.zoomTools, help.opener);
  if (host.fold && payload.opened) {
    const closeAll = button("close", "Fold all boxes again");
    closeAll.append("fold");
    closeAll.addEventListener("click", () => host.fold({ open: null }));
    title.after(closeAll);
  }
  root.replaceChildren(head, crumbs.element, stage, help.panel);
  if (host.greets) help.greet(graph.element);

  function inspect() {
    const id = subject();
    root.classList.toggle("adk-explaining", selected == null && payload.frames[step].explanation != null);
    crumbs.show(id);
    inspector.show(id, walk.fields[id] ?? {}, selected != null, walk.edges, payload.frames[step].edge);
  }
  function show(k) {
    k = clamp(k, 0, last);
    if (k === step) return;
    step = k;
    const frame = payload.frames[k];
    const { nodes, along } = walk.moveTo(k);
    for (const id of nodes) graph.update(id, walk.fields[id], walk.hidden(id));
    for (const id of along) graph.carry(id, walk.edges[id]);
    root.dataset.phase = frame.phase;
    root.classList.toggle("adk-stopped", frame.kind === "error");
    frames.show(k);
    graph.mark(frame);
    graph.keepTabStop(visible, focusOf(payload, k));
    caption.textContent = captions[k];
    controls.show(k);
    source.active(frame.where);
    if (k > 2) help.dismiss(); // who has come here knows how
    inspect();
  }
  function select(id) {
    const next = payload.nodes[id] ? id : null;
    if (next === selected) return;
    graph.select(next, selected);
    selected = next;
    source.chosen(payload.nodes[next]?.where, next != null);
    inspect();
  }

  const gone = new AbortController();
  const keys = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("select, [type=search]")) return; // have keys of their own
    const id = event.target.closest("[data-node]")?.dataset.node;
    const to = id == null ? null : neighbour(payload, id, event.key, visible);
    if (to != null) graph.focus(to);
    else if (id == null && graph.svg.contains(event.target) && event.key.startsWith("Arrow")) {
      graph.focus(focusOf(payload, step)); // the graph was clicked beside its nodes
    }
    else if (event.key === "Enter" && open && payload.nodes[id]?.opens) open(payload.nodes[id].opens);
    else if (id != null && (event.key === "Enter" || event.key === " ")) pick(id);
    else if (help.isKey(event.key)) event.preventDefault();
    else if (event.key === "Escape" && selected != null) host.select("");
    else if (event.key === "n") controls.by(step + 1);
    else if (event.key === "p") controls.by(step - 1);
    else if (event.key === "N") visit(1);
    else if (event.key === "P") visit(-1);
    else if (event.key === "u" && open && payload.nodes[subject()]?.opens) open(payload.nodes[subject()].opens);
    else if (event.key === "f" && close && innermost(payload, id ?? subject())) {
      close(innermost(payload, id ?? subject()).key);
    }
    else if (event.key === "/") find.open();
    else if (event.key === "+" || event.key === "=") graph.zoom(ZOOM.step);
    else if (event.key === "-") graph.zoom(1 / ZOOM.step);
    else if (event.key === "0") graph.fit();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  root.addEventListener("keydown", keys, { signal: gone.signal }); // the next recording brings its own

  // Every node starts hidden or not by its own `since`; afterwards only what a step touches is looked at.
  for (const id of Object.keys(payload.nodes)) graph.update(id, {}, true);
  const sizes = new ResizeObserver((entries) => {
    const [own, pane] = [root, graph.element].map((element) => element.offsetHeight);
    if (pane) root.style.setProperty("--adk-around", `${own - pane}px`); // of all that is not beside the graph
    for (const { target, contentRect } of entries) {
      if (target === graph.svg) {
        graph.resize(contentRect.width, contentRect.height);
        root.style.setProperty("--adk-graph-width", `${widthFor({ w: payload.width, h: payload.height }, contentRect.height)}px`);
      } else if (target === explanation?.firstChild) {
        const { height } = contentRect; // 0 at another step: then it keeps what it had; 28 is what is around it
        if (height) root.style.setProperty("--adk-explanation-height", `${height + 28}px`);
      } else if (target === source.body) {
        const { width, height } = source.resize(contentRect); // that it asks for, which does not depend on it
        root.style.setProperty("--adk-source-width", `${width}px`);
        root.style.setProperty("--adk-source-height", `${height}px`);
      }
    }
    if (step != null) source.active(payload.frames[step].where);
  });
  sizes.observe(graph.svg);
  sizes.observe(source.body);
  sizes.observe(captionBox);
  if (explanation) sizes.observe(explanation.firstChild);
  return {
    show,
    select,
    hear: find.hear,
    /** Where a part lies that is about to be opened or folded; `keep` lets its boxes lie there in another drawing. */
    placeOf: (key) => ({ key, at: graph.placeOf(boxesOf(payload, key)), isFocused: graph.svg.contains(root.getRootNode().activeElement) }),
    keep({ key, at, isFocused }) {
      const id = graph.keepPlace(at, boxesOf(payload, key));
      if (isFocused && id != null && visible(id)) graph.focus(id);
      return isFocused;
    },
    focus: () => root.querySelector(".adk-range").focus({ preventScroll: true }),
    remove() {
      controls.stop();
      find.remove();
      sizes.disconnect();
      gone.abort();
    },
  };
}

function say(root, text) {
  root.replaceChildren(make("p", { class: "adk-message", role: "status" }, text));
}

/** Without a kernel there is nothing to send to: then no answer comes, and the caller says so. */
function quietly(action) {
  try {
    action();
  } catch {
    // nothing more can be done
  }
}

/** anywidget's entry: state lives in the model, so a view that is taken away and made again looks the same. */
function render({ model, el }) {
  const root = make("div", { class: "adk-root" });
  el.append(root);
  const endKeys = ownKeys(root);
  let view = null;
  let asked = 0;
  let place = null; // of what is opened or folded
  const shared = {}; // by all drawings of a recording on a page
  let isOld = false; // another recording is on its way: what comes with it is not for the view of the last one
  const set = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  async function load() {
    const mine = (asked += 1);
    const hadFocus = view && root.contains(root.getRootNode().activeElement); // of a shadow root, too
    isOld = true;
    const bytes = model.get("payload");
    let payload;
    let problem = bytes?.byteLength ? null : "No recording yet: run the cell that makes this widget.";
    if (!problem) {
      try {
        payload = await inflate(bytes);
      } catch (error) {
        problem = error.message;
      }
    }
    if (mine !== asked) return; // a newer payload came, or the view is gone
    view?.remove();
    view = null;
    isOld = false;
    try {
      if (problem) return say(root, problem);
      if (payload.sources.length) shared.sources = payload.sources;
      else payload.sources = shared.sources ?? []; // none where Python has kept no text
      const ask = model.send && ((request) => quietly(() => model.send(request)));
      const turn = model.fold ?? ask; // a page has drawn beforehand what it can open
      const fold = turn && ((request) => {
        const key = request.open ?? request.close;
        place = key ? view.placeOf(key) : null;
        turn(request, payload);
      });
      view = stepper(root, payload, { step: (k) => set("step", k), select: (id) => set("selected", id), ask, fold, greets: model.get("greets") !== false, isSteady: model.get("_controls") != null });
      view.show(model.get("step"));
      view.select(model.get("selected"));
      const isInGraph = place && view.keep(place);
      place = null;
      if (!isInGraph && (hadFocus || model.get("alone"))) view.focus();
      if (model.get("_is_new")) {
        set("_is_new", false);
        showNew(root);
      }
    } catch (error) {
      view = null;
      say(root, `This recording cannot be drawn (${error.message}). Run the cell again.`);
    }
  }
  const listeners = {
    "change:payload": load,
    "change:step": () => isOld || view?.show(model.get("step")),
    "change:selected": () => isOld || view?.select(model.get("selected")),
    "msg:custom": (message) => view?.hear(message),
  };
  for (const [name, listener] of Object.entries(listeners)) model.on(name, listener);
  load();
  return () => {
    asked += 1;
    for (const [name, listener] of Object.entries(listeners)) model.off(name, listener);
    view?.remove();
    endKeys();
    root.remove();
  };
}

/**
 * The same without Jupyter: `bytes` as in the trait, state in a plain object. `parts` holds, by the key of a part,
 * the drawing in which it is open, and the part around it (view/unfolded.py). It opens at `step`. `alone` says that
 * nothing else is there for the keys, `greets` that it may show a hint. Used by view/page.py and view/embed.py.
 */
export function mount(el, bytes, parts, { step = 0, alone = hasKeys(), greets = true } = {}) {
  const state = { payload: bytes, step, selected: "", alone, greets };
  const model = {
    ...modelOf(state),
    async fold({ open, close }, { moments }) {
      const closed = `-${close}` in parts ? `-${close}` : (parts[close]?.outer ?? "");
      const next = parts[open ?? closed]?.bytes ?? bytes; // what was open at first opens to that
      const other = await inflate(next);
      state.step = sameMoment(moments, state.step, other.moments);
      if (state.selected.startsWith("fold")) state.selected = ""; // folds are numbered anew
      model.set("payload", next);
    },
  };
  return render({ model, el });
}

export default { render };
