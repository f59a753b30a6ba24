// A client of ACP v1 on the official TypeScript SDK. Takes a folder and the agent's command.
import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const { agent: calls, client: asks } = acp.methods;
const [folder, command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
let hear = () => {};

const app = acp
  .client({ name: "tour" })
  .onNotification(asks.session.update, () => hear())
  .onRequest(asks.session.requestPermission, ({ params }) => ({
    outcome: { outcome: "selected", optionId: params.options[0].optionId },
  }))
  .onRequest(asks.fs.writeTextFile, async ({ params }) => (await writeFile(params.path, params.content), {}))
  .onRequest(asks.fs.readTextFile, async ({ params }) => ({ content: await readFile(params.path, "utf-8") }))
  .onRequest(asks.terminal.create, () => ({ terminalId: "term-1" }))
  .onRequest(asks.terminal.waitForExit, () => ({ exitCode: 0 }))
  .onRequest(asks.terminal.output, () => ({ output: "tide\n", truncated: false }))
  .onRequest(asks.terminal.release, () => ({}))
  .onRequest(asks.elicitation.create, () => ({ action: "accept", content: { harbour: "Vlissingen" } }));

await app.connectWith(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), async (agent) => {
  const ready = await agent.request(calls.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION,
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true, elicitation: { form: {} } },
  });
  const offers = ready.agentCapabilities?.sessionCapabilities ?? {};
  const roots = offers.additionalDirectories ? { additionalDirectories: [`${folder}/extra`] } : {};
  const opened = await agent.request(calls.session.new, { cwd: folder, mcpServers: [], ...roots });
  const { sessionId } = opened;
  const prompt = (text) => agent.request(calls.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  if (opened.modes) await agent.request(calls.session.setMode, { sessionId, modeId: opened.modes.availableModes.at(-1).id });
  await prompt("Look at the tide.");
  const heard = new Promise((resolve) => (hear = resolve));
  const waiting = prompt("wait");
  await heard;
  await agent.notify(calls.session.cancel, { sessionId });
  if ((await waiting).stopReason !== "cancelled") throw new Error("not cancelled");
  if (offers.list) {
    await agent.request(calls.session.list, { cwd: folder });
    if (offers.additionalDirectories) await agent.request(calls.session.list, { additionalDirectories: [] });
  }
  if (ready.agentCapabilities?.loadSession)
    await agent.request(calls.session.load, { sessionId, cwd: folder, mcpServers: [], ...roots });
  if (offers.resume) await agent.request(calls.session.resume, { sessionId, cwd: folder, ...roots });
  if (offers.close) await agent.request(calls.session.close, { sessionId });
});
child.stdin.end();
child.on("exit", (code) => process.exit(code ?? 1));
if (child.exitCode !== null) process.exit(child.exitCode);
