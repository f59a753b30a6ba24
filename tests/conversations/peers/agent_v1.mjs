// An agent of ACP v1 on the official TypeScript SDK.
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const { agent: calls, client: asks } = acp.methods;
const sessions = new Map();
const stops = new Map();
let offers = {};
const modes = () => ({ currentModeId: "ask", availableModes: [{ id: "ask", name: "Ask" }, { id: "act", name: "Act" }] });
const keep = (id, { cwd, additionalDirectories = [] }) => sessions.set(id, { sessionId: id, cwd, additionalDirectories });
const text = (sessionUpdate, text) => ({ sessionUpdate, content: { type: "text", text } });

const app = acp
  .agent({ name: "tour" })
  .onRequest(calls.initialize, ({ params }) => {
    offers = params.clientCapabilities ?? {};
    return {
      protocolVersion: acp.PROTOCOL_VERSION,
      agentCapabilities: {
        loadSession: true,
        sessionCapabilities: { list: {}, resume: {}, close: {}, additionalDirectories: {} },
      },
    };
  })
  .onRequest(calls.session.new, ({ params }) => {
    const sessionId = `tour-${sessions.size}`;
    keep(sessionId, params);
    return { sessionId, modes: modes() };
  })
  .onRequest(calls.session.load, async ({ params, client }) => {
    keep(params.sessionId, params);
    await client.notify(asks.session.update, { sessionId: params.sessionId, update: text("user_message_chunk", "as before") });
    return { modes: modes() };
  })
  .onRequest(calls.session.resume, ({ params }) => (keep(params.sessionId, params), { modes: modes() }))
  .onRequest(calls.session.list, ({ params }) => ({
    sessions: [...sessions.values()].filter(
      (info) =>
        (params.cwd == null || info.cwd === params.cwd) &&
        (params.additionalDirectories === undefined ||
          JSON.stringify(info.additionalDirectories) === JSON.stringify(params.additionalDirectories)),
    ),
  }))
  .onRequest(calls.session.close, () => ({}))
  .onRequest(calls.session.setMode, () => ({}))
  .onNotification(calls.session.cancel, ({ params }) => stops.get(params.sessionId)?.())
  .onRequest(calls.session.prompt, async ({ params, client }) => {
    const { sessionId } = params;
    const stopped = new Promise((resolve) => stops.set(sessionId, resolve));
    const say = (update) => client.notify(asks.session.update, { sessionId, update });
    if (params.prompt[0].text === "wait") {
      await say(text("agent_thought_chunk", "waiting"));
      await stopped;
      return { stopReason: "cancelled" };
    }
    await say({ sessionUpdate: "tool_call", toolCallId: "t1", title: "Look", kind: "read", status: "pending" });
    await client.request(asks.session.requestPermission, {
      sessionId,
      toolCall: { toolCallId: "t1" },
      options: [{ optionId: "yes", name: "Yes", kind: "allow_once" }],
    });
    const path = `${sessions.get(sessionId).cwd}/note.txt`;
    if (offers.fs?.writeTextFile) {
      await client.request(asks.fs.writeTextFile, { sessionId, path, content: "tide\n" });
      await client.request(asks.fs.readTextFile, { sessionId, path });
    }
    if (offers.terminal) {
      const terminal = await client.createTerminal({ sessionId, command: "echo", args: ["tide"] });
      await terminal.waitForExit();
      await terminal.currentOutput();
      await terminal.release();
    }
    if (offers.elicitation?.form) {
      await client.request(asks.elicitation.create, {
        sessionId,
        mode: "form",
        message: "Which harbour?",
        requestedSchema: { type: "object", properties: { harbour: { type: "string" } } },
      });
    }
    await say({ sessionUpdate: "tool_call_update", toolCallId: "t1", status: "completed" });
    await say(text("agent_message_chunk", "done"));
    return { stopReason: "end_turn" };
  });

const connection = app.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
await connection.closed;
