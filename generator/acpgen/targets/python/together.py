"""One module of many: what a package has in its modules and in its run-time package, in one file, each thing under a name of its own.

What nothing needs is left out. Types of the schema keep their names, then what is offered beside them; whatever else would have such a name
gets another.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, TypeAlias

from acpgen.targets.python.literals import literal
from acpgen.targets.python.pieces import ModuleText, Piece, read
from acpgen.targets.python.used_names import NameUse

Thing: TypeAlias = tuple[str, str]
"""Something by its module and its name there; a whole module outside has no name."""

_CHECKING: Final = ("typing", "TYPE_CHECKING")
_BUILTINS: Final = frozenset(dir(builtins))


def together(
    modules: Mapping[str, str],
    packages: Iterable[str],
    first: Iterable[str],
    offered: Mapping[Thing, str],
    taken: Iterable[str],
) -> str:
    """The modules, texts by dotted name, as one: comments for tools, imports and statements, without a docstring.

    `packages` are those that are packages, `first` the modules where it begins. `offered` is what it is for: names by thing. `taken`
    are names that nothing else may have.
    """
    among = frozenset(packages)
    ours = frozenset(modules)
    sources: dict[str, ModuleText] = {}
    pending = [*first, *(module for module, _ in offered)]
    while pending:
        name = pending.pop()
        if name not in sources:
            sources[name] = _read(name, modules[name], ours, name in among)
            pending.extend(one.module for one in sources[name].imports.values() if one.is_ours)
    joined = _Joined(sources, tuple(first), {}, frozenset(taken))
    joined.offered = {joined.defined(thing): name for thing, name in offered.items()}
    return joined.text()


@lru_cache(maxsize=256)
def _read(name: str, text: str, ours: frozenset[str], is_package: bool) -> ModuleText:
    return read(name, text, ours, is_package=is_package)


@dataclass
class _Joined:
    sources: Mapping[str, ModuleText]
    first: tuple[str, ...]
    offered: Mapping[Thing, str]
    taken: frozenset[str]
    names: dict[Thing, str] = field(default_factory=dict[Thing, str])

    def defined(self, thing: Thing) -> Thing:
        """Where something that a module has is defined."""
        found = self._resolved(*thing)
        assert found is not None, thing
        return found

    def text(self) -> str:
        order = self._order()
        owners: dict[Thing, list[Piece]] = {}
        for module in order:
            for piece in self.sources[module].pieces:
                for name in piece.binds:
                    owners.setdefault((module, name), []).append(piece)
        kept = self._needed(order, owners)
        pieces = [piece for module in order for piece in self.sources[module].pieces if id(piece) in kept]
        used = dict.fromkeys(thing for piece in pieces for thing in self._things(piece))
        self._name(order, pieces, [*used, _CHECKING])
        comments = sorted({line for module in order for line in self.sources[module].comments})
        lines = [*comments, "from __future__ import annotations", "", *self._imports(pieces), ""]
        parts = ["\n".join(lines) + "\n"]
        before = ""
        for piece in self._once(pieces):
            if piece.module != before:
                parts.append(f"# --- {_about(self.sources[piece.module].about)} ---\n")
                before = piece.module
            parts.append(self._written(piece))
        return "\n".join(parts)

    # --- what is needed ---

    def _order(self) -> list[str]:
        """The modules in the order in which they are to run, where no import leads back."""
        found: dict[str, None] = {}
        entered: set[str] = set()

        def enter(module: str) -> None:
            if module in entered or module not in self.sources:
                return
            entered.add(module)
            source = self.sources[module]
            for local, each in source.imports.items():
                if each.is_ours and not each.is_for_types:
                    thing = self._resolved(module, local)
                    enter(thing[0] if thing is not None else each.module)
            found[module] = None

        for module in self.first:
            enter(module)
        for module in sorted(self.sources):
            enter(module)
        return list(found)

    def _needed(self, order: list[str], owners: Mapping[Thing, list[Piece]]) -> set[int]:
        """The pieces that what is offered leads to. Statements that bind nothing go with what they are about."""
        pending: list[Piece] = [piece for thing in self.offered for piece in owners.get(thing, ())]
        beside: dict[Thing, list[Piece]] = {}
        for module in order:
            for piece in self.sources[module].pieces:
                if piece.binds:
                    continue
                about = next((thing for thing in self._things(piece) if thing[0] == module), None)
                if about is None:
                    pending.append(piece)
                else:
                    beside.setdefault(about, []).append(piece)
        kept: set[int] = set()
        while pending:
            piece = pending.pop()
            if id(piece) in kept:
                continue
            kept.add(id(piece))
            for thing in self._things(piece):
                pending.extend(owners.get(thing, ()))
                pending.extend(beside.get(thing, ()))
        return kept

    def _things(self, piece: Piece) -> Iterator[Thing]:
        """What a piece uses of modules, ours and others."""
        for use in _flat(piece.uses):
            thing = self._meant(piece.module, use)
            if thing is not None:
                yield thing

    def _meant(self, module: str, use: NameUse) -> Thing | None:
        if use.member:
            return self._resolved(self.sources[module].imports[use.name].module, use.member)
        return self._resolved(module, use.name)

    def _resolved(self, module: str, name: str) -> Thing | None:
        """What a name of a module is: of ours where it is bound, or what it is imported from. `None` for what is neither.

        What Python itself has is of `builtins`.
        """
        source = self.sources[module]
        if name in source.bound:
            return module, name
        found = source.imports.get(name)
        if found is None:
            return ("builtins", name) if name in _BUILTINS else None
        if not found.is_ours:
            return found.module, found.name
        return self._resolved(found.module, found.name) if found.name else None

    # --- names ---

    def _name(self, order: list[str], pieces: list[Piece], used: Iterable[Thing]) -> None:
        """Give everything a name that nothing else has."""
        words = frozenset(word for source in self.sources.values() for word in source.words)
        variables = frozenset(word for source in self.sources.values() for word in source.variables)
        elsewhere = self._elsewhere(pieces)
        self.names.update(self.offered)
        given = set(self.names.values())
        texts = {(piece.module, name): self._raw(piece) for piece in pieces for name in piece.binds}
        same: dict[bytes, str] = {}
        rank = {module: index for index, module in enumerate(reversed(order))}
        own = sorted(texts, key=lambda thing: rank[thing[0]])
        for thing in (*own, *(one for one in used if one[0] not in self.sources)):
            module, name = thing
            if thing in self.names:
                continue
            if module == "builtins" and name not in given:
                self.names[thing] = name
                continue
            text = texts.get(thing, b"")
            if _is_variable(text) and text in same:
                self.names[thing] = same[text]
                continue
            wanted = name or self._called(order, module)
            avoided = elsewhere.get(thing, frozenset()) | (self.taken if module in self.sources else variables)
            found = next(
                one
                for one in _candidates(wanted, module)
                if one not in given and one not in avoided and (one == wanted or one not in words | _BUILTINS)
            )
            self.names[thing] = same[text] = found
            given.add(found)

    def _called(self, order: list[str], module: str) -> str:
        """What modules of ours call one of others."""
        every = (item for name in order for item in self.sources[name].imports.items())
        return next(local for local, found in every if not found.is_ours and (found.module, found.name) == (module, ""))

    def _elsewhere(self, pieces: list[Piece]) -> dict[Thing, frozenset[str]]:
        """By thing, all names in modules that call it otherwise than its own does: there those may mean something else."""
        others = {name: source.words - source.bound for name, source in self.sources.items()}
        callers: dict[Thing, set[tuple[str, str]]] = {}
        for piece in pieces:
            for use in _flat(piece.uses):
                thing = self._meant(piece.module, use)
                if thing is not None and (use.member or use.name != thing[1]):
                    callers.setdefault(thing, set()).add((piece.module, use.name))
        return {
            thing: frozenset[str]().union(*(others[module] - {name} for module, name in found))
            for thing, found in callers.items()
        }

    # --- texts ---

    def _imports(self, pieces: list[Piece]) -> Iterator[str]:
        """What is imported, each on a line of its own; last what type checkers alone need."""
        plain: dict[Thing, None] = {thing: None for thing in self.offered if thing[0] not in self.sources}
        for_types: dict[Thing, None] = {}
        for piece in pieces:
            imports = self.sources[piece.module].imports
            for use in _flat(piece.uses):
                thing = self._meant(piece.module, use)
                if thing is None or thing[0] in self.sources or self.names[thing] == thing[1] in _BUILTINS:
                    continue
                found = imports.get(use.name)
                is_for_types = piece.is_for_types or (found is not None and found.is_for_types)
                (for_types if is_for_types else plain)[thing] = None
        later = [thing for thing in for_types if thing not in plain]
        if later:
            plain[_CHECKING] = None
        yield from sorted((self._import(thing) for thing in plain), key=lambda line: "skip" not in line)
        if later:
            yield f"\nif {self.names[_CHECKING]}:"
            yield from sorted(f"    {self._import(thing)}" for thing in later)

    def _import(self, thing: Thing) -> str:
        module, name = thing
        called = self.names[thing]
        if not name:
            return f"import {module}" if called == module else f"import {module} as {called}  # isort: skip"
        return f"from {module} import {name}" if called == name else f"from {module} import {name} as {called}"

    def _once(self, pieces: list[Piece]) -> Iterator[Piece]:
        """The pieces, those that say the same of one name once."""
        seen: set[str] = set()
        for piece in pieces:
            text = self._raw(piece)
            if _is_variable(text):
                (name,) = piece.binds
                if self.names[piece.module, name] in seen:
                    continue
                seen.add(self.names[piece.module, name])
            yield piece

    def _raw(self, piece: Piece) -> bytes:
        return self.sources[piece.module].text[piece.start : piece.end].strip()

    def _written(self, piece: Piece) -> str:
        """The text of a piece with the names that things have here."""
        text = self.sources[piece.module].text
        edits: list[tuple[int, int, bytes]] = [(start, end, stays.encode()) for start, end, stays in piece.cuts]
        edits += [
            (use.start, use.end, self._renamed(piece.module, use, text[use.start : use.end]))
            for use in piece.uses
            if not use.kept
        ]
        found = bytearray()
        at = piece.start
        for start, end, instead in sorted(set(edits)):
            if start < at:
                continue  # in a part that is left out
            found += text[at:start] + instead
            at = end
        return (bytes(found) + text[at : piece.end]).decode()

    def _renamed(self, module: str, use: NameUse, text: bytes) -> bytes:
        if use.is_template:
            return self._filled(module, use, text)
        if use.quoted:
            return self._quoted(module, use, text)
        thing = self._meant(module, use)
        return text if thing is None else self.names[thing].encode()

    def _quoted(self, module: str, use: NameUse, text: bytes) -> bytes:
        """A text literal that holds a type."""
        before = use.quoted.encode()
        after, at = bytearray(), 0
        for each in sorted(use.within, key=lambda one: one.start):
            after += before[at : each.start] + self._renamed(module, each, before[each.start : each.end])
            at = each.end
        after += before[at:]
        if bytes(after) == before:
            return text
        return text.replace(before, bytes(after)) if text.count(before) == 1 else literal(after.decode()).encode()

    def _filled(self, module: str, use: NameUse, text: bytes) -> bytes:
        """An f-string, whose names stand in braces."""
        told = text.decode()
        for each in use.within:
            thing = self._meant(module, each)
            old = f"{each.name}.{each.member}" if each.member else each.name
            if thing is not None and self.names[thing] != old:
                told = re.sub(rf"(?<![\w.])({re.escape(old)})\b(?=[^{{}}]*}})", self.names[thing], told)
        return told.encode()


def _flat(uses: Iterable[NameUse]) -> Iterator[NameUse]:
    for use in uses:
        if use.within:
            yield from _flat(use.within)
        else:
            yield use


def _is_variable(text: bytes) -> bool:
    return re.match(rb"\w+ = TypeVar\(", text) is not None


def _candidates(wanted: str, module: str) -> Iterator[str]:
    own = module.rpartition(".")[2].strip("_")
    yield wanted
    private = wanted if wanted.startswith("_") else f"_{wanted}"
    yield private
    plain = wanted.strip("_")
    is_class = plain[:1].isupper() and not plain.isupper()
    yield f"_{own.title().replace('_', '')}{plain}" if is_class else f"_{own}_{plain}"
    count = 2
    while True:
        yield f"{private}_{count}"
        count += 1


def _about(docstring: str) -> str:
    """What a module is, without the name of the protocol that generated ones begin with."""
    return re.sub(r"^\S+: ", "", docstring).rstrip(".")
