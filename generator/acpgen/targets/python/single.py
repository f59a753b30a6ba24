"""The layout `file`: one module with everything that a package has, but for peers and former names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from acpgen import ir
from acpgen.targets.python.literals import literal
from acpgen.targets.python.naming import Names
from acpgen.targets.python.offered import PUBLIC, SHARED, in_order, moved, public
from acpgen.targets.python.records import Modules
from acpgen.targets.python.together import Thing, together

_MODULES: Final = (
    "_home",
    "_checks",
    "_base",
    "unions",
    "models",
    "_tables",
    "methods",
    "_contract",
    "strict",
)
"""The modules of a package, in the order in which one file has them."""


def file_view(
    protocol: ir.Protocol, files: Mapping[str, str], runtime: Iterable[tuple[str, str]], names: Names, modules: Modules
) -> dict[str, Any]:
    """What the template of a single file lays out: `files` are those of the package, `runtime` the modules that it builds on."""
    package, base = modules.package, modules.runtime
    folder = package.replace(".", "/")
    texts = {f"{package}.{name}": files[f"{folder}/{name}.py"] for name in _MODULES if f"{folder}/{name}.py" in files}
    texts[f"{package}._home"] = _home(package, base, files[f"{folder}/_schema.json"])
    for path, text in runtime:
        texts[base if path == "__init__.py" else f"{base}.{path.removesuffix('.py')}"] = text
    beside = SHARED
    called = public([*PUBLIC, *beside], names)
    types = _types(protocol, names, package)
    offered: dict[Thing, str] = {
        **types,
        **{(f"{package}.{module}", name): called[name] for name, module in PUBLIC.items()},
        **{(f"{base}.{module}", name): called[name] for name, module in beside.items()},
    }
    first = [f"{package}.{name}" for name in _MODULES if f"{package}.{name}" in texts]
    return {
        "text": together(texts, [base], first, offered, protocol.definitions),
        "moved": moved(called, "the module"),
        "exports": in_order(offered.values()),
    }


def _types(protocol: ir.Protocol, names: Names, package: str) -> dict[Thing, str]:
    """The types of the schema, by the modules that have them."""
    found: dict[Thing, str] = {}
    for one in protocol.definitions.values():
        module = "models" if isinstance(one, ir.Record) else "unions"
        found[f"{package}.{module}", names.classes[one.name]] = names.classes[one.name]
    return found


def _home(package: str, runtime: str, schema: str) -> str:
    """A module that says where the types are, with the schema. In a raw text a quote is an escape of JSON."""
    text = schema.replace("'''", r"\u0027\u0027\u0027").strip()
    quoted = literal(text) if _is_odd(text) else f"r'''{text}'''"
    return (
        f'"""the schema"""\nfrom {runtime}.homes import settle\nfrom {package}._contract import DEFINITIONS\n\n'
        f"settle(__name__, {quoted}, DEFINITIONS)\n"
    )


def _is_odd(text: str) -> bool:
    """Whether letters of a text are not seen, or end a line to some readers."""
    return any(not (letter.isprintable() or letter == "\n") for letter in text)
