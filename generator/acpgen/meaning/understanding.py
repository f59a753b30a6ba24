"""From documents to the IR of a protocol, with a cache of earlier runs."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from acpgen.files.cache import NO_CACHE, Cache, find_or_make, make_place_key

if TYPE_CHECKING:
    from acpgen import ir
    from acpgen.bundle.bundle import Bundle
    from acpgen.input.load import Documents
    from acpgen.methods.profile import Profile

NO_NAMES: Final[Mapping[str, str]] = MappingProxyType({})


def understand(
    protocol: Documents,
    *,
    names: Mapping[str, str] = NO_NAMES,
    shared: Collection[str] = (),
    keep_unknown: bool = False,
    methods: Profile | None = None,
    cache: Cache = NO_CACHE,
) -> tuple[ir.Protocol, Bundle]:
    """The IR of a protocol and the JSON Schema it was made from. `names` and `shared` as in `bundle`.

    The `cache` holds results of earlier runs for the same files: for each protocol below the working directory, one per set of options.
    Raises `Faults`.
    """

    def make() -> tuple[ir.Protocol, Bundle]:
        from acpgen.bundle.bundle import bundle
        from acpgen.input.step_budget import limit_steps
        from acpgen.meaning.lower import lower

        with limit_steps(protocol.documents[0].path, protocol.size):
            bundled = bundle(protocol, names=names, shared=shared, methods=methods)
            return lower(bundled, keep_unknown=keep_unknown), bundled

    options = repr((sorted(names.items()), sorted(shared), keep_unknown, methods))
    return find_or_make(
        cache, protocol.list_inputs(), make, _list_records, make_place_key(Path(protocol.name), options)
    )


@functools.cache
def _list_records() -> Mapping[str, type]:
    """The classes that a cached result consists of, by name."""
    from acpgen import errors, ir
    from acpgen.bundle import bundle
    from acpgen.methods import discovery, profile

    modules = (errors, ir, bundle, discovery, profile)
    return {name: record for module in modules for name, record in vars(module).items() if isinstance(record, type)}
