"""Modes and configuration options of a session: v1 has both, in v2 a mode is the option of category `mode`.

An agent of v1 that offers options offers its modes among them too, so modes alone become an option. An agent of v2 has options; for
clients of v1 that know modes only, the option of category `mode` is told as modes as well.

Sources: the pages of v1 on session modes and on configuration options; the migration page of v2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from acp_session.diffs import as_object

from .losses import Place
from .parts import Json, option_to_v1, option_to_v2, without

MODE: Final = "mode"


class OptionsOfV1:
    """What an agent of v1 offers in a session, as options of v2."""

    def __init__(self) -> None:
        self._modes: Json = {}
        self._options: list[Json] = []

    def begin(self, result: Mapping[str, Any], place: Place) -> None:
        """Take in the result of `session/new`, `load`, `resume` or `fork`."""
        self._modes = as_object(result.get("modes"))
        self.replace(result.get("configOptions") or (), place.at("configOptions"))

    def replace(self, options: Sequence[Any], place: Place) -> None:
        """Take in all options anew."""
        found = [option_to_v2(one, place.at(index)) for index, one in enumerate(options)]
        self._options = [one for one in found if one is not None]

    def set_mode(self, mode_id: str) -> None:
        """Take in another mode."""
        self._modes = {**self._modes, "currentModeId": mode_id}
        for one in self._options:
            if one.get("category") == MODE and one.get("type") == "select":
                one["currentValue"] = mode_id

    @property
    def mode_option(self) -> str | None:
        """The id of the option that stands for modes, where the agent itself has none."""
        if not self._modes.get("availableModes") or any(one.get("category") == MODE for one in self._options):
            return None
        taken = {one.get("configId") for one in self._options}
        return next(name for name in (MODE, *(f"{MODE}{number}" for number in range(2, 1000))) if name not in taken)

    def all(self) -> list[Json]:
        """All options as they are now."""
        name = self.mode_option
        if name is None:
            return list(self._options)
        values = [{**without(one, "id"), "value": one["id"]} for one in map(as_object, self._modes["availableModes"])]
        option: Json = {
            "configId": name,
            "name": "Mode",
            "category": MODE,
            "type": "select",
            "currentValue": self._modes.get("currentModeId"),
            "options": values,
        }
        return [option, *self._options]


class OptionsOfV2:
    """What an agent of v2 offers in a session, as options and modes of v1."""

    def __init__(self, *, has_switches: bool) -> None:
        self._has_switches = has_switches
        self._options: list[Json] = []

    def replace(self, options: Sequence[Any], place: Place) -> list[Json]:
        """Take in all options anew, and return them for v1."""
        self._options = [as_object(one) for one in options]
        made = [
            option_to_v1(one, place.at(index), has_switches=self._has_switches)
            for index, one in enumerate(self._options)
        ]
        return [one for one in made if one is not None]

    def find(self, config_id: object) -> Json | None:
        """The option of this id."""
        return next((one for one in self._options if one.get("configId") == config_id), None)

    @property
    def mode(self) -> Json | None:
        """The option that says the mode."""
        return next((one for one in self._options if one.get("category") == MODE and one.get("type") == "select"), None)

    def modes(self) -> Json | None:
        """The modes of the session, if there are any."""
        option = self.mode
        if option is None:
            return None
        listed: list[Json] = []
        for one in map(as_object, option.get("options") or ()):
            listed += map(as_object, one["options"]) if "groupId" in one else [one]
        return {
            "currentModeId": option.get("currentValue"),
            "availableModes": [{**without(one, "value"), "id": one.get("value")} for one in listed],
        }
