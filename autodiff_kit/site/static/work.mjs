// A learner's work in the browser, as one file to take along, and brought back from such a file.

const KIND = "autodiff-kit work";
const VERSION = 1;
const HIDDEN = [".autodiff-kit-progress.json", ".autodiff-kit-exercises.json"]; // no listing shows them

/** A file as it came with the site, as text or in base64; null if it is none of the site's. */
async function shipped({ path, format }) {
  const url = `files/${path.split("/").map(encodeURIComponent).join("/")}`;
  // Without a network, a file that was not kept for that is none of the site's.
  const answer = await fetch(url, { cache: "no-cache" }).catch(() => null);
  if (!answer?.ok) return null;
  if (format !== "base64") return answer.text();
  return btoa(Array.from(new Uint8Array(await answer.arrayBuffer()), (byte) => String.fromCharCode(byte)).join(""));
}

const asText = (model) => (model.format === "json" ? JSON.stringify(model.content) : String(model.content));

function isShipped(model, text) {
  if (text == null) return false;
  if (model.format !== "json") return text.trim() === String(model.content).trim();
  try {
    return JSON.stringify(code(JSON.parse(text))) === JSON.stringify(code(model.content));
  } catch {
    return false;
  }
}

/** What of a notebook is the learner's: the cells, and not the counters around them. */
const code = (notebook) =>
  (notebook.cells ?? []).map(({ cell_type, source, outputs }) => [
    cell_type,
    Array.isArray(source) ? source.join("") : source,
    outputs?.length ?? 0,
  ]);

async function* files(contents, folder = "") {
  const { content } = await contents.get(folder, { content: true });
  for (const item of content) {
    if (item.type === "directory") yield* files(contents, item.path);
    else yield item.path;
  }
  yield* HIDDEN.map((name) => (folder ? `${folder}/${name}` : name));
}

/** All files that the learner has changed or made. */
export async function taken(contents) {
  const changed = [];
  for await (const path of files(contents)) {
    let model;
    try {
      model = await contents.get(path, { content: true });
    } catch {
      continue; // listed, or looked for, but not there
    }
    if (model.content == null || isShipped(model, await shipped({ ...model, path }))) continue;
    const { type, format, content } = model;
    changed.push({ path, type, format, content });
  }
  return { kind: KIND, version: VERSION, made: new Date().toISOString(), files: changed };
}

/** A free name beside a path: `a.ipynb`, `a (brought back).ipynb`, `a (brought back 2).ipynb`. */
async function freeName(contents, path, words = "brought back") {
  const [, stem, ending] = path.match(/^(.*?)(\.[^./]*)?$/);
  for (let k = 1; ; k += 1) {
    const name = `${stem} (${words}${k > 1 ? ` ${k}` : ""})${ending ?? ""}`;
    try {
      await contents.get(name, { content: false });
    } catch {
      return name;
    }
  }
}

/** What is wrong with a file that is to be brought back; empty if nothing is. */
export function damage(work) {
  if (work?.kind !== KIND) return "This file was not made here: it does not hold anybody's work.";
  if (!(work.version <= VERSION)) return "This file comes from a newer version of this page. Reload the page first.";
  const isWhole = (file) => file != null && isFile(file);
  const isFile = ({ path, type, content }) =>
    typeof path === "string" && !/(^|\/)\.\.?(\/|$)|^\//.test(path) && ["notebook", "file"].includes(type) && content != null;
  return Array.isArray(work.files) && work.files.every(isWhole) ? "" : "This file is damaged: parts of it are missing.";
}

// -- new versions of what the site brings: of each notebook it is known from which one the learner's copy began

const versionKey = (path) => `autodiff-kit-version:${path}`;
const sources = (notebook) => JSON.stringify(code(notebook).map(([type, source]) => [type, source]));

/** A short text that differs for different texts; not against forgery. */
function fingerprint(text) {
  let hash = 0xcbf29ce484222325n;
  for (const letter of text) hash = BigInt.asUintN(64, (hash ^ BigInt(letter.codePointAt(0))) * 0x100000001b3n);
  return hash.toString(36);
}

/** The notebook of this path as the site has it now, if the learner's copy began with another one; else null. */
export async function newVersion(contents, path, store) {
  const text = await shipped({ path, format: "json" });
  if (text == null) return null;
  const { content } = await contents.get(path, { content: true });
  const [here, there] = [content, JSON.parse(text)].map(sources);
  const known = store.getItem(versionKey(path));
  if (here === there || known == null) {
    store.setItem(versionKey(path), fingerprint(there));
    return null;
  }
  return known === fingerprint(there) ? null : JSON.parse(text);
}

/** Put a new version beside the learner's copy, which stays as it is; return its name. */
export async function putBeside(contents, path, notebook, store) {
  const name = await freeName(contents, path, "new version");
  await contents.save(name, { type: "notebook", format: "json", content: notebook });
  store.setItem(versionKey(path), fingerprint(sources(notebook)));
  return name;
}

async function makeFolders(contents, path) {
  const parts = path.split("/").slice(0, -1);
  for (let k = 1; k <= parts.length; k += 1) {
    const folder = parts.slice(0, k).join("/");
    try {
      await contents.get(folder, { content: false });
    } catch {
      await contents.save(folder, { type: "directory", format: "json", name: parts[k - 1], path: folder });
    }
  }
}

const asData = (content) => (typeof content === "string" ? JSON.parse(content) : content);

const isMap = (value) => value != null && typeof value === "object" && !Array.isArray(value);

/** What is known of a learner's answers, here and in what is brought back; what is here wins. */
function joined(here, brought) {
  if (!isMap(here) || !isMap(brought)) return here;
  const all = { ...brought, ...here };
  for (const key of Object.keys(brought)) if (key in here) all[key] = joined(here[key], brought[key]);
  return all;
}

/** Bring work back: nothing is overwritten, what differs gets a name of its own. Return [path, saved as]. */
export async function broughtBack(contents, work) {
  const saved = [];
  for (const { path, type, format, content } of work.files) {
    let present = null;
    try {
      present = await contents.get(path, { content: true });
    } catch {
      await makeFolders(contents, path);
    }
    if (present && asText(present) === asText({ format, content })) continue;
    if (present && HIDDEN.includes(path.split("/").at(-1))) {
      const whole = JSON.stringify(joined(asData(present.content), asData(content)), null, 1);
      if (whole === JSON.stringify(asData(present.content), null, 1)) continue;
      await contents.save(path, { type, format: "text", content: whole });
      saved.push([path, path]);
      continue;
    }
    const isUntouched = !present || isShipped(present, await shipped({ ...present, path }));
    const name = isUntouched ? path : await freeName(contents, path);
    await contents.save(name, { type, format, content });
    saved.push([path, name]);
  }
  return saved;
}
