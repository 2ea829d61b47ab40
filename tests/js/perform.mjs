// Judges single answers, and goes through whole performances, given on standard input: for test_performing.py.
import { text } from "node:stream/consumers";
import { judge } from "../../autodiff_kit/view/static/kit/judge.mjs";
import { walkOf } from "../../autodiff_kit/view/static/kit/walk.mjs";

const { cases, performances } = JSON.parse(await text(process.stdin));
const judged = cases.map(({ task, answer }) => judge(task, answer));
const performed = performances.map(({ script, answers }) => {
  const walk = walkOf(script);
  const log = answers.map((answer) => {
    const { prompt } = walk.task;
    const verdict = walk.answer(answer);
    return [prompt, verdict.outcome, verdict.text, verdict.misconceptions, verdict.marks];
  });
  return { log, isAtEnd: walk.task == null, order: walk.order, result: walk.result() };
});
console.log(JSON.stringify({ judged, performed }));
