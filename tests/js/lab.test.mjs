// What labs/controls.mjs and labs/lab.mjs work out without a document: places on a slider, and whose value counts.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

const load = async (name) => {
  const source = await readFile(new URL(`../../autodiff_kit/view/static/labs/${name}.mjs`, import.meta.url), "utf8");
  return import(`data:text/javascript,${encodeURIComponent(source.replace(/^import .*;\n/gm, ""))}`);
};
const { nearest, shown, stepsOf, typed, valueAt, widest } = await load("controls");
const { current, isWaiting } = await load("lab");

const tenths = { min: -4, max: 4, step: 0.1, whole: false };
const uneven = { min: 0, max: 1, step: 0.4, whole: false };

test("a slider has a step for each value, and the last one is the end", () => {
  assert.equal(stepsOf(tenths), 80);
  assert.equal(stepsOf(uneven), 3);
  assert.deepEqual([0, 1, 2, 3].map((k) => valueAt(uneven, k)), [0, 0.4, 0.8, 1]);
  assert.equal(stepsOf({ min: 1, max: 1, step: 1 }), 0);
});

test("a value is free of the digits that adding steps brings", () => {
  assert.equal(valueAt(tenths, 43), 0.3);
  assert.equal(valueAt(tenths, 41), 0.1);
});

test("the handle stands at the step nearest to a value, and never outside", () => {
  assert.equal(nearest(tenths, 2.03), 60);
  assert.equal(nearest(tenths, 9), 80);
  assert.equal(nearest(tenths, -9), 0);
});

test("what is typed is a number within the bounds, or nothing", () => {
  assert.equal(typed(" 2,5 ", tenths), 2.5);
  assert.equal(typed("\u22121", tenths), -1);
  assert.equal(typed("1e3", tenths), 4);
  assert.equal(typed("2.6", { min: 0, max: 8, whole: true }), 3);
  for (const text of ["", "x", "1 2", "Infinity", "NaN"]) assert.equal(typed(text, tenths), null);
});

test("there is room for the widest text of a slider at any place", () => {
  for (const look of [tenths, uneven, { min: 0, max: 12, step: 1, whole: true }]) {
    const lengths = Array.from({ length: stepsOf(look) + 1 }, (_, k) => shown(valueAt(look, k)).length);
    assert.equal(widest(look), Math.max(...lengths));
  }
  assert.equal(widest({ words: ["0.1", "0.001"] }), 5);
});

test("a move is shown until Python has answered it, and then what Python says", () => {
  const moves = { x: [3, 0.5] };
  assert.equal(current("x", moves, { x: 2 }, { x: 9 }), 0.5);
  assert.equal(current("x", moves, { x: 3 }, { x: 9 }), 9);
  assert.equal(current("y", moves, {}, { y: 7 }), 7);
  assert.equal(isWaiting(moves, { x: 2 }), true);
  assert.equal(isWaiting(moves, { x: 3 }), false);
  assert.equal(isWaiting({}, {}), false);
});
