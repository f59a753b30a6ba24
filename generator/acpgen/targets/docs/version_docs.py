"""The pages of one protocol version, each with its template and the values for it."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.diagnostics.markup import Markdown, fenced, prose
from acpgen.errors import Fault
from acpgen.input.walk import is_object
from acpgen.meaning import envelopes
from acpgen.meaning.unenforced import unchecked
from acpgen.naming.identifiers import class_names
from acpgen.targets.docs.codes import ErrorCode, error_codes, methods_of_codes
from acpgen.targets.docs.conversations import Conversation, ConversationMessage, find_conversations
from acpgen.targets.docs.examples import Examples
from acpgen.targets.docs.leniency import is_told
from acpgen.targets.docs.page_notes import (
    NO_AVAILABILITY,
    NO_ORIGINS,
    NO_REQUIREMENTS,
    Availability,
    Origins,
    RequirementNotes,
)
from acpgen.targets.docs.page_paths import CAPABILITIES, ERRORS, INDEX, MESSAGES, METHODS, TYPES, Linker, PagePaths
from acpgen.targets.docs.templates import lay_out
from acpgen.targets.docs.type_text import references
from acpgen.targets.docs.typescript import write_bindings_example, write_sdk_example
from acpgen.targets.docs.usages import Usage, find_capability_usages, find_usages, named_in, reachable_types
from acpgen.targets.docs.views import metadata

_EITHER: Final = ("both", "protocol")
"""The values of a method's side that mean either side."""

Page: TypeAlias = tuple[str, str, dict[str, Any]]
"""Path, template, and the values for the template."""


@dataclass(frozen=True, slots=True)
class VersionDifference:
    """One difference between two versions of a method or type, as plain text; empty for a version that lacks it."""

    what: str
    here: str
    there: str


@dataclass(frozen=True, slots=True)
class OtherVersion:
    """The same subject in another version. `page` is relative to the folder above all versions; `None` if the version lacks it."""

    version: str
    page: str | None
    home: str
    differences: tuple[VersionDifference, ...] | None = None


OtherVersions: TypeAlias = Mapping[str, tuple[OtherVersion, ...]]
"""The same page in other versions, by its path."""


Snippets: TypeAlias = Callable[[ir.Method, Mapping[str, ir.JSON], ir.JSON], str | None]
"""From a method, its example message and its example result to source code that constructs both; `None` if there is none."""


_DEEPEST: Final = 2
"""How many levels of types below params and results are shown on the page of a method."""


@dataclass(frozen=True, slots=True)
class Nested:
    """A type below the params or the result of a method; `is_direct` if these refer to it themselves."""

    definition: ir.Definition
    is_direct: bool


@dataclass(frozen=True, slots=True, eq=False)
class VersionDocs:
    """One protocol version and all that its pages share, computed once. Equal only to itself.

    `generated` are the definitions whose example is not from the schema; `refused` are the faults of invalid examples, which no page
    shows.
    """

    protocol: ir.Protocol
    bundle: Bundle
    paths: PagePaths
    examples: Examples
    generated: frozenset[str] = frozenset()
    refused: tuple[Fault, ...] = ()
    availability: Availability = NO_AVAILABILITY
    requirements: RequirementNotes = NO_REQUIREMENTS
    origins: Origins = NO_ORIGINS
    snippets: Snippets | None = None
    module: str = ""
    class_names: Mapping[str, str] = field(init=False)
    usages: Mapping[str, tuple[Usage, ...]] = field(init=False)
    unchecked: Mapping[str, tuple[str, ...]] = field(init=False)
    conversations: tuple[Conversation, ...] = field(init=False)
    shown_by: Mapping[str, str] = field(init=False)
    deprecated: frozenset[tuple[str, str]] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "class_names", class_names(self.protocol.definitions.keys()))
        object.__setattr__(self, "usages", find_usages(self.protocol))
        object.__setattr__(self, "unchecked", unchecked(self.protocol, self.bundle))
        object.__setattr__(self, "deprecated", frozenset(_deprecated(self.bundle)))
        object.__setattr__(self, "conversations", find_conversations(self.protocol, self.bundle, self.examples))
        object.__setattr__(self, "shown_by", dict(self._shown_by()))

    def page(
        self,
        template: str,
        linker: Linker,
        view: dict[str, Any],
        folder: str,
        others: tuple[OtherVersion, ...],
        *,
        changelog: str = "",
        for_site: bool = False,
    ) -> str:
        marks = "#" if not linker.whole or template == "index" else "##"
        return lay_out(
            template,
            docs=self,
            **view,
            h1=Markdown(marks),
            h2=Markdown(f"{marks}#"),
            h3=Markdown(f"{marks}##"),
            for_site=for_site,
            unsearched=Markdown(" { data-search-exclude }" if for_site else ""),
            linker=linker,
            protocol=self.protocol,
            version=self.protocol.name,
            paths=linker.paths,
            here=folder + linker.page,
            changelog=changelog,
            other_versions=others,
        )

    def pages(self) -> Iterator[Page]:
        """Yield each page with its template and the values for it besides `docs`, this object."""
        yield INDEX, "index", {}
        yield METHODS, "methods", {}
        for name in dict.fromkeys(method.name for method in self.protocol.methods):
            yield self.paths.methods[name], "method", self._method(name)
        for area, path in self.paths.areas.items():
            yield path, "area", {"area": area}
        for each in self.conversations:
            yield self.paths.conversations[each.scenario.name], "conversation", {"conversation": each}
        yield TYPES, "types", {}
        for name, path in self.paths.types.items():
            yield path, "type", {"definition": self.protocol.definitions[name]}
        yield CAPABILITIES, "capabilities", {"rows": find_capability_usages(self.protocol)}
        yield ERRORS, "errors", about_errors(self.protocol)
        yield MESSAGES, "messages", {**self._messages(), **about_messages(self.protocol)}

    def _method(self, name: str) -> dict[str, Any]:
        parts: list[dict[str, Any]] = []
        shown_types: dict[str, None] = {}
        for method in (method for method in self.protocol.methods if method.name == name):
            part = self._part(method, frozenset(shown_types))
            shown_types |= dict.fromkeys(each.name for each in (part["params"], part["result"]) if each is not None)
            shown_types |= dict.fromkeys(each.definition.name for each in (*part["in_params"], *part["in_result"]))
            parts.append(part)
        return {"name": name, "parts": parts, "shown": frozenset(shown_types)}

    def _part(self, method: ir.Method, before: frozenset[str]) -> dict[str, Any]:
        """The values for one of the methods with the same name; `before` are the types that the page already shows."""
        payload_names = [part for part in (method.params, method.result) if part is not None]
        related = [other for part in payload_names for other in named_in(self.protocol.definitions[part])]
        in_params = tuple(self._nested(method.params, before | {*payload_names}))
        shown_names = before | {*payload_names, *(nested.definition.name for nested in in_params)}
        in_result = tuple(self._nested(method.result, shown_names))
        meta = metadata(self.protocol)
        shown_names |= {nested.definition.name for nested in in_result} | ({meta.name} if meta else set[str]())
        return {
            "anchored": frozenset(payload_names) - before,
            "method": method,
            "params": self.protocol.definitions[method.params] if method.params is not None else None,
            "result": self.protocol.definitions[method.result] if method.result is not None else None,
            "is_made": not self.generated.isdisjoint(payload_names),
            "in_params": in_params,
            "in_result": in_result,
            "related": [other for other in dict.fromkeys(related) if other not in shown_names],
            "area": self.paths.area_of[payload_names[0]] if payload_names else None,
            "reachable": tuple(reachable_types(self.protocol, payload_names)),
        }

    def _shown_by(self) -> Iterator[tuple[str, str]]:
        """Yield the types that pages of methods show in full, each with the method; later methods come last."""
        for method in self.protocol.methods:
            payload_names = [name for name in (method.params, method.result) if name is not None]
            below = [
                nested.definition.name
                for name in payload_names
                for nested in self._nested(name, frozenset(payload_names))
            ]
            yield from ((name, method.name) for name in (*payload_names, *below))

    def _nested(self, name: str | None, shown_names: frozenset[str]) -> Iterator[Nested]:
        """Yield the types to which a type refers, to a depth of two levels, except `shown_names`."""
        visited = set(shown_names)
        level = [name] if name is not None else []
        for depth in range(_DEEPEST):
            below: list[str] = []
            for other in dict.fromkeys(other for each in level for other in self._behind(each)):
                if other not in visited:
                    visited.add(other)
                    below.append(other)
                    yield Nested(self.protocol.definitions[other], is_direct=depth == 0)
            level = below

    def _behind(self, name: str) -> Iterator[str]:
        """Yield the types to which a definition refers, aliases replaced by the types to which they refer."""
        for other in named_in(self.protocol.definitions[name]):
            definition = self.protocol.definitions[other]
            if isinstance(definition, ir.Alias):
                yield from (
                    each
                    for each in references(definition.type)
                    if not isinstance(self.protocol.definitions[each], ir.Alias)
                )
            else:
                yield other

    def _messages(self) -> dict[str, Any]:
        """Examples of a request, its responses, and a notification."""
        request = next((m for m in self.protocol.methods if m.kind == "request" and m.name != "initialize"), None)
        notification = next((m for m in self.protocol.methods if m.kind == "notification"), None)
        codes = error_codes(self.protocol) if self.protocol.envelope != "dap" else ()
        failure: ErrorCode | None = next((c for c in codes if c.code == -32602), None)
        return {
            "request": self.request(request) if request else None,
            "response": self.response(request) if request else None,
            "notification": self.request(notification) if notification else None,
            "failure": envelopes.failure(self.protocol.envelope, request, {"code": -32602, "message": failure.title})
            if failure
            else None,
        }

    # --- parts -----------------------------------------------------------------------------------------------------

    def request(self, method: ir.Method) -> dict[str, ir.JSON] | None:
        """A whole message with the first example of the params; `None` if there is no example."""
        params_examples = self.examples.get(method.params or "", ())
        if method.params is not None and not params_examples:
            return None
        return {
            **envelopes.call(
                self.protocol.envelope, method, params_examples[0] if params_examples else envelopes.ABSENT
            )
        }

    def samples(self, method: ir.Method) -> Iterator[tuple[str, Markdown]]:
        """Yield the example in each language, after the name of the language or SDK."""
        request, results = self.request(method), self.examples.get(method.result or "", ())
        result = results[0] if results else None
        if request is not None and self.snippets is not None:
            source = self.snippets(method, request, result)
            if source is not None:
                yield "Python", fenced(source, "python")
        if request is not None and self.module:
            example = write_bindings_example(self.protocol, self.class_names, method, request, result, self.module)
            yield "TypeScript", fenced(example, "typescript")
        sdk = write_sdk_example(self.protocol, method, self.examples, self.origins)
        if sdk is not None:
            yield "TypeScript (official SDK)", fenced(sdk, "typescript")

    def response(self, method: ir.Method) -> ir.JSON | None:
        result_examples = self.examples.get(method.result or "", ())
        if method.kind != "request" or not result_examples:
            return None
        return {**envelopes.answer(self.protocol.envelope, method, result_examples[0])}

    def by_side(self) -> list[tuple[str, list[ir.Method]]]:
        """The methods, grouped by the side that handles them."""
        groups: dict[str, list[ir.Method]] = {}
        for method in self.protocol.methods:
            groups.setdefault(f"Handled by {self.handler(method)}", []).append(method)
        return list(groups.items())

    def by_kind(self, area: str | None = None) -> list[tuple[str, list[ir.Definition]]]:
        """The types of the protocol or of an area, grouped by kind."""
        heads = {ir.TaggedUnion: "Unions", ir.Enum: "Enumerations", ir.Record: "Objects", ir.Alias: "Other types"}
        every = self.protocol.definitions.items()
        definitions = [definition for name, definition in every if area is None or self.paths.area_of[name] == area]
        groups = [(head, [d for d in definitions if type(d) is kind]) for kind, head in heads.items()]
        return [(head, sorted(group, key=lambda d: d.name)) for head, group in groups if group]

    def about(self, area: str) -> tuple[str, str]:
        return about_area(self.bundle, area)

    def methods_in(self, area: str) -> list[ir.Method]:
        """The methods whose params, or result if they have no params, are defined in an area."""
        return [m for m in self.protocol.methods if self.paths.area_of.get(m.params or m.result or "") == area]

    def conversations_of(self, methods: Iterable[ir.Method]) -> list[tuple[Conversation, ConversationMessage]]:
        """The conversations that contain any of these methods, each with the first message of one of them."""
        first_messages = (
            (each, next(filter(None, (each.first_of(method.name) for method in methods)), None))
            for each in self.conversations
        )
        return [(each, first) for each, first in first_messages if first is not None]

    def area_link(self, area: str, linker: Linker) -> Markdown:
        return linker.area(area, prose(self.about(area)[0]))

    def patterns(self, name: str) -> tuple[str, ...]:
        """The name patterns of an object's further fields, if it admits no others."""
        schema = self.bundle.definitions.get(name, {})
        return tuple(schema.get("patternProperties", ())) if schema.get("additionalProperties") is False else ()

    def handler(self, method: ir.Method) -> str:
        return "either side" if method.side in _EITHER else f"the {method.side}"

    def sender(self, method: ir.Method) -> str:
        if method.side in _EITHER:
            return "either side"
        others = [side for side in self.protocol.sides if side not in (method.side, "proxy")]
        return f"the {others[0]}" if len(others) == 1 else "the other side"

    def capability_docs(self) -> dict[str, str]:
        """The schema's description of each capability, by path; empty if the path cannot be resolved."""
        start = {
            side: name
            for method in self.protocol.methods
            if method.name == "initialize"
            for side, name in ((method.side, method.result), (self.sender(method).removeprefix("the "), method.params))
            if name is not None
        }
        docs_by_path: dict[str, str] = {}
        for path in find_capability_usages(self.protocol):
            side, _, keys = path.partition(":")
            at: str | None = start.get(side)
            doc = ""
            for key in keys.split("."):
                record = self.protocol.definitions.get(at or "")
                fields = record.fields if isinstance(record, ir.Record) else ()
                member = next((one for one in fields if one.name == key), None)
                at = next(references(member.type), None) if member is not None else None
                doc = member.doc if member is not None else ""
            docs_by_path[path] = doc
        return docs_by_path


def about_area(bundle: Bundle, area: str) -> tuple[str, str]:
    """Title and description of an area."""
    for path, (_, doc) in bundle.files.items():
        if posixpath.basename(path).removesuffix(".json") == area:
            return bundle.title(path) or area, doc
    return area, ""


def about_messages(protocol: ir.Protocol) -> dict[str, Any]:
    """The values for the page of messages, apart from framing, examples and requirements."""
    return {
        "request_id": protocol.definitions.get("RequestId"),
        "cancel": next((m.name for m in protocol.methods if m.name == "$/cancel_request"), None),
        "meta": metadata(protocol),
        "is_lenient": is_told(protocol),
        "never_batched": [m.name for m in protocol.methods if m.batch == "never"],
    }


def about_errors(protocol: ir.Protocol) -> dict[str, Any]:
    """The values for the page of error codes, without examples."""
    return {
        "codes": error_codes(protocol),
        "named": methods_of_codes(protocol),
        "error": protocol.definitions.get("Error"),
    }


def _deprecated(bundle: Bundle) -> Iterator[tuple[str, str]]:
    """Yield the deprecated definitions, with an empty name, and the deprecated fields, each with its definition."""
    for name, definition in bundle.definitions.items():
        if definition.get("deprecated") is True:
            yield name, ""
        for member, schema in definition.get("properties", {}).items():
            if is_object(schema) and schema.get("deprecated") is True:
                yield name, member
