// Times unlike messages of ACP v1: node bench.mjs MODULE ZOD SCHEMA PACKAGES. Prints one JSON line for each: microseconds of the processor, and
// bytes that are allocated; for these, start with --expose-gc and a semi-space that holds them all.
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
const cpu = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};
const parsed = (list) => list.map((text) => JSON.parse(text));
const timed = (list, work) => {
  const rounds = [];
  for (let round = 0; round < 25; round++) {
    const given = list();
    const start = cpu();
    for (const one of given) work(one);
    rounds.push((cpu() - start) / given.length);
  }
  return rounds.slice(5).sort((a, b) => a - b)[10];
};
const allocated = (given, work) => {
  globalThis.gc();
  const before = process.memoryUsage().heapUsed;
  for (const one of given) work(one);
  return (process.memoryUsage().heapUsed - before) / given.length;
};
for (const [name, list] of Object.entries(CASES)) {
  const lines = list.map((text) => `{"jsonrpc":"2.0","method":"session/update","params":${text}}`);
  const values = () => parsed(list);
  const ways = [
    [values, (one) => m.decodeAs(m.SessionNotification, one)],
    [values, (one) => m.validateAs(m.SessionNotification, one)],
    [values, (one) => zod.zSessionNotification.parse(one)],
    [values, (one) => check(one)],
    [() => lines, (one) => JSON.parse(one)],
    [() => lines, (one) => m.decode(one, { sender: "agent" })],
  ];
  const times = ways.map(([list_, work]) => timed(list_, work));
  const bytes = ways.map(([list_, work]) => allocated(list_(), work));
  console.log(JSON.stringify({ name, times, bytes }));
}
