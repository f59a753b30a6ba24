"""The command line: help, errors and pages have one form."""

from __future__ import annotations

import errno
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from acpgen.cli import app
from acpgen.commands import terminal
from acpgen.commands.command_line import describe
from acpgen.targets.built_in import BUILT_IN
from commands import acpgen

GENERATE = ["generate", "--schema", "acp/v1", "--package", "acme.v1", "--out", "out"]


def commands() -> Iterator[list[str]]:
    """The arguments of every command."""
    found: list[tuple[list[str], Any]] = [([], get_command(app))]
    for words, command in found:
        yield words
        found += [([*words, name], inner) for name, inner in getattr(command, "commands", {}).items()]


@pytest.mark.parametrize("words", [*commands()], ids="-".join)
def test_help_is_80_columns_wide_and_names_no_types_of_python(words: list[str]) -> None:
    text = acpgen([*words, "--help"], environment={"COLUMNS": "200"}).stdout.decode()
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert f"\nUsage: {' '.join(['acpgen', *words])} [OPTIONS]" in text
    assert "list[" not in text and "<" not in text
    assert text.count("\nExit codes:\n") == (0 if words in ([], ["docs"]) else 1)
    assert "\x1b" not in text


@pytest.mark.parametrize("words", [[], ["diff"], ["docs", "build"]], ids="-".join)
def test_help_of_a_command_is_its_help_page(words: list[str]) -> None:
    asked = [acpgen(arguments) for arguments in (["help", *words], [*words, "--help"])]
    assert asked[0].stdout == asked[1].stdout != b""
    assert [each.returncode for each in asked] == [0, 0]
    assert ("COMMAND describes a command." in asked[0].stdout.decode()) == (len(words) == 0)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no shell that closes descriptors")
@pytest.mark.parametrize("closed", ["0>&-", "1>&-", "2>&-", "0>&- 1>&- 2>&-"])
def test_a_command_does_its_work_though_standard_streams_are_closed(tmp_path: Path, closed: str) -> None:
    (tmp_path / "wrong.jsonl").write_text("{")
    arguments = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-m", "acpgen", "validate", "wrong.jsonl"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(arguments, capture_output=True, cwd=tmp_path, env=environment, timeout=60)
    assert ran.returncode == 1
    assert (b"1: invalid" in ran.stdout) == ("1" not in closed)
    assert (b"1 line of 1 invalid." in ran.stderr) == ("2" not in closed)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_a_full_disk_below_standard_output_is_an_error_and_no_defect(argument: str) -> None:
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "acpgen", argument], stdout=full, stderr=subprocess.PIPE, timeout=60, text=True
        )
    assert ran.returncode == 2
    assert ran.stderr.startswith("error: standard output: it cannot be used (No space left on device).\nhint: ")


def test_a_default_and_a_least_value_are_sentences() -> None:
    text = " ".join(acpgen(["history", "--help"]).stdout.decode().split())
    assert "were left out. Default: 50." in text and "of history 3000000. At least 1." in text
    assert not any("x>=" in acpgen([*words, "--help"]).stdout.decode() for words in commands())


NO_STREAM = "- does not stand for a standard stream here; ./- is a file of that name."


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (["tap", "--report", "-", "--", "a"], f"invalid value for '--report': {NO_STREAM}", "See: acpgen tap --help"),
        (["tap", "--record", "-", "--", "a"], f"invalid value for '--record': {NO_STREAM}", "See: acpgen tap --help"),
        (
            ["probe", "--write-baseline", "-", "--", "a"],
            f"invalid value for '--write-baseline': {NO_STREAM}",
            "See: acpgen probe --help",
        ),
        (["lint", "-"], f"invalid value for 'PATH': {NO_STREAM}", "See: acpgen lint --help"),
        (["generate", "--outt", "x"], "no such option: --outt", "Did you mean --out? See: acpgen generate --help"),
        (["generate", "--schema"], "option '--schema' requires an argument.", "See: acpgen generate --help"),
        (["diff", "x"], "missing argument 'NEW'.", "See: acpgen diff --help"),
        (["xx"], "no such command 'xx'.", "See: acpgen --help"),
        (["dif"], "no such command 'dif'.", "Did you mean 'diff'? See: acpgen --help"),
        (["help", "docs", "buidl"], "no such command 'buidl'.", "Did you mean 'build'? See: acpgen docs --help"),
        (["help", "diff", "extra"], "'acpgen diff' has no command 'extra' below it.", "See: acpgen help --help"),
        (["diff", "a", "b", "--budget", "x"], "--budget: 'x' is not a whole number.", "See: acpgen diff --help"),
        (["diff", "a", "b", "--budget", "0"], "--budget: '0' is not 1 or more.", "See: acpgen diff --help"),
        (["history", "a", "--limit", "0"], "--limit: '0' is not 1 or more.", "See: acpgen history --help"),
        (
            ["history", "a", "--fail-on", "always"],
            "--fail-on: there is no level 'always'.",
            "Known names: 'additive', 'breaking', 'never', 'risky'.",
        ),
        (["tap", "--grace", "x", "--", "a"], "--grace: 'x' is not a number.", "See: acpgen tap --help"),
        (["probe"], "missing argument '-- COMMAND'.", "See: acpgen probe --help"),
        (["docs", "xx"], "no such command 'xx'.", "See: acpgen docs --help"),
        (["diff", "a", "b", "--dry-run"], "--dry-run needs --fix.", "See: acpgen diff --help"),
        (
            ["diff", "acp/v1", "acp/v2", "--mode", "languag"],
            "--mode: there is no mode 'languag'.",
            "Did you mean 'language'? Known names: 'language', 'protocol'.",
        ),
        (
            ["rules", "--format", "html"],
            "--format: there is no format 'html'.",
            "Known names: 'json', 'markdown', 'text'.",
        ),
        (
            ["lint", "--color", "alwys"],
            "--color: there is no choice 'alwys'.",
            "Did you mean 'always'? Known names: 'always', 'auto', 'never'.",
        ),
        (["lint", "x.json"], "x.json: there is no such file or folder.", "Correct the path."),
        (["validate", "x.jsonl"], "x.jsonl: there is no such file or folder.", "Correct the path."),
        (["rules", "fields-added"], "RULE: there is no rule 'fields-added'.", "Did you mean 'field-added'?"),
    ],
)
def test_every_error_has_one_form(arguments: list[str], error: str, hint: str, tmp_path: Path) -> None:
    ran = acpgen(arguments, cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.decode() == f"error: {error}\nhint: {hint}\n"


def test_on_a_terminal_help_and_errors_have_colours_and_long_lines_break_between_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal.show_error("word " * 40, "do this.")
    with pytest.raises(SystemExit):
        app(["rules", "--help"], prog_name="acpgen")
    printed = capsys.readouterr()
    first, second, *_, last = printed.err.splitlines()
    assert first.startswith("\x1b[1;31merror\x1b[0m: word") and second.startswith("  word")
    assert last == "\x1b[1;36mhint\x1b[0m: do this."
    assert "\x1b[1;32mGlobal options:\x1b[0m" in printed.out
    monkeypatch.setenv("NO_COLOR", "1")
    terminal.show_error("one")
    assert capsys.readouterr().err == "error: one\n"


def test_a_report_of_one_finding_a_line_is_wrapped_on_a_terminal_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one.json").write_text('{"$ref": "#/$defs/Tide"}')
    message = b'{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","promt":[]}}'
    (tmp_path / "one.jsonl").write_bytes(message)
    lint, validate = ["lint", "one.json"], ["validate", "one.jsonl", "--protocol", "acp/v1"]
    piped = {arguments[0]: acpgen(arguments, cwd=tmp_path).stdout.decode() for arguments in (lint, validate)}
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    for arguments in (lint, validate):
        with pytest.raises(SystemExit):
            app(arguments, prog_name="acpgen")
        shown = capsys.readouterr().out
        assert max(map(len, shown.splitlines())) <= 80 < max(map(len, piped[arguments[0]].splitlines()))
        assert shown.split() == piped[arguments[0]].split()


class ClosedPipe(io.StringIO):
    def write(self, *_: object) -> int:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")


@pytest.mark.parametrize("words", [["targets"], ["targets", "--ir-schema"], ["rules"], ["errors"]], ids=" ".join)
def test_a_reader_that_leaves_changes_no_exit_code(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", ClosedPipe())
    with pytest.raises(SystemExit) as ended:
        app(words, prog_name="acpgen")
    assert not ended.value.code


@pytest.mark.parametrize("words", [each for each in commands() if each not in ([], ["docs"])], ids="-".join)
def test_every_command_has_the_options_of_all_and_each_option_stands_under_a_heading(words: list[str]) -> None:
    text = acpgen([*words, "--help"]).stdout.decode()
    heading = ""
    headings: dict[str, list[str]] = {}
    for line in text.splitlines():
        heading = line.removesuffix(":") if re.fullmatch(r"[A-Z][a-z ]+:", line) else heading
        if re.match(r"  -", line):
            headings.setdefault(heading, []).append(line.split()[0].rstrip(","))
    assert headings.pop("Global options")[-3:] == ["-q", "--color", "-h"]
    assert all(len(options) <= 8 for options in headings.values()), headings


def test_colours_and_quiet_are_what_the_options_say(tmp_path: Path) -> None:
    coloured = acpgen(["diff", "acp/v1", "acp/v1", "--color", "always"], cwd=tmp_path)
    plain = acpgen(["diff", "acp/v1", "acp/v1"], cwd=tmp_path)
    assert b"\x1b[" in coloured.stdout and b"\x1b[" not in plain.stdout
    (tmp_path / "one.jsonl").write_text('{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}\n')
    loud, quiet = (acpgen(["validate", "one.jsonl", *option], cwd=tmp_path) for option in ([], ["-q"]))
    assert loud.stderr and not quiet.stderr
    assert loud.stdout == quiet.stdout
    assert acpgen(["validate", "two.jsonl", "-q"], cwd=tmp_path).stderr.startswith(b"error: ")


def test_the_help_of_generate_names_every_target_that_comes_with_acpgen() -> None:
    text = " ".join(acpgen(["generate", "--help"]).stdout.decode().split())
    assert f"Only these targets: {', '.join(sorted(BUILT_IN))}, or" in text


def test_the_page_of_a_rule_is_text_for_people() -> None:
    shown = acpgen(["rules", "field-added"]).stdout.decode()
    assert shown.startswith("field-added\n\nadditive: An optional field is new")
    assert "```" not in shown and "**" not in shown and "\n#" not in shown
    assert '\n    +        "cwd": {\n' in shown
    raw = acpgen(["rules", "field-added", "--format", "markdown"]).stdout.decode()
    assert raw.startswith("# field-added\n") and "```diff" in raw


@pytest.mark.parametrize(
    "arguments",
    [
        ["generate", "--schema", "acp/v9", "--package", "a.b", "--out", "out"],
        ["lint", "acp/v9"],
        ["init", "new", "x/v1=acp/v9"],
        ["diff", "acp/v9", "acp/v1"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_an_unknown_version_of_a_protocol_is_told_with_the_known_ones(tmp_path: Path, arguments: list[str]) -> None:
    done = acpgen(arguments, cwd=tmp_path)
    assert (done.returncode, done.stderr.decode().splitlines()) == (
        2,
        [
            "error: acp/v9: there is no file, folder or protocol 'acp/v9'.",
            "hint: Known versions of 'acp': 'acp/v1', 'acp/v2'.",
        ],
    )
    assert not list(tmp_path.iterdir())


def test_a_target_without_an_output_is_told_with_what_to_add(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.acpgen]\nschema = "schema"\n\n[tool.acpgen.outputs."out"]\ntarget = "bundle"\nprotocols = ["p/v1"]\n'
    )
    done = acpgen(["generate", "--target", "typescript"], cwd=tmp_path)
    assert (done.returncode, done.stderr.decode().splitlines()) == (
        2,
        [
            "error: pyproject.toml: no output of this project has the target 'typescript'.",
            'hint: Add one: [tool.acpgen.outputs."FOLDER"] with target = "typescript" and protocols = ["p/v1"].',
        ],
    )


@pytest.mark.parametrize(
    ("arguments", "hints"),
    [
        (
            ["diff", "acp/v1", "acp/v2", "--waive", "zzz"],
            ["Give it: --reason TEXT.", "Give it: --until DATE, or --until RELEASE."],
        ),
        (["diff", "acp/v1", "acp/v2", "--until", "x"], ["Add --waive FINGERPRINT, or leave --until out."]),
        (
            ["diff", "acp/v1", "acp/v2", "--ref", "foo"],
            ["Write it as in --ref https://example.com/common.json=common.json."],
        ),
        ([*GENERATE, "--option", "layout=fil"], ["Did you mean 'file'?"]),
        ([*GENERATE, "--names", "names.json"], ['Write it as in {"Thing.kind": "ThingKind"}.']),
        (["generate"], ["Correct this setting."]),
    ],
    ids=["waive", "until", "ref", "option", "names", "pyproject"],
)
def test_a_value_that_cannot_be_used_is_told_with_what_to_do(
    tmp_path: Path, arguments: list[str], hints: list[str]
) -> None:
    (tmp_path / "names.json").write_text('{"ContentBlock": "1x"}')
    (tmp_path / "pyproject.toml").write_text(
        "[tool.acpgen]\n\n[tool.acpgen.outputs.out]\ntarget = 1\nprotocols = ['p/v1']\n" * (arguments == ["generate"])
    )
    done = acpgen(arguments, cwd=tmp_path)
    lines = done.stderr.decode().splitlines()
    assert (done.returncode, [line for line in lines if line.startswith("hint: ")]) == (
        2,
        [f"hint: {hint}" for hint in hints],
    ), lines
    assert len(lines) == 2 * len(hints)


def test_an_option_without_a_line_in_the_docstring_is_named() -> None:
    def dive(*, depth: int = 0) -> None:
        """Dive."""

    with pytest.raises(AssertionError, match="dive: the docstring does not describe the option 'depth'"):
        describe(dive)
