// How the numbers of a tensor are read from its text, for a table. Run: node --test tests/js

import assert from "node:assert/strict";
import test from "node:test";

import * as kit from "../../autodiff_kit/view/static/kit/matrix.mjs";

test("a matrix is read row by row, and of more dimensions slice by slice", () => {
  assert.deepEqual(kit.matrices("[[ 1.0, -2.5],\n [3e-05, nan]]"), [[["1.0", "-2.5"], ["3e-05", "nan"]]]);
  assert.deepEqual(kit.matrices("[[[1, 2],\n  [3, 4]],\n [[5, 6],\n  [7, 8]]]"), [
    [["1", "2"], ["3", "4"]],
    [["5", "6"], ["7", "8"]],
  ]);
  assert.deepEqual(kit.matrices("[1., 2.]"), [[["1.", "2."]]]);
  for (const first of ["-inf", "inf", "nan", "True"]) {
    assert.deepEqual(kit.matrices(`[${first}, 2.]`), [[[first, "2."]]]);
  }
  assert.deepEqual(kit.matrices("[[True, False]]"), [[["True", "False"]]]);
});

test("what is no matrix, or not all of one, is none", () => {
  for (const text of ["2.", "(2, 3)", "[1., 2., ...]\nmin 1., max 2.", "[1., 2.]\noverwritten by y *= 2", "not yet", "[]", "[a, b]"]) {
    assert.equal(kit.matrices(text), null, text);
  }
});
