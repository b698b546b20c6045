import pytest

from gateway.policy.sql import sql_reads_only


@pytest.mark.parametrize(
    "statement",
    [
        "select 1",
        "SELECT a, b FROM t WHERE c = 'it''s; drop table t' -- delete\n ;",
        "with x as (select 1) select * from x",
        "select /* update */ 1;",
        'select "delete" from t',
        "select `delete` from t",
        "explain select 1",
        "select replace(a, 'x', 'y'), comment from t where a::text like '%x%' and b->'k' = :p",
        "show tables",
    ],
)
def test_a_statement_that_reads(statement: str) -> None:
    assert sql_reads_only(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "",
        ";",
        "delete from t",
        "select 1; select 2",
        "select 1; drop table t",
        "select 1 drop table t",
        "with x as (delete from t returning *) select * from x",
        "explain analyze select 1",
        "select * into outfile '/tmp/x' from t",
        "select * from t for update",
        "select nextval('s')",
        "select pg_read_file('/etc/passwd')",
        "select 1 --x\n; drop table t",
        "select 1 # ' \n ; delete from t -- '",
        "select 1 /*! ; delete from t */",
        "select 1 /*M! ; delete from t */",
        "select 1 /* a /* b */ ; delete from t -- */",
        "select 'a\\' ; delete from t -- '",
        "select 'unclosed",
        "select /* unclosed",
        "select $$a$$",
        "select E'\\'' ; delete from t",
        "DO $x$ begin end $x$",
        "call f()",
        "copy t to '/tmp/x'",
        "select 'a''; delete from t; --",
    ],
)
def test_a_statement_that_may_write_or_can_be_read_in_two_ways(statement: str) -> None:
    assert not sql_reads_only(statement)
