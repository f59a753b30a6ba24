"""Which version of a protocol judges: the one that `initialize` names, or that was named for the monitor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from .json_values import is_array, is_object

if TYPE_CHECKING:
    from jsonrpc_bindings.strict import Strict

T = TypeVar("T")

NO_SCHEMA: Final = (
    "no schema is known for the version that the peers agreed on; name the protocol to judge by (--protocol)"
)


def is_unknown(version: object, protocols: Mapping[Any, object]) -> bool:
    """Whether this is a version as these protocols have them, and none of theirs."""
    named = _version(version)
    return named is not None and named not in protocols and type(named) in map(type, protocols)


def is_named(version: object, protocols: Mapping[Any, object]) -> bool:
    """Whether this is one of the versions of these protocols."""
    return _version(version) in protocols


def spoken(version: object, protocols: Mapping[Any, T], in_force: T | None, *, is_fixed: bool) -> T | None:
    """What judges once this version is named: the one in force where none is named, or where that is fixed; `None` for one that is
    not known.
    """
    if is_unknown(version, protocols) and not is_fixed:
        return None
    return protocols.get(_version(version), in_force)


def negotiates(strict: Strict) -> bool:
    """Whether the params of `initialize` name a version, as those of ACP and MCP do."""
    row = strict.route("initialize", is_request=True)
    name = None if row is None else row.params
    pending: list[Any] = [] if name is None else [{"$ref": f"#/$defs/{name}"}]
    seen: set[str] = set()
    while pending:
        schema = pending.pop()
        if not is_object(schema):
            continue
        properties = schema.get("properties")
        if is_object(properties) and "protocolVersion" in properties:
            return True
        for key in ("allOf", "anyOf", "oneOf"):
            pending += schema[key] if is_array(schema.get(key)) else ()
        target = str(schema.get("$ref", "")).removeprefix("#/$defs/")
        if target not in seen:
            seen.add(target)
            pending.append(strict.schema["$defs"].get(target))
    return False


def unclear(versions: Iterable[object]) -> str:
    """Why a message is not judged that is right by one version and wrong by another, while nobody has said which is spoken."""
    known = " and ".join(map(str, versions))
    return f"no `initialize` has named the version, and {known} judge this message differently; name the protocol to judge by (--protocol)"


def _version(value: object) -> int | str | None:
    """A version as contracts have it."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int | str) and not isinstance(value, bool) else None
