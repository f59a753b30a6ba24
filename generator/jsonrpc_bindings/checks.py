"""What decoding checks beyond types, where a definition has keywords that Python's types cannot say. Other packages do not import this.

A value is judged when its type has taken it, by the schema of the package. What the schema accepts is never refused, and of what it refuses
only that is taken which decoders keep: unknown variants of unions that tolerate them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import islice
from typing import Any, Final, cast, get_args

from pydantic import GetCoreSchemaHandler, ValidationError, model_validator
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError, core_schema

from .assertions import Document, Node, TooManySteps, Trial
from .contract import Path
from .errors import LIMIT
from .explain import Said
from .homes import home_of, schema_of
from .json_types import is_array, is_object
from .model import Reading
from .pointers import schema_pointer
from .trace import CHECKED, is_whole_number


class Checks:
    """The checks of one package by definition. Its schema is read when the first value is judged.

    `patterns` gives the patterns that are written otherwise for the engine, `openings` schemas of what unions keep that is not theirs.
    """

    def __init__(self, module: str, patterns: Mapping[str, str | None], openings: Mapping[str, Any]) -> None:
        self._module: Final = module
        self._patterns: Final = patterns
        self._openings: Final = openings

    def __getitem__(self, name: str) -> Check:
        return Check(self, name)

    @cached_property
    def exact(self) -> Document:
        """The schema as it is."""
        return Document(schema_of(home_of(self._module)), self._patterns)

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
            cls: type[Any],
            value: Any,
            handler: core_schema.ValidatorFunctionWrapHandler,
            info: core_schema.ValidationInfo[Any],
        ) -> Any:
            return self._run(value, handler, info, cls)

        return model_validator(mode="wrap")(cast("Any", classmethod(run)))

    def _run(
        self,
        value: Any,
        handler: core_schema.ValidatorFunctionWrapHandler,
        info: core_schema.ValidationInfo[Any],
        owner: object = None,
    ) -> Any:
        """A value as its type has it, if the definition takes it. Raises `ValidationError` with the place of each problem.

        A union tries its branches one after the other, and each decodes all that is below: what was decoded once is not decoded again.
        """
        reading: Any = info.context
        if reading.__class__ is not Reading:
            return handler(value)
        if reading.trial is None:
            reading.trial = _Decoding()
        decoding: _Decoding = reading.trial
        key = id(self), id(owner), id(value)
        if key in decoding.refused:
            raise decoding.refused[key]
        if key in decoding.taken:
            return decoding.taken[key]
        try:  # here and not in functions of their own: a deep message has a frame for each
            result = handler(value)
            self._refuse(value, decoding.trial)
        except ValidationError as error:
            decoding.refused[key] = _shortened(error)
            raise decoding.refused[key] from None
        except RecursionError:
            raise PydanticCustomError(CHECKED, _TOO_DEEP) from None
        if is_object(value) or is_array(value):
            decoding.taken[key] = result
        return result

    def _refuse(self, value: Any, trial: Trial) -> None:
        try:
            refusing = self._refusing(value, trial)
        except TooManySteps:
            raise PydanticCustomError(CHECKED, _TOO_MANY) from None
        if refusing is not None:
            errors = [_error(said.sentence, said.schema, said.path, value) for said in _told(refusing, value, trial)]
            raise ValidationError.from_exception_data(self.name, errors)

    def _refusing(self, value: Any, trial: Trial) -> Node | None:
        """The schema that refuses a value; `None` where it is taken."""
        place, opened = ("$defs", self.name), self._checks.opened
        if trial.once(self._checks.exact.at(place), value) is not False:
            return None
        if opened is None:
            return self._checks.exact.at(place)
        return opened.at(place) if trial.once(opened.at(place), value) is False else None


class _Decoding:
    """What became of the values of one message that were met at a check, by check, class and value."""

    __slots__ = ("refused", "taken", "trial")

    def __init__(self) -> None:
        self.trial: Final = Trial()
        self.taken: Final = dict[tuple[int, int, int], Any]()
        self.refused: Final = dict[tuple[int, int, int], ValidationError]()


def _told(node: Node, value: Any, trial: Trial) -> list[Said]:
    """What is wrong with a value, as far as it can be told in so many steps."""
    try:
        return list(dict.fromkeys(islice(trial.told(node, value), LIMIT)))
    except (TooManySteps, RecursionError):
        return [Said((), schema_pointer(node.place), "the value does not match the schema here", "schema")]


def _shortened(error: ValidationError) -> ValidationError:
    """An error with its first problems: each branch of a union tells those of all that is below it.

    Whole numbers with a fraction are no problems, since reading goes on without the fraction: it must know each of them.
    """
    if error.error_count() <= LIMIT:
        return error
    errors = error.errors(include_url=False)
    whole = {id(details["input"]): details for details in errors if is_whole_number(details)}
    first = [*whole.values(), *islice((details for details in errors if not is_whole_number(details)), LIMIT)]
    return ValidationError.from_exception_data(error.title, [_again(details) for details in first])


def _again(details: ErrorDetails) -> InitErrorDetails:
    kind, ctx = details["type"], details.get("ctx", {})
    type_: Any = kind
    if kind not in _TYPES:
        type_ = PydanticCustomError(cast("Any", kind), "{message}", {**ctx, "message": details["msg"]})
    return InitErrorDetails(type=type_, loc=details["loc"], input=details["input"], ctx=ctx)


_TYPES: Final = frozenset(get_args(core_schema.ErrorType))
"""The types of errors that are pydantic's own."""


def _error(sentence: str, schema: str, path: Path, value: Any) -> InitErrorDetails:
    ctx = {"sentence": sentence, "schema": schema, "path": path}
    return InitErrorDetails(type=PydanticCustomError(CHECKED, "{sentence}", ctx), loc=(), input=value)


_TOO_MANY: Final = "judging this value takes more steps than are allowed"
_TOO_DEEP: Final = "this value is nested too deeply to be judged"
