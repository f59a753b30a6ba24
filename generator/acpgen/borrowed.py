"""Modules that acpgen shares with what it generates: the same files, loaded from the templates. One implementation judges everywhere."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from types import ModuleType
from typing import Final

from acpgen.resources import templates

_PACKAGES: Final = {"runtime": "python/runtime", "session": "session/acp_session"}


def runtime(module: str) -> ModuleType:
    """A module of the run-time package of generated bindings. The package's own `__init__`, which is about models, stays out."""
    return _load("runtime", module)


def session(module: str) -> ModuleType:
    """A module of `acp_session`."""
    return _load("session", module)


def _load(package: str, module: str) -> ModuleType:
    name = f"acpgen._{package}"
    if name not in sys.modules:
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(templates() / _PACKAGES[package])]
        sys.modules[name] = module_from_spec(spec)
    return import_module(f"{name}.{module}")
