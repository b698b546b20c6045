"""Values as YAML for people."""

from hypothesis import given
from hypothesis import strategies as st

from gateway import yamltext
from gateway.types.json import Json, JsonObject
from gateway.yamltext import layout

TEXT = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(
    ["no", "~", "0644", "1e3", "-", "- a", "a: b", "#", "${A}", "null", "true", "@x", "=", "0x1f"]
)
VALUES: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=8,
)


@given(st.dictionaries(TEXT, VALUES, min_size=1, max_size=4))
def test_what_is_laid_out_is_read_back(value: JsonObject) -> None:
    assert yamltext.load(layout.block(value), file="f").value == value


def test_it_reads_as_if_a_person_had_written_it() -> None:
    value: JsonObject = {
        "files": {"command": "npx", "args": ["-y", "@x/y", "/srv"], "env": {"LEVEL": "1"}}
    }
    assert layout.block(value) == (
        'files:\n  command: npx\n  args: ["-y", "@x/y", /srv]\n  env:\n    LEVEL: "1"\n'
    )
