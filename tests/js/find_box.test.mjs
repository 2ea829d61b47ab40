// The line for finding, while Python is looking. Run: node --test tests/js

import assert from "node:assert/strict";
import test from "node:test";

import { findBar } from "../../autodiff_kit/view/static/kit/find_box.mjs";

/** As much of an element as the line needs. */
class Element extends EventTarget {
  classList = { toggle() {} };
  setAttribute(name, value) {
    this[name] = name === "hidden" || value;
  }
  append(...content) {
    this.content = content;
  }
  focus() {}
}
globalThis.document = { createElement: () => new Element(), importNode: (element) => element };
globalThis.DOMParser = class {
  parseFromString = () => ({ documentElement: new Element(), querySelector: () => null });
};

/** The line, open, after a question to Python. */
function asked() {
  const steps = [];
  const host = { ask() {} };
  const find = findBar({ nodes: {}, order: [] }, host, { at: () => ({ step: 0 }), go: (step) => steps.push(step) });
  const [field, , forward, said] = find.element.content;
  find.open();
  field.value = "value > 3";
  forward.dispatchEvent(new Event("click"));
  return { find, said, steps };
}

test("an answer of Python's goes to its step", () => {
  const { find, said, steps } = asked();

  find.hear({ find: "value > 3", steps: [[7, "h"]] });

  assert.deepEqual(steps, [7]);
  assert.equal(said.textContent, "Step 8: h (1 of 1)");
});

test("an answer that comes after the line is closed moves nothing", () => {
  const { find, said, steps } = asked();
  const escape = new Event("keydown");
  escape.key = "Escape";

  find.element.dispatchEvent(escape);
  find.hear({ find: "value > 3", steps: [[7, "h"]] });

  assert.deepEqual(steps, []);
  assert.equal(said.textContent, "");
});
