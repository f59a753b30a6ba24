"""The protocol version that validates messages: the one that `initialize` names, or the one given to the monitor; who speaks it, and what
it leaves open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from .json_values import get_integer

if TYPE_CHECKING:
    from jsonrpc_bindings.contract import Contract

T = TypeVar("T")

NO_SCHEMA: Final = (
    "no schema is known for the version that the peers agreed on; name the protocol to judge by (--protocol)"
)


def is_unknown(version: object, protocols: Mapping[Any, object]) -> bool:
    """Whether a value has the form of a version of these protocols, but is none of them."""
    version_key = _read_version(version)
    return version_key is not None and version_key not in protocols and type(version_key) in map(type, protocols)


def is_named(version: object, protocols: Mapping[Any, object]) -> bool:
    """Whether this is one of the versions of these protocols."""
    return _read_version(version) in protocols


def choose_version(version: object, protocols: Mapping[Any, T], in_force: T | None, *, is_fixed: bool) -> T | None:
    """What judges once this version is named: the one in force where none is named, or where that is fixed; `None` for one that is
    not known.
    """
    if is_unknown(version, protocols) and not is_fixed:
        return None
    return protocols.get(_read_version(version), in_force)


def describe_disagreement(versions: Iterable[object]) -> str:
    """Why a message is not judged that is right by one version and wrong by another, while nobody has said which is spoken."""
    names = " and ".join(map(str, versions))
    return f"no `initialize` has named the version, and {names} judge this message differently; name the protocol to judge by (--protocol)"


def find_peers(contract: Contract) -> tuple[str, str]:
    """The two sides of a connection, the one that opens it first; the first two if there are more. ACP's proxy does not count."""
    sides = [side for side in contract.sides if side != "proxy"]
    if "client" in sides:
        sides.remove("client")
        return ("client", sides[0] if sides else "agent")
    return (sides[0], sides[1]) if len(sides) > 1 else ("client", "agent")


def describe_unjudged(contract: Contract, method: str, *, is_request: bool) -> str:
    """Why only the envelope of a message with this method, or of its response, is validated; empty if all of it is, or if anything is
    allowed.
    """
    if method.startswith("_") or any(row.name == method for row in contract.methods):
        return ""
    if contract.name.startswith("mcp/"):
        return "the method is not among those of MCP that the schema holds"
    if method.startswith("$/") and not is_request:
        return "the schema does not hold this notification, which receivers are free to ignore"
    return ""


def _read_version(value: object) -> int | str | None:
    """A version as contracts have it."""
    return value if isinstance(value, str) else get_integer(value)
