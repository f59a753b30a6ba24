// An agent and a client on the public API of the official TypeScript SDK, for the matrix of SDKs.
//
//     node typescript_sdk.mjs agent VERSION SCENARIO SDK
//     node typescript_sdk.mjs client VERSION SCENARIO SDK NAME,NAME… -- AGENT…
//
// SDK is the folder of the package.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [side, major, file, sdk, names, , ...command] = process.argv.slice(2);
const version = Number(major);
const entry = JSON.parse(readFileSync(`${sdk}/package.json`, "utf-8")).exports[version === 1 ? "." : "./experimental/v2"];
const acp = await import(pathToFileURL(`${sdk}/${entry.import}`).href);
const scenario = Object.fromEntries(JSON.parse(readFileSync(file, "utf-8")).map((row) => [row.name, row]));
const ANSWER = 20_000;
const echoed = "_acpgen.dev/echo";

function answerOf(promise) {
  return Promise.race([promise, new Promise((_, reject) => setTimeout(() => reject(new Error("no answer in time")), ANSWER).unref())]);
}

// Handlers of notifications may run after the answer that came behind them.
async function arrived(isThere) {
  for (let tries = 0; tries < 40 && !isThere(); tries++) await new Promise((resolve) => setTimeout(resolve, 25));
}

function agent() {
  let cancelled = () => {};
  const info = { name: "matrix-agent", version: "1.0" };
  async function work(params, peer) {
    const exchange = scenario[params.prompt[0].text];
    const update = (value) => peer.notify("session/update", { sessionId: params.sessionId, update: value });
    const stopped = new Promise((resolve) => (cancelled = resolve));
    if (version === 2) {
      await update({ sessionUpdate: "user_message", messageId: "user", content: params.prompt });
      await update({ sessionUpdate: "state_update", state: "running" });
    }
    const answers = [];
    const trouble = await (async () => {
      for (const value of exchange.updates ?? []) await update(value);
      for (const { method, params: given } of exchange.requests ?? []) {
        answers.push((await peer.request(method, { sessionId: params.sessionId, ...given })) ?? {});
      }
    })().catch((error) => `${error?.message ?? error}`);
    const echo = { prompt: params.prompt, meta: params._meta ?? null, answers, trouble };
    const content = { type: "text", text: JSON.stringify(echo) };
    await update({ sessionUpdate: "agent_message_chunk", ...(version === 2 ? { messageId: "echo" } : {}), content });
    if (exchange.cancel) await stopped;
    const stopReason = exchange.cancel ? "cancelled" : "end_turn";
    if (version === 2) await update({ sessionUpdate: "state_update", state: "idle", stopReason });
    return stopReason;
  }
  acp
    .agent({ name: info.name })
    .onRequest("initialize", () =>
      version === 1
        ? { protocolVersion: 1, agentInfo: info }
        : { protocolVersion: 2, info, capabilities: { session: {} } },
    )
    .onRequest("session/new", ({ params }) => ({
      sessionId: "session-1",
      _meta: { "acpgen.dev/cwd": params.cwd, "acpgen.dev/servers": params.mcpServers?.length ?? 0 },
    }))
    .onRequest("session/prompt", async ({ params, client }) => {
      if (version === 1) return { stopReason: await work(params, client) };
      work(params, client).catch((error) => console.error("the turn failed:", error));
      return { messageId: "user" };
    })
    .onNotification("session/cancel", () => cancelled())
    .onRequest(echoed, (value) => value, ({ params }) => params)
    .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
}

async function client() {
  const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
  let exchange, updates, asked, idle;
  const app = acp.client({ name: "matrix-client" });
  const methods = ["session/request_permission"];
  if (version === 1) methods.push("fs/read_text_file", "fs/write_text_file", "terminal/create", "terminal/output", "terminal/release");
  for (const method of methods) {
    app.onRequest(method, ({ params }) => {
      asked.push({ method, params });
      return exchange.requests.find((one) => one.method === method).answer;
    });
  }
  app.onNotification("session/update", async ({ params, agent }) => {
    updates.push(params.update);
    if (exchange.cancel && params.update.sessionUpdate === "agent_message_chunk") {
      await agent.notify("session/cancel", { sessionId: params.sessionId });
    }
    if (params.update.sessionUpdate === "state_update" && params.update.state === "idle") idle(params.update);
  });
  await app.connectWith(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), async (peer) => {
    for (const name of names.split(",")) {
      exchange = scenario[name];
      updates = [];
      asked = [];
      const ended = new Promise((resolve) => (idle = resolve));
      let answer = null;
      let trouble = {};
      try {
        if (exchange.call) {
          answer = await answerOf(peer.request(exchange.call.method, exchange.call.params));
        } else {
          const prompt = [{ type: "text", text: name }, ...(exchange.blocks ?? [])];
          const meta = exchange.meta ? { _meta: exchange.meta } : {};
          answer = await answerOf(peer.request("session/prompt", { sessionId: "session-1", prompt, ...meta }));
          if (version === 2) answer = await answerOf(ended);
          await arrived(() => updates.length > (exchange.updates ?? []).length);
        }
      } catch (error) {
        trouble = { error: `${error?.code ?? error?.name ?? ""} ${error?.message ?? error}`, code: error?.code ?? null };
      }
      process.stdout.write(`${JSON.stringify({ name, answer, updates, asked, ...trouble })}\n`);
    }
  });
  child.stdin.end();
  setTimeout(() => child.kill(), 5000).unref();
}

await (side === "agent" ? agent() : client());
