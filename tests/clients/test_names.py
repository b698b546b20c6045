"""Names of servers for whatever a client calls them."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.clients.names import names, plain
from gateway.config.settings import Settings
from gateway.servers.names import check_aliases


def test_names_that_are_fine_stay_and_others_make_room() -> None:
    assert names(["my server", "my-server", "My-Server!", "io.github/x__y_"]) == {
        "my server": "my-server-2",
        "my-server": "my-server",
        "My-Server!": "My-Server-3",
        "io.github/x__y_": "io-github-x_y",
    }


def test_a_name_without_a_letter_gets_one() -> None:
    assert plain("žluť ✨") == "lu"
    assert names(["✨", "☀"]) == {"✨": "server", "☀": "server-2"}


@given(st.lists(st.text(), unique=True, max_size=8))
def test_every_name_is_one_that_a_configuration_takes(given: list[str]) -> None:
    made = [*names(given).values()]
    assert len({each.lower() for each in made}) == len(made)
    assert not check_aliases(made)
    Settings.model_validate({"servers": {each: {"command": "x"} for each in made}})
