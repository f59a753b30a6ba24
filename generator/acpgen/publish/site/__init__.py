"""The site: the docs of the project, put into the form that the site generator reads, and built by it into one folder.

`build` writes it whole: what the site generator makes is text but for one picture that is not used, and is written as every
output is: as a whole or not at all. `serve` shows it while people write it, and makes only what differs.
"""

from __future__ import annotations

import contextlib
import re
import signal
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from msgspec.structs import replace

from acpgen import embedded, resources
from acpgen.config import Config, SiteSettings, docs_inputs
from acpgen.errors import Fault, Faults
from acpgen.files import Change, Files, Tree, require_folder, write
from acpgen.files.cache import NO_CACHE, Cache, Code, all_code, find_remarks, keep_remarks, key_of
from acpgen.files.faults import UNWRITABLE
from acpgen.input.load import Source, parse, place, read
from acpgen.input.step_budget import account
from acpgen.meaning.understanding import understand
from acpgen.publish import arrange_navigation, make_pages, make_scripts, map_texts, reference
from acpgen.publish.faults import SITE_NOT_BUILT
from acpgen.publish.memory import FORGETFUL, Memory
from acpgen.publish.pages import Entry
from acpgen.publish.site import generator, search_index, site_files
from acpgen.publish.site.http_server import serve_folder
from acpgen.publish.site.live import Live
from acpgen.publish.versions import Version
from acpgen.targets.interface import Settings

LARGEST_PAGE: Final = 1_000_000

_NOWHERE: Final = SiteSettings()

_UNUSED: Final = re.compile(r"assets/images/favicon\.png|assets/javascripts/workers/.*")

_AS_IT_IS: Final = re.compile(r"<(pre|script|style|textarea)\b.*?</\1>", re.DOTALL)
_SPACE: Final = re.compile(r"\s*\n\s*")


@dataclass(frozen=True, slots=True)
class Inputs:
    """The files that a site is made from, as they were read."""

    sources: Mapping[str, Source]
    beside: docs_inputs.Files
    python: tuple[reference.PythonSource, ...]


@dataclass(frozen=True, slots=True)
class Docs:
    """What a site shows, before it is laid out: pages and other files, and what holds them together.

    `edited` has the file of the project that each page is made from, `scripts` what its pages load.
    """

    documents: Files
    navigation: Sequence[Entry]
    edited: Mapping[str, str] = field(default_factory=dict[str, str])
    scripts: Files = field(default_factory=dict[str, str])

    def laid_out(self, address: SiteSettings, *, is_draft: bool = False) -> Files:
        """The files that the site generator reads; in a draft, pages are not described."""
        return site_files.lay_out_site(
            self.documents, self.navigation, address, self.edited, self.scripts, is_draft=is_draft
        )


def build(
    config: Config,
    out: Path,
    cache: Cache = NO_CACHE,
    say: Callable[[str], None] = lambda sentence: None,
    step: Callable[[str], None] = lambda name: None,
) -> Change:
    """Build the site of a project into a folder, with results of a `cache`; a folder that is as it was built of the same inputs
    stays. `say` is told where the site generator is not the one that was tested, and `step` what is made next. Raises `Faults`; then
    nothing was changed.
    """
    warned = generator.warn_untested(generator.require_generator())
    if warned:
        say(warned)
    found = read_inputs(config)
    code = all_code()
    known = _hash_inputs(config, found, code)
    if find_remarks(cache, out, known) is not None:
        return Change(out, written=(), unchanged=_list_paths(out), removed=(), strays=())
    require_folder(Tree(out, {}))
    documents = make_docs(config, found, Memory(forgets=True, before=step), cache)
    step("pages of the site")
    tree = Tree(out, make_files(documents, config.site))
    (change,) = write([tree])
    if code.is_as_it_was:
        keep_remarks(cache, tree, known, {})
    return change


def read_versions(config: Config) -> list[Version]:
    """Every protocol of which an output of the project has the docs. Raises `Faults`."""
    return _understand_versions(config, _read_sources(config))


def read_inputs(config: Config) -> Inputs:
    """What is read of a project. Raises `Faults`."""
    sources = _read_sources(config)
    beside = docs_inputs.read(config.root / config.schema, list(sources))
    return Inputs(sources, beside, reference.read_sources(config.root, config.site.python))


def make_docs(config: Config, given: Inputs, memory: Memory = FORGETFUL, cache: Cache = NO_CACHE) -> Docs:
    """The docs of a project, with what an earlier run understood and found from a `cache`. Raises `Faults`."""
    found = _understand_versions(config, given.sources, memory, cache)
    library = memory.once("library", (given.python,), partial(reference.parse_modules, given.python))
    beside = memory.once("material", (given.beside,), partial(docs_inputs.parsed, given.beside))
    pages = make_pages(found, beside, for_site=True, python=library, memory=memory, cache=cache)
    return Docs(
        map_texts(pages),
        arrange_navigation(pages, config.site.sections.items()),
        {page.path: page.source for page in pages if page.source},
        memory.once("scripts", tuple(found), partial(make_scripts, found)),
    )


def _read_sources(config: Config) -> Mapping[str, Source]:
    """The schema files of those protocols. Raises `Faults`."""
    chosen = dict.fromkeys(
        m.protocol for output in config.outputs.values() if output.target == "docs" for m in output.members
    )
    if not chosen:
        reason, remedy = "no output has the target docs", "Add one with protocols to [tool.acpgen.outputs]"
        raise Faults([SITE_NOT_BUILT(at=place(config.file), reason=reason, remedy=remedy)])
    folder = config.root / config.schema
    return {name: read(folder / name, name=name, references=config.reference_files) for name in chosen}


def _understand_versions(
    config: Config, sources: Mapping[str, Source], memory: Memory = FORGETFUL, cache: Cache = NO_CACHE
) -> list[Version]:
    """The versions of these sources. In a hurry, the first that differs is read again: others may differ only because they extend it."""
    found: list[Version] = []
    has_changed = False
    for name, source in sources.items():
        names, profile = config.chosen_names(name), config.profile(name)
        read_of = (source, names, profile, config.package(name), config.module(name))
        before = memory.last(f"version {name}")
        made = memory.once(
            f"version {name}", read_of, partial(_understand, config, name, source, cache), may_lag=has_changed
        )
        has_changed = has_changed or made is not before
        found.append(made)
    return found


def _understand(config: Config, name: str, source: Source, cache: Cache) -> Version:
    understood = understand(
        parse(source),
        names=config.chosen_names(name),
        shared=frozenset(config.shared_names),
        methods=config.profile(name),
        cache=cache,
    )
    settings = Settings(package=config.package(name), prefix=name, module=config.module(name))
    return Version(*understood, settings, source.at, extends=source.extends)


def _hash_inputs(config: Config, given: Inputs, code: Code) -> str:
    """A hash of all that goes into the site."""
    files = [(f"{name}/{path}", content) for name, source in given.sources.items() for path, content in source.files]
    files += [
        (f"references/{name} {known} {path}", content)
        for name, source in given.sources.items()
        for known, path, content in source.references
    ]
    files += [(f"material/{path}", content) for path, content in given.beside.files]
    files += [(f"python/{each.name} {each.at}", each.text.encode()) for each in given.python]
    options = {"config": repr(replace(config, root=Path())), "zensical": generator.require_generator()}
    return key_of("site", code.digest, repr(options), *(each for file in files for each in file))


def make_files(shown: Docs, address: SiteSettings = _NOWHERE) -> Files:
    """The files of the site. Raises `Faults` where the generator fails, warns, or makes a page that is too large."""
    generator.require_generator()
    with TemporaryDirectory(prefix="acpgen-site-") as temporary:
        folder = Path(temporary)
        try:
            for path, text in shown.laid_out(address).items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(text, "utf-8")
            generator.build_site(folder)
            files = dict(_read_site(folder / generator.BUILT))
        except OSError as error:
            raise Faults([UNWRITABLE(at=place(folder), reason=str(error.strerror))]) from None
    files.update({path: site_files.name_text_file(text) for path, text in shown.documents.items()})
    files |= search_index.make_files(files.pop(search_index.FOUND, ""))
    if not address.url:
        files.pop("sitemap.xml", None)  # it holds absolute addresses, and none is known
    large = [(path, len(text.encode())) for path, text in files.items() if path.endswith(".html")]
    faults = [_make_size_fault(path, size) for path, size in large if size > LARGEST_PAGE]
    if faults:
        raise Faults(faults)
    return files


def serve(
    config: Callable[[], Config],
    port: int,
    say: Callable[[str], None],
    complain: Callable[[Faults], None],
) -> None:
    """Show the site of a project, and what differs after every change, until Ctrl-C. Raises `Faults`.

    Pages in the browser that differ load again. Whatever address the site has elsewhere, here it stands at the root.
    """
    from acpgen.files.watch import rounds

    def watched() -> list[Path]:
        found = config()
        python = [found.root / each for each in found.site.python]
        return [found.file, found.root / found.schema, resources.templates(), embedded.monitor_folder(), *python]

    warned = generator.warn_untested(generator.require_generator())
    if warned:
        say(warned)
    memory, templates = Memory(), all_code().digest
    with (
        TemporaryDirectory(prefix="acpgen-site-") as temporary,
        _end_by_signals(),
        Live(Path(temporary), complain) as live,
    ):

        @account()
        def show(*, in_hurry: bool) -> int:
            memory.begin(in_hurry=in_hurry)
            found = config()
            local = replace(found, site=replace(found.site, url=""))
            made = make_docs(local, read_inputs(local), memory)
            return live.show(made.laid_out(local.site, is_draft=True), made.documents)

        changes = rounds(watched)
        next(changes, None)
        with serve_folder(
            live.pages, port, live.beside
        ) as address:  # a port that cannot be used is told before the work
            show(in_hurry=False)
            say(f"{address} shows the site. Ctrl-C ends this.")
            for _ in changes:
                if templates != (templates := all_code().digest):
                    memory = Memory()
                try:
                    count = show(in_hurry=True)
                    while memory.is_behind:
                        say(_describe_count(count, "; the rest follows"))
                        count = show(in_hurry=False)
                except Faults as faults:
                    complain(faults)
                else:
                    say(_describe_count(count))


def _describe_count(count: int, more: str = "") -> str:
    return f"Made again: {count} {'file' if count == 1 else 'files'}{more}."


@contextlib.contextmanager
def _end_by_signals() -> Generator[None]:
    """Ctrl-C ends the block, and so does a request to end the process: what it started must not outlive it."""

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _make_size_fault(path: str, size: int) -> Fault:
    reason = f"this page has {size} bytes, and the limit is {LARGEST_PAGE}"
    return SITE_NOT_BUILT(at=path, reason=reason, remedy="Split the type or the protocol that it shows")


def _list_paths(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()))


def _read_site(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not _UNUSED.fullmatch(name):
            text = path.read_text("utf-8")
            yield name, _compact(text) if name.endswith(".html") else text


def _compact(page: str) -> str:
    """A page without blank lines and indentation, which are half of what the site generator writes."""
    kept: list[str] = []
    at = 0
    for found in _AS_IT_IS.finditer(page):
        kept += [_SPACE.sub("\n", page[at : found.start()]), found[0]]
        at = found.end()
    return "".join([*kept, _SPACE.sub("\n", page[at:])])
