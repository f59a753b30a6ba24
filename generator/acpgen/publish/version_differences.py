"""The page on the differences between two versions of a protocol: methods and types side by side."""

from __future__ import annotations

from acpgen.diagnostics.markup import Markdown
from acpgen.publish.channels import VersionPaths
from acpgen.publish.version_comparison import find_same_method, match_pages
from acpgen.publish.versions import Version
from acpgen.targets.docs.templates import lay_out, relative


def name_page(old: Version, new: Version) -> str:
    """The path of the page on the differences between two versions."""
    return old.beside(f"changes-{old.last}-{new.last}.md")


def write_page(old: Version, new: Version, path: str, guide: str, version_paths: VersionPaths) -> str:
    """Write the methods and types of two versions side by side; `guide` is the page that names replacements of what was removed."""
    before, after = version_paths[old.protocol.name], version_paths[new.protocol.name]

    def of_old(page: str) -> Markdown:
        return relative(path, old.path(before.address(page)))

    def of_new(page: str) -> Markdown:
        return relative(path, new.path(after.address(page)))

    pairs = {there: match for there, match in match_pages(old, new) if match[0] is not None}
    methods = [
        (
            method.name,
            of_old(before.methods[method.name]),
            (other := find_same_method(method, new.protocol)) and other.name,
            other and of_new(after.methods[other.name]),
            bool(pairs.get(before.methods[method.name], (None, ()))[1]),
        )
        for method in old.protocol.methods
    ]
    new_names = {row[2] for row in methods}
    types = {name: match for name in old.protocol.definitions if (match := pairs.get(before.types[name]))}
    reached = {match[0] for match in types.values()}
    return lay_out(
        "changes",
        path=path,
        guide=relative(path, guide),
        old=old.protocol.name,
        new=new.protocol.name,
        methods=methods,
        added=[(m.name, of_new(after.methods[m.name])) for m in new.protocol.methods if m.name not in new_names],
        changed_types=[(name, of_old(before.types[name])) for name, match in sorted(types.items()) if match[1]],
        removed_types=[
            (name, of_old(before.types[name])) for name in sorted(old.protocol.definitions) if name not in types
        ],
        added_types=[
            (name, of_new(after.types[name]))
            for name in sorted(new.protocol.definitions)
            if after.types[name] not in reached
        ],
    )
