"""The target `typescript`: its modules in Node.js against the vectors and against the Python bindings, and its types by the compiler."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import evidence
import javascript
from acpgen.input.load import load
from acpgen.targets.interface import Settings
from acpgen.targets.pipeline import generate
from bindings.subjects import Subjects
from jsonrpc_bindings.errors import DecodeError

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PROTOCOLS = {"acp/v1": "acp_bindings.v1", "acp/v2": "acp_bindings.v2", "mcp/2025-06-18": "mcp_bindings.roots"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The modules of all protocols, each in a folder of its name."""
    found = tmp_path_factory.mktemp("typescript")
    for name in PROTOCOLS:
        write(found / name, ROOT / "schema" / name)
    return found


def write(into: Path, schema: Path, *, keep_unknown: bool = False, **settings: Any) -> None:
    made = generate(load(schema), {"typescript": Settings(**settings)}, keep_unknown=keep_unknown)["typescript"]
    for path, text in made.items():
        (into / path).parent.mkdir(parents=True, exist_ok=True)
        (into / path).write_text(text, encoding="utf-8")


@cache
def node() -> str:
    try:
        return javascript.node()
    except javascript.Unreachable as reason:
        evidence.lack(str(reason))


def run(*arguments: object, given: str = "") -> list[Any]:
    """The JSON lines that a program of Node.js prints."""
    ran = subprocess.run(
        [node(), *map(str, arguments)], input=given, capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_vectors(name: str, folder: Path) -> None:
    *failed, last = run(HERE / "vectors.mjs", folder / name / "index.js", ROOT / "generated" / "vectors" / name)
    assert not failed
    assert last["rows"] > 200


@pytest.mark.parametrize("name", PROTOCOLS)
def test_sentences_are_those_of_python(name: str, folder: Path) -> None:
    rows = [
        row
        for file in sorted((ROOT / "generated" / "vectors" / name / "types").glob("*.jsonl"))
        for row in map(json.loads, file.read_text("utf-8").splitlines())
        if not row["decodes"] and "message" in row
    ]
    bindings = import_module(PROTOCOLS[name])
    known = [row for row in rows if hasattr(bindings, row["type"])]
    assert len(known) > len(rows) * 0.9
    program = (HERE / "sentences.mjs", folder / name / "index.js")
    for row, found in zip(known, run(*program, given="\n".join(map(json.dumps, known))), strict=True):
        assert (found["decode"], found["validate"]) == (decoded(bindings, row), validated(bindings, row)), row


def decoded(bindings: Any, row: dict[str, Any]) -> list[list[str]]:
    with pytest.raises(DecodeError) as refused:
        bindings.decode_as(row["type"], row["message"])
    return sorted([problem.pointer, problem.sentence] for problem in refused.value.problems)


def validated(bindings: Any, row: dict[str, Any]) -> list[list[str]]:
    return sorted([problem.pointer, problem.sentence] for problem in bindings.validate_as(row["type"], row["message"]))


@cache
def compiler() -> Path:
    try:
        return javascript.packages(typescript="5.9.3") / "node_modules" / "typescript" / "bin" / "tsc"
    except javascript.Unreachable as reason:
        evidence.lack(str(reason))


def compiled(folder: Path, *files: Path | str, emit: Sequence[str] = ("--noEmit",)) -> str:
    """What the compiler says of files; empty where nothing is wrong. Its own library it does not check."""
    options = [*emit, "--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--skipDefaultLibCheck"]
    options += ["--target", "es2022", "--lib", "es2022,dom", "--module", "nodenext", "--moduleResolution", "nodenext"]
    ran = subprocess.run(
        [node(), compiler(), *options, *files], cwd=folder, capture_output=True, text=True, check=False
    )
    return ran.stdout


def test_types(folder: Path) -> None:
    (folder / "use.ts").write_text((HERE / "use.ts").read_text("utf-8"), encoding="utf-8")
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    others = [folder / name / "index.d.ts" for name in PROTOCOLS]
    assert compiled(folder, folder / "use.ts", *others) == ""


SNIPPETS: dict[str, tuple[str, Any]] = {
    "an unknown variant is written as it came": (
        """const u = m.decodeAs(m.ContentBlock, {type: "video", uri: "x", _meta: null});
        out(u.type === m.UNKNOWN, u.tag, m.encode([u]), m.validateAs(m.ContentBlock, u).length > 0)""",
        [True, "video", '[{"type":"video","uri":"x","_meta":null}]', True],
    ),
    "long numbers are written as they came": (
        """const line = '{"jsonrpc":"2.0","id":9007199254740993,"method":"_x","params":{"n":[1.10,123456789012345678901234567890,1e300]}}';
        out(m.encode(m.decode(line, {sender: "agent"})) === line)""",
        [True],
    ),
    "a changed number is written as it is now": (
        """const v = m.parse('{"n":9007199254740993}'); v.n = 4; out(m.encode(v))""",
        ['{"n":4}'],
    ),
    "a key that is given twice is refused": (
        """out(...[String.raw`{"a":1,"a":2}`, String.raw`{"b":[{"a":1,"\\u0061":2}]}`].map((text) => {
          try { m.parse(text); return ""; } catch (error) { return [error.code, error.problems[0].pointer]; } }))""",
        [[-32600, "/a"], [-32600, "/b/0/a"]],
    ),
    "what is no JSON is refused": (
        """out(...["{", "1e400", String.raw`"\\ud800"`, "[1,]", "\\ufeff{}"].map((text) => {
          try { m.parse(text); return 0; } catch (error) { return error.code; } }))""",
        [-32700] * 5,
    ),
    "what is no JSON is told with its place": (
        r"""const texts = ["[1,]", '{"a" 1}', "[1 2]", '{\n"a": tru}', "{a:1}", "[1] 2", '["a', '["\\ud800"]', "[1e400]", ""];
        out(...texts.map((text) => m.validate(text, {sender: "agent"})[0].sentence.replace("this is not JSON: ", "")))""",
        [
            "a value is expected at line 1, column 4",
            "':' is expected at line 1, column 6",
            "',' or ']' is expected at line 1, column 4",
            "a value is expected at line 2, column 6",
            "a key in double quotes is expected at line 1, column 2",
            "the end of the text is expected at line 1, column 5",
            "a whole string, with known escapes, is expected at line 1, column 2",
            "a whole surrogate pair is expected at line 1, column 2",
            "a smaller number is expected at line 1, column 2",
            "a value is expected at line 1, column 1",
        ],
    ),
    "members that every object has are fields like others": (
        """out(m.validateAs(m.PromptRequest, {}).length, m.encode(m.parse('{"__proto__":1,"constructor":2}')),
          m.decodeAs(m.Meta, m.parse('{"__proto__":{"a":1}}')).a === undefined)""",
        [2, '{"__proto__":1,"constructor":2}', True],
    ),
    "a value that is nested deep is refused": (
        """const deep = JSON.parse("[".repeat(5000) + "]".repeat(5000));
        out(m.validateAs(m.ElicitationSchema, deep).length > 0)""",
        [True],
    ),
    "text that is nested deep is refused": (
        """const deep = "[".repeat(100000) + "]".repeat(100000);
        out(...[deep, `{"a":1,"a":${deep}}`].map((text) => {
          try { m.decode(text, {sender: "agent"}); return 0; } catch (error) { return error.code; } }))""",
        [-32700, -32700],
    ),
    "what is given stays as it is": (
        """const freeze = (v) => { if (typeof v === "object" && v !== null) Object.values(v).forEach(freeze); return Object.freeze(v); };
        const call = freeze({sessionUpdate: "tool_call", toolCallId: "t", title: "x", status: 5, locations: [{path: 5}, {path: "/a"}],
          content: [{type: "moon"}]});
        const found = m.decodeAs(m.SessionUpdate, call);
        const wrong = freeze({sessionId: "s", prompt: [{type: "moon"}, {type: "text"}]});
        let refused = ""; try { m.decodeAs(m.PromptRequest, wrong); } catch (error) { refused = error.problems[0].pointer; }
        out(JSON.stringify(found), found.content[0].type === m.UNKNOWN, refused, wrong.prompt[0].type)""",
        [
            '{"sessionUpdate":"tool_call","toolCallId":"t","title":"x","locations":[{"path":"/a"}],"content":[{"type":"moon"}]}',
            True,
            "/prompt/1",
            "moon",
        ],
    ),
    "params that are left out are filled in, and written as they came": (
        """const lines = ['{"jsonrpc":"2.0","id":1,"method":"logout"}', '{"jsonrpc":"2.0","id":1,"method":"logout","params":null}',
          '{"jsonrpc":"2.0","id":1,"result":null}', '{"jsonrpc":"2.0","method":"_tide"}'];
        const read = (line) => m.decode(line, {sender: line.includes("result") ? "agent" : "client", method: "logout"});
        const found = lines.map(read);
        found[1].params._meta = null;
        out(found.map((one) => typeof (one.params ?? one.result)), found.map(m.encode), JSON.stringify(found[0]))""",
        [
            ["object", "object", "object", "undefined"],
            [
                '{"jsonrpc":"2.0","id":1,"method":"logout"}',
                '{"jsonrpc":"2.0","id":1,"method":"logout","params":{"_meta":null}}',
                '{"jsonrpc":"2.0","id":1,"result":null}',
                '{"jsonrpc":"2.0","method":"_tide"}',
            ],
            '{"jsonrpc":"2.0","id":1,"method":"logout"}',
        ],
    ),
    "a result of no known request is refused": (
        """out(...[{}, {pending: () => undefined}, {pending: () => "_tide"}].map((more) => {
          try { return m.decode('{"jsonrpc":"2.0","id":7,"result":{}}', {sender: "agent", ...more}).id; }
          catch (error) { return [error.code, error.problems[0].sentence]; } }))""",
        [*[[-32600, "no request with id 7 is pending, so the result cannot be read"]] * 2, 7],
    ),
    "a sender that is no side of the protocol is refused": (
        """const line = '{"jsonrpc":"2.0","id":1,"method":"logout"}';
        out(...[m.decode, m.validate].flatMap((f) => [{sender: "cleint"}, {}, undefined].map((options) => {
          try { f(line, options); return "silent"; } catch (error) { return `${error.name}: ${error.message}`; } })))""",
        [
            f"TypeError: the sender is one of 'agent', 'client', not {found}"
            for found in ("'cleint'", *["undefined"] * 2)
        ]
        * 2,
    ),
    "numbers that JavaScript writes otherwise": (
        """const texts = ['{"n":[-0,-0.0,0.50,-0.5]}'].map((text) => m.encode(m.parse(text)));
        let refused = ""; try { m.encode({n: [NaN]}); } catch (error) { refused = error.name; }
        out(...texts, refused, m.is(m.Cost, {amount: NaN, currency: "EUR"}))""",
        ['{"n":[-0,-0.0,0.50,-0.5]}', "TypeError", False],
    ),
    "equal keys are told in the order of the value": (
        """let told = []; try { m.parse('{"b":{"x":1,"x":{"y":1,"y":2}},"a":1,"a":{"z":1,"z":2}}'); }
        catch (error) { told = error.problems.map((one) => one.pointer); }
        out(...told)""",
        ["/a", "/b/x", "/b/x/y", "/a/z"],
    ),
    "large values are read and judged": (
        r"""const many = Array.from({length: 40000}, (_, i) => `9007199254740993${i}`), text = `[${many}]`;
        const twice = `{${Array.from({length: 20000}, (_, i) => `"k${i}":1,"k${i}":2`)}}`;
        let told = 0; try { m.parse(twice); } catch (error) { told = error.problems.length; }
        const long = `["${String.raw`\\\n\"\ud83c\udf0a`.repeat(500000)}",-0]`;
        const block = {type: "resource", resource: {uri: "x", blob: "y"}};
        out(m.encode(m.parse(text)) === text, told, m.parse(long)[0].length,
          m.is(m.PromptRequest, {sessionId: "s", prompt: Array(150000).fill(block)}))""",
        [True, 101, 2500000, True],
    ),
    "leniency tells what it leaves out": (
        """const drops = []; const call = {sessionUpdate: "tool_call", toolCallId: "t", title: "x", locations: [{path: "/a"}, {path: 5}]};
        const found = m.decodeAs(m.SessionUpdate, call, {onDrop: (one) => drops.push(one.pointer)});
        let strict = ""; try { m.decodeAs(m.SessionUpdate, {...call, locations: [{path: 5}]}, {lenient: false}); }
        catch (error) { strict = error.problems[0].pointer; }
        out(drops, found.locations.length, strict)""",
        [["/locations/1"], 1, "/locations/0/path"],
    ),
}


@pytest.fixture(scope="module")
def behaviour(folder: Path) -> Mapping[str, Any]:
    """What each snippet puts out, all in one process."""
    script = folder / "snippets.mjs"
    snippets = [f"{json.dumps(name)}: (out) => {{\n{source}\n}}" for name, (source, _) in SNIPPETS.items()]
    lines = [
        'import * as m from "./acp/v1/index.js";',
        f"for (const [name, snippet] of Object.entries({{ {','.join(snippets)} }})) {{",
        "  let found = null; try { snippet((...all) => { found = all; }); } catch (error) { found = error.stack; }",
        "  console.log(JSON.stringify([name, found]));",
        "}",
    ]
    script.write_text("\n".join(lines), "utf-8")
    return dict(run(script))


@pytest.mark.parametrize("name", SNIPPETS)
def test_behaviour(name: str, behaviour: Mapping[str, Any]) -> None:
    assert behaviour[name] == SNIPPETS[name][1]


def test_an_array_is_not_shorter_than_it_may_be_once_items_are_left_out(folder: Path) -> None:
    good, bad = {"value": "a", "name": "b"}, {"name": "b"}
    groups = [[good, bad], [bad], [good]]
    script = folder / "groups.mjs"
    script.write_text(
        f"""import * as m from "./acp/v2/index.js";
        for (const options of {json.dumps(groups)}) {{
          let problems = [];
          try {{ m.decodeAs(m.SessionConfigSelectGroup, {{groupId: "g", name: "n", options}}); }}
          catch (error) {{ problems = error.problems.map((one) => one.pointer); }}
          console.log(JSON.stringify(problems));
        }}""",
        "utf-8",
    )
    assert run(script) == [[], ["/options", "/options/0"], []]


def test_lists_are_judged_without_the_items_that_are_left_out(tmp_path: Path, subjects: Subjects) -> None:
    says = ({"minItems": 1}, {"maxItems": 2}, {"uniqueItems": True}, {"contains": {"const": 2}, "maxContains": 1})
    items = {"type": "integer", "enum": [1, 2, 3]}  # of which a text has both wrong
    lists = [{"type": "array", **one, "items": items, "x-deserialize-skip-invalid-items": True} for one in says]
    definitions = {f"T{index}": {"type": "object", "properties": {"a": one}} for index, one in enumerate(lists)}
    values = [{"a": items} for items in ([1, "x"], ["x"], [1, 2, "x"], [1, 2, 3], ["x", "x", 2], [2, 2])]
    rows = f"[{', '.join(f'm.{name}' for name in definitions)}].map((type) => {json.dumps(values)}.map((v) => told(type, v)))"
    told = "(type, v) => { try { return m.decodeAs(type, v).a; } catch (error) { return error.problems.map((one) => one.pointer); } }"
    found = answers(tmp_path, definitions, f"((told) => {rows})({told})")
    module = subjects.small("left_out", definitions).module
    for name, row in zip(definitions, found, strict=True):
        for value, ours in zip(values, row, strict=True):
            try:
                wanted = json.loads(module.encode(module.decode_as(name, value)))["a"]
            except DecodeError as error:
                wanted = [one.pointer for one in error.problems]
            assert ours == wanted, (name, value)


def test_a_pattern_with_a_named_group(tmp_path: Path) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text(
        json.dumps({"$defs": {"A": {"type": "object", "properties": {"p": {"pattern": "^(?<y>[0-9]{4})$"}}}}}), "utf-8"
    )
    write(tmp_path / "out", schema)
    script = tmp_path / "script.mjs"
    script.write_text(
        'import * as m from "./out/index.js";\nconsole.log(JSON.stringify([m.is(m.A, {p: "2026"}), m.is(m.A, {p: "x"})]));',
        "utf-8",
    )
    assert run(script) == [[True, False]]


def answers(folder: Path, definitions: dict[str, Any], source: str, *, keep_unknown: bool = False) -> Any:
    """What a program prints of the module of some definitions."""
    schema = folder / "schema.json"
    schema.write_text(json.dumps({"$defs": definitions}), "utf-8")
    write(folder / "out", schema, keep_unknown=keep_unknown)
    script = folder / "script.mjs"
    script.write_text(f'import * as m from "./out/index.js";\nconsole.log(JSON.stringify({source}));', "utf-8")
    (found,) = run(script)
    return found


RECURSIVE = {
    "V": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#/$defs/V"}}]},
    "W": {"oneOf": [{"$ref": "#/$defs/Pair"}, {"type": "null"}, {"type": "string"}]},
    "Pair": {"type": "object", "properties": {"a": {"$ref": "#/$defs/W"}}, "required": ["a"]},
}


def test_values_of_recursive_unions_are_judged_at_any_depth(tmp_path: Path) -> None:
    source = """(() => {
      const nest = (v, wrap) => { for (let i = 0; i < 60; i++) v = wrap(v); return v; };
      const list = (v) => [v], pair = (a) => ({ a });
      const told = (type, v) => { try { m.decodeAs(type, v); return []; } catch (error) { return error.problems; } };
      const values = [[m.V, nest(1, list)], [m.W, nest("x", pair)], [m.V, nest("x", list)], [m.W, nest(1, pair)]];
      return values.map(([type, v]) => [told(type, v), m.validateAs(type, v)].map((all) => all.map((one) => one.sentence)));
    })()"""
    *good, array, pair = answers(tmp_path, RECURSIVE, source)
    assert good == [[[], []], [[], []]]
    nearest = "(the nearest of 2 alternatives)"
    assert array == [[f"an array or an integer is expected, not 'x' {nearest}"]] * 2
    assert pair == [[f"an object or a string is expected, not 1 {nearest}"]] * 2


def test_a_long_chain_of_references_is_judged_by_every_definition_of_it(tmp_path: Path) -> None:
    chain = {f"R{n}": {"type": "object", "properties": {"next": {"$ref": f"#/$defs/R{n + 1}"}}} for n in range(250)}
    definitions = {**chain, "R250": {"type": "object", "properties": {"next": {"type": "null"}}}}
    judged = ", ".join(f"[m.is(m.{name}, {{ next: {{}} }}), m.is(m.{name}, {{ next: 5 }})]" for name in definitions)
    *others, last = answers(tmp_path, definitions, f"[{judged}]")
    assert others == [[True, False]] * 250
    assert last == [False, False]


def test_multiples_are_those_of_the_text_of_numbers(tmp_path: Path) -> None:
    steps = {"Cent": 0.01, "Half": 2.5, "Large": 1e300, "Three": 3}
    definitions = {name: {"type": "number", "multipleOf": step} for name, step in steps.items()}
    rows = {
        "Cent": ([19.99, 0.07, 1.15, -4.35, 1e300, 0], [0.005, 5e-324]),
        "Half": ([5, -7.5, 1e20], [9007199254740992, 5e-324, 1]),
        "Large": ([1e300, 3e300], [1e299]),
        "Three": ([-3, 3e300], [1, 1.5]),
    }
    judged = ", ".join(
        f"{json.dumps(both)}.map((all) => all.map((v) => m.is(m.{name}, v)))" for name, both in rows.items()
    )
    wanted = [[[True] * len(good), [False] * len(bad)] for good, bad in rows.values()]
    assert answers(tmp_path, definitions, f"[{judged}]") == wanted


def test_a_tag_alone_leads_to_the_branch_that_is_tried(tmp_path: Path) -> None:
    branch = {"type": "object", "required": ["kind"]}
    known = [{**branch, "properties": {"kind": {"const": f"known {index}"}}} for index in range(2000)]
    definitions = {"U": {"oneOf": known}, "L": {"type": "array", "items": {"$ref": "#/$defs/U"}}}
    source = """(() => {
      const values = Array.from({ length: 200 }, () => ({ kind: "new" }));
      return [m.decodeAs(m.L, values).filter((one) => one.kind === m.UNKNOWN).length, m.validateAs(m.L, values)[0].pointer];
    })()"""
    assert answers(tmp_path, definitions, source, keep_unknown=True) == [200, "/0/kind"]


@pytest.mark.parametrize(
    ("tag", "names"), [("kind", ["tag", "raw"]), ("tag", ["tag_", "raw"]), ("raw", ["tag", "raw_"])]
)
def test_copies_of_unknown_variants_are_written_as_they_came(tag: str, names: list[str], tmp_path: Path) -> None:
    tag_name, raw_name = names
    source = f"""(() => {{
      const raw = {{ {tag}: "zz", x: 5 }};
      const found = m.decodeAs(m.U, raw);
      const made = {{ {tag}: m.UNKNOWN, {tag_name}: "zz", {raw_name}: raw }};
      const held = m.encode({{ all: [{{ ...found }}, made, found], {tag}: 1 }});
      let refused = "";
      try {{ m.encode([{{ {tag}: m.UNKNOWN }}]); }} catch (error) {{ refused = error.name; }}
      return [found.{tag} === m.UNKNOWN, found.{tag_name}, found.{raw_name}, held, m.validateAs(m.U, made),
              m.validateAs(m.U, raw), m.encode(m.decodeAs(m.U, made)), JSON.stringify(found), refused];
    }})()"""
    raw = {tag: "zz", "x": 5}
    text = json.dumps(raw, separators=(",", ":"))
    found = answers(tmp_path, {"U": variants(tag)}, source, keep_unknown=True)
    assert found[:4] == [True, "zz", raw, f'{{"all":[{text},{text},{text}],"{tag}":1}}']
    assert found[4] == found[5] != []
    assert found[6:] == [text, text, "TypeError"]
    (tmp_path / "use.ts").write_text(
        'import { type U, UNKNOWN } from "./out/index.js";\nexport function told(u: U): string | number | undefined {\n'
        f"  if (u.{tag} !== UNKNOWN) return u.x;\n"
        f"  const raw: {{ [key: string]: unknown }} = u.{raw_name};\n  return `${{u.{tag_name}}} ${{Object.keys(raw)}}`;\n}}\n",
        "utf-8",
    )
    (tmp_path / "package.json").write_text('{"type": "module"}', "utf-8")
    assert compiled(tmp_path, tmp_path / "use.ts") == ""


def test_long_numbers_stay_in_place_where_items_are_left_out(tmp_path: Path) -> None:
    items = {"type": "array", "items": {"type": "number"}, "x-deserialize-skip-invalid-items": True}
    source = """["n"].map(() => m.encode(m.decodeAs(m.A, m.parse(
      '{"a":["x",1,12345678901234567891,"y",12345678901234567892,12345678901234567891,2,"z"]}'))))[0]"""
    text = '{"a":[1,12345678901234567891,12345678901234567892,12345678901234567891,2]}'
    assert answers(tmp_path, {"A": {"type": "object", "properties": {"a": items}}}, source) == text


def test_a_constant_with_the_name_of_the_prototype(tmp_path: Path) -> None:
    constant = json.loads('{"__proto__": {"a": 1}, "b\\"__proto__": null}')
    definitions = {"C": {"const": constant}, "E": {"enum": [constant, 1]}}
    texts = json.dumps([json.dumps(constant), '{"a":1}', "{}"])
    source = f"{texts}.map((text) => [m.C, m.E].map((type) => m.is(type, JSON.parse(text))))"
    assert answers(tmp_path, definitions, source) == [[True, True], [False, False], [False, False]]


def test_a_pattern_that_the_engine_lacks_refuses_nothing(tmp_path: Path) -> None:
    named = "^(?<a>x)(?<a>y)$|(?i:abc)"
    definitions = {
        "P": {"type": "string", "pattern": named},
        "N": {"type": "object", "patternProperties": {named: {"type": "integer"}}},
    }
    assert answers(tmp_path, definitions, '[m.is(m.P, "zz"), m.is(m.P, 5), m.is(m.N, {zz: "a"})]') == [
        True,
        False,
        True,
    ]


def test_patterns_that_the_engine_lacks_are_listed(tmp_path: Path) -> None:
    patterns = {"P": "(?<a>x)(?<a>y)", "Q": "a{2,1}", "R": "^a"}
    definitions = {name: {"type": "string", "pattern": pattern} for name, pattern in patterns.items()}
    assert answers(tmp_path, definitions, '[m.is(m.Q, "zz"), m.UNENFORCED]') == [True, [patterns["P"], patterns["Q"]]]


def variants(tag: str) -> dict[str, Any]:
    return {
        "oneOf": [
            {"type": "object", "properties": {tag: {"const": one}, "x": {"type": "integer"}}, "required": [tag]}
            for one in ("a", "b")
        ]
    }


FLAG: dict[str, Any] = {"type": ["boolean", "object"], "anyOf": [{"type": "boolean"}, {"type": "object"}]}

SENTENCES: dict[str, tuple[Any, Any, list[list[str]]]] = {
    "a set of one": ({"enum": ["a"]}, "b", [["", "'b' is not one of 'a'"]]),
    "a constant": ({"const": "a"}, "b", [["", "'b' is not 'a', the only value allowed here"]]),
    "a constant before its type": (
        {"anyOf": [{"properties": {"a": {"const": "x", "type": "string"}}}, {"const": 5}], "type": "object"},
        {"a": 1},
        [
            ["/a", "1 is not 'x', the only value allowed here (the nearest of 2 alternatives)"],
            ["/a", "a string is expected, not 1"],
        ],
    ),
    "a type that an alternative refuses twice": (
        {"anyOf": [{"type": "boolean"}, {"type": "array", "items": FLAG}]},
        ["a"],
        [["/0", "true or false or an object is expected, not 'a' (the nearest of 2 alternatives)"]],
    ),
    "null by another name": (
        {
            "$defs": {"Nothing": {"$anchor": "nothing", "type": "null"}},
            "anyOf": [{"$ref": "#nothing"}, {"type": "boolean"}, {"type": "array"}, {"enum": ["tide", "reef"]}],
        },
        "tid",
        [["", "'tid' is not one of 'tide', 'reef'; did you mean 'tide'? (the nearest of 3 alternatives)"]],
    ),
    "an object beside strings": (
        {
            "oneOf": [
                {"type": "string"},
                {"type": "object", "properties": {"to": {"enum": ["a", "b"]}}, "required": ["to"]},
            ]
        },
        {"to": None},
        [["/to", "null is not one of 'a', 'b' (the nearest of 2 alternatives)"]],
    ),
    "a set within an alternative": (
        {"anyOf": [{"anyOf": [{"enum": ["all"]}, {"type": "array"}]}, {"type": "object", "required": ["include"]}]},
        "EUR",
        [["", "'EUR' is not one of 'all' (the nearest of 2 alternatives)"]],
    ),
    "fields that are required in another order": (
        {"properties": {"a": True, "b": True}, "required": ["b", "c", "a"]},
        {},
        [["", f"the field '{name}' is required"] for name in ("b", "c", "a")],
    ),
    "a text that is empty": ({"enum": ["-", "_"]}, "", [["", "'' is not one of '-', '_'; did you mean '_'?"]]),
    "a set of other types": ({"type": "string", "enum": [None]}, None, [["", "a string is expected, not null"]]),
    "a name": (
        {"type": "object", "propertyNames": {"maxLength": 1}},
        {"ab": 1},
        [["", "the name 'ab' is not allowed here: the string's length may be 1 at most"]],
    ),
    "a field without a name": ({"type": "object", "required": ["_"]}, {"": 1}, [["", "the field '_' is required"]]),
    "constants of which two branches have one": (
        {"oneOf": [{"enum": ["a", "b"]}, {"const": "a"}]},
        5,
        [["", "5 is not one of 'a', 'b', 'a'"]],
    ),
    "a long limit": ({"maximum": 9007199254740993}, 2**54, [["", "the number may be 9007199254740993 at most"]]),
    "a long constant": (
        {"const": 9007199254740993},
        1,
        [["", "1 is not 9007199254740993, the only value allowed here"]],
    ),
    "long constants": (
        {"enum": [9007199254740993, "a"]},
        None,
        [["", "null is not one of 9007199254740993, 'a'"]],
    ),
    "a tag beside branches that are no objects": (
        {"anyOf": [*variants("kind")["oneOf"], {"type": "string"}, {"type": "array"}]},
        {"kind": 3},
        [["", "an array or a string is expected, not an object"]],
    ),
    "a limit with a fraction of zero": ({"minimum": 5.0}, 1, [["", "the number must be 5.0 or more"]]),
    "items that nothing evaluates": (
        {"prefixItems": [True], "unevaluatedItems": {"type": "string"}},
        [1, 2],
        [["", "the value does not satisfy the keyword 'unevaluatedItems'"]],
    ),
    "items of what is wrong otherwise": (
        {"minItems": 3, "unevaluatedItems": False},
        [1],
        [["", "the array's length must be 3 or more"]],
    ),
    "members that nothing evaluates": (
        {"properties": {"a": True}, "unevaluatedProperties": {"type": "string"}},
        {"a": 1, "b": 2, "c": None},
        [["/b", "a string is expected, not 2"], ["/c", "a string is expected, not null"]],
    ),
    "null beside what takes it": (
        {"oneOf": [{"minimum": 3}, {"type": "null"}]},
        None,
        [["", "more than one of the alternatives fits, and only one may"]],
    ),
}


def test_a_tag_that_is_any_text_but_the_known_ones_narrows(tmp_path: Path) -> None:
    other = {
        "type": "object",
        "properties": {"kind": {"type": "string", "not": {"enum": ["a", "b"]}}},
        "required": ["kind"],
    }
    definitions = {"U": {"anyOf": [*variants("kind")["oneOf"], {"$ref": "#/$defs/Other"}]}, "Other": other}
    source = 'm.decodeAs(m.U, {kind: "c", y: 1}).kind === m.UNKNOWN && m.is(m.U, {kind: "c"})'
    assert answers(tmp_path, definitions, source) is True
    (tmp_path / "use.ts").write_text(
        'import { type Notifications, type U, UNKNOWN } from "./out/index.js";\n'
        "export function told(u: U): string | number | undefined {\n"
        '  switch (u.kind) { case "a": case "b": return u.x; case UNKNOWN: return u.tag; }\n}\n'
        "// @ts-expect-error: there is none\n"
        'export const none: keyof Notifications = "tide";\n',
        "utf-8",
    )
    (tmp_path / "package.json").write_text('{"type": "module"}', "utf-8")
    assert compiled(tmp_path, tmp_path / "use.ts") == ""


def test_sentences_of_other_schemas_are_those_of_python(tmp_path: Path, subjects: Subjects) -> None:
    names = dict(zip(SENTENCES, (f"T{index}" for index in range(len(SENTENCES))), strict=True))
    definitions = {names[key]: schema for key, (schema, _, _) in SENTENCES.items()}
    rows = ", ".join(f"[m.{names[key]}, {json.dumps(value)}]" for key, (_, value, _) in SENTENCES.items())
    told = f"[{rows}].map(([type, v]) => m.validateAs(type, v).map((one) => [one.pointer, one.sentence]))"
    found = dict(zip(SENTENCES, answers(tmp_path, definitions, told), strict=True))
    python = subjects.small("sentences", definitions)
    for key, (_, value, wanted) in SENTENCES.items():
        assert [[one.pointer, one.sentence] for one in python.module.validate_as(names[key], value)] == wanted, key
        assert found[key] == wanted, key


def test_what_several_definitions_share_has_the_name_of_none(folder: Path) -> None:
    source = (folder / "acp" / "v1" / "index.js").read_text("utf-8")
    rows = re.findall(r'^  \["(authenticate|logout)", "agent", ([^,]*), ([^,\]]*)', source, re.MULTILINE)
    assert len(rows) == 2
    for name, *checkers in rows:
        own = [f"${name.title()}{end}" for end in ("Request", "Response")]
        assert all(one == mine or one.startswith("k") for one, mine in zip(checkers, own, strict=True)), rows


def test_the_example_of_a_package_reads_messages_of_its_modules(tmp_path: Path) -> None:
    node_modules = tmp_path / "node_modules"
    for name, place, side in (("mcp/2025-06-18", "v1", "client"), ("acp/v2", "tide/v2", "agent")):
        package = node_modules / name.partition("/")[0]
        write(package, ROOT / "schema" / name, package=place.replace("/", "."), distribution=package.name)
        (program,) = re.findall(r"```js\n(.*?)```", (package / "README.md").read_text("utf-8"), re.DOTALL)
        program = program.replace("MODULE", place).replace("SIDE", f'"{side}"')
        (tmp_path / f"{package.name}.ts").write_text(f"declare const line: string;\n{program}", "utf-8")
    (tmp_path / "package.json").write_text('{"type": "module"}', "utf-8")
    assert compiled(tmp_path, "mcp.ts", "acp.ts") == ""


def test_the_schema_keeps_its_names(tmp_path: Path) -> None:
    schema = tmp_path / "schema.json"
    names = [
        "Message",
        "Request",
        "Type",
        "Unknown",
        "DecodeError",
        "UNKNOWN",
        "Error",
        "Array",
        "Record",
        "Pick",
        "Readonly",
    ]
    schema.write_text(
        json.dumps({"$defs": {name: {"type": "object", "properties": {"a": {"type": "array"}}} for name in names}}),
        "utf-8",
    )
    write(tmp_path / "out", schema)
    assert compiled(tmp_path, tmp_path / "out" / "index.d.ts") == ""
    script = tmp_path / "script.mjs"
    script.write_text(
        'import { AnyDecodeError, Error as Own, is } from "./out/index.js";\n'
        "console.log(JSON.stringify([is(Own, {}), new AnyDecodeError(1, []) instanceof Error]));",
        "utf-8",
    )
    assert run(script) == [[True, True]]


def test_one_file(tmp_path: Path) -> None:
    write(tmp_path, ROOT / "schema" / "acp" / "v1", package="acp-v1", options={"layout": "file"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["acp-v1.d.ts", "acp-v1.js"]
    *failed, _ = run(HERE / "vectors.mjs", tmp_path / "acp-v1.js", ROOT / "generated" / "vectors" / "acp" / "v1")
    assert not failed
    use = (HERE / "use.ts").read_text("utf-8").replace("./acp/v1/index.js", "./acp-v1.js")
    (tmp_path / "use.ts").write_text(use, encoding="utf-8")
    (tmp_path / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    assert compiled(tmp_path, tmp_path / "use.ts") == ""


def test_a_package_of_npm(tmp_path: Path) -> None:
    for name in ("acp/v1", "acp/v2"):
        given: Any = {
            "package": name.partition("/")[2],
            "distribution": "@tide/acp",
            "license": "MIT",
            "version": "1.2.3",
        }
        write(tmp_path / "node_modules" / "@tide" / "acp", ROOT / "schema" / name, **given)
    script = tmp_path / "script.mjs"
    script.write_text(
        'import { decode } from "@tide/acp/v1";\nimport * as v2 from "@tide/acp/v2";\n'
        'const line = \'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}\';\n'
        "console.log(JSON.stringify([decode(line, {sender: 'client'}).params, typeof v2.encode]));",
        "utf-8",
    )
    assert run(script) == [[{"sessionId": "s"}, "function"]]


@pytest.mark.parametrize("layout", ["package", pytest.param("file", marks=pytest.mark.exhaustive)])
def test_modules_that_hold_their_types(tmp_path: Path, layout: str) -> None:
    options = {"language": "typescript", "layout": layout}
    write(tmp_path, ROOT / "schema" / "acp" / "v1", package="v1", distribution="tide", options=options)
    module = tmp_path / ("v1.ts" if layout == "file" else "v1/index.ts")
    assert [*tmp_path.rglob("*.ts")] == [module]
    use = (HERE / "use.ts").read_text("utf-8").replace("./acp/v1/index.js", f"./{module.relative_to(tmp_path)}")
    (tmp_path / "use.ts").write_text(use, encoding="utf-8")
    (tmp_path / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    emit = ["--outDir", "out", "--rewriteRelativeImportExtensions", "--erasableSyntaxOnly"]
    assert compiled(tmp_path, tmp_path / "use.ts", emit=emit) == ""
    vectors = ROOT / "generated" / "vectors" / "acp" / "v1"
    made = tmp_path / "out" / module.relative_to(tmp_path).with_suffix(".js")
    *failed, last = run(HERE / "vectors.mjs", made, vectors)
    assert not failed
    assert last["rows"] > 200
