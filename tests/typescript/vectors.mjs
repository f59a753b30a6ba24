// Runs conformance vectors: node vectors.mjs MODULE VECTORS. Prints one JSON line for each row that is judged otherwise.
import { readFileSync, readdirSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { judged } from "./rows.mjs";

const [, , modulePath, folder] = process.argv;
const m = await import(pathToFileURL(modulePath));
const files = ["methods", "types"].flatMap((kind) => readdirSync(`${folder}/${kind}`).map((name) => `${folder}/${kind}/${name}`));
for (const one of judged(m, files.flatMap((file) => readFileSync(file, "utf8").split("\n")))) console.log(JSON.stringify(one));
