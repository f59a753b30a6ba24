"""The packages bundled with acpgen: `jsonrpc_bindings` and `acp_monitor`, so that acpgen validates with the code of generated packages.

Both are loaded under names inside acpgen: another version of either may be installed beside it, or none. Each module is loaded on first
access; `jsonrpc_bindings` without its `__init__`, which would import all of its modules.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING


def locate_monitor() -> Path:
    """The folder of the package `acp_monitor`."""
    packaged = Path(__file__).with_name("acp_monitor")
    return packaged if packaged.is_dir() else Path(__file__).parents[1] / "acp-monitor" / "acp_monitor"


def locate_runtime() -> Path:
    """The folder of the package `jsonrpc_bindings`, the runtime of generated Python."""
    packaged = Path(__file__).with_name("jsonrpc_bindings")
    return packaged if packaged.is_dir() else Path(__file__).parents[1] / "jsonrpc_bindings"


if TYPE_CHECKING:
    import acp_monitor as monitor
    from acp_monitor import requirements, versions
    from jsonrpc_bindings import (
        contract,
        discriminators,
        engine,
        errors,
        framing,
        module_registry,
        parse,
        stdio,
        strict,
        supervisor,
    )

    __all__ = ["contract", "discriminators", "engine", "errors", "framing", "locate_monitor", "module_registry"]
    __all__ += ["locate_runtime", "monitor", "parse", "requirements", "stdio", "strict", "supervisor", "versions"]
else:
    import sys
    from importlib import import_module
    from importlib.machinery import ModuleSpec
    from importlib.util import module_from_spec, spec_from_file_location
    from threading import RLock

    _ONE_AT_A_TIME = RLock()
    RUNTIME = (
        *("contract", "discriminators", "engine", "errors", "framing", "module_registry"),
        *("parse", "stdio", "strict", "supervisor"),
    )

    def _import_runtime(name):
        if "acpgen.jsonrpc_bindings" not in sys.modules:
            spec = ModuleSpec("acpgen.jsonrpc_bindings", None, is_package=True)
            spec.submodule_search_locations = [str(locate_runtime())]
            sys.modules[spec.name] = module_from_spec(spec)
        return import_module(f"acpgen.jsonrpc_bindings.{name}")

    def _import_monitor():
        name, folder = "acpgen.acp_monitor", locate_monitor()
        with _ONE_AT_A_TIME:  # `tap` asks for it in two threads
            if name not in sys.modules:
                spec = spec_from_file_location(name, folder / "__init__.py", submodule_search_locations=[str(folder)])
                sys.modules[name] = module_from_spec(spec)
                spec.loader.exec_module(sys.modules[name])
        return sys.modules[name]

    def __getattr__(name):
        if name in RUNTIME:
            module = _import_runtime(name)
        elif name == "monitor":
            module = _import_monitor()
        elif name in ("requirements", "versions"):
            module = import_module(f"{_import_monitor().__name__}.{name}")
        else:
            raise AttributeError(name)
        globals()[name] = module
        return module
