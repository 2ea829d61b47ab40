// The page around an open lesson: a first look while Python starts, and what becomes of the work.

import { broughtBack, damage, newVersion, putBeside, taken } from "./work.mjs";

const element = (id) => document.getElementById(id);
const lessons = JSON.parse(element("lessons").textContent);
const wish = new URLSearchParams(location.search).get("path");
const lesson = lessons.find(({ path }) => path === wish) ?? lessons[0];

const STARTS = [
  "The notebook is loading …",
  "Python is loading …",
  "Python is ready",
];

element("title").textContent = lesson.title;
document.title = lesson.title;

function say(done, text, isBad = false) {
  const status = element("status");
  status.classList.toggle("bad", isBad);
  element("words").textContent = text;
  element("bar").hidden = isBad || done === STARTS.length - 1;
  element("bar").value = done + 1;
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** JupyterLite in the frame, once it is there. */
async function app(frame) {
  for (;;) {
    const found = frame.contentWindow?.jupyterapp;
    if (found?.shell?.currentWidget?.sessionContext) return found;
    await pause(100);
  }
}

async function start(path = lesson.path) {
  const frame = element("notebook");
  delete document.documentElement.dataset.ready;
  frame.src = `notebooks/index.html?path=${encodeURIComponent(path)}`;
  say(0, STARTS[0]);
  const jupyter = await app(frame);
  say(1, STARTS[1]);
  const { sessionContext, context } = jupyter.shell.currentWidget;
  await context.ready;
  followLinks(frame.contentDocument);
  if (path === lesson.path) offerNew(jupyter.serviceManager.contents).catch(() => {}); // where nothing can be stored
  await sessionContext.ready;
  for (;;) {
    const kernel = sessionContext.session?.kernel;
    if (kernel) {
      await kernel.requestExecute({ code: "None", silent: true }).done;
      break;
    }
    await pause(100);
  }
  say(2, STARTS[2]);
  element("go").disabled = false;
  element("go").textContent = "Go to the lesson";
  element("wait").textContent = "Python is ready. Step on as long as you like.";
  document.documentElement.dataset.ready = "true";
  keepForLater(frame).catch(() => {}); // it is tried again at the next visit
}

/** Say that the site has a new version of a lesson that the learner has begun; theirs is never overwritten. */
async function offerNew(contents) {
  const { path } = lesson;
  const notebook = await newVersion(contents, path, localStorage);
  if (!notebook) return;
  element("news").hidden = false;
  element("open-new").addEventListener("click", async () => {
    await saveOpen();
    const name = await putBeside(contents, path, notebook, localStorage);
    element("news").hidden = true;
    showLook(false);
    start(name).catch(failed);
  });
}

/** Let a notebook's links to others open as lessons do; JupyterLite would ask a server for its own page of them. */
function followLinks(notebook) {
  const files = new URL("files/", location.href).href;
  const follow = (event) => {
    const address = event.target.closest?.("a[href]")?.href ?? "";
    if (!String(address).startsWith(files)) return;
    const path = decodeURIComponent(address.slice(files.length).split(/[?#]/)[0]);
    if (!path.endsWith(".ipynb")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const isLesson = lessons.some((other) => other.path === path);
    const page = `${isLesson ? "lesson.html" : "lab/index.html"}?path=${encodeURIComponent(path)}`;
    if (!isLesson || event.ctrlKey || event.metaKey || event.shiftKey) window.open(page, "_blank");
    else saveOpen().finally(() => location.assign(page));
  };
  notebook.addEventListener("click", follow, { capture: true }); // before anything of JupyterLite
}

/** Ask once more for all that was loaded: the service worker keeps it, and the site works offline. */
async function keepForLater(frame) {
  if (!navigator.serviceWorker) return; // not on a page that is neither https nor this machine's own
  await navigator.serviceWorker.ready;
  while (!navigator.serviceWorker.controller) await pause(100);
  const documents = ["index.html", location.pathname, frame.contentWindow.location.href];
  const loaded = [window, frame.contentWindow].flatMap((w) =>
    w.performance.getEntriesByType("resource").map(({ name }) => name),
  );
  const files = await (await fetch("offline.json")).json();
  const urls = new Set([...documents, ...loaded, ...files].map((name) => new URL(name, location.href).href));
  for (const url of urls) {
    const { origin, pathname } = new URL(url);
    if (origin === location.origin && /\/api\/(drive|stdin|service)/.test(pathname)) continue;
    await fetch(url, { cache: "force-cache" }).catch(() => {});
  }
  document.documentElement.dataset.offline = "true";
}

// -- the first look

function showLook(isShown) {
  element("look").hidden = !isShown;
  element("again").hidden = isShown;
  if (!isShown) element("notebook").focus();
}
element("go").addEventListener("click", () => showLook(false));
element("again").addEventListener("click", () => showLook(true));

// -- the work

const contents = async () => (await app(element("notebook"))).serviceManager.contents;

async function saveOpen() {
  const { context } = (await app(element("notebook"))).shell.currentWidget;
  if (context.model.dirty) await context.save();
}

element("take").addEventListener("click", async () => {
  await saveOpen();
  const work = await taken(await contents());
  if (!work.files.length) return tell("There is nothing to take along yet.", "You have changed no notebook and answered no question here.");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(work)], { type: "application/json" }));
  link.download = `my-work-${work.made.slice(0, 10)}.json`;
  link.click();
  URL.revokeObjectURL(link.href);
  const names = work.files.map(({ path }) => path);
  tell("Your work is in the file that was downloaded.", "Keep it. “Bring work back” reads it here or on another computer. It holds:", names);
});

element("bring").addEventListener("click", () => element("file").click());
element("file").addEventListener("change", async () => {
  const [file] = element("file").files;
  element("file").value = "";
  if (!file) return;
  let work = null;
  try {
    work = JSON.parse(await file.text());
  } catch {
    // said below
  }
  const wrong = damage(work);
  if (wrong) return tell("Nothing was changed.", wrong);
  let saved;
  try {
    saved = await broughtBack(await contents(), work);
  } catch (error) {
    return tell("Not everything is back.", `This browser did not keep a file (${error.message ?? error}). Nothing was overwritten: make room, then try again.`);
  }
  if (!saved.length) return tell("Everything in this file is here already.", "Nothing was changed.");
  const names = saved.map(([path, name]) => (path === name ? path : `${path}, as ${name}: you have another one here`));
  tell("Your work is back.", "Reload the page to see it in an open notebook. Nothing was overwritten.", names);
});

function tell(headline, text, names = []) {
  element("headline").textContent = headline;
  element("text").textContent = text;
  element("names").replaceChildren(
    ...names.map((name) => Object.assign(document.createElement("li"), { textContent: name })),
  );
  element("told").showModal();
}
element("close").addEventListener("click", () => element("told").close());

// Python starts when the first look is there to be seen.
const look = element("first");
look.addEventListener("load", () => setTimeout(run, 50), { once: true });
look.src = `looks/${lesson.look}`;
look.focus(); // its keys work at once
const failed = (error) => say(0, `Python did not start: ${error.message ?? error}. Reload the page.`, true);
let isRunning = false;
function run() {
  if (isRunning) return;
  isRunning = true;
  start().catch(failed);
}
setTimeout(run, 3000);
