"""Nothing crosses from one tenant to another: the small version of `tests.matrix.tenants`."""

from pathlib import Path

from tests.matrix.tenant_report import Report, shape
from tests.matrix.tenants import run

FOREIGN = b'{"objective": "canary-globex-modern1x00", "id": "run_0123456789ABCDEFGHJKMNPQRS"}'


async def test_nothing_of_one_tenant_is_heard_or_reached_by_the_other(tmp_path: Path) -> None:
    """Failure case 22, and 14 between tenants."""
    report = await run(2, tmp_path)
    assert report.leaks == []
    assert report.wrong == []
    assert report.expected == report.guessed == report.refused
    assert report.refused.total() > 300
    assert report.good
    for side in report.sides.values():
        assert side.words > 500
        assert min(side.own.values()) > 0
        assert len(side.own) == 25


async def test_a_server_that_leaks_is_found(tmp_path: Path) -> None:
    report = await run(2, tmp_path, leaks=True)
    assert not report.good
    assert report.leaks


def test_a_canary_of_the_other_tenant_is_found_wherever_it_is() -> None:
    report = Report(callers=1)
    report.hears("globex", FOREIGN)
    assert (report.leaks, report.sides["globex"].words) == ([], 1)
    report.hears("acme", FOREIGN)
    assert len(report.leaks) == 1


def test_an_id_that_only_one_tenant_was_given_is_found_in_what_the_other_one_hears() -> None:
    report = Report(callers=1)
    name = report.keeps("globex", "run", "run_0123456789ABCDEFGHJKMNPQRS")
    report.hears("acme", f"what is {name}?".encode())
    report.close()
    assert report.leaks == [f"acme heard run {name.encode()!r}"]


async def test_a_guess_counts_as_refused_only_if_it_is_answered_as_any_invented_one() -> None:
    async def refuse(name: str) -> tuple[bool, str]:
        return True, f"there is no {name}"

    async def tell_apart(name: str) -> tuple[bool, str]:
        return True, "it is another one's" if name == "theirs" else f"there is no {name}"

    async def let(name: str) -> tuple[bool, str]:
        return False, name

    report = Report(callers=1)
    for kind, ask in {"refused": refuse, "told apart": tell_apart, "let": let}.items():
        report.expected[kind] += 1
        await report.guesses("acme", kind, "theirs", "invented", ask)
    assert report.guessed == report.expected
    assert report.refused.total() == report.refused["refused"] == 1
    assert [each.split(": ")[0] for each in report.wrong] == [
        "acme  told apart told apart from an invented one",
        "acme  let not refused",
    ]


def test_answers_are_alike_whatever_ids_and_numbers_they_hold() -> None:
    id_a, id_b = "run_0123456789ABCDEFGHJKMNPQRS", "run_0123456789ABCDEFGHJKMNPQRT"
    assert shape(f"4: no {id_a}", id_a) == shape(f"17: no {id_b}", id_b)
    assert shape("no `wb1.abc-d…`", "x") == shape("no `wb1.efgh…`", "y")
    assert shape("no such run", "x") != shape("not yours", "y")
