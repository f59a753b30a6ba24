"""The pages of one protocol version, each with its template and the values for it."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.diagnostics.markup import Markdown, write_code_block, write_prose
from acpgen.errors import Fault
from acpgen.input.walk import is_object
from acpgen.meaning import envelopes
from acpgen.meaning.unenforced import find_unchecked
from acpgen.naming.identifiers import make_class_names
from acpgen.targets.docs.codes import ErrorCode, group_methods_by_code, list_error_codes
from acpgen.targets.docs.conversations import Conversation, ConversationMessage, find_conversations
from acpgen.targets.docs.examples import Examples
from acpgen.targets.docs.leniency import has_leniency
from acpgen.targets.docs.page_notes import Availability, Origins, RequirementNote
from acpgen.targets.docs.page_paths import CAPABILITIES, ERRORS, INDEX, MESSAGES, METHODS, TYPES, Linker, PagePaths
from acpgen.targets.docs.scenarios import Scenario
from acpgen.targets.docs.templates import lay_out
from acpgen.targets.docs.type_text import list_type_references
from acpgen.targets.docs.typescript import write_bindings_example, write_sdk_example
from acpgen.targets.docs.usages import Usage, find_capability_usages, find_usages, list_reachable_types, list_references
from acpgen.targets.docs.views import find_metadata


class OtherVersion(NamedTuple):
    """The same subject in another version. `page` is relative to the folder above all versions; `None` if the version lacks it.

    `differences` are what differs, how it is here, and how it is there, each empty for a version that lacks it; `None` for pages of
    other subjects than methods and types.
    """

    version: str
    page: str | None
    home: str
    differences: Sequence[tuple[str, str, str]] | None = None


OtherVersions: TypeAlias = Mapping[str, Sequence[OtherVersion]]
"""The same page in other versions, by its path."""

Snippets: TypeAlias = Callable[[ir.Method, Mapping[str, ir.JSON], ir.JSON], str | None]
"""From a method, its example message and its example result to source code that constructs both; `None` if there is none."""


class Outline(NamedTuple):
    """A page before it is written: its template with the values for it, its titles in the navigation, and the place of its subject."""

    path: str
    template: str
    values: Mapping[str, Any]
    place: tuple[str, ...]
    at: str = ""


_DEEPEST: Final = 2
"""How many levels of types below params and results are shown on the page of a method."""


@dataclass(frozen=True, eq=False)
class VersionDocs:
    """One protocol version and all that its pages share, computed once. Equal only to itself.

    `generated` are the definitions whose example is not from the schema; `refused` are the faults of invalid examples, which no page
    shows. `requirements` are those on each page.
    """

    protocol: ir.Protocol
    bundle: Bundle
    paths: PagePaths
    examples: Examples
    generated: frozenset[str]
    refused: tuple[Fault, ...]
    availability: Availability
    requirements: Mapping[str, Sequence[RequirementNote]]
    origins: Origins
    snippets: Snippets | None
    module: str

    @cached_property
    def class_names(self) -> Mapping[str, str]:
        return make_class_names(self.protocol.definitions.keys())

    @cached_property
    def usages(self) -> Mapping[str, tuple[Usage, ...]]:
        return find_usages(self.protocol)

    @cached_property
    def unchecked(self) -> Mapping[str, Mapping[str, str]]:
        return find_unchecked(self.protocol, self.bundle)

    @cached_property
    def conversations(self) -> tuple[Conversation, ...]:
        return find_conversations(self.protocol, self.bundle, self.examples)

    @cached_property
    def deprecated(self) -> frozenset[tuple[str, str]]:
        """The deprecated definitions, with an empty name, and the deprecated fields, each with its definition."""
        places = {
            (name, member): schema
            for name, definition in self.bundle.definitions.items()
            for member, schema in {"": definition, **definition.get("properties", {})}.items()
        }
        return frozenset(
            place for place, schema in places.items() if is_object(schema) and schema.get("deprecated") is True
        )

    @cached_property
    def unions_of(self) -> Mapping[str, Sequence[tuple[str, str]]]:
        """The unions of which a type is a branch, each with its tag."""
        unions: dict[str, dict[tuple[str, str], None]] = {}
        for union in self.protocol.definitions.values():
            if isinstance(union, ir.TaggedUnion):
                for name in (*(variant.type for variant in union.variants), union.default, union.fallback):
                    unions.setdefault(name or "", {})[union.name, union.tag] = None
        return {name: tuple(tags) for name, tags in unions.items()}

    @cached_property
    def shown_by(self) -> Mapping[str, str]:
        """The types that pages of methods show in full, each with the last such method."""
        methods: dict[str, str] = {}
        for method in self.protocol.methods:
            names = _list_payload(method)
            below = (definition.name for name in names for definition, _ in self._walk_types(name, {*names}))
            methods |= dict.fromkeys((*names, *below), method.name)
        return methods

    def write(
        self, outline: Outline, linker: Linker, others: Sequence[OtherVersion], *, changelog: str = "", for_site: bool
    ) -> str:
        marks = "#" if not linker.whole or outline.template == "index" else "##"
        return lay_out(
            outline.template,
            docs=self,
            **outline.values,
            h1=Markdown(marks),
            h2=Markdown(f"{marks}#"),
            h3=Markdown(f"{marks}##"),
            for_site=for_site,
            unsearched=Markdown(" { data-search-exclude }" if for_site else ""),
            linker=linker,
            protocol=self.protocol,
            version=self.protocol.name,
            paths=linker.paths,
            here=self.paths.locate(linker.page),
            requirements=self.requirements.get(linker.page, ()),
            changelog=changelog,
            other_versions=others,
        )

    def list_outlines(self) -> Iterator[Outline]:
        """Yield the pages in the order of the navigation."""
        paths, definitions = self.paths, self.protocol.definitions
        at = {method.name: method.at for method in self.protocol.methods}
        yield Outline(INDEX, "index", {}, ("Overview",))
        yield Outline(METHODS, "methods", {}, ("Methods", "All methods"))
        for name, path in sorted(paths.methods.items()):
            yield Outline(path, "method", self._describe_method(name), ("Methods", name), at[name])
        yield Outline(TYPES, "types", {}, ("Types", "All types"))
        for title, area in sorted((self.describe_area(area)[0], area) for area in paths.areas):
            yield Outline(paths.areas[area], "area", {"area": area}, ("Types", title, "Overview"))
            for name in sorted(name for name in definitions if paths.area_of[name] == area):
                values = {"definition": definitions[name]}
                yield Outline(paths.types[name], "type", values, ("Types", title, name), definitions[name].at)
        for conversation in self.conversations:
            scenario = conversation.scenario
            place, path = ("Conversations", scenario.title), paths.conversations[scenario.name]
            yield Outline(path, "conversation", {"conversation": conversation}, place)
        rows = {"rows": find_capability_usages(self.protocol)}
        yield Outline(CAPABILITIES, "capabilities", rows, ("Capabilities",))
        yield Outline(ERRORS, "errors", describe_errors(self.protocol), ("Error codes",))
        messages = {**self._make_messages(), **describe_messages(self.protocol)}
        yield Outline(MESSAGES, "messages", messages, ("Messages",))

    def _describe_method(self, name: str) -> dict[str, Any]:
        """The values for the page of the methods of one name. Each type is shown in full once."""
        definitions, meta = self.protocol.definitions, find_metadata(self.protocol)
        parts: list[dict[str, Any]] = []
        shown: set[str] = set()
        for method in (method for method in self.protocol.methods if method.name == name):
            names = _list_payload(method)
            anchored = {*names} - shown
            shown.update(names)
            in_params, in_result = ([*self._walk_types(payload, shown)] for payload in (method.params, method.result))
            related = dict.fromkeys(
                reference for payload in names for reference in list_references(definitions[payload])
            )
            parts.append(
                {
                    "anchored": anchored,
                    "method": method,
                    "params": definitions.get(method.params or ""),
                    "result": definitions.get(method.result or ""),
                    "is_made": not self.generated.isdisjoint(names),
                    "in_params": in_params,
                    "in_result": in_result,
                    "related": [type_ for type_ in related if type_ not in shown and definitions[type_] is not meta],
                    "area": self.paths.area_of[names[0]] if names else None,
                    "reachable": tuple(list_reachable_types(self.protocol, names)),
                }
            )
        return {"name": name, "parts": parts, "shown": frozenset(shown)}

    def _walk_types(self, name: str | None, shown: set[str]) -> Iterator[tuple[ir.Definition, bool]]:
        """Yield the types to which a type refers, to a depth of two levels, except those `shown` already, and add them there.

        Each comes with whether the type refers to it itself.
        """
        level = [name] if name is not None else []
        for depth in range(_DEEPEST):
            below = dict.fromkeys(reference for name in level for reference in self._resolve_aliases(name))
            level = [name for name in below if name not in shown]
            shown.update(level)
            yield from ((self.protocol.definitions[name], depth == 0) for name in level)

    def _resolve_aliases(self, name: str) -> Iterator[str]:
        """Yield the types to which a definition refers, aliases replaced by the types to which they refer."""
        definitions = self.protocol.definitions
        for reference in list_references(definitions[name]):
            definition = definitions[reference]
            if isinstance(definition, ir.Alias):
                yield from (
                    name
                    for name in list_type_references(definition.type)
                    if not isinstance(definitions[name], ir.Alias)
                )
            else:
                yield reference

    def _make_messages(self) -> dict[str, Any]:
        """Examples of a request, its responses, and a notification."""
        request = next((m for m in self.protocol.methods if m.kind == "request" and m.name != "initialize"), None)
        notification = next((m for m in self.protocol.methods if m.kind == "notification"), None)
        codes = list_error_codes(self.protocol) if self.protocol.envelope != "dap" else ()
        failure: ErrorCode | None = next((c for c in codes if c.code == -32602), None)
        return {
            "request": self.make_request(request) if request else None,
            "response": self.make_response(request) if request else None,
            "notification": self.make_request(notification) if notification else None,
            "failure": envelopes.make_failure(
                self.protocol.envelope, request, {"code": -32602, "message": failure.title}
            )
            if failure
            else None,
        }

    # --- parts -----------------------------------------------------------------------------------------------------

    def make_request(self, method: ir.Method) -> dict[str, ir.JSON] | None:
        """A whole message with the first example of the params; `None` if there is no example."""
        params_examples = self.examples.get(method.params or "", ())
        if method.params is not None and not params_examples:
            return None
        return {
            **envelopes.call(
                self.protocol.envelope, method, params_examples[0] if params_examples else envelopes.ABSENT
            )
        }

    def list_samples(self, method: ir.Method) -> Iterator[tuple[str, Markdown]]:
        """Yield the example in each language, after the name of the language or SDK."""
        request, results = self.make_request(method), self.examples.get(method.result or "", ())
        result = results[0] if results else None
        if request is not None and self.snippets is not None:
            source = self.snippets(method, request, result)
            if source is not None:
                yield "Python", write_code_block(source, "python")
        if request is not None and self.module:
            example = write_bindings_example(self.protocol, self.class_names, method, request, result, self.module)
            yield "TypeScript", write_code_block(example, "typescript")
        sdk = write_sdk_example(self.protocol, method, self.examples, self.origins)
        if sdk is not None:
            yield "TypeScript (official SDK)", write_code_block(sdk, "typescript")

    def make_response(self, method: ir.Method) -> ir.JSON | None:
        result_examples = self.examples.get(method.result or "", ())
        if method.kind != "request" or not result_examples:
            return None
        return {**envelopes.answer(self.protocol.envelope, method, result_examples[0])}

    def group_methods(self) -> list[tuple[str, list[ir.Method]]]:
        """The methods, grouped by the side that handles them."""
        groups: dict[str, list[ir.Method]] = {}
        for method in self.protocol.methods:
            groups.setdefault(f"Handled by {self.name_handler(method)}", []).append(method)
        return list(groups.items())

    def group_types(self, area: str | None = None) -> list[tuple[str, list[ir.Definition]]]:
        """The types of the protocol or of an area, grouped by kind."""
        heads = {ir.TaggedUnion: "Unions", ir.Enum: "Enumerations", ir.Record: "Objects", ir.Alias: "Other types"}
        every = self.protocol.definitions.items()
        definitions = [definition for name, definition in every if area is None or self.paths.area_of[name] == area]
        groups = [(head, [d for d in definitions if type(d) is kind]) for kind, head in heads.items()]
        return [(head, sorted(group, key=lambda d: d.name)) for head, group in groups if group]

    def describe_area(self, area: str) -> tuple[str, str]:
        """The title and the description of an area, in plain text."""
        for path, (_, doc) in self.bundle.files.items():
            if posixpath.basename(path).removesuffix(".json") == area:
                return self.bundle.get_title(path) or area, doc
        return area, ""

    def list_methods(self, area: str) -> list[ir.Method]:
        """The methods whose params, or result if they have no params, are defined in an area."""
        return [m for m in self.protocol.methods if self.paths.area_of.get(m.params or m.result or "") == area]

    def list_conversations(self, methods: Iterable[ir.Method]) -> list[tuple[Conversation, ConversationMessage]]:
        """The conversations that contain any of these methods, each with the first message of one of them."""
        first_messages = (
            (conversation, next(filter(None, (conversation.find_first(method.name) for method in methods)), None))
            for conversation in self.conversations
        )
        return [(conversation, first) for conversation, first in first_messages if first is not None]

    def link_area(self, area: str, linker: Linker) -> Markdown:
        return linker.link(write_prose(self.describe_area(area)[0]), self.paths.areas[area])

    def link_conversation(self, scenario: Scenario, linker: Linker, anchor: str = "") -> Markdown:
        return linker.link(write_prose(scenario.title), self.paths.conversations[scenario.name], anchor)

    def name_handler(self, method: ir.Method) -> str:
        return "either side" if method.side in ir.EITHER else f"the {method.side}"

    def name_sender(self, method: ir.Method) -> str:
        if method.side in ir.EITHER:
            return "either side"
        senders = [side for side in self.protocol.sides if side not in (method.side, "proxy")]
        return f"the {senders[0]}" if len(senders) == 1 else "the other side"

    def describe_capabilities(self) -> dict[str, str]:
        """The schema's description of each capability, by path; empty if the path cannot be resolved."""
        start = {
            side: name
            for method in self.protocol.methods
            if method.name == "initialize"
            for side, name in (
                (method.side, method.result),
                (self.name_sender(method).removeprefix("the "), method.params),
            )
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
                member = next((field for field in fields if field.name == key), None)
                at = next(list_type_references(member.type), None) if member is not None else None
                doc = member.doc if member is not None else ""
            docs_by_path[path] = doc
        return docs_by_path


def _list_payload(method: ir.Method) -> list[str]:
    """The types of the params and the result of a method."""
    return [name for name in (method.params, method.result) if name is not None]


def describe_messages(protocol: ir.Protocol) -> dict[str, Any]:
    """The values for the page of messages, apart from framing, examples and requirements."""
    return {
        "request_id": protocol.definitions.get("RequestId"),
        "cancel": next((m.name for m in protocol.methods if m.name == "$/cancel_request"), None),
        "meta": find_metadata(protocol),
        "is_lenient": has_leniency(protocol),
        "never_batched": [m.name for m in protocol.methods if m.batch == "never"],
    }


def describe_errors(protocol: ir.Protocol) -> dict[str, Any]:
    """The values for the page of error codes, without examples."""
    return {
        "codes": list_error_codes(protocol),
        "named": group_methods_by_code(protocol),
        "error": protocol.definitions.get("Error"),
    }
