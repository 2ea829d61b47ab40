// Open parts: which are around a node, which boxes are theirs, and that these stay where they are.
import assert from "node:assert/strict";
import { test } from "node:test";
import { kit } from "./kit.mjs";

// net is open and in it net.1; net.0 and net.1.fc are folded, 9 is an operation in net.1, 0 a leaf.
const payload = {
  nodes: { 0: {}, fold0: { opens: [1, 3], in: 0 }, fold1: { opens: [4, 6], in: 1 }, 9: { in: 1 } },
  parts: [
    { title: "net", key: [1, 9], in: null },
    { title: "net.1", key: [4, 9], in: 0 },
  ],
};

test("the parts around a node come with the largest first", () => {
  assert.deepEqual(kit.partsAround(payload, "9").map(({ title }) => title), ["net", "net.1"]);
  assert.deepEqual(kit.partsAround(payload, "fold0").map(({ title }) => title), ["net"]);
  assert.deepEqual(kit.partsAround(payload, "0"), []);
  assert.deepEqual(kit.partsAround(payload, null), []);
});

test("the boxes of a part are its fold, or all that is in it while it is open", () => {
  assert.deepEqual(kit.boxesOf(payload, [4, 6]), ["fold1"]);
  assert.deepEqual(kit.boxesOf(payload, [4, 9]).sort(), ["9", "fold1"]);
  assert.deepEqual(kit.boxesOf(payload, [1, 9]).sort(), ["9", "fold0", "fold1"]);
  assert.deepEqual(kit.boxesOf(payload, [7, 8]), []);
});

test("a frame is there from the first step that shows a box in it", () => {
  const { nodes, parts } = payload;
  const since = { 0: 0, fold0: 4, fold1: 7, 9: 6 };
  const timed = Object.fromEntries(Object.entries(nodes).map(([id, node]) => [id, { ...node, since: since[id] }]));

  assert.deepEqual(kit.firstSteps({ nodes: timed, parts }), [4, 6]);
});

test("a box lies where another one lay, at the same scale", () => {
  const pane = { w: 800, h: 500 };
  const graph = { w: 1800, h: 3000 };
  const rect = { x: 300, y: 1200, w: 200, h: 80 };

  const view = kit.held({ scale: 0.8, x: 200, y: 90 }, rect, graph, pane);

  assert.equal(view.scale, 0.8);
  assert.ok(Math.abs(view.x + (rect.x + rect.w / 2) * 0.8 - 200) < 1e-9);
  assert.ok(Math.abs(view.y + rect.y * 0.8 - 90) < 1e-9);
});
