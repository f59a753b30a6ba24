"""The roles that a policy promises something to: each is a role of what is compared, or of another protocol of the project."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from acpgen.compat.compare import side
from acpgen.compat.sources import opened
from acpgen.errors import Fault, Faults, UnknownName, did_you_mean
from acpgen.schema.load import place

if TYPE_CHECKING:
    from acpgen.compat.findings import Report
    from acpgen.compat.promises import Policy
    from acpgen.config import Config


def require_roles(policy: Policy, reports: Iterable[Report], project: Config) -> None:
    """Raises `Faults` where `promise` names a role that none of the reports knows, nor a protocol of the project.

    Where nothing has roles, or a protocol of the project cannot be read, it is not known.
    """
    known = {role for report in reports for role in report.named.roles}
    if policy.promises.keys() <= known:
        return
    try:
        known.update(_roles(project))
    except Faults:
        return
    if not known:
        return
    faults: list[Fault] = [
        UnknownName(
            at=f"{place(project.file)}: tool.acpgen.compat.promise.{role}",
            kind="role",
            name=role,
            hint=_hint(role, sorted(known)),
        )
        for role in policy.promises
        if role not in known
    ]
    if faults:
        raise Faults(faults)


def _roles(project: Config) -> Iterator[str]:
    """The roles of the protocols of a project. Raises `Faults`."""
    for name in project.protocols:
        source = project.root / project.schema / name
        yield from side(opened(source, methods=project.profile(name)), unstable=True).meaning.protocol.sides


def _hint(role: str, known: list[str]) -> str:
    told = f"The roles are {', '.join(map(repr, known))}."
    guess = did_you_mean(role, known)
    return f"{guess} {told}" if guess.startswith("Did") else told
