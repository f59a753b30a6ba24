// The official TypeScript SDK with every message read, judged and written by the generated modules; `side` is whose program runs.
import * as sdk from "@agentclientprotocol/sdk";
import { decode, encode, validate } from "./acp/v1/index.js";

export * from "@agentclientprotocol/sdk";

const side = process.argv[1].includes("_agent") ? "agent" : "client";
const other = side === "agent" ? "client" : "agent";

export function ndJsonStream(output, input) {
  const stream = sdk.ndJsonStream(output, input);
  const methods = { [side]: new Map(), [other]: new Map() }; // of the requests of each side, by their ids
  const heard = (sender, message) => {
    if (message.method !== undefined && message.id !== undefined) methods[sender].set(message.id, message.method);
    return { sender, pending: (id) => methods[sender === side ? other : side].get(id) };
  };
  const incoming = new TransformStream({
    transform(message, out) {
      out.enqueue(JSON.parse(encode(decode(JSON.stringify(message), heard(other, message)))));
    },
  });
  const outgoing = new TransformStream({
    transform(message, out) {
      const problems = validate(message, heard(side, message));
      if (problems.length) throw new Error(`${problems[0].pointer}: ${problems[0].sentence}`);
      out.enqueue(message);
    },
  });
  outgoing.readable.pipeTo(stream.writable);
  return { readable: stream.readable.pipeThrough(incoming), writable: outgoing.writable };
}
