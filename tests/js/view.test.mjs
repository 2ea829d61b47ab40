// The maths of panning and zooming: rectangles in pixels, no browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { kit } from "./kit.mjs";

const pane = { w: 600, h: 400 };
const small = { w: 200, h: 100 };
const tall = { w: 300, h: 4000 };
const onScreen = (view, rect) => ({
  left: view.x + rect.x * view.scale,
  top: view.y + rect.y * view.scale,
  right: view.x + (rect.x + rect.w) * view.scale,
  bottom: view.y + (rect.y + rect.h) * view.scale,
});
const whole = (graph) => ({ x: 0, y: 0, ...graph });
const isIn = ({ left, top, right, bottom }) => left >= 0 && top >= 0 && right <= pane.w && bottom <= pane.h;

test("a small graph is shown at full size in the middle", () => {
  assert.deepEqual(kit.firstView(small, pane), { scale: 1, x: 200, y: 150 });
});

test("a graph a little too large is fitted", () => {
  const view = kit.firstView({ w: 650, h: 450 }, pane);
  assert.ok(view.scale < 1);
  assert.ok(isIn(onScreen(view, whole({ w: 650, h: 450 }))));
});

test("a graph that would be unreadable when fitted starts at its top, at full size", () => {
  const view = kit.firstView(tall, pane);
  assert.equal(view.scale, 1);
  assert.equal(onScreen(view, whole(tall)).left, 150);
  assert.ok(view.y > 0 && view.y < 40);
});

test("fit shows the whole of any graph that is not immense", () => {
  for (const graph of [small, { w: 2000, h: 300 }, { w: 900, h: 2000 }]) {
    assert.ok(isIn(onScreen(kit.fitted(graph, pane), whole(graph))));
  }
});

test("what can be read is shown around a box, and all of the graph where all can be read", () => {
  assert.deepEqual(kit.readable(small, pane, { x: 0, y: 0, w: 10, h: 10 }), kit.fitted(small, pane));
  const rect = { x: 40, y: tall.h / 2, w: 100, h: 60 };
  for (const box of [rect, undefined]) {
    const view = kit.readable(tall, pane, box);
    assert.equal(view.scale, 0.7);
    if (box) assert.ok(isIn(onScreen(view, box)));
  }
});

test("zooming keeps the point under the pointer where it is", () => {
  const graph = { w: 2000, h: 2000 };
  const view = { scale: 1, x: -500, y: -600 };
  const point = { x: 300, y: 200 };
  const after = kit.zoomed(view, 1.25, point, graph, pane);
  const under = ({ scale, x, y }) => [(point.x - x) / scale, (point.y - y) / scale];
  under(after).forEach((value, i) => assert.ok(Math.abs(value - under(view)[i]) < 1e-9));
  assert.equal(after.scale, 1.25);
});

test("zooming ends at its limits", () => {
  let view = kit.firstView(tall, pane);
  for (let i = 0; i < 50; i += 1) view = kit.zoomed(view, 1.25, { x: 0, y: 0 }, tall, pane);
  assert.equal(view.scale, 3);
  for (let i = 0; i < 50; i += 1) view = kit.zoomed(view, 0.8, { x: 0, y: 0 }, tall, pane);
  assert.equal(view.scale, Math.min(0.15, kit.fitted(tall, pane).scale));
});

test("fit shows the whole of any graph, and zooming comes back to it", () => {
  for (const huge of [{ w: 300, h: 40_000 }, { w: 90_000, h: 700 }]) {
    let view = kit.fitted(huge, pane);
    for (let turn = 0; turn < 2; turn += 1) {
      assert.ok(view.x >= 0 && view.x + huge.w * view.scale <= pane.w);
      assert.ok(view.y >= 0 && view.y + huge.h * view.scale <= pane.h);
      view = kit.zoomed(kit.zoomed(view, 2, { x: 0, y: 0 }, huge, pane), 0.5, { x: 0, y: 0 }, huge, pane);
    }
  }
});

test("a graph too high for the pane is shown from its top, as wide as can be read", () => {
  const high = { w: pane.w * 1.2, h: 5000 };
  const view = kit.firstView(high, pane);
  assert.ok(view.scale >= 0.7 && view.scale < 1);
  assert.ok(view.x >= 0 && view.x + high.w * view.scale <= pane.w);
  assert.equal(view.y, kit.MARGIN);
});

test("of a graph too wide to be read at once, as much is shown at first as can be read", () => {
  const view = kit.firstView({ w: 2000, h: 900 }, pane);
  assert.equal(view.scale, 0.7);
  assert.equal(view.y, kit.MARGIN);
});

test("a pane is as wide as the graph at the scale at which it is seen in it", () => {
  assert.equal(kit.widthFor({ w: 300, h: 400 }, 420), 320);
  assert.equal(kit.widthFor({ w: 300, h: 500 }, 420), 0.8 * 300 + 20); // read at 80 %
  const beside = kit.widthFor({ w: 300, h: 4000 }, 420); // with the overview beside it
  assert.deepEqual(kit.besideStrip({ w: 300, h: 4000 }, { w: beside, h: 420 }), { w: 320, h: 420 });
});

test("a graph can never be dragged out of sight", () => {
  for (const [x, y] of [[1e6, 1e6], [-1e6, -1e6]]) {
    const view = kit.placed({ scale: 1, x, y }, tall, pane);
    const { left, top, right, bottom } = onScreen(view, whole(tall));
    assert.ok(left >= 0 && right <= pane.w);
    assert.ok(top <= 18 && bottom >= pane.h - 18);
  }
});

test("a node in sight moves nothing", () => {
  const view = kit.firstView(tall, pane);
  assert.equal(kit.revealed(view, { x: 50, y: 50, w: 100, h: 60 }, tall, pane), view);
});

test("a node out of sight is brought to the middle of the axis it was missing on", () => {
  const rect = { x: 50, y: 2000, w: 100, h: 60 };
  const before = kit.firstView(tall, pane);
  const view = kit.revealed(before, rect, tall, pane);
  const { top, bottom } = onScreen(view, rect);
  assert.equal((top + bottom) / 2, pane.h / 2);
  assert.equal(view.x, before.x);
});

test("every node of a large graph can be brought into sight, at its corners too", () => {
  const graph = { w: 3000, h: 3000 };
  for (const [x, y] of [[0, 0], [2900, 0], [0, 2940], [2900, 2940], [1500, 1500]]) {
    const rect = { x, y, w: 100, h: 60 };
    assert.ok(isIn(onScreen(kit.revealed(kit.firstView(graph, pane), rect, graph, pane), rect)));
  }
});

test("around gives the smallest rectangle with both in it", () => {
  assert.deepEqual(kit.around({ x: 10, y: 10, w: 5, h: 5 }, { x: 0, y: 12, w: 2, h: 20 }), { x: 0, y: 10, w: 15, h: 22 });
});

test("a box comes in sight with what else fits, and without what does not", () => {
  const box = { x: 0, y: 0, w: 100, h: 50 };
  const picture = { x: 20, y: 60, w: 120, h: 90 };
  const far = { x: 0, y: 700, w: 100, h: 50 };
  assert.deepEqual(kit.together([box, picture, far], 1, { w: 360, h: 400 }), { x: 0, y: 0, w: 140, h: 150 });
  assert.deepEqual(kit.together([box, undefined, far], 0.5, { w: 360, h: 400 }), { x: 0, y: 0, w: 100, h: 750 });
  assert.deepEqual(kit.together([box, picture], 3, { w: 360, h: 400 }), box);
});

test("scrolling rests while the range is in sight", () => {
  assert.equal(kit.scrolled(100, 200, 120, 280, 40), 100);
});

test("scrolling goes just far enough, and a little more", () => {
  assert.equal(kit.scrolled(100, 200, 60, 80, 40), 20);
  assert.equal(kit.scrolled(100, 200, 300, 320, 40), 160);
});

test("scrolling leaves no line cut in half above, and what is lit in sight", () => {
  const tops = Array.from({ length: 40 }, (_, line) => 30 + 22 * line);
  for (let line = 0; line < 40; line += 1) {
    const to = kit.toWholeLines(tops, 0, 210, tops[line], tops[line] + 22, 44);
    assert.ok(to === 0 || tops.includes(to), `line ${line}: ${to}`);
    assert.ok(to <= tops[line] && tops[line] + 22 <= to + 210);
  }
  assert.equal(kit.toWholeLines(tops, 250, 210, 272, 294, 44), 250); // in sight: nothing moves
});

test("scrolling never goes before the beginning", () => {
  assert.equal(kit.scrolled(100, 200, 10, 30, 40), 0);
});

test("a range that is too long is shown from its start", () => {
  assert.equal(kit.scrolled(0, 200, 300, 900, 40), 260);
});

test("the rows that continue a line are indented more than it is, as far as there is room", () => {
  assert.equal(kit.hanging("y = x * w"), 4);
  assert.equal(kit.hanging("    y = x * w"), 8);
  assert.equal(kit.hanging(" ".repeat(40) + "y"), 16);
});
