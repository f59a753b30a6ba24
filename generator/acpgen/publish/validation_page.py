"""The page that validates messages in the browser, and its data: the module of each protocol and its method table."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from acpgen import ir
from acpgen.diagnostics.markup import Markdown, escape_html
from acpgen.meaning import envelopes
from acpgen.meaning.contract import make_method_row
from acpgen.publish.versions import Version
from acpgen.targets import typescript
from acpgen.targets.docs.templates import lay_out

PAGE: Final = "judge.md"
RULES: Final = (
    *(
        "not-json",
        "duplicate-key",
        "envelope-malformed",
        "batch-empty",
        "batch-mixed",
        "method-unknown",
        "method-misdirected",
    ),
    *("params-malformed", "result-malformed", "error-malformed", "response-without-request", "id-in-use"),
)
"""The monitor rules that `judge.js` checks."""

_MOST: Final = 3
"""The maximum number of requests in the example."""


def find_supported_versions(versions: Sequence[Version]) -> list[Version]:
    """The versions whose messages the browser can validate: JSON-RPC 2.0 between two sides."""
    return [
        version for version in versions if version.protocol.envelope == "json-rpc" and len(_find_sides(version)) == 2
    ]


def write_page(versions: Sequence[Version], monitored: Mapping[str, str]) -> str:
    """Write the page for these versions. `monitored` maps monitor rules to the pages that describe them; empty if the docs have none."""
    protocols = [
        {"name": version.protocol.name, "version": version.protocol.version, "script": _name_script(version)}
        for version in find_supported_versions(versions)
    ]
    return lay_out(
        "judge",
        path=PAGE,
        protocols=Markdown(escape_html(json.dumps(protocols))),
        rules=[(rule, monitored.get(rule)) for rule in RULES],
        monitor=bool(monitored),
        others=max(0, len(monitored) - len(RULES)),
    )


def make_scripts(versions: Sequence[Version]) -> Mapping[str, str]:
    """The scripts of the protocols, loaded by the page when one is chosen, by path below the assets of the site."""
    scripts: dict[str, str] = {}
    for version in find_supported_versions(versions):
        protocol = version.protocol
        data = {
            "sides": _find_sides(version),
            "batch": protocol.batch,
            "partial": version.family == "mcp",  # the schema holds a part of its methods
            "methods": [make_method_row(method) for method in protocol.methods],
            "example": "\n".join(json.dumps(line) for line in _make_example(version)),
        }
        module = typescript.write_script(protocol, version.bundle, ("read", "validate"))
        name, rows = json.dumps(protocol.name), json.dumps(data)
        scripts[_name_script(version)] = (
            f"(globalThis.acpProtocols ??= {{}})[{name}] = {{ ...{rows}, module: {module} }};\n"
        )
    return scripts


def _find_sides(version: Version) -> tuple[str, ...]:
    return tuple(side for side in version.protocol.sides if side != "proxy")


def _name_script(version: Version) -> str:
    return f"protocols/{re.sub(r'[^A-Za-z0-9.-]', '-', version.protocol.name)}.js"


def _make_example(version: Version) -> Iterator[dict[str, ir.JSON]]:
    """Yield the lines of a recording: `initialize` and further requests whose params and result both have examples."""
    sides = _find_sides(version)
    number = 0
    for method in sorted(version.protocol.methods, key=lambda method: method.name != "initialize"):
        params, result = (version.protocol.definitions.get(name or "") for name in (method.params, method.result))
        if (
            method.kind != "request"
            or method.side not in sides
            or not (params and params.examples and result and result.examples)
        ):
            continue
        number += 1
        sender = next(side for side in sides if side != method.side)
        yield {"from": sender, "message": envelopes.call("json-rpc", method, params.examples[0], id_=number)}
        yield {"from": method.side, "message": envelopes.answer("json-rpc", method, result.examples[0], id_=number)}
        if number == _MOST:
            return
