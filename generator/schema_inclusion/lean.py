"""`dataclass` as the standard library has it, but a class compiles its methods when they are first called.

The standard library compiles up to six methods of each class when its module is imported, which is most of what the import takes.
What such a class inherits from must be a `dataclass` of this module too, or none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import dataclasses
    from dataclasses import MISSING, Field, FrozenInstanceError
    from reprlib import recursive_repr

    def dataclass(cls=None, /, *, eq=True, frozen=False, init=True, slots=False, kw_only=False, **others):
        """The class with the methods of a dataclass. Parameters that are not named here have it made by the standard library."""
        options = {"eq": eq, "frozen": frozen, "init": init, "slots": slots, "kw_only": kw_only}
        if cls is None:
            return lambda named: dataclass(named, **options, **others)
        if others:
            return dataclasses.dataclass(cls, **options, **others)
        own = {name for name in vars(cls) if vars(cls)[name] is not None or name != "__hash__"}
        made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(cls)
        every = made.__dataclass_fields__.values()
        if any(each._field_type is dataclasses._FIELD_INITVAR for each in every):
            raise TypeError(f"{cls.__name__} has a field that is an InitVar, which {__name__} does not know")
        fields = [each for each in every if each._field_type is dataclasses._FIELD]
        methods = {"__repr__": _shown}
        if init:
            methods["__init__"] = _at_first_call(made, "__init__", lambda: _initialiser(made, fields, frozen))
        if eq:
            compared = [each.name for each in fields if each.compare]
            methods["__eq__"] = _at_first_call(made, "__eq__", lambda: _equality(made, compared))
        for name, method in methods.items():
            if name not in own:
                setattr(made, name, method)
        if eq and "__hash__" not in own:
            hashed = [each.name for each in fields if (each.compare if each.hash is None else each.hash)]
            made.__hash__ = _at_first_call(made, "__hash__", lambda: _hash(made, hashed)) if frozen else None
        if frozen:
            made.__setattr__, made.__delattr__ = _not_assigned, _not_deleted
            if slots and not {"__getstate__", "__setstate__"} & own:
                made.__getstate__, made.__setstate__ = _state, _restored
        return made

    def _at_first_call(cls, name, make):
        """A method that puts the one that `make` returns in its own place when it is called."""

        def first(self, *args, **named):
            method = make()
            setattr(cls, name, method)
            return method(self, *args, **named)

        first.__qualname__ = f"{cls.__qualname__}.{name}"
        return first

    def _initialiser(cls, fields, frozen):
        names = {"_MISSING": MISSING, "_set": object.__setattr__}
        parameters, named, lines = [], [], []
        for each in fields:
            name, value = each.name, each.name
            names |= {f"_default_{name}": each.default, f"_make_{name}": each.default_factory}
            if each.init:
                (named if each.kw_only else parameters).append(f"{name}{_default(each)}")
            if each.default_factory is not MISSING:
                value = f"_make_{name}() if {name} is _MISSING else {name}" if each.init else f"_make_{name}()"
            elif not each.init and each.default is MISSING:
                continue
            elif not each.init:
                value = f"_default_{name}"
            lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
        if hasattr(cls, "__post_init__"):
            lines.append("self.__post_init__()")
        head = ", ".join(["self", *parameters, *(["*", *named] if named else [])])
        return _compiled(cls, "__init__", head, lines or ["pass"], names)

    def _default(field: Field):
        if field.default is not MISSING:
            return f"=_default_{field.name}"
        return "=_MISSING" if field.default_factory is not MISSING else ""

    def _equality(cls, names):
        lines = [
            "if other.__class__ is self.__class__:",
            f" return {_tuple('self', names)} == {_tuple('other', names)}",
            "return NotImplemented",
        ]
        return _compiled(cls, "__eq__", "self, other", lines)

    def _hash(cls, names):
        return _compiled(cls, "__hash__", "self", [f"return hash({_tuple('self', names)})"])

    def _tuple(of, names):
        return f"({''.join(f'{of}.{name}, ' for name in names)})"

    def _compiled(cls, name, parameters, lines, names=None):
        known = {"__name__": cls.__module__, **(names or {})}
        exec(f"def {name}({parameters}):\n " + "\n ".join(lines), known)  # noqa: S102 - of the names of fields, as the standard library does
        method = known[name]
        method.__qualname__ = f"{cls.__qualname__}.{name}"
        return method

    @recursive_repr()
    def _shown(self):
        shown = (f"{each.name}={getattr(self, each.name)!r}" for each in dataclasses.fields(self) if each.repr)
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def _not_assigned(_self, name, _value):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _not_deleted(_self, name):
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def _state(self):
        return [getattr(self, each.name) for each in dataclasses.fields(self)]

    def _restored(self, state):
        for each, value in zip(dataclasses.fields(self), state, strict=True):
            object.__setattr__(self, each.name, value)
