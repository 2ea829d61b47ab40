// Which open parts are around a node, and folding them again. Read next: kit.mjs.

import { make } from "./dom.mjs";
import { partsAround } from "./steps.mjs";

/**
 * The line that says where one is: the open parts around a node, the largest first, then the node; and, for the head of
 * the card, a hint at the keys. `fold` folds a part by its key; without Python there is none, and the names are only to
 * be read.
 */
export function crumbsBar(payload, fold) {
  const path = make("div", { class: "adk-path" });
  const canOpen = Object.values(payload.nodes).some(({ opens }) => opens);
  const canFold = payload.parts.some(({ stays }) => !stays);
  const hint = make("span", { class: "adk-hint" });
  const element = make("nav", { class: "adk-crumbs", "aria-label": "Parts around this node" }, path);
  element.hidden = !payload.parts.length; // else there is nothing around any node

  function crumb({ title, key, stays }) {
    if (!fold || stays) return make("span", {}, title);
    const label = `Fold ${title} again`;
    const button = make("button", { type: "button", class: "adk-crumb", "aria-label": label, title: label }, title);
    button.addEventListener("click", () => fold(key));
    return button;
  }
  return {
    element,
    hint,
    show(id) {
      const around = partsAround(payload, id);
      const folds = canFold && around.some(({ stays }) => !stays) && "f folds this group";
      hint.textContent = fold ? [canOpen && "Enter opens a box", folds].filter(Boolean).join(", ") : "";
      const name = make("b", {}, payload.nodes[id]?.name ?? "");
      const items = [make("span", {}, "whole run"), ...around.map(crumb), name];
      path.replaceChildren(...items.flatMap((item, k) => (k ? [make("span", { class: "adk-slash" }, "/"), item] : [item])));
    },
  };
}
