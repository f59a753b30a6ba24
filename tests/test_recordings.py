"""Many recordings: the same verdict wherever it is reached, one summary in whatever order, and nothing passed over without a word."""

from __future__ import annotations

import contextlib
import errno
import gzip
import json
import multiprocessing
import os
import pickle
import random
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from acpgen.errors import Faults
from acpgen.input.faults import NOT_FOUND
from acpgen.messages.faults import INFLATED, NO_RECORDINGS, OTHER_RESULTS
from acpgen.messages.recording_file import Tape
from acpgen.recordings import Finding, Recording, Standard, Summary, Verdict, find, judge, stores, summarise
from acpgen.recordings import summary as summaries
from acpgen.recordings.stores import File, is_one
from acpgen.recordings.summary_report import as_json, as_text, run
from acpgen.recordings.verdict import RuleKey
from acpgen.recordings.worker_pool import judge_all
from commands import strict_once
from fragile_judge import fragile
from monitor.cases import CASES
from test_validate_command import acpgen, recorded, recorded_case

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ROOT = Path(__file__).parents[1]
AGENT = {"protocolVersion": 1, "agentInfo": {"name": "harbor", "version": "0.9.4"}, "agentCapabilities": {}}


@pytest.fixture(autouse=True)
def judges_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acpgen.messages.validators.read_strict", strict_once)


def begun(agent: Any = AGENT) -> list[tuple[str, Any]]:
    params = {"protocolVersion": 1, "clientCapabilities": {}, "clientInfo": {"name": "quill", "version": "2"}}
    return [
        ("client", {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}),
        ("agent", {"jsonrpc": "2.0", "id": 0, "result": agent}),
    ]


def listing(id_: int, result: Any = None) -> list[tuple[str, Any]]:
    return [
        ("client", {"jsonrpc": "2.0", "id": id_, "method": "session/new", "params": {"cwd": "/w", "mcpServers": []}}),
        ("agent", {"jsonrpc": "2.0", "id": id_, "result": result or {"sessionId": f"s{id_}"}}),
    ]


WELL = recorded(*begun(), *listing(1))
WRONG = recorded(*begun(), *listing(1, {"sessionId": 7}))


def corpus(folder: Path) -> Path:
    """Some recordings, plain and compressed, and a file that is none."""
    for number, case in enumerate(CASES[::30]):
        content = recorded_case(case)
        name, packed = [
            ("jsonl", content),
            ("ndjson.gz", gzip.compress(content)),
            ("jsonl.zst", zstd.compress(content)),
        ][number % 3]
        path = folder / case.rule / f"{number}.{name}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(packed)
    folder.joinpath("well.jsonl").write_bytes(WELL)
    folder.joinpath("notes.txt").write_text("no recording")
    return folder


# --- what names lead to ---


def test_folders_patterns_and_files_give_each_recording_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.jsonl", "b/c.ndjson", "b/d.jsonl.gz", "b/e.txt", "b/deep/f.jsonl.zst"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(WELL)
    monkeypatch.chdir(tmp_path)
    found = find(["b", "a.jsonl", "b/c.ndjson", "**/*.jsonl", "b/e.txt"])
    names = [recording.name for recording in found.recordings]
    assert names == ["b/c.ndjson", "b/d.jsonl.gz", "b/deep/f.jsonl.zst", "a.jsonl", "b/e.txt"], "as they were named"
    assert found.others == 1, "b/e.txt is none by its name in b, and is one where it is named"
    assert [recording.size for recording in find([str(tmp_path / "a.jsonl")]).recordings] == [len(WELL)]


def test_a_name_that_leads_nowhere_or_to_no_recording_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(Faults) as caught:
        find([str(tmp_path / "nothing.jsonl"), str(tmp_path / "empty"), str(tmp_path / "*.jsonl")])
    assert [fault.kind for fault in caught.value.faults] == [NOT_FOUND, NO_RECORDINGS, NOT_FOUND]
    ran = acpgen("validate", tmp_path / "empty")
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert b"no file here has the extension of a recording" in ran.stderr


@pytest.mark.parametrize("name", ["logs", "logs/**/*.jsonl"])
def test_a_folder_that_cannot_be_listed_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (tmp_path / "logs" / "locked").mkdir(parents=True)
    (tmp_path / "logs" / "a.jsonl").write_bytes(WELL)
    scan = os.scandir

    def refuse(path: str) -> Any:
        if str(path).endswith("locked"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scan(path)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(Faults) as caught:
        find([name])
    assert [str(fault) for fault in caught.value.faults] == [
        "logs/locked: it cannot be read (Permission denied). Correct this, or name another file."
    ]


def test_a_name_with_the_characters_of_a_pattern_is_a_file_where_there_is_one(tmp_path: Path) -> None:
    path = tmp_path / "run[1].jsonl"
    path.write_bytes(WELL)
    assert is_one(str(path))
    assert [recording.name for recording in find([str(path)]).recordings] == [str(path)]


def test_recordings_lie_in_any_store_that_fsspec_knows() -> None:
    from fsspec.implementations.memory import MemoryFileSystem  # type: ignore[import-untyped]

    store: Any = MemoryFileSystem()
    store.pipe_file("/talks/a.jsonl.gz", gzip.compress(WRONG))
    (recording,) = find(["memory://talks"]).recordings
    assert judge(recording).invalid == 1
    assert judge(recording.name).invalid == 1


def test_what_is_no_regular_file_is_said_and_not_waited_for(tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("there are no named pipes here")
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "nowhere")
    failures = [judge(recording).failure for recording in find([str(tmp_path)]).recordings]
    assert len(failures) == 2
    assert all("cannot be read" in failure for failure in failures)


# --- files of one recording ---


def test_a_recording_that_the_tap_wrote_into_several_files_is_judged_as_one(tmp_path: Path) -> None:
    said = recorded(
        *begun(), *(message for number in range(1, 40) for message in listing(number)), *listing(9, {"x": 1})
    )
    with Tape(tmp_path / "talk.jsonl", most=700, keep=100) as tape:
        for line in said.splitlines(keepends=True):
            tape.write(line)
    assert len(list(tmp_path.iterdir())) > 10, "numbers of two digits come after those of one"
    (recording,) = find([str(tmp_path)]).recordings
    (tmp_path / "whole").mkdir()
    (tmp_path / "whole" / "talk.jsonl").write_bytes(said)
    whole, parts = judge(str(tmp_path / "whole" / "talk.jsonl")), judge(recording)
    assert (parts.valid, parts.invalid, parts.rules, parts.bytes) == (
        whole.valid,
        whole.invalid,
        whole.rules,
        whole.bytes,
    )
    assert whole.invalid
    (finding,) = parts.findings[:1]
    content = Path(finding.file).read_bytes().splitlines()[finding.line - 1]
    assert content == said.splitlines()[whole.findings[0].line - 1]


def test_numbered_files_that_begin_conversations_are_recordings_of_their_own(tmp_path: Path) -> None:
    for name in ("run.jsonl", "run.1.jsonl", "run.2.jsonl"):
        (tmp_path / name).write_bytes(WELL)
    assert len(find([str(tmp_path)]).recordings) == 3


def test_the_rest_of_a_recording_without_its_beginning_is_not_called_valid(tmp_path: Path) -> None:
    said = recorded(*begun(), *(message for number in range(1, 40) for message in listing(number)))
    with Tape(tmp_path / "talk.jsonl", most=700, keep=3) as tape:
        for line in said.splitlines(keepends=True):
            tape.write(line)
    (recording,) = find([str(tmp_path)]).recordings
    assert (len(recording.files), recording.missing) == (3, (0,))
    verdict = judge(recording)
    assert not verdict.is_judged, "which version was agreed on is in a file that is gone"
    assert not verdict.invalid
    Path(recording.files[1].name).unlink()
    (rest,) = find([str(tmp_path)]).recordings
    assert rest.missing == (0, 1)


# --- a verdict ---


@pytest.mark.parametrize("is_session", [True, False])
def test_a_verdict_counts_what_the_command_says_of_the_file_alone(tmp_path: Path, *, is_session: bool) -> None:
    content = WRONG + b"nonsense\n" + recorded(*listing(5, {"x": 1}))
    path = tmp_path / "talk.jsonl"
    path.write_bytes(content)
    option = ["--session"] * is_session
    rows = [json.loads(line) for line in acpgen("validate", *option, "--format", "json", path).stdout.splitlines()]
    verdict = judge(str(path), Standard(is_session=is_session))
    assert verdict.invalid == sum(row.get("valid") is False for row in rows)
    assert [finding.line for finding in verdict.findings] == [row["line"] for row in rows if row.get("valid") is False]
    assert (verdict.agent, verdict.client) == ("harbor 0.9.4", "quill 2")


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_compressed_recordings_give_the_verdict_of_what_they_hold(tmp_path: Path, ending: str) -> None:
    compress = gzip.compress if ending == "gz" else zstd.compress
    plain, packed = tmp_path / "a.jsonl", tmp_path / f"a.jsonl.{ending}"
    plain.write_bytes(WRONG)
    first, rest = WRONG.splitlines(keepends=True)[:2], WRONG.splitlines(keepends=True)[2:]
    packed.write_bytes(compress(b"".join(first)) + compress(b"".join(rest)))  # two parts, as a log that is appended to
    one, other = judge(str(plain)), judge(str(packed))
    assert (one.valid, one.invalid, one.rules, one.bytes) == (other.valid, other.invalid, other.rules, other.bytes)
    by_line = [acpgen("validate", path) for path in (plain, packed)]
    assert by_line[0].stdout == by_line[1].stdout != b""
    assert [ran.returncode for ran in by_line] == [1, 1]


@pytest.mark.parametrize("ending", ["zst", pytest.param("gz", marks=pytest.mark.exhaustive)])
def test_what_cannot_be_decompressed_to_its_end_is_not_called_valid(tmp_path: Path, ending: str) -> None:
    compress = gzip.compress if ending == "gz" else zstd.compress
    whole = compress(recorded(*begun(), *(message for number in range(1, 2000) for message in listing(number))))
    for name, content in {"cut": whole[: len(whole) // 2], "more": whole + b"garbage", "other": b"{}\n"}.items():
        path = tmp_path / f"{name}.jsonl.{ending}"
        path.write_bytes(content)
        verdict = judge(str(path))
        assert verdict.failure.startswith(f"{path}: it cannot be read"), name
        assert not verdict.is_judged
        assert name != "other" or acpgen("validate", path).returncode == 2
    assert judge(str(tmp_path / f"cut.jsonl.{ending}")).valid > 10, "what was read is judged"
    ran = acpgen("validate", "--session", tmp_path)
    assert ran.returncode == 1
    assert b"3 not read to the end" in ran.stderr


@pytest.mark.parametrize("ending", ["gz", "zst"])
@pytest.mark.parametrize("piece", [b"\n", b" \r\n", b"x", b"0\n", b"{}\n"])
def test_a_small_file_that_holds_very_much_is_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, piece: bytes
) -> None:
    monkeypatch.setattr(stores, "ALWAYS", 1 << 12)
    monkeypatch.setattr(stores, "MOST_TIMES", 20)
    path = tmp_path / f"a.jsonl.{ending}"
    with gzip.open(path, "wb") if ending == "gz" else zstd.open(path, "wb") as file:
        for _ in range(200):
            file.write(piece * 2_000)
    verdict = judge(str(path), Standard(is_session=False))
    assert verdict.failure == str(Faults([INFLATED(at=str(path), times=stores.MOST_TIMES)]))
    assert not verdict.is_well
    assert verdict.bytes < 2_000 * 200


def test_a_small_file_that_holds_very_much_ends_with_exit_code_two_and_says_why(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(zstd.compress(WELL + b"\n" * (stores.ALWAYS + 1)))
    for options in ((), ("--session",)):
        ran = acpgen("validate", *options, path)
        assert (ran.returncode, ran.stderr.count(b"decompresses to over 200 times its size")) == (2, 1)
    assert acpgen("validate", "--session", "--jobs", "1", path).returncode == 1
    path.write_bytes(zstd.compress(WELL + b"\n" * (stores.ALWAYS - 70_000)))
    assert acpgen("validate", "--session", path).returncode == 0


def test_a_recording_without_a_line_is_not_called_valid(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"\n\n")
    assert not judge(str(tmp_path / "a.jsonl")).is_well
    ran = acpgen("validate", "--session", tmp_path)
    assert (ran.returncode, ran.stdout.count(b"nothing was judged")) == (1, 1)


@pytest.mark.parametrize("name", ["(others)", "", "x" * 5000, "\x1b[31mred\nline", "\ud800"])
def test_a_program_says_what_it_likes_about_itself(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(recorded(*begun(AGENT | {"agentInfo": {"name": name, "version": "1"}}), *listing(1)))
    verdict = judge(str(path))
    assert len(verdict.agent) <= 100
    assert verdict.agent.isprintable()
    summary = summarise([verdict])
    assert json.loads(json.dumps(summary.as_json()))["recordings"] == 1


def test_a_defect_of_acpgen_is_told_and_ends_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(WELL)

    def fail(*_: object) -> Iterable[Any]:
        raise KeyError("broken")
        yield

    monkeypatch.setattr("acpgen.messages.validate.judge_conversation", fail)
    verdict = judge(str(path))
    assert "a defect of it: KeyError: 'broken'" in verdict.failure
    assert not verdict.is_judged


def test_verdicts_survive_json_and_pickle(tmp_path: Path) -> None:
    for recording in find([str(corpus(tmp_path))]).recordings:
        verdict = judge(recording)
        assert Verdict.from_json(json.loads(json.dumps(verdict.as_json()))) == verdict
        assert pickle.loads(pickle.dumps(verdict)) == verdict
        assert pickle.loads(pickle.dumps((recording, Standard()))) == (recording, Standard())
    with pytest.raises(ValueError, match="no verdict"):
        Verdict.from_json({"recording": "a"})


def test_a_sender_that_the_protocol_does_not_have_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(WELL)
    with pytest.raises(Faults, match="--sender"):
        judge(str(tmp_path / "a.jsonl"), Standard(is_session=False, sender="server"))


# --- a summary ---

VERDICTS = st.builds(
    Verdict,
    recording=st.text("abc", min_size=1, max_size=6),
    bytes=st.integers(0, 10**12),
    valid=st.integers(0, 9),
    invalid=st.integers(0, 9),
    not_judged=st.integers(0, 2),
    rules=st.dictionaries(
        st.builds(RuleKey, st.sampled_from(["x", "y", "z"]), st.sampled_from(["must", "note"])), st.integers(1, 9)
    ).map(lambda rules: tuple(sorted(rules.items()))),
    agent=st.one_of(st.just(""), st.integers(0, 40).map(str)),
    failure=st.sampled_from(["", "it ends early"]),
)


@seed(20261122)
@settings(max_examples=80, deadline=None)
@given(st.lists(VERDICTS, max_size=60), st.randoms(use_true_random=False))
def test_a_summary_is_the_same_in_whatever_order_and_portions(found: list[Verdict], chance: random.Random) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(summaries, "MOST_PROGRAMS", 5)
        patch.setattr(summaries, "MOST_WORST", 3)
        whole = summarise(found)
        parts: list[Verdict | Summary] = [*found]
        chance.shuffle(parts)
        while len(parts) > 1:
            size = chance.randint(1, min(7, len(parts)))
            parts = [*parts[size:], summarise(parts[:size])]
        assert summarise(parts) == whole
        assert len(whole.agents) <= 6
    assert whole.recordings == len(found)
    assert sum(share.recordings for share in (*whole.agents.values(), whole.other_agents)) == len(found)
    assert whole.invalid == sum(verdict.invalid for verdict in found)
    assert [one.invalid for one in whole.worst] == sorted((v.invalid for v in found if v.invalid), reverse=True)[:3]
    assert whole.is_judged == (bool(found) and all(verdict.is_judged for verdict in found))


# --- a run ---


def unseen(done: int, total: int, name: str) -> None:
    assert done <= total


def run_over(folder: Path, jobs: int = 1, results: Path | None = None) -> tuple[list[str], Summary]:
    told: list[str] = []
    found = find([str(folder)]).recordings
    summary = run(found, Standard(), jobs, results, lambda verdict: told.append(as_json(verdict)), unseen)
    return told, summary


def test_any_number_of_processes_says_the_same_in_the_same_order(tmp_path: Path) -> None:
    folder = corpus(tmp_path)
    assert run_over(folder, 1) == run_over(folder, 2)


@pytest.mark.parametrize("said", [None, "", "1"])
def test_processes_that_a_program_starts_later_find_the_environment_as_it_was(
    monkeypatch: pytest.MonkeyPatch, said: str | None
) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    if said is not None:
        monkeypatch.setenv("PYTHONSAFEPATH", said)
    before = dict(os.environ)
    assert len(list(judge_all([Recording((File("a"),)), Recording((File("b"),))], Standard(), 2, fragile))) == 2
    assert dict(os.environ) == before


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_process_that_judges_ends_with_its_parent() -> None:
    code = (
        "import os, time\nfrom acpgen.recordings import worker_pool\n"
        "pool = worker_pool._make_pool(1)\n"
        "print(pool.submit(os.getpid).result(), flush=True)\n"
        "pool.submit(time.sleep, 60).result()"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generator")}
    with subprocess.Popen([sys.executable, "-P", "-c", code], stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout is not None
        state = Path(f"/proc/{int(parent.stdout.readline())}/stat")
        parent.kill()
        until = time.monotonic() + 30
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            while state.read_text().rpartition(")")[2].split()[0] not in "ZX":
                assert time.monotonic() < until, "it goes on"
                time.sleep(0.05)


def test_no_module_beside_the_recordings_runs(tmp_path: Path) -> None:
    command, folder = tmp_path / "bin" / "acpgen", tmp_path / "recordings"
    command.parent.mkdir()
    command.write_text("from acpgen.cli import main\n\nif __name__ == '__main__':\n    main()\n")
    folder.mkdir()
    for name in ("multiprocessing", "pickle", "json", "signal"):
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nraise SystemExit")
    for name in ("a", "b"):
        (folder / f"{name}.jsonl").write_bytes(WELL)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONSAFEPATH"}
    ran = subprocess.run(
        [sys.executable, command, "validate", "--session", ".", "--jobs", "2"],
        cwd=folder,
        env={**environment, "PYTHONPATH": str(ROOT / "generator")},
        capture_output=True,
        check=False,
    )
    assert not (tmp_path / "ran").exists()
    assert ran.returncode == 0, ran.stderr


def test_a_process_that_is_ended_costs_one_verdict(tmp_path: Path) -> None:
    names = ["a", "b", "deadly 1", "c", *map(str, range(40)), "deadly 2", "d"]
    recordings = [Recording((File(name),)) for name in names]
    found = list(judge_all(recordings, Standard(), 2, fragile))
    assert [recording.name for recording, _ in found] == names
    assert [verdict.recording for _, verdict in found if verdict.failure] == ["deadly 1", "deadly 2"]
    assert all(verdict.valid for _, verdict in found if not verdict.failure)


@pytest.mark.parametrize("taken", [1, 40])
def test_no_process_outlives_the_verdicts(taken: int) -> None:
    found = judge_all([Recording((File(str(number)),)) for number in range(40)], Standard(), 2, fragile)
    assert len([verdict for verdict, _ in zip(found, range(taken), strict=False)]) == taken
    found.close()
    assert multiprocessing.active_children() == []


def test_a_run_that_was_ended_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, results = corpus(tmp_path / "talks"), tmp_path / "results"
    whole = run_over(folder)
    assert run_over(folder, results=results) == whole
    lines = results.read_bytes().splitlines(keepends=True)
    results.write_bytes(b"".join(lines[:8]) + lines[8][:20])  # it was ended in the middle of a line
    judged: list[str] = []

    def counted(recording: Recording, standard: Standard) -> Verdict:
        judged.append(recording.name)
        return judge(recording, standard)

    monkeypatch.setattr(judge_all, "__defaults__", (counted,))
    assert run_over(folder, results=results) == whole
    assert len(judged) == len(whole[0]) - 7
    judged.clear()
    assert run_over(folder, results=results) == whole
    assert not judged
    (folder / "well.jsonl").write_bytes(WRONG)
    assert run_over(folder, results=results)[1].invalid == whole[1].invalid + 1
    assert judged == [str(folder / "well.jsonl")], "it has changed"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("a letter\n", "line 1 is not JSON"),
        ("a letter", "its first line does not end"),
        ('{"form": "x"}\n', "does not begin"),
        ("[]\n", "does not begin"),
        ('{"form": "acpgen validate, results 1", "standard": "of another day"}\n', "were others"),
    ],
)
def test_a_file_of_another_kind_is_not_written_over(tmp_path: Path, content: str, reason: str) -> None:
    folder, results = corpus(tmp_path / "talks"), tmp_path / "results"
    results.write_text(content)
    with pytest.raises(Faults, match=reason) as caught:
        run_over(folder, results=results)
    assert caught.value.faults[0].kind == OTHER_RESULTS
    assert results.read_text() == content


def test_results_hold_no_verdict_that_failed(tmp_path: Path) -> None:
    path = tmp_path / "talks" / "a.jsonl.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress(WELL)[:60])
    results = tmp_path / "results"
    assert run_over(path.parent, results=results)[1].failed == 1
    assert len(results.read_text().splitlines()) == 1
    if os.name == "posix":
        assert results.stat().st_mode & 0o077 == 0


# --- the command ---


def test_the_command_tells_what_is_invalid_and_one_summary(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(WELL)
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(WRONG))
    (tmp_path / "notes.txt").write_text("")
    ran = acpgen("validate", "--session", "--jobs", "1", ".", cwd=tmp_path)
    assert ran.returncode == 1
    first, second = ran.stdout.decode().splitlines()
    assert first == "b.jsonl.gz: 1 invalid of 4 lines"
    assert second.startswith("  4: invalid agent result session/new: must ")
    told = ran.stderr.decode()
    assert "harbor 0.9.4           2             1              1" in told
    (tmp_path / "one.jsonl").write_text("tide\n")
    ran = acpgen("validate", "one.jsonl", "one.jsonl", "a.jsonl", "--jobs", "1", cwd=tmp_path)
    assert ran.stdout.decode().splitlines()[0] == "one.jsonl: 1 invalid of 1 line"
    assert told.splitlines()[-3:] == [
        f"2 recordings, {len(WELL) + len(WRONG)} bytes: 7 lines valid, 1 invalid, 0 not judged.",
        "Recordings: 1 wholly valid, 1 with invalid lines.",
        "1 file ignored: the name is not that of a recording.",
    ]
    assert max(map(len, told.splitlines())) <= 80


def test_the_command_gives_json(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(WELL)
    (tmp_path / "b.jsonl").write_bytes(WRONG)
    ran = acpgen("validate", "--session", "--jobs", "1", "--format", "json", "a.jsonl", "b.jsonl", cwd=tmp_path)
    *rows, last = map(json.loads, ran.stdout.splitlines())
    assert [(row["recording"], row["valid"], row["lines"]["invalid"]) for row in rows] == [
        ("a.jsonl", True, 0),
        ("b.jsonl", False, 1),
    ]
    assert last["summary"]["worst"] == [{"recording": "b.jsonl", "invalid": 1}]
    assert last["summary"]["lines"] == {"valid": 7, "invalid": 1, "not_judged": 0}
    assert ran.returncode == 1


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["-", "a.jsonl"], "- is standard input, and cannot be combined with files"),
        (["--jobs", "2"], "name them"),
        (["--session", "--sender", "client", "."], "exclude each other"),
        (["--jobs", "0", "."], "--jobs"),
        (["--format", "yaml", "."], "there is no format 'yaml'"),
    ],
)
def test_options_that_do_not_fit_are_refused(tmp_path: Path, arguments: list[str], reason: str) -> None:
    ran = acpgen("validate", *arguments, cwd=tmp_path)
    assert ran.returncode == 2
    assert reason in ran.stderr.decode()


def test_the_text_of_a_verdict_names_files_of_its_recording() -> None:
    findings = tuple(Finding("talk.1.jsonl", line, f"{line}: invalid") for line in range(1, 6))
    verdict = Verdict("talk.jsonl", valid=1, invalid=4, not_judged=1, findings=findings, failure="it ends")
    assert as_text(verdict).splitlines() == [
        "talk.jsonl: 4 invalid and 1 not judged of 6 lines",
        "  talk.1.jsonl:1: invalid",
        "  talk.1.jsonl:2: invalid",
        "  talk.1.jsonl:3: invalid",
        "  … and 2 more kinds; --format json has them, or name this file alone",
        "  it ends",
    ]
    assert as_text(Verdict("a.jsonl", valid=1)) == ""
