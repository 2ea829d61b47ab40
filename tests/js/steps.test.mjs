// What a step shows: read `payload.json` beside this (x * w twice in a loop, plus x).
import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync, gzipSync } from "node:zlib";
import { kit, payload } from "./kit.mjs";

const last = payload.frames.length - 1;
// What the cursor knows of every node; `active` comes from the frame itself.
const snapshot = (walk, k) =>
  Object.fromEntries(
    Object.keys(payload.nodes).map((id) => [
      id,
      { hidden: walk.hidden(id), active: id === payload.frames[k].node, ...walk.fields[id] },
    ]),
  );

test("the cursor agrees with stateAt at every frame, forward and back", () => {
  const walk = kit.cursor(payload);
  const there = payload.frames.map((_, k) => k);
  for (const k of [...there, ...there.reverse()]) {
    walk.moveTo(k);
    assert.deepEqual(snapshot(walk, k), kit.stateAt(payload, k), `frame ${k}`);
  }
});

test("the cursor agrees with stateAt after jumps", () => {
  const walk = kit.cursor(payload);
  for (let i = 0, k = 0; i < 200; i += 1, k = (k * 7 + 3 + i) % (last + 1)) {
    walk.moveTo(k);
    assert.deepEqual(snapshot(walk, k), kit.stateAt(payload, k), `frame ${k}`);
  }
});

test("a step touches exactly the nodes that look different after it", () => {
  const walk = kit.cursor(payload);
  walk.moveTo(0);
  for (let k = 1; k <= last; k += 1) {
    const shown = ({ active, ...rest }) => JSON.stringify(rest);
    const before = kit.stateAt(payload, k - 1);
    const after = kit.stateAt(payload, k);
    const different = Object.keys(after).filter((id) => shown(before[id]) !== shown(after[id]));
    const { nodes: touched } = walk.moveTo(k);
    for (const id of different) assert.ok(touched.has(id), `frame ${k} must touch ${id}`);
    assert.ok(touched.size <= Object.keys(payload.frames[k].set).length + 1);
  }
});

test("what arrows say agrees with alongAt after jumps, and each that changes is touched", () => {
  const told = (edges) => Object.fromEntries(Object.entries(edges).filter(([, own]) => Object.keys(own).length));
  const walk = kit.cursor(payload);
  assert.ok(payload.frames.some(({ along }) => along), "the payload has a backward pass");
  for (let i = 0, k = 0; i < 200; i += 1, k = (k * 7 + 3 + i) % (last + 1)) {
    const before = structuredClone(told(walk.edges));
    const { along } = walk.moveTo(k);
    const after = told(walk.edges);
    assert.deepEqual(after, kit.alongAt(payload, k), `frame ${k}`);
    for (const id of new Set([...Object.keys(before), ...Object.keys(after)])) {
      if (JSON.stringify(before[id]) !== JSON.stringify(after[id])) assert.ok(along.has(id), `frame ${k}, ${id}`);
    }
  }
});

test("a node is hidden before its frame and stays afterwards", () => {
  for (const [id, { since }] of Object.entries(payload.nodes)) {
    if (since) assert.equal(kit.stateAt(payload, since - 1)[id].hidden, true);
    assert.equal(kit.stateAt(payload, since)[id].hidden, false);
    assert.equal(kit.stateAt(payload, last)[id].hidden, false);
  }
});

test("stateAt changes nothing in the payload", () => {
  const before = JSON.stringify(payload);
  kit.stateAt(payload, last);
  kit.cursor(payload).moveTo(last);
  assert.equal(JSON.stringify(payload), before);
});

test("a frame about no node keeps the last one in focus", () => {
  const frames = [{ node: "4" }, { node: null }, { node: "0" }];
  assert.equal(kit.focusOf({ frames }, 1), "4");
  assert.equal(kit.focusOf({ frames }, 2), "0");
  assert.equal(kit.focusOf({ frames: [{ node: null }] }, 0), null);
});

test("phases follow each other without a gap, also when backward runs twice", () => {
  const frames = ["forward", "forward", "backward", "forward", "backward", "backward"].map((phase) => ({ phase }));
  assert.deepEqual(kit.phases({ frames }), [
    { phase: "forward", from: 0, to: 2 },
    { phase: "backward", from: 2, to: 3 },
    { phase: "forward", from: 3, to: 4 },
    { phase: "backward", from: 4, to: 5 },
  ]);
});

test("a recording of one step has no phase to draw", () => {
  assert.deepEqual(kit.phases({ frames: [{ phase: "forward" }] }), []);
});

test("the counter says where we are and in which phase", () => {
  const frames = [{ phase: "forward" }, { phase: "backward" }];
  assert.equal(kit.counterText({ frames }, 0), "1 of 2 · forward");
  assert.equal(kit.counterText({ frames }, 1), "2 of 2 · backward");
});

test("a deflated payload comes back whole, from any container and offset", async () => {
  const bytes = deflateSync(JSON.stringify(payload));
  assert.deepEqual(await kit.inflate(bytes), payload);
  assert.deepEqual(await kit.inflate(new Uint8Array(bytes).buffer), payload);
  const padded = new Uint8Array(bytes.length + 7);
  padded.set(bytes, 3);
  assert.deepEqual(await kit.inflate(new DataView(padded.buffer, 3, bytes.length)), payload);
});

for (const [name, bytes] of Object.entries({
  "cut short": deflateSync(JSON.stringify(payload)).subarray(0, 300),
  "not deflated": Buffer.from("hello"),
  "deflated in another format": gzipSync("{}"),
  "not JSON": deflateSync("{"),
})) {
  test(`a payload that is ${name} is refused in plain words`, async () => {
    await assert.rejects(kit.inflate(bytes), /cut short or damaged.*Run the cell again/);
  });
}

test("a payload of a newer format is refused with both versions named", async () => {
  await assert.rejects(kit.inflate(deflateSync('{"version": 2}')), /format 2.*reads format 1/);
});

test("a payload without frames says that nothing was recorded", async () => {
  await assert.rejects(kit.inflate(deflateSync('{"version": 1, "frames": []}')), /Nothing was recorded/);
});
