"""The site: the docs of the project, put into the form that the site generator reads, and built by it into one folder.

The generator is Zensical, run as a program of its own. It reads plain Markdown and a `mkdocs.yml`, so another one can take its place.
What it makes is text but for one picture that is not used, and is written as every output is: as a whole or not at all.
"""

from __future__ import annotations

import contextlib
import html
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from acpgen import material, resources, stamp
from acpgen.config import Config, Published
from acpgen.errors import Faults, SiteNotBuilt, Unwritable, visible
from acpgen.kept import NOTHING, Kept, user_cache
from acpgen.schema.load import Source, parse, place, read
from acpgen.site import heads, modules, searching
from acpgen.site.serving import served
from acpgen.write import Change, Files, Tree, write

if TYPE_CHECKING:
    from acpgen.publish import Entry, Version, reference

ZENSICAL: Final = "0.0.73"
"""The version that the site is built and tested with; the extra `docs` pins it."""

LARGEST_PAGE: Final = 1_000_000
LONGEST_BUILD: Final = 600
INDEX: Final = "index.md"
WHOLE: Final = "single-file.md"
FEED: Final = "feed.xml"

_SITE: Final = {
    "acpgen.css": "docs/assets/acpgen.css",
    "comparing.js": "docs/assets/comparing.js",
    "actions.html": "theme/partials/actions.html",
    "acpgen.js": "docs/assets/acpgen.js",
    "favicon.svg": "docs/assets/favicon.svg",
    "judge.js": "docs/assets/judge.js",
    "judging.js": "docs/assets/judging.js",
    "iframe-worker.js": "docs/assets/iframe-worker.js",
    "main.html": "theme/main.html",
    "mkdocs.yml": "base.yml",
}
"""The files of `templates/docs/site`, and where the site generator finds them."""

_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")

_MARKS: Final = re.compile(r"(?<=\S) \{ (?:data-search-exclude|#[\w.+-]+) \}$", re.MULTILINE)
"""The mark at the end of a heading, for the search or with its anchor. No text of a schema makes one: a brace in it is a character
reference.
"""

_NOWHERE: Final = Published()

_UNUSED: Final = frozenset({"assets/images/favicon.png"})


def build(config: Config, out: Path, kept: Kept = NOTHING) -> Change:
    """Build the site of a project into a folder, with results that are `kept`; a folder that is as it was built of the same inputs
    stays. Raises `Faults`; then nothing was changed.
    """
    require_generator()
    sources = _sources(config)
    beside = material.read(config.root / config.schema, list(sources))
    python = modules.read(config.root, config.site.python)
    inputs, stamps = _inputs(config, sources, beside, python), stamp.Stamps(kept)
    if kept is not NOTHING and stamps.is_fresh(out, inputs):
        return Change(out, written=(), unchanged=_paths(out), removed=(), strays=())
    tree = Tree(out, _files(config, sources, material.parsed(beside), python, kept))
    (change,) = write([tree])
    stamps.record(tree, inputs, {})
    return change


def _files(
    config: Config,
    sources: Mapping[str, Source],
    beside: material.Material,
    python: Sequence[reference.PythonSource],
    kept: Kept,
) -> Files:
    """The files of the site of a project. Raises `Faults`."""
    from acpgen import publish

    found, library = _versions(config, sources), publish.reference.read(python)
    documents = publish.documents(found, beside, for_site=True, kept=kept, url=config.site.url, python=library)
    edited = publish.sources(found, beside, library)
    return made(documents, publish.navigation(found, beside, library), config.site, edited, publish.scripts(found))


def versions(config: Config) -> list[Version]:
    """Every protocol of which an output of the project has the docs. Raises `Faults`."""
    return _versions(config, _sources(config))


def _sources(config: Config) -> Mapping[str, Source]:
    """The schema files of those protocols. Raises `Faults`."""
    chosen = dict.fromkeys(m.protocol for output in config.outputs if output.target == "docs" for m in output.members)
    if not chosen:
        reason, remedy = "no output has the target docs", "Add one with protocols to [tool.acpgen.outputs]"
        raise Faults([SiteNotBuilt(at=place(config.file), reason=reason, remedy=remedy)])
    folder = config.root / config.schema
    return {name: read(folder / name, name=name, references=config.references) for name in chosen}


def _versions(config: Config, sources: Mapping[str, Source]) -> list[Version]:
    from acpgen.generate import understand
    from acpgen.publish import Version
    from acpgen.targets import Settings

    return [
        Version(
            *understand(
                parse(source),
                names={**config.names, **config.names_of.get(name, {})},
                shared=frozenset(config.names),
                methods=config.profile(name) if config.methods else None,
            ),
            Settings(package=config.package(name), prefix=name),
            source.at,
        )
        for name, source in sources.items()
    ]


def _inputs(
    config: Config, sources: Mapping[str, Source], beside: material.Files, python: Sequence[reference.PythonSource]
) -> str:
    """A hash of all that goes into the site."""
    files = [(f"{name}/{path}", content) for name, source in sources.items() for path, content in source.files]
    files += [
        (f"references/{name} {known} {path}", content)
        for name, source in sources.items()
        for known, path, content in source.references
    ]
    files += [(f"material/{path}", content) for path, content in beside.files]
    files += [(f"python/{each.name} {each.at}", each.text.encode()) for each in python]
    return stamp.inputs(stamp.generator(), files, {"config": repr(replace(config, root=Path())), "zensical": ZENSICAL})


def made(
    documents: Files,
    navigation: Sequence[Entry],
    address: Published = _NOWHERE,
    edited: Mapping[str, str] = MappingProxyType({}),
    scripts: Files = MappingProxyType({}),
) -> Files:
    """The files of the site. `edited` has the file of the project that each page is made from, `scripts` what its pages load.

    Raises `Faults` where the generator fails, warns, or makes a page that is too large.
    """
    require_generator()
    with TemporaryDirectory(prefix="acpgen-site-") as temporary:
        folder = Path(temporary)
        try:
            _lay_out(folder, documents, navigation, address, edited, scripts)
            _run(folder)
            files = dict(_read(folder / "site"))
        except OSError as error:
            raise Faults([Unwritable(at=place(folder), reason=str(error.strerror))]) from None
    files.update({path: _as_text(text) for path, text in documents.items()})
    files |= searching.improved(files)
    if not address.url:
        files.pop("sitemap.xml", None)  # it holds absolute addresses, and none is known
    large = [(path, len(text.encode())) for path, text in files.items() if path.endswith(".html")]
    faults = [_too_large(path, size) for path, size in large if size > LARGEST_PAGE]
    if faults:
        raise Faults(faults)
    return files


def require_generator() -> None:
    """Raise `Faults` where the site generator is missing or not the one that this was made for."""
    try:
        found = version("zensical")
    except PackageNotFoundError:
        found = "none"
    if found != ZENSICAL:
        reason = f"it is built with zensical {ZENSICAL}, and {found} is installed"
        raise Faults(
            [SiteNotBuilt(at="zensical", reason=reason, remedy="Install the extra: pip install 'acpgen[docs]'")]
        )


def serve(
    config: Callable[[], Config],
    port: int,
    say: Callable[[str], None],
    complain: Callable[[Faults], None],
) -> None:
    """Build the site into a passing folder, serve it, and build it again after every change, until Ctrl-C. Raises `Faults`.

    The pages in the browser load again after each build. Whatever address the site has elsewhere, here it stands at the root.
    """
    from acpgen.watch import rounds

    def inputs() -> list[Path]:
        found = config()
        python = [found.root / each for each in found.site.python]
        return [found.file, found.root / found.schema, resources.templates(), resources.session(), *python]

    def local() -> Config:
        found = config()
        return replace(found, site=replace(found.site, url=""))

    builds = 1
    with TemporaryDirectory(prefix="acpgen-site-") as temporary, contextlib.ExitStack() as stack:
        out = Path(temporary) / "site"
        build(local(), out, user_cache())
        say(f"{stack.enter_context(served(out, port, lambda: builds))} shows the site. Ctrl-C ends this.")
        changes = rounds(inputs)
        with contextlib.suppress(KeyboardInterrupt):
            next(changes, None)
            for _ in changes:
                try:
                    change = build(local(), out, user_cache())
                except Faults as faults:
                    complain(faults)
                else:
                    builds += 1
                    say(f"Built again: {len(change.written)} files differ.")


def _is_for_machines(path: str) -> bool:
    return path.endswith(".js") or path.rpartition("/")[2] in (WHOLE, "llms.txt", FEED)


def _as_text(page: str) -> str:
    """A page beside its HTML, as Markdown for machines: without the marks for the site."""
    return _MARKS.sub("", page)


def _lay_out(
    folder: Path,
    documents: Files,
    navigation: Sequence[Entry],
    address: Published,
    edited: Mapping[str, str],
    scripts: Files,
) -> None:
    """Write what the site generator reads."""
    source = resources.templates() / "docs" / "site"
    shown = {path: text for path, text in documents.items() if not _is_for_machines(path)}
    above = heads.heads(shown, address, edited, has_feed=FEED in documents)
    laid = {f"docs/{path}": head + documents[path] for path, head in above.items()}
    given = {to: (source / name).read_text("utf-8") for name, to in _SITE.items()}
    given |= {f"docs/assets/{path}": text for path, text in scripts.items()}
    told = {"INHERIT": "base.yml", "site_name": _name(documents), "nav": _nested(navigation)}
    told |= {"site_url": address.url} if address.url else {}
    for path, text in {**laid, **given, "mkdocs.yml": json.dumps(told, indent=1)}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")


def _name(documents: Files) -> str:
    """What the site calls itself: the title of its home page."""
    return _text(material.title(documents.get(INDEX, "")) or "Protocols")


def _nested(entries: Sequence[Entry]) -> list[Mapping[str, Any]]:
    """Navigation as the site generator reads it."""
    return [{_text(title): below if isinstance(below, str) else _nested(below)} for title, below in entries]


def _text(title: str) -> str:
    """A title as it stands in the site generator's file: text to it, which it puts into HTML unescaped."""
    return html.escape(visible(title))


def _run(folder: Path) -> None:
    """Run the site generator. A warning, such as a link that leads nowhere, is a failure."""
    command = [sys.executable, "-m", "zensical", "build", "--strict", "-f", str(folder / "mkdocs.yml")]
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter, with a module and a path of our own
            command,
            cwd=folder,
            env={**os.environ, "NO_COLOR": "1"},
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=LONGEST_BUILD,
            check=False,
        )
    except subprocess.TimeoutExpired:
        reason = f"it took more than {LONGEST_BUILD} seconds"
        raise Faults(
            [SiteNotBuilt(at="zensical", reason=reason, remedy="Try again when the machine has time")]
        ) from None
    if done.returncode != 0 or not (folder / "site" / "index.html").is_file():
        said, _, trace = (
            _COLOUR.sub("", done.stdout + done.stderr).replace(f"{folder}{os.sep}", "").partition("Traceback")
        )
        last = trace.strip().rpartition("\n")[2]
        reason = " ".join(f"{said} {last}".split()) or f"exit code {done.returncode}"
        raise Faults([SiteNotBuilt(at="zensical", reason=reason, remedy="Correct the page that it names")])


def _too_large(path: str, size: int) -> SiteNotBuilt:
    reason = f"this page has {size} bytes, and the limit is {LARGEST_PAGE}"
    return SiteNotBuilt(at=path, reason=reason, remedy="Split the type or the protocol that it shows")


def _paths(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()))


def _read(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in _UNUSED:
            yield name, path.read_text("utf-8")
