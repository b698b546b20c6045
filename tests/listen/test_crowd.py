"""Who goes when too many connections are open."""

from dataclasses import dataclass, field

from gateway.listen.crowd import Standing, introduce, let_introduce, make_room


@dataclass
class Caller:
    name: str
    standing: Standing
    left: list[str] = field(default_factory=list[str])

    def leave(self) -> None:
        self.left.append(self.name)


def left_of(most: int, **guests: Standing) -> list[str]:
    left: list[str] = []
    make_room([Caller(name, standing, left) for name, standing in guests.items()], most)
    return left


def test_nobody_goes_while_there_is_room() -> None:
    assert left_of(3, a=Standing(1.0), b=Standing(2.0)) == []


def test_strangers_go_first_and_the_longest_idle_of_them_before_others() -> None:
    guests = {
        "known": Standing(1.0, is_known=True),
        "late": Standing(3.0),
        "early": Standing(2.0),
        "busy": Standing(None),
    }
    assert left_of(4, **guests) == ["early"]
    assert left_of(2, **guests) == ["early", "late", "known"]


def test_a_request_under_way_is_never_sacrificed() -> None:
    assert left_of(1, a=Standing(None), b=Standing(None, is_known=True)) == []


def test_a_request_introduces_its_connection_where_there_is_one() -> None:
    said: list[str] = []
    scope: dict[str, object] = {}
    introduce(scope)
    let_introduce(scope, lambda: said.append("known"))
    introduce(scope)
    assert said == ["known"]
