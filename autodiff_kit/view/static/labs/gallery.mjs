// gallery.mjs - the labs of the page that shows the design: without Python, what is moved stays moved.
// Read first: lab.mjs. The constant `lab` is what that exports.

for (const place of document.querySelectorAll("[data-lab]")) {
  const state = { ...JSON.parse(place.dataset.lab) };
  const heard = {};
  const model = {
    get: (name) => state[name],
    set(name, value) {
      state[name] = value;
      if (name !== "_moves" || "busy" in place.dataset) return;
      for (const [key, [count, moved]] of Object.entries(value)) {
        state._answered = { ...state._answered, [key]: count };
        state.state = { ...state.state, [key]: moved };
      }
      for (const listener of heard["change:_answered"] ?? []) listener();
    },
    save_changes() {},
    on: (name, listener) => (heard[name] ??= new Set()).add(listener),
    off: (name, listener) => heard[name]?.delete(listener),
  };
  lab.render({ model, el: place });
}
