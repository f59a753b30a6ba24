/** The tag of a variant that the schema does not know: `switch` on it like on any other tag. */
export const UNKNOWN: unique symbol;

/** The patterns of the schema that the engine of JavaScript lacks: they refuse nothing. Of the modules that are loaded. */
export const UNENFORCED: readonly string[];

/** A variant whose tag the schema does not know: its fields, but that the tag field is `UNKNOWN`. `raw` is the object as it came, and is what
 *  is written; beside a tag field of that name, it is `raw_`, and `tag` is `tag_`.
 */
export type Unknown<Field extends string> = { [field in Field]: typeof UNKNOWN } & {
  readonly [name in Field extends "tag" ? "tag_" : "tag"]: string;
} & {
  readonly [name in Field extends "raw" ? "raw_" : "raw"]: { [key: string]: unknown };
};

/** One thing that is wrong: a JSON Pointer into the message, a sentence, and the keyword that refuses. */
export interface Problem {
  pointer: string;
  sentence: string;
  rule?: string;
}

/** A value that leniency left out: where it stood, what it was, and why it did not fit. */
export interface Dropped {
  pointer: string;
  value: unknown;
  problem: Problem;
}

/** A message that cannot be decoded: `code` is the JSON-RPC error code that fits, `problems` say what is wrong and where. */
export class DecodeError extends globalThis.Error {
  readonly code: number;
  readonly problems: readonly Problem[];
  readonly id: string | number | null;
  readonly method: string | null;
}

/** A type of the schema as a value, for `decodeAs`, `validateAs` and `is`. */
export interface Type<T> {
  readonly __type?: T;
}

export interface Lenient {
  /** Is told of each value that leniency leaves out. */
  onDrop?: (drop: Dropped) => void;
  /** Whether wrong values are left out where the schema says so. Default: true. */
  lenient?: boolean;
}

/** The typed value of parsed JSON: itself, or a copy where leniency or unknown variants ask for another one. Throws `DecodeError`. */
export function decodeAs<T>(type: Type<T>, value: unknown, options?: Lenient): T;
/** JSON text as `JSON.parse` reads it; keys that are given twice and what is too large are refused, long numbers are kept for `encode`. */
export function parse(text: string | Uint8Array): unknown;
/** What is wrong with a value as one of a type, by its schema and nothing else; an empty list, if all is well. */
export function validateAs<T>(type: Type<T>, value: unknown): Problem[];
/** Whether a value is one of a type, by its schema and nothing else. */
export function is<T>(type: Type<T>, value: unknown): value is T;
/** A value as JSON text. Numbers that came with more digits than a double holds are written as they came. */
export function encode(value: unknown): string;

/** As of the library of TypeScript, whatever types the schema defines. */
export type Pick<T, Name extends keyof T> = { [name in Name]: T[name] };
export type Readonly<T> = { readonly [name in keyof T]: T[name] };
