"""From a folder to a revision."""

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.actions import revisions
from gateway.contracts import writing
from gateway.errors import FileError, FilesError
from gateway.revision import Unreviewed
from gateway.types.guarantees import Compensation, CompensationClass
from gateway.types.tools import Effect
from tests.helpers.cases import a_contract, a_definition, a_tool

NOW = datetime(2026, 11, 30, tzinfo=UTC)
POLICY = """\
rules:
  - {id: find, decision: allow, match: {tools: [crm.find], roles: {any: [support]}}}
"""
FINAL = Compensation(kind=CompensationClass.IRREVERSIBLE, reason="it is out of the house")
TESTS = """\
callers:
  sam: {user: sam, tenant: acme, roles: [support]}
tests:
  - {name: sam finds, as: sam, call: crm.find, args: {}, expect: {decision: %s}}
"""


def a_folder(root: Path, *, policy: str = POLICY, expect: str = "allow") -> Path:
    tool = a_tool(a_definition("find"))
    (root / "contracts").mkdir()
    (root / "tests").mkdir()
    (root / "contracts/crm.yaml").write_text(writing.dump([a_contract(tool)]))
    (root / "policy.yaml").write_text(policy)
    (root / "tests/find.yaml").write_text(TESTS % expect)
    return root


def built(root: Path, unreviewed: Unreviewed = Unreviewed.REFUSE) -> revisions.Built:
    return revisions.build(revisions.read(root), unreviewed=unreviewed, at=NOW)


def test_a_good_folder_is_a_revision_with_its_texts(tmp_path: Path) -> None:
    found = built(a_folder(tmp_path))
    assert found.problem == ""
    assert found.revision is not None
    assert set(found.revision.texts) == {"contracts/crm.yaml", "policy.yaml", "tests/find.yaml"}
    assert "crm.find" in found.revision.contracts


def test_the_same_files_have_the_same_id_and_any_change_another(tmp_path: Path) -> None:
    folder = revisions.read(a_folder(tmp_path))
    first = revisions.revision_id(folder, Unreviewed.REFUSE)
    assert first == revisions.revision_id(revisions.read(tmp_path), Unreviewed.REFUSE)
    assert first != revisions.revision_id(folder, Unreviewed.OBSERVE)
    (tmp_path / "policy.yaml").write_text(POLICY + "# a comment\n")
    assert first != revisions.revision_id(revisions.read(tmp_path), Unreviewed.REFUSE)


def test_a_failing_policy_test_keeps_the_folder_out(tmp_path: Path) -> None:
    found = built(a_folder(tmp_path, expect="deny"))
    assert found.revision is None
    assert "sam finds" in found.problem
    assert "tests/find.yaml:4" in found.problem


def test_how_many_tests_fail_is_told_with_the_first(tmp_path: Path) -> None:
    folder = a_folder(tmp_path, expect="deny")
    written = (folder / "tests/find.yaml").read_text()
    case = written.splitlines(keepends=True)[-1]
    (folder / "tests/find.yaml").write_text(written + case.replace("sam finds", "sam looks") * 3)
    problem = built(folder).problem
    assert "policy test `sam finds` fails: decision: expected deny" in problem
    assert problem.endswith("(1 of 4 that fail)")


def test_a_condition_that_does_not_compile_keeps_the_folder_out(tmp_path: Path) -> None:
    """case: AUT-08"""
    policy = POLICY + "  - {id: typo, decision: deny, code: c, when: argumnts.path == 1}\n"
    found = built(a_folder(tmp_path, policy=policy))
    assert found.revision is None
    assert "policy.yaml:3" in found.problem


def test_two_contracts_for_one_tool_are_refused(tmp_path: Path) -> None:
    root = a_folder(tmp_path)
    text = (root / "contracts/crm.yaml").read_text()
    (root / "contracts/again.yaml").write_text(text)
    assert "has a contract already" in built(root).problem


def test_a_contract_whose_schema_can_not_be_enforced_is_refused(tmp_path: Path) -> None:
    root = a_folder(tmp_path)
    broken = a_tool(a_definition("bad", {"depth": {"type": "text"}}))
    contract = a_contract(broken, effect=Effect.READ)
    (root / "contracts/bad.yaml").write_text(writing.dump([contract]))
    assert "crm.bad" in built(root).problem


def test_a_reviewed_write_of_which_nobody_says_how_it_is_undone_keeps_the_folder_out(
    tmp_path: Path,
) -> None:
    root = a_folder(tmp_path)
    write = a_contract(a_tool(a_definition("put")), effect=Effect.WRITE)
    (root / "contracts/put.yaml").write_text(writing.dump([write]))
    found = built(root)
    assert found.revision is None
    assert found.problem.startswith("contracts/put.yaml:")
    assert "nobody says how `crm.put` is undone" in found.problem
    for served in (replace(write, reviewed=False), replace(write, compensation=FINAL)):
        (root / "contracts/put.yaml").write_text(writing.dump([served]))
        assert built(root).problem == ""


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such folder"):
        revisions.read(tmp_path / "nowhere")


def test_a_pipe_and_a_device_are_refused_unread(tmp_path: Path) -> None:
    strange = a_folder(tmp_path) / "strange.yaml"
    os.mkfifo(strange)
    with pytest.raises(FileError, match="not a regular file"):
        revisions.read(tmp_path)
    strange.unlink()
    strange.symlink_to("/dev/zero")
    with pytest.raises(FileError, match="not a regular file"):
        revisions.read(tmp_path)


def test_files_in_other_folders_are_not_passed_over(tmp_path: Path) -> None:
    root = a_folder(tmp_path)
    (root / "more").mkdir()
    (root / "more/rules.yaml").write_text(POLICY)
    with pytest.raises(FileError, match=r"more/rules\.yaml"):
        revisions.read(root)


RUNS = """\
runs:
  lookup: {phases: {acting: {enter_when: [evidence >= 1]}}}
"""


def with_runs(root: Path, text: str = RUNS) -> Path:
    (a_folder(root) / "runs").mkdir()
    (root / "runs/lookup.yaml").write_text(text)
    return root


def test_templates_of_runs_are_part_of_the_revision_and_of_its_id(tmp_path: Path) -> None:
    found = built(with_runs(tmp_path))
    assert found.revision is not None
    assert set(found.revision.templates) == {"lookup"}
    assert found.revision.texts["runs/lookup.yaml"] == RUNS
    (tmp_path / "runs/lookup.yaml").write_text(RUNS.replace("1", "2"))
    other = built(tmp_path).revision
    assert other is not None
    assert other.id != found.revision.id


def test_a_guard_that_does_not_compile_keeps_the_folder_out(tmp_path: Path) -> None:
    found = built(with_runs(tmp_path, RUNS.replace("evidence", "evidense")))
    assert found.revision is None
    assert found.problem == (
        "runs/lookup.yaml:2:43: no name `evidense` here; did you mean `evidence`?"
    )


def test_templates_are_linted_with_the_rules_and_contracts(tmp_path: Path) -> None:
    text = "runs: {lookup: {phases: {retrieving: {tools: [crm.fnd]}}}}\n"
    found = built(with_runs(tmp_path, text))
    assert found.revision is None
    assert found.problem == (
        "runs/lookup.yaml:1:47: `crm.fnd` has no contract; did you mean `crm.find`?"
    )


def test_a_folder_comes_back_from_the_texts_that_were_kept() -> None:
    texts = {
        "a.yaml": "rules: []",
        "contracts/b.yaml": "tools: {}",
        "tests/c.yaml": "",
        "runs/d": "",
    }
    folder = revisions.folder_of(texts)
    assert folder.texts == texts
    assert [*folder.policies] == ["a.yaml"]


def test_an_id_tells_how_tools_without_a_contract_were_met() -> None:
    folder = revisions.folder_of({"a.yaml": "rules: []"})
    for each in Unreviewed:
        assert revisions.unreviewed_of(revisions.revision_id(folder, each), folder) is each
    assert revisions.unreviewed_of("sha256:other", folder) is None


def test_a_policy_is_compiled_for_a_look_though_its_tests_fail() -> None:
    folder = revisions.folder_of({"a.yaml": "rules: []", "tests/t.yaml": "nonsense"})
    found = revisions.compiled(folder, unreviewed=Unreviewed.REFUSE, at=NOW)
    assert found.id == revisions.revision_id(folder, Unreviewed.REFUSE)
    for text in ("rules: [{id: a}]", "rules: [{id: a, decision: allow, when: 'args.('}]"):
        broken = revisions.folder_of({"a.yaml": text})
        with pytest.raises(FilesError):
            revisions.compiled(broken, unreviewed=Unreviewed.REFUSE, at=NOW, prefix="p/")
