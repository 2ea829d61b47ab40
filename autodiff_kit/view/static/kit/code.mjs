// The learner's code as pieces that can be lit, and which node a place in it belongs to.
// Pure functions. Read next: panning.mjs.

const before = (line, column, otherLine, otherColumn) =>
  line < otherLine || (line === otherLine && column < otherColumn);

/** Does WHERE cover the character at (source, line, column)? Lines count from 1, columns from 0. */
export function covers(where, source, line, column) {
  if (!where || where[0] !== source) return false;
  const [, line0, column0, line1, column1] = where;
  return !before(line, column, line0, column0 ?? 0) && before(line, column, line1, column1 ?? Infinity);
}

/**
 * The node made by the innermost sub-expression at this place. Code in a loop makes several: asking again
 * with the last answer as `current` goes round them.
 */
export function nodeAtSource(payload, source, line, column, current = null, visible = () => true) {
  const inside = (a, b) =>
    !before(a[1], a[2] ?? 0, b[1], b[2] ?? 0) && !before(b[3], b[4] ?? Infinity, a[3], a[4] ?? Infinity);
  let innermost = null;
  let found = [];
  for (const id of payload.order) {
    const where = payload.nodes[id].where;
    if (!visible(id) || !covers(where, source, line, column)) continue;
    const same = innermost && String(where) === String(innermost);
    if (same) found.push(id);
    else if (!innermost || inside(where, innermost)) [innermost, found] = [where, [id]];
  }
  found.sort((a, b) => payload.nodes[a].since - payload.nodes[b].since);
  return found[(found.indexOf(current) + 1) % found.length] ?? null;
}

const TOKENS = new RegExp(
  [
    /(?<comment>#.*)/,
    /(?<string>[rbfu]*(?:"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?))/,
    /(?<number>\b\d[\w.]*)/,
    /(?<word>[\p{L}_][\p{L}\p{N}_]*)/u,
  ]
    .map((part) => part.source)
    .join("|"),
  "giu",
);

const KEYWORDS = new Set(
  ("and as assert async await break class continue def del elif else except finally for from global if import in is " +
    "lambda None nonlocal not or pass raise return True False try while with yield").split(" "),
);

/** Colours of one line: [[start, end, kind], ...] in characters (code points, as Python counts them). */
export function tokens(text) {
  const found = [];
  for (const match of text.matchAll(TOKENS)) {
    const groups = match.groups;
    const kind =
      (groups.comment && "comment") ||
      (groups.string && "string") ||
      (groups.number && "number") ||
      (KEYWORDS.has(groups.word) && "keyword");
    if (!kind) continue;
    const start = [...text.slice(0, match.index)].length;
    found.push([start, start + [...match[0]].length, kind]);
  }
  return found;
}

/** Cut every source line where any node or frame begins or ends, so that lighting is only toggling a class. */
export function segments(payload) {
  const cuts = payload.sources.map((source) => source.lines.map(() => new Set([0])));
  const explained = payload.frames.flatMap(({ explanation }) => explanation?.places ?? []);
  const shown = [...Object.values(payload.nodes), ...payload.frames, ...explained].map(({ where }) => where);
  const places = [...shown, ...(payload.places ?? [])];
  for (const where of places.filter(Boolean)) {
    const [source, line0, column0, line1, column1] = where;
    cuts[source]?.[line0 - 1]?.add(column0 ?? 0);
    if (column1 != null) cuts[source]?.[line1 - 1]?.add(column1);
  }
  return payload.sources.map((source, s) =>
    source.lines.map((text, l) => {
      const characters = [...text];
      const colours = tokens(text);
      colours.forEach(([start, end]) => cuts[s][l].add(start).add(end));
      const starts = [...cuts[s][l]].filter((cut) => cut < characters.length).sort((a, b) => a - b);
      return starts.map((start, i) => {
        const end = starts[i + 1] ?? characters.length;
        const colour = colours.find(([from, to]) => from <= start && end <= to);
        return { start, end, text: characters.slice(start, end).join(""), kind: colour?.[2] ?? null };
      });
    }),
  );
}

/** Where to scroll to, so that start to end is in sight: nowhere if it is, and its start if it is too long. */
export function scrolled(from, room, start, end, margin) {
  if (start >= from && end <= from + room) return from;
  const late = end + margin - room;
  return Math.max(0, start < from ? Math.min(start - margin, from) : Math.min(late, start - margin));
}

/** The same from whole rows on, of which `tops` has where they begin: the first one in sight is not cut. */
export function toWholeLines(tops, from, room, start, end, margin) {
  const to = scrolled(from, room, start, end, margin);
  return to === from ? from : Math.min(tops.find((top) => top >= to) ?? start, start);
}

/** How many characters the rows that continue a line are indented: more than the line, and no more than leaves them room. */
export const hanging = (text) => Math.min(text.length - text.trimStart().length + 4, 16);
