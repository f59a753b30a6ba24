"""The target `python`: typed records, tagged unions that keep unknown variants, the method table, decoding and encoding.

Records come from datamodel-code-generator; everything else is laid out by the templates. The code runs on `jsonrpc_bindings`, or on a
copy of it inside the package.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from acpgen import ir
from acpgen.resources import runtime
from acpgen.schema.bundle import Bundle
from acpgen.schema.expressions import translations
from acpgen.targets import Settings
from acpgen.targets.interface import require_json_rpc
from acpgen.targets.python.aliases import alias_views, imports, named_records
from acpgen.targets.python.alone import with_shared_bodies
from acpgen.targets.python.annotations import either
from acpgen.targets.python.beyond import Beyond, beyond, check_view
from acpgen.targets.python.defaults import with_sound_defaults
from acpgen.targets.python.dials import OPTIONS, PYTHONS, dials
from acpgen.targets.python.distribution import STRICT, distribution
from acpgen.targets.python.formatted import formatted, with_relative_imports
from acpgen.targets.python.joined import joined
from acpgen.targets.python.laid_out import NOTICE, lay_out, title_of
from acpgen.targets.python.literals import inside_docstring, json_literal, literal, raw
from acpgen.targets.python.naming import Names, name_all
from acpgen.targets.python.offered import OWN, PUBLIC, in_order, moved, own_names, public
from acpgen.targets.python.peers import peers_view
from acpgen.targets.python.records import Modules, render_records
from acpgen.targets.python.strict import contract_view, renamed_definitions, schema_text
from acpgen.targets.python.tables import lenient_rows, method_rows, owner_rows, unenforced_rows

__all__ = ["OPTIONS", "render"]


def render(protocol: ir.Protocol, bundle: Bundle, settings: Settings) -> Mapping[str, str]:
    """The package's files below the folder of its top-level package, and the distribution's where one is asked for.

    Raises `Faults` where two names collide, or messages are none of JSON-RPC.
    """
    require_json_rpc(protocol, "python", "a package reads and writes messages")
    package = settings.package or "bindings"
    top = package.partition(".")[0]
    chosen = dials(settings)
    is_file, is_embedded = chosen.layout == "file", chosen.runtime == "embedded"
    copied = f"{package}_runtime" if is_file and package == top else f"{top}.runtime"
    modules = Modules(runtime=copied if is_embedded else "jsonrpc_bindings", package=package, dials=chosen)
    protocol = with_sound_defaults(protocol, bundle)
    found = beyond(protocol, bundle)
    names = name_all(protocol, chosen, checked=found.checks.by)
    written, protocol = protocol, with_shared_bodies(protocol, names.shared)
    folder = package.replace(".", "/")
    files = {f"{folder}/_base.py": _base(protocol, modules)} if chosen.has_base else {}
    if found.checks.by or not all(isinstance(one, ir.Record) for one in protocol.definitions.values()):
        files[f"{folder}/unions.py"] = _unions(protocol, names, modules, found)
    files[f"{folder}/models.py"] = render_records(protocol, names, modules, NOTICE, found)
    files[f"{folder}/methods.py"] = _methods(protocol, written, bundle, names, modules, found, _extra(settings))
    if is_file:
        files = {f"{folder}.py": _file(protocol, bundle, [*files.values()], names, modules)}
    else:
        files[f"{folder}/_schema.json"] = schema_text(bundle)
        files.update(_around(protocol, names, modules))
    if settings.distribution is not None:
        files.update(distribution(protocol, settings, top, modules.runtime, chosen))
    files = formatted(with_relative_imports(files), chosen.line_length, chosen.python)
    return files | ({f"{copied.replace('.', '/')}/{path}": text for path, text in _runtime()} if is_embedded else {})


def _file(protocol: ir.Protocol, bundle: Bundle, parts: list[str], names: Names, modules: Modules) -> str:
    """One module of those of a package, one after another."""
    called = public(PUBLIC, names)
    view = {
        "title": title_of(protocol),
        "about": _about(protocol, moved(called, "the module")),
        "runtime": modules.runtime,
        "renamed": renamed_definitions(names),
        "schema": raw(schema_text(bundle)),
        "exports": in_order([*names.classes.values(), *called.values()]),
    }
    first = lay_out("file", others=own_names(names), **view)
    return joined([first, *parts], lambda node: node.level > 0 or (node.module or "").startswith(f"{modules.package}."))


def _around(protocol: ir.Protocol, names: Names, modules: Modules) -> dict[str, str]:
    """What a package has beside its types and methods: what it offers, peers, and the package above it."""
    folder, top = modules.package.replace(".", "/"), modules.package.partition(".")[0]
    files = {f"{folder}/__init__.py": _package(protocol, names, modules), f"{top}/py.typed": ""}
    view = peers_view(protocol, names)
    if view is not None:
        files[f"{folder}/peers.py"] = _peers(protocol, modules, view)
    if folder != top:
        files[f"{top}/__init__.py"] = lay_out("top", runtime=modules.runtime, about="Typed protocol bindings.")
    return files


@cache
def _runtime() -> tuple[tuple[str, str], ...]:
    return tuple((path.name, path.read_text("utf-8")) for path in sorted(runtime().glob("*.py")))


def _unions(protocol: ir.Protocol, names: Names, modules: Modules, found: Beyond) -> str:
    records = sorted(names.classes[name] for name in named_records(protocol)) if not modules.is_file else []
    used = imports(protocol, found, names)
    views = alias_views(protocol, names, found)
    return lay_out(
        "unions",
        title=title_of(protocol),
        aliases=views,
        has_aliases=any("base" not in view for view in views),
        texts=[names.imported(name) for name in ("OpenTexts", "Texts") if name in used],
        alias_module="typing" if modules.dials.python != PYTHONS[0] else "typing_extensions",
        records=records,
        runtime=modules.runtime,
        imported=names.imported("TypeAliasType"),
        alias_type=names.ours("TypeAliasType"),
        type_checking=names.ours("TYPE_CHECKING"),
        type_alias=names.ours("TypeAlias"),
        typing=[
            names.imported(name)
            for name in ("TYPE_CHECKING", "Annotated", "Any", "Literal", "Never", "TypeAlias")
            if name in used
        ],
        has_field=names.imported("Field") if "Field" in used else "",
        checks={"name": names.ours("CHECKS"), **check_view(found.checks)} if found.checks.by else None,
        markers=[
            names.imported(name)
            for name in (
                "Alone",
                "Bounds",
                "Defined",
                "Exact",
                "MultipleOf",
                "Number",
                "Open",
                "Pattern",
                "Positional",
                "Shapes",
                "Tagged",
                "UniqueItems",
                "WithoutFraction",
            )
            if name in used
        ],
    )


def _base(protocol: ir.Protocol, modules: Modules) -> str:
    chosen = modules.dials
    return lay_out(
        "base",
        title=title_of(protocol),
        runtime=modules.runtime,
        prefix=modules.of_base,
        is_dropping=chosen.unknown == "ignore",
        extra=literal(chosen.extra),
    )


def _extra(settings: Settings) -> str:
    """What people install to validate: the extra of the distribution, or what it stands for."""
    return f"{settings.distribution}[strict]" if settings.distribution is not None else STRICT


def _peers(protocol: ir.Protocol, modules: Modules, view: dict[str, Any]) -> str:
    about = "Subclass a side, override what it serves, and run it; `join` connects both in memory."
    return lay_out("peers", title=title_of(protocol), about=about, runtime=modules.runtime, **view)


def _methods(
    protocol: ir.Protocol,
    written: ir.Protocol,
    bundle: Bundle,
    names: Names,
    modules: Modules,
    found: Beyond,
    extra: str,
) -> str:
    error = _error(protocol)
    used = {name for m in protocol.methods for name in (m.params, m.result) if name is not None}
    used |= {error} if error is not None else set()
    kinds = {name: isinstance(protocol.definitions[name], ir.Record) for name in used}
    sides = list(protocol.sides) or ["client", "server"]
    others: Mapping[str, str] = own_names(names) if modules.is_file else {}
    here = names if modules.is_file else names.beside(OWN)
    message, any_ = others.get("Message", "Message"), others.get("Any", "Any")
    imported = {
        name: class_ if class_ == here.classes[name] else f"{class_} as {here.classes[name]}"
        for name, class_ in names.classes.items()
    }
    error_class = here.classes[error] if error is not None else "jsonrpc.ErrorObject"
    patterns = translations(bundle.definitions.values())
    return lay_out(
        "methods",
        others=others,
        title=title_of(protocol),
        runtime=modules.runtime,
        is_file=modules.is_file,
        sides=", ".join(literal(side) for side in sides),
        returns=f"{message} | list[{message}]" if protocol.batch else message,
        encodes=f"{message} | list[{message}] | {any_}" if protocol.batch else f"{message} | {any_}",
        models=sorted(imported[name] for name, is_record in kinds.items() if is_record and not modules.is_file),
        unions=sorted(imported[name] for name, is_record in kinds.items() if not is_record and not modules.is_file),
        groups=_groups(protocol, here, others),
        methods=method_rows(protocol, here, any_),
        error=error_class,
        options=_options(protocol, error_class, sides),
        lenient=lenient_rows(protocol, names),
        owners=owner_rows(protocol, names),
        unenforced=unenforced_rows(found.gaps),
        contract=contract_view(written),
        renamed=renamed_definitions(names),
        extra=literal(extra),
        patterns=[(literal(key), json_literal(text)) for key, text in patterns.table.items()],
        loose=[literal(pattern) for pattern in patterns.loose],
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


def _package(protocol: ir.Protocol, names: Names, modules: Modules) -> str:
    models = sorted(names.classes[d.name] for d in protocol.definitions.values() if isinstance(d, ir.Record))
    unions = sorted(names.classes[d.name] for d in protocol.definitions.values() if not isinstance(d, ir.Record))
    called = public(PUBLIC, names)
    return lay_out(
        "package",
        title=title_of(protocol),
        about=_about(protocol, moved(called)),
        models=models,
        unions=unions,
        runtime=modules.runtime,
        public={name: name if other == name else f"{name} as {other}" for name, other in called.items()},
        exports=in_order([*models, *unions, *called.values()]),
    )


def _about(protocol: ir.Protocol, notes: list[str]) -> str:
    about = inside_docstring(protocol.doc, 0) or "Types, method table, decoding and encoding."
    return "\n\n".join([about, *notes])
