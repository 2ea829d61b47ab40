// What a viewer has in place of Jupyter's model, where there is no Jupyter. Read next: kit.mjs.

/** A model of anywidget's kind: `state` is a plain object, and who listens hears of each value that changes. */
export function modelOf(state) {
  const listeners = {};
  return {
    get: (name) => state[name],
    set(name, value) {
      if (state[name] === value) return;
      state[name] = value;
      listeners[`change:${name}`]?.forEach((listener) => listener());
    },
    on: (name, listener) => (listeners[name] ??= new Set()).add(listener),
    off: (name, listener) => listeners[name]?.delete(listener),
    save_changes() {},
  };
}
