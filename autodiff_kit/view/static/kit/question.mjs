// The question, the ways to answer it, and what came of an answer. Read next: performing.mjs.

import { make } from "./dom.mjs";

/** Text in which code stands between backticks, as nodes. */
export function worded(text) {
  return text.split("`").map((words, k) => (k % 2 ? make("code", {}, words) : words));
}

const press = (name, label, act) => {
  const element = make("button", { type: "button", class: `adk-press adk-press-${name}` }, ...worded(label));
  element.addEventListener("click", act);
  return element;
};

/** Whether a value is typed, and not chosen from options. */
export const isTyped = (task, level) => task.kind === "value" && (level === "free" || level === "exam" || !task.options.length);

const NOTHING = "nothing"; // an option that says that no other one is right
const KINDS = { right: ["✓", "Right"], wrong: ["✕", "Not quite"], unclear: ["?", "Please write it differently"], noted: ["·", "Noted"] };

/** The pane of the question; `act` has answer(response), smaller(), leave(), next(), again(), restart(). */
export function questionPane(act) {
  const before = make("div", { class: "adk-verdict", role: "status", "aria-live": "polite" });
  const step = make("p", { class: "adk-ask-step" });
  const prompt = make("h4", { class: "adk-prompt", tabindex: "-1" });
  const hint = make("p", { class: "adk-ask-hint" });
  const ways = make("div", { class: "adk-ways" });
  const more = make("div", { class: "adk-more" });
  const body = make("div", { class: "adk-ask-body" }, step, prompt, hint, ways, before, more);
  const element = make("section", { class: "adk-ask", "aria-label": "Question" }, body);
  let typed = null;
  let task = null;
  let wrong = new Set(); // options that were tried

  function say(outcome, text, heading = KINDS[outcome]?.[1]) {
    before.replaceChildren();
    before.className = `adk-verdict${outcome ? ` adk-verdict-${outcome}` : ""}`;
    if (!outcome) return;
    const sign = make("span", { class: "adk-sign-of", "aria-hidden": "true" }, KINDS[outcome][0]);
    before.append(make("p", { class: "adk-verdict-head" }, sign, heading), make("p", {}, ...worded(text)));
  }

  function options(chosen) {
    const isMany = task.kind === "several";
    const list = make("div", { class: "adk-options", role: isMany ? "group" : "list" });
    task.options.forEach(({ value, text }, k) => {
      const number = make("span", { class: "adk-option-key", "aria-hidden": "true" }, String(k + 1));
      const one = make("button", { type: "button", class: "adk-option", "data-value": value }, number, make("span", {}, ...worded(text)));
      if (isMany) one.setAttribute("aria-pressed", String(chosen.has(value)));
      one.classList.toggle("adk-tried", wrong.has(value));
      one.addEventListener("click", () => {
        if (!isMany) return act.answer(value);
        if (!chosen.delete(value)) {
          if (value === NOTHING || chosen.has(NOTHING)) chosen.clear(); // it cannot be chosen beside another one
          chosen.add(value);
        }
        for (const each of list.querySelectorAll(".adk-option")) {
          each.setAttribute("aria-pressed", String(chosen.has(each.dataset.value)));
        }
      });
      list.append(isMany ? one : make("div", { role: "listitem" }, one));
    });
    ways.append(list);
    if (isMany) ways.prepend(make("p", {}, "Choose one or several:"));
    if (isMany) ways.append(press("check", "Check", () => act.answer([...chosen])));
  }

  function field() {
    const names = Object.keys(task.names).filter((name) => name !== "g");
    const words = ["A number", task.answers.some(({ at }) => at?.[0].shape.length) && "a list such as `[1, 2]`"];
    if (names.length) words.push(`an expression in ${names.map((name) => `\`${name}\``).join(", ")}`);
    const label = `${words.filter(Boolean).join(", or ")}${task.names.g ? "; `g` is the gradient flowing in" : ""}`;
    typed = make("input", { class: "adk-typed", spellcheck: "false", autocomplete: "off", autocapitalize: "off", type: "text" });
    typed.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      act.answer(typed.value);
    });
    const row = make("div", { class: "adk-row" }, typed, press("check", "Check", () => act.answer(typed.value)));
    ways.append(make("label", { class: "adk-field" }, make("span", {}, ...worded(label)), row));
  }

  return {
    element,
    say,
    /** Ask a task; `chosen` holds boxes or options that were chosen so far. */
    ask(next, { level, chosen, isWorked, isSmaller, words }) {
      if (next !== task) wrong = new Set();
      task = next;
      typed = null;
      step.textContent = words;
      prompt.replaceChildren(...worded(task.prompt));
      hint.replaceChildren(...(isWorked && task.kind !== "value" ? [] : worded(task.hint))); // nothing is to be chosen
      ways.replaceChildren();
      more.replaceChildren();
      element.classList.toggle("adk-smaller", isSmaller);
      if (isWorked) {
        ways.append(make("p", { class: "adk-shown" }, "Answer: ", ...worded(task.reveal)));
        if (task.right) ways.append(make("p", {}, ...worded(task.right)));
        ways.append(press("check", "Next step", act.next));
      } else if (isTyped(task, level)) field();
      else if (task.options.length) options(chosen);
      else if (task.kind === "nodes") ways.append(press("check", "Check", () => act.answer([...chosen])));
      if (isSmaller) more.append(press("plain", "Back to the question", act.leave));
    },
    /** After a wrong answer: mark what was tried, and offer what helps. */
    offer(response, offersSmaller) {
      if (typeof response === "string") wrong.add(response);
      for (const one of ways.querySelectorAll(".adk-option")) {
        one.classList.toggle("adk-tried", wrong.has(one.dataset.value));
      }
      more.replaceChildren(press("plain", "Try again", act.again));
      if (offersSmaller) more.prepend(press("check", "A smaller question", act.smaller));
    },
    quiet() {
      say("");
      more.replaceChildren();
    },
    /** The end: what was mastered, and what to try again. */
    end(result, script, wasExam, list) {
      step.textContent = "The end";
      const counts = [result.asked && `${result.at_once} of ${result.asked} answers right at once`, result.later && `${result.later} later`];
      counts.push(result.looked && `${result.looked} ${result.looked > 1 ? "steps" : "step"} shown`);
      prompt.replaceChildren(counts.filter(Boolean).join(", "));
      hint.replaceChildren();
      ways.replaceChildren();
      more.replaceChildren();
      element.classList.remove("adk-smaller");
      const section = (title, items, name) => {
        if (!items.length) return;
        const rows = items.map((words) => make("li", {}, ...worded(words)));
        ways.append(make("h5", {}, title), make("ul", { class: `adk-list-of adk-list-${name}` }, ...rows));
      };
      section("Mastered: you can", result.mastered.map((about) => script.concepts[about]), "good");
      section("Look at this again", result.misconceptions.map((name) => script.lessons[name]), "bad");
      section("One of these, perhaps", result.possible.map((name) => script.lessons[name]), "bad");
      section("Practise", result.practise.map((about) => script.concepts[about]), "again");
      section("Shown, not asked yet: choose the level Guided", result.only_shown.map((about) => script.concepts[about]), "again");
      if (wasExam) section("Your answers that were not right", list, "bad");
      more.append(press("check", "Perform it again", act.restart));
    },
    /** The end of a performance for points: what was right is told elsewhere. */
    close(count, words) {
      step.textContent = "The end";
      prompt.replaceChildren(`All ${count} questions are answered`);
      hint.replaceChildren();
      ways.replaceChildren(make("p", {}, ...worded(words)));
      more.replaceChildren(press("plain", "Draw a new graph", act.restart));
    },
    focus() {
      (typed ?? ways.querySelector("button") ?? prompt).focus({ preventScroll: true });
    },
    /** Choose an option by its number; says whether there is one. */
    press(number) {
      const one = ways.querySelectorAll(".adk-option")[number - 1];
      one?.click();
      return one != null;
    },
    /** Press the button that goes on, if there is one. */
    check: () => ways.querySelector(".adk-press-check")?.click(),
    isTyping: () => document.activeElement === typed,
  };
}
