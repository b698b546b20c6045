"""From documents to models."""

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from gateway import yamltext
from gateway.errors import FileError, FilesError
from gateway.types.tools import Effect
from gateway.yamltext.models import suggest


class Tool(BaseModel):
    model_config = ConfigDict(extra="forbid")
    effect: Effect
    risk: Literal["low", "high"] = "low"
    retries: int = 0
    on_failure: str = Field(default="", alias="on-failure")

    @field_validator("retries")
    @classmethod
    def _few(cls, value: int, info: ValidationInfo) -> int:
        del info
        if value > 3:
            raise ValueError("should be at most 3, or nobody will wait")
        return value


class File(BaseModel):
    model_config = ConfigDict(extra="forbid")
    tools: dict[str, Tool]
    more: list[Annotated[Tool, Field(title="one more")]] | None = None


def faults(text: str) -> list[str]:
    document = yamltext.load(text, file="f")
    with pytest.raises(FilesError) as refused:
        yamltext.validate(File, document, file="f")
    return str(refused.value).splitlines()


def test_a_good_document_becomes_the_model() -> None:
    document = yamltext.load("tools: {a: {effect: read, on-failure: stop}}\n", file="f")
    model = yamltext.validate(File, document, file="f")
    assert model.tools["a"] == Tool(**{"effect": Effect.READ, "on-failure": "stop"})  # pyright: ignore[reportArgumentType] - the alias is no name


def test_all_faults_come_at_once_and_in_file_order() -> None:
    text = """\
tools:
  a:
    efect: read
    risk: hihg
    retries: x
  b: {effect: read, retries: 9, on-failur: x}
more: [{effect: wirte, efect: read}]
tool: 1
"""
    assert faults(text) == [
        "f:2:3: missing key `effect` in `tools.a`; add it",
        "f:3:5: unknown key `efect`; did you mean `effect`?",
        "f:4:11: `tools.a.risk` is `hihg`; it should be `low` or `high`; did you mean `high`?",
        "f:5:14: `tools.a.retries` has to be a whole number",
        "f:6:30: `tools.b.retries` should be at most 3, or nobody will wait",
        "f:6:33: unknown key `on-failur`; did you mean `on-failure`?",
        "f:7:17: `more.0.effect` is `wirte`; it should be `read`, `write` or `destructive`;"
        " did you mean `write`?",
        "f:7:24: unknown key `efect`; did you mean `effect`?",
        "f:8:1: unknown key `tool`; did you mean `tools`?",
    ]


def test_a_missing_key_at_the_top_stands_at_the_top() -> None:
    assert faults("more: []\n") == ["f:1:1: missing key `tools`; add it"]


def test_a_long_value_is_not_repeated() -> None:
    (only,) = faults("tools: {a: {effect: " + "x" * 50 + "}}\n")
    assert "xxx" not in only


def test_a_fault_of_several_is_a_file_error_at_the_first_place() -> None:
    document = yamltext.load("x: 1\ny: 2\n", file="f")
    with pytest.raises(FileError) as refused:
        yamltext.validate(File, document, file="f")
    assert (refused.value.line, refused.value.column) == (1, 1)


def test_only_a_near_word_is_suggested() -> None:
    assert suggest("risc", ["risk", "effect"]) == "; did you mean `risk`?"
    assert suggest("zzz", ["risk", "effect"]) == ""
