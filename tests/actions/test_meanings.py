"""What keys mean, by the section that they are in."""

from gateway.actions.meanings import COMMON, KEYS, KEYS_OF_CALLS, meaning


def test_a_key_has_the_meaning_of_its_own_section() -> None:
    assert meaning("Entry", "pin") == KEYS["Entry"]["pin"]
    assert meaning("PolicySet", "rules") != meaning("RunTemplates", "rules")


def test_what_several_sections_share_is_said_once() -> None:
    assert meaning("RunTemplates", "apiVersion") == COMMON["apiVersion"]
    assert meaning("ReadbackSection", "tool") == KEYS_OF_CALLS["tool"]
    assert meaning("Entry", "tool") == ""


def test_a_meaning_is_one_line_like_every_description() -> None:
    for keys in KEYS.values():
        for said in keys.values():
            assert "\n" not in said
            assert not said.endswith(".")
