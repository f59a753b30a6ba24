"""Targets of others: the contract, the JSON of the IR, programs, options, and the examples of the page about them."""

from __future__ import annotations

import importlib
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

import commands
from acpgen import Faults, Tree, generate, ir, load, plugins, write
from acpgen.meaning import interchange
from acpgen.meaning.definition_order import order_definitions, references
from acpgen.meaning.understanding import understand
from acpgen.plugins import Option, Settings, Target, exercise
from acpgen.targets import options, process
from acpgen.targets.built_in import BUILT_IN
from acpgen.targets.installed import TARGETS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "schema/pages/plugins.md").read_text("utf-8")
SCHEMA = ROOT / "tests/golden/ir.schema.json"
PROTOCOLS = ("acp/v1", "acp/v2", "acp/unstable/v1", "mcp/2025-06-18")
THING = '{"$defs": {"Thing": {"type": "object", "properties": {"name": {"type": "string"}}}}}'


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def run(arguments: list[str], cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command where the targets that are installed in the folder are found."""
    known = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(cwd / "packages"), *sys.path])
        importlib.invalidate_caches()
        ran = commands.acpgen(arguments, cwd=cwd, environment={"XDG_CACHE_HOME": str(cwd / "cache"), **variables})
    for name in [name for name in sys.modules if name not in known and name.endswith("_target")]:
        del sys.modules[name]
    return subprocess.CompletedProcess(ran.args, ran.returncode, ran.stdout.decode(), ran.stderr.decode())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "schema.json").write_text(THING)
    (tmp_path / "bin").mkdir()
    return tmp_path


def program(folder: Path, name: str, code: str) -> Path:
    path = folder / "bin" / f"acpgen-target-{name}"
    path.write_text(f"#!{sys.executable}\n{code}")
    path.chmod(0o755)
    return path


def installed(folder: Path, code: str, name: str = "mine") -> None:
    packages = folder / "packages"
    (packages / f"{name}-1.0.dist-info").mkdir(parents=True)
    (packages / f"{name}-1.0.dist-info/METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (packages / f"{name}-1.0.dist-info/entry_points.txt").write_text(
        f"[acpgen.targets]\n{name} = {name}_target:target\n"
    )
    (packages / f"{name}_target.py").write_text(code)


# --- the IR as JSON --------------------------------------------------------------------------------------------------


def test_the_schema_that_is_checked_in_is_that_of_the_model() -> None:
    assert json.loads(SCHEMA.read_text("utf-8")) == interchange.make_schema()
    assert interchange.make_schema()["$id"] == f"urn:acpgen:ir:{ir.VERSION}"


@pytest.mark.parametrize("name", PROTOCOLS)
def test_what_is_written_follows_the_schema_and_is_read_again_as_the_same(name: str) -> None:
    protocol, _ = understand(load(ROOT / "schema" / name, name=name))
    written = json.loads(json.dumps(interchange.dump(protocol)))
    assert [
        error.message for error in jsonschema_rs.validator_for(interchange.make_schema()).iter_errors(written)
    ] == []
    again = interchange.load(written)
    assert again == protocol
    assert interchange.dump(again) == written
    assert {type(definition) for definition in again.definitions.values()} >= {ir.Record}
    assert set(again.framing) == set(protocol.framing)


def test_each_sample_follows_the_schema_and_every_class_of_the_model_is_in_some_protocol() -> None:
    validator = jsonschema_rs.validator_for(interchange.make_schema())
    kinds: set[str] = set()
    texts = [
        *plugins.SAMPLES.values(),
        (
            '{"$defs": {"N": false, "M": {"type": "object", "additionalProperties": {"type": "boolean"}}, '
            '"D": {"type": "object", "properties": {"a": {"type": "integer", "default": 3}, "n": {"type": "null"}}}}}'
        ),
    ]
    for text in texts:
        written = interchange.dump(plugins.sample(text)[0])
        assert validator.is_valid(written)
        kinds |= set(re.findall(r'"kind": "([A-Z]\w+)"', json.dumps(written)))
    for name in PROTOCOLS[:2]:
        kinds |= set(
            re.findall(
                r'"kind": "([A-Z]\w+)"', json.dumps(interchange.dump(understand(load(ROOT / "schema" / name))[0]))
            )
        )
    everything = {
        kind for kind, value in interchange.make_schema()["$defs"].items() if "kind" in value.get("properties", {})
    }
    assert everything - kinds <= {"Method"}


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        (None, "no protocol"),
        ({"kind": "Record"}, "no protocol"),
        ({"kind": "Protocol"}, "version None"),
        ({"kind": "Protocol", "ir": "2.0"}, "version 2.0"),
        ({"kind": "Protocol", "ir": ir.VERSION}, "not whole"),
        ({"kind": "Protocol", "ir": ir.VERSION, "name": "", "version": None, "methods": [], "sides": [],
          "definitions": {"A": {"kind": "Circle"}}}, "no kind 'Circle'"),
    ],
)  # fmt: skip
def test_what_is_no_ir_of_this_version_is_refused_in_words(written: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        interchange.load(written)


def test_members_that_a_later_minor_version_adds_are_passed_over() -> None:
    protocol, _ = plugins.sample(THING)
    written = interchange.dump(protocol)
    assert isinstance(written, dict)
    assert interchange.load({**written, "ir": "1.99", "colour": "blue"}) == protocol


# --- an order of definitions -----------------------------------------------------------------------------------------


def test_each_group_refers_only_to_itself_and_to_earlier_ones() -> None:
    for name in PROTOCOLS:
        protocol, _ = understand(load(ROOT / "schema" / name))
        groups, known = order_definitions(protocol), set[str]()
        for group in groups:
            known |= {definition.name for definition in group}
            assert all(set(references(definition)) <= known for definition in group)
        assert sorted(known) == sorted(protocol.definitions)
        assert sum(map(len, groups)) == len(protocol.definitions)


def test_drawn_graphs_fall_into_circles_and_nothing_else() -> None:
    for seed in range(60):
        random_ = random.Random(seed)
        size = random_.randrange(1, 12)
        edges = {n: [random_.randrange(size) for _ in range(random_.randrange(3))] for n in range(size)}
        definitions = {
            f"D{n}": ir.Alias(f"D{n}", ir.AnyOf(tuple(ir.Ref(f"D{other}") for other in others)))
            for n, others in edges.items()
        }
        groups = order_definitions(ir.Protocol("drawn", None, definitions, (), ()))
        reach = {n: {n} for n in edges}
        for _ in edges:
            reach = {n: {n}.union(*(reach[other] for other in others)) for n, others in edges.items()}
        alike = {frozenset(f"D{m}" for m in edges if m in reach[n] and n in reach[m]) for n in edges}
        assert {frozenset(definition.name for definition in group) for group in groups} == alike


def test_a_long_chain_takes_no_recursion() -> None:
    chain = {f"D{n}": ir.Alias(f"D{n}", ir.Ref(f"D{n + 1}") if n < 5000 else ir.Null()) for n in range(5001)}
    assert [group[0].name for group in order_definitions(ir.Protocol("chain", None, chain, (), ()))][:2] == [
        "D5000",
        "D4999",
    ]


# --- options ---------------------------------------------------------------------------------------------------------

DECLARED = (
    Option("indent", "Spaces.", 4),
    Option("style", "How.", "plain", ("plain", "fancy")),
    Option("strict", "Whether.", default=False),
    Option("roots", "Which.", ("a",)),
)


def checked(given: Mapping[str, object]) -> tuple[Mapping[str, object], list[str]]:
    faults: list[Any] = []
    return options.check_options(DECLARED, given, "here", "key", faults), [str(fault) for fault in faults]


def test_what_nobody_gives_has_its_default_and_text_stands_for_other_kinds() -> None:
    assert checked({}) == ({"indent": 4, "style": "plain", "strict": False, "roots": ("a",)}, [])
    told = {"indent": "2", "style": "fancy", "strict": "true", "roots": "b,c"}
    meant = {"indent": 2, "style": "fancy", "strict": True, "roots": ("b", "c")}
    assert checked(told) == (meant, [])
    assert checked({**meant, "roots": ["b", "c"]}) == (meant, [])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"indnt": 4}, "the key 'key.indnt' is not known. Did you mean 'indent'?"),
        ({"indent": "four"}, "'key.indent' must be an integer"),
        ({"indent": True}, "must be an integer"),
        ({"indent": "9" * 30}, "must be an integer"),
        ({"style": "odd"}, "must be one of 'plain', 'fancy'"),
        ({"style": 3}, "must be one of"),
        ({"strict": "yes"}, "must be true or false"),
        ({"roots": [1]}, "must be a list of texts"),
        ({"roots": {"a": 1}}, "must be a list of texts"),
    ],
)
def test_an_option_that_is_not_there_or_of_another_kind_is_a_fault(given: Mapping[str, object], told: str) -> None:
    _, (fault,) = checked(given)
    assert told.replace("'", "") in fault.replace("'", "")


def test_an_option_of_an_unknown_name_is_told_with_the_nearest_one(project: Path) -> None:
    (project / "pyproject.toml").write_text(
        '[tool.acpgen.outputs."out"]\ntarget = "ir"\nprotocols = ["p"]\noptions = { prety = true }\n'
    )
    (project / "schema/p").mkdir(parents=True)
    (project / "schema/p/schema.json").write_text(THING)
    ran = run(["generate"], project)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("error: pyproject.toml: ")
    assert "tool.acpgen.outputs.out.options.prety" in ran.stderr
    assert "has no options" in ran.stderr


# --- packages --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("raise KeyError('x')", "KeyError: 'x'"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("return render(protocol, bundle, settings)", "RecursionError"),
        ("return {'../x': ''}", "it made the file '../x', a path that no output can have"),
        ("return {'/etc/x': ''}", "a path that no output can have"),
        ("return {'a': '\\ud800'}", "a text that is not Unicode"),
        ("return {'a.txt': '', 'A.txt': ''}", "which are the same file on some systems"),
        ("return {'a': '', 'a/b/c': ''}", "'a/b/c' needs a folder"),
        ("raise BaseException('x')", "BaseException: x"),
        ("raise type('Odd', (Exception,), {'__str__': lambda self: 1 / 0})", "failed: Odd. Nothing was written"),
        ("import asyncio; raise asyncio.CancelledError", "CancelledError"),
        ("return {}", "it made no file"),
        ("return type('M', (dict,), {'items': lambda self: 1 / 0})()", "ZeroDivisionError"),
        ("return ['a']", "it did not return a mapping"),
        ("return {'a': 3}", "it did not return a mapping"),
    ],
)
def test_whatever_goes_wrong_in_a_target_is_one_line_with_its_name(project: Path, body: str, told: str) -> None:
    installed(project, f"def target(protocol, bundle, settings):\n    render = target\n    {body}\n")
    ran = run(["generate", "--schema", "schema.json", "--target", "bundle,mine", "--out", "out"], project)
    assert (ran.returncode, ran.stdout) == (2, "")
    line, _ = ran.stderr.splitlines()
    assert line.startswith("error: mine_target:target: the target 'mine' failed: ")
    assert told in line
    assert not (project / "out").exists()


@pytest.mark.parametrize("wait", ["pass", "time.sleep(60)", "held()"])
def test_a_target_that_goes_on_and_on_is_ended_and_told(project: Path, wait: str) -> None:
    held = "def held():\n    try:\n        while True: pass\n    except Exception: held()\n"
    installed(project, f"import time\n{held}def target(protocol, bundle, settings):\n    while True: {wait}\n")
    arguments = ["generate", "--schema", "schema.json", "--target", "bundle,mine", "--out", "out"]
    ran = run(arguments, project, ACPGEN_TARGET_SECONDS="0.5")
    assert (ran.returncode, ran.stdout) == (2, "")
    line, _ = ran.stderr.splitlines()
    assert line.startswith("error: mine_target:target: the target 'mine' failed: it did not answer within 0.5 seconds")
    assert not (project / "out").exists()


def test_a_target_changes_nothing_that_others_are_given(project: Path) -> None:
    body = "bundle.schema.clear(); protocol.definitions.clear(); return {'a.txt': ''}"
    installed(project, f"def target(protocol, bundle, settings):\n    {body}\n")
    for targets, folder in (("bundle,ir", "alone"), ("mine,bundle,ir", "beside")):
        ran = run(["generate", "--schema", "schema.json", "--target", targets, "--out", folder], project)
        assert ran.returncode == 0, ran.stderr
    made = {path.name: path.read_bytes() for path in (project / "alone").glob("[a-z]*")}
    assert made and made == {name: (project / "beside" / name).read_bytes() for name in made}


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ("[Option('a', 'x', 'y')]", "its options are not a tuple of acpgen.plugins.Option"),
        ("(3,)", "its options are not a tuple of acpgen.plugins.Option"),
        ("(Option('a b', 'x', 'y'),)", "the name of an option is in kebab case, such as 'line-length': 'a b'"),
        ("(Option(3, 'x', 'y'),)", "in kebab case"),
        ("(Option('a', 'x', 'y'), Option('a', 'x', 'z'))", "it declares the option 'a' twice"),
        ("(Option('a', 3, 'y'),)", "the description of the option 'a' is not a string"),
        (
            "(Option('a', 'x', None),)",
            "the default of the option 'a' is not a string, boolean, integer or tuple of strings",
        ),
        ("(Option('a', 'x', 1.5),)", "the default of the option 'a' is not a string"),
        ("(Option('a', 'x', ['y']),)", "the default of the option 'a' is not a string"),
        ("(Option('a', 'x', 'y', ['y', 3]),)", "the choices of the option 'a' are not a tuple of strings"),
        ("(Option('a', 'x', 'y', ('z',)),)", "the default of a is not among its choices"),
    ],
)
def test_options_that_are_declared_wrongly_are_told(project: Path, declared: str, told: str) -> None:
    code = f"from acpgen.plugins import Option, Target\ntarget = Target(lambda *_: {{'a': 'b'}}, 'x', {declared})\n"
    installed(project, code)
    for arguments, exit_code in (
        (["targets", "mine"], 1),
        (["generate", "--schema", "schema.json", "--target", "mine"], 2),
    ):
        ran = run([*arguments, *(["--out", "out"] if exit_code == 2 else [])], project)
        assert (ran.returncode, ran.stdout) == (exit_code, "")
        line, _ = ran.stderr.splitlines()
        assert line.startswith("error: mine_target:target: the target 'mine' failed: ")
        assert told in line
    assert not (project / "out").exists()


def test_two_targets_of_one_name_are_told(project: Path) -> None:
    installed(project, "target = lambda *_: {'a': 'b'}\n")
    installed(project, "target = lambda *_: {'a': 'c'}\n", "other")
    entry = project / "packages/other-1.0.dist-info/entry_points.txt"
    entry.write_text("[acpgen.targets]\nmine = other_target:target\nbundle = other_target:target\n")
    ran = run(["generate", "--schema", "schema.json", "--target", "mine", "--out", "out"], project)
    assert (ran.returncode, ran.stdout) == (2, "")
    told = "error: mine_target:target and other_target:target: the target 'mine' failed: several packages have a target of this name"
    assert ran.stderr.startswith(told)
    listed = run(["targets"], project)
    assert listed.returncode == 1
    assert listed.stderr.splitlines()[0].startswith(told)
    assert "other_target:target: the target 'bundle' failed: acpgen has a target of this name" in listed.stderr


@pytest.mark.parametrize(
    "code", ["raise ImportError('nothing there')", "target = 3", "import sys; sys.exit(1)", "def ("]
)
def test_a_target_that_cannot_be_loaded_is_told_also_in_the_list(project: Path, code: str) -> None:
    installed(project, code)
    ran = run(["targets"], project)
    assert ran.returncode == 1
    assert "the target 'mine' failed: " in ran.stderr
    assert [line.partition(": ")[0] for line in ran.stderr.splitlines()] == ["error", "hint"]
    listed = [line.partition(":")[0] for line in ran.stdout.splitlines() if not line.startswith(" ")]
    assert listed == sorted(BUILT_IN)


def test_a_target_that_refuses_a_protocol_is_quoted(project: Path) -> None:
    installed(
        project,
        "from acpgen.plugins import Target, refuse\n"
        "def render(protocol, bundle, settings):\n"
        "    raise refuse(protocol, 'mine', 'it has no methods. Give it some')\n"
        "target = Target(render)\n",
    )
    ran = run(["generate", "--schema", "schema.json", "--target", "mine", "--out", "out"], project)
    assert ran.returncode == 2
    assert "the target 'mine' cannot use it: it has no methods. Give it some." in ran.stderr


# --- programs --------------------------------------------------------------------------------------------------------

DESCRIBED = """\
import json, sys
asked = json.load(sys.stdin)
if asked["request"] == "describe":
    print(json.dumps({"about": "Odd."}))
    sys.exit()
"""


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("sys.exit(7)", "it ended with exit code 7. Nothing"),
        ("import os; os.kill(os.getpid(), 9)", "it ended with signal 9"),
        ("print('{')", "its answer is not JSON"),
        ("print('[]')", "its answer is not an object"),
        ('print(\'{"files": {"a": "1", "a": "2"}}\')', "its answer is not JSON"),
        ("sys.stdout.buffer.write(b'\\xff')", "its answer is not UTF-8"),
        ("print('{}')", "it did not return a mapping"),
        ("print('{\"files\": {}}')", "it made no file"),
        ('print(\'{"files": {"../a": ""}}\')', "a path that no output can have"),
        ("import time; time.sleep(60)", "it did not answer within 2 seconds"),
        (
            "import os\nif not os.fork():\n    import time; time.sleep(60)\nprint('{\"files\": {}}')",
            "did not answer within 2 seconds",
        ),
    ],
)
def test_whatever_goes_wrong_in_a_program_is_one_line_with_its_name(project: Path, code: str, told: str) -> None:
    program(project, "odd", DESCRIBED + code)
    ran = run(
        ["generate", "--schema", "schema.json", "--target", "bundle,odd", "--out", "out"],
        project,
        PATH=f"{project / 'bin'}{os.pathsep}{os.environ['PATH']}",
        ACPGEN_TARGET_SECONDS="2",
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    line, _ = ran.stderr.splitlines()
    assert "acpgen-target-odd: the target 'odd' failed: " in line
    assert told in line
    assert ".." not in line.replace("'../a'", "")
    assert not (project / "out").exists()


@pytest.mark.parametrize(("code", "status"), [("sys.exit(1)", 2), ('print(\'{"files": {"a": "1"}}\')', 0)])
def test_what_a_program_writes_to_standard_error_is_shown(project: Path, code: str, status: int) -> None:
    program(
        project, "odd", f"{DESCRIBED}sys.stderr.write('TypeError: é\\n  at line 3\\x1b[2J\\nRuntime 20\\n')\n{code}"
    )
    ran = run(
        ["generate", "--schema", "schema.json", "--target", "odd", "--out", "out"],
        project,
        PATH=f"{project / 'bin'}{os.pathsep}{os.environ['PATH']}",
    )
    assert ran.returncode == status
    assert ran.stderr.splitlines()[:3] == ["TypeError: é", "  at line 3\\x1b[2J", "Runtime 20"]


def test_a_program_says_why_it_cannot_use_a_protocol(project: Path) -> None:
    program(project, "odd", DESCRIBED + "print(json.dumps({'errors': ['no methods; add one', 'too\\nmuch']}))")
    ran = run(
        ["generate", "--schema", "schema.json", "--target", "odd", "--out", "out"], project, PATH=str(project / "bin")
    )
    assert ran.returncode == 2
    assert [line.partition(" cannot use it: ")[2] for line in ran.stderr.splitlines() if line.startswith("error")] == [
        "no methods; add one. Nothing was written.",
        "too\\nmuch. Nothing was written.",
    ]


def test_an_answer_without_end_is_cut_off(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = program(project, "odd", DESCRIBED + "while True: sys.stdout.write('x' * 100000)")
    monkeypatch.setattr(process, "MOST", 1_000_000)
    protocol, bundle = plugins.sample(THING)
    with pytest.raises(Faults, match="its answer is longer than 1000000 bytes"):
        process.make_program_target("odd", str(path))(protocol, bundle, Settings())


def test_a_program_that_reads_nothing_of_a_large_question_is_no_fault(project: Path) -> None:
    path = program(project, "odd", 'print(\'{"about": "x", "files": {"a": "b"}}\')')
    protocol, bundle = understand(load(ROOT / "schema/acp/v1"))
    assert process.make_program_target("odd", str(path))(protocol, bundle, Settings()) == {"a": "b"}


@pytest.mark.parametrize(
    "told",
    ['{"about": 3}', '{"options": {}}', '{"options": [3]}', '{"options": [{"name": "a", "about": "b"}]}',
     '{"options": [{"name": "a", "about": "b", "default": "c", "choices": ["d"]}]}',
     '{"options": [{"name": "a", "about": "b", "default": [1]}]}',
     '{"options": [{"name": "a b", "about": "b", "default": 1}]}',
     '{"options": [{"name": "a", "about": "b", "default": 1}, {"name": "a", "about": "b", "default": 1}]}'],
)  # fmt: skip
def test_a_program_that_describes_itself_badly_is_told(project: Path, told: str) -> None:
    path = program(project, "odd", f"print({told!r})")
    with pytest.raises(Faults, match="the target 'odd' failed"):
        process.make_program_target("odd", str(path))


def test_a_folder_of_the_search_path_that_is_relative_holds_no_targets(project: Path) -> None:
    program(project, "odd", DESCRIBED)
    assert "odd" not in run(["targets"], project, PATH=f"bin{os.pathsep}.{os.pathsep}").stdout
    assert "\nodd (program" in run(["targets"], project, PATH=str(project / "bin")).stdout


# --- the page --------------------------------------------------------------------------------------------------------


def test_the_example_of_the_page_is_short_and_does_what_the_page_says(project: Path) -> None:
    code, test, *_ = blocks("python")
    assert code.count("\n") < 100
    packages = project / "packages"
    (packages / "acpgen_interfaces-1.0.dist-info").mkdir(parents=True)
    (packages / "acpgen_interfaces-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: x\nVersion: 1.0\n")
    (packages / "acpgen_interfaces-1.0.dist-info/entry_points.txt").write_text(
        "[acpgen.targets]\n" + blocks("toml")[0].partition('targets"]\n')[2].replace('"', "")
    )
    (packages / "acpgen_interfaces.py").write_text(code)
    (project / "its_test.py").write_text(test)
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'generator'}{os.pathsep}{packages}"}
    subprocess.run([sys.executable, "its_test.py"], cwd=project, env=environment, check=True)
    (project / "schema").symlink_to(ROOT / "schema")
    (project / "pyproject.toml").write_text(f"[tool.acpgen]\n{blocks('toml')[1]}")
    assert run(["generate"], project).returncode == 0
    made = (project / "web/protocol/acp/v1/types.ts").read_text("utf-8")
    assert 'readonly "sessionId": TSessionId;' in made
    assert run(["generate", "--check"], project).returncode == 0
    listed = run(["targets", "interfaces"], project).stdout
    assert listed == (
        "interfaces (package acpgen_interfaces:target): Interfaces for TypeScript.\n"
        "  readonly: Whether fields may be assigned. Value: true or false. Default:\n      false.\n"
    )


def test_the_program_of_the_page_does_what_the_page_says(project: Path) -> None:
    (project / "bin/acpgen-target-names").write_text(
        blocks("python")[2].replace("/usr/bin/env python3", sys.executable)
    )
    (project / "bin/acpgen-target-names").chmod(0o755)
    ran = run(
        ["generate", "--schema", "schema.json", "--target", "names", "--option", "suffix=!", "--out", "out"],
        project,
        PATH=str(project / "bin"),
    )
    assert (ran.returncode, (project / "out/names.txt").read_text()) == (0, "Thing!\n")


def test_the_json_of_the_page_is_json() -> None:
    assert all(json.loads(line) for block in blocks("json") for line in block.splitlines())


def test_the_page_names_all_that_is_public() -> None:
    table = PAGE.partition("| `acpgen.plugins` has")[2].partition("\n\n")[0]
    known = {"Documents", "Fault", "Faults", "Render", "TARGET_REFUSED"}
    assert set(re.findall(r"`(\w+)`", table)) | known >= set(plugins.__all__)


# --- the test kit ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bundle", "ir"])
def test_our_own_targets_pass_the_test_kit(name: str) -> None:
    assert exercise(TARGETS[name]).keys() == plugins.SAMPLES.keys()


def test_the_test_kit_finds_what_breaks_the_contract() -> None:
    count = iter(range(1000))
    with pytest.raises(AssertionError, match="equal input gave other files"):
        exercise(lambda protocol, bundle, settings: {"a": str(next(count))})

    def changing(protocol: ir.Protocol, *_: object) -> Mapping[str, str]:
        protocol.definitions.clear()  # type: ignore[attr-defined]
        return {"a": ""}

    with pytest.raises(AssertionError, match="changes what it is given"):
        exercise(changing)
    with pytest.raises(Faults, match="a path that no output can have"):
        exercise(Target(lambda protocol, bundle, settings: {"/a": ""}))


def test_comments_hold_whatever_a_schema_says() -> None:
    lines = plugins.write_comment("a\u2028b */ \x00\n\nc" + " word" * 60, "//", width=60)
    assert all(line.startswith("//") and line.isprintable() and len(line) <= 60 for line in lines)
    assert plugins.indent(["a\n\nb"], by=2) == ["  a", "", "  b"]


# --- files among those of others -------------------------------------------------------------------------------------


def test_a_shared_folder_keeps_what_others_wrote(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("mine")
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/files").write_text("mine too")
    write([Tree(tmp_path, {"a.py": "1", "pkg/b.py": "1", "deep/er/c.py": "1"}, shared=True)])
    (change,) = write([Tree(tmp_path, {"a.py": "2", "pkg/b.py": "1"}, shared=True)])
    assert (change.written, change.removed, change.strays) == ((".acpgen.json", "a.py"), ("deep/er/c.py",), ())
    held = {path.relative_to(tmp_path).as_posix(): path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    held.pop(".acpgen.json")
    assert held == {"mine.py": "mine", "pkg/files": "mine too", "a.py": "2", "pkg/b.py": "1"}
    assert not (tmp_path / "deep").exists()
    assert write([Tree(tmp_path, {"a.py": "2", "pkg/b.py": "1"}, shared=True)])[0].is_none


def test_a_file_that_acpgen_did_not_write_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("mine")
    with pytest.raises(Faults, match=r"a\.py: acpgen did not write this file"):
        write([Tree(tmp_path, {"a.py": "2", "b.py": "2"}, shared=True)])
    assert os.listdir(tmp_path) == ["a.py"]
    (tmp_path / "a.py").write_text("2")
    write([Tree(tmp_path, {"a.py": "2"}, shared=True)])
    assert sorted(os.listdir(tmp_path)) == [".acpgen.json", "a.py"]


def test_no_link_on_the_way_is_followed(tmp_path: Path) -> None:
    other, folder = tmp_path / "other", tmp_path / "out"
    other.mkdir()
    folder.mkdir()
    (folder / "pkg").symlink_to(other)
    with pytest.raises(Faults, match="acpgen did not write this file"):
        write([Tree(folder, {"pkg/a.py": "1"}, shared=True)])
    (folder / ".acpgen.json").write_text('{"generator": "acpgen", "files": ["pkg/a.py", "../other/b.py"]}')
    (other / "a.py").write_text("theirs")
    (other / "b.py").write_text("theirs")
    (other / ".a.py.acpgen-old").write_text("theirs")
    before = {path.name: path.read_text() for path in other.iterdir()}
    write([Tree(folder, {"c.py": "1"}, shared=True)])
    assert {path.name: path.read_text() for path in other.iterdir()} == before
    with pytest.raises(Faults, match="acpgen did not write this file"):
        write([Tree(folder, {"pkg/a.py": "1"}, shared=True)])


def test_a_failure_half_way_puts_everything_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write([Tree(tmp_path / "s", {"a": "1", "b": "1", "gone": "1"}, shared=True), Tree(tmp_path / "w", {"c": "1"})])
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    replace, calls = os.replace, iter(range(100))

    def failing(source: Any, target: Any) -> None:
        if next(calls) == 2:
            raise OSError(28, "No space left on device", str(target))
        replace(source, target)

    trees = [Tree(tmp_path / "s", {"a": "2", "b": "2"}, shared=True), Tree(tmp_path / "w", {"c": "2"})]
    with monkeypatch.context() as patch:
        patch.setattr("acpgen.files.atomic_write.os.replace", failing)
        with pytest.raises(Faults, match="No space left"):
            write(trees)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    write(trees)
    assert not list(tmp_path.rglob("*.acpgen-*"))
    assert (tmp_path / "s/a").read_text() == (tmp_path / "w/c").read_text() == "2"


def test_a_project_generates_checks_and_cleans_a_shared_folder(project: Path) -> None:
    (project / "schema/p").mkdir(parents=True)
    (project / "schema/p/schema.json").write_text(THING)
    (project / "src").mkdir()
    (project / "src/mine.py").write_text("mine")
    config = '[tool.acpgen.outputs."src"]\ntarget = "{}"\nprotocols = ["p"]\nshared = true\n'
    (project / "pyproject.toml").write_text(config.format("ir"))
    assert run(["generate", "--check"], project).returncode == 1
    assert run(["generate"], project).returncode == 0
    assert run(["generate", "--check"], project).returncode == 0
    (project / "src/p/ir.json").write_text("changed")
    ran = run(["generate", "--check"], project)
    assert (ran.returncode, "a/src/p/ir.json" in ran.stdout) == (1, True)
    (project / "pyproject.toml").write_text(config.format("bundle"))
    assert run(["generate"], project).returncode == 0
    assert sorted(path.name for path in (project / "src").rglob("*") if path.is_file()) == [
        *(".acpgen.json", "meta.json", "mine.py", "schema.json"),
    ]


def test_paths_that_are_folders_of_others_are_a_fault_and_no_defect() -> None:
    from acpgen.targets.pipeline import merge

    with pytest.raises(Faults, match="need 'a' for different content"):
        merge([{"a": ""}, {"a/b/c": ""}], "out")
    with pytest.raises(Faults, match=r"need 'a/models\.py' for different content"):
        merge([{"a/models.py": ""}, {"a/models/__init__.py": ""}], "out")


def test_the_library_gives_each_target_its_defaults() -> None:
    assert generate(load(ROOT / "schema/acp/v1"), ["ir"])["ir"].keys() == {"ir.json"}
