// Where a search leads: to a node, to a step, to the next step about a node. Pure functions.
// Read next: find_box.mjs.

/** Is it a condition, for Python to work out, and not a name to look for? */
export const isCondition = (text) => /[<>=!()]|\b(and|or|not|in|is)\b/.test(text);

/** The ids of the nodes of this name; without one, of those whose name or operation has `text` in it. */
export function named(payload, text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const operation = (facts) => facts.find(([label]) => label === "operation")?.[1] ?? "";
  const of = ({ title, aria, facts }) => [title.split(" = ")[0], aria, operation(facts)];
  const isNamed = (id) => payload.nodes[id].title.split(" = ")[0].toLowerCase() === wanted;
  if (payload.order.some(isNamed)) return payload.order.filter(isNamed); // not all that use it
  const isIn = (words) => words.toLowerCase().includes(wanted);
  return payload.order.filter((id) => of(payload.nodes[id]).some(isIn));
}

/** The one after `current` (or before it), round and round; the first one if `current` is none of them. */
export function nextOf(ids, current, way) {
  const at = ids.indexOf(current);
  if (at < 0) return ids.at(way > 0 ? 0 : -1) ?? null;
  return ids[(at + way + ids.length) % ids.length];
}

/** Of steps in their order, the first after step `at`, or the last before it; null if there is none. */
export const nextStep = (steps, at, way) =>
  (way > 0 ? steps.find((k) => k > at) : steps.findLast((k) => k < at)) ?? null;

/** The steps that are about a node, or change what is shown of it. */
export function stepsOf(payload, id) {
  const found = [];
  payload.frames.forEach((frame, k) => (frame.node === id || frame.set[id]) && found.push(k));
  return found;
}
