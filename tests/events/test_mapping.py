"""Members of events that become members of another format."""

from gateway.events import mapping
from gateway.events.mapping import Field
from gateway.types.json import JsonObject

EVENT: JsonObject = {
    **{"id": "e1", "tenant": "", "actor": {"user": "sam", "roles": ["a"]}},
    **{"body": {"tool": "crm.find", "why": "because", "count": 0}},
}


def test_the_first_member_that_says_anything_is_the_one() -> None:
    fields = (Field("who.name", ("tenant", "actor.nobody", "actor.user")), Field("id", ("id",)))
    made, used = mapping.mapped(EVENT, fields)
    assert made == {"who": {"name": "sam"}, "id": "e1"}
    assert used == {"actor.user", "id"}


def test_what_does_not_fit_is_left_where_it_is() -> None:
    fields = (Field("n", ("body.tool", "body.count"), how=lambda v: v if v == 0 else None),)
    made, used = mapping.mapped(EVENT, fields)
    assert (made, used) == ({"n": 0}, {"body.count"})


def test_what_is_there_is_not_replaced() -> None:
    made, used = mapping.mapped(EVENT, (Field("a", ("id",)), Field("a", ("body.tool",))))
    assert (made, used) == ({"a": "e1"}, {"id"})
    assert not mapping.put(made, "a.b", 1)
    assert made == {"a": "e1"}


def test_the_rest_is_what_was_not_used_and_says_something() -> None:
    left = mapping.rest(EVENT, frozenset({"id", "actor.user", "body.tool"}))
    assert left == {"actor": {"roles": ["a"]}, "body": {"why": "because", "count": 0}}
    assert mapping.rest({"actor": {"user": "sam"}}, frozenset({"actor.user"})) == {}
