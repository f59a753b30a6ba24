"""The migration guide between two versions, for those who must change their code.

It combines what the new version states about the old one with the findings of the check. The first page has a checklist for each kind of
reader. A page for each area (the schema file of a definition) shows what moved and why, and for each method a minimal message of both
versions, what the sender must change, and what it may do in addition. Further pages cover what concerns many methods: the frames of
messages, capabilities, and types that were added, removed or renamed.

Removals are computed; replacements are not. The new version states them by `x-migration`; if it does not, the guide says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import PurePosixPath
from typing import Any, Final

from acpgen import ir
from acpgen.bundle.bundle import Moved
from acpgen.compat.diff.renames import find_renamed_methods
from acpgen.compat.findings import Reach
from acpgen.compat.protocol.messages import Part, Route, make_example, wrap_message
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.compat.report_cache import find_or_compare
from acpgen.diagnostics.markup import Markdown, escape_line, make_identifier, write_block
from acpgen.files.cache import NO_CACHE, Cache
from acpgen.input.numbers import dumps
from acpgen.input.walk import is_object, without_prose
from acpgen.naming.identifiers import assign
from acpgen.publish import migration_types
from acpgen.publish.migration_entries import find_actor, is_demanded, make_entries
from acpgen.publish.migration_notes import require_valid
from acpgen.publish.requirement_table import make_slug
from acpgen.targets.docs.templates import lay_out, relativize

_FURTHER: Final = ("Every message", "Capabilities", "Types")
_HARD: Final = ("breaking", "risky", "undecided")
_VERSION: Final = "protocolVersion"


def make_guide(old: SchemaRevision, new: SchemaRevision, cache: Cache = NO_CACHE) -> Mapping[str, tuple[str, str]]:
    """Make the pages of the guide from one version to the next, the first page first: by path, the area of the page and its Markdown.

    Raises `Faults` for an example message that its version rejects.
    """
    require_valid(old, new)
    return dict(_Guide(old, new, _check_facts(old, new, cache)).write_pages())


def _check_facts(old: SchemaRevision, new: SchemaRevision, cache: Cache) -> tuple[Reach, ...]:
    """Check two revisions; prose is neither a finding nor part of the cache key."""
    bundles = [[without_prose(side.bundle.schema), dict(side.bundle.origins)] for side in (old, new)]
    methods = [[(method.name, method.side, method.kind, method.at) for method in side.methods] for side in (old, new)]
    inputs = ("facts", dumps([*bundles, methods, old.protocol.envelope, new.protocol.envelope]))

    def list_findings() -> tuple[Reach, ...]:
        from acpgen.compat.protocol.check.check import check

        return tuple(finding for finding in check(old, new).reaches if finding.rule != "text-reworded")

    return find_or_compare(cache, inputs, list_findings)


class _Guide:
    def __init__(self, old: SchemaRevision, new: SchemaRevision, findings: tuple[Reach, ...]) -> None:
        self.old, self.new, self.findings = old, new, findings
        self.relevant = [finding for finding in findings if finding.severity != "editorial"]
        self.names_now = find_renamed_methods(old, new)
        names = (side.protocol.name.rpartition("/")[2] for side in (old, new))
        self.first = f"migration-{'-'.join(names)}.md"
        self.methods: dict[str, dict[str, None]] = {}
        """The methods of both versions by area, those of the new version first."""
        areas = {method.name: _find_area(method.at, side) for side in (old, new) for method in side.methods}
        for method in chain(new.methods, old.methods):
            self.methods.setdefault(areas[method.name], {})[method.name] = None
        self.moves: dict[str, list[tuple[str, Moved]]] = {}
        for of, move in new.bundle.moves.items():
            self.moves.setdefault(_find_area(move.at, new), []).append((of, move))
        titles = dict.fromkeys((*sorted({*self.methods, *self.moves}), *_FURTHER))
        slugs = {title: make_identifier("-".join(title.casefold().split())) for title in titles}
        file_names = assign({title: (slug, make_identifier(title).casefold()) for title, slug in slugs.items()})
        self.paths = {title: f"{self.first.removesuffix('.md')}/{file_names[title]}.md" for title in titles}
        self.about = {move.title: area for area, moves in self.moves.items() for _, move in moves}

    def write_pages(self) -> Iterator[tuple[str, tuple[str, str]]]:
        old, new = self.old, self.new
        of_frames = [finding for finding in self.relevant if finding.method is None]
        further: Mapping[str, Sequence[object]] = dict(
            zip(
                _FURTHER,
                (
                    list(make_entries(of_frames, old, new)),
                    migration_types.pair_capabilities(old, new),
                    migration_types.compare_types(old, new),
                ),
                strict=True,
            )
        )
        page_paths = {
            title: path
            for title, path in self.paths.items()
            if title in self.moves or title in self.methods or further.get(title)
        }
        yield self.first, ("", self._link_first_steps(page_paths))
        for title, path in page_paths.items():
            everywhere, capabilities, types = (further[heading] if heading == title else () for heading in _FURTHER)
            text = lay_out(
                "guide-area",
                title=title,
                old=old,
                new=new,
                first=self.first,
                has_tasks=any(move.does for move in new.bundle.moves.values()),
                moves=self.moves.get(title, ()),
                methods=[self._make_section(name) for name in self.methods.get(title, ())],
                href=partial(self._make_href, path),
                everywhere=everywhere,
                capabilities=capabilities,
                types=types,
            )
            yield path, (escape_line(title), text)

    def _link_first_steps(self, page_paths: Mapping[str, str]) -> str:
        checklists: dict[str, dict[str, list[tuple[Moved, str]]]] = {}
        for move in self.new.bundle.moves.values():
            for reader, does in move.does.items():
                tasks = checklists.setdefault(f"Checklist for {reader}", {})
                tasks.setdefault(self.about[move.title], []).append((move, does))
        return lay_out(
            "guide",
            old=self.old,
            new=self.new,
            contents=[*checklists, "Methods", "Details"],
            anchor=make_slug,
            checklists=checklists,
            href=partial(self._make_href, self.first),
            changes=self._group_methods(),
            renamed=self.names_now,
            areas=[
                (title, path, [move for _, move in self.moves.get(title, ())], self.methods.get(title, ()))
                for title, path in page_paths.items()
            ],
        )

    def _make_href(self, page: str, title: str) -> Markdown:
        """The link target of the section about a move, by the move's title, relative to a page."""
        target = self.paths[self.about[title]]
        return Markdown(f"{'' if target == page else relativize(page, target)}#{make_slug(title)}")

    def _group_methods(self) -> list[tuple[str, list[str]]]:
        """The names of the new, removed, changed and unchanged methods, each group with its heading."""
        before, after = ({method.name: None for method in side.methods} for side in (self.old, self.new))
        hard = {finding.method for finding in self.findings if finding.severity in _HARD}
        groups: dict[str, list[str]] = {
            "New": [name for name in after if name not in before and name not in self.names_now.values()],
            "Gone": [name for name in before if name not in after and name not in self.names_now],
            "Changed in a way that needs your action": [name for name in before if name in after and name in hard],
            "Unchanged or only extended": [name for name in before if name in after and name not in hard],
        }
        return [*groups.items()]

    def _make_section(self, name: str) -> dict[str, Any]:
        """The template values of one method: required and optional actions by side.

        Includes example messages if an action is required or the method is new or removed.
        """
        old, new = self.old, self.new
        before, after = (next((method for method in side.methods if method.name == name), None) for side in (old, new))
        groups: dict[tuple[str, str], list[Reach]] = {}
        for finding in self.relevant:
            if finding.method == name:
                how = "must" if is_demanded(finding, old, new) else "may"
                groups.setdefault((how, find_actor(finding)), []).append(finding)
        is_new_or_gone = before is None or after is None
        is_shown = is_new_or_gone or any(how == "must" for how, _ in groups)
        return {
            "name": name,
            "doc": after.doc if after is not None else "",
            "now": self.names_now.get(name),
            "was": [was for was, now in self.names_now.items() if now == name],
            "status": "New" if before is None else "Gone" if after is None else "",
            "see": [move.title for of, move in new.bundle.moves.items() if name in (of, *move.to)],
            "groups": [
                (f"{who[:1].upper()}{who[1:]} {how}", list(make_entries(groups[how, who], old, new)))
                for how, who in sorted(groups, reverse=True)
            ],
            "messages": list(self._list_messages(before, after)) if is_shown else [],
            "is_told": bool(groups) or is_new_or_gone,
        }

    def _list_messages(
        self, before: ir.Method | None, after: ir.Method | None
    ) -> Iterator[tuple[str, SchemaRevision, ir.JSON]]:
        """Yield an example message and response of each version, unless both versions have the same one."""
        parts: dict[Part, str] = {"params": "A message", "result": "A response"}
        for part, caption in parts.items():
            examples = [
                (_make_example(method, part, side, self.new), side)
                for method, side in ((before, self.old), (after, self.new))
                if method is not None
            ]
            messages = [(value, side) for value, side in examples if value is not None]
            if len({write_block(value) for value, _ in messages}) == len(messages):
                yield from ((caption, side, value) for value, side in messages)


def _find_area(at: str, side: SchemaRevision) -> str:
    """The title of the schema file that contains a place; if it has none, a title derived from the file name."""
    file = at.partition("#")[0]
    words = PurePosixPath(file).name.partition(".")[0].replace("-", " ").replace("_", " ")
    return side.bundle.get_title(file) or words[:1].upper() + words[1:]


def _make_example(method: ir.Method, part: Part, side: SchemaRevision, like: SchemaRevision) -> ir.JSON:
    """Make a message from the first of the schema's `examples`; without any, a minimal one, with texts as in the version `like`.

    `None` if the method lacks this part or no example can be made.
    """
    name = method.params if part == "params" else method.result
    if name is None:
        return None
    examples = side.bundle.definitions[name].get("examples")
    candidate = (examples[0],) if examples else make_example(side, name, like)
    if candidate is None:
        return None
    (value,) = candidate
    version = side.protocol.version
    if is_object(value) and type(value.get(_VERSION)) is type(version):
        value = {**value, _VERSION: version}  # a reader copies this, and a peer of this version announces itself
    return wrap_message(side.protocol.envelope, Route(part, method), value)
