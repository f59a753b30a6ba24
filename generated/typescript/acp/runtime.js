/** The tag of a variant that the schema does not know: `switch` on it like on any other tag. */
export const UNKNOWN = Symbol("unknown variant");

/** A variant whose tag the schema does not know. Its tag field holds `UNKNOWN`; `raw` is the object as it came, and is what is written. */
export class Unknown {
  constructor(field, raw, shared = []) {
    for (const name of shared) this[name] = raw[name];
    this[field] = UNKNOWN;
    this.tag = raw[field];
    this.raw = raw;
  }
  toJSON() {
    return this.raw;
  }
}

/** A message that cannot be decoded: `code` is the JSON-RPC error code that fits, `problems` say what is wrong and where. */
export class DecodeError extends Error {
  constructor(code, problems, id = null, method = null) {
    super(problems.map((one) => `${one.pointer || "(message)"}: ${one.sentence}`).join("; "));
    this.name = "DecodeError";
    this.code = code;
    this.problems = problems;
    this.id = id;
    this.method = method;
  }
}

// --- one judgement ---------------------------------------------------------------------------------------------------
// A checker is `(value, pointer, judgement) => value`: it adds what is wrong to the judgement and returns the value, or what is to
// stand in its place. `problems` are what is wrong, `drops` what leniency left out, `keys` collects the names that a record declares.

const MOST = 100;
const STEPS = 200000;

class Judgement {
  constructor(isStrict, isLenient, isKept, whole) {
    this.problems = [];
    this.drops = [];
    this.strict = isStrict;
    this.lenient = isLenient;
    this.kept = isKept; // changes are written into the value
    this.keys = null;
    this.steps = STEPS;
    this.whole = whole ?? this;
  }
  /** A judgement that only tells whether something fits. */
  trial(isStrict = this.strict) {
    if (--this.whole.steps < 0) throw new RangeError("too many alternatives");
    return new Judgement(isStrict, this.lenient && !isStrict, false, this.whole);
  }
}

const add = (c, pointer, sentence, rule, types) => {
  c.problems.push({ pointer, sentence, rule, types });
};
const own = Object.prototype.hasOwnProperty;
const isObject = (v) => typeof v === "object" && v !== null && !Array.isArray(v);
const below = (pointer, key) =>
  `${pointer}/${typeof key === "string" && /[~/]/.test(key) ? key.replace(/~/g, "~0").replace(/\//g, "~1") : key}`;

// --- what sentences hold ----------------------------------------------------------------------------------------------

const HIDDEN = /[\p{C}\p{Z}]/u;
const ESCAPES = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\" };
const quote = (text) => {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  let out = mark;
  for (const one of text) {
    const code = one.codePointAt(0);
    if (one in ESCAPES) out += ESCAPES[one];
    else if (one === mark) out += `\\${one}`;
    else if (one !== " " && HIDDEN.test(one))
      out += code < 256 ? `\\x${hex(code, 2)}` : code < 65536 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
    else out += one;
  }
  return out + mark;
};
const hex = (code, length) => code.toString(16).padStart(length, "0");
const show = (v) => {
  const chars = Array.from(typeof v === "string" ? quote(v.slice(0, 400)) : String(v));
  return chars.length <= 80 ? chars.join("") : `${chars.slice(0, 77).join("")}...`;
};
const tell = (v) => (Array.isArray(v) ? "an array" : isObject(v) ? "an object" : show(v));
const list = (values) => {
  const first = values.slice(0, 24).map(tell).join(", ");
  return values.length <= 24 ? first : `${first} and ${values.length - 24} more`;
};

/** How alike two texts are, from 0 to 1: twice the characters of common blocks, the longest first, by both lengths. */
const likeness = (a, b) => {
  const common = (alo, ahi, blo, bhi) => {
    let size = 0;
    let besti = alo;
    let bestj = blo;
    let row = new Map();
    for (let i = alo; i < ahi; i++) {
      const next = new Map();
      for (let j = blo; j < bhi; j++) {
        if (a[i] !== b[j]) continue;
        const length = (row.get(j - 1) ?? 0) + 1;
        next.set(j, length);
        if (length > size) [besti, bestj, size] = [i - length + 1, j - length + 1, length];
      }
      row = next;
    }
    return size && common(alo, besti, blo, bestj) + size + common(besti + size, ahi, bestj + size, bhi);
  };
  return a.length + b.length ? (2 * common(0, a.length, 0, b.length)) / (a.length + b.length) : 1;
};
const plain = (name) => name.replace(/[_-]/g, "").toLowerCase();
const nearest = (name, names) => {
  let best = 0.75;
  let found = null;
  if (name.length > 200) return null;
  for (const one of new Map(names.map((each) => [plain(each), each])).values()) {
    if (one.length > 200) continue;
    const ratio = likeness(plain(one), plain(name));
    if (ratio > best || (ratio === best && (found === null || plain(one) > plain(found)))) [best, found] = [ratio, one];
  }
  return found;
};
const suggest = (v, known) => {
  const texts = known.filter((one) => typeof one === "string");
  const longest = Math.max(0, ...texts.map((one) => one.length));
  const near = typeof v !== "string" || v.length > 2 * longest ? null : nearest(v, texts);
  return near === null ? "" : `; did you mean ${quote(near)}?`;
};
const OTHER_NAMES = {
  path: ["uri", "file", "filePath", "file_path", "filename"],
  uri: ["path", "url"],
  cwd: ["workingDirectory", "working_directory", "root"],
  sessionId: ["session", "id"],
};
const hint = (missing, present) => {
  const names = present.slice(0, 1000);
  const near = names.find((name) => OTHER_NAMES[missing]?.includes(name)) ?? nearest(missing, names);
  return near == null ? "" : `; ${show(near)} is not known here, did you mean ${quote(missing)}?`;
};

// --- checkers of scalars ----------------------------------------------------------------------------------------------

const ARTICLES = {
  array: "an array",
  boolean: "true or false",
  integer: "an integer",
  null: "null",
  number: "a number",
  object: "an object",
  string: "a string",
};
const named = (types) => types.map((one) => ARTICLES[one]).join(" or ");
const mismatch = (v, p, c, types) => {
  add(c, p, `${named(types)} is expected, not ${tell(v)}`, "type", types);
  return v;
};
const kinds = {
  array: Array.isArray,
  boolean: (v) => typeof v === "boolean",
  integer: (v) => typeof v === "number" && Number.isInteger(v),
  null: (v) => v === null,
  number: (v) => typeof v === "number",
  object: isObject,
  string: (v) => typeof v === "string",
};

export const any = (v) => v;
export const never = (v, p, c) => (add(c, p, "nothing is allowed here", "false"), v);
export const string = (v, p, c) => (typeof v === "string" ? v : mismatch(v, p, c, ["string"]));
export const boolean = (v, p, c) => (typeof v === "boolean" ? v : mismatch(v, p, c, ["boolean"]));
export const number = (v, p, c) => (typeof v === "number" ? v : mismatch(v, p, c, ["number"]));
export const integer = (v, p, c) => (Number.isInteger(v) ? v : mismatch(v, p, c, ["integer"]));
export const nil = (v, p, c) => (v === null ? v : mismatch(v, p, c, ["null"]));
export const object = (v, p, c) => (isObject(v) ? v : mismatch(v, p, c, ["object"]));
export const array = (v, p, c) => (Array.isArray(v) ? v : mismatch(v, p, c, ["array"]));
export const type = (...types) => (v, p, c) => types.some((one) => kinds[one](v)) ? v : mismatch(v, p, c, types);
export const nullable = (f) => (v, p, c) => v === null ? v : f(v, p, c);

export const literal = (...values) => (v, p, c) => {
  if (!values.some((one) => equal(one, v)))
    add(
      c,
      p,
      values.length === 1
        ? `${tell(v)} is not ${tell(values[0])}, the only value allowed here`
        : `${tell(v)} is not one of ${list(values)}${suggest(v, values)}`,
      values.length === 1 ? "const" : "enum",
    );
  return v;
};
/** One of some values; receivers take any value that `other` takes. */
export const open = (known, other) => (v, p, c) => (c.strict ? known : other)(v, p, c);

const equal = (a, b) => {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => own.call(b, key) && equal(a[key], b[key]));
};
const key = (v) =>
  typeof v === "object" && v !== null
    ? Array.isArray(v)
      ? `[${v.map(key)}]`
      : `{${Object.keys(v)
          .sort()
          .map((name) => `${JSON.stringify(name)}:${key(v[name])}`)}}`
    : JSON.stringify(v);

const points = (text) => {
  let count = 0;
  for (const _ of text) count++;
  return count;
};
/** `keyword: [what it judges, whether it holds, what is wrong otherwise]` */
const LIMITS = {
  minLength: ["string", (v, n) => v.length >= n && points(v) >= n, (n) => `the string must have ${n} characters or more`],
  maxLength: ["string", (v, n) => v.length <= n || points(v) <= n, (n) => `the string may have ${n} characters at most`],
  minimum: ["number", (v, n) => v >= n, (n) => `the number must be ${n} or more`],
  maximum: ["number", (v, n) => v <= n, (n) => `the number may be ${n} at most`],
  exclusiveMinimum: ["number", (v, n) => v > n, (n) => `the number must be more than ${n}`],
  exclusiveMaximum: ["number", (v, n) => v < n, (n) => `the number must be less than ${n}`],
  multipleOf: ["number", (v, n) => multiple(v, n), (n) => `the number must be a multiple of ${n}`],
  minItems: ["array", (v, n) => v.length >= n, (n) => `the array must have ${n} items or more`],
  maxItems: ["array", (v, n) => v.length <= n, (n) => `the array may have ${n} items at most`],
  uniqueItems: ["array", (v) => new Set(v.map(key)).size === v.length, () => "the items of the array must be unique"],
  minProperties: ["object", (v, n) => Object.keys(v).length >= n, (n) => `the object must have ${n} fields or more`],
  maxProperties: ["object", (v, n) => Object.keys(v).length <= n, (n) => `the object may have ${n} fields at most`],
};
const multiple = (v, n) => {
  const scale = 10 ** Math.max(decimals(v), decimals(n));
  return Number.isSafeInteger(v * scale) ? Math.round(v * scale) % Math.round(n * scale) === 0 : Number.isInteger(v / n);
};
const decimals = (v) => {
  const [, fraction = "", exponent = "0"] = /^-?\d+(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(String(v)) ?? [];
  return Math.max(0, fraction.length - Number(exponent));
};
/** A value within limits: `{minimum: 0}`. */
export const limits = (given) => {
  const rows = Object.entries(given).map(([rule, n]) => [rule, n, ...LIMITS[rule]]);
  return (v, p, c) => {
    for (const [rule, n, kind, holds, sentence] of rows)
      if (kinds[kind](v) && !holds(v, n)) add(c, p, sentence(n), rule);
    return v;
  };
};
/** Text that matches an expression; `text` is the pattern of the schema, empty for that of an absolute path. */
export const pattern = (expression, text) => (v, p, c) => {
  if (typeof v === "string" && !expression.test(v))
    add(c, p, text ? `${tell(v)} does not match the pattern ${tell(text)}` : `an absolute path is expected, not ${tell(v)}`, "pattern");
  return v;
};

// --- checkers of objects and arrays -----------------------------------------------------------------------------------

const MISSING = "required";
/** A field that must be there. `record` is the checker of the object, which is asked for the names it declares. `how` as in `optional`. */
export const required = (o, name, p, c, f, record, how = 0) => {
  if (c.keys) return c.keys.push(name);
  const v = o[name];
  if (v !== undefined && !(how & 16 && !own.call(o, name))) return field(v, name, o, p, c, f, how | 8);
  if (how & 4 && how & 1 && !c.strict && c.lenient && fits(f, [], p, c)) {
    drop(c, below(p, name), undefined, { pointer: below(p, name), sentence: `the field ${quote(name)} is required` });
    if (c.kept) o[name] = [];
    return;
  }
  const known = new Set(declared(record));
  const others = Object.keys(o).filter((one) => !known.has(one));
  add(c, p, `the field ${quote(name)} is required${hint(name, others)}`, MISSING);
};
/** A field that may be left out. `how` is the sum of: 1 it is left out where it is wrong, 2 its null is left out, 4 an array is empty
 *  instead, 8 the field is required, 16 every object of JavaScript has such a member, 32 the name is escaped in pointers.
 */
export const optional = (o, name, p, c, f, how = 0) => {
  if (c.keys) return c.keys.push(name);
  const v = o[name];
  if (v !== undefined && !(how & 16 && !own.call(o, name))) field(v, name, o, p, c, f, how);
};
const field = (v, name, o, around, c, f, how) => {
  const p = how & 32 ? below(around, name) : `${around}/${name}`;
  const count = c.problems.length;
  const found = f(v, p, c);
  if (c.problems.length === count) {
    if (found !== v && c.kept) o[name] = found;
  } else if (!c.strict && c.lenient && (how & 1 || (how & 2 && v === null)) && (!(how & 8) || (how & 4 && fits(f, [], p, c)))) {
    drop(c, p, v, c.problems[count]);
    c.problems.length = count;
    if (c.kept) {
      if (how & 8) o[name] = [];
      else delete o[name];
    }
  }
};
const drop = (c, pointer, value, problem) => {
  c.drops.push({ pointer, value, problem: { pointer: problem.pointer, sentence: problem.sentence } });
};
const NAMES = new WeakMap();
const declared = (record) => {
  let names = NAMES.get(record);
  if (!names) {
    const c = new Judgement(true, false, false);
    c.keys = names = [];
    NAMES.set(record, names);
    record({}, "", c);
  }
  return names;
};
/** Whether the fields of a value are to be judged, which is so for objects and where a record is asked for the names it declares. */
export const fields = (v, p, c) => c.keys !== null || isObject(v);
/** The same where only objects are allowed. */
export const record = (v, p, c) => c.keys !== null || isObject(v) || (mismatch(v, p, c, ["object"]), false);

/** The members of an object beyond those that are declared: by pattern, and all others. */
export const members = (names, patterns, rest) => {
  const known = new Set(names);
  return (v, p, c) => {
    if (!isObject(v)) return v;
    const extra = [];
    for (const name of Object.keys(v)) {
      let isKnown = known.has(name);
      for (const [expression, f] of patterns)
        if (expression.test(name)) {
          isKnown = true;
          member(v, name, p, c, f);
        }
      if (isKnown) continue;
      if (rest === never) extra.push(name);
      else if (rest !== any) member(v, name, p, c, rest);
    }
    if (extra.length) refuse(c, p, extra, "additionalProperties");
    return v;
  };
};
const refuse = (c, p, extra, rule) => {
  add(c, p, `${list(extra)} ${extra.length === 1 ? "is" : "are"} not allowed here`, rule);
};
const member = (v, name, p, c, f) => {
  const found = f(v[name], below(p, name), c);
  if (found !== v[name] && c.kept) v[name] = found;
};
export const names = (f) => (v, p, c) => {
  if (isObject(v))
    for (const name of Object.keys(v))
      if (!fits(f, name, "", c)) add(c, p, "the value does not satisfy the keyword 'propertyNames'", "propertyNames");
  return v;
};
/** What an object needs that has a field: other fields, or a schema. */
export const dependents = (needs) => (v, p, c) => {
  if (isObject(v))
    for (const [name, need] of needs)
      if (own.call(v, name)) {
        if (typeof need === "function") need(v, p, c);
        else if (need.some((one) => !own.call(v, one)))
          add(c, p, "the value does not satisfy the keyword 'dependentRequired'", "dependentRequired");
      }
  return v;
};

/** A list: one checker for each of the first items, one for the others. `drops`: receivers leave out items that are wrong. */
export const items = (f, first = [], drops = false) => (v, p, c) => {
  if (!Array.isArray(v)) return v;
  const isLenient = drops && c.lenient && !c.strict;
  let gone = 0;
  for (let i = 0; i < v.length; i++) {
    const count = c.problems.length;
    const at = `${p}/${i + gone}`;
    const found = (i + gone < first.length ? first[i + gone] : f)(v[i], at, c);
    if (isLenient && c.problems.length > count) {
      drop(c, at, v[i], c.problems[count]);
      c.problems.length = count;
      if (c.kept) {
        v.splice(i--, 1);
        gone++;
      }
    } else if (found !== v[i] && c.kept) v[i] = found;
  }
  return v;
};
export const contains = (f, least, most) => (v, p, c) => {
  if (Array.isArray(v)) {
    const count = v.filter((one) => fits(f, one, p, c)).length;
    if (count < least || count > most) add(c, p, "the value does not satisfy the keyword 'contains'", "contains");
  }
  return v;
};

// --- checkers of several schemas --------------------------------------------------------------------------------------

const fits = (f, v, p, c, isStrict = c.strict) => {
  const trial = c.trial(isStrict);
  f(v, p, trial);
  return trial.problems.length === 0;
};
export const all = (...checkers) => (v, p, c) => {
  for (const f of checkers) {
    if (f.declares && c.keys) continue;
    v = f(v, p, c);
  }
  return v;
};
export const not = (f) => (v, p, c) => {
  if (!c.keys && fits(f, v, p, c, true)) add(c, p, "this is one of the values that are excluded here", "not");
  return v;
};
export const when = (test, then, otherwise) => (v, p, c) => (fits(test, v, p, c, true) ? then : otherwise)(v, p, c);
/** What counts for members of objects, or items of arrays, that nothing else evaluates: `evaluated` says which are evaluated. */
export const unevaluated = (evaluated, f, rule) => (v, p, c) => {
  if (!(rule === "unevaluatedItems" ? Array.isArray(v) : isObject(v))) return v;
  const known = evaluated(v, c);
  const extra = known === true ? [] : Object.keys(v).filter((key_) => !known.has(key_));
  if (f !== never) for (const key_ of extra) member(v, key_, p, c, f);
  else if (extra.length && rule === "unevaluatedItems") add(c, p, `the value does not satisfy the keyword '${rule}'`, rule);
  else if (extra.length) refuse(c, p, extra, rule);
  return v;
};
/** The keys that a schema evaluates; `true` for all. `parts` are schemas that evaluate more where a test holds. */
export const evaluate = ({ names: own_ = [], patterns = [], allNames, first = 0, allItems, contains: held }, parts) => (v, c) => {
  const isArray = Array.isArray(v);
  if (isArray ? allItems : allNames) return true;
  const found = new Set(isArray ? Array.from({ length: first }, (_, index) => String(index)) : own_);
  for (const key_ of Object.keys(v))
    if (isArray ? held && fits(held, v[key_], "", c, true) : patterns.some((one) => one.test(key_))) found.add(key_);
  for (const [test, inner] of parts) {
    if (test !== null && !fits(test, v, "", c, true)) continue;
    const more = inner()(v, c);
    if (more === true) return true;
    for (const key_ of more) found.add(key_);
  }
  return found;
};

/** One of several schemas. `told` says how they are told apart:
 *  `field` and `known` (tag → branches), `others` (branches without the tag), `untagged` (those that take objects without the field),
 *  `keys` (the one field of each branch), `nulls` (branches that are null alone), `unknown` (receivers get an `Unknown` for a tag that
 *  is not known and not one of these), `shared` (the constant fields that such an object has), `fallback` (what receivers judge such an object by where no branch takes it).
 */
export const union = (branches, isExclusive, told = {}) => {
  const { field: name, known, others = [], unknown, shared, fallback } = told;
  const isClear = known !== undefined && others.length === 0 && Object.values(known).every((one) => one.length === 1);
  const lenient = fallback && { ...told, others: [...others, branches.length] };
  return (v, p, c) => {
    if (c.keys) return v;
    if (v instanceof Unknown) v = v.raw;
    let isUnknown = false;
    let isKept = false;
    if (name !== undefined && isObject(v)) {
      const tag = own.call(v, name) ? v[name] : undefined;
      const owners = tag === undefined || isObject(tag) || Array.isArray(tag) ? undefined : known[keyOf(tag)];
      if (isClear && owners) return branches[owners[0]](v, p, c);
      isKept = unknown !== undefined && !c.strict && !owners && tag !== undefined && !unknown.includes(tag);
      isUnknown = isKept && typeof tag === "string";
    }
    const keep = (found) => (isUnknown && c.kept && isObject(found) ? new Unknown(name, found, shared) : found);
    const trials = [];
    let fit = -1;
    for (let i = 0; i < branches.length; i++) {
      const trial = c.trial();
      branches[i](v, p, trial);
      trials[i] = trial.problems;
      if (trial.problems.length) continue;
      if (fit >= 0) return add(c, p, "more than one of the alternatives fits, and only one may", "oneOf"), v;
      fit = i;
      if (!isExclusive) break;
    }
    if (fit >= 0) return keep(branches[fit](v, p, c));
    if (isKept && fallback) {
      const trial = c.trial();
      fallback(v, p, trial);
      if (!trial.problems.length) return keep(fallback(v, p, c));
      trials.push(trial.problems);
    }
    explain(v, p, c, isKept && fallback ? lenient : told, trials);
    return v;
  };
};
const keyOf = (tag) => (typeof tag === "string" ? tag : `\0${tag}`);
const tagOf = (text) => (text[0] !== "\0" ? text : JSON.parse(text.slice(1)));

const explain = (v, p, c, told, trials) => {
  const real = trials.map((_, i) => i).filter((i) => !told.nulls?.includes(i));
  const say = (problems) => {
    c.problems.push(...problems);
  };
  if (real.length === 0) return mismatch(v, p, c, ["null"]);
  if (real.length === 1) return say(trials[real[0]]);
  const closest = (indices) => {
    const rank = (i) => {
      const here = trials[i].filter((one) => one.pointer === p).map((one) => one.rule);
      const isWrong = here.some((one) => one === "type" || one === "const" || one === "enum");
      return [isWrong ? 1 : 0, here.includes("not") ? 1 : 0, here.filter((one) => one === MISSING).length, trials[i].length];
    };
    const ranks = indices.map((i) => [rank(i), i]);
    ranks.sort(([a, i], [b, j]) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3] || i - j);
    const [best, index] = ranks[0];
    if (!best[0]) return trials[index];
    const types = indices.flatMap((i) => trials[i].filter((one) => one.pointer === p && one.types).flatMap((one) => one.types));
    const expected = named([...new Set(types)].sort()) || "another value";
    return [{ pointer: p, sentence: `${expected} is expected, not ${tell(v)}`, rule: "type", types: [...new Set(types)] }];
  };
  const { field: name, known, others = [], untagged = [], keys } = told;
  if (name === undefined) {
    const owners = keys && isObject(v) ? Object.keys(keys).filter((i) => own.call(v, keys[i])) : [];
    if (keys && isObject(v) && !owners.length) {
      const there = Object.keys(v).slice(0, 3).map(show).join(", ") || "nothing";
      return add(c, p, `the object must have one field of ${Object.values(keys).map(show).join(", ")}; it has ${there}`, MISSING);
    }
    return say(owners.length === 1 ? trials[owners[0]] : closest(real));
  }
  if (!isObject(v)) return mismatch(v, p, c, ["object"]);
  const given = v[name];
  const owners = known[keyOf(given)] ?? [];
  if (owners.length) return say(owners.length === 1 ? trials[owners[0]] : closest(owners));
  const candidates = own.call(v, name) ? others : untagged;
  const at = below(p, name);
  if (candidates.length) {
    const said = closest(candidates);
    const isExcluded = said.some((one) => one.rule === "not" && one.pointer === p);
    const count = (problems) => problems.filter((one) => one.pointer !== at).length;
    const wrong = Object.values(known).flatMap((one) => (one.length === 1 ? [count(trials[one[0]])] : []));
    const isStray = isExcluded || Math.min(said.length, ...wrong) < count(said);
    if (!isStray || typeof given !== "string") return say(said);
  }
  const tags = Object.keys(known).map(tagOf);
  if (!own.call(v, name)) {
    const near = nearest(name, Object.keys(v).slice(0, 1000));
    const more = near === null ? "" : `; ${tell(near)} is not known here, did you mean ${quote(name)}?`;
    return add(c, p, `the field ${quote(name)} is required, one of ${list(tags)}${more}`, MISSING);
  }
  add(c, at, `${tell(given)} is not a known value of ${quote(name)}, which are ${list(tags)}${suggest(given, tags)}`, "tag");
};

// --- text -------------------------------------------------------------------------------------------------------------

const RAW = new WeakMap(); // object or array → key → the text of a number that a double does not hold
let hasRaw = false;
const SUSPICIOUS = /\d{16}|\d\.\d{8}|\d{8}\.|\d[eE]|\\u[dD]/; // numbers that a double may not hold, halves of surrogate pairs

const read = (text) => {
  let value;
  try {
    if (typeof text !== "string") text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(text);
    value = JSON.parse(text);
  } catch (error) {
    throw new DecodeError(-32700, [{ pointer: "", sentence: `this is not JSON: ${error.message}` }]);
  }
  let colons = 0;
  for (let i = text.indexOf(":"); i >= 0; i = text.indexOf(":", i + 1)) colons++;
  return SUSPICIOUS.test(text) || colons !== count(value) ? slowly(text) : [value, []];
};
const count = (v) => {
  let found = 0;
  if (Array.isArray(v)) for (const one of v) found += typeof one === "object" && one !== null ? count(one) : 0;
  else if (typeof v === "object" && v !== null)
    for (const name in v) {
      const one = v[name];
      found += typeof one === "object" && one !== null ? 1 + count(one) : 1;
    }
  return found;
};

/** Text that is known to be JSON, with what `JSON.parse` loses: keys that are given twice, long numbers. */
const slowly = (text) => {
  const twice = [];
  let i = 0;
  const space = () => {
    while (text.charCodeAt(i) <= 32) i++;
  };
  const refuse_ = (sentence) => {
    throw new DecodeError(-32700, [{ pointer: "", sentence: `this is not JSON: ${sentence}` }]);
  };
  const words = () => {
    const start = i++;
    while (text[i] !== '"') i += text[i] === "\\" ? 2 : 1;
    const found = JSON.parse(text.slice(start, ++i));
    if (!found.isWellFormed?.()) {
      if (/[\uD800-\uDFFF]/u.test(found)) refuse_("half of a surrogate pair");
    }
    return found;
  };
  const value = (p, holder, name) => {
    space();
    const first = text[i];
    if (first === '"') return words();
    if (first === "{" || first === "[") {
      const isArray = first === "[";
      const found = isArray ? [] : {};
      const seen = new Map();
      i++;
      for (space(); text[i] !== "}" && text[i] !== "]"; space()) {
        let key_ = found.length;
        if (text[i] === ",") {
          i++;
          continue;
        }
        if (!isArray) {
          key_ = words();
          seen.set(key_, (seen.get(key_) ?? 0) + 1);
          space();
          i++;
        }
        const inner = value(below(p, key_), found, key_);
        if (key_ === "__proto__") Object.defineProperty(found, key_, { value: inner, enumerable: true, writable: true, configurable: true });
        else found[key_] = inner;
      }
      i++;
      for (const [key_, times] of seen)
        if (times > 1)
          twice.push({
            pointer: below(p, key_),
            sentence: `the key ${show(key_)} occurs more than once in one object, and readers differ in which value they take`,
            rule: "duplicate-key",
          });
      return found;
    }
    const written = /[^\s,\]}]+/y;
    written.lastIndex = i;
    const [word] = written.exec(text);
    i += word.length;
    const found = JSON.parse(word);
    if (typeof found === "number") {
      if (!Number.isFinite(found)) refuse_("a number is too large");
      if (holder && !same(word, found)) {
        hasRaw = true;
        RAW.set(holder, { ...RAW.get(holder), [name]: [found, word] });
      }
    }
    return found;
  };
  const root = value("", null, "");
  twice.sort((a, b) => (a.pointer < b.pointer ? -1 : 1));
  return [root, twice];
};
/** Whether a double says the same as the text of a number. */
const same = (word, found) => {
  const digits = (one) => {
    const [, sign, whole, fraction = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(one);
    const all_ = (whole + fraction).replace(/^0+/, "");
    const trimmed = all_.replace(/0+$/, "");
    return `${trimmed && sign}${trimmed}e${trimmed ? Number(exponent) - fraction.length + all_.length - trimmed.length : 0}`;
  };
  return digits(word) === digits(BigInt.asIntN && Number.isInteger(found) ? String(BigInt(found)) : String(found)) || digits(word) === digits(String(found));
};

/** A value as JSON text. Numbers that came with more digits than a double holds are written as they came. */
export const encode = (value) => {
  if (!hasRaw) return JSON.stringify(value);
  const mark = `\u0001${Math.random()}:`;
  const texts = [];
  const written = JSON.stringify(value, function (name, one) {
    const raw = typeof one === "number" ? RAW.get(this)?.[name] : undefined;
    return raw && Object.is(raw[0], one) ? `${mark}${texts.push(raw[1]) - 1}` : one;
  });
  return texts.length ? written.replaceAll(new RegExp(`"${JSON.stringify(mark).slice(1, -1).replace(/[\\.]/g, "\\$&")}(\\d+)"`, "g"), (_, index) => texts[index]) : written;
};

// --- values and messages ----------------------------------------------------------------------------------------------

const finish = (problems) => {
  const seen = new Set();
  const deeper = new Set(problems.filter((one) => one.rule !== "not").map((one) => one.pointer));
  const covered = (p) => [...deeper].some((one) => one === p || one.startsWith(`${p}/`));
  const found = [];
  for (const { pointer, sentence, rule } of problems) {
    const id = `${pointer}\n${sentence}`;
    if (seen.has(id) || (rule === "not" && covered(pointer))) continue;
    seen.add(id);
    found.push({ pointer, sentence, rule });
    if (found.length > MOST) break;
  }
  if (found.length > MOST) found[MOST] = { pointer: "", sentence: `there are more problems than these ${MOST}`, rule: "more" };
  return found;
};
const run = (f, v, p, c) => {
  try {
    return f(v, p, c);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    add(c, p, "the value is nested too deep, or has too many alternatives, to be judged", "size");
    return v;
  }
};
const judge = (isStrict, isLenient) => new Judgement(isStrict, isLenient, !isStrict);

/** Whether a value is one of a type, exactly. */
export const is = (f, value) => validateAs(f, value).length === 0;
/** What is wrong with a value as one of a type, by its schema and nothing else; an empty list, if all is well. */
export const validateAs = (f, value) => {
  const c = judge(true, false);
  run(f, value, "", c);
  return finish(c.problems);
};
/** The typed value of parsed JSON, which is changed where leniency or unknown variants ask for it. */
export const decodeAs = (f, value, { onDrop, lenient = true } = {}) => {
  const c = judge(false, lenient);
  const found = run(f, value, "", c);
  if (c.problems.length) throw new DecodeError(-32602, finish(c.problems));
  if (onDrop) c.drops.forEach(onDrop);
  return found;
};
/** JSON text as `JSON.parse` reads it; keys that are given twice and what is too large are refused, long numbers are kept for `encode`. */
export const parse = (text) => {
  const [value, twice] = read(text);
  if (twice.length) throw new DecodeError(-32600, finish(twice));
  return value;
};

const NONE = [];

/** Decodes and validates the messages of one protocol: `methods` are rows `[name, side, isRequest, params, result, empty, nullResult]`. */
export class Protocol {
  constructor(methods, { sides = [], id, error, batch = false, versioned = true }) {
    this.requests = new Map();
    this.notifications = new Map();
    for (const [name, side, isRequest, params, result, empty, nullResult] of methods)
      this.rows(isRequest).set(name, { name, side, isRequest, params, result, empty, nullResult });
    Object.assign(this, { sides, id, error, batch, versioned });
  }
  rows(isRequest) {
    return isRequest ? this.requests : this.notifications;
  }
  idProblem(v) {
    return this.id ? !fits(this.id, v, "", judge(true, false)) : !(typeof v === "string" || Number.isInteger(v));
  }
  ids() {
    return this.idProblem(null) ? "an integer or a string" : "an integer, a string or null";
  }
  /** What one message is, and what is wrong with its envelope. */
  route(v, p, sender, method, pending) {
    if (isObject(v) && typeof v.method === "string" && (!this.versioned || v.jsonrpc === "2.0")) {
      const isRequest = own.call(v, "id");
      const row = this.rows(isRequest).get(v.method);
      if (row && row.side !== sender && v.result === undefined && v.error === undefined && !(isRequest && this.idProblem(v.id)))
        return { kind: isRequest ? "request" : "notification", method: v.method, row, faults: NONE };
    }
    const faults = [];
    const fault = (at, sentence, code = -32600, rule = "envelope") => {
      faults.push({ pointer: at, sentence, code, rule });
    };
    const nothing = { kind: null, faults };
    if (!isObject(v)) return fault(p, `a JSON-RPC message is an object, not ${tell(v)}`), nothing;
    const has = (name) => own.call(v, name);
    if (this.versioned && v.jsonrpc !== "2.0") {
      const stands = has("jsonrpc") ? `, not ${tell(v.jsonrpc)}` : "";
      fault(stands ? `${p}/jsonrpc` : p, `the field 'jsonrpc' must be "2.0"${stands}`);
    }
    const checkId = () => {
      if (this.idProblem(v.id)) fault(`${p}/id`, `an id must be ${this.ids()}, not ${tell(v.id)}`);
    };
    const stray = (name, isRequest) => {
      const row = this.rows(isRequest).get(name);
      const other = this.rows(!isRequest).get(name);
      let sentence;
      if (row) sentence = `${quote(name)} is handled by the ${row.side}, so the ${sender} does not send it`;
      else if (other)
        sentence = `${quote(name)} is a ${other.isRequest ? "request" : "notification"}, ${isRequest ? "not a request: remove 'id'" : "not a notification: add 'id'"}`;
      else {
        const alike = this.rows(isRequest).size ? this.rows(isRequest) : this.rows(!isRequest);
        sentence = `the method ${show(name)} is not known${suggest(name, [...alike.keys()])}`;
      }
      fault(`${p}/method`, sentence, -32601, "method");
      return { kind: null, method: name, faults };
    };
    if (typeof v.method === "string") {
      const isRequest = has("id");
      if (isRequest) checkId();
      if (has("result") || has("error")) fault(p, "a message with 'method' holds neither 'result' nor 'error'");
      const row = this.rows(isRequest).get(v.method);
      if (row ? row.side === sender : !v.method.startsWith("_")) return stray(v.method, isRequest);
      return { kind: isRequest ? "request" : "notification", method: v.method, row, faults };
    }
    if (has("method")) return fault(`${p}/method`, `the method must be a string, not ${tell(v.method)}`), nothing;
    if (!has("result") && !has("error")) {
      const near = nearest("method", Object.keys(v).filter((one) => !["jsonrpc", "id", "params"].includes(one)));
      const more = near === null ? "" : `; ${show(near)} is not known here, did you mean 'method'?`;
      return fault(p, `the message has no 'method', and neither 'result' nor 'error'${more}`), nothing;
    }
    const isError = has("error");
    if (isError && has("result")) fault(p, "a response holds either 'result' or 'error', not both");
    if (!has("id")) fault(p, "a response must carry the request's 'id'");
    else if (!(isError && v.id === null)) checkId();
    method ??= pending?.(v.id);
    if (isError || method === undefined) return { kind: isError ? "error" : "result", method, faults };
    const row = this.requests.get(method);
    if (!row && !method.startsWith("_")) return stray(method, true);
    if (row && ![sender, "both", "protocol"].includes(row.side))
      return fault(p, `${quote(method)} is answered by the ${row.side}, not by the ${sender}`), { ...nothing, method };
    return { kind: "result", method, row, faults };
  }
  /** Judges what a message carries: `[checker, member, what is judged where the member is left out, code]`. */
  payload(v, { kind, row }) {
    if (kind === "error") return [this.error ?? plainError, "error", undefined, -32600];
    if (kind === "result") return [row?.result ?? any, "result", undefined, -32602];
    if (!row?.params) return [this.versioned ? plainParams : any, "params", undefined, -32600];
    return [row.params, "params", row.empty, -32602];
  }
  check(v, p, routed, c) {
    const [f, name, empty] = this.payload(v, routed);
    const isLeftOut = !own.call(v, name) || (v[name] === null && name === "params");
    if (isLeftOut && empty === undefined) return;
    const given = isLeftOut ? structuredClone(empty) : v[name];
    if (given === null && routed.row?.nullResult && !c.strict) return;
    const found = run(f, given, `${p}/${name}`, c);
    if (c.kept && !isLeftOut && found !== given) v[name] = found;
  }
  decode(line, { sender, method, pending, onDrop, lenient = true }) {
    const [value, twice] = typeof line === "string" || line instanceof Uint8Array ? read(line) : [line, []];
    const one = (v, p) => {
      const id = isObject(v) && (typeof v.id === "string" || typeof v.id === "number") ? v.id : null;
      const routed = this.route(v, p, sender, method, pending);
      const called = routed.method ?? (isObject(v) && typeof v.method === "string" ? v.method : null);
      if (routed.faults.length) throw new DecodeError(routed.faults[0].code, finish(routed.faults), id, called);
      const c = judge(false, lenient);
      this.check(v, p, routed, c);
      if (c.problems.length) throw new DecodeError(this.payload(v, routed)[3], finish(c.problems), id, called);
      if (onDrop) c.drops.forEach(onDrop);
      return v;
    };
    if (twice.length) {
      const doubtful = new Set(twice.map((each) => each.pointer));
      const id = isObject(value) && !doubtful.has("/id") && ["string", "number"].includes(typeof value.id) ? value.id : null;
      const called = isObject(value) && !doubtful.has("/method") && typeof value.method === "string" ? value.method : null;
      throw new DecodeError(-32600, finish(twice), id, called);
    }
    if (!this.batch || !Array.isArray(value)) return one(value, "");
    if (!value.length) throw new DecodeError(-32600, [{ pointer: "", sentence: "a batch must hold at least one message" }]);
    return value.map((v, index) => one(v, `/${index}`));
  }
  validate(given, { sender, method, pending }) {
    let value = given;
    let problems = [];
    if (typeof given === "string" || given instanceof Uint8Array)
      try {
        [value, problems] = read(given);
      } catch (error) {
        return error.problems.map((one) => ({ ...one, rule: "json" }));
      }
    const one = (v, p) => {
      const routed = this.route(v, p, sender, method, pending);
      problems = problems.concat(routed.faults);
      if (routed.kind === null) return;
      const c = judge(true, false);
      this.check(v, p, routed, c);
      problems = problems.concat(c.problems);
    };
    if (this.batch && Array.isArray(value)) {
      if (!value.length) problems.push({ pointer: "", sentence: "a batch must hold at least one message", rule: "envelope" });
      value.forEach((v, index) => one(v, `/${index}`));
      const answers = value.map((v) => isObject(v) && !own.call(v, "method"));
      answers.forEach((isAnswer, index) => {
        if (isAnswer !== answers[0]) problems.push({ pointer: `/${index}`, sentence: "a batch holds either calls or answers, not both", rule: "envelope" });
      });
    } else one(value, "");
    return finish(problems);
  }
}
const plainParams = (v, p, c) => {
  if (typeof v !== "object" || v === null) add(c, p, `the params must be an object or an array, not ${tell(v)}`, "envelope");
  return v;
};
const plainError = (v, p, c) => {
  if (!isObject(v) || !Number.isInteger(v.code) || typeof v.message !== "string")
    add(c, p, "an error is an object with an integer 'code' and a string 'message'", "envelope");
  return v;
};
