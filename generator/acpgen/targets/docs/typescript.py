"""TypeScript examples for the page of a method: a message with the generated bindings, and one with the types of upstream's SDK."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from acpgen import ir
from acpgen.input.numbers import dumps
from acpgen.naming.identifiers import make_javascript_key
from acpgen.targets.docs.examples import Examples
from acpgen.targets.docs.page_notes import Origins

_SIDES: Final = ("agent", "client")


def write_bindings_example(
    protocol: ir.Protocol,
    names: Mapping[str, str],
    method: ir.Method,
    request: Mapping[str, ir.JSON],
    result: ir.JSON,
    module: str,
) -> str:
    """TypeScript that builds, writes and reads a message of a method and, of a request, the result, by the npm `module`.

    `names` are those of the types, by definition.
    """
    sender = next(side for side in protocol.sides if side not in (method.side, "proxy"))
    params_type = names[method.params] if method.params is not None and "params" in request else ""
    result_type = names[method.result] if method.result is not None and result is not None else ""
    types = (f"type {name}" for name in dict.fromkeys(filter(None, (params_type, result_type))))
    lines = [f"import {{ {', '.join(('decode', 'encode', *types))} }} from {dumps(module)};", ""]
    members = [f"{key}: {dumps(value)}" for key, value in request.items() if key != "params"]
    if params_type:
        lines.append(f"const params: {params_type} = {find_source(request['params'])};")
        members.append("params")
    lines += [f"const line = encode({{ {', '.join(members)} }});", ""]
    lines.append(f"const message = decode(line, {{ sender: {dumps(sender)} }});")
    single = "!Array.isArray(message) && " if protocol.batch else ""
    lines += [f"if ({single}message.method === {dumps(method.name)}) {{", "  console.log(message.params);", "}"]
    if result_type:
        answer = f'{{ jsonrpc: "2.0", id: {dumps(request["id"])}, result }}'
        options = f"{{ sender: {dumps(method.side)}, method: {dumps(method.name)} }}"
        lines += ["", f"const result: {result_type} = {find_source(result)};"]
        lines += [f"const answer = encode({answer});", f"const response = decode(answer, {options});"]
        lines += ['if ("result" in response) {', "  console.log(response.result);", "}"]
    return "\n".join(lines)


def write_sdk_example(protocol: ir.Protocol, method: ir.Method, examples: Examples, origins: Origins) -> str | None:
    """TypeScript with the types of upstream's SDK.

    `None` if upstream has no package, no such method, or no type for the contents of the examples.
    """
    module, senders = protocol.name.partition("/")[0], [side for side in _SIDES if side != method.side]
    names = [name for name in (method.params, method.result) if name is not None]
    if not origins.typescript or method.name in origins.methods or len(senders) > 1 or method.params is None:
        return None
    if any(make_javascript_key(name) != name for name in (module, *names)):
        return None
    shared_examples = [_find_shared_examples(name, examples, origins) for name in names]
    if not all(shared_examples) or (method.kind == "request" and method.result is None):
        return None
    peer, context, name = method.side, f"{module}.{senders[0].capitalize()}Context", dumps(method.name)
    lines = [
        f"import type * as {module} from {dumps(origins.typescript)};",
        "",
        f"const params: {module}.{method.params} = {find_source(shared_examples[0][0])};",
        "",
    ]
    if method.result is None:
        lines += [
            f"export function call({peer}: {context}): Promise<void> {{",
            f"  return {peer}.notify({name}, params);",
            "}",
        ]
    else:
        result = f"{module}.{method.result}"
        lines += [
            f"export function call({peer}: {context}): Promise<{result}> {{",
            f"  return {peer}.request({name}, params);",
            "}",
            "",
            f"export const result: {result} = {find_source(shared_examples[1][0])};",
        ]
    return "\n".join(lines)


def find_source(value: ir.JSON, indent: int = 0) -> str:
    """A JSON value as a TypeScript expression."""
    inner, outer = " " * (indent + 2), " " * indent
    if isinstance(value, Mapping) and value:
        lines = [f"{inner}{make_javascript_key(key)}: {find_source(item, indent + 2)}," for key, item in value.items()]
        return "\n".join(("{", *lines, f"{outer}}}"))
    if isinstance(value, list) and value:
        lines = [f"{inner}{find_source(item, indent + 2)}," for item in value]
        return "\n".join(("[", *lines, f"{outer}]"))
    return dumps(value)


def _find_shared_examples(definition: str, examples: Examples, origins: Origins) -> list[ir.JSON]:
    """The examples of a definition that use only members that upstream has."""
    added = {
        name
        for (owner, _, name), divergences in origins.members.items()
        if owner == definition and any(divergence.way in ("added", "kept") for divergence in divergences)
    }
    return [
        example
        for example in examples.get(definition, ())
        if not isinstance(example, Mapping) or added.isdisjoint(example)
    ]
