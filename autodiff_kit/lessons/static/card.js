// card.js - draws the cards of the lessons: a framed text and, for a question, the form to answer it.
//
// All text comes from Python, where it was escaped, and Python judges: this file shows what is in the traits `body`,
// `form` and `state`, and sends {answer: "..."} or {look: true}. Nothing here asks the network.

import { ownKeys } from "../../view/static/kit/keys.mjs";

const PATIENCE = 5000; // ms until we say that Python does not answer
const SILENCE =
  "Python has not answered. If it was restarted, or the notebook was opened again, since this cell was run, it " +
  "knows nothing of this question: run the cells above (Run > Run All Above Selected Cell) and then this one " +
  "(Shift+Enter). Otherwise wait until the cell that is running has ended.";
const MARKS = { right: "✓", wrong: "✗" };
let made = 0; // radio buttons and labels need names of their own in the page, one set per view

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function written(html, attributes = {}) {
  const element = make("div", attributes);
  element.innerHTML = html;
  return element;
}

/** Lets links to notebooks open as Jupyter opens its own; elsewhere they are only words. */
function follow(part) {
  for (const link of part.querySelectorAll('a[href$=".ipynb"]')) {
    const name = link.getAttribute("href");
    const { pathname } = window.location;
    if (/\/notebooks\/index\.html$/.test(pathname)) link.href = `../files/${name}`; // the kit in a link: as in lesson.mjs
    else if (/\/notebooks\//.test(pathname)) link.target = "_blank"; // Notebook 7
    else if (/\/(lab|doc)(\/|$)/.test(pathname)) {
      link.dataset.commandlinkerCommand = "docmanager:open"; // of JupyterLab, which hears the click after this
      link.addEventListener("click", () => {
        const folder = decodeURIComponent(window.location.pathname).match(/\/tree\/(.*\/)?/)?.[1] ?? "";
        link.dataset.commandlinkerArgs = JSON.stringify({ path: folder + name });
      });
    } else link.replaceWith(...link.childNodes);
  }
}

function choiceRow(choice, name) {
  const input = make("input", { type: "radio", name, value: choice.value });
  const mark = make("span", { class: "adk-q-mark", "aria-hidden": "true" });
  const text = make("span", {});
  text.innerHTML = choice.html;
  return { input, mark, row: make("label", { class: "adk-q-choice" }, input, text, mark) };
}

/** The form below a question; returns its element and a function that takes it away again. */
function questionForm(model, labelId, name) {
  const { kind, words, choices, placeholder = "" } = model.get("form");
  const rows = choices.map((choice) => choiceRow(choice, name));
  const field = kind === "choice" ? null : make("input", {
    type: "text", class: "adk-q-field", "aria-labelledby": labelId, autocomplete: "off", autocapitalize: "off",
    spellcheck: "false", maxlength: 200, placeholder,
  });
  const check = make("button", { type: "button", class: "adk-q-button adk-q-check" }, words.check);
  const look = make("button", { type: "button", class: "adk-q-button", hidden: "" }, "Show the answer");
  const feedback = make("div", { class: "adk-q-feedback", role: "status", "aria-live": "polite" });
  const note = make("div", { class: "adk-q-note" });
  const answers = field
    ? make("div", { class: "adk-q-typed" }, field)
    : make("div", { class: "adk-q-choices", role: "radiogroup", "aria-labelledby": labelId }, ...rows.map((row) => row.row));

  let waiting = 0;
  let sent = false; // from here: only then does the reply come into view
  function silence() {
    feedback.dataset.outcome = "";
    feedback.textContent = SILENCE;
    reveal();
  }
  function reveal() {
    if (sent) (note.textContent ? note : feedback).scrollIntoView({ block: "nearest" });
    sent = false;
  }
  function send(content) {
    sent = true;
    clearTimeout(waiting);
    waiting = setTimeout(silence, PATIENCE);
    feedback.dataset.outcome = "";
    feedback.textContent = "checking…";
    try {
      model.send(content);
    } catch {
      silence(); // the kernel is gone
    }
  }
  const chosen = () => (field ? field.value : rows.find((row) => row.input.checked)?.input.value ?? "");
  check.addEventListener("click", () => send({ answer: chosen() }));
  look.addEventListener("click", () => send({ look: true }));
  answers.addEventListener("keydown", (event) => {
    if (event.key === "Enter") check.click();
  });

  function show() {
    clearTimeout(waiting);
    const state = model.get("state");
    feedback.innerHTML = state.feedback;
    feedback.dataset.outcome = state.outcome;
    note.innerHTML = state.note;
    if (state.outcome === "wrong") look.hidden = false;
    for (const row of rows) {
      if (row.input.value === state.given) row.input.checked = true;
      row.mark.textContent = MARKS[state.marks?.[row.input.value]] ?? "";
    }
    if (field && state.given && document.activeElement !== field) field.value = state.given;
    reveal();
  }
  model.on("change:state", show);
  show();
  return {
    element: make("div", {}, answers, make("div", { class: "adk-q-buttons" }, check, look), feedback, note),
    end() {
      clearTimeout(waiting);
      model.off("change:state", show);
    },
  };
}

function render({ model, el }) {
  const name = `adk-q-${++made}-${Math.random().toString(36).slice(2)}`;
  const form = model.get("form");
  const asks = Boolean(form?.kind);
  const card = make("div", { class: "adk-q", role: "group", "aria-label": asks ? "Question" : "Progress" });
  if (asks) card.append(make("div", { class: "adk-q-kicker" }, form.words.heading));
  const text = written(model.get("body"), { class: "adk-q-text", id: name });
  follow(text);
  card.append(text);
  const answering = asks ? questionForm(model, name, `${name}-choice`) : null;
  if (answering) card.append(answering.element);
  el.append(card);
  // Shift+Enter where an answer is given checks it: to run the cell anew would lose it.
  const endKeys = ownKeys(card, ({ key, target }) => key === "Enter" && target.matches("input"));
  return () => {
    answering?.end();
    endKeys();
  };
}

export default { render };
