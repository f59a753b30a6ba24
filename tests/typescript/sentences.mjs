// What both ways make of the values of rows: node sentences.mjs MODULE < ROWS. Prints one JSON line for each.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const m = await import(pathToFileURL(process.argv[2]));
const sorted = (rows) => rows.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
const order = (problems) => sorted(problems.map((one) => [one.pointer, one.sentence]));
for (const line of readFileSync(0, "utf8").split("\n")) {
  const row = JSON.parse(line);
  let [decode, dropped, written] = [[], [], null];
  try {
    const value = m.decodeAs(m[row.type], structuredClone(row.message), {
      onDrop: ({ pointer, problem }) => dropped.push([pointer, problem.pointer, problem.sentence]),
    });
    written = JSON.parse(m.encode(value));
  } catch (error) {
    if (!(error instanceof m.DecodeError)) throw error;
    decode = order(error.problems);
  }
  console.log(JSON.stringify({ decode, dropped: sorted(dropped), written, validate: order(m.validateAs(m[row.type], row.message)) }));
}
