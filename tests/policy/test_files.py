import pytest

from gateway.errors import FileError
from gateway.policy.compile import compile_policy
from gateway.policy.files import load


@pytest.mark.parametrize(
    ("when", "place"),
    [
        ("when: args.a == nope", "3:21"),
        ('when: "args.a == nope"', "3:22"),
        ("when: 'args.a == nope'", "3:22"),
        ("when: |\n      args.a == 1 &&\n        nope", "5:9"),
        ("when: |-\n\n        args.a == nope", "5:19"),
        ("when: >\n      args.a ==\n      nope", "3:11"),
        ("when: args.a ==\n      nope", "3:21"),
    ],
)
def test_a_place_inside_an_expression_is_a_place_in_the_file(when: str, place: str) -> None:
    text = f"rules:\n  - {{id: b, decision: allow}}\n  - {when}\n    id: a\n    decision: allow\n"
    with pytest.raises(FileError) as caught:
        compile_policy([load(text, file="p.yaml")])
    assert str(caught.value).startswith(f"p.yaml:{place}: no name `nope` here; known are `args`")
