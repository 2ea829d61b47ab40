// Where a search leads: names, conditions, steps.
import assert from "node:assert/strict";
import { test } from "node:test";
import { kit, payload } from "./kit.mjs";

const title = (id) => payload.nodes[id].title;

test("words are names, comparisons and calls are conditions", () => {
  for (const text of ["h1", "model.0.weight", "mul", "h * w"]) assert.equal(kit.isCondition(text), false, text);
  for (const text of ["abs(grad) > 1e3", "value.isnan().any()", "op == 'mul'", "not requires_grad"]) {
    assert.equal(kit.isCondition(text), true, text);
  }
});

test("a node is found by its name, whatever the case", () => {
  assert.deepEqual(kit.named(payload, "H1").map(title), ["h1 = x * w"]);
});

test("a node is found by what its operation is called", () => {
  assert.deepEqual(kit.named(payload, "multiply").map(title), ["h1 = x * w", "h2 = h1 * w"]);
  assert.deepEqual(kit.named(payload, "AddBackward0").map(title), ["z = h2 + x"]);
});

test("nothing is found for nothing", () => assert.deepEqual(kit.named(payload, "  "), []));

test("the search goes round in both directions", () => {
  assert.equal(kit.nextOf(["a", "b"], "a", 1), "b");
  assert.equal(kit.nextOf(["a", "b"], "b", 1), "a");
  assert.equal(kit.nextOf(["a", "b"], "a", -1), "b");
  assert.equal(kit.nextOf(["a", "b"], "other", 1), "a");
  assert.equal(kit.nextOf(["a", "b"], "other", -1), "b");
  assert.equal(kit.nextOf([], "other", 1), null);
});

test("steps are looked for after the present one and before it, not round and round", () => {
  assert.equal(kit.nextStep([2, 5, 9], 5, 1), 9);
  assert.equal(kit.nextStep([2, 5, 9], 5, -1), 2);
  assert.equal(kit.nextStep([2, 5, 9], 9, 1), null);
  assert.equal(kit.nextStep([2, 5, 9], 2, -1), null);
});

test("the steps of a node are those about it and those that change it", () => {
  const id = payload.order.find((id) => title(id).startsWith("h1"));
  const steps = kit.stepsOf(payload, id);
  for (const k of steps) assert.ok(payload.frames[k].node === id || payload.frames[k].set[id]);
  assert.equal(steps[0], payload.nodes[id].since);
  assert.ok(steps.length >= 3);
});
