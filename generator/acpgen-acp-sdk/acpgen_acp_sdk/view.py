"""A view of the IR for the SDK: names of classes and attributes, Python types, and unions with a branch for unknown variants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from acpgen.plugins import ir, make_field_name, write_literal
from acpgen_acp_sdk.names import CLASSES, FIELDS, LITERALS, LOOSE, PUBLIC, ROOT_MODELS


@dataclass(frozen=True)
class View:
    """A protocol in terms of the SDK. `keep_unknown` gives every tagged union a class for unknown variants."""

    protocol: ir.Protocol
    keep_unknown: bool = True

    @cached_property
    def variants(self) -> dict[str, tuple[ir.TaggedUnion, ir.Variant]]:
        """The union and the variant of each definition that a variant refers to."""
        unions = [union for union in self.protocol.definitions.values() if isinstance(union, ir.TaggedUnion)]
        return {variant.type: (union, variant) for union in unions for variant in union.variants}

    @cached_property
    def others(self) -> dict[str, ir.Record]:
        """The record of unknown variants of each union for which the SDK's interface has none; it extends the untagged branch."""
        if not self.keep_unknown:
            return {}
        records: dict[str, ir.Record] = {}
        for union in self.protocol.definitions.values():
            if not isinstance(union, ir.TaggedUnion) or union.openness == "open":
                continue
            branch = self.protocol.definitions.get(union.default or "")
            inherited = branch.fields if isinstance(branch, ir.Record) else ()
            doc = f"A variant of {union.name} that this version does not know, kept as it came."
            tag = ir.Field(union.tag, ir.String(), required=True, doc="The type that is not known.")
            tags = tuple(variant.tag for variant in union.variants)
            fields = (*(field for field in inherited if field.name != union.tag), tag)
            records[union.name] = ir.Record(
                f"Other{union.name}", fields, base=union.default, excluded=((union.tag, tags),), doc=doc
            )
        return records

    @cached_property
    def dropped(self) -> frozenset[str]:
        """Records without a class in the SDK: shapes of unknown variants, and fallbacks that another class replaces."""
        unions = [union for union in self.protocol.definitions.values() if isinstance(union, ir.TaggedUnion)]
        shapes = {shape for union in unions for shape in union.fallback_shapes}
        return frozenset(shapes | {union.fallback for union in unions if union.fallback and union.openness != "open"})

    def name_class(self, name: str) -> str:
        """The class name of a definition."""
        class_name = CLASSES.get(name, name)
        if name not in CLASSES and name in self.assigned_names:
            return f"_{name}"
        return class_name

    @cached_property
    def assigned_names(self) -> frozenset[str]:
        """The class names that the table `CLASSES` assigns."""
        return frozenset(CLASSES[name] for name in self.protocol.definitions if name in CLASSES)

    def name_attribute(self, name: str) -> str:
        """The attribute name of a field."""
        return FIELDS.get(name, make_field_name(name))

    # --- types ---

    def write_type(self, type_: ir.Type) -> str:
        """The text of a Python type; null is `None`."""
        match type_:
            case ir.Anything():
                return "Any"
            case ir.Nothing():
                return "Never"
            case ir.Null():
                return "None"
            case ir.Boolean():
                return "bool"
            case ir.Number(integer=integer):
                return write_number("int" if integer else "float", type_)
            case ir.String(format="uri"):
                return "AnyUrl"
            case ir.String():
                return write_string(type_)
            case ir.Constant(values=values):
                return f"Literal[{', '.join(map(write_literal, values))}]"
            case ir.Array(items=items):
                return f"List[{self.write_type(items)}]"
            case ir.Tuple():
                return "List[Any]"
            case ir.Map(values=values):
                return f"Dict[str, {self.write_type(values)}]"
            case ir.AnyOf(types=types):
                return write_union(dict.fromkeys(self.write_type(branch) for branch in types))
            case ir.Ref(name=name):
                return self.write_reference(name)

    def write_reference(self, name: str) -> str:
        """The text of a reference to a definition: its class or name, or its type if the SDK has no name for it."""
        if name in LOOSE:
            return "Any"
        match self.protocol.definitions[name]:
            case ir.Enum() as enum:
                return name if name in LITERALS else write_constants(enum, self.write_type(enum.base))
            case ir.Alias(type=type_) if name not in ROOT_MODELS | PUBLIC:
                return self.write_type(type_)
            case ir.TaggedUnion():
                return self.name_class(name) if name in PUBLIC else f"_{name}Union"
            case _:
                return self.name_class(name)

    def list_members(self, definition: ir.TaggedUnion) -> Iterator[tuple[str, str]]:
        """Yield the tag and type of each branch of a union; the untagged branch has an empty tag, that of unknown variants has `*`."""
        for variant in definition.variants:
            yield str(variant.tag), self.write_type(ir.Ref(variant.type))
        if definition.default is not None:
            yield "", self.name_class(definition.default)
        if definition.openness == "open" and definition.fallback is not None:
            yield "*", self.name_class(definition.fallback)
        elif definition.name in self.others:
            yield "*", self.others[definition.name].name


def write_constants(enum: ir.Enum, base: str) -> str:
    """The type of an unnamed enumeration: `str` if it is a closed set of strings, else the literals and, unless closed, the base type."""
    literals = [f"Literal[{write_literal(value.value)}]" for value in enum.values]
    if enum.openness == "closed" and all(isinstance(value.value, str) for value in enum.values):
        return "str"
    return write_union(dict.fromkeys([*literals, *([] if enum.openness == "closed" else [base])]))


def write_union(parts: dict[str, None]) -> str:
    """A union of types; `None` makes the others optional."""
    branches = [part for part in parts if part != "None"]
    inner = branches[0] if len(branches) == 1 else f"Union[{', '.join(branches)}]" if branches else "None"
    return f"Optional[{inner}]" if "None" in parts and branches else inner


def list_limits(type_: ir.Number) -> dict[str, int | float]:
    """The limits of a number, by their pydantic names."""
    bounds = {
        "ge": type_.minimum,
        "le": type_.maximum,
        "gt": type_.exclusive_minimum,
        "lt": type_.exclusive_maximum,
        "multiple_of": type_.multiple_of,
    }
    return {key: value for key, value in bounds.items() if value is not None}


def write_number(name: str, type_: ir.Number) -> str:
    """A number type with its limits."""
    arguments = ", ".join(f"{key}={write_literal(value)}" for key, value in list_limits(type_).items())
    return f"Annotated[{name}, Field({arguments})]" if arguments else name


def write_string(type_: ir.String) -> str:
    """A string type with its limits."""
    bounds = {"min_length": type_.min_length, "max_length": type_.max_length, "pattern": type_.pattern}
    arguments = ", ".join(f"{key}={write_literal(value)}" for key, value in bounds.items() if value is not None)
    return f"Annotated[str, Field({arguments})]" if arguments else "str"
