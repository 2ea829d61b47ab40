// Prints what the viewer shows at every frame of the payload given on standard input: for test_node.py.
import { text } from "node:stream/consumers";
import { kit } from "./kit.mjs";

const payload = JSON.parse(await text(process.stdin));
console.log(JSON.stringify(payload.frames.map((_, k) => kit.stateAt(payload, k))));
