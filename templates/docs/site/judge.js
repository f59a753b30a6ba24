// Judges messages by the schema and the table of methods of a protocol, in the browser or in Node.js. Nothing leaves the page.
//
// It knows the keywords of JSON Schema 2020-12 that are listed in `CHECKS`. Where a schema uses another one, where a value is nested too
// deep, or where too many steps are taken, the verdict is "not judged". It is never "right".
"use strict";
const acpJudge = (() => {
  const DIALECT = "https://json-schema.org/draft/2020-12/schema";
  const DEEPEST = 200, MOST_STEPS = 5e6, MOST_PROBLEMS = 20;
  const ANNOTATIONS = new Set(["$comment", "$defs", "title", "description", "default", "examples", "deprecated", "readOnly",
    "writeOnly", "format", "contentEncoding", "contentMediaType", "contentSchema"]);
  const has = (object, key) => Object.prototype.hasOwnProperty.call(object, key);
  const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  const isWhole = (value) => typeof value === "number" && Number.isInteger(value);
  class NotJudged extends Error {}

  // --- text ---

  // Reads JSON as RFC 8259 has it. Keys that an object gives twice, numbers too large and halves of surrogate pairs are told.
  function parse(text) {
    let at = 0;
    const duplicates = [];
    const fail = (reason) => { throw new SyntaxError(`${reason} at character ${at + 1}`); };
    const blank = () => { while (" \t\n\r".includes(text[at]) && at < text.length) at++; };
    const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y, NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
    function string() {
      STRING.lastIndex = at;
      const found = STRING.exec(text);
      if (!found) fail("no JSON string");
      const value = JSON.parse(found[0]);
      if (/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(value)) fail("half of a surrogate pair");
      at = STRING.lastIndex;
      return value;
    }
    function read(path, depth) {
      if (depth > DEEPEST) throw new NotJudged(`it is nested deeper than ${DEEPEST}`);
      blank();
      const next = text[at];
      if (next === "{") {
        const value = Object.create(null);
        at++; blank();
        if (text[at] === "}") { at++; return value; }
        for (;;) {
          blank();
          const key = string();
          blank();
          if (text[at] !== ":") fail("no colon");
          at++;
          if (has(value, key)) duplicates.push([...path, key]);
          value[key] = read([...path, key], depth + 1);
          blank();
          if (text[at] === ",") { at++; continue; }
          if (text[at] === "}") { at++; return value; }
          fail("no comma and no end of the object");
        }
      }
      if (next === "[") {
        const value = [];
        at++; blank();
        if (text[at] === "]") { at++; return value; }
        for (;;) {
          value.push(read([...path, value.length], depth + 1));
          blank();
          if (text[at] === ",") { at++; continue; }
          if (text[at] === "]") { at++; return value; }
          fail("no comma and no end of the array");
        }
      }
      if (next === '"') return string();
      for (const [word, value] of [["true", true], ["false", false], ["null", null]]) {
        if (text.startsWith(word, at)) { at += word.length; return value; }
      }
      NUMBER.lastIndex = at;
      const found = NUMBER.exec(text);
      if (!found) fail("no JSON value");
      const number = Number(found[0]);
      if (!Number.isFinite(number)) fail("a number too large for a double");
      at = NUMBER.lastIndex;
      return number;
    }
    const value = read([], 0);
    blank();
    if (at < text.length) fail("more text after the value");
    return { value, duplicates };
  }

  // --- values ---

  function equal(one, other) {
    if (one === other) return true;
    if (Array.isArray(one)) return Array.isArray(other) && one.length === other.length && one.every((item, i) => equal(item, other[i]));
    if (!isObject(one) || !isObject(other)) return false;
    const keys = Object.keys(one);
    return keys.length === Object.keys(other).length && keys.every((key) => has(other, key) && equal(one[key], other[key]));
  }
  const TYPES = {
    object: isObject, array: Array.isArray, string: (v) => typeof v === "string", boolean: (v) => typeof v === "boolean",
    null: (v) => v === null, number: (v) => typeof v === "number", integer: isWhole,
  };
  function told(value) {
    const text = JSON.stringify(value) ?? "nothing";
    return text.length > 60 ? `${text.slice(0, 60)}…` : text;
  }
  const length = (text) => Array.from(text).length;

  // --- schemas ---

  // Each keyword: what it says is wrong with a value, as a list of problems. `look` judges a value inside by a schema inside.
  const CHECKS = {
    $schema: (given) => {
      if (given !== DIALECT) throw new NotJudged(`the schema is written in the dialect ${given}`);
      return [];
    },
    $ref: (given, value, look, _, state) => look(resolved(state.root, given), value),
    type: (given, value) => [].concat(given).some((name) => TYPES[name](value)) ? [] : [`must be ${[].concat(given).join(" or ")}, not ${told(value)}`],
    const: (given, value) => equal(given, value) ? [] : [`must be ${told(given)}, not ${told(value)}`],
    enum: (given, value) => given.some((one) => equal(one, value)) ? [] : [`must be one of ${given.map(told).join(", ")}, not ${told(value)}`],
    properties: (given, value, look) => !isObject(value) ? [] : Object.keys(given).filter((key) => has(value, key))
      .flatMap((key) => look(given[key], value[key], key)),
    patternProperties: (given, value, look) => !isObject(value) ? [] : Object.keys(given).flatMap((pattern) =>
      Object.keys(value).filter((key) => matches(pattern, key)).flatMap((key) => look(given[pattern], value[key], key))),
    additionalProperties: (given, value, look, schema) => !isObject(value) ? [] : Object.keys(value)
      .filter((key) => !has(schema.properties || {}, key) && !Object.keys(schema.patternProperties || {}).some((p) => matches(p, key)))
      .flatMap((key) => given === false ? [`the field ${told(key)} does not belong here`] : look(given, value[key], key)),
    propertyNames: (given, value, look) => !isObject(value) ? [] : Object.keys(value).flatMap((key) => look(given, key)),
    required: (given, value) => !isObject(value) ? [] : given.filter((key) => !has(value, key)).map((key) => `the field ${told(key)} is required`),
    dependentRequired: (given, value) => !isObject(value) ? [] : Object.keys(given).filter((key) => has(value, key))
      .flatMap((key) => given[key].filter((other) => !has(value, other)).map((other) => `the field ${told(other)} is required beside ${told(key)}`)),
    minProperties: (given, value) => !isObject(value) || Object.keys(value).length >= given ? [] : [`must have at least ${given} fields`],
    maxProperties: (given, value) => !isObject(value) || Object.keys(value).length <= given ? [] : [`must have at most ${given} fields`],
    prefixItems: (given, value, look) => !Array.isArray(value) ? [] : given.slice(0, value.length).flatMap((one, i) => look(one, value[i], i)),
    items: (given, value, look, schema) => !Array.isArray(value) ? [] : value.flatMap((item, i) =>
      i < (schema.prefixItems || []).length ? [] : look(given, item, i)),
    minItems: (given, value) => !Array.isArray(value) || value.length >= given ? [] : [`must have at least ${given} items`],
    maxItems: (given, value) => !Array.isArray(value) || value.length <= given ? [] : [`must have at most ${given} items`],
    uniqueItems: (given, value) => !given || !Array.isArray(value) || value.every((one, i) => !value.slice(0, i).some((other) => equal(one, other)))
      ? [] : ["must not have an item twice"],
    minimum: (given, value) => typeof value !== "number" || value >= given ? [] : [`must be at least ${given}, not ${value}`],
    maximum: (given, value) => typeof value !== "number" || value <= given ? [] : [`must be at most ${given}, not ${value}`],
    exclusiveMinimum: (given, value) => typeof value !== "number" || value > given ? [] : [`must be more than ${given}, not ${value}`],
    exclusiveMaximum: (given, value) => typeof value !== "number" || value < given ? [] : [`must be less than ${given}, not ${value}`],
    minLength: (given, value) => typeof value !== "string" || length(value) >= given ? [] : [`must have at least ${given} characters`],
    maxLength: (given, value) => typeof value !== "string" || length(value) <= given ? [] : [`must have at most ${given} characters`],
    pattern: (given, value) => typeof value !== "string" || matches(given, value) ? [] : [`must match ${given}, not ${told(value)}`],
    allOf: (given, value, look) => given.flatMap((one) => look(one, value)),
    anyOf: (given, value, look) => nearest(given, value, look),
    oneOf: (given, value, look) => {
      const right = given.filter((one) => !look(one, value).length).length;
      return right === 1 ? [] : right ? [`must be exactly one of the alternatives, and is ${right} of them`] : nearest(given, value, look);
    },
    not: (given, value, look) => look(given, value).length ? [] : [`must not be ${told(value)}`],
    if: (given, value, look, schema) => {
      const then = look(given, value).length ? schema.else : schema.then;
      return then === undefined ? [] : look(then, value);
    },
    then: () => [],
    else: () => [],
  };

  // What the alternative that was most likely meant says: one whose constants fit, else the one that gets deepest into the value.
  function nearest(given, value, look) {
    let best = null;
    for (const one of given) {
      const problems = look(one, value);
      if (!problems.length) return [];
      const deepest = Math.max(...problems.map((problem) => problem.path.length));
      const isTag = problems.some((problem) => ["const", "enum", "type"].includes(problem.keyword) && problem.path.length <= problems.depth + 1);
      const rank = (isTag ? 0 : 1000) + deepest - problems.length / 100;
      if (!best || rank > best.rank) best = { rank, problems, isTag };
    }
    return !best || best.isTag ? [`is none of the ${given.length} alternatives that the schema has here: ${told(value)}`] : best.problems;
  }

  const patterns = new Map();
  /** A pattern with the flag `u`; one that is none with it, without. */
  function expression(pattern) {
    for (const flags of ["u", ""]) {
      try {
        return new RegExp(pattern, flags);
      } catch {
        continue;
      }
    }
    throw new NotJudged(`the pattern ${pattern} is none of this browser`);
  }

  function matches(pattern, text) {
    if (!patterns.has(pattern)) {
      patterns.set(pattern, expression(pattern));
    }
    return patterns.get(pattern).test(text);
  }

  function resolved(root, reference) {
    if (!/^#(\/|$)/.test(reference)) throw new NotJudged(`the reference ${reference} leads out of the schema`);
    let found = root;
    for (const part of reference.slice(1).split("/").slice(1)) {
      const key = decodeURIComponent(part).replace(/~1/g, "/").replace(/~0/g, "~");
      if (typeof found !== "object" || found === null || !has(found, key)) throw new NotJudged(`the reference ${reference} leads nowhere`);
      found = found[key];
    }
    return found;
  }

  // What is wrong with a value: a list of `{path, keyword, says}`. Throws `NotJudged`.
  function problems(root, reference, value) {
    const state = { root, steps: 0 };
    function look(schema, item, path, depth) {
      if (++state.steps > MOST_STEPS) throw new NotJudged("it takes too many steps");
      if (depth > 4 * DEEPEST) throw new NotJudged("schema and value are nested too deep");
      if (schema === true) return [];
      if (schema === false) return [{ path, keyword: "false", says: "does not belong here" }];
      const found = [];
      for (const keyword of Object.keys(schema)) {
        if (ANNOTATIONS.has(keyword) || keyword.startsWith("x-")) continue;
        if (!has(CHECKS, keyword)) throw new NotJudged(`the schema uses the keyword ${keyword}`);
        const inside = (other, held, ...key) => {
          const below = look(other, held, [...path, ...key], depth + 1);
          below.depth = path.length;
          return below;
        };
        for (const one of CHECKS[keyword](schema[keyword], item, inside, schema, state)) {
          found.push(typeof one === "string" ? { path, keyword, says: one } : one);
        }
      }
      return found;
    }
    return look({ $ref: reference }, value, [], 0);
  }

  // --- messages ---

  const pointer = (path) => path.map((key) => `/${String(key).replace(/~/g, "~0").replace(/\//g, "~1")}`).join("");

  // One protocol: `data` has the schema, the rows of its methods, its sides, and whether it has batches.
  class Protocol {
    constructor(data) {
      this.data = data;
      this.routes = new Map(data.methods.map((row) => [`${row.name} ${row.kind}`, row]));
    }
    route(name, isRequest) {
      return this.routes.get(`${name} ${isRequest ? "request" : "notification"}`);
    }
    against(definition, value, at, rule) {
      if (definition === undefined) return [];
      const reference = `#/$defs/${definition.replace(/~/g, "~0").replace(/\//g, "~1")}`;
      return problems(this.data.schema, encodeURI(reference), value)
        .map((one) => ({ rule, at: pointer([...at, ...one.path]), says: one.says }));
    }
    // Who may send a message that says it not: the side that does not handle its method.
    sender(message) {
      const row = isObject(message) && typeof message.method === "string" ? this.route(message.method, has(message, "id")) : undefined;
      return row && this.data.sides.includes(row.side) ? this.data.sides.find((side) => side !== row.side) : undefined;
    }
    judged(message, sender, requestOf) {
      if (Array.isArray(message) && this.data.batch) {
        const answers = message.map((item) => isObject(item) && !has(item, "method"));
        return [
          ...(message.length ? [] : [{ rule: "batch-empty", at: "", says: "a batch must hold at least one message" }]),
          ...message.flatMap((item, i) => this.one(item, [i], sender, requestOf)),
          ...(answers.some((one) => one !== answers[0]) ? [{ rule: "batch-mixed", at: "", says: "a batch holds either calls or answers" }] : []),
        ];
      }
      return this.one(message, [], sender, requestOf);
    }
    one(message, at, sender, requestOf) {
      const wrong = (says, ...key) => ({ rule: "envelope-malformed", at: pointer([...at, ...key]), says });
      if (!isObject(message)) return [wrong("a JSON-RPC message is an object")];
      const found = message.jsonrpc === "2.0" ? [] : [wrong("the field \"jsonrpc\" must be \"2.0\"", "jsonrpc")];
      if (has(message, "method")) {
        if (typeof message.method !== "string") return [...found, wrong("the method must be a string", "method")];
        return [...found, ...this.call(message, at, sender, wrong)];
      }
      if (has(message, "result") || has(message, "error")) return [...found, ...this.answer(message, at, sender, requestOf, wrong)];
      return [...found, wrong("the message has no \"method\", and neither \"result\" nor \"error\"")];
    }
    call(message, at, sender, wrong) {
      const isRequest = has(message, "id"), name = message.method, found = isRequest ? this.id(message.id, wrong) : [];
      if (has(message, "result") || has(message, "error")) found.push(wrong("a message with \"method\" holds neither \"result\" nor \"error\""));
      const row = this.route(name, isRequest);
      if (!row || row.side === sender) {
        if (row) found.push({ rule: "method-misdirected", at: pointer([...at, "method"]), says: `${told(name)} is handled by the ${row.side}` });
        else if (!name.startsWith("_")) {
          const other = this.route(name, !isRequest);
          const says = other ? `${told(name)} is a ${other.kind}` : `the method ${told(name)} is not known`;
          found.push({ rule: "method-unknown", at: pointer([...at, "method"]), says, isIgnored: !other && (this.data.partial || (name.startsWith("$/") && !isRequest)) });
        }
        return found;
      }
      if (row.params === undefined) return found;
      const omitted = row.omitted || "object", empty = omitted === "object" ? {} : omitted === "array" ? [] : null;
      const params = has(message, "params") ? message.params : null;
      if (params === null && omitted === "nothing") return found;
      return [...found, ...this.against(row.params, params === null ? empty : params, [...at, "params"], "params-malformed")];
    }
    answer(message, at, sender, requestOf, wrong) {
      const found = [];
      if (has(message, "result") && has(message, "error")) found.push(wrong("a response holds either \"result\" or \"error\", not both"));
      if (!has(message, "id")) found.push(wrong("a response must carry the \"id\" of its request"));
      else if (!(message.id === null && has(message, "error"))) found.push(...this.id(message.id, wrong));
      if (has(message, "error")) found.push(...this.error(message.error, at));
      const name = has(message, "result") && has(message, "id") ? requestOf(message.id) : undefined;
      if (name === undefined) return found;
      const row = this.route(name, true);
      if (!row) {
        if (!name.startsWith("_")) found.push({ rule: "method-unknown", at: pointer(at), says: `the method ${told(name)} is not known`, isIgnored: true });
      } else if (this.data.sides.includes(row.side) && sender !== undefined && row.side !== sender) {
        found.push(wrong(`${told(name)} is answered by the ${row.side}`));
      } else {
        const isIgnored = message.result === null && row.null_result;
        found.push(...this.against(row.result, message.result, [...at, "result"], "result-malformed").map((one) => ({ ...one, isIgnored })));
      }
      return found;
    }
    id(value, wrong) {
      const isRight = has(this.data.schema.$defs, "RequestId")
        ? !problems(this.data.schema, "#/$defs/RequestId", value).length : typeof value === "string" || isWhole(value);
      return isRight ? [] : [wrong(`an id must be an integer or a string, not ${told(value)}`, "id")];
    }
    error(value, at) {
      if (has(this.data.schema.$defs, "Error")) return this.against("Error", value, [...at, "error"], "error-malformed");
      return isObject(value) && isWhole(value.code) && typeof value.message === "string"
        ? [] : [{ rule: "error-malformed", at: pointer([...at, "error"]), says: "an error is an object with an integer \"code\" and a string \"message\"" }];
    }
  }

  // --- conversations ---

  const RULES = ["not-json", "duplicate-key", "envelope-malformed", "batch-empty", "batch-mixed", "method-unknown", "method-misdirected",
    "params-malformed", "result-malformed", "error-malformed", "response-without-request", "id-in-use"];

  // Lines of one connection, in their order: messages, or lines of a recording that say who spoke.
  class Conversation {
    constructor(protocol) {
      this.protocol = protocol;
      this.open = new Map(); // the requests of each side that wait, by their id
      this.isBroken = false; // a line is missing, was not understood, or may answer any request: ids prove nothing any more
    }
    line(text) {
      try {
        const { value, duplicates } = parse(text);
        const twice = duplicates.map((path) => ({ rule: "duplicate-key", at: pointer(path), says: "an object gives this key twice" }));
        return this.read(value, twice);
      } catch (error) {
        this.isBroken = true;
        if (error instanceof NotJudged) return { verdict: "not judged", problems: [], note: error.message };
        if (!(error instanceof SyntaxError)) throw error;
        return { verdict: "wrong", problems: [{ rule: "not-json", at: "", says: `is not JSON: ${error.message}` }], note: "" };
      }
    }
    read(value, twice) {
      let sender, message = value;
      if (isObject(value) && has(value, "from") && !has(value, "jsonrpc")) {
        sender = value.from;
        if (!this.protocol.data.sides.includes(sender)) {
          this.isBroken = true;
          return { verdict: "not judged", problems: [], note: `"from" is one of ${this.protocol.data.sides.join(", ")}` };
        }
        if (!has(value, "message")) {
          if (typeof value.text === "string" && !value.text.trim()) return { verdict: "right", problems: [], note: "a blank line", sender };
          this.isBroken = true;
          if (typeof value.text !== "string") return { verdict: "not judged", problems: [], note: "messages are missing here", sender };
          return { verdict: "wrong", problems: [{ rule: "not-json", at: "", says: "is not JSON" }], note: "", sender };
        }
        message = value.message;
      }
      const isTold = sender !== undefined;
      if (!isTold) sender = this.guessed(message);
      const notes = [];
      const told = this.protocol.judged(message, sender, (id) => this.requestOf(id, sender, notes));
      notes.push(...told.filter((one) => one.isIgnored).map((one) => `${one.says}; receivers may accept that`));
      const found = [...twice, ...told.filter((one) => !one.isIgnored)];
      for (const item of Array.isArray(message) ? message : [message]) this.follow(item, sender, found, notes);
      const shown = found.slice(0, MOST_PROBLEMS);
      const verdict = found.length ? "wrong" : notes.length ? "not judged" : "right";
      return { verdict, problems: shown, more: found.length - shown.length, note: notes.join("; "), sender, isGuessed: !isTold, message };
    }
    guessed(message) {
      const first = Array.isArray(message) ? message[0] : message;
      const sides = this.protocol.data.sides.filter((side) => side !== "proxy");
      if (isObject(first) && !has(first, "method")) {
        const asked = sides.filter((side) => this.open.has(`${side} ${told(first.id)}`));
        return asked.length === 1 ? sides.find((side) => side !== asked[0]) : undefined;
      }
      return this.protocol.sender(first);
    }
    other(sender) {
      return this.protocol.data.sides.find((side) => side !== sender && side !== "proxy");
    }
    requestOf(id, sender, notes) {
      const asked = sender === undefined ? undefined : this.open.get(`${this.other(sender)} ${told(id)}`);
      if (asked === undefined) notes.push("the result was not judged: its request was not seen");
      return asked;
    }
    follow(message, sender, found, notes) {
      if (!isObject(message)) return;
      if (sender === undefined) {
        if (typeof message.method === "string" && has(message, "id")) this.isBroken = true;
        return;
      }
      if (typeof message.method === "string" && has(message, "id")) {
        const key = `${sender} ${told(message.id)}`;
        if (this.open.has(key) && !this.isBroken) found.push({ rule: "id-in-use", at: "/id", says: "a request with this id is still pending" });
        this.open.set(key, message.method);
      } else if (has(message, "error") && (!has(message, "id") || message.id === null)) {
        this.isBroken = true; // it may answer any request
      } else if ((has(message, "result") || has(message, "error")) && has(message, "id") && message.id !== null) {
        const key = `${this.other(sender)} ${told(message.id)}`;
        if (!this.open.delete(key) && !this.isBroken && this.hasBegun) {
          notes.length = 0;
          found.push({ rule: "response-without-request", at: "/id", says: "no open request has this id" });
        }
      }
      if (message.method === "initialize") this.hasBegun = true;
    }
  }

  // The protocol that a conversation speaks, by the version that the answer to `initialize` names, else the one that was asked for.
  function versionOf(lines, known) {
    let found;
    for (const text of lines) {
      let value;
      try { value = JSON.parse(text); } catch { continue; }
      const message = isObject(value) && isObject(value.message) ? value.message : value;
      const held = isObject(message) ? (isObject(message.result) ? message.result : message.method === "initialize" ? message.params : undefined) : undefined;
      if (isObject(held) && has(held, "protocolVersion")) {
        const name = Object.keys(known).find((one) => known[one] === held.protocolVersion);
        if (name !== undefined) found = name;
        if (isObject(message.result)) break;
      }
    }
    return found;
  }

  return { parse, problems, Protocol, Conversation, versionOf, NotJudged, RULES, KEYWORDS: Object.keys(CHECKS) };
})();
if (typeof module !== "undefined") module.exports = acpJudge;
