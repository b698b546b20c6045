"""Protobuf messages built from the shape of a tool's arguments; the only user of protobuf."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportAttributeAccessIssue=false
# - protobuf ships no types, and makes its classes while it is imported

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from google.protobuf import descriptor_pb2, descriptor_pool, struct_pb2, wrappers_pb2

from gateway.policy.cel import DescriptorPool

MESSAGE = "tool.Arguments"
_FILE = "tool.proto"


class Kind(StrEnum):
    """The kinds of values that can be told apart."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    LIST = "list"
    MESSAGE = "message"
    ANY = "any"


class NumberAs(StrEnum):
    """The two ways in which a JSON number arrives."""

    DOUBLE = "double"
    INT = "int"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What is known of a value's type; `fields` by the name of a protobuf field."""

    kind: Kind
    nullable: bool = False
    item: "Shape | None" = None
    fields: Mapping[str, "Shape"] = field(default_factory=dict[str, "Shape"])


def pool_of(shape: Shape, number: NumberAs) -> DescriptorPool:
    """Build the message `tool.Arguments` for a shape, with JSON numbers as doubles or ints."""
    pool = descriptor_pool.DescriptorPool()
    for known in (struct_pb2, wrappers_pb2):
        pool.AddSerializedFile(known.DESCRIPTOR.serialized_pb)
    file = descriptor_pb2.FileDescriptorProto(
        name=_FILE,
        package="tool",
        syntax="proto2",
        dependency=[struct_pb2.DESCRIPTOR.name, wrappers_pb2.DESCRIPTOR.name],
    )
    _Builder(file, number).message("Arguments", shape)
    pool.AddSerializedFile(file.SerializeToString())
    return pool


class _Builder:
    """Adds messages to a file; nested objects become messages with numbered names."""

    def __init__(self, file: "descriptor_pb2.FileDescriptorProto", number: NumberAs) -> None:
        self._file = file
        self._number = number

    def message(self, name: str, shape: Shape) -> str:
        message = self._file.message_type.add(name=name)
        for position, (field_name, each) in enumerate(shape.fields.items(), start=1):
            repeated = each.kind is Kind.LIST
            inner = each.item if repeated and each.item is not None else each
            entry = message.field.add(name=field_name, number=position, json_name=f"f{position}")
            proto = descriptor_pb2.FieldDescriptorProto
            entry.label = proto.LABEL_REPEATED if repeated else proto.LABEL_OPTIONAL
            self._set_type(entry, inner, f"{name}_{position}", nullable=inner.nullable)
        return f".tool.{name}"

    def _set_type(
        self,
        entry: "descriptor_pb2.FieldDescriptorProto",
        shape: Shape,
        name: str,
        *,
        nullable: bool,
    ) -> None:
        proto = descriptor_pb2.FieldDescriptorProto
        number = (
            (proto.TYPE_DOUBLE, "DoubleValue")
            if self._number is NumberAs.DOUBLE
            else (proto.TYPE_INT64, "Int64Value")
        )
        scalars = {
            Kind.STRING: (proto.TYPE_STRING, "StringValue"),
            Kind.INTEGER: (proto.TYPE_INT64, "Int64Value"),
            Kind.BOOLEAN: (proto.TYPE_BOOL, "BoolValue"),
            Kind.NUMBER: number,
        }
        if shape.kind in scalars and not nullable:
            entry.type = scalars[shape.kind][0]
            return
        entry.type = proto.TYPE_MESSAGE
        if shape.kind in scalars:
            entry.type_name = f".google.protobuf.{scalars[shape.kind][1]}"
        elif shape.kind is Kind.MESSAGE and shape.fields:
            entry.type_name = self.message(name, shape)
        else:  # a list in a list, or nothing known
            entry.type_name = ".google.protobuf.Value"
