// Where keys and clicks lead: along edges, and between the source and the graph.
import assert from "node:assert/strict";
import { test } from "node:test";
import { kit, payload } from "./kit.mjs";

// x = 0, w = 1, h1 = x * w = 2, h2 = h1 * w = 3, z = h2 + x = 4
test("arrow up goes to the first input, arrow down to the first consumer", () => {
  assert.equal(kit.neighbour(payload, "3", "ArrowUp"), "2");
  assert.equal(kit.neighbour(payload, "3", "ArrowDown"), "4");
});

test("arrow left and right walk in reading order and stop at its ends", () => {
  assert.equal(kit.neighbour(payload, "2", "ArrowLeft"), "1");
  assert.equal(kit.neighbour(payload, "2", "ArrowRight"), "3");
  assert.equal(kit.neighbour(payload, "0", "ArrowLeft"), "0");
  assert.equal(kit.neighbour(payload, "4", "ArrowRight"), "4");
});

test("home and end go to the ends", () => {
  assert.equal(kit.neighbour(payload, "2", "Home"), "0");
  assert.equal(kit.neighbour(payload, "2", "End"), "4");
});

test("keys never lead to a node that is not there yet", () => {
  const visible = (id) => Number(id) <= 2;
  assert.equal(kit.neighbour(payload, "2", "ArrowDown", visible), "2");
  assert.equal(kit.neighbour(payload, "2", "End", visible), "2");
});

test("every visible node is reached from every other by arrow keys", () => {
  const reached = new Set(["0"]);
  for (const id of reached) {
    for (const key of ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"]) reached.add(kit.neighbour(payload, id, key));
  }
  assert.equal(reached.size, Object.keys(payload.nodes).length);
});

test("other keys are left to the page", () => {
  assert.equal(kit.neighbour(payload, "2", "a"), null);
});

test("a range covers its first character and not the one after its last", () => {
  const where = [0, 2, 4, 2, 9]; // line 2, columns 4 to 8
  const covered = (line, column) => kit.covers(where, 0, line, column);
  assert.deepEqual([covered(2, 3), covered(2, 4), covered(2, 8), covered(2, 9)], [false, true, true, false]);
  assert.equal(kit.covers(where, 1, 2, 5), false);
  assert.equal(kit.covers(null, 0, 2, 5), false);
});

test("a range over several lines covers all between", () => {
  const where = [0, 2, 4, 4, 1];
  assert.equal(kit.covers(where, 0, 3, 0), true);
  assert.equal(kit.covers(where, 0, 4, 0), true);
  assert.equal(kit.covers(where, 0, 4, 1), false);
});

test("a range without columns covers its whole line", () => {
  assert.equal(kit.covers([0, 2, null, 2, null], 0, 2, 99), true);
});

test("clicking code in a loop goes round the nodes it made", () => {
  const click = (current) => kit.nodeAtSource(payload, 0, 5, 8, current);
  assert.deepEqual([click(null), click("2"), click("3")], ["2", "3", "2"]);
});

test("clicking code of a node that is not there yet finds nothing", () => {
  assert.equal(kit.nodeAtSource(payload, 0, 6, 4, null, (id) => Number(id) <= 2), null);
});

test("clicking where nothing was computed finds nothing", () => {
  assert.equal(kit.nodeAtSource(payload, 0, 3, 0), null);
});

test("the innermost sub-expression wins, whichever node is older", () => {
  // (a * b) + c: columns 0 to 10, a * b inside it at 1 to 6
  const nodes = {
    7: { where: [0, 1, 0, 1, 11], since: 1 },
    8: { where: [0, 1, 1, 1, 6], since: 0 },
  };
  for (const order of [["7", "8"], ["8", "7"]]) {
    assert.equal(kit.nodeAtSource({ nodes, order }, 0, 1, 2), "8");
    assert.equal(kit.nodeAtSource({ nodes, order }, 0, 1, 9), "7");
  }
});

test("source segments put together are the source again, and never straddle a place", () => {
  const places = [...Object.values(payload.nodes), ...payload.frames].map((thing) => thing.where).filter(Boolean);
  kit.segments(payload).forEach((lines, s) =>
    lines.forEach((parts, l) => {
      assert.equal(parts.map((part) => part.text).join(""), payload.sources[s].lines[l]);
      for (const { start, end } of parts) {
        for (const where of places) {
          const [first, final] = [start, end - 1].map((column) => kit.covers(where, s, l + 1, column));
          assert.equal(first, final, `line ${l + 1}, columns ${start} to ${end}, ${where}`);
        }
      }
    }),
  );
});

test("columns count characters as Python does, also beyond the basic plane", () => {
  const nodes = { 0: { where: [0, 1, 5, 1, 10], since: 0 } };
  const places = { nodes, frames: [], sources: [{ lines: ["𝛌𝛍 = 𝛌 * 𝛍"] }] };
  const parts = kit.segments(places)[0][0];
  assert.equal(parts.filter((part) => part.start >= 5).map((part) => part.text).join(""), "𝛌 * 𝛍");
});

test("keywords, strings, numbers and comments are told apart", () => {
  const kinds = kit.tokens('for i in r: x = 2.5 + f("for # 3")  # in 3').map(([, , kind]) => kind);
  assert.deepEqual(kinds, ["keyword", "keyword", "number", "string", "comment"]);
});

test("a name that only contains a keyword or a digit is a name", () => {
  assert.deepEqual(kit.tokens("format_1 = index2"), []);
});

test("another drawing is at the step up to which as much has happened, or in which it lies", () => {
  assert.equal(kit.sameMoment([2, 5, 9], 1, [1, 2, 3, 5, 6, 9]), 3);
  assert.equal(kit.sameMoment([1, 2, 3, 5, 6, 9], 4, [2, 5, 9]), 2);
  assert.equal(kit.sameMoment([1, 2, 3, 5, 6, 9], 5, [2, 5, 8]), 2);
  assert.equal(kit.sameMoment([1, 2], 0, [4, 8]), 0);
});
