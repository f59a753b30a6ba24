"""The pages of one protocol version, each with the template that lays it out and the values that it shows."""

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
"""What a method's side is if either side may handle it."""

Page: TypeAlias = tuple[str, str, dict[str, Any]]
"""Path, template, and what the template shows."""


@dataclass(frozen=True, slots=True)
class VersionDifference:
    """One point in which two versions of a thing differ, as plain text; empty where a version lacks it."""

    what: str
    here: str
    there: str


@dataclass(frozen=True, slots=True)
class OtherVersion:
    """The same thing in another version. `page` is relative to the folder above all versions; `None` if the version lacks it."""

    version: str
    page: str | None
    home: str
    differences: tuple[VersionDifference, ...] | None = None


OtherVersions: TypeAlias = Mapping[str, tuple[OtherVersion, ...]]
"""The same page in other versions, by its path."""


Snippets: TypeAlias = Callable[[ir.Method, Mapping[str, ir.JSON], ir.JSON], str | None]
"""From a method, its example message and the example of its result to source that builds both; `None` where there is none."""


_DEEPEST: Final = 2
"""How many levels of the types below params and results are unfolded on the page of a method."""


@dataclass(frozen=True, slots=True)
class Nested:
    """A type below the params or the result of a method; `is_direct` where they name it themselves."""

    definition: ir.Definition
    is_direct: bool


@dataclass(frozen=True, slots=True, eq=False)
class VersionDocs:
    """One protocol version and all that is computed for its pages once. `generated` are definitions whose example is not the schema's own;
    `refused` are examples that it refuses itself, which are on no page.

    It equals itself alone.
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
        """Each page with its template and what that shows beside `docs`, which is this."""
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
        shown: dict[str, None] = {}
        for method in (method for method in self.protocol.methods if method.name == name):
            part = self._part(method, frozenset(shown))
            shown |= dict.fromkeys(each.name for each in (part["params"], part["result"]) if each is not None)
            shown |= dict.fromkeys(each.definition.name for each in (*part["in_params"], *part["in_result"]))
            parts.append(part)
        return {"name": name, "parts": parts, "shown": frozenset(shown)}

    def _part(self, method: ir.Method, before: frozenset[str]) -> dict[str, Any]:
        """One of the methods of a name; `before` are the types that the page has shown already."""
        named = [part for part in (method.params, method.result) if part is not None]
        related = [other for part in named for other in named_in(self.protocol.definitions[part])]
        in_params = tuple(self._nested(method.params, before | {*named}))
        known = before | {*named, *(found.definition.name for found in in_params)}
        in_result = tuple(self._nested(method.result, known))
        meta = metadata(self.protocol)
        known |= {found.definition.name for found in in_result} | ({meta.name} if meta else set[str]())
        return {
            "anchored": frozenset(named) - before,
            "method": method,
            "params": self.protocol.definitions[method.params] if method.params is not None else None,
            "result": self.protocol.definitions[method.result] if method.result is not None else None,
            "is_made": not self.generated.isdisjoint(named),
            "in_params": in_params,
            "in_result": in_result,
            "related": [other for other in dict.fromkeys(related) if other not in known],
            "area": self.paths.area_of[named[0]] if named else None,
            "reachable": tuple(reachable_types(self.protocol, named)),
        }

    def _shown_by(self) -> Iterator[tuple[str, str]]:
        """The types that methods show in full, each with the last method whose page does."""
        for method in self.protocol.methods:
            named = [name for name in (method.params, method.result) if name is not None]
            below = [found.definition.name for name in named for found in self._nested(name, frozenset(named))]
            yield from ((name, method.name) for name in (*named, *below))

    def _nested(self, name: str | None, known: frozenset[str]) -> Iterator[Nested]:
        """The types that one names with fields, variants or values, and those that they name, but for those that are `known`."""
        seen = set(known)
        level = [name] if name is not None else []
        for depth in range(_DEEPEST):
            below: list[str] = []
            for other in dict.fromkeys(other for each in level for other in self._behind(each)):
                if other not in seen:
                    seen.add(other)
                    below.append(other)
                    yield Nested(self.protocol.definitions[other], is_direct=depth == 0)
            level = below

    def _behind(self, name: str) -> Iterator[str]:
        """What a definition names, with what stands behind another name in its place."""
        for other in named_in(self.protocol.definitions[name]):
            found = self.protocol.definitions[other]
            if isinstance(found, ir.Alias):
                yield from (
                    each for each in references(found.type) if not isinstance(self.protocol.definitions[each], ir.Alias)
                )
            else:
                yield other

    def _messages(self) -> dict[str, Any]:
        """Examples of a request, its answers, and a notification."""
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
        """A whole message with the first example of the params; `None` where there is none."""
        found = self.examples.get(method.params or "", ())
        if method.params is not None and not found:
            return None
        return {**envelopes.call(self.protocol.envelope, method, found[0] if found else envelopes.ABSENT)}

    def samples(self, method: ir.Method) -> Iterator[tuple[str, Markdown]]:
        """The example in each language, with what it is written with."""
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
        found = self.examples.get(method.result or "", ())
        if method.kind != "request" or not found:
            return None
        return {**envelopes.answer(self.protocol.envelope, method, found[0])}

    def by_side(self) -> list[tuple[str, list[ir.Method]]]:
        """The methods by the side that handles them."""
        groups: dict[str, list[ir.Method]] = {}
        for method in self.protocol.methods:
            groups.setdefault(f"Handled by {self.handler(method)}", []).append(method)
        return list(groups.items())

    def by_kind(self, area: str | None = None) -> list[tuple[str, list[ir.Definition]]]:
        """The types, or those of an area, by what they are."""
        heads = {ir.TaggedUnion: "Unions", ir.Enum: "Enumerations", ir.Record: "Objects", ir.Alias: "Other types"}
        every = self.protocol.definitions.items()
        chosen = [found for name, found in every if area is None or self.paths.area_of[name] == area]
        groups = [(head, [d for d in chosen if type(d) is kind]) for kind, head in heads.items()]
        return [(head, sorted(found, key=lambda d: d.name)) for head, found in groups if found]

    def about(self, area: str) -> tuple[str, str]:
        return about_area(self.bundle, area)

    def methods_in(self, area: str) -> list[ir.Method]:
        """The methods whose params or, without them, result stand in an area."""
        return [m for m in self.protocol.methods if self.paths.area_of.get(m.params or m.result or "") == area]

    def conversations_of(self, methods: Iterable[ir.Method]) -> list[tuple[Conversation, ConversationMessage]]:
        """The conversations in which any of these methods takes part, each with the first message of one."""
        found = (
            (each, next(filter(None, (each.first_of(method.name) for method in methods)), None))
            for each in self.conversations
        )
        return [(each, first) for each, first in found if first is not None]

    def area_link(self, area: str, linker: Linker) -> Markdown:
        return linker.area(area, prose(self.about(area)[0]))

    def patterns(self, name: str) -> tuple[str, ...]:
        """The patterns of names that an object admits beside its fields, where it admits no others."""
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
        """What the schema says of each capability, by its path, as far as the path can be followed."""
        start = {
            side: name
            for method in self.protocol.methods
            if method.name == "initialize"
            for side, name in ((method.side, method.result), (self.sender(method).removeprefix("the "), method.params))
            if name is not None
        }
        found: dict[str, str] = {}
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
            found[path] = doc
        return found


def about_area(bundle: Bundle, area: str) -> tuple[str, str]:
    """Title and description of an area."""
    for path, (_, doc) in bundle.files.items():
        if posixpath.basename(path).removesuffix(".json") == area:
            return bundle.title(path) or area, doc
    return area, ""


def about_messages(protocol: ir.Protocol) -> dict[str, Any]:
    """What the page of messages tells beside its framing, its examples and the requirements."""
    return {
        "request_id": protocol.definitions.get("RequestId"),
        "cancel": next((m.name for m in protocol.methods if m.name == "$/cancel_request"), None),
        "meta": metadata(protocol),
        "is_lenient": is_told(protocol),
        "never_batched": [m.name for m in protocol.methods if m.batch == "never"],
    }


def about_errors(protocol: ir.Protocol) -> dict[str, Any]:
    """What the page of error codes tells, but for its examples."""
    return {
        "codes": error_codes(protocol),
        "named": methods_of_codes(protocol),
        "error": protocol.definitions.get("Error"),
    }


def _deprecated(bundle: Bundle) -> Iterator[tuple[str, str]]:
    """The definitions that are marked so, with an empty name, and the fields, each with its definition."""
    for name, definition in bundle.definitions.items():
        if definition.get("deprecated") is True:
            yield name, ""
        for member, schema in definition.get("properties", {}).items():
            if is_object(schema) and schema.get("deprecated") is True:
                yield name, member
