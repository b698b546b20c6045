"""Benches are run now and then; that they can be started at all is held here."""

import importlib
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
ELSEWHERE = {"fastmcp_proxy"}  # runs in the environment of the peer
NAMES = {path.stem for path in BENCH.glob("[a-z]*.py")} - ELSEWHERE


@pytest.mark.parametrize("name", sorted(NAMES))
def test_each_module_of_the_bench_finds_what_it_needs(name: str) -> None:
    importlib.import_module(f"bench.{name}")
