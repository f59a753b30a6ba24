// What this module offers to programs is described in `runtime.d.ts`.

export const UNKNOWN = Symbol("unknown variant");
/** Has a value be written as another one. */
const writes = (v, toJSON) => Object.defineProperty(v, "toJSON", { value: toJSON });
const unknownOf = (field, raw) =>
  writes({ ...raw, [field === "tag" ? "tag_" : "tag"]: raw[field], [field === "raw" ? "raw_" : "raw"]: raw, [field]: UNKNOWN }, () => raw);
const rawOf = (v) => v[v.raw === UNKNOWN ? "raw_" : "raw"];

export class DecodeError extends Error {
  constructor(code, problems, id = null, method = null) {
    super(problems.map((one) => `${one.pointer || "(message)"}: ${one.sentence}`).join("; "));
    Object.assign(this, { name: "DecodeError", code, problems, id, method });
  }
}

// --- one judgement ---------------------------------------------------------------------------------------------------
// A checker is `(value, judgement) => void`: it tells the judgement what is wrong with the value. Of a judgement, `path` leads to the value;
// `findings` are what is wrong and, with `make`, what is left out instead; `edits` make what is to stand in place of what came;
// `leftOut` is the last array of which items are left out, as `remaining` gives it;
// `whole` is the value, and how many branches were tried.

const MOST = 100;
const STEPS = 50; // for each character of a large value

const judge = (strict, lenient, path = []) => ({ strict, lenient, path, findings: [], edits: [] });
const run = (f, value, c) => {
  const depth = c.path.length;
  const from = c.findings.length;
  c.whole = { value, steps: 0 };
  try {
    f(value, c);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    c.path.length = depth;
    c.findings.length = from;
    add(c, "the value is nested too deep, or has too many alternatives", "size");
  }
  return c;
};
/** The judgement of a branch, of which nothing is reported. A large value may try more branches. */
const attempt = (f, v, c, strict = c.strict) => {
  const { whole } = c;
  if (++whole.steps > 200000 && whole.steps > STEPS * (whole.size ??= JSON.stringify(whole.value).length)) throw new RangeError();
  c = { ...c, strict, lenient: false, findings: [], edits: [] };
  f(v, c);
  return c;
};
const fits = (...given) => !attempt(...given).findings.length;

const add = (c, sentence, rule, more) => {
  c.findings.push({ path: [...c.path], sentence, rule, ...more });
};
const isProblem = (one) => !one.make;
const firstProblem = (c, from) => c.findings.slice(from).find(isProblem);
/** Leaves a member out, or puts something in its place, if there is a problem with it, which it returns. */
const drop = (c, from, key, value, instead, problem = firstProblem(c, from)) => {
  if (!problem) return;
  c.findings.length = from;
  c.findings.push({ path: [...c.path, key], value, problem, make: () => instead });
  return problem;
};
/** Judges a member. */
const inside = (f, v, c, key) => {
  c.path.push(key);
  f(v, c);
  c.path.pop();
};
const has = Object.hasOwn;
const isObject = (v) => typeof v === "object" && v !== null && !Array.isArray(v);
const below = (key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
const pointerOf = (path) => path.map(below).join("");

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
const tell = (v) => {
  if (typeof v === "object" && v) return isObject(v) ? "an object" : "an array";
  const chars = [...(typeof v === "string" ? quote(v.slice(0, 400)) : String(v))];
  return (chars.length <= 80 ? chars : [...chars.slice(0, 77), "..."]).join("");
};
const listed = (values) => {
  const first = values.slice(0, 24).map(tell).join(", ");
  return values.length <= 24 ? first : `${first} and ${values.length - 24} more`;
};

/** How many characters two texts have in common blocks, the longest first. */
const common = (a, b) => {
  for (let size = Math.min(a.length, b.length); size; size--)
    for (let i = 0; i + size <= a.length; i++) {
      const j = b.indexOf(a.slice(i, i + size));
      if (j >= 0) return common(a.slice(0, i), b.slice(0, j)) + size + common(a.slice(i + size), b.slice(j + size));
    }
  return 0;
};
const plain = (name) => name.replace(/[_-]/g, "").toLowerCase();
/** The name that is most like another one, and the last of them in order, if three quarters of their characters are common. */
const similar = (name, names) => {
  const wanted = plain(name);
  const likeness = (text) => (text + wanted ? (2 * common(text, wanted)) / (text + wanted).length : 1);
  const texts = new Map(names.filter((each) => each.length + name.length <= 400).map((each) => [plain(each), each]));
  const [best] = [...texts.keys()].map((text) => [likeness(text), text]).sort(([a, x], [b, y]) => b - a || (x < y ? 1 : -1));
  return best?.[0] >= 0.75 ? texts.get(best[1]) : undefined;
};
const suggest = (v, known) => {
  const texts = typeof v === "string" ? known.filter((one) => typeof one === "string") : [];
  const near = texts.some((one) => v.length <= 2 * one.length) ? similar(v, texts) : undefined;
  return near === undefined ? "" : `; did you mean ${quote(near)}?`;
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
  return near ? `; ${tell(near)} is not known here, did you mean ${quote(missing)}?` : "";
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
const mismatch = (v, c, types) =>
  add(c, `${types.map((one) => TYPES[one][0]).join(" or ") || "another value"} is expected, not ${tell(v)}`, "type");

export const any = () => {};
export const never = (v, c) => add(c, "nothing is allowed here", "false");
export const type = (...types) => {
  const [holds, ...others] = types.map((one) => TYPES[one][1]);
  return (v, c) => {
    if (!holds(v) && !others.some((one) => one(v))) mismatch(v, c, types);
  };
};
export const string = /* @__PURE__ */ type("string");
export const boolean = /* @__PURE__ */ type("boolean");
export const number = /* @__PURE__ */ type("number");
export const integer = /* @__PURE__ */ type("integer");
export const nil = /* @__PURE__ */ type("null");
export const object = /* @__PURE__ */ type("object");
export const array = /* @__PURE__ */ type("array");
export const nullable = (f) => (v, c) => {
  if (v !== null) f(v, c);
};
/** A checker that is made later. */
export const lazy = (get) => (v, c) => get()(v, c);
/** What the schema says, and what receivers judge by. */
export const open = (strict, received) => (v, c) => (c.strict ? strict : received)(v, c);

/** One value, or one of some, which are of a type. An integer beyond 2^53 is a `bigint`, for its digits. */
export const constant = (f, value) => (v, c) => {
  if (equal(value, v)) return;
  f(v, c);
  add(c, `${tell(v)} is not ${tell(value)}, the only value allowed here`, "const", { values: [value] });
};
export const literal = (f, ...values) => (v, c) => {
  if (values.some((one) => equal(one, v))) return;
  f(v, c);
  oneOf(v, c, values);
};
const equal = (a, b) => a === b || (typeof a === "object" ? key(a) === key(b) : typeof a === "bigint" && Number(a) === b);
const oneOf = (v, c, values) => add(c, `${tell(v)} is not one of ${listed(values)}${suggest(v, values)}`, "enum", { values });

/** Text that equal values share. */
const key = (v) =>
  JSON.stringify(v, (_, one) => (isObject(one) ? Object.fromEntries(Object.keys(one).sort().map((name) => [name, one[name]])) : one));

/** An array without the items that are left out, and what is wrong with these. */
const remaining = (v, c) => (c.leftOut?.of === v ? c.leftOut : { rest: v });
/** A limit of values of one kind: whether it holds, and what is wrong otherwise. A limit that JavaScript writes otherwise is a text. */
const limit = (rule, kind, holds, sentence) => (n) => (v, c) => {
  const { rest, below } = remaining(v, c);
  if (TYPES[kind][1](v) && !holds(rest, +n)) add(c, sentence.replace("#", n), rule, { below });
};
const points = (text) => [...text].length;
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
export const minLength = /* @__PURE__ */ limit("minLength", "string", (v, n) => v.length >= 2 * n || points(v) >= n, "the string's length must be # or more");
export const maxLength = /* @__PURE__ */ limit("maxLength", "string", (v, n) => v.length <= n || (v.length <= 2 * n && points(v) <= n), "the string's length may be # at most");
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
};
const unsatisfied = (c, keyword, more) => add(c, `the value does not satisfy the keyword '${keyword}'`, keyword, more);

// --- checkers of objects and arrays -----------------------------------------------------------------------------------

const MISSING = "required";
/** An object with declared fields, of which the first `count` and those of `required` must be there. A field is a checker, or `[checker, how]`:
 *  `how` is the sum of 1 it is left out where it is wrong, 2 its null is left out, 4 an array is empty instead, 8 its items are left out; `usual`
 *  is that of the fields after the first ones. `others` judges what is no object.
 */
export const record = (fields, count = 0, usual = 0, required = [], others = object) => {
  const rows = [...Object.keys(fields), ...required.filter((name) => !has(fields, name))].map((name, index) => {
    const own = has(fields, name) ? fields[name] : any; // a function has no items
    return { name, f: own[0] ?? own, how: own[1] ?? (index < count ? 0 : usual), isRequired: index < count || required.includes(name) };
  });
  return (v, c) => {
    if (!isObject(v)) return others(v, c);
    const start = c.findings.length;
    for (const row of rows) {
      const { name } = row;
      const one = has(v, name) ? v[name] : undefined;
      const from = c.findings.length;
      c.drops = row.how & 8;
      if (one !== undefined) inside(row.f, one, c, name);
      else if (row.isRequired) {
        const more = hint(name, Object.keys(v).filter((each) => !has(fields, each)));
        add(c, `the field ${quote(name)} is required${more}`, MISSING, { missing: name });
      }
      if (c.findings.length > from) leaveOut(c, row, from, one);
    }
    arrange(v, c, start);
  };
};
/** Tells of an object first, then of its members in their order. */
const arrange = (v, c, from) => {
  if (c.findings.length <= from + 1 || !isObject(v)) return;
  const ranks = new Map(Object.keys(v).map((name, index) => [name, index]));
  const rank = ({ path }) => ranks.get(path[c.path.length]) ?? -1;
  for (const one of c.findings.splice(from).sort((a, b) => rank(a) - rank(b))) c.findings.push(one);
};
/** Leaves a field out that something is wrong with, if that may be. */
const leaveOut = (c, { name, f, how, isRequired }, from, one) => {
  if (!c.lenient || !(how & 1 || (how & 2 && one === null))) return;
  if (!isRequired) drop(c, from, name, one);
  else if (how & 4 && fits(f, [], c)) drop(c, from, name, one, []);
  else if (one !== undefined) Object.assign(firstProblem(c, from) ?? {}, { isSoft: true });
};

/** The members of an object beyond those that are declared: by pattern, and all others, if anything is said of them. */
export const members = (rest, names = [], patterns = []) => {
  const known = new Set(names);
  return (v, c) => {
    if (!isObject(v)) return;
    const extra = [];
    for (const name of Object.keys(v)) {
      const matching = patterns.filter(([expression]) => expression?.test(name));
      const others = matching.length || known.has(name) || !rest ? [] : [[, rest]];
      if (others.length && rest === never) extra.push(name);
      else for (const [, f] of [...matching, ...others]) inside(f, v[name], c, name);
    }
    if (extra.length) refuse(c, extra, "additionalProperties");
  };
};
const refuse = (c, extra, rule) => add(c, `${listed(extra)} ${extra.length === 1 ? "is" : "are"} not allowed here`, rule);
export const names = (f) => (v, c) => {
  if (isObject(v))
    for (const name of Object.keys(v)) {
      const [problem] = attempt(f, name, c).findings;
      if (problem) add(c, `the name ${tell(name)} is not allowed here: ${problem.sentence}`, "propertyNames");
    }
};
/** The fields that an object needs beside each of some others. */
export const dependents = (needs) => (v, c) => {
  for (const [name, required] of isObject(v) ? needs : [])
    for (const one of has(v, name) ? required : [])
      if (!has(v, one)) add(c, `the field ${quote(one)} is required beside ${tell(name)}`, MISSING);
};

/** A list: one checker for each of the `first` items, one for the others, if they have one. `others` judges what is no array. */
export const items = (f, first = [], others = array) => (v, c) => {
  if (!Array.isArray(v)) return others(v, c);
  const drops = c.lenient && c.drops;
  const below = [];
  c.drops = 0;
  for (let i = 0; i < (f ? v : first).length && i < v.length; i++) {
    const from = c.findings.length;
    inside(first[i] ?? f, v[i], c, i);
    const problem = drops && drop(c, from, i, v[i]);
    if (problem) below[i] = problem;
  }
  if (below.length) c.leftOut = { of: v, rest: v.filter((_, i) => !below[i]), below: below.flat() };
};
export const contains = (f, least, most) => (v, c) => {
  if (!Array.isArray(v)) return;
  const { rest, below } = remaining(v, c);
  const found = rest.filter((one) => fits(f, one, c)).length;
  if (found < least || found > most) unsatisfied(c, "contains", { below });
};

// --- checkers of several schemas --------------------------------------------------------------------------------------

export const all = (...checkers) => (v, c) => {
  const from = c.findings.length;
  for (const f of checkers) f(v, c);
  arrange(v, c, from);
};
/** None of some schemas. */
export const not = (...checkers) => (v, c) => {
  if (checkers.some((f) => fits(f, v, c, true))) add(c, "this is one of the values that are excluded here", "not");
};
export const when = (test, then, otherwise) => (v, c) => (fits(test, v, c, true) ? then : otherwise)(v, c);
/** The keys of a value that a schema evaluates: itself, or by one of its `parts` that takes the value, each a checker and what it evaluates. */
const evaluate = (v, c, given) => {
  const { names = [], patterns = [], contains, isAll, parts = [] } = typeof given === "function" ? given() : given;
  const isOwn = (key) => isAll || names.includes(key) || patterns.some((one) => one?.test(key)) || (contains && fits(contains, v[key], c));
  return [...Object.keys(v).filter(isOwn), ...parts.flatMap(([f, says]) => (fits(f, v, c) ? evaluate(v, c, says) : []))];
};
/** What counts for the members of an object, or the items of an array, of which nothing else speaks. Of items it is reported where nothing else
 *  is wrong.
 */
export const unevaluated = (others, says, f, rule) => (v, c) => {
  const isOfItems = rule === "unevaluatedItems";
  const from = c.findings.length;
  others(v, c);
  if (isOfItems ? c.findings.length > from || !Array.isArray(v) : !isObject(v)) return;
  const known = new Set(evaluate(v, c, says));
  const extra = Object.keys(v).filter((one) => !known.has(one));
  if (isOfItems) {
    if (!extra.every((one) => fits(f, v[one], c))) unsatisfied(c, rule);
  } else if (f !== never) for (const one of extra) inside(f, v[one], c, one);
  else if (extra.length) refuse(c, extra, rule);
};

/** Tells of an object by the one field of each of some branches; `false`, where it has several of them. */
export const keyed = (keys) => (v, c, say) => {
  const [inside, ...more] = Object.keys(keys).filter((i) => has(v, keys[i]));
  if (more.length) return false;
  if (inside) return say(inside), true;
  const there = Object.keys(v).slice(0, 3).map(tell).join(", ") || "nothing";
  add(c, `the object must have one field of ${Object.values(keys).map(tell).join(", ")}; it has ${there}`, MISSING);
  return true;
};

/** One of several schemas, or but one where it `isExclusive`; `nil` is never what a value is compared with. How they are distinguished:
 *  `field` and `tags` (of each branch, one or a list), `isLoose` (more than one branch may take an object with a known tag),
 *  `untagged` (branches that take objects without the field), `byKey` (what tells by fields of one branch each), `types` (of each branch, one or a list;
 *  of one without, `object`). `known`: the value becomes an `Unknown` if its tag is neither one of `tags` nor one of these.
 */
export const union = (branches, { isExclusive, field, tags = [], isLoose, untagged = [], byKey, types = [], known } = {}) => {
  const real = [...branches.keys()].filter((i) => branches[i] !== nil);
  const others = []; // the branches that no tag leads to
  const owners = new Map(); // tag → the branches that it leads to
  for (const i of real) {
    const own = [tags[i] ?? []].flat();
    for (const tag of own) owners.set(tag, [...(owners.get(tag) ?? []), i]);
    if (!own.length) others.push(i);
  }
  const check = (v, c) => {
    const isTold = field !== undefined && isObject(v);
    const whole = isTold && v[field] === UNKNOWN ? rawOf(v) : v;
    const given = isTold && has(whole, field) ? whole[field] : undefined;
    const found = owners.get(given);
    (found && !isLoose ? branches[found[0]] : choose)(whole, c, isTold, given, found);
  };
  /** Judges by the branch that fits, or tells what is wrong by the one that is meant. */
  const choose = (v, c, isTold, given, found) => {
    if (known && !found && typeof given === "string" && !known.includes(given))
      c.edits.push({ path: [...c.path], make: (raw) => unknownOf(field, raw) });
    const candidates = given !== undefined ? [...(found ?? []), ...others] : isTold ? untagged : [...branches.keys()];
    const trials = [];
    const trial = (i) => (trials[i] ??= attempt(branches[i], v, c));
    const takes = (i) => !trial(i).findings.length;
    const fit = candidates.find(takes);
    if (fit !== undefined) {
      if (isExclusive && candidates.some((i) => i !== fit && takes(i)))
        add(c, "more than one of the alternatives fits, and only one may", "oneOf");
      else for (const one of trial(fit).edits) c.edits.push(one);
      return;
    }
    // a branch judges twice only where leniency tells more, as each twice doubles with the depth
    const say = (i) => {
      if (c.lenient) branches[i](v, c);
      else for (const one of trial(i).findings) c.findings.push({ ...one });
    };
    const isHere = ({ path }) => path.length === c.path.length;
    const here = (i) => trial(i).findings.filter(isHere);
    /** How far a value is from a branch: it has another type (4), another constant (2), is excluded (1); then missing fields, and problems. */
    const distance = (i) => {
      const rules = here(i).map((one) => one.rule);
      const isOther = rules.includes("const") || rules.includes("enum");
      const isWrong = rules.includes("type") || (isOther && typeof v !== "string");
      const missing = rules.filter((one) => one === MISSING).length;
      return (4 * isWrong + 2 * isOther + rules.includes("not")) * 1e9 + missing * 1e3 + Math.min(trial(i).findings.length, MOST);
    };
    /** The nearest of some branches, and its distance. */
    const nearest = (indices) => {
      const distances = indices.map(distance);
      const least = Math.min(...distances);
      return [indices[distances.indexOf(least)], least];
    };
    /** Says what is wrong by the nearest of some branches; that the value is none of any, if it has no type or constant of theirs. */
    const report = (indices, [best, far] = nearest(indices)) => {
      const from = c.findings.length;
      if (far >= 4e9) return mismatch(v, c, [...new Set(indices.flatMap((i) => types[i] ?? "object"))].sort());
      if (far >= 2e9) oneOf(v, c, indices.flatMap((i) => here(i).find((one) => one.values)?.values ?? []).filter((one) => one !== null));
      else say(best);
      const first = indices.length > 1 && firstProblem(c, from);
      if (!first || first.sentence.endsWith(" alternatives)")) return;
      const { path, sentence } = first; // which may come again
      for (const one of c.findings.slice(from))
        if (one.sentence === sentence && String(one.path) === String(path)) one.sentence += ` (the nearest of ${indices.length} alternatives)`;
    };
    /** What the branch makes of the value that is meant: it says what is wrong, or leaves it out. */
    const explain = () => {
      if (real.length < 2) return say(real[0] ?? 0);
      if (field === undefined) return (isObject(v) && byKey?.(v, c, say)) || report(real);
      if (!isTold) return object(v, c);
      if (found) return found.length === 1 ? say(found[0]) : report(found);
      if (candidates.length) {
        const [best, far] = nearest(candidates);
        const problems = far < 2e9 ? trial(best).findings : [{ path: c.path }];
        const count = (all) => all.filter(({ path }) => path.length !== c.path.length + 1 || path.at(-1) !== field).length;
        const wrong = [...owners.values()].flatMap((one) => (one.length === 1 ? [count(trial(one[0]).findings)] : []));
        const isStray = problems.some((one) => one.rule === "not" && isHere(one)) || Math.min(...wrong) < count(problems);
        if (!isStray || typeof given !== "string") return report(candidates, [best, far]);
      }
      const all = [...owners.keys()];
      if (given === undefined) return add(c, `the field ${quote(field)} is required, one of ${listed(all)}${hint(field, Object.keys(v))}`, MISSING);
      const sentence = `${tell(given)} is not a known value of ${quote(field)}, which are ${listed(all)}${suggest(given, all)}`;
      add(c, sentence, "tag", { path: [...c.path, field] });
    };
    const from = c.findings.length;
    explain();
    // a field that the branch needs may be left out where another branch does without it
    const soft = c.findings.slice(from).find((one) => one.isSoft && one.path.length === c.path.length + 1);
    if (!soft) return;
    const name = soft.path.at(-1);
    const { [name]: value, ...rest } = v;
    if (attempt(check, rest, c).findings.some((one) => one.missing === name && isHere(one))) return;
    drop(c, from, name, value, undefined, soft);
    check(rest, c);
  };
  return check;
};
/** A union whose receivers keep variants with tags that are not `known`, by one more branch if there is a `fallback`. */
export const tolerant = (branches, ways, fallback, known = []) =>
  open(union(branches, ways), union(fallback ? [...branches, fallback] : branches, { ...ways, known }));

// --- text -------------------------------------------------------------------------------------------------------------

const RAW = new WeakMap(); // object or array → key → a number and its text, where JavaScript writes another; with the keys that come `twice`
/** Numbers that a double may not hold, -0, which is not written, halves of surrogate pairs, and escapes that may hide a colon. */
const SUSPICIOUS = /\d{16}|\d\.\d{8}|\d{8}\.|\d[eE]|\\u(?:[dD]|00[23])|(?:^|[:,[\s])-0/;
const colons = (text) => text.match(/"[ \t\n\r]*:/g)?.length;

/** The value of JSON text, and what is wrong with it as such; of no text, itself. */
const read = (given) => {
  try {
    const text = given instanceof Uint8Array ? new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(given) : given;
    if (typeof text !== "string") return [text, []];
    try {
      const value = JSON.parse(text);
      const written = JSON.stringify(value); // with each key once
      const isSame = written === text ? !text.includes("\\ud") : colons(text) === colons(written) && !SUSPICIOUS.test(text);
      if (isSame) return [value, []];
    } catch {}
    return slowly(text);
  } catch (error) {
    const others = error instanceof RangeError ? "it is nested too deep" : "UTF-8 is expected";
    const sentence = `this is not JSON: ${error instanceof SyntaxError ? error.message : others}`;
    return [undefined, [{ pointer: "", sentence, rule: "json" }]];
  }
};
/** The value of text, with what `JSON.parse` does not tell: the place of what is wrong, keys that are given twice, long numbers. */
const slowly = (text) => {
  const tokens = /"[^"]*"|[^\s"[\]{},:]+|[^ \t\n\r]|$/g;
  const bare = text.replace(/\\["\\]/g, "__");
  let at;
  let word;
  const next = () => {
    at = tokens.exec(bare).index;
    word = text.slice(at, tokens.lastIndex);
  };
  const expect = (isThere, what) => {
    if (isThere) return;
    const lines = text.slice(0, at).split("\n");
    throw new SyntaxError(`${what} is expected at line ${lines.length}, column ${lines.at(-1).length + 1}`);
  };
  const scalar = () => {
    let found;
    try {
      found = JSON.parse(word);
    } catch {
      expect(false, word[0] === '"' ? "a whole string, with known escapes," : "a value");
    }
    expect(!/\p{Surrogate}/u.test(found), "a whole surrogate pair");
    expect(Math.abs(found) !== Infinity, "a smaller number");
    return found;
  };
  const value = (raw, name) => {
    if (word !== "{" && word !== "[") {
      const found = scalar();
      if (typeof found === "number" && String(found) !== word) raw.set(String(name), [found, word]);
      return found;
    }
    const end = word === "[" ? "]" : "}";
    const members = new Map();
    const words = new Map();
    words.twice = new Set();
    for (next(); word !== end; next()) {
      if (members.size) {
        expect(word === ",", `',' or '${end}'`);
        next();
      }
      let key = members.size;
      if (end === "}") {
        expect(word[0] === '"', "a key in double quotes");
        key = scalar();
        next();
        expect(word === ":", "':'");
        next();
      }
      if (members.has(key)) words.twice.add(key);
      members.set(key, value(words, key));
    }
    const found = end === "]" ? [...members.values()] : Object.fromEntries(members); // of any name
    RAW.set(found, words);
    return found;
  };
  const sentence = (key) => `the key ${tell(key)} occurs more than once in one object, and readers differ in which value they take`;
  const repeated = (v, path) => {
    const own = Array.from(RAW.get(v)?.twice ?? [], (key) => ({ path: [...path, key], sentence: sentence(key), rule: "duplicate-key" }));
    return typeof v === "string" ? own : own.concat(Object.keys(v ?? []).flatMap((name) => repeated(v[name], [...path, name])));
  };
  next();
  const found = value(new Map());
  next();
  expect(!word, "the end of the text");
  return [found, listProblems(repeated(found, []))];
};
/** What is written in place of an object: of a copy of an unknown variant, which does not write itself, what came. */
const writtenAs = (v) =>
  "raw" in v && typeof v.toJSON !== "function" && Object.values(v).includes(UNKNOWN) && isObject(rawOf(v)) ? rawOf(v) : v;
export const encode = (value) => {
  let mark; // of numbers that are written as they came
  const written = JSON.stringify(value, function (name, one) {
    if (typeof one === "string") return one;
    if (typeof one === "object") return one && writtenAs(one);
    const isNumber = typeof one === "number";
    if (isNumber ? !Number.isFinite(one) : one === UNKNOWN) throw new TypeError("this is not JSON");
    const kept = isNumber && RAW.get(this)?.get(name);
    if (!kept || !Object.is(kept[0], one)) return one;
    mark ??= `#${Math.random()}:`;
    return mark + kept[1];
  });
  return mark ? written.replace(new RegExp(`"${mark}([^"]*)"`, "g"), "$1") : written;
};

// --- values and messages ----------------------------------------------------------------------------------------------

/** A copy of a value in which something else stands at some paths: what `make` makes of what is there, nothing for `undefined`. The texts of
 *  long numbers move with their items.
 */
const edited = (value, edits, depth = 0) => {
  const inner = new Map(); // key → the edits of what it leads to
  for (const one of edits) {
    const key = String(one.path[depth]);
    if (one.path.length > depth) inner.set(key, inner.get(key) ?? []).get(key).push(one);
  }
  let found = value;
  if (inner.size) {
    const whole = writtenAs(value);
    const [members, words] = [new Map(), new Map()];
    for (const key of new Set([...Object.keys(whole), ...inner.keys()])) {
      const one = inner.has(key) ? edited(whole[key], inner.get(key), depth + 1) : whole[key];
      const place = Array.isArray(whole) ? String(members.size) : key;
      if (one === undefined) continue;
      members.set(place, one);
      words.set(place, RAW.get(whole)?.get(key));
    }
    found = Array.isArray(whole) ? [...members.values()] : Object.fromEntries(members); // of any name
    RAW.set(found, words);
  }
  for (const { path, make } of edits) if (path.length === depth) found = make(found);
  return found;
};
/** Problems as they are reported: each once, a hundred at most. That a value is excluded is reported where nothing else is wrong with it. */
const listProblems = (findings) => {
  const found = new Map();
  const isNot = (one) => one.rule === "not";
  for (const { path, sentence, rule } of findings.sort((a, b) => isNot(a) - isNot(b))) {
    const pointer = pointerOf(path);
    if (rule === "not" && [...found.values()].some((one) => `${one.pointer}/`.startsWith(`${pointer}/`))) continue;
    if (found.size === MOST && !found.has(pointer + sentence))
      return [...found.values(), { pointer: "", sentence: `there are more problems than these ${MOST}`, rule: "more" }];
    found.set(pointer + sentence, { pointer, sentence, rule });
  }
  return [...found.values()];
};
/** Throws the problems of a message, with its id and method where these can be read. */
const fail = (code, problems, v, twice = []) => {
  const member = (name, ...types) =>
    isObject(v) && types.includes(typeof v[name]) && !twice.some((one) => one.pointer === `/${name}`) ? v[name] : null;
  throw new DecodeError(code, problems, member("id", "string", "number"), member("method", "string"));
};
/** What is to stand in a value in place of what came. Throws what is wrong, each with what was wrong with items that were left out below it: an
 *  array may be too short for that.
 */
const settle = ({ findings, edits }, code, v, { onDrop } = {}) => {
  if (!findings.length) return edits;
  const problems = findings.filter(isProblem);
  if (problems.length) fail(code, listProblems(problems.flatMap((one) => [one, ...(one.below ?? [])])), v);
  for (const { path, value, problem } of onDrop ? findings : [])
    onDrop({ pointer: pointerOf(path), value, problem: listProblems([problem])[0] });
  return [...edits, ...findings];
};

export const is = (f, value) => !run(f, value, judge(true)).findings.length;
export const validateAs = (f, value) => listProblems(run(f, value, judge(true)).findings);
export const decodeAs = (f, value, options) => edited(value, settle(run(f, value, judge(false, options?.lenient !== false)), -32602, null, options));
export const parse = (text) => {
  const [value, problems] = read(text);
  if (problems.length) fail(problems[0].rule === "json" ? -32700 : -32600, problems, value, problems);
  return value;
};

const fault = (c, sentence, path = [], rule = "envelope") => add(c, sentence, rule, { path: [...c.path, ...path] });
/** What becomes of a message that may be an array of messages, of each of which `f` says it. */
export const batches = (value, f, c) => {
  if (!Array.isArray(value)) return f(value, []);
  const answers = value.map((v) => isObject(v) && !has(v, "method"));
  if (!value.length) fault(c, "a batch must hold at least one message");
  for (const [index, one] of answers.entries())
    if (c.strict && one !== answers[0]) fault(c, "a batch holds either calls or answers, not both", [index]);
  if (!c.strict && c.findings.length) fail(-32600, listProblems(c.findings));
  return value.map((v, index) => f(v, [index]));
};
const newObject = () => ({});
const plainParams = (v, c) => {
  if (typeof v !== "object" || v === null) fault(c, `the params must be an object or an array, not ${tell(v)}`);
};
export const plainError = (v, c) => {
  if (!isObject(v) || !Number.isInteger(v.code) || typeof v.message !== "string")
    fault(c, "an error is an object with an integer 'code' and a string 'message'");
};

/** Decodes and validates the messages of one protocol: `methods` are rows `[name, side, params, result, isNullFine, empty]`: of
 *  a notification without a result. `empty` makes what stands for params that are left out.
 */
export const protocol = (methods, { sides, id, error, each = (value, f) => f(value, []), versioned = true }) => {
  const rows = [new Map(), new Map()]; // of notifications, of requests
  for (const [name, ...row] of methods) rows[row[2] ? 1 : 0].set(name, row);
  const checkSender = ({ sender } = {}) => {
    if (sides.length && !sides.includes(sender)) throw new TypeError(`the sender is one of ${sides.map(quote).join(", ")}, not ${tell(sender)}`);
  };
  const checkId = (v, c) => {
    if (!is(id, v)) fault(c, `an id must be ${is(id, null) ? "an integer, a string or null" : "an integer or a string"}, not ${tell(v)}`, ["id"]);
  };
  const stray = (c, name, isRequest, sender) => {
    const own = rows[+isRequest];
    const others = rows[+!isRequest];
    const sentence = own.has(name)
      ? `${quote(name)} is handled by the ${own.get(name)[0]}, so the ${sender} does not send it`
      : others.has(name)
        ? `${quote(name)} is a ${isRequest ? "notification, not a request: remove" : "request, not a notification: add"} 'id'`
        : `the method ${tell(name)} is not known${suggest(name, [...(own.size ? own : others).keys()])}`;
    fault(c, sentence, ["method"], "method");
  };
  /** What judges what a message carries: `[checker, member, code, empty]`; nothing where its envelope leaves that open. */
  const route = (v, c, { sender, method, pending }) => {
    if (!isObject(v)) return fault(c, `a JSON-RPC message is an object, not ${tell(v)}`);
    if (versioned && v.jsonrpc !== "2.0") {
      const isThere = has(v, "jsonrpc");
      fault(c, `the field 'jsonrpc' must be "2.0"${isThere ? `, not ${tell(v.jsonrpc)}` : ""}`, isThere ? ["jsonrpc"] : []);
    }
    const hasId = has(v, "id");
    const hasResult = has(v, "result");
    const isError = has(v, "error");
    if (typeof v.method === "string") {
      if (hasId) checkId(v.id, c);
      if (isError || hasResult) fault(c, "a message with 'method' holds neither 'result' nor 'error'");
      const [side, params, , , empty = newObject] = rows[+hasId].get(v.method) ?? [];
      if (side ? side === sender : !v.method.startsWith("_")) return stray(c, v.method, hasId, sender);
      return params ? [params, "params", -32602, empty] : [versioned ? plainParams : any, "params", -32600, any];
    }
    if (has(v, "method")) return fault(c, `the method must be a string, not ${tell(v.method)}`, ["method"]);
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
  /** Judges what a message carries: the empty value where that stands for what is left out or null, which is written. */
  const carry = (v, c, [f, name, , empty]) => {
    const came = v[name];
    const isEmpty = came == null && empty;
    const given = isEmpty ? empty() : came;
    if (given === undefined) return;
    inside(() => run(f, given, c), given, c, name);
    const toJSON = () => (Object.keys(given).length ? given : came);
    if (isEmpty && given !== null) c.edits.push({ path: [...c.path, name], make: () => writes(given, toJSON) });
  };
  return {
    decode(line, options) {
      checkSender(options);
      const value = parse(line);
      const decoded = (v, path) => {
        const c = judge(false, options.lenient !== false, path);
        const carried = route(v, c, options);
        settle(c, c.findings[0]?.rule === "method" ? -32601 : -32600, v);
        carry(v, c, carried);
        return settle(c, carried[2], v, options);
      };
      return edited(value, [each(value, decoded, judge())].flat(2));
    },
    validate(given, options) {
      checkSender(options);
      const [value, problems] = read(given);
      const c = judge(true);
      const validated = (v, path) => {
        c.path = path;
        const carried = route(v, c, options);
        if (carried) carry(v, c, carried);
      };
      if (value !== undefined) each(value, validated, c);
      return [...problems, ...listProblems(c.findings)];
    },
  };
};
