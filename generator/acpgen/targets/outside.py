"""Targets of others: what goes wrong in one is a fault with its name, and what it makes is files or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import EntryPoint
from typing import Final, cast

from acpgen import ir
from acpgen.errors import Faults, TargetFailed, printable, shown
from acpgen.schema.bundle import Bundle
from acpgen.targets.interface import Render, Settings, Target
from acpgen.targets.options import Option
from acpgen.write import is_file

GROUP: Final = "acpgen.targets"
"""The group of entry points."""


def failed(at: str, name: str, reason: str) -> Faults:
    """The fault of a target that failed."""
    return Faults([TargetFailed(at=at, name=name, reason=printable(reason))])


def of_package(entry: EntryPoint) -> Target:
    """The target that an entry point names. Raises `Faults` where it cannot be loaded or is no target."""
    try:
        loaded: object = entry.load()
    except (Exception, SystemExit) as error:
        raise failed(entry.value, entry.name, _reason(error)) from error
    target = loaded if isinstance(loaded, Target) else Target(cast("Render", loaded)) if callable(loaded) else None
    if target is None or not all(isinstance(option, Option) for option in cast("tuple[object, ...]", target.options)):
        raise failed(entry.value, entry.name, "it is neither an acpgen.plugins.Target nor a function")
    return replace(target, render=_guarded(entry, target.render), origin="package", at=entry.value)


def _guarded(entry: EntryPoint, function: Render) -> Render:
    def render(protocol: ir.Protocol, bundle: Bundle, settings: Settings) -> Mapping[str, str]:
        try:
            made: object = function(protocol, bundle, settings)
        except Faults:
            raise
        except (Exception, SystemExit) as error:  # code of others may raise anything, and none of it is a bug of ours
            raise failed(entry.value, entry.name, _reason(error)) from error
        return files_of(made, entry.value, entry.name)

    return render


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ")


def files_of(made: object, at: str, name: str) -> Mapping[str, str]:
    """What a target has made, if it is files that an output may hold. Raises `Faults`."""
    if not isinstance(made, Mapping):
        raise failed(at, name, "it made no mapping from relative paths, with '/', to texts")
    files: dict[str, str] = {}
    for path, text in cast("Mapping[object, object]", made).items():
        if not isinstance(path, str) or not isinstance(text, str):
            raise failed(at, name, "it made no mapping from relative paths, with '/', to texts")
        if not is_file(path, text):
            told = "a text that is no Unicode" if is_file(path, "") else "a place that no output can have"
            advice = "" if is_file(path, "") else "; a path is relative, with '/', of letters, digits and _ . @ + -"
            raise failed(at, name, f"it made the file {shown(path)}, {told}{advice}")
        files[path] = text
    _require_apart(files, at, name)
    return files


def _require_apart(files: Mapping[str, str], at: str, name: str) -> None:
    """Refuse paths that are one where case is not told apart, and files that are folders of others."""
    folded: dict[str, str] = {}
    for path in files:
        other = folded.setdefault(path.casefold(), path)
        if other != path:
            raise failed(
                at, name, f"it made the files {shown(other)} and {shown(path)}, which some systems take for one"
            )
    for path in files:
        steps = path.casefold().split("/")
        for length in range(1, len(steps)):
            if (parent := "/".join(steps[:length])) in folded:
                raise failed(at, name, f"it made {shown(folded[parent])}, in whose place {shown(path)} needs a folder")
