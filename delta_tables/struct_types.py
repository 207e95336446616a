"""A struct of the contract as a SQL type, so that its fields are written once: in zklake.events."""

from __future__ import annotations

import msgspec
from msgspec import inspect

_SCALARS: dict[type[inspect.Type], str] = {
    inspect.IntType: "BIGINT",
    inspect.BoolType: "BOOLEAN",
    inspect.StrType: "STRING",
    inspect.LiteralType: "STRING",
}


def write_type(struct: type[msgspec.Struct]) -> str:
    """`STRUCT<topic: STRING, …>`; every number is a BIGINT."""
    return _write(inspect.type_info(struct))


def _write(type_: inspect.Type) -> str:
    match type_:
        case inspect.StructType():
            fields = (f"{field.encode_name}: {_write(field.type)}" for field in type_.fields)
            return f"STRUCT<{', '.join(fields)}>"
        case inspect.VarTupleType() | inspect.ListType():
            return f"ARRAY<{_write(type_.item_type)}>"
        case inspect.DictType():
            return f"MAP<{_write(type_.key_type)}, {_write(type_.value_type)}>"
        case inspect.UnionType():
            (known,) = [t for t in type_.types if not isinstance(t, inspect.NoneType)]
            return _write(known)
    return _SCALARS[type(type_)]
