// The overview: where its map lies, and what of the graph is in sight.
import assert from "node:assert/strict";
import { test } from "node:test";
import { kit } from "./kit.mjs";

const pane = { w: 600, h: 400 };
const high = { w: 300, h: 4000 };
const wide = { w: 5000, h: 300 };

test("the strip stands where it takes least of what is short", () => {
  assert.equal(kit.sideOf(high, pane), "right");
  assert.equal(kit.sideOf(wide, pane), "bottom");
  assert.equal(kit.besideStrip(high, pane).h, pane.h);
  assert.equal(kit.besideStrip(wide, pane).w, pane.w);
});

test("the whole map lies in the strip, in its middle", () => {
  for (const graph of [high, wide, { w: 5000, h: 5000 }]) {
    const { scale, x, y } = kit.mapIn(graph, pane);
    const rest = kit.besideStrip(graph, pane);
    const strip = rest.w < pane.w ? { w: pane.w - rest.w, h: pane.h } : { w: pane.w, h: pane.h - rest.h };
    assert.ok(x >= 0 && y >= 0);
    assert.ok(Math.abs(2 * x + graph.w * scale - strip.w) < 1e-9);
    assert.ok(Math.abs(2 * y + graph.h * scale - strip.h) < 1e-9);
  }
});

test("what is in sight is what the view shows, and no more than the graph", () => {
  assert.deepEqual(kit.inSight({ scale: 2, x: -100, y: -400 }, { w: 1000, h: 4000 }, pane), { x: 50, y: 200, w: 300, h: 200 });
  assert.deepEqual(kit.inSight({ scale: 0.1, x: 285, y: 0 }, high, pane), { x: 0, y: 0, w: 300, h: 4000 });
});

test("arrow keys move a part of the pane, page keys all of it, Home and End to the ends", () => {
  assert.deepEqual(kit.moveOf("ArrowDown", pane, high, 1), [0, -80]);
  assert.deepEqual(kit.moveOf("PageUp", pane, high, 1), [0, 400]);
  const [, end] = kit.moveOf("End", pane, high, 1);
  const at = kit.placed({ scale: 1, x: 0, y: end }, high, pane);
  assert.equal(Math.round(kit.inSight(at, high, pane).y + kit.inSight(at, high, pane).h), high.h);
  assert.equal(kit.moveOf("n", pane, high, 1), null);
});
