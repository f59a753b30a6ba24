"""Why a site cannot be built or shown."""

from __future__ import annotations

from acpgen.errors import FaultKind

SITE_NOT_BUILT = FaultKind("site-not-built", "the site was not built: {reason}. Nothing was changed.", "{remedy}.")
