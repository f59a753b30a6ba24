"""What decoding checks beyond types, where a definition has keywords that Python's types cannot say. Other packages do not import this.

A value is judged when its type has taken it, by the schema of the package. What the schema accepts is never refused, and of what it refuses
only that is taken which decoders keep: unknown variants of unions that tolerate them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from importlib.resources import files
from itertools import islice
from typing import Any, Final, cast

from pydantic import GetCoreSchemaHandler, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError, core_schema

from .assertions import Document, Node, TooManySteps, Trial
from .errors import LIMIT
from .model import Reading
from .trace import CHECKED


class Checks:
    """The checks of one package by definition. Its schema is read when the first value is judged.

    `patterns` gives the patterns that are written otherwise for the engine, `openings` schemas of what unions keep that is not theirs.
    """

    def __init__(self, package: str, patterns: Mapping[str, str | None], openings: Mapping[str, Any]) -> None:
        self._package: Final = package
        self._patterns: Final = patterns
        self._openings: Final = openings

    def __getitem__(self, name: str) -> Check:
        return Check(self, name)

    @cached_property
    def exact(self) -> Document:
        """The schema as it is."""
        schema = json.loads(files(self._package).joinpath("_schema.json").read_bytes())
        return Document(schema, self._patterns)

    @cached_property
    def opened(self) -> Document | None:
        """The schema as decoders take it; `None` where that is no other."""
        return Document(self.exact.schema, self._patterns, self._openings) if self._openings else None


class Check:
    """The check of one definition: a marker of aliases, and, as `of_record`, a validator of classes. It judges in `decode` alone."""

    def __init__(self, checks: Checks, name: str) -> None:
        self.name: Final = name
        self._checks: Final = checks

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.with_info_wrap_validator_function(self._run, handler(source))

    def of_record(self) -> Any:
        """The check as a validator in the body of a class."""

        def run(
            _: type[Any],
            value: Any,
            handler: core_schema.ValidatorFunctionWrapHandler,
            info: core_schema.ValidationInfo[Any],
        ) -> Any:
            return self._run(value, handler, info)

        return model_validator(mode="wrap")(cast("Any", classmethod(run)))

    def _run(
        self,
        value: Any,
        handler: core_schema.ValidatorFunctionWrapHandler,
        info: core_schema.ValidationInfo[Any],
    ) -> Any:
        result = handler(value)
        if info.context.__class__ is Reading:
            self.judge(value, info.context)
        return result

    def judge(self, value: Any, reading: Reading) -> None:
        """Refuse what the definition does. Raises `ValidationError` with the place of each problem in the value."""
        trial = reading.trial
        if trial is None:
            trial = reading.trial = Trial()
        try:
            refusing = self._refusing(value, trial)
            if refusing is None:
                return
            told = list(islice(refusing.problems(value, trial), LIMIT))
        except TooManySteps:
            raise PydanticCustomError(CHECKED, _TOO_MANY) from None
        except RecursionError:
            raise PydanticCustomError(CHECKED, _TOO_DEEP) from None
        errors: list[InitErrorDetails] = [
            InitErrorDetails(
                type=PydanticCustomError(
                    CHECKED, "{sentence}", {"sentence": said.sentence, "schema": said.schema, "path": said.path}
                ),
                loc=(),
                input=value,
            )
            for said in dict.fromkeys(told)
        ]
        raise ValidationError.from_exception_data(self.name, errors)

    def _refusing(self, value: Any, trial: Trial) -> Node | None:
        """The schema that refuses a value; `None` where it is taken."""
        place, opened = ("$defs", self.name), self._checks.opened
        if trial.once(self._checks.exact.at(place), value) is not False:
            return None
        if opened is None:
            return self._checks.exact.at(place)
        return opened.at(place) if trial.once(opened.at(place), value) is False else None


_TOO_MANY: Final = "judging this value takes more steps than are allowed"
_TOO_DEEP: Final = "this value is nested too deeply to be judged"
