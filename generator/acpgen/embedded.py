"""The packages that acpgen carries: `jsonrpc_bindings`, and the monitor of `acp_session`. What generated packages judge by judges here.

Both are loaded under names of acpgen: another version of either may be installed beside it, or none. A module is loaded when it is
first asked for, and without the `__init__` of its package: that of `jsonrpc_bindings` loads all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_session import monitor
    from acp_session.monitor import versions
    from jsonrpc_bindings import contract, discriminators, engine, framing, homes, parse, patterns, strict, supervisor

    __all__ = [
        "contract",
        "discriminators",
        "engine",
        "framing",
        "homes",
        "monitor",
        "parse",
        "patterns",
        "strict",
        "supervisor",
        "versions",
    ]
else:
    import sys
    from importlib import import_module
    from importlib.machinery import ModuleSpec
    from importlib.util import module_from_spec

    from acpgen import resources

    FOLDERS = {"jsonrpc_bindings": resources.runtime, "acp_session": resources.session}
    MODULES = {
        **dict.fromkeys(
            ("contract", "discriminators", "engine", "framing", "homes", "parse", "patterns", "strict", "supervisor"),
            "jsonrpc_bindings",
        ),
        "monitor": "acp_session",
        "versions": "acp_session.monitor",
    }
    """The package of each module."""

    def __getattr__(name):
        if name not in MODULES:
            raise AttributeError(name)
        package = MODULES[name].partition(".")[0]
        if f"acpgen.{package}" not in sys.modules:
            spec = ModuleSpec(f"acpgen.{package}", None, is_package=True)
            spec.submodule_search_locations = [str(FOLDERS[package]())]
            sys.modules[f"acpgen.{package}"] = module_from_spec(spec)
        found = globals()[name] = import_module(f"acpgen.{MODULES[name]}.{name}")
        return found
