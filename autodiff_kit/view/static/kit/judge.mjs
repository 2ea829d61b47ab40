// Whether an answer is right, and which mistake a wrong one shows; as view/perform/judging.py does. Read next: walk.mjs.

import { read, rounding, Unclear } from "./expressions.mjs";

const RELATIVE = 1e-3; // how far a value may be off, of the largest element

const hasSame = (one, other) => one.size === other.length && other.every((value) => one.has(value));

/** What came of an answer: `outcome` right, wrong or unclear, `text`, `misconceptions`, `marks`. */
export function judge(task, response) {
  if (task.withheld) return taken(task, response);
  if (task.kind === "value") return judgeValue(task, String(response));
  const chosen = new Set([response].flat().filter((value) => value !== ""));
  if (!chosen.size) return told("unclear", "Choose an answer first. A guess is fine.");
  if (task.answers.some(({ one, all = [] }) => hasSame(chosen, one == null ? all : [one]))) return told("right", task.right);
  const shown = task.slips.find(({ answer: { one, all = [] } }) => (one == null ? hasSame(chosen, all) : chosen.has(one)));
  return mistaken(shown ? [shown] : [], task);
}

/** An answer whose value is judged elsewhere (view/perform/withholding.py): whether it can be read. */
function taken(task, response) {
  if (task.kind !== "value") return [response].flat().some((value) => value !== "") ? told("wrong", "") : told("unclear", "Choose an answer first. A guess is fine.");
  const text = String(response);
  if (/^[`\s]*[Nn]one[`\s]*$/.test(text)) return told("wrong", "");
  try {
    const known = Object.keys(task.names);
    const unknown = [...read(text).names].find((name) => !known.includes(name));
    if (unknown == null) return told("wrong", "");
    return told("unclear", `\`${unknown}\` is not known here. ${known.length ? `Names here: ${known.map((name) => `\`${name}\``).join(", ")}.` : "Type a number."}`);
  } catch (problem) {
    if (!(problem instanceof Unclear)) throw problem;
    return told("unclear", problem.message);
  }
}

const told = (outcome, text, misconceptions = [], marks = []) => ({ outcome, text, misconceptions, marks });

function judgeValue(task, text) {
  if (["None", "none"].includes(text.trim().replace(/^`+|`+$/g, "").trim())) {
    if (task.answers.some(({ none }) => none)) return told("right", task.right);
    return mistaken(task.slips.filter(({ answer }) => answer.none), task);
  }
  let values;
  try {
    values = valuesOf(read(text), task);
  } catch (problem) {
    if (!(problem instanceof Unclear)) throw problem;
    return told("unclear", problem.message);
  }
  const within = rounding(text);
  if (task.answers.some((answer) => isValue(answer, values, within))) return told("right", task.right);
  const slips = task.slips.filter(({ answer }) => isValue(answer, values, within));
  return mistaken(slips.length ? slips : task.slips.filter(({ answer }) => answer.number), task);
}

/** The value of an answer by point: as recorded, and where just its names stand for other numbers. */
function valuesOf({ names, value }, task) {
  const used = [...names].sort();
  const points = [0];
  task.varied.forEach((varied, k) => k && String(varied) === String(used) && points.push(k));
  return points.map((point) => {
    const env = Object.fromEntries(Object.entries(task.names).map(([name, at]) => [name, at[point]]));
    return [point, value(env)];
  });
}

function isValue({ at = [] }, values, within) {
  return at.length > 0 && values.every(([point, value]) => point >= at.length || isClose(value, at[point], within));
}

function isClose(value, right, within) {
  if (String(value.shape) !== String(right.shape)) return false;
  const bound = Math.max(RELATIVE * Math.max(0, ...right.data.map(Math.abs)), 1e-6, within);
  return value.data.every((x, k) => Math.abs(x - right.data[k]) <= bound);
}

/** Say what is wrong; two mistakes that give the same value are both named as possible. */
function mistaken(slips, task) {
  if (!slips.length) return told("wrong", task.otherwise);
  const names = [...new Set(slips.flatMap(({ is }) => is))];
  const [first, ...others] = new Set(slips.map(({ text }) => text));
  const text = others.length ? `Two mistakes give this value. ${first} ${others.map((one) => `Or: ${one}`).join(" ")}` : first;
  return told("wrong", text, names, slips.flatMap(({ marks }) => marks));
}
