// What is wrong with the values of rows: node sentences.mjs MODULE < ROWS. Prints one JSON line for each.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const m = await import(pathToFileURL(process.argv[2]));
const order = (problems) =>
  problems
    .map((one) => [one.pointer, one.sentence])
    .sort((a, b) => (a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]) ? -1 : 1));
for (const line of readFileSync(0, "utf8").split("\n")) {
  const row = JSON.parse(line);
  let decode = [];
  try {
    m.decodeAs(m[row.type], structuredClone(row.message));
  } catch (error) {
    decode = order(error.problems);
  }
  console.log(JSON.stringify({ decode, validate: order(m.validateAs(m[row.type], row.message)) }));
}
