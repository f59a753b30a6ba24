"""The target `python`: typed records, tagged unions that keep unknown variants, the method table, decoding and encoding.

Records come from datamodel-code-generator; everything else is laid out by the templates. The code runs on `jsonrpc_bindings`, or on a
copy of it inside the package.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.embedded import runtime_folder
from acpgen.meaning.unenforced import gaps
from acpgen.targets.interface import Settings, require_json_rpc
from acpgen.targets.python.additional_properties import additional_property_definitions
from acpgen.targets.python.defaults import with_sound_defaults
from acpgen.targets.python.distribution import distribution
from acpgen.targets.python.exports import PUBLIC, in_order, own_names, public, renaming_notes
from acpgen.targets.python.formatting import format_files, with_relative_imports
from acpgen.targets.python.literals import inside_docstring, literal, raw
from acpgen.targets.python.method_table import method_rows
from acpgen.targets.python.models import Modules, render_models
from acpgen.targets.python.naming import Names, name_all
from acpgen.targets.python.peers import peers_view
from acpgen.targets.python.python_options import OPTIONS, read_options
from acpgen.targets.python.python_templates import NOTICE, render_template, title_of
from acpgen.targets.python.schema import beside_the_schema, schema_text
from acpgen.targets.python.single_module import join_modules
from acpgen.targets.python.types import either

__all__ = ["OPTIONS", "render"]


def render(protocol: ir.Protocol, bundle: Bundle, settings: Settings) -> Mapping[str, str]:
    """The package's files below the folder of its top-level package, and the distribution's where one is asked for.

    Raises `Faults` where two names collide, or messages are none of JSON-RPC.
    """
    require_json_rpc(protocol, "python", "a package reads and writes messages")
    package = settings.package or "bindings"
    top = package.partition(".")[0]
    chosen = read_options(settings)
    is_file, is_embedded = chosen.layout == "file", chosen.runtime == "embedded"
    copied = f"{package}_runtime" if is_file and package == top else f"{top}.runtime"
    modules = Modules(runtime=copied if is_embedded else "jsonrpc_bindings", package=package, options=chosen)
    protocol = with_sound_defaults(protocol, bundle)
    names = name_all(protocol, chosen)
    folder, keeping = package.replace(".", "/"), additional_property_definitions(bundle)
    files = {
        f"{folder}/models.py": render_models(protocol, names, modules, NOTICE, keeping, settings.cache),
        f"{folder}/methods.py": _methods(protocol, bundle, names, modules),
    }
    if is_file:
        files = {f"{folder}.py": _file(protocol, bundle, [*files.values()], names, modules)}
    else:
        files[f"{folder}/_schema.json"] = schema_text(
            bundle, beside_the_schema(protocol, bundle, names, modules.options)
        )
        files.update(_around(protocol, names, modules))
    if settings.distribution is not None:
        files.update(distribution(protocol, settings, top, modules.runtime, chosen))
    files = format_files(with_relative_imports(files), chosen.line_length, chosen.python)
    return files | ({f"{copied.replace('.', '/')}/{path}": text for path, text in _runtime()} if is_embedded else {})


def _file(protocol: ir.Protocol, bundle: Bundle, parts: list[str], names: Names, modules: Modules) -> str:
    """One module of those of a package, one after another."""
    called = public(PUBLIC, names)
    view = {
        "title": title_of(protocol),
        "about": _about(protocol, renaming_notes(called, "the module")),
        "runtime": modules.runtime,
        "schema": raw(schema_text(bundle, beside_the_schema(protocol, bundle, names, modules.options))),
        "exports": in_order([*names.classes.values(), *called.values()]),
    }
    first = render_template("file", others=own_names(names), **view)
    return join_modules(
        [first, *parts], lambda node: node.level > 0 or (node.module or "").startswith(f"{modules.package}.")
    )


def _around(protocol: ir.Protocol, names: Names, modules: Modules) -> dict[str, str]:
    """What a package has beside its types and methods: what it offers, peers, and the package above it."""
    folder, top = modules.package.replace(".", "/"), modules.package.partition(".")[0]
    files = {f"{folder}/__init__.py": _package(protocol, names), f"{top}/py.typed": ""}
    view = peers_view(protocol, names)
    if view is not None:
        files[f"{folder}/peers.py"] = _peers(protocol, modules, view)
    if folder != top:
        files[f"{top}/__init__.py"] = render_template("top", runtime=modules.runtime, about="Typed protocol bindings.")
    return files


@cache
def _runtime() -> tuple[tuple[str, str], ...]:
    return tuple((path.name, path.read_text("utf-8")) for path in sorted(runtime_folder().glob("*.py")))


def _peers(protocol: ir.Protocol, modules: Modules, view: dict[str, Any]) -> str:
    about = "Subclass a side, override what it serves, and run it; `join` connects both in memory."
    return render_template("peers", title=title_of(protocol), about=about, runtime=modules.runtime, **view)


def _methods(protocol: ir.Protocol, bundle: Bundle, names: Names, modules: Modules) -> str:
    error = _error(protocol)
    sides = list(protocol.sides) or ["client", "server"]
    others: Mapping[str, str] = own_names(names) if modules.is_file else {}
    here = names if modules.is_file else names.of_module("models")
    message, any_ = others.get("Message", "Message"), others.get("Any", "Any")
    error_class = here.classes[error] if error is not None else "codec.ErrorObject"
    return render_template(
        "methods",
        others=others,
        title=title_of(protocol),
        runtime=modules.runtime,
        sides=", ".join(literal(side) for side in sides),
        returns=f"{message} | list[{message}]" if protocol.batch else message,
        encodes=f"{message} | list[{message}] | {any_}" if protocol.batch else f"{message} | {any_}",
        has_models=not modules.is_file and (bool(protocol.methods) or error is not None),
        groups=_groups(protocol, here, others),
        methods=method_rows(protocol, here, any_),
        error=error_class,
        options=_options(protocol, error_class, sides),
        unenforced=[(literal(name), [*map(literal, places)]) for name, places in gaps(protocol, bundle).items()],
    )


def _error(protocol: ir.Protocol) -> str | None:
    """The definition of what a failed request is answered with."""
    error = protocol.definitions.get("Error")
    is_error = isinstance(error, ir.Record) and {"code", "message"} <= {field.name for field in error.fields}
    return "Error" if is_error else None


def _options(protocol: ir.Protocol, error: str, sides: list[str]) -> str:
    """The arguments of the codec after its tables."""
    options = [f"error={error}", f"null_id={_allows_null_id(protocol)}", f"batch={protocol.batch}"]
    options.append(f"sides=({', '.join(map(literal, sides))})")
    if protocol.envelope == "json-rpc-unversioned":
        options.append("versioned=False")
    return ", ".join(options)


def _groups(protocol: ir.Protocol, names: Names, others: Mapping[str, str]) -> list[dict[str, str]]:
    """The unions of all params and of all results."""
    members: dict[str, list[str | None]] = {
        "AnyRequestParams": [m.params for m in protocol.methods if m.kind == "request"],
        "AnyNotificationParams": [m.params for m in protocol.methods if m.kind == "notification"],
        "AnyResult": [m.result for m in protocol.methods if m.kind == "request"],
    }
    docs = {
        "AnyRequestParams": "The params of any request; plain JSON for extension methods.",
        "AnyNotificationParams": "The params of any notification; plain JSON for extension methods.",
        "AnyResult": "The result of any request.",
    }
    groups: list[dict[str, str]] = []
    for name, found in members.items():
        classes = list(dict.fromkeys(names.classes[item] for item in found if item is not None))
        lines = either([*classes, "jsonrpc.JSON"], "\n    | ")
        groups.append({"name": others.get(name, name), "value": f'"""(\n    {lines}\n)"""', "doc": docs[name]})
    return groups


def _allows_null_id(protocol: ir.Protocol) -> bool:
    match protocol.definitions.get("RequestId"):
        case ir.Alias(type=ir.AnyOf(types=types)):
            return ir.Null() in types
        case _:
            return False


def _package(protocol: ir.Protocol, names: Names) -> str:
    called = public(PUBLIC, names)
    return render_template(
        "package",
        title=title_of(protocol),
        about=_about(protocol, renaming_notes(called)),
        types=sorted(names.classes.values()),
        public={name: name if other == name else f"{name} as {other}" for name, other in called.items()},
        exports=in_order([*names.classes.values(), *called.values()]),
    )


def _about(protocol: ir.Protocol, notes: list[str]) -> str:
    about = inside_docstring(protocol.doc, 0) or "Types, method table, decoding and encoding."
    return "\n\n".join([about, *notes])
