// Loads kit.js as the module it is, whatever Node thinks of the ending .js.
import { readFile } from "node:fs/promises";

const here = (path) => new URL(path, import.meta.url);
const source = await readFile(here("../../autodiff_kit/view/static/kit.js"), "utf8");

export const kit = await import(`data:text/javascript,${encodeURIComponent(source)}`);
export const payload = JSON.parse(await readFile(here("payload.json"), "utf8"));
