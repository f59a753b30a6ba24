"""The interface of a target: a function from the IR of one protocol version to files, with its description and options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.errors import Faults
from acpgen.meaning.faults import UNSUPPORTED
from acpgen.targets.options import Option
from acpgen.targets.settings import Settings as Settings

Render: TypeAlias = Callable[[ir.Protocol, Bundle, Settings], Mapping[str, str]]
"""From a protocol to its files: text by relative path with forward slashes. Equal input gives equal bytes."""

Origin: TypeAlias = Literal["acpgen", "package", "program"]
"""The origin of a target: acpgen itself, an entry point of another distribution, or a program."""


@dataclass(frozen=True, slots=True)
class Target:
    """A target: its function, its description in one sentence, and its options.

    `render` gets a value for each declared option (`settings.options`), and raises `Faults` for an unsupported protocol or setting. An
    entry point of the group `acpgen.targets` is a `Target` or just the function. acpgen fills in `origin` and `at`, the place of
    definition.
    """

    render: Render
    about: str = ""
    options: tuple[Option, ...] = ()
    origin: Origin = "acpgen"
    at: str = ""

    def __call__(self, protocol: ir.Protocol, bundle: Bundle, settings: Settings) -> Mapping[str, str]:
        """Run `render` within the step budget of a protocol, with the default of every option that the settings omit. Raises `Faults`."""
        options = {**{option.name: option.default for option in self.options}, **settings.options}
        with bundle.limit_steps():
            return self.render(protocol, bundle, replace(settings, options=options))


def require_json_rpc(protocol: ir.Protocol, target: str, product: str) -> None:
    """Raise `Faults` if the messages are not framed as in JSON-RPC. `product` names the part of the target that supports only JSON-RPC."""
    if protocol.envelope == "dap":
        reason = f"its messages have the frames of the Debug Adapter Protocol, and {product} of JSON-RPC"
        remedy = "Name other targets, as in '--target docs,bundle'; docs, bundle and ir know these frames"
        raise Faults([UNSUPPORTED(at=protocol.name, subject=f"the target {target!r}", reason=reason, remedy=remedy)])
