// Reads and writes values with the official TypeScript SDK: lines of {"id", "type", "value"} in, a verdict for each line out.
// The argument is the folder of the SDK's generated validators. `written` is what the parsed value is as JSON.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const validators = await import(pathToFileURL(`${process.argv[2]}/zod.gen.js`).href);

function verdict(name, value) {
  const type = validators[`z${name}`];
  if (type === undefined) return { offered: false };
  const found = type.safeParse(value);
  return found.success ? { offered: true, accepted: true, written: found.data } : { offered: true, accepted: false };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, type, value } = JSON.parse(line);
  console.log(JSON.stringify({ id, ...verdict(type, value) }));
}
