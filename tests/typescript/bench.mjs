// Times unlike messages of ACP v1: node bench.mjs MODULE ZOD SCHEMA PACKAGES. Prints one JSON line for each, in microseconds.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [, , module, zodFile, schemaFile, packages] = process.argv;
const m = await import(pathToFileURL(module));
const zod = await import(pathToFileURL(zodFile));
const Ajv = createRequire(`${packages}/package.json`)("ajv/dist/2020.js").default;
const schema = JSON.parse(readFileSync(schemaFile, "utf8"));
const ajv = new Ajv({ strict: false, validateFormats: false, logger: false }).addSchema(schema, "acp");
const check = ajv.compile({ $ref: "acp#/$defs/SessionNotification" });
const texts = (make) => Array.from({ length: 400 }, (_, i) => JSON.stringify({ sessionId: `s${i % 7}`, update: make(i) }));
const path = (i) => `/home/mara/tidewatch/src/part${i}.py`;
const CASES = {
  "a chunk": texts((i) => ({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: `word ${i} `.repeat(1 + (i % 5)) } })),
  "a tool call": texts((i) => ({
    sessionUpdate: "tool_call", toolCallId: `call${i}`, title: `Edit part ${i}`, kind: "edit", status: "pending",
    locations: [{ path: path(i), line: i }], content: [{ type: "diff", path: path(i), oldText: `a${i}`, newText: `b${i}` }],
  })),
  "a tool call update": texts((i) => ({
    sessionUpdate: "tool_call_update", toolCallId: `call${i}`, status: i % 2 ? "completed" : "failed",
    content: [{ type: "content", content: { type: "text", text: `${i} tests passed` } }],
  })),
  "a plan": texts((i) => ({
    sessionUpdate: "plan",
    entries: Array.from({ length: 1 + (i % 4) }, (_, j) => ({ content: `step ${j}`, priority: "high", status: "pending" })),
  })),
};
const parsed = (list) => list.map((text) => JSON.parse(text));
const timed = (list, work) => {
  const rounds = [];
  for (let round = 0; round < 25; round++) {
    const given = list();
    const start = process.hrtime.bigint();
    for (const one of given) work(one);
    rounds.push(Number(process.hrtime.bigint() - start) / given.length / 1000);
  }
  return rounds.slice(5).sort((a, b) => a - b)[10];
};
for (const [name, list] of Object.entries(CASES)) {
  const lines = list.map((text) => `{"jsonrpc":"2.0","method":"session/update","params":${text}}`);
  const values = () => parsed(list);
  const times = [
    timed(values, (one) => m.decodeAs(m.SessionNotification, one)),
    timed(values, (one) => m.validateAs(m.SessionNotification, one)),
    timed(values, (one) => zod.zSessionNotification.parse(one)),
    timed(values, (one) => check(one)),
    timed(() => lines, (one) => JSON.parse(one)),
    timed(() => lines, (one) => m.decode(one, { sender: "agent" })),
  ];
  console.log(JSON.stringify({ name, times }));
}
