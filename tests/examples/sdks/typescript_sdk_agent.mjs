// The agent of the examples on the official TypeScript SDK.
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const folders = new Map();
const turns = new Map();
const options = [
  { optionId: "allow", name: "Allow", kind: "allow_once" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
];

async function turn(sessionId, client, signal) {
  const update = (update) => client.notify("session/update", { sessionId, update });
  const say = (text) => update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  const call = (toolCallId, fields) => update({ sessionUpdate: "tool_call_update", toolCallId, ...fields });
  const request = (method, params) => (signal.throwIfAborted(), client.request(method, { sessionId, ...params }));
  await say("I write a note.");
  const edit = { toolCallId: "call_1", title: "Write note.txt", kind: "edit", status: "pending" };
  await update({ sessionUpdate: "tool_call", ...edit });
  const { outcome } = await request("session/request_permission", { toolCall: edit, options });
  if (outcome.outcome !== "selected" || outcome.optionId !== "allow") {
    await call("call_1", { status: "failed" });
    await say("I may not write it.");
    return "end_turn";
  }
  await call("call_1", { status: "in_progress" });
  await request("fs/write_text_file", { path: `${folders.get(sessionId)}/note.txt`, content: "tide\n" });
  await call("call_1", { status: "completed" });
  const count = { toolCallId: "call_2", title: "wc -c note.txt", kind: "execute", status: "pending" };
  await update({ sessionUpdate: "tool_call", ...count });
  const command = { command: "wc", args: ["-c", "note.txt"], cwd: folders.get(sessionId) };
  const { terminalId } = await request("terminal/create", command);
  let told;
  try {
    await call("call_2", { status: "in_progress", content: [{ type: "terminal", terminalId }] });
    await request("terminal/wait_for_exit", { terminalId });
    told = await request("terminal/output", { terminalId });
  } finally {
    await client.request("terminal/release", { sessionId, terminalId });
  }
  await call("call_2", { status: "completed" });
  await say(`Byte count: ${told.output.trim()}`);
  return "end_turn";
}

acp
  .agent({ name: "tide" })
  .onRequest("initialize", () => ({ protocolVersion: acp.PROTOCOL_VERSION }))
  .onRequest("session/new", ({ params }) => {
    const sessionId = `session-${folders.size + 1}`;
    folders.set(sessionId, params.cwd);
    return { sessionId };
  })
  .onRequest("session/prompt", async ({ params, client }) => {
    const abort = new AbortController();
    turns.set(params.sessionId, abort);
    try {
      return { stopReason: await turn(params.sessionId, client, abort.signal) };
    } catch (error) {
      if (abort.signal.aborted) return { stopReason: "cancelled" };
      throw error;
    } finally {
      turns.delete(params.sessionId);
    }
  })
  .onNotification("session/cancel", ({ params }) => turns.get(params.sessionId)?.abort())
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
