// The viewer's pure modules, and the payload that the tests draw.
import { readFile } from "node:fs/promises";
import * as code from "../../autodiff_kit/view/static/kit/code.mjs";
import * as enclosures from "../../autodiff_kit/view/static/kit/enclosures.mjs";
import * as find from "../../autodiff_kit/view/static/kit/find.mjs";
import * as overview from "../../autodiff_kit/view/static/kit/overview.mjs";
import * as panning from "../../autodiff_kit/view/static/kit/panning.mjs";
import * as steps from "../../autodiff_kit/view/static/kit/steps.mjs";

export const kit = { ...code, ...enclosures, ...find, ...overview, ...panning, ...steps };
export const payload = JSON.parse(await readFile(new URL("payload.json", import.meta.url), "utf8"));
