"""Shares of places, without a server."""

from gateway.listen.shares import Shares


def test_an_owner_gets_its_share_and_leaves_the_rest_to_others() -> None:
    shares = Shares(2)
    assert [shares.take("ada") for _ in range(3)] == [True, True, False]
    assert shares.take("bob")
    shares.give_back("ada")
    assert (shares.held("ada"), shares.held("bob")) == (1, 1)
    assert shares.take("ada")


def test_an_owner_that_holds_none_is_forgotten() -> None:
    shares = Shares(1)
    shares.take("ada")
    shares.give_back("ada")
    assert shares.held("ada") == 0
    assert shares.take("ada")
