"""Values that arguments are held against."""

from gateway.policy.axes import NOW
from gateway.policy.mentions import mentions
from gateway.policy.sample_texts import People, Pool, pool

PEOPLE = People(
    tenants=("acme", "globex"), users=("sam",), clients=("desk",), fields=("r-1",), now=NOW
)


def of(text: str) -> Pool:
    return pool([mentions(text)], PEOPLE)


def test_numbers_are_tried_at_the_bound_and_beside_it() -> None:
    assert of("args.amount <= 1000.0").numbers == (1000.0, 1001.0, 999.0)
    assert of("args.amount <= 1000.0").lengths == ()


def test_a_length_is_met_missed_and_passed() -> None:
    assert of("size(args.text) < 10").lengths == (10, 11, 9)
    assert of("size(args.text) < 1").lengths == (1, 2, 0)
    assert of("size(args.text) < 100000000").lengths == ()


def test_who_calls_is_tried_where_arguments_are_held_against_it() -> None:
    assert of("args.tenant == identity.tenant").texts == ("acme", "globex")
    assert of("args.by == identity.user").texts == ("sam",)
    assert of("args.by == identity.client").texts == ("desk",)
    assert of("args.of == run.fields.customer").texts == ("r-1",)


def test_functions_are_given_what_they_look_for() -> None:
    mail = of("args.to.all(r, email_domain(r) == identity.tenant + '.example')").texts
    assert "a@acme.example" in mail
    assert "https://files.example/x" in of("url_host(args.url) == 'files.example'").texts
    assert "/data/x" in of("path_under(args.path, '/data')").texts
    assert {"10.0.0.0", "192.0.2.1"} <= {*of("ip_in(args.ip, '10.0.0.0/8')").texts}
    assert "2001:db8::1" in of("ip_in(args.ip, 'fd00::/8')").texts
    assert of("ip_in(args.ip, 'nowhere')").texts == ("nowhere",)
    assert "select 1" in of("sql_reads_only(args.sql)").texts
    assert "test-x" in of("args.id.startsWith('test-')").texts
    assert "x.pdf" in of("args.id.endsWith('.pdf')").texts
    assert "xbx" in of("args.id.contains('b')").texts
    assert "EUR" in of("args.id.lowerAscii() == 'eur'").texts
    assert "eur" in of("args.id.upperAscii() == 'EUR'").texts
    assert "inv-0" in of(r"args.id.matches('^inv-\\d+$')").texts


def test_a_time_is_tried_around_now() -> None:
    texts = of("timestamp(args.due) > now").texts
    assert "2026-01-05T12:00:00Z" in texts
    assert "2026-01-06T12:00:00Z" in texts
