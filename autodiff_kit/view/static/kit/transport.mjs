// Buttons and slider that go from step to step. Read next: kit.mjs.

import { button, icon, make } from "./dom.mjs";
import { clamp, counterText, phases } from "./steps.mjs";

const SPEEDS = [["0.5", "½×"], ["1", "1×"], ["2", "2×"], ["4", "4×"]];

/** Buttons, slider, counter, speed. `go` is asked to change the step; `show` is told that it changed. */
export function transport(payload, go) {
  const last = payload.frames.length - 1;
  const buttons = {
    first: button("first", "First step"),
    back: button("back", "Step back", "p"),
    play: button("play", "Play"),
    forward: button("forward", "Step forward", "n"),
    last: button("last", "Last step"),
  };
  buttons.back.setAttribute("aria-keyshortcuts", "p");
  buttons.forward.setAttribute("aria-keyshortcuts", "n");
  const slider = make("input", { type: "range", class: "adk-range", min: 0, max: last, "aria-label": "Step" });
  const counter = make("span", { class: "adk-counter" });
  const speeds = SPEEDS.map(([value, text]) => make("option", { value }, text));
  const speed = make("select", { class: "adk-speed", "aria-label": "Speed", title: "Speed" }, ...speeds);
  speed.value = "1";

  // The track: one piece for each phase, a mark where it turns; each fills up by itself.
  const track = make("div", { class: "adk-track", "aria-hidden": "true" });
  const fills = phases(payload).map(({ phase, from, to }) => {
    const done = make("div", { class: "adk-done" });
    const name = make("span", { class: "adk-piece-name" }, phase);
    const piece = make("div", { class: `adk-piece adk-piece-${phase}` }, name, done);
    piece.style.setProperty("--adk-from", from / last);
    piece.style.setProperty("--adk-to", to / last);
    track.append(piece);
    return (k) => done.style.setProperty("--adk-part", clamp((k - from) / (to - from), 0, 1));
  });

  let timer = null;
  let at = 0;
  function stop() {
    if (timer == null) return;
    clearTimeout(timer);
    timer = null;
    face("play", "Play");
  }
  function face(name, label) {
    buttons.play.replaceChildren(icon(name));
    buttons.play.setAttribute("aria-label", (buttons.play.title = label));
  }
  function tick() {
    go(at + 1);
    if (at >= last) stop();
    else timer = setTimeout(tick, 1000 / Number(speed.value));
  }
  function play() {
    if (timer != null) return stop();
    face("pause", "Pause");
    if (at >= last) go(0);
    timer = setTimeout(tick, 1000 / Number(speed.value));
  }
  const by = (k) => (stop(), go(k));
  buttons.first.addEventListener("click", () => by(0));
  buttons.back.addEventListener("click", () => by(at - 1));
  buttons.play.addEventListener("click", play);
  buttons.forward.addEventListener("click", () => by(at + 1));
  buttons.last.addEventListener("click", () => by(last));
  slider.addEventListener("input", () => by(Number(slider.value)));

  return {
    element: make(
      "div",
      { class: "adk-transport", role: "group", "aria-label": "Steps" },
      make("div", { class: "adk-buttons" }, ...Object.values(buttons)),
      make("div", { class: "adk-slider" }, track, slider),
      counter,
      speed,
    ),
    stop,
    by,
    at: () => at,
    show(k) {
      at = k;
      slider.value = k;
      slider.setAttribute("aria-valuetext", counterText(payload, k));
      counter.textContent = counterText(payload, k);
      fills.forEach((fill) => fill(k));
      const ends = { first: k === 0, back: k === 0, forward: k === last, last: k === last };
      // not `disabled`: that would take the focus away from a person who steps with Enter
      for (const [name, end] of Object.entries(ends)) buttons[name].setAttribute("aria-disabled", end);
    },
  };
}
