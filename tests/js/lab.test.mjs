// What lab.js gives to the controls of a lab: their keys and their names.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

const source = await readFile(new URL("../../autodiff_kit/view/static/lab.js", import.meta.url), "utf8");
const { equip, labelOf } = await import(`data:text/javascript,${encodeURIComponent(source)}`);

/** As much of an element as lab.js asks for. */
function control({ slider = false, label = null, named = null } = {}) {
  const attributes = new Map(named === null ? [] : [["aria-label", named]]);
  const row = { querySelector: () => (label === null ? null : { textContent: label }) };
  return {
    dataset: {},
    attributes,
    matches: (selector) => slider && selector === "[role=slider]",
    closest: () => row,
    hasAttribute: (name) => attributes.has(name),
    setAttribute: (name, value) => attributes.set(name, value),
  };
}

const lab = (...controls) => ({ querySelectorAll: () => controls });

test("every control keeps its keys from Jupyter", () => {
  const [button, slider] = [control(), control({ slider: true })];
  equip(lab(button, slider));
  assert.deepEqual([button, slider].map((one) => one.dataset.lmSuppressShortcuts), ["true", "true"]);
});

test("a slider is named by the label beside it, if it has no name", () => {
  const [nameless, named] = [control({ slider: true, label: " x " }), control({ slider: true, label: "x", named: "y" })];
  equip(lab(nameless, named));
  assert.equal(nameless.attributes.get("aria-label"), "x");
  assert.equal(named.attributes.get("aria-label"), "y");
});

test("without a label nothing is named, and other controls have names of their own", () => {
  const [slider, box] = [control({ slider: true }), control({ label: "x" })];
  equip(lab(slider, box));
  assert.equal(slider.attributes.size + box.attributes.size, 0);
});

test("a control outside of a row has no label", () => {
  assert.equal(labelOf({ closest: () => null }), "");
});
