// What the types of ACP v1 promise: compiled by `tsc --strict --exactOptionalPropertyTypes`. A line after `@ts-expect-error` must not compile.
import {
  ContentBlock,
  type Message,
  PromptRequest,
  type Response,
  type CompactionCapabilities,
  type NewSessionResponse,
  type SessionConfigOption,
  type SessionUpdate,
  type StopReason,
  type ToolKind,
  UNENFORCED,
  UNKNOWN,
  decode,
  decodeAs,
  encode,
  is,
  validate,
  validateAs,
} from "./acp/v1/index.js";

export function text(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return block.mimeType;
    case "resource_link":
      return block.uri;
    case "resource":
      return block.resource.uri;
    case UNKNOWN:
      return `${block.tag}: ${Object.keys(block.raw).length}`;
    default: {
      const none: never = block;
      return none;
    }
  }
}

export function heed(line: string): string {
  const message: Message = decode(line, { sender: "agent", onDrop: (drop) => console.error(drop.pointer) });
  if (message.method === "session/update") return called(message.params.update);
  if (message.method === "fs/read_text_file") return message.params.path;
  if (message.method === "_tide/height") return JSON.stringify(message.params); // an extension method
  if (message.method === "logout") return Object.keys(message.params).join(); // filled in where it was left out
  return encode(message);
}

function called(update: SessionUpdate): string {
  if (update.sessionUpdate === UNKNOWN) return update.tag;
  return update.sessionUpdate === "tool_call" ? update.title : update.sessionUpdate;
}

const answer = decode("{}", { sender: "agent", method: "session/new" });
export const id: string | undefined = "result" in answer ? answer.result.sessionId : undefined;
export const typed: Response<NewSessionResponse> | undefined = "result" in answer ? answer : undefined;

const prompt: PromptRequest = { sessionId: "s", prompt: [{ type: "text", text: "hi" }] };
export const again: PromptRequest = decodeAs(PromptRequest, JSON.parse(JSON.stringify(prompt)));
export const wrong: string[] = validateAs(PromptRequest, prompt).map((one) => `${one.pointer} ${one.sentence}`);
export const also = validate({}, { sender: "client" }).length;
export const kind: ToolKind = "paint"; // an open set of texts
export function narrowed(value: unknown): string | null {
  return is(ContentBlock, value) ? text(value) : null;
}

export function option(one: SessionConfigOption): string {
  return one.type === UNKNOWN ? `${one.tag} ${one.id} ${one.name}` : one.id; // fields that all variants share
}
export const patterns: number = UNENFORCED.length;

// @ts-expect-error an object without declared fields is an object all the same
export const bareObject: CompactionCapabilities = 5;
// @ts-expect-error a closed set of texts
export const stop: StopReason = "tired";
// @ts-expect-error a required field
export const bare: PromptRequest = { sessionId: "s" };
// @ts-expect-error a misspelt field
export const misspelt: PromptRequest = { sessionID: "s", prompt: [] };
// @ts-expect-error a field that is left out is not undefined
export const undefinedField: PromptRequest = { sessionId: "s", prompt: [], _meta: undefined };
// @ts-expect-error a side that the protocol does not have
decode("{}", { sender: "server" });
