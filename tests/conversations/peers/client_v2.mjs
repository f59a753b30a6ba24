// A client of ACP v2 on the official TypeScript SDK. Takes a folder and the agent's command.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk/experimental/v2";

const { agent: calls, client: asks } = acp.methods;
const [folder, command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
let hear = () => {};

const app = acp
  .client({ name: "tour" })
  .onNotification(asks.session.update, ({ params }) => hear(params.update))
  .onRequest(asks.session.requestPermission, ({ params }) => ({
    outcome: { outcome: "selected", optionId: params.options[0].optionId },
  }))
  .onRequest(asks.elicitation.create, () => ({ action: "accept", content: { harbour: "Vlissingen" } }));

await app.connectWith(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), async (agent) => {
  const ready = await agent.request(calls.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION,
    info: { name: "tour", version: "1" },
    capabilities: { elicitation: { form: {} } },
  });
  const offers = ready.capabilities?.session ?? {};
  const roots = offers.additionalDirectories ? { additionalDirectories: [`${folder}/extra`] } : {};
  const { sessionId } = await agent.request(calls.session.new, { cwd: folder, ...roots });
  const state = (wanted) =>
    new Promise((resolve) => {
      hear = (update) => update.sessionUpdate === "state_update" && update.state === wanted && resolve();
    });
  const prompt = (text) => agent.request(calls.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  let idle = state("idle");
  await prompt("Look at the tide.");
  await idle;
  const running = state("running");
  await prompt("wait");
  await running;
  idle = state("idle");
  await agent.notify(calls.session.cancel, { sessionId });
  await idle;
  await agent.request(calls.session.list, { cwd: folder });
  if (offers.additionalDirectories) await agent.request(calls.session.list, { additionalDirectories: [] });
  await agent.request(calls.session.resume, { sessionId, cwd: folder, ...roots });
  await agent.request(calls.session.close, { sessionId });
});
child.stdin.end();
child.on("exit", (code) => process.exit(code ?? 1));
if (child.exitCode !== null) process.exit(child.exitCode);
