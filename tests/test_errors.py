"""Faults as the lines that people read."""

from gateway.errors import FileError, FilesError, JsonError, first_cause


def test_a_fault_of_a_file_begins_with_its_place() -> None:
    assert str(FileError("is bad", file="a.yaml", line=3, column=7)) == "a.yaml:3:7: is bad"
    assert str(FileError("is not there", file="a.yaml")) == "a.yaml: is not there"


def test_several_faults_have_a_line_each_and_stand_at_the_first() -> None:
    faults = [
        FileError("is bad", file="a.yaml", line=1, column=1),
        FileError("is worse", file="b.yaml", line=2, column=2),
    ]
    whole = FilesError(faults)
    assert str(whole).splitlines() == ["a.yaml:1:1: is bad", "b.yaml:2:2: is worse"]
    assert (whole.file, whole.line, whole.message) == ("a.yaml", 1, "is bad")


def test_a_fault_of_a_text_says_where_when_it_can() -> None:
    assert str(JsonError("is no number", pointer="/a/0")) == "is no number at `/a/0`"
    assert str(JsonError("is empty")) == "is empty"


def test_the_first_cause_is_found_however_deep_it_lies() -> None:
    cause = ValueError("x")
    assert first_cause(cause) is cause
    inner = BaseExceptionGroup("inner", [cause, KeyError("y")])
    assert first_cause(BaseExceptionGroup("outer", [inner, OSError()])) is cause
