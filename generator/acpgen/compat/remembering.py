"""Reports that are kept, as JSON that is read again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from acpgen import provenance
from acpgen.compat import findings
from acpgen.compat.findings import Mode, Report
from acpgen.kept import Kept, key
from schema_inclusion import unanswered

if TYPE_CHECKING:
    from acpgen.compat.sources import Input
    from acpgen.ir import JSON

_CLASSES: Final[dict[str, Any]] = {name: found for name, found in vars(findings).items() if is_dataclass(found)}

_TUPLE: Final = ""
_JSON: Final = "{}"


def report(
    old: Input,
    new: Input,
    kept: Kept,
    make: Callable[[], Report],
    *,
    mode: Mode,
    unstable: bool,
    budget: int,
    formats: bool,
) -> Report:
    """The report of two sides, before any policy judges it: as it is kept, or made now. Raises `Faults`.

    What was made is kept unless the prover left an answer to time.
    """
    if kept.folder is None:
        return make()
    code = provenance.everything()
    known = key(code, "report", (mode, repr((unstable, budget, formats)), *_said(old), *_said(new)))
    data = kept.find(known)
    if data is None:
        left = unanswered()
        data = as_data(make())
        if code.is_as_it_was and unanswered() == left:
            kept.keep(known, data)
    return cast("Report", from_data(data))


def _said(side: Input) -> Iterator[str]:
    """All of a side that its report depends on: its texts, what people call them, and the profile that reads them."""
    documents = side.documents
    yield from (side.label, documents.name, repr(side.methods), str(len(documents.documents)))
    beside = documents.references.items()
    for known, document in [*(("", each) for each in documents.documents), *beside]:
        yield from (known, document.path, side.at(document.path), document.text)


def as_data(value: Any) -> JSON:
    """A record of `findings` as a list of its name and its fields, a tuple as one without a name, JSON in one of its own."""
    if is_dataclass(value):
        return [type(value).__name__, *(as_data(getattr(value, each.name)) for each in fields(value))]
    if isinstance(value, tuple):
        return [_TUPLE, *map(as_data, cast("tuple[object, ...]", value))]
    return [_JSON, value] if isinstance(value, list | dict) else value


def from_data(data: Any) -> Any:
    """What `as_data` was given."""
    if not isinstance(data, list):
        return data
    kind, *inner = cast("Sequence[Any]", data)
    if kind == _JSON:
        return inner[0]
    read = map(from_data, inner)
    if kind == _TUPLE:
        return tuple(read)
    made = _CLASSES[kind]
    return made(**dict(zip((each.name for each in fields(made)), read, strict=True)))
