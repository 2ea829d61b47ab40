// What a learner types as a value, read and worked out; as view/perform/expressions.py does. Read next: judge.mjs.

const LONGEST = 200;
const HOW = "Type a number, an expression such as `2 * x`, or a matrix such as `[[1, 2]]`.";

/** An answer that cannot be read; its message says how to write it. */
export class Unclear extends Error {}

// -- arrays: {shape, data}, row by row

const count = (shape) => shape.reduce((all, n) => all * n, 1);
const scalar = (x) => ({ shape: [], data: [x] });
const mapped = (f) => (x) => ({ shape: x.shape, data: x.data.map(f) });

function elementwise(f, x, y) {
  const rank = Math.max(x.shape.length, y.shape.length);
  const padded = [x, y].map(({ shape }) => [...Array(rank - shape.length).fill(1), ...shape]);
  const shape = padded[0].map((n, d) => {
    const m = padded[1][d];
    if (n !== m && n !== 1 && m !== 1) throw new Unclear("The shapes in this answer do not fit together.");
    return n === 1 ? m : n;
  });
  const data = Array.from({ length: count(shape) }, (_, k) => {
    const at = [];
    for (let d = rank - 1, rest = k; d >= 0; d -= 1) {
      at[d] = rest % shape[d];
      rest = Math.floor(rest / shape[d]);
    }
    const [i, j] = padded.map((own) => own.reduce((place, n, d) => place * n + (n === 1 ? 0 : at[d]), 0));
    return f(x.data[i], y.data[j]);
  });
  return { shape, data };
}

function transposed({ shape, data }) {
  if (shape.length < 2) return { shape, data };
  if (shape.length > 2) throw new Unclear("Only a matrix has a transpose here.");
  const [rows, columns] = shape;
  const turned = Array.from({ length: data.length }, (_, k) => data[(k % rows) * columns + Math.floor(k / rows)]);
  return { shape: [columns, rows], data: turned };
}

function product(x, y) {
  const unfit = () => new Unclear("The shapes in this answer do not fit together.");
  if (![1, 2].includes(x.shape.length) || ![1, 2].includes(y.shape.length)) throw unfit();
  const [n, k] = x.shape.length === 1 ? [1, x.shape[0]] : x.shape;
  const [l, m] = y.shape.length === 1 ? [y.shape[0], 1] : y.shape;
  if (k !== l) throw unfit();
  const data = Array.from({ length: n * m }, (_, at) => {
    const [i, j] = [Math.floor(at / m), at % m];
    let sum = 0;
    for (let c = 0; c < k; c += 1) sum += x.data[i * k + c] * y.data[c * m + j];
    return sum;
  });
  return { shape: [...(x.shape.length === 2 ? [n] : []), ...(y.shape.length === 2 ? [m] : [])], data };
}

function summed(x, axes) {
  if (!axes.length) return scalar(x.data.reduce((sum, y) => sum + y, 0));
  const rank = x.shape.length;
  const over = new Set(axes.map((axis) => (axis < 0 ? axis + rank : axis)));
  if ([...over].some((axis) => !(axis >= 0 && axis < rank))) throw new Unclear("The shapes in this answer do not fit together.");
  const shape = x.shape.filter((_, d) => !over.has(d));
  const data = Array(count(shape)).fill(0);
  x.data.forEach((value, k) => {
    const at = [];
    for (let d = rank - 1, rest = k; d >= 0; d -= 1) {
      at[d] = rest % x.shape[d];
      rest = Math.floor(rest / x.shape[d]);
    }
    data[x.shape.reduce((place, n, d) => (over.has(d) ? place : place * n + at[d]), 0)] += value;
  });
  return { shape, data };
}

const FUNCTIONS = {
  exp: mapped(Math.exp),
  log: mapped(Math.log),
  sin: mapped(Math.sin),
  cos: mapped(Math.cos),
  tanh: mapped(Math.tanh),
  sqrt: mapped(Math.sqrt),
  abs: mapped(Math.abs),
  sigmoid: mapped((x) => 1 / (1 + Math.exp(-x))),
  relu: mapped((x) => Math.max(x, 0)),
};
const OPERATORS = {
  "+": (x, y) => elementwise((a, b) => a + b, x, y),
  "-": (x, y) => elementwise((a, b) => a - b, x, y),
  "*": (x, y) => elementwise((a, b) => a * b, x, y),
  "/": (x, y) => elementwise((a, b) => a / b, x, y),
  "**": (x, y) => elementwise((a, b) => a ** b, x, y),
  "@": product,
};

// -- reading

const TOKEN = /\s*(?:(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)|([\p{L}_][\p{L}\p{N}_]*)|(\*\*|[-+*/@()[\],.]))/uy;
const TIMES = /(?<![\p{L}\p{N}_.])(\d+(?:\.\d*)?|\))\s*([\p{L}_][\p{L}\p{N}_]*|\()/u;

function tokensOf(text) {
  const tokens = [];
  TOKEN.lastIndex = 0;
  while (text.slice(TOKEN.lastIndex).trim()) {
    const match = TOKEN.exec(text);
    if (!match) throw new Unclear(`\`${text}\` cannot be read: look at its brackets and signs.`);
    const [, number, name, sign] = match;
    tokens.push(number != null ? { number: Number(number) } : name != null ? { name } : { sign });
  }
  return tokens;
}

/** An answer as a function of its names' values, with those names. Throws `Unclear`. */
export function read(typed) {
  let text = typed.trim().replace(/^`+|`+$/g, "").trim();
  if (!text) throw new Unclear("Type an answer first. A guess is fine.");
  if (text.length > LONGEST) throw new Unclear("That is too long: one short line is enough.");
  text = text.replaceAll("\u2212", "-").replaceAll(/[\u00d7\u00b7]/g, "*");
  text = /^(?:torch\.|ak\.)?tensor\((.*)\)$/.exec(text)?.[1] ?? text;
  if (text.includes("^")) throw new Unclear("Write powers with `**`: `x ** 2`, not `x^2`.");
  const times = TIMES.exec(text);
  if (times && !/^[eE]\d*$/.test(times[2])) throw new Unclear(`A product needs its sign: \`${times[1]} * ${times[2]}\`.`);
  const tokens = tokensOf(text);
  const names = new Set();
  let at = 0;
  const unread = () => new Unclear(`\`${text}\` cannot be read: look at its brackets and signs.`);
  const next = (sign) => tokens[at]?.sign === sign && (at += 1) > 0;
  const need = (sign) => {
    if (!next(sign)) throw unread();
  };
  function sum() {
    let left = term();
    for (;;) {
      const sign = ["+", "-"].find(next);
      if (!sign) return left;
      left = both(sign, left, term());
    }
  }
  function term() {
    let left = signed();
    for (;;) {
      const sign = ["*", "/", "@"].find(next);
      if (!sign) return left;
      left = both(sign, left, signed());
    }
  }
  function signed() {
    if (next("-")) {
      const inner = signed();
      return (env) => mapped((x) => -x)(inner(env));
    }
    if (next("+")) return signed();
    const base = postfix();
    return next("**") ? both("**", base, signed()) : base;
  }
  const both = (sign, left, right) => (env) => OPERATORS[sign](left(env), right(env));
  function postfix() {
    let inner = atom();
    while (next(".")) {
      const name = tokens[at]?.name;
      at += 1;
      const own = inner;
      if (name === "T") inner = (env) => transposed(own(env));
      else {
        need("(");
        const args = list(")");
        if (name === "t" && !args.length) inner = (env) => transposed(own(env));
        else if (name === "sum") inner = (env) => summed(own(env), args.map((axis) => axis(env).data[0]));
        else if (FUNCTIONS[name] && !args.length) inner = (env) => FUNCTIONS[name](own(env));
        else if (FUNCTIONS[name] && args.length === 1 && own.isModule) inner = (env) => FUNCTIONS[name](args[0](env));
        else throw new Unclear(HOW);
      }
    }
    return inner;
  }
  function list(end) {
    const parts = [];
    while (!next(end)) {
      parts.push(sum());
      if (!next(",")) {
        need(end);
        break;
      }
    }
    return parts;
  }
  function stacked(parts) {
    return (env) => {
      const rows = parts.map((part) => part(env));
      if (rows.some((row) => String(row.shape) !== String(rows[0].shape))) {
        throw new Unclear("The rows of this matrix have different lengths.");
      }
      return { shape: [rows.length, ...(rows[0]?.shape ?? [])], data: rows.flatMap((row) => row.data) };
    };
  }
  function atom() {
    const token = tokens[at];
    at += 1;
    if (token?.number != null) return () => scalar(token.number);
    if (token?.name != null) {
      const { name } = token;
      if (tokens[at]?.sign === "(" && FUNCTIONS[name]) {
        at += 1;
        const args = list(")");
        if (args.length !== 1) throw new Unclear(HOW);
        return (env) => FUNCTIONS[name](args[0](env));
      }
      const isModule = (name === "torch" || name === "ak") && tokens[at]?.sign === ".";
      if (!isModule) names.add(name);
      const value = (env) => {
        if (Object.hasOwn(env, name)) return env[name];
        const known = Object.keys(env).map((own) => `\`${own}\``).join(", ");
        throw new Unclear(`\`${name}\` is not known here.${known ? ` Names here: ${known}.` : " Type a number."}`);
      };
      return Object.assign(value, { isModule });
    }
    if (token?.sign === "(") {
      const parts = [sum()];
      let isList = false;
      while (next(",")) {
        isList = true;
        if (tokens[at]?.sign === ")") break;
        parts.push(sum());
      }
      need(")");
      return isList ? stacked(parts) : parts[0];
    }
    if (token?.sign === "[") return stacked(list("]"));
    throw unread();
  }
  const value = sum();
  if (at !== tokens.length) throw unread();
  return { names, value };
}

/** How far a typed number may be off for having been rounded: 0.005 for `0.67`. */
export function rounding(text) {
  if (/[*/@A-Za-z]/.test(text)) return 0;
  const units = [...text.matchAll(/(?<![\w.])(\d*)\.(\d+)(?![\w.])/g)]
    .filter(([, before, decimals]) => (before + decimals).replace(/^0+/, "").length >= 2)
    .map(([, , decimals]) => 0.500001 * 10 ** -decimals.length);
  return Math.max(0, ...units);
}
