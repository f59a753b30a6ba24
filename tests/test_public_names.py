"""What `import acpgen` offers is imported when it is asked for, and is seen before."""

from __future__ import annotations

import pydoc

import acpgen


def test_dir_and_help_show_what_is_imported_when_it_is_asked_for() -> None:
    assert set(acpgen.__all__) <= set(dir(acpgen))
    told = pydoc.plain(pydoc.render_doc(acpgen))
    assert all(f"    {name}(" in told for name in ("compare", "generate", "load", "write"))
