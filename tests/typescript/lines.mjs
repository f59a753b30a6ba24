// What becomes of lines: node lines.mjs MODULE < ROWS. Prints one JSON line for each: the text that was written again, or the problems.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const m = await import(pathToFileURL(process.argv[2]));
for (const row of readFileSync(0, "utf8").split("\n")) {
  const { line, sender, method } = JSON.parse(row);
  let found;
  try {
    found = { text: m.encode(m.decode(line, { sender, method })) };
  } catch (error) {
    if (!(error instanceof m.DecodeError)) throw error;
    found = { problems: error.problems.map((one) => [one.pointer, one.sentence]).sort() };
  }
  console.log(JSON.stringify(found));
}
