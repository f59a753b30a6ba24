"""Extensibility: names that begin with an underscore, and what a peer of a later version may send."""

from __future__ import annotations

from acpgen.probe.case_context import Trial
from acpgen.probe.registry import BOTH, case


@case("extensibility/unknown-request", "extension-answered", sides=BOTH)
def unknown_request(trial: Trial) -> None:
    """A request of an extension that nobody knows. Expected: an answer under its id; the monitor looks at the code."""
    trial.expect("_acpgen.dev/unknown", {"probe": True}, clause="extension-answered")


@case("extensibility/unknown-notification", "should", sides=BOTH)
def unknown_notification(trial: Trial) -> None:
    """A notification of an extension that nobody knows. Expected: nothing, and the next request is answered."""
    trial.notify("_acpgen.dev/happened", {"probe": True}, "a notification of an unknown extension")
