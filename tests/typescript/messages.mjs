// What is wrong with messages: node messages.mjs MODULE < ROWS. Prints one JSON line for each.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const m = await import(pathToFileURL(process.argv[2]));
for (const line of readFileSync(0, "utf8").split("\n")) {
  const { message, sender, method } = JSON.parse(line);
  const validate = m.validate(structuredClone(message), { sender, method }).map((one) => [one.pointer, one.sentence, one.rule]);
  let decode = null;
  try {
    m.decode(structuredClone(message), { sender, method });
  } catch (error) {
    if (!(error instanceof m.DecodeError)) throw error;
    const { code, id, method: called } = error;
    decode = { code, id, method: called, problems: error.problems.map((one) => [one.pointer, one.sentence]) };
  }
  console.log(JSON.stringify({ validate, decode }));
}
