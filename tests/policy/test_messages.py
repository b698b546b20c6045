from gateway.policy.messages import MESSAGE, Kind, NumberAs, Shape, pool_of


def test_a_shape_becomes_a_message_with_nested_messages() -> None:
    inner = Shape(kind=Kind.MESSAGE, fields={"name": Shape(kind=Kind.STRING)})
    shape = Shape(
        kind=Kind.MESSAGE,
        fields={
            "one": inner,
            "many": Shape(kind=Kind.LIST, item=inner),
            "any": Shape(kind=Kind.ANY),
        },
    )
    for number in NumberAs:
        pool = pool_of(shape, number)
        assert pool.FindMessageTypeByName(MESSAGE)
        assert pool.FindMessageTypeByName(f"{MESSAGE}_1")
        assert pool.FindMessageTypeByName(f"{MESSAGE}_2")
