// What canvas.js works out without a document: scales, steps, keys.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

const source = await readFile(new URL("../../autodiff_kit/view/static/canvas.js", import.meta.url), "utf8");
const canvas = await import(`data:text/javascript,${encodeURIComponent(source.replace(/^import .*;\n/m, ""))}`);

const data = { x0: "-3", x1: "3", y0: "0", y1: "10", left: "50", right: "350", top: "20", bottom: "220" };
const scale = canvas.scaleOf(data);

test("the corners of the plot are the ends of its axes", () => {
  assert.deepEqual(canvas.toPixel(scale, [-3, 0]), [50, 220]);
  assert.deepEqual(canvas.toPixel(scale, [3, 10]), [350, 20]);
});

test("from data to pixel and back gives the same point", () => {
  for (const point of [[-3, 0], [0, 5], [1.5, 2.5], [3, 10]]) {
    assert.deepEqual(canvas.fromPixel(scale, canvas.toPixel(scale, point)), point);
  }
});

test("a pixel outside the plot gives its edge", () => {
  assert.deepEqual(canvas.fromPixel(scale, [0, 500]), [-3, 0]);
  assert.deepEqual(canvas.fromPixel(scale, [999, -9]), [3, 10]);
});

test("a pixel is told to be inside or outside of the plot", () => {
  assert.equal(canvas.inside(scale, [50, 20]), true);
  assert.equal(canvas.inside(scale, [49, 100]), false);
  assert.equal(canvas.inside(scale, [100, 221]), false);
});

test("one step is a round number, about a four-hundredth of the range", () => {
  assert.equal(canvas.niceStep(-3, 3), 0.02); // 6 / 400 = 0.015
  assert.equal(canvas.niceStep(0, 400), 1);
  assert.equal(canvas.niceStep(0, 1), 0.005); // 0.0025
  assert.equal(canvas.niceStep(0, 3e-6), 1e-8); // 0.75e-8
  assert.equal(canvas.niceStep(5, 5), 1);
});

test("a picture may say its own step", () => {
  assert.equal(canvas.scaleOf({ ...data, stepX: "0.5" }).stepX, 0.5);
});

test("moved by many steps, the numbers stay short", () => {
  let at = [-3, 0];
  for (let k = 0; k < 37; k += 1) at = canvas.movedBy(scale, at, "ArrowRight", false);
  assert.deepEqual(at, [-2.26, 0]); // -3 + 37 * 0.02
});

test("arrow keys move along both axes, with shift ten times as far", () => {
  assert.deepEqual(canvas.movedBy(scale, [0, 5], "ArrowUp", false), [0, 5.05]); // 10 / 400 = 0.025, so 0.05
  assert.deepEqual(canvas.movedBy(scale, [0, 5], "ArrowDown", true), [0, 4.5]);
  assert.deepEqual(canvas.movedBy(scale, [0, 5], "ArrowLeft", true), [-0.2, 5]);
});

test("arrow keys stop at the edges of the plot", () => {
  assert.deepEqual(canvas.movedBy(scale, [2.99, 10], "ArrowRight", true), [3, 10]);
  assert.deepEqual(canvas.movedBy(scale, [0, 10], "ArrowUp", true), [0, 10]);
});

test("a point on a curve moves sideways with all four arrows, and to the ends", () => {
  const moved = (key) => canvas.movedBy(scale, [0, 5], key, false, "x");
  assert.deepEqual([moved("ArrowUp"), moved("ArrowRight")], [[0.02, 5], [0.02, 5]]);
  assert.deepEqual([moved("ArrowDown"), moved("ArrowLeft")], [[-0.02, 5], [-0.02, 5]]);
  assert.deepEqual([moved("Home"), moved("End")], [[-3, 5], [3, 5]]);
});

test("other keys are left to the page", () => {
  assert.equal(canvas.movedBy(scale, [0, 5], "Tab", false), null);
  assert.equal(canvas.movedBy(scale, [0, 5], "Home", false), null);
  assert.equal(canvas.neighbour([{ id: "a", x: 0, y: 0 }], "a", "q"), null);
});

test("axes without a whole scale have none", () => {
  assert.equal(canvas.scaleOf({}), null);
  assert.equal(canvas.scaleOf({ ...data, x1: "-3" }), null);
  assert.equal(canvas.scaleOf({ ...data, top: "soon" }), null);
});

//  a   b
//    c
//  d
const places = [
  { id: "a", x: 0, y: 0 },
  { id: "b", x: 80, y: 1 },
  { id: "c", x: 50, y: 40 },
  { id: "d", x: 0, y: 80 },
];

test("left and right follow the drawing and stop at its ends", () => {
  const from = (id, key) => canvas.neighbour(places, id, key);
  assert.deepEqual([from("a", "ArrowRight"), from("d", "ArrowRight")], ["b", "d"]);
  assert.deepEqual([from("c", "ArrowLeft"), from("a", "ArrowLeft")], ["b", "a"]);
  assert.deepEqual([from("c", "Home"), from("c", "End")], ["a", "d"]);
});

test("up and down lead to the nearest one there, sideways counting double, or nowhere", () => {
  const from = (id, key) => canvas.neighbour(places, id, key);
  assert.deepEqual([from("a", "ArrowDown"), from("b", "ArrowDown"), from("d", "ArrowUp")], ["d", "c", "a"]);
  assert.deepEqual([from("a", "ArrowUp"), from("d", "ArrowDown")], ["a", "d"]);
});

test("an element that is gone leads nowhere", () => {
  assert.equal(canvas.neighbour(places, "x", "ArrowRight"), null);
});

const panels = { narrow: "480 900", least: "0.92" };

test("panels stand side by side where there is room, down to their least size", () => {
  assert.deepEqual(canvas.layoutOf(700, panels, 700, false), { least: 0.92, narrow: null });
  assert.equal(canvas.layoutOf(700, panels, 644, false).narrow, null); // 700 * 0.92
  assert.deepEqual(canvas.layoutOf(700, panels, 643, false).narrow, [480, 900]);
});

test("panels that stand below each other stay so, though the next picture would fit", () => {
  assert.deepEqual(canvas.layoutOf(500, panels, 643, true).narrow, [480, 900]);
  assert.equal(canvas.layoutOf(480, panels, 643, true).narrow, null); // there is nothing to set below
});

test("a picture without panels has one layout, and so has one that is not in the page yet", () => {
  assert.deepEqual(canvas.layoutOf(700, {}, 100, false), { least: 0.88, narrow: null });
  assert.equal(canvas.layoutOf(700, panels, 0, false).narrow, null);
});
