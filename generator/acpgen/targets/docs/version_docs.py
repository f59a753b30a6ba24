"""The pages of one protocol version, each with the template that lays it out and the values that it shows."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeAlias, assert_never

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.diagnostics.markup import Markdown, code, fenced, html, identifier, prose
from acpgen.errors import Fault
from acpgen.input.walk import is_object
from acpgen.meaning import envelopes
from acpgen.meaning.unenforced import unchecked
from acpgen.targets.docs.availability import NO_AVAILABILITY, Availability, since_phrase
from acpgen.targets.docs.codes import ErrorCode, codes_of, error_codes, methods_of_codes
from acpgen.targets.docs.conversation_pictures import around, picture
from acpgen.targets.docs.conversations import Conversation, Spoken, find_conversations
from acpgen.targets.docs.examples import Examples
from acpgen.targets.docs.leniency import is_told
from acpgen.targets.docs.origin_notes import NO_ORIGINS, Origins
from acpgen.targets.docs.page_paths import CAPABILITIES, ERRORS, INDEX, MESSAGES, METHODS, TYPES, Linker, PagePaths
from acpgen.targets.docs.requirement_notes import (
    NO_REQUIREMENTS,
    RequirementLine,
    RequirementNote,
    RequirementNotes,
    by_side,
)
from acpgen.targets.docs.templates import lay_out, relative
from acpgen.targets.docs.type_text import references
from acpgen.targets.docs.typescript import bindings_example, sdk_example
from acpgen.targets.docs.usages import Usage, find_capability_usages, find_usages, named_in, reachable_types
from acpgen.targets.docs.views import FALLS_TO_DEFAULT, KEPT_BESIDE_DEFAULT, KNOWN_IS_STRICT, UNKNOWN, metadata

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
    name: Markdown
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
    usages: Mapping[str, tuple[Usage, ...]] = field(init=False)
    unchecked: Mapping[str, tuple[str, ...]] = field(init=False)
    conversations: tuple[Conversation, ...] = field(init=False)
    shown_by: Mapping[str, str] = field(init=False)
    deprecated: frozenset[tuple[str, str]] = field(init=False)

    def __post_init__(self) -> None:
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
        def lines_by_side(notes: Iterable[RequirementNote]) -> list[tuple[str, list[RequirementLine]]]:
            return by_side(RequirementLine(note, _address(note, linker, folder)) for note in notes)

        marks = "#" if not linker.whole or template == "index" else "##"
        return lay_out(
            template,
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
            availability=self.availability,
            deprecated=self.deprecated,
            origins=self.origins,
            by_side=lines_by_side,
            changelog=relative(folder + linker.page, changelog) if changelog else Markdown(),
            other_versions=[_shown(other, folder + linker.page) for other in others],
        )

    def pages(self) -> Iterator[Page]:
        yield INDEX, "index", self._index()
        yield METHODS, "methods", {"groups": self._by_side()}
        for name in dict.fromkeys(method.name for method in self.protocol.methods):
            yield self.paths.methods[name], "method", self._method(name)
        for area, path in self.paths.areas.items():
            yield path, "area", self._area(area)
        for each in self.conversations:
            yield (
                self.paths.conversations[each.scenario.name],
                "conversation",
                {"conversation": each, "picture": self._picture(each)},
            )
        yield TYPES, "types", {"groups": self._by_kind()}
        for name, path in self.paths.types.items():
            yield path, "type", self._type(self.protocol.definitions[name])
        yield (
            CAPABILITIES,
            "capabilities",
            {"rows": list(find_capability_usages(self.protocol).items()), "docs": self._capability_docs()},
        )
        yield ERRORS, "errors", self._errors()
        yield MESSAGES, "messages", self._messages()

    # --- pages -----------------------------------------------------------------------------------------------------

    def _index(self) -> dict[str, Any]:
        return {
            "areas": [(area, self._about(area)) for area in self.paths.areas],
            "groups": self._by_side(),
            "conversations": [(each.scenario, self._picture(each)) for each in self.conversations],
            "refused": self.refused,
        }

    def _method(self, name: str) -> dict[str, Any]:
        parts: list[dict[str, Any]] = []
        shown: dict[str, None] = {}
        for method in (method for method in self.protocol.methods if method.name == name):
            part = self._part(method, frozenset(shown), is_first=not parts)
            shown |= dict.fromkeys(each.name for each in (part["params"], part["result"]) if each is not None)
            shown |= dict.fromkeys(each.definition.name for each in (*part["in_params"], *part["in_result"]))
            parts.append(part)
        return {"name": name, "parts": parts, "shown": frozenset(shown)}

    def _part(self, method: ir.Method, before: frozenset[str], *, is_first: bool) -> dict[str, Any]:
        """One of the methods of a name; `before` are the types that the page has shown already."""
        named = [part for part in (method.params, method.result) if part is not None]
        related = [other for part in named for other in named_in(self.protocol.definitions[part])]
        taking_part = list(self._conversations_of(method)) if is_first else []
        in_params = tuple(self._nested(method.params, before | {*named}))
        known = before | {*named, *(found.definition.name for found in in_params)}
        in_result = tuple(self._nested(method.result, known))
        known |= {found.definition.name for found in in_result} | ({self.meta.name} if self.meta else set[str]())
        return {
            "anchored": frozenset(named) - before,
            "method": method,
            "sender": self._sender(method),
            "params": self.protocol.definitions[method.params] if method.params is not None else None,
            "result": self.protocol.definitions[method.result] if method.result is not None else None,
            "errors": codes_of(self.protocol, method),
            "requirements": self.requirements.methods.get(method.name, ()) if is_first else (),
            "request": self._request(method),
            "response": self._response(method),
            "samples": list(self._samples(method)),
            "is_made": not self.generated.isdisjoint(named),
            "more": len(self.examples.get(method.params or "", ())) > 1,
            "in_params": in_params,
            "in_result": in_result,
            "conversations": taking_part,
            "around": self._around(taking_part[0][0], method.name) if taking_part else None,
            "related": [other for other in dict.fromkeys(related) if other not in known],
            "area": self._area_link(self.paths.area_of[named[0]]) if named else None,
            "since": _age(self.availability.methods.get(method.name)),
            "reachable": tuple(reachable_types(self.protocol, named)),
            "sides": "either side" if method.side in _EITHER else f"the {method.side}",
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
                    yield Nested(self.protocol.definitions[other], Markdown(html(other)), is_direct=depth == 0)
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

    def _type(self, definition: ir.Definition) -> dict[str, Any]:
        unchecked_places = self.unchecked.get(definition.name, ())
        return {
            "definition": definition,
            "patterns": _patterns(self.bundle.definitions.get(definition.name, {})),
            "checked": [place for place in definition.unenforced if place not in unchecked_places],
            "unchecked": unchecked_places,
            "kind": _kind(definition),
            "area": self._area_link(self.paths.area_of[definition.name]),
            "since": _age(self.availability.types.get(definition.name)),
            "requirements": self.requirements.types.get(definition.name, ()),
            "used_by": self.usages[definition.name],
            "examples": self.examples[definition.name],
            "is_made": definition.name in self.generated,
            "unknown": _unknown(definition),
            "strict": KNOWN_IS_STRICT
            if isinstance(definition, ir.TaggedUnion) and not definition.default_admits_known
            else "",
        }

    def _area(self, area: str) -> dict[str, Any]:
        mine = [name for name, found in self.paths.area_of.items() if found == area]
        methods = [m for m in self.protocol.methods if self.paths.area_of.get(m.params or m.result or "") == area]
        return {
            "area": area,
            "about": self._about(area),
            "methods": methods,
            "conversations": [
                each for each in self.conversations if not {m.name for m in methods}.isdisjoint(each.scenario.methods)
            ],
            "groups": self._by_kind(mine),
            "shown_by": self.shown_by,
            "titles": {name: Markdown(html(name)) for name in mine},
            "requirements": self.requirements.areas.get(area, ()),
        }

    def _errors(self) -> dict[str, Any]:
        return {**about_errors(self.protocol), "examples": self.examples.get("Error", ())}

    def _messages(self) -> dict[str, Any]:
        request = next((m for m in self.protocol.methods if m.kind == "request" and m.name != "initialize"), None)
        notification = next((m for m in self.protocol.methods if m.kind == "notification"), None)
        codes = error_codes(self.protocol) if self.protocol.envelope != "dap" else ()
        failure: ErrorCode | None = next((c for c in codes if c.code == -32602), None)
        return {
            "request": self._request(request) if request else None,
            "response": self._response(request) if request else None,
            "notification": self._request(notification) if notification else None,
            "failure": envelopes.failure(self.protocol.envelope, request, {"code": -32602, "message": failure.title})
            if failure
            else None,
            "requirements": self.requirements.messages,
            **about_messages(self.protocol),
        }

    @property
    def meta(self) -> ir.Definition | None:
        return metadata(self.protocol)

    # --- parts -----------------------------------------------------------------------------------------------------

    def _request(self, method: ir.Method) -> dict[str, ir.JSON] | None:
        """A whole message with the first example of the params; `None` where there is none."""
        found = self.examples.get(method.params or "", ())
        if method.params is not None and not found:
            return None
        return {**envelopes.call(self.protocol.envelope, method, found[0] if found else envelopes.ABSENT)}

    def _samples(self, method: ir.Method) -> Iterator[tuple[str, Markdown]]:
        """The example in each language, with what it is written with."""
        request, results = self._request(method), self.examples.get(method.result or "", ())
        result = results[0] if results else None
        if request is not None and self.snippets is not None:
            source = self.snippets(method, request, result)
            if source is not None:
                yield "Python", fenced(source, "python")
        if request is not None and self.module:
            yield (
                "TypeScript",
                fenced(bindings_example(self.protocol, method, request, result, self.module), "typescript"),
            )
        sdk = sdk_example(self.protocol, method, self.examples, self.origins)
        if sdk is not None:
            yield "TypeScript (official SDK)", fenced(sdk, "typescript")

    def _response(self, method: ir.Method) -> ir.JSON | None:
        found = self.examples.get(method.result or "", ())
        if method.kind != "request" or not found:
            return None
        return {**envelopes.answer(self.protocol.envelope, method, found[0])}

    def _by_side(self) -> list[tuple[str, list[ir.Method]]]:
        """The methods by the side that handles them."""
        groups: dict[str, list[ir.Method]] = {}
        for method in self.protocol.methods:
            side = "either side" if method.side in _EITHER else f"the {method.side}"
            groups.setdefault(f"Handled by {side}", []).append(method)
        return list(groups.items())

    def _by_kind(self, names: list[str] | None = None) -> list[tuple[str, list[ir.Definition]]]:
        heads = {ir.TaggedUnion: "Unions", ir.Enum: "Enumerations", ir.Record: "Objects", ir.Alias: "Other types"}
        chosen = [self.protocol.definitions[name] for name in (self.protocol.definitions if names is None else names)]
        groups = [(head, [d for d in chosen if type(d) is kind]) for kind, head in heads.items()]
        return [(head, sorted(found, key=lambda d: d.name)) for head, found in groups if found]

    def _about(self, area: str) -> tuple[str, str]:
        return about_area(self.bundle, area)

    def _picture(self, conversation: Conversation) -> Callable[..., Markdown]:
        return partial(picture, self.protocol, conversation)

    def _around(self, conversation: Conversation, method: str) -> Callable[..., Markdown]:
        return partial(around, self.protocol, conversation, method)

    def _conversations_of(self, method: ir.Method) -> Iterator[tuple[Conversation, Spoken]]:
        """The conversations that a method takes part in, each with its first message there."""
        for each in self.conversations:
            first = each.first_of(method.name)
            if first is not None:
                yield each, first

    def _area_link(self, area: str) -> Callable[[Linker], Markdown]:
        return lambda linker: linker.area(area, prose(self._about(area)[0]))

    def _sender(self, method: ir.Method) -> str:
        if method.side in _EITHER:
            return "either side"
        others = [side for side in self.protocol.sides if side not in (method.side, "proxy")]
        return f"the {others[0]}" if len(others) == 1 else "the other side"

    def _capability_docs(self) -> dict[str, str]:
        """What the schema says of each capability, by its path, as far as the path can be followed."""
        start = {
            side: name
            for method in self.protocol.methods
            if method.name == "initialize"
            for side, name in ((method.side, method.result), (self._sender(method).removeprefix("the "), method.params))
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


def _address(note: RequirementNote, linker: Linker, folder: str) -> Markdown | None:
    """Where the requirements tell of one, as seen from a page; `None` in the file that holds all pages."""
    return None if linker.whole else relative(folder + linker.page, note.href)


def _age(said: str | None) -> Markdown:
    """Since when something is published; empty where that is not known."""
    return since_phrase(said) if said is not None else Markdown()


def _kind(definition: ir.Definition) -> str:
    match definition:
        case ir.Record():
            return "Object"
        case ir.TaggedUnion():
            return f"{definition.openness.capitalize()} union, discriminated by `{definition.tag}`"
        case ir.Enum():
            return f"{definition.openness.capitalize()} enumeration"
        case ir.Alias():
            return "Type"
        case _:
            assert_never(definition)


def _unknown(definition: ir.Definition) -> str:
    match definition:
        case ir.TaggedUnion():
            if definition.default_admits_unknown:
                return FALLS_TO_DEFAULT.format("tag")
            is_kept = definition.openness == "closed" and definition.fallback is not None
            return (KEPT_BESIDE_DEFAULT if is_kept else UNKNOWN[definition.openness]).format("tag")
        case ir.Enum():
            return UNKNOWN[definition.openness].format("value")
        case _:
            return ""


def _shown(other: OtherVersion, here: str) -> dict[str, Any]:
    """Another version with addresses as seen from a page."""
    page = other.page or other.home
    return {
        "version": other.version,
        "is_there": other.page is not None,
        "href": relative(here, page),
        "differences": [
            (code(row.what), *(code(side) if side else Markdown("-") for side in (row.here, row.there)))
            for row in other.differences or ()
        ],
        "is_compared": other.differences is not None,
        "anchor": identifier(other.version),
    }


def _deprecated(bundle: Bundle) -> Iterator[tuple[str, str]]:
    """The definitions that are marked so, with an empty name, and the fields, each with its definition."""
    for name, definition in bundle.definitions.items():
        if definition.get("deprecated") is True:
            yield name, ""
        for member, schema in definition.get("properties", {}).items():
            if is_object(schema) and schema.get("deprecated") is True:
                yield name, member


def _patterns(definition: Mapping[str, Any]) -> tuple[str, ...]:
    """The patterns of names that an object admits beside its fields, where it admits no others."""
    return tuple(definition.get("patternProperties", ())) if definition.get("additionalProperties") is False else ()
