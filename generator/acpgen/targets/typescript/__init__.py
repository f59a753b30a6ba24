"""The target `typescript`: types, and functions that decode, encode and validate, as ECMAScript modules without dependencies."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.errors import make_visible
from acpgen.input.numbers import dumps
from acpgen.naming.identifiers import make_class_names
from acpgen.resources import NOTICE, load_templates
from acpgen.targets.interface import Settings, require_json_rpc
from acpgen.targets.options import Option
from acpgen.targets.typescript.checkers import Checkers
from acpgen.targets.typescript.declarations import Declarations, write_comment

__all__ = ["OPTIONS", "render"]

_VERSION: Final = "0.1.0"
"""The default version of packages."""

_EXPORTED: Final = re.compile(r"^export (?:class|const) (\w+)", re.MULTILINE)
"""The names that `runtime.js` exports."""

_ENVELOPE: Final = {"id": ("RequestId", '/* @__PURE__ */ type("integer", "string")'), "error": ("Error", "plainError")}
"""The definitions of parts of the message envelope, and the checkers to use if a schema does not define them."""

_VALUES: Final = ("DecodeError", "UNENFORCED", "UNKNOWN", "decodeAs", "encode", "is", "parse", "validateAs")
_TYPES: Final = ("Dropped", "Lenient", "Problem", "Type", "Unknown")
"""The names of values and types of `runtime.js` that a module re-exports."""

_MESSAGES: Final = "ErrorResponse Extension Message Notification Notifications Request Requests Response Sender Side"
"""The names of types that a module adds to those of the schema; they are changed if they clash."""

_GENERIC: Final = ("Response", "Type", "Unknown")

OPTIONS: Final = (
    Option(
        "layout",
        "package: a module in a folder for each protocol, and one that they share; file: one module that needs no other.",
        "package",
        ("package", "file"),
    ),
    Option(
        "language",
        "javascript: modules, each with a file of declarations; typescript: modules that hold both, and need no other.",
        "javascript",
        ("javascript", "typescript"),
    ),
)


def render(protocol: ir.Protocol, bundle: Bundle, settings: Settings) -> Mapping[str, str]:
    """Generate the modules of one protocol, the shared runtime module, and the package around them if a distribution is requested.

    Raises `Faults` if the messages are not JSON-RPC.
    """
    require_json_rpc(protocol, "typescript", "a module reads and writes messages")
    place = settings.package.replace(".", "/") or settings.prefix
    is_file, is_typed = settings.options.get("layout") == "file", settings.options.get("language") == "typescript"
    stem = (place or "index") if is_file else f"{place}/index".lstrip("/")
    names = make_class_names(protocol.definitions.keys())
    public_names = {
        name: _find_free(name, frozenset(names.values())) for name in (*_VALUES, *_TYPES, *_MESSAGES.split())
    }
    module = _make_module(protocol, bundle, names)
    needs_none = is_file or is_typed
    template_values: dict[str, Any] = {
        **module,
        "protocol": protocol,
        "names": names,
        "declarations": Declarations(protocol, names).render(),
        "write_comment": write_comment,
        "dumps": dumps,
        "title": make_visible(protocol.name),
        "notice": NOTICE,
        "own": public_names,
        "values": {public_names[name]: name for name in _VALUES}
        | {"decode": "decode", "validate": "validate"}
        | module["exports"],
        "types": [
            *names.values(),
            *(public_names[name] for name in (*_TYPES, *_MESSAGES.split()) if name not in _GENERIC),
        ],
        "of_runtime": [*_VALUES, *_TYPES],
        "is_typed": is_typed,
        "runtime": f"{'../' * len(place.split('/')) if place else './'}runtime.js",
        "source": _read_runtime() if needs_none else "",
        "source_types": _lay_out("runtime.d.ts") if needs_none else "",
    }
    ends = (".ts",) if is_typed else (".d.ts", ".js")
    files = {f"{stem}{end}": _lay_out(f"index{end}", **template_values) for end in ends}
    if not needs_none:
        files |= {name: _lay_out(name) for name in ("runtime.js", "runtime.d.ts")}
    if settings.distribution is None:
        return files
    modules = [f"./*{'' if is_file else '/index'}{end}" for end in ends]
    manifest: dict[str, Any] = {
        "name": settings.distribution,
        "version": settings.version or _VERSION,
        "description": f"Types, decoding and validation of the protocol {protocol.name.partition('/')[0]}, generated from JSON Schema",
        **({"license": settings.license} if settings.license is not None else {}),
        "type": "module",
        "sideEffects": False,
        "exports": {"./*": {"types": modules[0], "default": modules[-1]}},
        "engines": {"node": ">=20"},
    }
    files["package.json"] = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    return files | {"README.md": _lay_out("README.md", **manifest, is_typed=is_typed)}


def write_script(protocol: ir.Protocol, bundle: Bundle, exported_names: Sequence[str]) -> str:
    """A JavaScript expression with some functions of a protocol's module as properties of its value, for a page without modules."""
    body = _lay_out("protocol.js", **_make_module(protocol, bundle, make_class_names(protocol.definitions.keys())))
    return f"(() => {{\n{_read_runtime()}\n{body}return {{ {', '.join(exported_names)} }};\n}})()"


def _read_runtime() -> str:
    """The runtime module without exports, for inclusion in another."""
    return re.sub(r"^export ", "", _lay_out("runtime.js"), flags=re.MULTILINE)


def _make_module(protocol: ir.Protocol, bundle: Bundle, names: Mapping[str, str]) -> dict[str, Any]:
    """The checkers of a module, its method table, and its exports for the schema."""
    checkers = Checkers(protocol, bundle, names)
    exports = {names[name]: checkers.get_checker(name) for name in protocol.definitions if name in bundle.definitions}
    options = [f"sides: {dumps(protocol.sides)}"]
    for key, (name, plain) in _ENVELOPE.items():
        options.append(f"{key}: {checkers.get_checker(name) if name in bundle.definitions else plain}")
    options += ["each: batches"] if protocol.batch else []
    options += ["versioned: false"] if protocol.envelope == "json-rpc-unversioned" else []
    methods = [_write_row(method, checkers) for method in protocol.methods]
    used_names = {
        "protocol",
        *_VALUES,
        *re.findall(r"\w+", " ".join([*checkers.lines, *methods, *options, *exports.values()])),
    }
    return {
        "checkers": checkers.replace_placeholders("\n".join(checkers.lines)),
        "methods": [*map(checkers.replace_placeholders, methods)],
        "options": checkers.replace_placeholders(f"{{ {', '.join(options)} }}"),
        "exports": {name: checkers.replace_placeholders(checker) for name, checker in exports.items()},
        "imports": [name for name in _EXPORTED.findall(_lay_out("runtime.js")) if name in used_names],
    }


def _write_row(method: ir.Method, checkers: Checkers) -> str:
    """A row of the table in `runtime.js`, without trailing default values."""
    params, result = (checkers.get_checker(name) if name else None for name in (method.params, method.result))
    empty = {"object": None, "array": "() => []", "null": "() => null"}.get(method.omitted, "() => {}")
    answer = (result or "any") if method.kind == "request" else None
    row = [dumps(method.name), dumps(method.side), params, answer, "true" if method.null_result else None, empty]
    while row[-1] is None:
        row.pop()
    return f"[{', '.join(argument or 'undefined' for argument in row)}]"


def _find_free(name: str, reserved_names: frozenset[str]) -> str:
    """A name of the module that does not clash with the schema."""
    while name in reserved_names:
        name = f"Any{name}" if not name.startswith("Any") else f"{name}_"
    return name


def _lay_out(template: str, **values: Any) -> str:
    name = template if template.startswith("runtime") else f"{template}.jinja2"
    return load_templates("typescript").get_template(name).render(**values).strip("\n") + "\n"
