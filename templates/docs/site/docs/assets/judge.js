// Judges messages of a conversation, in the browser or in Node.js, by the module of their protocol. Nothing leaves the page.
//
// What the module says is too much to be judged is "not judged". It is never "valid".
"use strict";
const acpJudge = (() => {
  const MOST_PROBLEMS = 20;
  const has = (object, key) => Object.prototype.hasOwnProperty.call(object, key);
  const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  const told = (value) => JSON.stringify(value);

  // One protocol: `data` has its module, the rows of its methods, its sides, and whether only a part of its methods is known.
  class Protocol {
    constructor(data) {
      this.data = data;
      this.routes = new Map(data.methods.map((row) => [`${row.name} ${row.kind}`, row]));
    }
    route(name, isRequest) {
      return this.routes.get(`${name} ${isRequest ? "request" : "notification"}`);
    }
    // Who may send a message that says it not: the side that does not handle its method.
    sender(message) {
      const row = isObject(message) && typeof message.method === "string" ? this.route(message.method, has(message, "id")) : undefined;
      return row && this.data.sides.includes(row.side) ? this.data.sides.find((side) => side !== row.side) : undefined;
    }
    // What is wrong with a message, each with the rule that it breaks; `isIgnored` is what receivers may accept.
    judged(message, sender, requestOf) {
      const isBatch = Array.isArray(message) && this.data.batch;
      const either = sender ?? this.data.sides[0]; // an unknown sender is one whom both directions suit
      return this.data.module.validate(message, { sender: either, pending: requestOf }).map(({ pointer, sentence, rule }) => {
        const place = isBatch ? pointer.replace(/^\/[0-9]+/, "") : pointer;
        const item = isBatch && pointer ? message[pointer.split("/")[1]] : message;
        return { at: pointer, says: sentence, ...this.rule(item, place, rule, sentence, sender, requestOf) };
      });
    }
    rule(message, place, rule, sentence, sender, requestOf) {
      if (rule === "size") return { rule };
      if (rule === "envelope" && Array.isArray(message)) return { rule: message.length && this.data.batch ? "batch-mixed" : this.data.batch ? "batch-empty" : "envelope-malformed" };
      if (rule === "envelope") return { rule: sentence.startsWith("a batch holds") ? "batch-mixed" : "envelope-malformed" };
      if (rule === "method") {
        const isCall = has(message, "method"), isRequest = !isCall || has(message, "id");
        const name = isCall ? message.method : requestOf(message.id);
        if (this.route(name, isRequest)) return { rule: "method-misdirected" };
        const isOther = isCall && this.route(name, !isRequest);
        return { rule: "method-unknown", isIgnored: !isCall || (!isOther && (this.data.partial || (name.startsWith("$/") && !isRequest))) };
      }
      if (place.startsWith("/result")) {
        const row = this.route(requestOf(message.id), true);
        return { rule: "result-malformed", isIgnored: message.result === null && Boolean(row && row.null_result) };
      }
      return { rule: place.startsWith("/error") ? "error-malformed" : place.startsWith("/id") ? "envelope-malformed" : "params-malformed" };
    }
  }

  // --- conversations ---

  // Lines of one connection, in their order: messages, or lines of a recording that say who spoke.
  class Conversation {
    constructor(protocol) {
      this.protocol = protocol;
      this.open = new Map(); // the requests of each side that wait, by their id
      this.isBroken = false; // a line is missing, was not understood, or may answer any request: ids prove nothing any more
    }
    line(text) {
      try {
        const [value, faults] = this.protocol.data.module.read(text);
        if (value !== undefined) return this.read(value, faults.map((one) => ({ rule: "duplicate-key", at: one.pointer, says: one.sentence })));
        this.isBroken = true;
        return { verdict: "invalid", problems: [{ rule: "not-json", at: "", says: faults[0].sentence }], note: "" };
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        this.isBroken = true;
        return { verdict: "not judged", problems: [], note: "the message is nested too deep" };
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
          if (typeof value.text === "string" && !value.text.trim()) return { verdict: "valid", problems: [], note: "a blank line", sender };
          this.isBroken = true;
          if (typeof value.text !== "string") return { verdict: "not judged", problems: [], note: "messages are missing here", sender };
          return { verdict: "invalid", problems: [{ rule: "not-json", at: "", says: "is not JSON" }], note: "", sender };
        }
        message = value.message;
      }
      const isTold = sender !== undefined;
      if (!isTold) sender = this.guessed(message);
      const notes = [];
      const said = this.protocol.judged(message, sender, (id) => this.requestOf(id, sender, notes));
      const isUnsure = (one) => one.isIgnored || one.rule === "size";
      notes.push(...said.filter(isUnsure).map((one) => (one.isIgnored ? `${one.says}; receivers may accept that` : one.says)));
      const found = [...twice, ...said.filter((one) => !isUnsure(one))];
      for (const item of Array.isArray(message) ? message : [message]) this.follow(item, sender, found, notes);
      const shown = found.slice(0, MOST_PROBLEMS);
      const verdict = found.length ? "invalid" : notes.length ? "not judged" : "valid";
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

  return { Protocol, Conversation, versionOf };
})();
if (typeof module !== "undefined") module.exports = acpJudge;
