// Judges values by modules: node suite.mjs < GROUPS. Prints one JSON line for each group: what both ways say of each value.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

for (const group of JSON.parse(readFileSync(0, "utf8"))) {
  const m = await import(pathToFileURL(group.module));
  const type = m[group.type];
  const judged = group.values.map((value) => {
    let decodes = true;
    try {
      m.decodeAs(type, structuredClone(value), { lenient: false });
    } catch (error) {
      if (!(error instanceof m.DecodeError)) throw error;
      decodes = false;
    }
    return [decodes, m.is(type, value)];
  });
  console.log(JSON.stringify(judged));
}
