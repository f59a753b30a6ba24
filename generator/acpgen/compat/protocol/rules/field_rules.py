"""The rules about the fields of objects, and about members that nobody declares."""

from __future__ import annotations

from typing import Final

from acpgen import ir
from acpgen.compat.findings import NO_ACTION
from acpgen.compat.protocol import facts as f
from acpgen.compat.protocol.declared import META
from acpgen.compat.protocol.rules.judgement import GATE, Judgement, seems
from acpgen.schema.numbers import dumps


def field_added(fact: f.FieldAdded) -> Judgement | None:
    """An optional field is new in an object that accepts undeclared members. Old receivers ignore it. The name, which was free, is
    claimed: as languages the new schema is narrower, between peers nothing breaks, since a sender sends what its schema declares.
    """
    if fact.field.required or isinstance(fact.old.extra, ir.Nothing) or fact.is_extension:
        return None
    name = fact.field.name
    if fact.pattern:
        return Judgement(
            "claimed",
            f"Fields whose names match {fact.pattern!r} were added.",
            NO_ACTION,
            within="*",
            subject=fact.pattern,
        )
    return Judgement(
        "claimed",
        f"The optional field {name!r}{_of(fact.by)} was added.",
        NO_ACTION,
        within=name,
        gate=fact.field.capability,
    )


def extension_declared(fact: f.FieldAdded) -> Judgement | None:
    """A name that begins with an underscore has a form now, or a name in what was a map of any values. Such names are free, so old peers
    may send anything under this one. Only `_meta` has a form of its own: an object. Where the new form accepts all of that, it is
    `field-added`.
    """
    if not fact.is_extension:
        return None
    name = fact.field.name
    if not name.startswith("_"):
        return Judgement(
            "taken",
            f"The field {name!r} was added with a form of its own to what was a map of any values; old peers may send anything under that "
            "name.",
            "Accept any value there, or put the field into its own object.",
            within=name,
            accepted_by="old",
        )
    return Judgement(
        "taken",
        f"The extension field {name!r} was added with its own type; old peers may send {_freely(name)} under that name.",
        "Accept any value there, or take a name without an underscore.",
        within=name,
        accepted_by="old",
    )


def closed_field_added(fact: f.FieldAdded) -> Judgement | None:
    """An optional field was added to an object that rejects undeclared members, so a strict old receiver rejects it."""
    if fact.field.required or not isinstance(fact.old.extra, ir.Nothing):
        return None
    name = fact.field.name
    return Judgement(
        "unknown",
        f"The optional field {name!r} was added to a closed object; old peers reject unknown members.",
        GATE,
        within=name,
        accepted_by="new",
        gate=fact.field.capability,
        ungated="",
    )


def required_field_added(fact: f.FieldAdded) -> Judgement | None:
    """A required field was added: messages of old senders lack it."""
    if not fact.field.required:
        return None
    name = fact.field.name
    return Judgement(
        "refused",
        f"The required field {name!r} was added; old peers do not send it.",
        "Make it optional, and define what its absence means.",
        within=name,
        accepted_by="old",
    )


def field_removed(fact: f.FieldRemoved) -> Judgement | None:
    """An optional field was removed. New receivers accept messages with it but ignore its value. Names that begin with an underscore are
    extensions and stay allowed everywhere: see `extension-undeclared`.
    """
    name = fact.field.name
    if fact.field.required or name.startswith("_"):
        return None
    shut = isinstance(fact.new.extra, ir.Nothing)
    if fact.pattern:
        return Judgement(
            "lost",
            f"Fields whose names match {fact.pattern!r} were removed; new peers ignore them, such as {name!r}.",
            "Keep the pattern until the next major version, and document its replacement.",
            within="*",
            subject=fact.pattern,
            carried_by="old",
        )
    if fact.by:
        return Judgement(
            "lost",
            f"The field {name!r}{_of(fact.by)} was removed; new peers ignore it.",
            "Keep it until the next major version, and document its replacement.",
            within=name,
            carried_by="old",
        )
    return Judgement(
        "refused" if shut else "lost",
        f"The field {name!r} was removed; new peers {'reject it' if shut else 'ignore it'}.",
        f"{seems(name, fact.seems)}Keep it as optional until the next major version, and document its replacement.",
        within=name,
        accepted_by="old" if shut else None,
        carried_by=None if shut else "old",
    )


def required_field_removed(fact: f.FieldRemoved) -> Judgement | None:
    """A required field was removed: new senders omit it, and old receivers reject that."""
    if not fact.field.required:
        return None
    name = fact.field.name
    return Judgement(
        "refused",
        f"The required field {name!r} was removed; old peers reject messages without it.",
        f"{seems(name, fact.seems)}Keep sending it until the next major version.",
        within=name,
        accepted_by="new",
    )


def field_renamed(fact: f.FieldRenamed) -> Judgement | None:
    """A field has another name, as `x-was` declares. Peers of one revision ignore the other's name for it, and reject a message without
    their own name for a required field. The contents are compared under the new name.
    """
    was, name = fact.was.name, fact.field.name
    return Judgement(
        "lost",
        f"The field {was!r} was renamed to {name!r}; peers of one revision ignore the name of the other.",
        f"Keep {was!r} beside {name!r} until the next major version, and read either.",
        within=name,
        subject=was,
        accepted_by="old",
        carried_by="old",
    )


def extension_undeclared(fact: f.FieldRemoved) -> Judgement | None:
    """A name that begins with an underscore, such as `_meta`, is no longer declared. Peers may send it all the same, since such names
    are reserved for extensions; its form is not checked any more. Where new peers may send what old ones refuse, that is risky.
    """
    name = fact.field.name
    if fact.field.required or not name.startswith("_"):
        return None
    if fact.is_extension:
        return Judgement(
            "taken",
            f"The extension field {name!r} is no longer declared; new peers may send {_freely(name)} under that name.",
            "Declare it until the next major version.",
            within=name,
            accepted_by="new",
        )
    if isinstance(fact.new.extra, ir.Nothing):
        return Judgement(
            "refused",
            f"The extension field {name!r} is no longer declared; new peers reject it.",
            "Declare it again.",
            within=name,
            accepted_by="old",
        )
    return Judgement(
        "added",
        f"The extension field {name!r} is no longer declared; its value is not checked.",
        "Declare it if generated code should offer it.",
        within=name,
    )


def field_became_required(fact: f.RequirednessChanged) -> Judgement | None:
    """A field is now required: old senders may omit it."""
    if not fact.required:
        return None
    return Judgement(
        "refused",
        f"The field {fact.field.name!r} is now required; old peers may omit it.",
        "Keep it optional, and define what its absence means.",
        within=fact.field.name,
        accepted_by="old",
    )


def field_became_optional(fact: f.RequirednessChanged) -> Judgement | None:
    """A field may now be omitted: new receivers accept that, old ones reject it."""
    if fact.required:
        return None
    return Judgement(
        "refused",
        f"The field {fact.field.name!r} is now optional; old peers reject messages without it.",
        "Keep it required, or send messages without it only to peers of the new version.",
        within=fact.field.name,
        accepted_by="new",
    )


_KEEP_OPEN: Final = "Keep the object open: receivers must ignore extensions, whose names begin with an underscore."


def object_closed(fact: f.ObjectOpennessChanged) -> Judgement | None:
    """Undeclared members are now rejected, extensions included."""
    if fact.is_open:
        return None
    free = ("Undeclared members are now rejected, extensions included.", _KEEP_OPEN)
    matching = (f"{_matching(fact.patterns)} are now rejected.", "Keep the pattern until the next major version.")
    return Judgement(
        "refused",
        *(matching if fact.patterns else free),
        accepted_by="old",
    )


def object_opened(fact: f.ObjectOpennessChanged) -> Judgement | None:
    """Undeclared members are now accepted; old receivers reject them."""
    if not fact.is_open:
        return None
    return Judgement(
        "unknown",
        f"{_matching(fact.patterns) if fact.patterns else 'Undeclared members'} are now accepted; old peers reject them.",
        f"Send {'them' if fact.patterns else 'extensions'} only to peers of the new version.",
        accepted_by="new",
    )


def _matching(patterns: tuple[str, ...]) -> str:
    return f"Members whose names match {' or '.join(map(repr, patterns))}"


def undeclared_narrowed(fact: f.UndeclaredChanged) -> Judgement | None:
    """Values are refused now for members that no schema declares, such as by `dependentRequired`. A sender sends what its schema
    declares, so old and new peers understand each other; whoever sends more, or checks stored documents, meets the difference.
    """
    if fact.refused_by == "old":
        return None
    return Judgement(
        "claimed",
        _undeclared("rejected", fact),
        "Declare the members that the new constraint applies to.",
    )


def undeclared_widened(fact: f.UndeclaredChanged) -> Judgement | None:
    """Values are accepted now that were refused for members which no schema declares. A sender sends what its schema declares, so old
    and new peers understand each other.
    """
    if fact.refused_by == "new":
        return None
    return Judgement(
        "added",
        _undeclared("accepted", fact),
        "Declare these members before any peer sends them.",
    )


def _of(by: str) -> str:
    """Words for the keyword that declares a field, where that is not `properties`."""
    return "" if by in ("", "properties") else f" of {by!r}"


def _undeclared(now: str, fact: f.UndeclaredChanged) -> str:
    """What is now rejected or accepted for members that nobody declares."""
    if fact.value is None:
        return (
            f"Whether more values with undeclared members are now {now} could not be decided; peers do not send these."
        )
    such = dumps(fact.value[0], ensure_ascii=False)
    return f"Some values with undeclared members are now {now}, such as {such}; peers do not send these."


def _freely(name: str) -> str:
    """What peers may send under a name for extensions."""
    return "any object" if name == META else "anything"
