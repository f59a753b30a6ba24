// What a module judges otherwise than the lines of conformance vectors say, and how many lines there were; in any engine.
const sorted = (v) =>
  Array.isArray(v)
    ? v.map(sorted)
    : v && typeof v === "object"
      ? Object.fromEntries(Object.keys(v).sort().map((key) => [key, sorted(v[key])]))
      : v;
const same = (a, b) => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));

export function judged(m, lines) {
  const wrong = [];
  const failed = (row, what, given) => wrong.push({ id: row.id, what, given });
  let rows = 0;
  for (const line of lines) {
    if (!line) continue;
    const row = JSON.parse(line);
    if (row.type !== undefined && !(row.type in m)) continue;
    rows++;
    const raw = "message" in row ? JSON.stringify(row.message) : row.text;
    const dropped = [];
    const options = { sender: row.sender, method: row.method, onDrop: (one) => dropped.push(one.pointer) };
    const isCall = "message" in row && row.message && typeof row.message === "object" && "method" in row.message;
    if (isCall) delete options.method;
    let value;
    try {
      value = row.type ? m.decodeAs(m[row.type], m.parse(raw), options) : m.decode(raw, options);
      if (!row.decodes) failed(row, "decoded");
      else {
        const written = JSON.parse(m.encode(value));
        const wanted = "decoded" in row ? row.decoded : "message" in row ? row.message : JSON.parse(row.text);
        if (!same(written, wanted)) failed(row, "written", written);
        if (!same([...dropped].sort(), [...(row.dropped ?? [])].sort())) failed(row, "dropped", dropped);
      }
    } catch (error) {
      if (!(error instanceof m.DecodeError)) throw error;
      if (row.decodes) failed(row, "refused", error.problems);
      else {
        if (row.code !== undefined && error.code !== row.code) failed(row, "code", error.code);
        if (row.pointer !== undefined && !error.problems.some((one) => one.pointer === row.pointer || one.pointer.startsWith(`${row.pointer}/`)))
          failed(row, "pointer", error.problems);
      }
    }
    const problems = row.type ? m.validateAs(m[row.type], m.parse(raw)) : m.validate(raw, options);
    if ((problems.length === 0) !== row.valid) failed(row, "valid", problems);
  }
  return [...wrong, { rows }];
}
