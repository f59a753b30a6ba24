/** The tag of a variant that the schema does not know: `switch` on it like on any other tag. */
export const UNKNOWN = Symbol("unknown variant");

/** Has a value be written as another one. */
const writes = (v, toJSON) => Object.defineProperty(v, "toJSON", { value: toJSON });
/** A variant whose tag the schema does not know: the object as it came, but that its tag field holds `UNKNOWN`, `tag` is the tag and `raw` is
 *  the object, which is written; beside a tag field of that name, they are `tag_` and `raw_`.
 */
const unknownOf = (field, raw) =>
  writes({ ...raw, [field === "tag" ? "tag_" : "tag"]: raw[field], [field === "raw" ? "raw_" : "raw"]: raw, [field]: UNKNOWN }, () => raw);
const rawOf = (v) => v[v.raw === UNKNOWN ? "raw_" : "raw"];

/** A message that cannot be decoded: `code` is the JSON-RPC error code that fits, `problems` say what is wrong and where. */
export class DecodeError extends Error {
  constructor(code, problems, id = null, method = null) {
    super(problems.map((one) => `${one.pointer || "(message)"}: ${one.sentence}`).join("; "));
    Object.assign(this, { name: "DecodeError", code, problems, id, method });
  }
}

// --- one judgement ---------------------------------------------------------------------------------------------------
// A checker is `(value, judgement) => value`: it tells the judgement what is wrong, by pointers from the value on, and returns the value, or
// what is to stand in its place: no value is changed. Who looks into a value puts its own key in front of what is told of the members.

const MOST = 100;
const STEPS = 50; // for each character of a large value

/** A judgement: `findings` are problems, and with them what leniency left out; `whole` is the value, and how many branches may be tried. */
const judge = (strict, lenient, whole) => ({ strict, lenient, whole, findings: [] });
const problemsOf = (c, from = 0) => c.findings.slice(from).filter((one) => !one.problem);
/** The problems, each with those of the items that were left out below it: an array may be too short for that. */
const refusal = (c) => {
  const items = c.findings.filter((one) => one.problem && /\/\d+$/.test(one.pointer));
  const below = (one) => items.filter(({ pointer }) => pointer.slice(0, pointer.lastIndexOf("/")) === one.pointer).map((each) => each.problem);
  return problemsOf(c).slice(0, MOST + 1).flatMap((one) => [one, ...below(one)]);
};

const add = (c, sentence, rule, more) => {
  c.findings.push({ pointer: "", sentence, rule, ...more });
};
/** Puts a key in front of what was told since. */
const prefix = (c, from, at) => {
  for (let i = from; i < c.findings.length; i++) {
    const one = c.findings[i];
    one.pointer = at + one.pointer;
    if (one.problem) one.problem.pointer = at + one.problem.pointer;
  }
};
/** Leaves out what was told since, and tells that a member was left out. */
const drop = (c, from, key, value, { pointer, sentence }) => {
  c.findings.length = from;
  c.findings.push({ pointer: below(key), value, problem: { pointer, sentence } });
};
/** What a checker makes of a member, whose key comes in front of what is told of it. */
const inside = (f, v, c, key) => {
  const from = c.findings.length;
  const found = f(v, c);
  if (c.findings.length > from) prefix(c, from, below(key));
  return found;
};
const has = Object.hasOwn;
const isObject = (v) => typeof v === "object" && v !== null && !Array.isArray(v);
const below = (key) => `/${typeof key === "string" ? key.replace(/~/g, "~0").replace(/\//g, "~1") : key}`;
/** A copy of an object or array with another member, or without it. */
const put = (made, v, key, one) => {
  if (made === v) {
    made = Array.isArray(v) ? [...v] : { ...v };
    RAW.set(made, RAW.get(v));
  }
  if (one === undefined) delete made[key];
  else made[key] = one; // of its own, whatever its name
  return made;
};
/** What is wrong with a value where nothing may be left out, and what it is as one of the type. A large value may try more branches. */
const attempt = (f, v, { strict, whole }, isStrict = strict) => {
  if (++whole.steps > 200000 && whole.steps > STEPS * (whole.size ??= JSON.stringify(whole.value).length)) throw new RangeError();
  const tried = judge(isStrict, false, whole);
  tried.made = f(v, tried);
  return tried;
};
const fits = (...given) => !attempt(...given).findings.length;

// --- what sentences hold ----------------------------------------------------------------------------------------------

const quote = (text) => {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escape = (one) => {
    const code = one.codePointAt(0);
    const [letter, length] = code < 256 ? ["x", 2] : code < 65536 ? ["u", 4] : ["U", 8];
    return "\n\r\t\\".includes(one) ? JSON.stringify(one).slice(1, -1) : `\\${letter}${code.toString(16).padStart(length, "0")}`;
  };
  return mark + text.replace(/\\|(?! )[\p{C}\p{Z}]/gu, escape).replaceAll(mark, `\\${mark}`) + mark;
};
const show = (v) => {
  const chars = [...(typeof v === "string" ? quote(v.slice(0, 400)) : String(v))];
  return (chars.length <= 80 ? chars : [...chars.slice(0, 77), "..."]).join("");
};
const tell = (v) => (Array.isArray(v) ? "an array" : isObject(v) ? "an object" : show(v));
const listed = (values) => {
  const first = values.slice(0, 24).map(tell).join(", ");
  return values.length <= 24 ? first : `${first} and ${values.length - 24} more`;
};

/** How alike two texts are, from 0 to 1: twice the characters of common blocks, the longest first, by both lengths. */
const likeness = (a, b) => {
  const common = (a, b) => {
    let [size, i, j] = [0, 0, 0];
    let row = [];
    for (let x = 0; x < a.length; x++) {
      const next = [];
      for (let y = 0; y < b.length; y++) {
        if (a[x] !== b[y]) continue;
        const length = (next[y] = (row[y - 1] ?? 0) + 1);
        if (length > size) [size, i, j] = [length, x + 1, y + 1];
      }
      row = next;
    }
    return size && common(a.slice(0, i - size), b.slice(0, j - size)) + size + common(a.slice(i), b.slice(j));
  };
  const total = a.length + b.length;
  return total ? (2 * common(a, b)) / total : 1;
};
const plain = (name) => name.replace(/[_-]/g, "").toLowerCase();
const similar = (name, names) => {
  let [best, nearest, found] = [0.75, "", null];
  for (const [text, one] of new Map(names.map((each) => [plain(each), each]))) {
    const ratio = Math.max(one.length, name.length) > 200 ? 0 : likeness(text, plain(name));
    if (ratio > best || (ratio === best && text > nearest)) [best, nearest, found] = [ratio, text, one];
  }
  return found;
};
const suggest = (v, known) => {
  const texts = known.filter((one) => typeof one === "string");
  const longest = Math.max(0, ...texts.map((one) => one.length));
  const near = typeof v !== "string" || v.length > 2 * longest ? null : similar(v, texts);
  return near === null ? "" : `; did you mean ${quote(near)}?`;
};
const OTHER_NAMES = {
  __proto__: null,
  path: ["uri", "file", "filePath", "file_path", "filename"],
  uri: ["path", "url"],
  cwd: ["workingDirectory", "working_directory", "root"],
  sessionId: ["session", "id"],
};
const hint = (missing, present) => {
  const names = present.slice(0, 1000);
  const near = names.find((name) => OTHER_NAMES[missing]?.includes(name)) ?? similar(missing, names);
  return near == null ? "" : `; ${show(near)} is not known here, did you mean ${quote(missing)}?`;
};

// --- checkers of scalars ----------------------------------------------------------------------------------------------

/** What each type is called, and what it holds. */
const TYPES = {
  array: ["an array", Array.isArray],
  boolean: ["true or false", (v) => typeof v === "boolean"],
  integer: ["an integer", Number.isInteger],
  null: ["null", (v) => v === null],
  number: ["a number", Number.isFinite],
  object: ["an object", isObject],
  string: ["a string", (v) => typeof v === "string"],
};
const mismatch = (v, c, ...types) => {
  add(c, `${types.map((one) => TYPES[one][0]).join(" or ") || "another value"} is expected, not ${tell(v)}`, "type");
  return v;
};

export const any = (v) => v;
export const never = (v, c) => (add(c, "nothing is allowed here", "false"), v);
const scalar = (name) => {
  const [, holds] = TYPES[name];
  return (v, c) => (holds(v) ? v : mismatch(v, c, name));
};
export const string = /* @__PURE__ */ scalar("string");
export const boolean = /* @__PURE__ */ scalar("boolean");
export const number = /* @__PURE__ */ scalar("number");
export const integer = /* @__PURE__ */ scalar("integer");
export const nil = /* @__PURE__ */ scalar("null");
export const object = /* @__PURE__ */ scalar("object");
export const array = /* @__PURE__ */ scalar("array");
export const type = (...types) => (v, c) => types.some((one) => TYPES[one][1](v)) ? v : mismatch(v, c, ...types);
export const nullable = (f) => (v, c) => v === null ? v : f(v, c);
/** A checker that is made later. */
export const lazy = (get) => (v, c) => get()(v, c);
/** What the schema says, and what receivers judge by. */
export const open = (strict, received) => (v, c) => (c.strict ? strict : received)(v, c);

/** One value, or one of some, which are of a type. */
export const constant = (f, value) => (v, c) => {
  if (equal(value, v)) return v;
  f(v, c);
  add(c, `${tell(v)} is not ${tell(value)}, the only value allowed here`, "const", { values: [value] });
  return v;
};
export const literal = (f, ...values) => (v, c) => {
  for (const one of values) if (equal(one, v)) return v;
  f(v, c);
  oneOf(v, c, values);
  return v;
};
const equal = (a, b) => a === b || (typeof a === "object" && key(a) === key(b));
const oneOf = (v, c, values) => {
  add(c, `${tell(v)} is not one of ${listed(values)}${suggest(v, values)}`, "enum", { values });
};

/** Text that equal values share. */
const key = (v) =>
  JSON.stringify(v, (_, one) => (isObject(one) ? Object.fromEntries(Object.keys(one).sort().map((name) => [name, one[name]])) : one));

/** A limit of values of one kind: whether it holds, and what is wrong otherwise. A limit that JavaScript writes otherwise is a text. */
const limit = (rule, kind, holds, sentence) => (n) => (v, c) => {
  if (TYPES[kind][1](v) && !holds(v, +n)) add(c, sentence.replace("#", n), rule);
  return v;
};
const points = (text) => {
  let count = 0;
  for (const _ of text) count++;
  return count;
};
const size = (v) => Object.keys(v).length;
/** Whether a number is a multiple of another one, as their texts say. */
const multiple = (v, n) => {
  if (Number.isSafeInteger(v) && Number.isSafeInteger(n)) return v % n === 0;
  const [[a, p], [b, q]] = [decimal(v), decimal(n)];
  return (a * 10n ** BigInt(Math.max(0, p - q))) % (b * 10n ** BigInt(Math.max(0, q - p))) === 0n;
};
/** The digits of the shortest text of a number, and the power of ten that they count. */
const decimal = (v) => {
  const [text, exponent = "0"] = String(v).split("e");
  const [whole, fraction = ""] = text.split(".");
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
};
export const minLength = /* @__PURE__ */ limit("minLength", "string", (v, n) => v.length >= n && points(v) >= n, "the string's length must be # or more");
export const maxLength = /* @__PURE__ */ limit("maxLength", "string", (v, n) => v.length <= n || points(v) <= n, "the string's length may be # at most");
export const minimum = /* @__PURE__ */ limit("minimum", "number", (v, n) => v >= n, "the number must be # or more");
export const maximum = /* @__PURE__ */ limit("maximum", "number", (v, n) => v <= n, "the number may be # at most");
export const exclusiveMinimum = /* @__PURE__ */ limit("exclusiveMinimum", "number", (v, n) => v > n, "the number must be more than #");
export const exclusiveMaximum = /* @__PURE__ */ limit("exclusiveMaximum", "number", (v, n) => v < n, "the number must be less than #");
export const multipleOf = /* @__PURE__ */ limit("multipleOf", "number", multiple, "the number must be a multiple of #");
export const minItems = /* @__PURE__ */ limit("minItems", "array", (v, n) => v.length >= n, "the array's length must be # or more");
export const maxItems = /* @__PURE__ */ limit("maxItems", "array", (v, n) => v.length <= n, "the array's length may be # at most");
export const uniqueItems = /* @__PURE__ */ limit("uniqueItems", "array", (v) => new Set(v.map(key)).size === v.length, "the items of the array must be unique");
export const minProperties = /* @__PURE__ */ limit("minProperties", "object", (v, n) => size(v) >= n, "the number of fields must be # or more");
export const maxProperties = /* @__PURE__ */ limit("maxProperties", "object", (v, n) => size(v) <= n, "the number of fields may be # at most");
/** The patterns of the schema that the engine lacks: they refuse nothing. */
export const UNENFORCED = [];
/** A pattern of the schema. What JavaScript reads only without the flag `u`, such as `\\:`, is read without. */
export const expression = (source, ways = ["u", ""]) => {
  for (const flags of ways)
    try {
      return new RegExp(source, flags);
    } catch {}
  UNENFORCED.push(source);
};
/** Text that matches an expression, if there is one; `text` is the pattern of the schema, empty for that of an absolute path. */
export const pattern = (expression, text) => (v, c) => {
  if (typeof v === "string" && expression && !expression.test(v))
    add(c, text ? `${tell(v)} does not match the pattern ${tell(text)}` : `an absolute path is expected, not ${tell(v)}`, "pattern");
  return v;
};
const unsatisfied = (c, keyword) => {
  add(c, `the value does not satisfy the keyword '${keyword}'`, keyword);
};

// --- checkers of objects and arrays -----------------------------------------------------------------------------------

const MISSING = "required";
/** An object with declared fields, of which the first `count` and `others` must be there. A field is a checker, or `[checker, how]`: `how` is the
 *  sum of 1 it is left out where it is wrong, 2 its null is left out, 4 an array is empty instead; `usual` is that of the fields after the
 *  first ones. `isPart`: what is no object is fine.
 */
export const record = (fields, count = 0, usual = 0, others = [], isPart) => {
  let rows; // laid out when they are first needed, as an import has no need of them
  return (v, c) => {
    if (!isObject(v)) return isPart ? v : mismatch(v, c, "object");
    rows ??= rowsOf(fields, count, usual, others);
    const start = c.findings.length;
    let made = v;
    for (const row of rows) {
      const { name, isRequired } = row;
      const one = row.isInherited && !has(v, name) ? undefined : v[name];
      const from = c.findings.length;
      let found;
      if (one !== undefined) found = inside(row.f, one, c, name);
      else if (isRequired) {
        const more = hint(name, Object.keys(v).filter((each) => !has(fields, each)));
        add(c, `the field ${quote(name)} is required${more}`, MISSING, { missing: name });
      }
      if (c.findings.length > from && isDropped(c, row, from, one)) found = isRequired ? [] : undefined;
      if (found !== one) made = put(made, v, name, found);
    }
    if (c.findings.length > start + 1) arrange(v, c, start);
    return made;
  };
};
const rowsOf = (fields, count, usual, others) =>
  [...new Set([...Object.keys(fields), ...others])].map((name, index) => {
    const [f, how] = [has(fields, name) ? fields[name] : any, index < count ? 0 : usual].flat();
    return { name, f, how, isRequired: index < count || others.includes(name), isInherited: name in {} };
  });
/** Tells of an object first, then of its members in their order. */
const arrange = (v, c, from) => {
  const ranks = new Map(Object.keys(v).map((name, index) => [below(name), index]));
  const rank = ({ pointer }) => ranks.get(pointer.split("/", 2).join("/")) ?? -1;
  for (const one of c.findings.splice(from).sort((a, b) => rank(a) - rank(b))) c.findings.push(one);
};
/** Whether a member that something is wrong with is left out. */
const isDropped = (c, { name, f, how, isRequired }, from, one) => {
  const [problem] = how && c.lenient && (how & 1 || one === null) ? problemsOf(c, from) : [];
  if (!problem) return false;
  const isLeftOut = !isRequired || (how & 4 && fits(f, [], c));
  if (isLeftOut) drop(c, from, name, one, problem);
  else if (one !== undefined) problem.soft = name;
  return isLeftOut;
};

/** The members of an object beyond those that are declared: by pattern, and all others. */
export const members = (rest, names = [], patterns = []) => {
  const known = new Set(names);
  return (v, c) => {
    if (!isObject(v)) return v;
    const extra = [];
    let made = v;
    for (const name of Object.keys(v)) {
      const matching = patterns.filter(([expression]) => expression?.test(name));
      for (const [, f] of matching) made = member(made, v, name, c, f);
      if (matching.length || known.has(name)) continue;
      if (rest === never) extra.push(name);
      else made = member(made, v, name, c, rest);
    }
    if (extra.length) refuse(c, extra, "additionalProperties");
    return made;
  };
};
const refuse = (c, extra, rule) => {
  add(c, `${listed(extra)} ${extra.length === 1 ? "is" : "are"} not allowed here`, rule);
};
const member = (made, v, name, c, f) => {
  const found = inside(f, made[name], c, name);
  return found === made[name] ? made : put(made, v, name, found);
};
export const names = (f) => (v, c) => {
  if (isObject(v))
    for (const name of Object.keys(v)) {
      const [problem] = attempt(f, name, c).findings;
      if (problem) add(c, `the name ${tell(name)} is not allowed here: ${problem.sentence}`, "propertyNames");
    }
  return v;
};
/** What an object needs that has a field: other fields, or a schema. */
export const dependents = (needs) => (v, c) => {
  if (isObject(v))
    for (const [name, need] of needs)
      if (has(v, name)) {
        if (typeof need === "function") need(v, c);
        else
          for (const one of need)
            if (!has(v, one)) add(c, `the field ${quote(one)} is required beside ${tell(name)}`, MISSING);
      }
  return v;
};

/** A list: one checker for each of the `first` items, one for the others. `drops`: receivers leave out items that are wrong. */
export const items = (f, drops, first = []) => (v, c) => {
  if (!Array.isArray(v)) return v;
  let made = v;
  let isShorter = false;
  for (let i = 0; i < v.length; i++) {
    const from = c.findings.length;
    const one = v[i];
    let found = inside(i < first.length ? first[i] : f, one, c, i);
    const [problem] = drops && c.lenient && c.findings.length > from ? problemsOf(c, from) : [];
    if (problem) {
      drop(c, from, i, one, problem);
      isShorter = true;
      found = undefined;
    }
    if (found !== one) made = put(made, v, i, found);
  }
  return isShorter ? closed(made) : made;
};
/** An array without its holes; the texts of long numbers move with their items. */
const closed = (v) => {
  const places = Object.keys(v);
  const found = places.map((one) => v[one]);
  const words = RAW.get(v);
  RAW.set(found, new Map(places.map((one, index) => [String(index), words?.get(one)])));
  return found;
};
/** An array that is a list of one kind of items. */
export const list = (f, drops) => {
  const check = items(f, drops);
  return (v, c) => check(array(v, c), c);
};
export const contains = (f, least, most) => (v, c) => {
  if (Array.isArray(v)) {
    const count = v.filter((one) => fits(f, one, c)).length;
    if (count < least || count > most) unsatisfied(c, "contains");
  }
  return v;
};

// --- checkers of several schemas --------------------------------------------------------------------------------------

export const all = (...checkers) => (v, c) => {
  const from = c.findings.length;
  for (const f of checkers) v = f(v, c);
  if (c.findings.length > from + 1 && isObject(v)) arrange(v, c, from);
  return v;
};
/** None of some schemas. */
export const not = (...checkers) => (v, c) => {
  if (checkers.some((f) => fits(f, v, c, true))) add(c, "this is one of the values that are excluded here", "not");
  return v;
};
export const when = (test, then, otherwise) => (v, c) => (fits(test, v, c, true) ? then : otherwise)(v, c);
/** What counts for members of objects, or items of arrays, that nothing else evaluates: `evaluated` gives what says which are. Of items it is
 *  told where the `others` hold. */
export const unevaluated = (evaluated, f, rule, others = any) => (v, c) => {
  const isOfItems = rule === "unevaluatedItems";
  const from = c.findings.length;
  let made = others(v, c);
  if (isOfItems ? c.findings.length > from || !Array.isArray(v) : !isObject(v)) return made;
  const known = evaluated()(v, c);
  const extra = known === true ? [] : Object.keys(v).filter((one) => !known.has(one));
  if (isOfItems) {
    if (!extra.every((one) => fits(f, v[one], c))) unsatisfied(c, rule);
  } else if (f !== never) for (const one of extra) made = member(made, v, one, c, f);
  else if (extra.length) refuse(c, extra, rule);
  return made;
};
/** The keys that a schema evaluates; `true` for all. `parts` are schemas that evaluate more where a test holds. */
export const evaluate = ({ names: declared = [], patterns = [], allNames, first = 0, allItems, contains: held }, parts) => (v, c) => {
  const isArray = Array.isArray(v);
  if (isArray ? allItems : allNames) return true;
  const found = new Set(isArray ? Array.from({ length: first }, (_, index) => String(index)) : declared);
  for (const one of Object.keys(v))
    if (isArray ? held && fits(held, v[one], c, true) : patterns.some((each) => each?.test(one))) found.add(one);
  for (const [test, inner] of parts) {
    if (!fits(test, v, c, true)) continue;
    const more = inner()(v, c);
    if (more === true) return true;
    for (const one of more) found.add(one);
  }
  return found;
};

/** What a union says of an object by the one field of each of some branches; nothing, where it has several of them, or there are none. */
export const keyed = (keys) => (v, c, say) => {
  const [inside, ...more] = Object.keys(keys).filter((i) => has(v, keys[i]));
  if (more.length) return;
  if (inside) return say(inside);
  const there = Object.keys(v).slice(0, 3).map(show).join(", ") || "nothing";
  add(c, `the object must have one field of ${Object.values(keys).map(show).join(", ")}; it has ${there}`, MISSING);
  return v;
};

/** One of several schemas, or but one where it `isExclusive`; `nil` is never what a value is told about. How they are told apart:
 *  `field` and `tags` (of each branch, one or a list), `isLoose` (more than one branch may take an object with a known tag),
 *  `untagged` (branches that take objects without the field), `byKey` (what tells by fields of one branch each), `types` (of all branches),
 *  `fallback` (one more branch, of receivers, for unknown tags), `unknown` (receivers get an `Unknown` for a tag that is not known and not
 *  one of these; `null`: for none).
 */
export const union = (strict, { isExclusive, field, tags = [], isLoose, untagged = [], byKey, types = [], fallback, unknown = [] } = {}) => {
  const received = fallback ? [...strict, fallback] : strict;
  let owners; // tag → the branches that it leads to
  let others; // the branches that no tag leads to
  const layOut = () => {
    owners = new Map();
    others = [];
    for (const [i, f] of received.entries()) {
      const own = [tags[i] ?? []].flat();
      for (const tag of own) owners.set(tag, [...(owners.get(tag) ?? []), i]);
      if (!own.length && f !== nil) others.push(i);
    }
  };
  const check = (v, c) => {
    if (isObject(v) && v[field] === UNKNOWN) v = rawOf(v);
    const branches = c.strict ? strict : received;
    const isTold = field !== undefined && isObject(v);
    const hasTag = isTold && has(v, field);
    if (isTold && !owners) layOut();
    const found = hasTag ? owners.get(v[field]) : undefined;
    if (found && !isLoose) return branches[found[0]](v, c);
    const isUnknown = isTold && !c.strict && !found && typeof v[field] === "string" && unknown !== null && !unknown.includes(v[field]);
    const madeOf = (one) => (isUnknown && isObject(one) ? unknownOf(field, one) : one);
    const whole = [...branches.keys()];
    const told = hasTag ? [...(found ?? []), ...others].filter((i) => i < branches.length) : isTold ? untagged : whole;
    const trials = [];
    const trial = (i) => (trials[i] ??= attempt(branches[i], v, c));
    let fit;
    for (const i of told) {
      const tried = trial(i);
      if (tried.findings.length) continue;
      if (fit) return add(c, "more than one of the alternatives fits, and only one may", "oneOf"), v;
      fit = tried;
      if (!isExclusive) break;
    }
    if (fit) return madeOf(fit.made);
    // a branch judges twice only where leniency tells more, as each twice doubles with the depth
    const say = (i, judgement = c) => {
      if (judgement.lenient) return branches[i](v, judgement);
      for (const one of trial(i).findings) judgement.findings.push({ ...one });
      return v;
    };
    const closest = (indices, judgement = c) => nearest(v, judgement, say, trial, indices, types);
    /** What the branch makes of the value that is meant: it says what is wrong, or leaves it out. */
    const explain = () => {
      const real = whole.filter((i) => branches[i] !== nil);
      if (real.length < 2) return real.length ? say(real[0]) : mismatch(v, c, "null");
      if (field === undefined) return (isObject(v) && byKey?.(v, c, say)) || closest(real);
      if (!isTold) return mismatch(v, c, "object");
      if (found) return found.length === 1 ? say(found[0]) : closest(found);
      const given = v[field];
      const pointer = below(field);
      if (told.length) {
        const said = attempt((_, inner) => closest(told, inner), v, c).findings;
        const count = (problems) => problems.filter((one) => one.pointer !== pointer).length;
        const wrong = [...owners.values()].flatMap((one) => (one.length === 1 ? [count(trial(one[0]).findings)] : []));
        const isStray = said.some((one) => one.rule === "not" && !one.pointer) || Math.min(...wrong) < count(said);
        if (!isStray || typeof given !== "string") return closest(told);
      }
      const known = [...owners.keys()];
      if (hasTag) add(c, `${tell(given)} is not a known value of ${quote(field)}, which are ${listed(known)}${suggest(given, known)}`, "tag", { pointer });
      else add(c, `the field ${quote(field)} is required, one of ${listed(known)}${hint(field, Object.keys(v))}`, MISSING);
      return v;
    };
    const from = c.findings.length;
    const made = explain();
    // a field that the branch needs may be left out where another branch does without it
    const soft = c.findings.slice(from).find((one) => one.soft !== undefined && one.pointer === below(one.soft));
    if (soft) {
      const { soft: name, pointer, sentence } = soft;
      const rest = put(made, made, name);
      if (!attempt(check, rest, c).findings.some((one) => one.missing === name && !one.pointer)) {
        c.findings.push(...c.findings.splice(from).filter((one) => one.problem), { pointer, value: v[name], problem: { pointer, sentence } });
        return check(rest, c);
      }
    }
    return madeOf(made);
  };
  return check;
};

/** What the branch that comes nearest makes of a value, as one of several; one problem, if the value is of none of their types. */
const nearest = (v, c, say, trial, indices, types) => {
  const here = (i) => trial(i).findings.filter((one) => !one.pointer);
  let least = Infinity;
  let best;
  for (const i of indices) {
    const rules = here(i).map((one) => one.rule);
    const isOther = rules.includes("const") || rules.includes("enum");
    const isWrong = rules.includes("type") || (isOther && typeof v !== "string");
    const lacks = rules.filter((one) => one === MISSING).length;
    const rank = ((4 * isWrong + 2 * isOther + rules.includes("not")) * MOST + lacks) * MOST + Math.min(trial(i).findings.length, MOST);
    if (rank < least) [least, best] = [rank, { i, isWrong, isOther }];
  }
  if (best.isWrong) return mismatch(v, c, ...types);
  const from = c.findings.length;
  const values = best.isOther && indices.flatMap((i) => here(i).find((one) => one.values)?.values ?? []).filter((one) => one !== null);
  const found = values ? (oneOf(v, c, values), v) : say(best.i, c);
  const more = ` (the nearest of ${indices.length} alternatives)`;
  const first = c.findings[from];
  for (const one of new Set([first?.problem ?? first, problemsOf(c, from)[0]]))
    if (one && indices.length > 1 && !one.sentence.endsWith(" alternatives)")) one.sentence += more;
  return found;
};

// --- text -------------------------------------------------------------------------------------------------------------

const RAW = new WeakMap(); // object or array → key → a number and its text, where JavaScript writes another
let hasRaw = false;
/** Numbers that a double may not hold, -0, which is not written, halves of surrogate pairs, and escapes that may hide a colon. */
const SUSPICIOUS = /\d{16}|\d\.\d{8}|\d{8}\.|\d[eE]|\\u(?:[dD]|00[23])|(?:^|[:,[\s])-0(?!\.?0*[1-9])/;
const colons = (text) => text.match(/"[ \t\n\r]*:/g)?.length;

/** The value of JSON text, and what is wrong with it as such; of no text, itself. */
const read = (text) => {
  try {
    if (text instanceof Uint8Array) text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(text);
    if (typeof text !== "string") return [text, []];
    const value = JSON.parse(text);
    const isWhole = colons(text) === colons(JSON.stringify(value)); // each key once
    return isWhole && !SUSPICIOUS.test(text) ? [value, []] : slowly(text);
  } catch (error) {
    const why = error instanceof RangeError ? "it is nested too deep" : error.message;
    return [undefined, [{ pointer: "", sentence: `this is not JSON: ${why}`, rule: "json" }]];
  }
};
/** Text that is known to be JSON, with what `JSON.parse` loses: keys that are given twice, long numbers. */
const slowly = (text) => {
  const twice = new Map(); // object → the keys that it gives twice
  const tokens = /"[^"]*"|[[\]{}]|[^\s"[\]{},:]+/g;
  const bare = text.replace(/\\["\\]/g, "__");
  const next = () => text.slice(tokens.exec(bare).index, tokens.lastIndex);
  const scalar = (word) => {
    const found = JSON.parse(word);
    if (typeof found === "string" && /\p{Surrogate}/u.test(found)) throw new Error("half of a surrogate pair");
    if (Math.abs(found) === Infinity) throw new Error("a number is too large");
    return found;
  };
  const value = (word, raw, name) => {
    if (word !== "{" && word !== "[") {
      const found = scalar(word);
      if (typeof found === "number" && String(found) !== word) raw.set(String(name), [found, word]);
      return found;
    }
    const members = new Map();
    const words = new Map();
    const again = new Set();
    for (let one = next(); one !== "}" && one !== "]"; one = next()) {
      const key = word === "[" ? members.size : scalar(one);
      if (members.has(key)) again.add(key);
      members.set(key, value(word === "[" ? one : next(), words, key));
    }
    const found = word === "[" ? [...members.values()] : Object.fromEntries(members); // of any name
    if (again.size) twice.set(found, again);
    RAW.set(found, words);
    hasRaw ||= words.size > 0;
    return found;
  };
  const told = (v, at) => {
    const own = Array.from(twice.get(v) ?? [], (key) => ({
      pointer: at + below(key),
      sentence: `the key ${show(key)} occurs more than once in one object, and readers differ in which value they take`,
      rule: "duplicate-key",
    }));
    return typeof v === "object" && v !== null ? own.concat(Object.keys(v).flatMap((name) => told(v[name], at + below(name)))) : own;
  };
  const found = value(next(), new Map());
  return [found, twice.size ? told(found, "") : []];
};
/** Whether an object stands for an unknown variant without writing itself: a copy. */
const isCopy = (v) => isObject(v) && typeof v.toJSON !== "function" && Object.values(v).includes(UNKNOWN);
/** Whether a value holds what JSON writes otherwise. Throws where it writes nothing like it. */
const isSpecial = (v) => {
  if (typeof v === "number" ? !Number.isFinite(v) : isCopy(v) && !isObject(rawOf(v))) throw new TypeError("this is not JSON");
  if (typeof v !== "object" || v === null) return false;
  let found = isCopy(v);
  for (const name in v) if (isSpecial(v[name])) found = true;
  return found;
};
/** A value as JSON text. Numbers that came with more digits than a double holds are written as they came. */
export const encode = (value) => {
  if (!isSpecial(value) && !hasRaw) return JSON.stringify(value);
  const mark = `#${Math.random()}:`;
  const written = JSON.stringify(value, function (name, one) {
    const [number, text] = (typeof one === "number" && RAW.get(this)?.get(name)) || [];
    if (text && Object.is(number, one)) return mark + text;
    return isCopy(one) ? rawOf(one) : one;
  });
  return written?.replace(new RegExp(`"${mark}([^"]*)"`, "g"), "$1");
};

// --- values and messages ----------------------------------------------------------------------------------------------

/** Each problem once. That a value is excluded is told where nothing else is wrong with it. */
const finish = (problems) => {
  const found = new Map();
  const isNot = (one) => one.rule === "not";
  for (const { pointer, sentence, rule } of problems.sort((a, b) => isNot(a) - isNot(b))) {
    if (rule === "not" && [...found.values()].some((one) => `${one.pointer}/`.startsWith(`${pointer}/`))) continue;
    found.set(pointer + sentence, { pointer, sentence, rule });
    if (found.size <= MOST) continue;
    found.set(pointer + sentence, { pointer: "", sentence: `there are more problems than these ${MOST}`, rule: "more" });
    break;
  }
  return [...found.values()];
};
const run = (f, v, c) => {
  const from = c.findings.length;
  c.whole = { value: v, steps: 0 };
  try {
    return f(v, c);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    c.findings.length = from;
    add(c, "the value is nested too deep, or has too many alternatives", "size");
    return v;
  }
};

/** Throws the problems of a message, with its id and method where these can be read. */
const fail = (code, problems, v, twice = []) => {
  const member = (name, ...types) =>
    isObject(v) && types.includes(typeof v[name]) && !twice.some((one) => one.pointer === `/${name}`) ? v[name] : null;
  throw new DecodeError(code, finish(problems), member("id", "string", "number"), member("method", "string"));
};
/** Throws what a judgement refuses, or tells what it left out. */
const settle = (c, code, onDrop, v) => {
  if (!c.findings.length) return;
  const problems = refusal(c);
  if (problems.length) fail(code, problems, v);
  if (onDrop) c.findings.forEach(onDrop);
};

/** Whether a value is one of a type, exactly. */
export const is = (f, value) => !validateAs(f, value).length;
/** What is wrong with a value as one of a type, by its schema and nothing else; an empty list, if all is well. */
export const validateAs = (f, value) => {
  const c = judge(true);
  run(f, value, c);
  return finish(c.findings);
};
/** The typed value of parsed JSON: itself, or a copy where leniency or unknown variants ask for another one. */
export const decodeAs = (f, value, { onDrop, lenient } = {}) => {
  const c = judge(false, lenient !== false);
  const found = run(f, value, c);
  settle(c, -32602, onDrop);
  return found;
};
/** JSON text as `JSON.parse` reads it; keys that are given twice and what is too large are refused, long numbers are kept for `encode`. */
export const parse = (text) => {
  const [value, problems] = read(text);
  if (problems.length) fail(problems[0].rule === "json" ? -32700 : -32600, problems, value, problems);
  return value;
};

const fault = (c, sentence, pointer = "", rule = "envelope") => {
  add(c, sentence, rule, { pointer });
};
/** What becomes of a message that may be an array of messages, of each of which `f` says it. */
export const batches = (value, f, c) => {
  if (!Array.isArray(value)) return f(value, "");
  const answers = value.map((v) => isObject(v) && !has(v, "method"));
  if (!value.length) fault(c, "a batch must hold at least one message");
  if (!c.strict) settle(c, -32600);
  for (const [index, one] of answers.entries())
    if (c.strict && one !== answers[0]) fault(c, "a batch holds either calls or answers, not both", `/${index}`);
  return value.map((v, index) => f(v, `/${index}`));
};
const newObject = () => ({});
const plainParams = (v, c) => {
  if (typeof v !== "object" || v === null) fault(c, `the params must be an object or an array, not ${tell(v)}`);
  return v;
};
export const plainError = (v, c) => {
  if (!isObject(v) || !Number.isInteger(v.code) || typeof v.message !== "string")
    fault(c, "an error is an object with an integer 'code' and a string 'message'");
  return v;
};

/** Decodes and validates the messages of one protocol: `methods` are rows `[name, side, params, result, isNullFine, empty]`: of
 *  a notification without a result. `empty` makes what stands for params that are left out.
 */
export const protocol = (methods, { sides, id, error, each = (value, f) => f(value, ""), versioned = true }) => {
  const rows = [new Map(), new Map()]; // of notifications, of requests
  for (const [name, ...row] of methods) rows[row[2] ? 1 : 0].set(name, row);
  const checkSender = ({ sender } = {}) => {
    if (sides.length && !sides.includes(sender)) throw new TypeError(`the sender is one of ${sides.map(quote).join(", ")}, not ${tell(sender)}`);
  };
  const checkId = (v, c) => {
    if (!is(id, v)) fault(c, `an id must be ${is(id, null) ? "an integer, a string or null" : "an integer or a string"}, not ${tell(v)}`, "/id");
  };
  const stray = (c, name, isRequest, sender) => {
    const [own, others] = isRequest ? [rows[1], rows[0]] : rows;
    const sentence = own.has(name)
      ? `${quote(name)} is handled by the ${own.get(name)[0]}, so the ${sender} does not send it`
      : others.has(name)
        ? `${quote(name)} is a ${isRequest ? "notification, not a request: remove" : "request, not a notification: add"} 'id'`
        : `the method ${show(name)} is not known${suggest(name, [...(own.size ? own : others).keys()])}`;
    fault(c, sentence, "/method", "method");
  };
  /** What judges what a message carries: `[checker, member, code, empty]`; nothing where its envelope leaves that open. */
  const route = (v, c, { sender, method, pending }) => {
    if (!isObject(v)) return fault(c, `a JSON-RPC message is an object, not ${tell(v)}`);
    if (versioned && v.jsonrpc !== "2.0") {
      const [more, pointer] = has(v, "jsonrpc") ? [`, not ${tell(v.jsonrpc)}`, "/jsonrpc"] : ["", ""];
      fault(c, `the field 'jsonrpc' must be "2.0"${more}`, pointer);
    }
    const hasId = has(v, "id");
    const hasResult = has(v, "result");
    const isError = has(v, "error");
    if (typeof v.method === "string") {
      if (hasId) checkId(v.id, c);
      if (isError || hasResult) fault(c, "a message with 'method' holds neither 'result' nor 'error'");
      const [side, params, , , empty = newObject] = rows[+hasId].get(v.method) ?? [];
      if (side ? side === sender : !v.method.startsWith("_")) return stray(c, v.method, hasId, sender);
      return params ? [params, "params", -32602, empty] : [versioned ? plainParams : any, "params", -32600, () => {}];
    }
    if (has(v, "method")) return fault(c, `the method must be a string, not ${tell(v.method)}`, "/method");
    if (!isError && !hasResult)
      return fault(c, `the message has no 'method', and neither 'result' nor 'error'${hint("method", Object.keys(v))}`);
    if (isError && hasResult) fault(c, "a response holds either 'result' or 'error', not both");
    if (!hasId) fault(c, "a response must carry the request's 'id'");
    else if (!isError || v.id !== null) checkId(v.id, c);
    method ??= pending?.(v.id);
    if (isError) return [error, "error", -32600];
    if (method === undefined && !c.strict)
      return c.findings.length || fault(c, `no request with id ${tell(v.id)} is pending, so the result cannot be read`), undefined;
    const [side, , result = any, isNullFine] = rows[1].get(method) ?? [];
    if (side && ![sender, "both", "protocol"].includes(side))
      return fault(c, `${quote(method)} is answered by the ${side}, not by the ${sender}`);
    if (!side && method !== undefined && !method.startsWith("_")) return stray(c, method, true, sender);
    return [result, "result", -32602, isNullFine && !c.strict ? newObject : undefined];
  };
  /** A message with what it carries: the empty value where it stands for what is left out or null, which is what is written. */
  const check = (v, c, [f, name, , empty]) => {
    const came = v[name];
    const isEmpty = (came ?? null) === null && empty !== undefined;
    const given = isEmpty ? empty() : came;
    if (given === undefined) return v;
    let found = inside((one) => run(f, one, c), given, c, name);
    if (isEmpty && found !== null)
      found = writes(found, function () {
        return Object.keys(this).length ? this : came;
      });
    return found === (came ?? null) ? v : put(v, v, name, found);
  };
  return {
    decode(line, options) {
      checkSender(options);
      const value = parse(line);
      const judged = (v, at) => {
        const c = judge(false, options.lenient !== false);
        const carried = route(v, c, options);
        const code = c.findings.length ? (c.findings[0].rule === "method" ? -32601 : -32600) : carried[2];
        const found = c.findings.length ? v : check(v, c, carried);
        prefix(c, 0, at);
        settle(c, code, options.onDrop, v);
        return found;
      };
      return each(value, judged, judge());
    },
    validate(given, options) {
      checkSender(options);
      const c = judge(true);
      const [value, problems] = read(given);
      c.findings = problems;
      const judged = (v, at) => {
        const from = c.findings.length;
        const carried = route(v, c, options);
        if (carried) check(v, c, carried);
        prefix(c, from, at);
      };
      if (value !== undefined) each(value, judged, c);
      return finish(c.findings);
    },
  };
};
