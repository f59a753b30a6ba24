"""What a target is: a function from the meaning of one protocol version to files, and what it says of itself."""

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
"""Where a target comes from: acpgen itself, an entry point of another distribution, or a program."""


@dataclass(frozen=True, slots=True)
class Target:
    """A target: its function, a sentence about it, and its options.

    `render` is given a value for each declared option (`settings.options`), and raises `Faults` where a protocol or setting cannot be
    used. An entry point of the group `acpgen.targets` is a `Target` or, where it has nothing to say, the function alone. `origin` and
    `at`, where it comes from, are filled in by acpgen.
    """

    render: Render
    about: str = ""
    options: tuple[Option, ...] = ()
    origin: Origin = "acpgen"
    at: str = ""

    def __call__(self, protocol: ir.Protocol, bundle: Bundle, settings: Settings) -> Mapping[str, str]:
        """What `render` makes, with the default of every option that the settings leave out, within the steps that a protocol is given.

        Raises `Faults`.
        """
        options = {**{option.name: option.default for option in self.options}, **settings.options}
        with bundle.bounded():
            return self.render(protocol, bundle, replace(settings, options=options))


def require_json_rpc(protocol: ir.Protocol, target: str, product: str) -> None:
    """Raise `Faults` where messages have other frames than those of JSON-RPC. `product` says what of the target has these alone."""
    if protocol.envelope == "dap":
        reason = f"its messages have the frames of the Debug Adapter Protocol, and {product} of JSON-RPC"
        remedy = f"Leave the target {target!r} out; docs, bundle and ir know these frames"
        raise Faults([UNSUPPORTED(at=protocol.name, subject=f"the target {target!r}", reason=reason, remedy=remedy)])
