// The numbers of a tensor as tables of tinted cells, or as squares. Read next: inspector_pane.mjs.

import { attribute, drawing, make } from "./dom.mjs";

const MOST = 16; // numbers in a table; more are squares
const COLUMNS = 6; // of a table
const ON_A_LINE = 32; // characters of a vector that is written on a line instead
const SQUARE = 14; // px

/** The matrices in a text such as `[[1., 2.],\n [3., 4.]]`, each a list of rows of texts; null for any other text. */
export function matrices(text) {
  if (!/^\[\s*(?:[[\d-]|nan|inf|True|False)[-+\w.,\s[\]]*\]$/.test(text) || text.includes("...")) return null;
  const slices = text.split(/\]{2,},\s*\[{2,}/);
  return slices.map((slice) => slice.split(/\],\s*\[/).map((row) => row.match(/[^\s,[\]]+/g) ?? []));
}

/** Tables, or squares, of the matrices in a text; `isWritten` says whether the numbers are in them. Null without any. */
export function pictures(text) {
  const all = matrices(text);
  const numbers = all?.flat(2) ?? [];
  const columns = all?.[0][0].length;
  if (columns === numbers.length && !text.startsWith("[[") && text.length <= ON_A_LINE) return null;
  if (numbers.length < 2 || numbers.some((number) => Number.isNaN(valueOf(number)) && number !== "nan")) return null;
  const sizes = numbers.map((number) => Math.abs(valueOf(number))).filter(Number.isFinite);
  const largest = Math.max(...sizes, 0) || 1;
  const isWritten = numbers.length <= MOST && columns <= COLUMNS;
  return { isWritten, elements: all.map((rows) => (isWritten ? tinted(rows, largest) : squares(rows, largest))) };
}

/** A number as Python writes it; booleans count as 1 and 0. */
function valueOf(text) {
  const [, sign, word] = /^(-?)(inf|True|False|.*)$/.exec(text);
  const value = { inf: Infinity, True: 1, False: 0 }[word] ?? Number(word);
  return sign ? -value : value;
}

/** Positive cells have a tint, and negative ones a frame: nothing is said by colour alone. */
function tinted(rows, largest) {
  const cell = (text) => {
    const value = valueOf(text);
    const element = make("td", { class: value > 0 ? "adk-plus" : value < 0 ? "adk-minus" : "" }, text);
    if (value) element.style.setProperty("--adk-size", Math.min(Math.abs(value) / largest, 1).toFixed(2));
    return element;
  };
  const body = make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map(cell))));
  return make("table", { class: "adk-matrix" }, body);
}

/** Squares whose area is the magnitude: full above 0, hollow below, a cross for nan. */
function squares(rows, largest) {
  const paths = { full: "", hollow: "", cross: "" };
  rows.forEach((row, r) => {
    row.forEach((text, c) => {
      const value = valueOf(text);
      const [x, y] = [c * SQUARE, r * SQUARE];
      if (Number.isNaN(value)) paths.cross += `M${x + 4} ${y + 4}l6 6m0-6l-6 6`;
      if (!value) return;
      const side = Math.max(2, Math.round((Math.sqrt(Math.min(Math.abs(value) / largest, 1)) * (SQUARE - 2)) / 2) * 2);
      const square = `M${x + (SQUARE - side) / 2} ${y + (SQUARE - side) / 2}h${side}v${side}h-${side}z`;
      const inner = side - 3;
      if (value > 0) paths.full += square;
      else paths.hollow += square + (inner > 0 ? `m1.5 1.5v${inner}h${inner}v-${inner}z` : "");
    });
  });
  const [width, height] = [rows[0].length * SQUARE, rows.length * SQUARE];
  const marks =
    `<path fill-opacity=".08" d="M0 0h${width}v${height}h-${width}z"/><path d="${paths.full}"/>` +
    `<path d="${paths.hollow}"/><path fill="none" stroke="currentColor" d="${paths.cross}"/>`;
  const size = { class: "adk-heat", width, height, fill: "currentColor", "aria-hidden": "true" };
  return attribute(drawing(marks, `0 0 ${width} ${height}`), size);
}
