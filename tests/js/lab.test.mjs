// What lab.js gives to the sliders of a lab: their names.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

const source = await readFile(new URL("../../autodiff_kit/view/static/lab.js", import.meta.url), "utf8");
const { equip, labelOf } = await import(`data:text/javascript,${encodeURIComponent(source.replace(/^import .*;\n/m, ""))}`);

/** As much of a slider as lab.js asks for. */
function slider(label = null) {
  const attributes = new Map();
  const row = { querySelector: () => (label === null ? null : { textContent: label }) };
  return { attributes, closest: () => row, setAttribute: (name, value) => attributes.set(name, value) };
}

function equipped(...sliders) {
  const selectors = [];
  equip({ querySelectorAll: (selector) => (selectors.push(selector), sliders) });
  return selectors;
}

test("a slider is named by the label beside it, and only a nameless one is asked for", () => {
  const nameless = slider(" x ");
  assert.deepEqual(equipped(nameless), ["[role=slider]:not([aria-label])"]);
  assert.equal(nameless.attributes.get("aria-label"), "x");
});

test("without a label nothing is named", () => {
  const one = slider();
  equipped(one);
  assert.equal(one.attributes.size, 0);
});

test("a control outside of a row has no label", () => {
  assert.equal(labelOf({ closest: () => null }), "");
});
