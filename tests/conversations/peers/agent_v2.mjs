// An agent of ACP v2 on the official TypeScript SDK.
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk/experimental/v2";

const { agent: calls, client: asks } = acp.methods;
const sessions = new Map();
const stops = new Map();
let offers = {};
const keep = (id, { cwd, additionalDirectories = [] }) => sessions.set(id, { sessionId: id, cwd, additionalDirectories });

async function turn({ sessionId, prompt }, client) {
  const stopped = new Promise((resolve) => stops.set(sessionId, resolve));
  const say = (update) => client.notify(asks.session.update, { sessionId, update });
  await say({ sessionUpdate: "user_message", messageId: "m1", content: prompt });
  await say({ sessionUpdate: "state_update", state: "running" });
  if (prompt[0].text === "wait") {
    await stopped;
    await say({ sessionUpdate: "state_update", state: "idle", stopReason: "cancelled" });
    return;
  }
  await client.request(asks.session.requestPermission, {
    sessionId,
    title: "Look at the tide?",
    subject: { type: "tool_call", toolCall: { toolCallId: "t1", title: "Look", kind: "read", status: "pending" } },
    options: [{ optionId: "yes", name: "Yes", kind: "allow_once" }],
  });
  if (offers.elicitation?.form) {
    await client.request(asks.elicitation.create, {
      sessionId,
      mode: "form",
      message: "Which harbour?",
      requestedSchema: { type: "object", properties: { harbour: { type: "string" } } },
    });
  }
  await say({ sessionUpdate: "tool_call_update", toolCallId: "t1", status: "completed" });
  await say({ sessionUpdate: "agent_message_chunk", messageId: "a1", content: { type: "text", text: "done" } });
  await say({ sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" });
}

const app = acp
  .agent({ name: "tour" })
  .onRequest(calls.initialize, ({ params }) => {
    offers = params.capabilities ?? {};
    return {
      protocolVersion: acp.PROTOCOL_VERSION,
      info: { name: "tour", version: "1" },
      capabilities: { session: { additionalDirectories: {} } },
    };
  })
  .onRequest(calls.session.new, ({ params }) => {
    const sessionId = `tour-${sessions.size}`;
    keep(sessionId, params);
    return { sessionId };
  })
  .onRequest(calls.session.resume, async ({ params, client }) => {
    keep(params.sessionId, params);
    const update = { sessionUpdate: "state_update", state: "idle" };
    await client.notify(asks.session.update, { sessionId: params.sessionId, update });
    return {};
  })
  .onRequest(calls.session.list, ({ params }) => ({
    sessions: [...sessions.values()].filter(
      (info) =>
        (params.cwd == null || info.cwd === params.cwd) &&
        (params.additionalDirectories === undefined ||
          JSON.stringify(info.additionalDirectories) === JSON.stringify(params.additionalDirectories)),
    ),
  }))
  .onRequest(calls.session.close, () => ({}))
  .onNotification(calls.session.cancel, ({ params }) => stops.get(params.sessionId)?.())
  .onRequest(calls.session.prompt, ({ params, client }) => {
    setTimeout(() => turn(params, client), 0);
    return { messageId: "m1" };
  });

const connection = app.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
await connection.closed;
