// What the step says that an error has ended: what happened, what to write instead, the message.
// Read next: inspector_pane.mjs, in whose place it stands.

import { make, scrolling } from "./dom.mjs";

const BEFORE = "The steps before this one are what led here: p, or the arrow to the left, goes back.";

/** Words in which code stands between backticks. */
const withCode = (words) => words.split("`").map((part, i) => (i % 2 ? make("code", {}, part) : part));

/** The explanation; `go` is asked to show a place in the code and in the graph. */
export function errorPane(payload, explanation, go) {
  const { error, title, places, fix, message } = explanation;
  const list = make("ol", { class: "adk-places" });
  places.forEach((place, i) => {
    const number = make("span", { class: "adk-place-number", "aria-hidden": "true" }, String(i + 1));
    const line = place.line && make("span", { class: "adk-place-line" }, `line ${place.line}`);
    const show = make("button", { type: "button", class: "adk-place-button", title: "Show it" }, number, line ?? "");
    show.setAttribute("aria-label", `Place ${i + 1}${line ? `, ${line.textContent}` : ""}: show it`);
    show.addEventListener("click", () => go(place));
    list.append(make("li", {}, show, make("p", {}, ...withCode(place.words))));
  });
  const body = make("div");
  const part = (kind, name, ...content) => {
    body.append(make("section", { class: `adk-part-${kind}` }, make("h4", {}, name), ...content));
  };
  if (title) part("places", "What happened", list);
  if (fix) part("fix", "How to fix it", make("p", {}, ...withCode(fix)));
  part("message", "Message", make("pre", {}, `${error}: ${message}`));
  if (payload.frames.length > 1) body.append(make("p", { class: "adk-before" }, BEFORE));
  const pane = scrolling("adk-explanation", "Explanation of the error");
  pane.append(body);
  return pane;
}
