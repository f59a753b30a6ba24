"""Modules that acpgen shares with other packages: the same files, so that one implementation judges everywhere.

The run-time package lies with the templates, because every generated package embeds it. Of `acp_session` the wheel of acpgen holds
the monitor. Both are loaded under names of our own: another version of either may be installed beside acpgen. A module is loaded
when it is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_bindings.runtime import contract, framing, parse, patterns, strict, supervisor

    from acp_session import monitor
    from acp_session.monitor import versions

    """Bindings of ACP do not carry it."""

    __all__ = ["contract", "framing", "monitor", "parse", "patterns", "strict", "supervisor", "versions"]
else:
    import sys
    from importlib import import_module
    from importlib.machinery import ModuleSpec
    from importlib.util import module_from_spec

    from acpgen import resources

    FOLDERS = {
        "acpgen._runtime": lambda: resources.templates() / "python" / "runtime",
        "acpgen._session": resources.session,
    }
    """The folder of each package. The packages' own `__init__` stay out: that of the run-time package is about models."""

    MODULES = {
        "contract": "acpgen._runtime.contract",
        "framing": "acpgen._runtime.framing",
        "monitor": "acpgen._session.monitor",
        "parse": "acpgen._runtime.parse",
        "patterns": "acpgen._runtime.patterns",
        "strict": "acpgen._runtime.strict",
        "supervisor": "acpgen._runtime.supervisor",
        "versions": "acpgen._session.monitor.versions",
    }

    def __getattr__(name):
        if name not in MODULES:
            raise AttributeError(name)
        package = ".".join(MODULES[name].split(".")[:2])
        if package not in sys.modules:
            spec = ModuleSpec(package, None, is_package=True)
            spec.submodule_search_locations = [str(FOLDERS[package]())]
            sys.modules[package] = module_from_spec(spec)
        found = globals()[name] = import_module(MODULES[name])
        return found
