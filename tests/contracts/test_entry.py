"""The keys of a contract file."""

from typing import Any

import pytest
from pydantic import ValidationError

from gateway.contracts.entry import Entry, FailureSection, ProvenanceSection

LEAST: dict[str, Any] = {
    "pin": "sha256:" + "0" * 64,
    "effect": "read",
    "risk": "low",
    "definition": {"name": "t"},
}


def test_the_least_entry_has_careful_defaults() -> None:
    entry = Entry.model_validate(LEAST)
    assert entry.reviewed
    assert not entry.results.trusted_text
    assert not entry.results.lenient


@pytest.mark.parametrize("text", ["250ms", "30s", "1.5m", "2h", "1d"])
def test_a_time_has_a_unit(text: str) -> None:
    seconds = {"250ms": 0.25, "30s": 30.0, "1.5m": 90.0, "2h": 7200.0, "1d": 86400.0}
    assert FailureSection.model_validate({"timeout": text}).timeout == seconds[text]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("pin", "sha256:abc", "pattern"),
        ("effect", "delete", "'read'"),
        ("failure", {"timeout": 30}, "a time with its unit"),
        ("failure", {"timeout": "30"}, "a time with its unit"),
        ("sensitive", {"iban": "secret"}, "not a JSON Pointer"),
        ("sensitive", {"": "secret"}, "has to name a field"),
        ("sensitive", {"/iban": "hidden"}, "'secret'"),
        ("provenance", {"/a": {"from": []}}, "at least 1"),
        ("provenance", {"/a": {"from": ["result(x)"]}}, "should be `results"),
        ("provenance", {"/a": {"from": ["actor(role)"]}}, "`user` or `tenant`"),
        ("provenance", {"/a": {"from": ["computed(9..1)"]}}, "no room between"),
        ("provenance",
         {"/a": {"from": ["actor(user)"], "same_record_as": "/b",
                 "relate": {"same_record_as": "/b"}}}, "twice"),
        ("yields", [{"type": "a b", "path": "/a"}], "pattern"),
        ("yields", [{"type": "user", "path": "/a"}], "whose word a field of a run may be"),
        ("yields", [{"type": "host", "path": "/a"}], "whose word a field of a run may be"),
        ("yields", [{"type": "model", "path": "/a"}], "whose word a field of a run may be"),
        ("yields", [{"type": "a", "path": "/a", "as": "money"}], "'number'"),
        ("retrieval", {}, "`query`, `documents` or both"),
        ("retrieval", {"documents": {"path": "/a/*", "version": "/*"}}, "name one field"),
        ("retrieval", {"documents": {"path": ""}}, "needs a `source`"),
        ("when_tainted", "log", "'approve'"),
        ("idempotency", {"retry": "always"}, "'never'"),
        ("outcome", {"readback": {"args": {}}}, "Field required"),
        ("results", {"max_bytes": 0}, "greater than 0"),
        ("scopes", [""], "at least 1 character"),
        ("extra", 1, "not permitted"),
    ],
)  # fmt: skip
def test_a_bad_value_is_refused(key: str, value: Any, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Entry.model_validate(LEAST | {key: value})


def test_without_a_word_a_failure_denies() -> None:
    section = ProvenanceSection.model_validate({"from": ["actor(user, tenant)"]})
    assert (section.on_fail, section.max_of) == ("deny", False)
