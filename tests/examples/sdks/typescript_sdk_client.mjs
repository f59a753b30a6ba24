// The client of the examples on the official TypeScript SDK: DIRECTORY AGENT COMMAND. It keeps paths in the directory, as far as text goes.
import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { createInterface } from "node:readline";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const [directory, ...command] = process.argv.slice(2);
const terminals = new Map();
const typed = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

function allowed(path) {
  const found = resolve(path);
  const rest = relative(resolve(directory), found);
  if (rest === ".." || rest.startsWith("../")) throw new acp.RequestError(-32001, "access is refused", { path });
  return found;
}

async function line(question) {
  process.stdout.write(question);
  const { value, done } = await typed.next();
  return done ? "" : value.trim();
}

const titles = new Map();

function show({ params: { update } }) {
  switch (update.sessionUpdate) {
    case "agent_message_chunk":
      if (update.content.type === "text") console.log(update.content.text);
      break;
    case "agent_thought_chunk":
      if (update.content.type === "text") console.log(`  (${update.content.text})`);
      break;
    case "tool_call":
      titles.set(update.toolCallId, update.title);
      console.log(`  [${update.title}]`);
      break;
    case "tool_call_update":
      if (update.status) console.log(`  [${titles.get(update.toolCallId)}: ${update.status}]`);
      break;
    case "plan":
      for (const entry of update.entries) console.log(`  - ${entry.content}`);
      break;
  }
}

async function permission({ params: { toolCall, options } }) {
  const shown = options.map((option, index) => `${index + 1}: ${option.name}`);
  console.log(`  ${[toolCall.title, ...shown].join(" ")}`);
  const chosen = options[Number(await line("  number, or nothing: ")) - 1];
  return { outcome: chosen ? { outcome: "selected", optionId: chosen.optionId } : { outcome: "cancelled" } };
}

async function read({ params: { path, line: first, limit } }) {
  const lines = (await readFile(allowed(path), "utf-8")).split(/(?<=\n)/);
  const start = (first ?? 1) - 1;
  return { content: lines.slice(start, limit == null ? undefined : start + limit).join("") };
}

async function write({ params: { path, content } }) {
  await writeFile(allowed(path), content, "utf-8");
  return {};
}

function create({ params: { command, args, cwd } }) {
  const process = spawn(command, args ?? [], { cwd: allowed(cwd ?? directory), stdio: ["ignore", "pipe", "pipe"] });
  const terminal = { process, output: "" };
  for (const stream of [process.stdout, process.stderr]) stream.on("data", (data) => (terminal.output += data));
  terminal.ended = new Promise((resolve, reject) => {
    process.on("error", reject);
    process.on("close", (exitCode, signal) => resolve((terminal.exitStatus = { exitCode, signal })));
  });
  const terminalId = `terminal-${terminals.size + 1}`;
  terminals.set(terminalId, terminal);
  return { terminalId };
}

const output = ({ params: { terminalId } }) => {
  const { output, exitStatus } = terminals.get(terminalId);
  return { output, truncated: false, exitStatus };
};
const kill = ({ params: { terminalId } }) => (terminals.get(terminalId).process.kill("SIGKILL"), {});

const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
await acp
  .client({ name: "terminal" })
  .onNotification("session/update", show)
  .onRequest("session/request_permission", permission)
  .onRequest("fs/read_text_file", read)
  .onRequest("fs/write_text_file", write)
  .onRequest("terminal/create", create)
  .onRequest("terminal/output", output)
  .onRequest("terminal/wait_for_exit", ({ params }) => terminals.get(params.terminalId).ended)
  .onRequest("terminal/kill", kill)
  .onRequest("terminal/release", kill)
  .connectWith(stream, async (agent) => {
    const clientCapabilities = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };
    await agent.request("initialize", { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities });
    const { sessionId } = await agent.request("session/new", { cwd: directory, mcpServers: [] });
    for (let wish; (wish = await line("> ")); ) {
      try {
        const answer = await agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: wish }] });
        console.log(`  ${answer.stopReason}`);
      } catch (error) {
        console.log(`${error.message} (${error.code})`);
      }
    }
  });
child.stdin.end();
typed.return?.();
