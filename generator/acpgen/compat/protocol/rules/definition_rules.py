"""The rules about definitions as files have them, and about what could not be compared or decided."""

from __future__ import annotations

from typing import Final

from acpgen.compat.findings import NO_ACTION
from acpgen.compat.protocol import facts as f
from acpgen.compat.protocol.rules.judgement import Judgement

_MANY: Final = 6
"""As many names are told one by one."""


_BUT: Final = {
    "": "",
    "told": " except for what other findings report",
    "framed": ", unless it is not a message of this protocol",
}


def inclusion_undecided(fact: f.Undetermined) -> Judgement:
    """Something differs, and it could not be proven whether the difference breaks a peer. It is never treated as safe."""
    return Judgement(
        "undetermined",
        f"Changed, and the effect could not be decided: {fact.reason}.",
        "Review both places, and waive the finding if it is harmless.",
        subject=None,
    )


def definition_added(fact: f.DefinitionAdded) -> Judgement:
    """A definition was added that no message reaches: a separate document, or a definition that is not used yet."""
    return Judgement("added", f"The definition {fact.name!r} was added; no message uses it.", NO_ACTION)


def definition_removed(fact: f.DefinitionRemoved) -> Judgement:
    """A definition was removed that no message reached: whether anyone reads or writes documents of that kind is unknown."""
    return Judgement(
        "undetermined",
        f"The definition {fact.name!r} was removed; no message used it, so who depends on it is unknown.",
        "Keep it, declare its replacement with 'x-was', or waive the finding if nobody depends on it.",
    )


def not_compared(fact: f.NotCompared) -> Judgement:
    """Something differs that was not compared, because it is not understood or its place is not read. It is never treated as safe."""
    return Judgement(
        "undetermined",
        f"Changed, and not compared: {fact.reason}.",
        "Review both places, and waive the finding if it is harmless.",
        subject=None,
    )


def definition_renamed(fact: f.DefinitionRenamed) -> Judgement:
    """A definition has another name. No message shows it; generated code has another class, unless `x-was` declares the old name."""
    note = "" if fact.declared else " Generated classes are renamed."
    return Judgement(
        "renamed",
        f"The definition {fact.old!r} was renamed to {fact.new!r}.{note}",
        NO_ACTION if fact.declared else "Declare the old name with 'x-was', so that generated code can keep it.",
        subject=f"{fact.old} {fact.new}",
    )


def text_reworded(fact: f.Reworded) -> Judgement:
    """A description has changed."""
    return Judgement("reworded", f"The description of {fact.what} changed.", NO_ACTION, subject=fact.what)


def schema_restructured(fact: f.Restructured) -> Judgement:
    """The files differ in something that nothing a peer sends can notice: titles, examples, order, where a definition lives. A
    definition that is written differently and accepts the same is named. Generated code may differ all the same. Without `--unstable`,
    what is marked `x-unstable` and differs is named too: it is promised to nobody.
    """
    advice = NO_ACTION
    message = "The files differ only in ways that no message can show."
    if fact.but == "unstable":
        more = len(fact.classes) - _MANY
        listed = ", ".join(map(repr, fact.classes[:_MANY])) + (f" and {more} more" if more > 0 else "")
        message = f"Definitions and fields marked 'x-unstable' differ and were not compared: {listed}."
        advice = "Add '--unstable' to compare them."
    elif fact.but == "copied":
        message = f"Only one revision defines {fact.name!r}. No message refers to it, and a variant in messages has the same meaning."
    elif fact.but == "carried":
        written = "is written differently" if fact.old_at and fact.new_at else "is only in one revision"
        message = f"{fact.name!r} frames messages and {written}; the messages themselves are compared method by method."
    elif fact.but == "content":
        message = (
            f"{fact.name!r} describes the content of its texts differently ('contentMediaType', 'contentSchema'). "
            "No value is rejected; a peer that reads the content reads it differently."
        )
    elif fact.name:
        message = (
            f"The definition {fact.name!r} is written differently, in a way that no message can show{_BUT[fact.but]}."
        )
    elif fact.classes:
        message = f"Generated code differs in {', '.join(map(repr, fact.classes))}, in a way that no message can show."
    return Judgement(
        "reworded", message, advice, within=fact.name, subject=" ".join((fact.name, *fact.classes)).strip()
    )
