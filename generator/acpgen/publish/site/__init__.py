"""The site: the docs of the project, converted to the input of the site generator and built by it into one folder.

`build` writes the whole site, atomically like every output; all files that the site generator writes are text, except an unused picture.
`serve` shows the site while it is edited, and builds only what changes.
"""

from __future__ import annotations

import contextlib
import re
import signal
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from msgspec.structs import replace

from acpgen import embedded, resources
from acpgen.config import Config, SiteSettings, docs_inputs
from acpgen.errors import Fault, Faults, count_noun
from acpgen.files import Change, Files, Tree, require_folder, write
from acpgen.files.cache import NO_CACHE, Cache, Code, find_remarks, hash_all_code, keep_remarks, make_key
from acpgen.files.faults import UNWRITABLE
from acpgen.input.load import Source, display_path, parse, read
from acpgen.input.step_budget import join_steps
from acpgen.meaning.understanding import understand
from acpgen.publish import arrange_navigation, make_pages, make_scripts, map_texts, reference
from acpgen.publish.faults import SITE_NOT_BUILT
from acpgen.publish.memory import FORGETFUL, Memory
from acpgen.publish.site import generator, search_index
from acpgen.publish.site.http_server import serve_folder
from acpgen.publish.site.live import Live
from acpgen.publish.site.site_files import Docs, name_text_file
from acpgen.publish.versions import Version
from acpgen.targets.interface import Settings

LARGEST_PAGE: Final = 1_000_000

_NOWHERE: Final = SiteSettings()

_UNUSED: Final = re.compile(r"assets/images/favicon\.png|assets/javascripts/workers/.*")

_AS_IT_IS: Final = re.compile(r"<(pre|script|style|textarea)\b.*?</\1>", re.DOTALL)
_SPACE: Final = re.compile(r"\s*\n\s*")


@dataclass(frozen=True, slots=True)
class Inputs:
    """The files that a site is made from, as read."""

    sources: Mapping[str, Source]
    docs: docs_inputs.Files
    python: tuple[reference.PythonSource, ...]


def build(
    config: Config,
    out: Path,
    cache: Cache = NO_CACHE,
    say: Callable[[str], None] = lambda sentence: None,
    step: Callable[[str], None] = lambda name: None,
) -> Change:
    """Build the site of a project into a folder, with results from a `cache`; a folder already built from the same inputs is left as it
    is.

    `say` receives a warning if the installed site generator is not the tested version, `step` the name of the next step. Raises
    `Faults`; then nothing was changed.
    """
    warned = generator.warn_untested(generator.require_generator())
    if warned:
        say(warned)
    inputs = read_inputs(config)
    code = hash_all_code()
    inputs_hash = _hash_inputs(config, inputs, code)
    if find_remarks(cache, out, inputs_hash) is not None:
        return Change(out, written=(), unchanged=_list_paths(out), removed=(), strays=())
    require_folder(Tree(out, {}))
    documents = make_docs(config, inputs, Memory(forgets=True, before=step), cache)
    step("pages of the site")
    tree = Tree(out, make_files(documents, config.site))
    (change,) = write([tree])
    if code.is_as_it_was:
        keep_remarks(cache, tree, inputs_hash, {})
    return change


def read_inputs(config: Config) -> Inputs:
    """Read the input files of a project's site. Raises `Faults`."""
    sources = _read_sources(config)
    docs = docs_inputs.read(config.schema_folder, list(sources))
    return Inputs(sources, docs, reference.read_sources(config.root, config.site.python))


def make_docs(config: Config, inputs: Inputs, memory: Memory = FORGETFUL, cache: Cache = NO_CACHE) -> Docs:
    """Make the docs of a project, with results of an earlier run from a `cache`. Raises `Faults`."""
    versions = _understand_versions(config, inputs.sources, memory, cache)
    library = memory.compute_once("library", (inputs.python,), partial(reference.parse_modules, inputs.python))
    docs = memory.compute_once("docs inputs", (inputs.docs,), partial(docs_inputs.parse_docs_inputs, inputs.docs))
    pages = make_pages(versions, docs, for_site=True, python=library, memory=memory, cache=cache)
    return Docs(
        map_texts(pages),
        arrange_navigation(pages, config.site.sections.items()),
        {page.path: page.source for page in pages if page.source},
        memory.compute_once("scripts", tuple(versions), partial(make_scripts, versions)),
    )


def _read_sources(config: Config) -> Mapping[str, Source]:
    """Read the schema files of the protocols in outputs with the target docs. Raises `Faults`."""
    protocols = dict.fromkeys(
        m.protocol for output in config.outputs.values() if output.target == "docs" for m in output.members
    )
    if not protocols:
        reason, remedy = "no output has the target docs", "Add one with protocols to [tool.acpgen.outputs]"
        raise Faults([SITE_NOT_BUILT(at=display_path(config.file), reason=reason, remedy=remedy)])
    folder = config.schema_folder
    return {name: read(folder / name, name=name, references=config.reference_files) for name in protocols}


def _understand_versions(
    config: Config, sources: Mapping[str, Source], memory: Memory = FORGETFUL, cache: Cache = NO_CACHE
) -> list[Version]:
    """Parse and analyze the versions of these sources.

    In a hurry, only the first changed version is analyzed again: later ones may differ only because they extend it.
    """
    versions: list[Version] = []
    has_changed = False
    for name, source in sources.items():
        names, profile = config.choose_names(name), config.read_profile(name)
        read_of = (source, names, profile, config.find_package(name), config.find_module(name))
        before = memory.get_last(f"version {name}")
        version = memory.compute_once(
            f"version {name}", read_of, partial(_understand, config, name, source, cache), may_lag=has_changed
        )
        has_changed = has_changed or version is not before
        versions.append(version)
    return versions


def _understand(config: Config, name: str, source: Source, cache: Cache) -> Version:
    parts = understand(
        parse(source),
        names=config.choose_names(name),
        shared=frozenset(config.shared_names),
        methods=config.read_profile(name),
        cache=cache,
    )
    settings = Settings(package=config.find_package(name), prefix=name, module=config.find_module(name))
    return Version(*parts, settings, source.locate, extends=source.extends)


def _hash_inputs(config: Config, inputs: Inputs, code: Code) -> str:
    """A hash of all inputs of the site."""
    files = [(f"{name}/{path}", content) for name, source in inputs.sources.items() for path, content in source.files]
    files += [
        (f"references/{name} {uri} {path}", content)
        for name, source in inputs.sources.items()
        for uri, path, content in source.references
    ]
    files += [(f"docs/{path}", content) for path, content in inputs.docs.files]
    files += [(f"python/{module.name} {module.at}", module.text.encode()) for module in inputs.python]
    options = {"config": repr(replace(config, root=Path())), "zensical": generator.require_generator()}
    return make_key("site", code.digest, repr(options), *(part for file in files for part in file))


def make_files(docs: Docs, address: SiteSettings = _NOWHERE) -> Files:
    """Build the files of the site. Raises `Faults` if the generator fails, warns, or writes a page that is too large."""
    generator.require_generator()
    with TemporaryDirectory(prefix="acpgen-site-") as temporary:
        folder = Path(temporary)
        try:
            for path, text in docs.lay_out(address).items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(text, "utf-8")
            generator.build_site(folder)
            files = dict(_read_site(folder / generator.BUILT))
        except OSError as error:
            raise Faults([UNWRITABLE(at=display_path(folder), reason=str(error.strerror))]) from None
    files.update({path: name_text_file(text) for path, text in docs.documents.items()})
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
    """Serve the site of a project and rebuild what changes, until Ctrl-C. Raises `Faults`.

    Changed pages reload in the browser. The site is served at the root, whatever its configured URL.
    """
    from acpgen.files.watch import watch_changes

    def list_watched() -> list[Path]:
        current = config()
        python = [current.root / path for path in current.site.python]
        return [
            current.file,
            current.schema_folder,
            resources.locate_templates(),
            embedded.locate_monitor(),
            *python,
        ]

    warned = generator.warn_untested(generator.require_generator())
    if warned:
        say(warned)
    memory, templates = Memory(), hash_all_code().digest
    with (
        TemporaryDirectory(prefix="acpgen-site-") as temporary,
        _end_by_signals(),
        Live(Path(temporary), complain) as live,
    ):

        @join_steps()
        def show(*, in_hurry: bool) -> int:
            memory.begin(in_hurry=in_hurry)
            current = config()
            local = replace(current, site=replace(current.site, url=""))
            docs = make_docs(local, read_inputs(local), memory)
            return live.show(docs.lay_out(local.site, is_draft=True), docs.documents)

        changes = watch_changes(list_watched)
        next(changes, None)
        with serve_folder(
            live.pages, port, live.get_text
        ) as address:  # a port that cannot be used is told before the work
            show(in_hurry=False)
            say(f"{address} shows the site. Ctrl-C ends this.")
            for _ in changes:
                if templates != (templates := hash_all_code().digest):
                    memory = Memory()
                try:
                    count = show(in_hurry=True)
                    while memory.is_behind:
                        say(f"Made again: {count_noun(count, 'file')}; the rest follows.")
                        count = show(in_hurry=False)
                except Faults as faults:
                    complain(faults)
                else:
                    say(f"Made again: {count_noun(count, 'file')}.")


@contextlib.contextmanager
def _end_by_signals() -> Generator[None]:
    """End the block on Ctrl-C or SIGTERM, so that the processes started in it do not outlive this one."""

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
    """Remove blank lines and indentation from an HTML page; they are half of what the site generator writes.

    The content of `pre`, `script`, `style` and `textarea` is left as it is.
    """
    parts: list[str] = []
    at = 0
    for match in _AS_IT_IS.finditer(page):
        parts += [_SPACE.sub("\n", page[at : match.start()]), match[0]]
        at = match.end()
    return "".join([*parts, _SPACE.sub("\n", page[at:])])
