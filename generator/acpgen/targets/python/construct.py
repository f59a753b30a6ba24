"""JSON values as Python code that constructs them from the generated classes, for documentation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Final, TypeAlias

from acpgen import ir
from acpgen.targets.python.literals import write_literal
from acpgen.targets.python.naming import Names, name_all

WIDTH: Final = 88
_STEPS: Final = 10_000
"""The maximum number of types that are tried for one value."""


class NotConstructible(Exception):
    """No classes of the package can construct this value."""


@dataclass(frozen=True, slots=True)
class Construction:
    """A call of a class with keyword arguments."""

    name: str
    arguments: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Items:
    """A list, or a dictionary if the entries have keys."""

    entries: tuple[tuple[str, Expression], ...]
    brackets: str


Expression: TypeAlias = str | Construction | Items


class Constructor:
    """Constructs values of one protocol for its generated `package`, e.g. `acp_bindings.v1`, which the code refers to by its last name.
    Inside the module of the classes, `package` is empty.
    """

    def __init__(self, protocol: ir.Protocol, package: str, names: Names | None = None) -> None:
        self.parent, _, self.module = package.rpartition(".")
        self._protocol = protocol
        self._names = names if names is not None else name_all(protocol)
        self._budget = _STEPS

    def write_imports(self, *kinds: str) -> list[str]:
        """The statements that import the package, and these kinds of messages from its top-level package."""
        top, names = self.parent.partition(".")[0], ", ".join(kinds)
        if top == self.parent:
            return [f"from {top} import {names}, {self.module}"]
        return [f"from {top} import {names}", f"from {self.parent} import {self.module}"]

    def find_sender(self, method: ir.Method) -> str:
        """The side that sends a method; the first one if either may."""
        return next(side for side in self._protocol.sides if side not in (method.side, "proxy"))

    def name_of(self, definition: str) -> str:
        """The class or alias of a definition."""
        return self._names.classes[definition]

    def build_expression(self, definition: str, value: ir.JSON) -> Expression:
        """The expression for a value of a definition. Raises `NotConstructible`."""
        self._budget = _STEPS
        return self._build_definition(definition, value)

    def build_value(self, type_: ir.Type, value: ir.JSON) -> Expression:
        """The expression for a value of a type. Raises `NotConstructible`."""
        self._budget = _STEPS
        return self._build_typed(type_, value)

    def _build_definition(self, name: str, value: ir.JSON, visited: frozenset[str] = frozenset()) -> Expression:
        if name in visited:
            raise NotConstructible
        definition = self._protocol.definitions[name]
        match definition:
            case ir.Record():
                return self._build_record(definition, value)
            case ir.TaggedUnion():
                return self._build_definition(_choose_branch(definition, value), value, visited | {name})
            case ir.Enum():
                if definition.openness == "closed" and all(value != member.value for member in definition.values):
                    raise NotConstructible
                if isinstance(value, str) and value in self._names.members.get(name, ()):
                    return f"{self._name_class(name)}.{self._names.members[name][value]}"
                return self._build_typed(definition.base, value, visited | {name})
            case ir.Alias():
                return self._build_typed(definition.type, value, visited | {name})

    def _build_record(self, record: ir.Record, value: ir.JSON) -> Expression:
        if not isinstance(value, dict):
            raise NotConstructible
        fields = {field.name: field for field in record.fields}
        names = self._names.fields[record.name]
        further = {key: item for key, item in value.items() if key not in fields}
        if any(f.required and f.name not in value for f in record.fields):
            raise NotConstructible
        if further and (isinstance(record.extra, ir.Anything | ir.Nothing) or "extra" in names.values()):
            raise NotConstructible
        arguments = [
            (names[key], self._build_typed(fields[key].type, inner))
            for key, inner in value.items()
            if key in fields and not _is_given(fields[key], inner)
        ]
        if further:
            arguments.append(("extra", self._build_typed(ir.Map(record.extra), further)))
        return Construction(self._name_class(record.name), tuple(arguments))

    def _name_class(self, name: str) -> str:
        class_ = self._names.classes[name]
        return f"{self.module}.{class_}" if self.module else class_

    def _build_typed(self, type_: ir.Type, value: ir.JSON, visited: frozenset[str] = frozenset()) -> Expression:
        self._budget -= 1
        if not self._budget:
            raise NotConstructible
        match type_:
            case ir.Ref():
                return self._build_definition(type_.name, value, visited)
            case ir.AnyOf():
                for member in type_.types:
                    try:
                        return self._build_typed(member, value, visited)
                    except NotConstructible:
                        continue
                raise NotConstructible
            case ir.Array() if isinstance(value, list):
                return Items(tuple(("", self._build_typed(type_.items, inner)) for inner in value), "[]")
            case ir.Map() if isinstance(value, dict):
                entries = (
                    (f"{write_literal(key)}: ", self._build_typed(type_.values, inner)) for key, inner in value.items()
                )
                return Items(tuple(entries), "{}")
            case ir.Tuple() if isinstance(value, list):
                types = (*type_.first, *[type_.rest] * (len(value) - len(type_.first)))
                return Items(tuple(("", self._build_typed(*pair)) for pair in zip(types, value, strict=False)), "()")
            case _ if _admits(type_, value):
                return _build_value(value)
            case _:
                raise NotConstructible


def write_source(expression: Expression, indent: int = 0, other_width: int = 0) -> str:
    """The source of an expression: on one line if it fits, otherwise with an entry per line. `other_width` is that of text before and
    after it.
    """
    if isinstance(expression, str):
        return expression
    one_line = write_line(expression)
    if indent + other_width + len(one_line) <= WIDTH:
        return one_line
    head, pairs, tail = _open(expression)
    if not pairs:
        return one_line
    inner = " " * (indent + 4)
    lines = [f"{inner}{key}{write_source(entry, indent + 4, len(key) + 1)}," for key, entry in pairs]
    return "\n".join([head, *lines, f"{' ' * indent}{tail}"])


def write_line(expression: Expression) -> str:
    """The source of an expression on one line."""
    if isinstance(expression, str):
        return expression
    head, pairs, tail = _open(expression)
    comma = "," if head == "(" and len(pairs) == 1 else ""
    return f"{head}{', '.join(f'{key}{write_line(entry)}' for key, entry in pairs)}{comma}{tail}"


def list_classes(expression: Expression) -> Iterator[str]:
    """Yield the classes that an expression calls."""
    if isinstance(expression, Construction):
        yield expression.name
    if not isinstance(expression, str):
        yield from chain.from_iterable(list_classes(entry) for _, entry in _open(expression)[1])


def _open(expression: Construction | Items) -> tuple[str, list[tuple[str, Expression]], str]:
    """The text before the entries, the entries with their prefixes, and the text after them."""
    if isinstance(expression, Construction):
        return f"{expression.name}(", [(f"{name}=", argument) for name, argument in expression.arguments], ")"
    return expression.brackets[0], list(expression.entries), expression.brackets[1]


def _choose_branch(union: ir.TaggedUnion, value: ir.JSON) -> str:
    """The definition of the union branch that a value belongs to. Raises `NotConstructible`."""
    if not isinstance(value, dict):
        raise NotConstructible
    if union.tag in value:
        tag = value[union.tag]
        for variant in union.variants:
            if variant.tag == tag and isinstance(variant.tag, bool) == isinstance(tag, bool):
                return variant.type
    if union.default is None:
        raise NotConstructible
    return union.default


def _is_given(field: ir.Field, value: ir.JSON) -> bool:
    """Whether the class sets this value itself: the constant of a required field."""
    return field.required and isinstance(field.type, ir.Constant) and field.type.values == (value,)


def _build_value(value: ir.JSON) -> Expression:
    if isinstance(value, list):
        return Items(tuple(("", _build_value(item)) for item in value), "[]")
    if isinstance(value, dict):
        return Items(tuple((f"{write_literal(key)}: ", _build_value(item)) for key, item in value.items()), "{}")
    return write_literal(value)


def _admits(type_: ir.Type, value: ir.JSON) -> bool:
    """Whether a value is of the JSON type; constraints are not checked, as examples are already validated."""
    match type_:
        case ir.Anything():
            return True
        case ir.Null():
            return value is None
        case ir.Boolean():
            return isinstance(value, bool)
        case ir.Number():
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                return False
            return not type_.integer or value == int(value)
        case ir.String():
            return isinstance(value, str)
        case ir.Constant():
            return any(
                value == constant and isinstance(value, bool) == isinstance(constant, bool) for constant in type_.values
            )
        case _:
            return False


def write_example(
    constructor: Constructor, method: ir.Method, request: Mapping[str, ir.JSON], result: ir.JSON
) -> str | None:
    """Python that constructs, encodes and decodes a message of a method and, for a request, its response; `None` if the classes cannot
    express it.
    """
    module = constructor.module
    if not constructor.parent:
        return None
    kind = "Request" if method.kind == "request" else "Notification"
    is_answered = method.result is not None and result is not None
    try:
        arguments: list[tuple[str, Expression]] = []
        if "id" in request:
            arguments.append(("id", _build_value(request["id"])))
        arguments.append(("method", write_literal(method.name)))
        if method.params is not None and "params" in request:
            arguments.append(("params", constructor.build_expression(method.params, request["params"])))
        lines = [
            *constructor.write_imports(kind, *(["Response"] if is_answered else [])),
            "",
            _write_assignment("message", Construction(kind, tuple(arguments))),
            f"line = {module}.encode(message)",
            f"received = {module}.decode(line, sender={write_literal(constructor.find_sender(method))})",
            "print(received.params)",
        ]
        if method.result is not None and is_answered:
            options = f"sender={write_literal(method.side)}, method={write_literal(method.name)}"
            lines += [
                "",
                _write_assignment("result", constructor.build_expression(method.result, result)),
                f"line = {module}.encode(Response(id={write_literal(request['id'])}, result=result))",
                f"response = {module}.decode(line, {options})",
                "print(response.result)",
            ]
    except NotConstructible:
        return None
    return "\n".join(lines)


def _write_assignment(name: str, expression: Expression) -> str:
    return f"{name} = {write_source(expression, 0, len(name) + 3)}"
