// A performance: which question comes next, and what an answer leads to; as view/perform/walk.py does.
// Read next: performing.mjs, which shows it.

import { judge } from "./judge.mjs";

const SMALLER_AFTER = 2; // wrong tries, and a smaller question is offered

const code = (name) => `\`${name}\``;
const listed = (words) => (words.length === 1 ? words[0] : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`);

/** Goes through a script. `isExam()` says whether it goes on after each answer, be it right or wrong. */
export function walkOf(script, isExam = () => false) {
  const walk = { task: null, records: [], order: [], stage: null, pass: null, skips: 0 };
  let main = null; // while a smaller question is asked
  let last = []; // boxes that the last answer named
  const agenda = script.stages.map((_, k) => ["stage", k]);

  function answer(response) {
    const verdict = judge(walk.task, response);
    if (main) {
      if (verdict.outcome === "right") [walk.task, main] = [main, null];
      return verdict;
    }
    if (verdict.outcome === "unclear") return verdict;
    const record = walk.records.at(-1);
    record.tries += 1;
    last = [response].flat();
    if (verdict.outcome === "right") {
      record.isRight = true;
      done(last);
    } else {
      record.named.push(verdict.misconceptions);
      if (isExam()) done([]);
    }
    return verdict;
  }

  /** Let the kit perform the step. */
  function show() {
    if (!walk.task) return;
    [walk.task, main] = [main ?? walk.task, null];
    walk.records.at(-1).looked = true;
    done([]);
  }

  /** Let the kit perform a step that is like others before: it does not count. */
  function skip() {
    walk.records.pop();
    walk.skips += 1;
    done([]);
  }

  function smaller() {
    if (walk.task?.about !== "next") return walk.task?.smaller ?? null;
    const { nodes } = walk.pass.plan;
    return nodes[last.find((id) => nodes[id]) ?? newest(ready())].smaller; // where the chosen box gets no gradient
  }
  const offersSmaller = () =>
    Boolean(walk.task && !main && (walk.records.at(-1)?.named.length ?? 0) >= SMALLER_AFTER && smaller());
  function askSmaller() {
    const task = main ? null : smaller();
    if (task) [main, walk.task] = [walk.task, task];
  }
  function leaveSmaller() {
    if (main) [walk.task, main] = [main, null];
  }

  // -- what comes next

  function done(response) {
    if (walk.task.about === "next") {
      const open = ready();
      agenda.unshift(["visit", response.find((box) => open.includes(box)) ?? newest(open)]);
    }
    walk.task = null;
    goOn();
  }
  function goOn() {
    while (agenda.length && !walk.task) {
      const [what, ...rest] = agenda.shift();
      if (what === "ask") ask(script.tasks[rest[0]]);
      else if (what === "stage") begin(rest[0]);
      else if (what === "root") {
        walk.pass.started.add(rest[0]);
        arrive(rest[0]);
      } else if (what === "send") send(...rest);
      else if (what === "visit") visit(rest[0]);
      else if (what === "end") walk.pass.isOver = true;
      else next();
    }
  }
  function ask(task) {
    walk.task = task;
    walk.records.push({ task: task.id, about: task.about, part: task.part, tries: 0, named: [], isRight: false, looked: false });
  }
  function begin(number) {
    const stage = script.stages[number];
    const todo = stage.tasks.map((task) => ["ask", task]);
    walk.stage = stage;
    walk.pass = null;
    if (stage.pass) {
      const plan = stage.pass;
      const arrived = Object.fromEntries(Object.keys(plan.nodes).map((box) => [box, []]));
      walk.pass = { plan, arrived, started: new Set(), visited: new Set(), sent: [], isOver: false };
      todo.push(...plan.begin.map((task) => ["ask", task]));
      todo.push(...plan.roots.map((root) => ["root", root]), ["next"], ["end"]);
    }
    agenda.unshift(...todo);
  }
  const count = (box) => walk.pass.arrived[box].length + Number(walk.pass.started.has(box));
  function arrive(box) {
    const plan = walk.pass.plan.nodes[box];
    if (count(box) !== plan.needs) return;
    if (plan.is_leaf) walk.pass.visited.add(box);
    agenda.unshift(...plan.complete.map((task) => ["ask", task]));
  }
  function send(box, number) {
    const { nodes } = walk.pass.plan;
    const one = nodes[box].sends[number];
    const arrived = walk.pass.arrived[one.to];
    const own = [one.edge ?? "", nodes[box].name];
    arrived.push(nodes[one.to].uses.findIndex((use, k) => String(use) === String(own) && !arrived.includes(k)));
    walk.pass.sent.push(one);
    arrive(one.to);
  }
  function visit(box) {
    const plan = walk.pass.plan.nodes[box];
    walk.pass.visited.add(box);
    walk.order.push(box);
    const todo = plan.before.map((task) => ["ask", task]);
    plan.sends.forEach(({ tasks }, number) => todo.push(...tasks.map((task) => ["ask", task]), ["send", box, number]));
    agenda.unshift(...todo, ["next"]);
  }
  const waiting = () =>
    Object.entries(walk.pass.plan.nodes)
      .filter(([box, plan]) => !walk.pass.visited.has(box) && !plan.is_leaf)
      .map(([box]) => box);
  const ready = () => waiting().filter((box) => count(box) === walk.pass.plan.nodes[box].needs);
  const newest = (boxes) =>
    boxes.reduce((a, b) => (walk.pass.plan.nodes[b].newest > walk.pass.plan.nodes[a].newest ? b : a));
  function next() {
    const open = ready();
    if (!open.length) return;
    const isSilent = walk.pass.plan.nodes[newest(open)].silent;
    if (walk.pass.plan.asks && waiting().length > 1 && walk.pass.visited.size && !isSilent) ask(nextTask(open));
    else agenda.unshift(["visit", newest(open)]);
  }
  function nextTask(open) {
    const { nodes, closed, where } = walk.pass.plan;
    const slips = Object.keys(nodes).filter((box) => !open.includes(box)).map((box) => tooEarly(box, nodes[box]));
    const latest = code(nodes[newest(open)].name);
    const right =
      open.length > 1
        ? `The order is open here: ${listed(open.map((box) => code(nodes[box].name)))} are complete, and each may be next. ` +
          `PyTorch takes the newest, ${latest}; the gradients are the same.`
        : `${latest} has all of its contributions.`;
    return {
      ...{ id: `next.${walk.records.length + 1}`, part: "backward", about: "next", kind: "node" },
      ...{ prompt: "Which node is next?", hint: "Choose a node of the graph.", node: null, edge: null, where },
      ...{ options: [], names: {}, varied: [], answers: open.map((box) => ({ one: box })) },
      slips: [...slips, ...Object.values(closed)],
      otherwise: "A node is next when all of its contributions have arrived.",
      ...{ right, reveal: latest },
    };
  }
  function tooEarly(box, plan) {
    const name = code(plan.name);
    if (walk.pass.visited.has(box)) {
      const what = plan.is_leaf ? "its gradient is complete" : "it has passed on its contributions";
      return { answer: { one: box }, is: [], text: `${name} has had its turn: ${what}.`, marks: [] };
    }
    const missing = plan.uses.filter((_, k) => !walk.pass.arrived[box].includes(k));
    const [here, needs] = [count(box), plan.needs];
    const whom = listed([...new Set(missing.map(([, from]) => code(from)))]);
    const have = here ? (here === 1 ? "1 has" : `${here} have`) : "none has";
    const text =
      `Not ${name} yet: it gets ${needs === 1 ? "1 contribution" : `${needs} contributions`}, and ${have} arrived. ` +
      `Missing along the dotted edge: from ${whom}.`;
    const marks = [{ kind: "wrong", node: box }];
    for (const [edge] of missing) if (edge) marks.push({ kind: "missing", edge, text: "not here yet" });
    return { answer: { one: box }, is: ["too_early"], text, marks };
  }

  /** What was mastered so far, and what to try again. */
  function result() {
    const done = walk.records.filter((one) => one.isRight || one.looked || one.named.length);
    const all = done.filter(({ tries }) => tries); // what was shown at once was not asked
    const atOnce = (one) => one.isRight && one.tries === 1;
    const asked = [...new Set(all.map(({ about }) => about))];
    const mastered = asked.filter((about) => all.every((one) => one.about !== about || atOnce(one)));
    const sets = all.flatMap(({ named }) => named).filter((names) => names.length);
    const alone = [...new Set(sets.filter((names) => names.length === 1).flat())];
    const possible = sets.filter((names) => names.length > 1 && !names.some((name) => alone.includes(name))).flat();
    return {
      asked: all.length,
      at_once: all.filter(atOnce).length,
      later: all.filter((one) => one.isRight && !atOnce(one)).length,
      looked: done.filter(({ looked }) => looked).length,
      mastered,
      practise: asked.filter((about) => !mastered.includes(about)),
      only_shown: [...new Set(done.map(({ about }) => about))].filter((about) => !asked.includes(about)),
      misconceptions: alone,
      possible: [...new Set(possible)],
    };
  }

  goOn();
  return Object.assign(walk, { answer, show, skip, askSmaller, leaveSmaller, offersSmaller, isSmaller: () => main != null, count, result });
}

/** How many questions a script has: as many in any order. */
export function lengthOf(script) {
  const walk = walkOf(script);
  while (walk.task) walk.show();
  return walk.records.length;
}
