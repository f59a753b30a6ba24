"""What the SDK makes of the IR: names of classes and attributes, types as Python writes them, unions with a place for what is unknown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from acpgen.plugins import field_name, ir, literal
from acpgen_acp_sdk.names import CLASSES, FIELDS, LITERALS, LOOSE, PUBLIC, ROOT_MODELS


@dataclass(frozen=True)
class View:
    """One protocol as the SDK sees it. `keep_unknown` gives every tagged union a class for variants that it does not know."""

    protocol: ir.Protocol
    keep_unknown: bool = True

    @cached_property
    def variants(self) -> dict[str, tuple[ir.TaggedUnion, ir.Variant]]:
        """Each variant by the definition that holds it."""
        unions = [each for each in self.protocol.definitions.values() if isinstance(each, ir.TaggedUnion)]
        return {variant.type: (union, variant) for union in unions for variant in union.variants}

    @cached_property
    def others(self) -> dict[str, ir.Record]:
        """The record of unknown variants of each union that has none in the SDK's interface; it extends the untagged branch."""
        if not self.keep_unknown:
            return {}
        found: dict[str, ir.Record] = {}
        for union in self.protocol.definitions.values():
            if not isinstance(union, ir.TaggedUnion) or union.openness == "open":
                continue
            branch = self.protocol.definitions.get(union.default or "")
            inherited = branch.fields if isinstance(branch, ir.Record) else ()
            doc = f"A variant of {union.name} that this version does not know, kept as it came."
            tag = ir.Field(union.tag, ir.String(), required=True, doc="The type that is not known.")
            known = tuple(variant.tag for variant in union.variants)
            fields = (*(field for field in inherited if field.name != union.tag), tag)
            found[union.name] = ir.Record(
                f"Other{union.name}", fields, base=union.default, excluded=((union.tag, known),), doc=doc
            )
        return found

    @cached_property
    def dropped(self) -> frozenset[str]:
        """Records that the SDK has no class for: shapes of what is unknown, and fallbacks in whose place another class is made."""
        unions = [each for each in self.protocol.definitions.values() if isinstance(each, ir.TaggedUnion)]
        shapes = {shape for union in unions for shape in union.fallback_shapes}
        return frozenset(shapes | {union.fallback for union in unions if union.fallback and union.openness != "open"})

    def class_of(self, name: str) -> str:
        """The class of a record, or of a definition that is a class nevertheless."""
        chosen = CLASSES.get(name, name)
        if name not in CLASSES and name in self.taken:
            return f"_{name}"
        return chosen

    @cached_property
    def taken(self) -> frozenset[str]:
        """The names that classes get from the table."""
        return frozenset(CLASSES[name] for name in self.protocol.definitions if name in CLASSES)

    def attribute(self, name: str) -> str:
        """The attribute of a field."""
        return FIELDS.get(name, field_name(name))

    # --- types ---

    def type_of(self, type_: ir.Type) -> str:
        """A type as Python writes it; null is `None`."""
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
                return bounded("int" if integer else "float", type_)
            case ir.String(format="uri"):
                return "AnyUrl"
            case ir.String():
                return measured(type_)
            case ir.Constant(values=values):
                return f"Literal[{', '.join(map(literal, values))}]"
            case ir.Array(items=items):
                return f"List[{self.type_of(items)}]"
            case ir.Tuple():
                return "List[Any]"
            case ir.Map(values=values):
                return f"Dict[str, {self.type_of(values)}]"
            case ir.AnyOf(types=types):
                return union(dict.fromkeys(self.type_of(each) for each in types))
            case ir.Ref(name=name):
                return self.named(name)

    def named(self, name: str) -> str:
        """A reference to a definition: its class or name, or what it stands for where the SDK has no name."""
        if name in LOOSE:
            return "Any"
        match self.protocol.definitions[name]:
            case ir.Enum() as enum:
                return name if name in LITERALS else constants(enum, self.type_of(enum.base))
            case ir.Alias(type=type_) if name not in ROOT_MODELS | PUBLIC:
                return self.type_of(type_)
            case ir.TaggedUnion():
                return self.class_of(name) if name in PUBLIC else f"_{name}Union"
            case _:
                return self.class_of(name)

    def members(self, found: ir.TaggedUnion) -> Iterator[tuple[str, str]]:
        """The branches of a union: tag and type; the untagged one has no tag, and that of unknown variants is `*`."""
        for variant in found.variants:
            yield str(variant.tag), self.type_of(ir.Ref(variant.type))
        if found.default is not None:
            yield "", self.class_of(found.default)
        if found.openness == "open" and found.fallback is not None:
            yield "*", self.class_of(found.fallback)
        elif found.name in self.others:
            yield "*", self.others[found.name].name


def constants(enum: ir.Enum, base: str) -> str:
    """A set of constants that has no name: plain text where the SDK refuses no value, else the constants and what else there may be."""
    known = [f"Literal[{literal(value.value)}]" for value in enum.values]
    if enum.openness == "closed" and all(isinstance(value.value, str) for value in enum.values):
        return "str"
    return union(dict.fromkeys([*known, *([] if enum.openness == "closed" else [base])]))


def union(parts: dict[str, None]) -> str:
    """A union of types; `None` makes the others optional."""
    rest = [part for part in parts if part != "None"]
    inner = rest[0] if len(rest) == 1 else f"Union[{', '.join(rest)}]" if rest else "None"
    return f"Optional[{inner}]" if "None" in parts and rest else inner


def limits(type_: ir.Number) -> dict[str, int | float]:
    """The limits of a number as pydantic names them."""
    told = {
        "ge": type_.minimum,
        "le": type_.maximum,
        "gt": type_.exclusive_minimum,
        "lt": type_.exclusive_maximum,
        "multiple_of": type_.multiple_of,
    }
    return {key: value for key, value in told.items() if value is not None}


def bounded(name: str, type_: ir.Number) -> str:
    """A number with its limits."""
    given = ", ".join(f"{key}={literal(value)}" for key, value in limits(type_).items())
    return f"Annotated[{name}, Field({given})]" if given else name


def measured(type_: ir.String) -> str:
    """A text with its limits."""
    given = {"min_length": type_.min_length, "max_length": type_.max_length, "pattern": type_.pattern}
    told = ", ".join(f"{key}={literal(value)}" for key, value in given.items() if value is not None)
    return f"Annotated[str, Field({told})]" if told else "str"
