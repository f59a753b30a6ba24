"""Documents about several versions or protocols: the docs of each with the way to its counterpart, and what differs there.

This is the only stage that calls targets and the compatibility check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias, assert_never

from acpgen import ir
from acpgen.bundle import Bundle
from acpgen.errors import Fault, Faults
from acpgen.targets import Settings, docs
from acpgen.targets.docs import Counterpart, Difference

HOME: Final = "index.md"
RULES: Final = "compatibility.md"
MACHINES: Final = "llms.txt"

Entry: TypeAlias = "tuple[str, str | list[Entry]]"
"""A title in the navigation, and the page or the entries below it."""


@dataclass(frozen=True, slots=True)
class Version:
    """One protocol version whose docs are to be made. `at` turns a place in its files into one that users can open."""

    protocol: ir.Protocol
    bundle: Bundle
    settings: Settings
    at: Callable[[str], str] = str

    @property
    def family(self) -> str:
        """What its versions have in common: `acp` of `acp/v1`."""
        return self.protocol.name.rpartition("/")[0] or self.protocol.name

    def home(self) -> str:
        return self.path(HOME)

    def path(self, page: str) -> str:
        """A page as seen from the folder above all versions."""
        return f"{self.settings.prefix}/{page}" if self.settings.prefix else page


def documents(versions: Sequence[Version], *, for_site: bool = False) -> Mapping[str, str]:
    """The docs of all versions, a home page, what changed between the versions of each protocol, and the compatibility rules.

    `for_site` adds marks for its search to headings. Raises `Faults`.
    """
    from acpgen.compat import catalogue
    from acpgen.compat.guide import guide
    from acpgen.compat.protocol.revision import Revised

    files: dict[str, str] = {}
    faults: list[Fault] = []
    for version in versions:
        others = [other for other in versions if other.family == version.family and other is not version]
        try:
            beside = _beside(version, others)
            files.update(docs.compose(version.protocol, version.bundle, version.settings, beside, for_site=for_site))
        except Faults as caught:
            faults.extend(replace(fault, at=version.at(fault.at)) for fault in caught.faults)
    if faults:
        raise Faults(faults)
    changes: dict[str, str] = {}
    for old, new in _successions(versions):
        path = _change_page(old, new)
        changes[path] = f"{old.protocol.name} to {new.protocol.name}"
        files[path] = docs.lay_out("changes", path=path, **_changes(old, new, path))
        path = _guide_page(old, new)
        changes[path] = f"{old.protocol.name} to {new.protocol.name}, as a migration guide"
        files[path] = guide(Revised(old.protocol, old.bundle), Revised(new.protocol, new.bundle))
    files[HOME] = docs.lay_out(
        "home", path=HOME, versions=_listed(versions), changes=list(changes.items()), rules=RULES
    )
    files[RULES] = catalogue.as_markdown()
    files[MACHINES] = docs.lay_out(
        "llms.txt", path=MACHINES, versions=_listed(versions), changes=list(changes.items()), rules=RULES
    )
    return files


def navigation(versions: Sequence[Version]) -> list[Entry]:
    """How the pages hang together: a section for each version with its methods and, by area, its types."""
    found: list[Entry] = [("Home", HOME)]
    for version in versions:
        where = docs.places_of(version.protocol, version.bundle)
        areas: list[Entry] = []
        for area, page in where.areas.items():
            types = [(name, version.path(where.types[name])) for name, found in where.area_of.items() if found == area]
            areas.append((docs.area_title(version.bundle, area), [("Overview", version.path(page)), *sorted(types)]))
        methods = sorted((name, version.path(page)) for name, page in where.methods.items())
        found.append(
            (
                version.protocol.name,
                [
                    ("Overview", version.home()),
                    ("Methods", [("All methods", version.path("methods.md")), *methods]),
                    ("Types", [("All types", version.path("types.md")), *sorted(areas, key=lambda entry: entry[0])]),
                    ("Capabilities", version.path("capabilities.md")),
                    ("Error codes", version.path("errors.md")),
                    ("Messages", version.path("messages.md")),
                ],
            )
        )
    between: list[Entry] = []
    for old, new in _successions(versions):
        title = f"{old.protocol.name} to {new.protocol.name}"
        between += [(title, _change_page(old, new)), (f"{title}: guide", _guide_page(old, new))]
    return [*found, ("Between versions", [*between, ("Compatibility rules", RULES)])]


# --- counterparts ----------------------------------------------------------------------------------------------------


def _beside(version: Version, others: Sequence[Version]) -> docs.Beside:
    """For each page of a version, the page about the same thing in every other version."""
    found: dict[str, list[Counterpart]] = {}
    for other in others:
        matched = dict(_matched(version, other))
        there = set(docs.pages(other.protocol, other.bundle))
        for page in docs.pages(version.protocol, version.bundle):
            target, differences = matched.get(page, (page if page in there else None, None))
            found.setdefault(page, []).append(
                Counterpart(
                    version=other.protocol.name,
                    page=other.path(target) if target is not None else None,
                    home=other.home(),
                    differences=differences,
                )
            )
    return {page: tuple(counterparts) for page, counterparts in found.items()}


def _matched(here: Version, there: Version) -> Iterator[tuple[str, tuple[str | None, tuple[Difference, ...] | None]]]:
    """The pages of methods and types with their counterparts and what differs."""
    pages_here, pages_there = docs.places_of(here.protocol, here.bundle), docs.places_of(there.protocol, there.bundle)
    for method in here.protocol.methods:
        other = _same_method(method, there.protocol)
        if other is None:
            yield pages_here.methods[method.name], (None, None)
        else:
            differences = tuple(_method_differences(here.protocol, method, there.protocol, other))
            yield pages_here.methods[method.name], (pages_there.methods[other.name], differences)
    for name, definition in here.protocol.definitions.items():
        same = _same_type(name, here.bundle, there.bundle)
        found = there.protocol.definitions.get(same or "")
        if found is None:
            yield pages_here.types[name], (None, None)
        else:
            differences = tuple(_told(_facts(definition), _facts(found)))
            yield pages_here.types[name], (pages_there.types[found.name], differences)


def _same_method(method: ir.Method, protocol: ir.Protocol) -> ir.Method | None:
    """The method of another version with this name, or with a name that one of the two had before."""
    return next(
        (other for other in protocol.methods if other.name == method.name and other.kind == method.kind),
        next((o for o in protocol.methods if method.name in o.was or o.name in method.was), None),
    )


def _same_type(name: str, here: Bundle, there: Bundle) -> str | None:
    if name in there.definitions:
        return name
    earlier = {item.rpartition("/")[2] for item in here.definitions.get(name, {}).get("x-was", ())}
    later = [other for other, schema in there.definitions.items() if f"#/$defs/{name}" in schema.get("x-was", ())]
    return next(iter([*later, *(other for other in there.definitions if other in earlier)]), None)


# --- differences -----------------------------------------------------------------------------------------------------


def _method_differences(
    here: ir.Protocol, method: ir.Method, there: ir.Protocol, other: ir.Method
) -> Iterator[Difference]:
    yield from _told(_about(method), _about(other))
    for part, mine, theirs in (("params", method.params, other.params), ("result", method.result, other.result)):
        yield from (
            Difference(f"{part}.{row.what}" if row.what else part, row.here, row.there)
            for row in _told(_facts(here.definitions.get(mine or "")), _facts(there.definitions.get(theirs or "")))
        )


def _told(here: Mapping[str, str], there: Mapping[str, str]) -> Iterator[Difference]:
    """The facts that differ, those of this version first."""
    for what in dict.fromkeys((*here, *there)):
        if here.get(what) != there.get(what):
            yield Difference(what, here.get(what, ""), there.get(what, ""))


def _about(method: ir.Method) -> Mapping[str, str]:
    facts = {
        "name": method.name,
        "kind": method.kind,
        "handled by": method.side,
        "capability": method.capability or "",
        "in a batch": method.batch or "",
        "tier": "unstable" if method.unstable else "",
    }
    return {what: text for what, text in facts.items() if text}


def _facts(definition: ir.Definition | None) -> Mapping[str, str]:
    """What a definition says, a line for each member; the empty name stands for the whole."""
    match definition:
        case None:
            return {}
        case ir.Record():
            return {field.name: _field(field) for field in definition.fields}
        case ir.TaggedUnion():
            facts = {str(variant.tag): _variant(variant) for variant in definition.variants}
            return {"unknown tags": definition.openness, **facts}
        case ir.Enum():
            return {"unknown values": definition.openness, **{str(item.value): "value" for item in definition.values}}
        case ir.Alias():
            return {"type": docs.plainly(definition.type)}
        case _:
            assert_never(definition)


def _field(field: ir.Field) -> str:
    parts = [docs.plainly(field.type), "required" if field.required else "optional"]
    if field.null is not None:
        parts.append(f"null {field.null}" if field.null == "clears" else "null means omitted")
    if field.capability is not None:
        parts.append(f"needs {field.capability.partition(':')[2]}")
    if field.unstable:
        parts.append("unstable")
    return ", ".join(parts)


def _variant(variant: ir.Variant) -> str:
    parts = [variant.body or "variant"]
    if variant.capability is not None:
        parts.append(f"needs {variant.capability.partition(':')[2]}")
    return ", ".join(parts)


# --- pages -----------------------------------------------------------------------------------------------------------


def _successions(versions: Sequence[Version]) -> Iterator[tuple[Version, Version]]:
    """Versions of one protocol that follow one another, in the order given."""
    for index, old in enumerate(versions):
        new = next((other for other in versions[index + 1 :] if other.family == old.family), None)
        if new is not None:
            yield old, new


def _changes(old: Version, new: Version, path: str) -> dict[str, object]:
    """The rows of the page that lists methods and types of two versions beside one another."""
    before, after = docs.places_of(old.protocol, old.bundle), docs.places_of(new.protocol, new.bundle)
    matched = {page: found for page, found in _matched(old, new) if found[0] is not None}
    methods = [
        (
            method.name,
            docs.relative(path, old.path(before.methods[method.name])),
            (other := _same_method(method, new.protocol)) and other.name,
            other and docs.relative(path, new.path(after.methods[other.name])),
            len(matched.get(before.methods[method.name], (None, ()))[1] or ()),
        )
        for method in old.protocol.methods
    ]
    kept = {row[2] for row in methods}
    types = {name: found for name in old.protocol.definitions if (found := matched.get(before.types[name]))}
    reached = {found[0] for found in types.values()}
    return {
        "old": old.protocol.name,
        "new": new.protocol.name,
        "methods": methods,
        "added": [
            (m.name, docs.relative(path, new.path(after.methods[m.name])))
            for m in new.protocol.methods
            if m.name not in kept
        ],
        "changed_types": [
            (name, docs.relative(path, old.path(before.types[name])), len(found[1] or ()))
            for name, found in sorted(types.items())
            if found[1]
        ],
        "removed_types": [
            (name, docs.relative(path, old.path(before.types[name])))
            for name in sorted(old.protocol.definitions)
            if name not in types
        ],
        "added_types": [
            (name, docs.relative(path, new.path(after.types[name])))
            for name in sorted(new.protocol.definitions)
            if after.types[name] not in reached
        ],
    }


def _listed(versions: Sequence[Version]) -> list[dict[str, object]]:
    return [
        {
            "name": version.protocol.name,
            "doc": version.protocol.doc,
            "folder": version.settings.prefix or ".",
            "methods": len({method.name for method in version.protocol.methods}),
            "types": len(version.protocol.definitions),
        }
        for version in versions
    ]


def _change_page(old: Version, new: Version) -> str:
    return f"{old.family}/changes-{_last(old)}-{_last(new)}.md"


def _guide_page(old: Version, new: Version) -> str:
    return f"{old.family}/migration-{_last(old)}-{_last(new)}.md"


def _last(version: Version) -> str:
    return version.protocol.name.rpartition("/")[2]
