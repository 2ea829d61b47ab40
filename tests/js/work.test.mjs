// A learner's work as one file: what it holds, and that bringing it back loses nothing.

import assert from "node:assert/strict";
import test from "node:test";

import { broughtBack, damage, newVersion, putBeside, taken } from "../../autodiff_kit/site/static/work.mjs";

const notebook = (source, outputs = []) => ({ cells: [{ cell_type: "code", source, outputs }], metadata: {} });

/** The part of JupyterLite's contents that is used: paths with what they hold. */
function contentsOf(files) {
  const isBelow = (path, folder) => path.startsWith(folder && `${folder}/`) && path !== folder;
  return {
    files,
    async get(path) {
      if (path in files) return { path, ...files[path] };
      const below = Object.keys(files).filter((name) => isBelow(name, path));
      if (path && !below.length) throw new Error(`no such file: ${path}`);
      const names = new Set(below.map((name) => name.slice(path ? path.length + 1 : 0).split("/")[0]));
      const content = [...names]
        .filter((name) => !name.startsWith("."))
        .map((name) => (path ? `${path}/${name}` : name))
        .map((name) => ({ path: name, type: name in files ? files[name].type : "directory" }));
      return { path, type: "directory", content };
    },
    async save(path, model) {
      files[path] = model;
    },
  };
}

const asNotebook = (...given) => ({ type: "notebook", format: "json", content: notebook(...given) });
const asText = (content) => ({ type: "file", format: "text", content });

/** Let the site hold these files. */
function ship(files) {
  globalThis.fetch = async (url) => {
    const path = decodeURIComponent(url.replace(/^files\//, ""));
    const ok = path in files;
    const text = ok && (typeof files[path] === "string" ? files[path] : JSON.stringify(files[path]));
    return { ok, text: async () => text, arrayBuffer: async () => new TextEncoder().encode(text).buffer };
  };
}

test("what the learner has not touched is not taken along", async () => {
  ship({ "a.ipynb": notebook("x = 1"), "p.png": "PNG" });
  const picture = { type: "file", format: "base64", content: btoa("PNG") };
  const contents = contentsOf({ "a.ipynb": asNotebook("x = 1"), "p.png": picture });

  assert.deepEqual((await taken(contents)).files, []);
});

test("changed and new notebooks and the answers are taken along", async () => {
  ship({ "a.ipynb": notebook("x = 1"), "b/c.ipynb": notebook("y = 1") });
  const contents = contentsOf({
    "a.ipynb": asNotebook("x = 2"),
    "b/c.ipynb": asNotebook("y = 1", [{ output_type: "stream" }]),
    "mine.ipynb": asNotebook("z"),
    ".autodiff-kit-progress.json": asText("{}"),
  });

  const paths = (await taken(contents)).files.map(({ path }) => path);
  assert.deepEqual(paths.sort(), [".autodiff-kit-progress.json", "a.ipynb", "b/c.ipynb", "mine.ipynb"]);
});

test("without a network, too", async () => {
  ship({ "a.ipynb": notebook("x = 1") });
  const kept = globalThis.fetch;
  globalThis.fetch = async (url) => {
    const answer = await kept(url);
    if (!answer.ok) throw new TypeError("Failed to fetch");
    return answer;
  };
  const contents = contentsOf({ "a.ipynb": asNotebook("x = 1"), "mine.ipynb": asNotebook("z") });

  const { files } = await taken(contents);
  assert.deepEqual(files.map(({ path }) => path), ["mine.ipynb"]);
});

test("what was taken along comes back on another computer as it was", async () => {
  ship({ "a.ipynb": notebook("x = 1") });
  const first = contentsOf({ "a.ipynb": asNotebook("x = 2"), "b/mine.ipynb": asNotebook("z") });
  const work = JSON.parse(JSON.stringify(await taken(first)));
  const other = contentsOf({ "a.ipynb": asNotebook("x = 1") });

  await broughtBack(other, work);
  for (const path of ["a.ipynb", "b/mine.ipynb"]) assert.deepEqual(other.files[path].content, first.files[path].content);
});

test("work that is there is never overwritten", async () => {
  ship({ "a.ipynb": notebook("x = 1") });
  const work = { kind: "autodiff-kit work", version: 1, files: [{ path: "a.ipynb", ...asNotebook("x = 2") }] };
  const contents = contentsOf({ "a.ipynb": asNotebook("x = 3") });

  assert.deepEqual(await broughtBack(contents, work), [["a.ipynb", "a (brought back).ipynb"]]);
  assert.equal(contents.files["a.ipynb"].content.cells[0].source, "x = 3");
  assert.equal(contents.files["a (brought back).ipynb"].content.cells[0].source, "x = 2");

  work.files[0].content = notebook("x = 4");
  assert.deepEqual(await broughtBack(contents, work), [["a.ipynb", "a (brought back 2).ipynb"]]);
});

test("answers from two computers are put together, and those that are here win", async () => {
  ship({});
  const answers = (facts) => asText(JSON.stringify({ version: 1, answers: facts }));
  const path = "course/.autodiff-kit-progress.json";
  const contents = contentsOf({ [path]: answers({ a: { tries: 1 }, b: 2 }), "course/x.ipynb": asNotebook("x") });
  const work = { files: [{ path, ...answers({ a: { tries: 5, right: true }, c: 3 }) }] };

  assert.deepEqual(await broughtBack(contents, work), [[path, path]]);
  const kept = JSON.parse(contents.files[path].content);
  assert.deepEqual(kept, { version: 1, answers: { a: { tries: 1, right: true }, b: 2, c: 3 } });
  assert.deepEqual(await broughtBack(contents, work), []);
  assert.deepEqual((await taken(contents)).files.map((file) => file.path).sort(), [path, "course/x.ipynb"]);
});

test("work that is there already is not doubled", async () => {
  ship({});
  const file = { path: "mine.ipynb", ...asNotebook("z") };
  const contents = contentsOf({ "mine.ipynb": asNotebook("z") });

  assert.deepEqual(await broughtBack(contents, { files: [file] }), []);
});

test("a file that holds no work, or leads out of the folder, changes nothing", () => {
  const good = { kind: "autodiff-kit work", version: 1, files: [{ path: "a.ipynb", ...asNotebook("z") }] };
  assert.equal(damage(good), "");
  for (const bad of [null, {}, [], { ...good, kind: "other" }]) assert.match(damage(bad), /was not made here/);
  assert.match(damage({ ...good, version: 2 }), /newer version/);
  for (const path of ["../a.ipynb", "/etc/a", "a/../b", 3]) {
    assert.match(damage({ ...good, files: [{ ...good.files[0], path }] }), /damaged/);
  }
  for (const files of ["none", [null], [3]]) assert.match(damage({ ...good, files }), /damaged/);
});

test("a new version of a lesson that was begun is offered, and put beside the learner's copy", async () => {
  const store = new Map();
  const memory = { getItem: (key) => store.get(key) ?? null, setItem: (key, value) => store.set(key, value) };
  ship({ "a.ipynb": notebook("first") });
  const contents = contentsOf({ "a.ipynb": asNotebook("first") });
  assert.equal(await newVersion(contents, "a.ipynb", memory), null); // opened for the first time

  contents.files["a.ipynb"] = asNotebook("mine", ["shown"]);
  assert.equal(await newVersion(contents, "a.ipynb", memory), null); // changed; the site has none that is newer

  ship({ "a.ipynb": notebook("second") });
  const found = await newVersion(contents, "a.ipynb", memory);
  assert.deepEqual(found, notebook("second"));
  assert.equal(await putBeside(contents, "a.ipynb", found, memory), "a (new version).ipynb");
  assert.deepEqual(contents.files["a.ipynb"], asNotebook("mine", ["shown"]));
  assert.deepEqual(contents.files["a (new version).ipynb"].content, notebook("second"));
  assert.equal(await newVersion(contents, "a.ipynb", memory), null); // it was taken
});

test("a lesson that was only run is told of a new version, too, and none is offered that the site has not", async () => {
  const store = new Map([["autodiff-kit-version:a.ipynb", "of an older one"]]);
  const memory = { getItem: (key) => store.get(key) ?? null, setItem: (key, value) => store.set(key, value) };
  ship({ "a.ipynb": notebook("second") });

  assert.deepEqual(await newVersion(contentsOf({ "a.ipynb": asNotebook("first", ["run"]) }), "a.ipynb", memory), notebook("second"));
  assert.equal(await newVersion(contentsOf({ "b.ipynb": asNotebook("mine") }), "b.ipynb", memory), null);
  assert.equal(await newVersion(contentsOf({ "a.ipynb": asNotebook("second", ["run"]) }), "a.ipynb", memory), null);
});
