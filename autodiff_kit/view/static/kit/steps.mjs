// What a step changes, and where keys lead: pure functions of the payload (view/scene.py).
// The payload holds every step, worked out in Python; the cursor walks over them. Read next: code.mjs.

/** Read a payload: zlib-deflated JSON in any byte container. Throws an Error whose message is for the learner. */
export async function inflate(bytes) {
  const raw = new Uint8Array(bytes.buffer ?? bytes, bytes.byteOffset ?? 0, bytes.byteLength);
  let payload;
  try {
    const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
    payload = JSON.parse(await new Response(stream).text());
  } catch {
    throw new Error("The recording is cut short or damaged, so there is nothing to draw. Run the cell again.");
  }
  if (payload?.version !== 1) {
    throw new Error(
      `The recording is in format ${payload?.version}, and this viewer reads format 1. ` +
        "Make it again with the version of autodiff_kit that is installed here.",
    );
  }
  if (!payload.frames?.length) {
    throw new Error("Nothing was recorded: there is no step to show. Use at least one tensor while recording.");
  }
  return payload;
}

export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/** "7 of 21 · backward" */
export const counterText = ({ frames }, k) => `${k + 1} of ${frames.length} · ${frames[k].phase}`;

/** The phases in their order: each runs from its first frame to the first of the next one, or to the end. */
export function phases(payload) {
  const runs = [];
  payload.frames.forEach(({ phase }, k) => {
    if (runs.at(-1)?.phase === phase) return;
    if (runs.length) runs.at(-1).to = k;
    runs.push({ phase, from: k, to: payload.frames.length - 1 });
  });
  return runs.filter(({ from, to }) => to > from);
}

/** The node frame k is about; frames about none (a `finish`) keep the last one, so that nothing flickers. */
export function focusOf(payload, k) {
  for (; k >= 0; k -= 1) if (payload.frames[k].node != null) return payload.frames[k].node;
  return null;
}

/** What frame k shows of each node, worked out from nothing, as `Picture.state` does; the cursor must agree. */
export function stateAt(payload, k) {
  const nodes = {};
  for (const [id, { since }] of Object.entries(payload.nodes)) {
    nodes[id] = { hidden: k < since, active: id === payload.frames[k].node };
  }
  for (const frame of payload.frames.slice(0, k + 1)) {
    for (const [id, fields] of Object.entries(frame.set)) Object.assign(nodes[id], fields);
  }
  return nodes;
}

/** What frame k shows of each arrow, worked out from nothing. */
export function alongAt(payload, k) {
  const edges = {};
  for (const frame of payload.frames.slice(0, k + 1)) {
    for (const [id, fields] of Object.entries(frame.along ?? {})) edges[id] = { ...edges[id], ...fields };
  }
  return edges;
}

/**
 * Walks over the frames and remembers how to walk back, so that a step costs what it changes and not what is
 * there. `moveTo(k)` returns the ids of the nodes that look different now.
 */
export function cursor(payload) {
  const fields = {}; // node id -> fields set so far
  const edges = {}; // arrow id -> fields set so far
  const undo = []; // frame -> [fields of what, key, value before]
  const born = payload.frames.map(() => []);
  for (const [id, node] of Object.entries(payload.nodes)) {
    fields[id] = {};
    born[node.since]?.push(id);
  }
  let at = -1;

  function forward(touched) {
    at += 1;
    undo[at] = [];
    const { set, along = {} } = payload.frames[at];
    for (const [all, changed] of [[fields, set], [edges, along]]) {
      for (const [id, changes] of Object.entries(changed)) {
        const own = (all[id] ??= {});
        for (const [key, value] of Object.entries(changes)) {
          undo[at].push([own, key, own[key]]);
          own[key] = value;
        }
      }
    }
    touch(touched);
  }

  function back(touched) {
    for (const [own, key, before] of undo[at].reverse()) {
      if (before === undefined) delete own[key];
      else own[key] = before;
    }
    touch(touched);
    at -= 1;
  }

  function touch({ nodes, along }) {
    const frame = payload.frames[at];
    for (const id of [...Object.keys(frame.set), ...born[at]]) nodes.add(id);
    for (const id of Object.keys(frame.along ?? {})) along.add(id);
  }

  return {
    fields,
    edges,
    hidden: (id) => at < payload.nodes[id].since,
    moveTo(k) {
      const touched = { nodes: new Set(), along: new Set() };
      while (at < k) forward(touched);
      while (at > k) back(touched);
      return touched;
    },
  };
}

/** The open parts around a node, the largest first. */
export function partsAround(payload, id) {
  const around = [];
  for (let at = payload.nodes[id]?.in; at != null; at = payload.parts[at].in) around.unshift(payload.parts[at]);
  return around;
}

/** The innermost open part around a node that can be folded. */
export const innermost = (payload, id) => partsAround(payload, id).findLast(({ stays }) => !stays);

/** The step of another drawing, told by its moments, in which a step is; as `Picture.same_moment`. */
export function sameMoment(moments, step, others) {
  const at = moments[step] ?? 0;
  const before = others.filter((moment) => moment <= at).length - 1;
  return Math.max(0, others[before] === at ? before : Math.min(before + 1, others.length - 1));
}

const isSame = (a, b) => a != null && b != null && a[0] === b[0] && a[1] === b[1];

/** The boxes of a part, by its key: the one that folds it, or all that are in it while it is open. */
export const boxesOf = (payload, key) =>
  Object.keys(payload.nodes).filter(
    (id) => isSame(payload.nodes[id].opens, key) || partsAround(payload, id).some((part) => isSame(part.key, key)),
  );

/** Where an arrow key leads from node `id`: up and down along edges, left and right in reading order. */
export function neighbour(payload, id, key, visible = () => true) {
  const order = payload.order.filter(visible);
  const at = order.indexOf(id);
  const along = (ids) => ids.find(visible);
  switch (key) {
    case "ArrowUp":
      return along(payload.nodes[id].inputs) ?? order[at - 1] ?? id;
    case "ArrowDown":
      return along(payload.nodes[id].consumers) ?? order[at + 1] ?? id;
    case "ArrowLeft":
      return order[at - 1] ?? id;
    case "ArrowRight":
      return order[at + 1] ?? id;
    case "Home":
      return order[0] ?? id;
    case "End":
      return order.at(-1) ?? id;
    default:
      return null;
  }
}
