"""The verifier of exports, in an interpreter that has nothing: Ed25519 of RFC 8032 and all else."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from gateway.actions import standalone
from gateway.events import tree
from gateway.events.checkpoints import Checkpoint
from gateway.events.notes import Signer
from gateway.events.proofs import written

SIGNER = Signer(name="log.example/a", seed=b"1" * 32)
BODIES = [b'{"event":%d}' % number for number in range(1, 101)]
LEAVES = [tree.leaf_hash(body) for body in BODIES]
MINE = (2, 3, 50, 99, 100)


def an_export(folder: Path) -> Path:
    """An export as the command writes it: the events `MINE` of a log of a hundred."""
    root = tree.root_of(LEAVES)
    note = Checkpoint(origin=SIGNER.name, size=100, root=root).signed([SIGNER])
    ways = [
        tree.inclusion(seq - 1, 100, lambda start, end: tree.root_of(LEAVES[start:end]))
        for seq in MINE
    ]
    lines = [" ".join([str(seq), *written(way)]) for seq, way in zip(MINE, ways, strict=True)]
    (folder / "events.jsonl").write_bytes(b"".join(BODIES[seq - 1] + b"\n" for seq in MINE))
    (folder / "proofs.txt").write_text("".join(f"{line}\n" for line in lines))
    (folder / "checkpoint.txt").write_text(note, encoding="utf-8")
    (folder / "keys.txt").write_text(f"{SIGNER.key}\n")
    (folder / "verify.py").write_bytes(Path(standalone.__file__).read_bytes())
    return folder


def verified(folder: Path, *keys: str) -> tuple[int, str]:
    """Run it as whoever got the export does: isolated, without site packages."""
    command = [sys.executable, "-I", "-S", "-W", "error", str(folder / "verify.py"), *keys]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={})
    assert done.stderr == ""
    return done.returncode, done.stdout.strip()


def test_a_good_export_is_true(tmp_path: Path) -> None:
    folder = an_export(tmp_path)
    said = "true: 5 events are in the log log.example/a, as it was at 100 events"
    assert verified(folder, str(SIGNER.key)) == (0, said)
    own = f"{said} (by keys.txt: compare it with the key that you know)"
    assert verified(folder) == (0, own)


@pytest.mark.parametrize("given", ["keys.txt", "a+b+c", "a+b", "log+1+AAAA"])
def test_what_is_no_key_is_told_as_that(tmp_path: Path, given: str) -> None:
    code, said = verified(an_export(tmp_path), str(SIGNER.key), given)
    assert (code, said) == (2, f"`{given}` is no key: give its text, NAME+HASH+KEY, and no file")


def test_what_follows_the_last_event_is_not_passed_over(tmp_path: Path) -> None:
    folder = an_export(tmp_path)
    events = folder / "events.jsonl"
    events.write_bytes(events.read_bytes() + b'{"event":101}')  # without a line end
    assert verified(folder) == (1, "FALSE: there are not as many proofs as events")


def edited(name: str, edit: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).write_bytes(edit((folder / name).read_bytes()))

    return change


def without_a_line(data: bytes) -> bytes:
    return b"\n".join(data.split(b"\n")[1:])


def swapped(data: bytes) -> bytes:
    first, second, *rest = data.split(b"\n")
    return b"\n".join([second, first, *rest])


def without_proofs(folder: Path) -> None:
    (folder / "proofs.txt").unlink()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (edited("events.jsonl", lambda data: data.replace(b"50", b"51")), "line 3 is not event 50"),
        (edited("events.jsonl", without_a_line), "not as many proofs"),
        (edited("events.jsonl", swapped), "line 1 is not event 2"),
        (edited("proofs.txt", swapped), "line 1 is not event 3"),
        (edited("proofs.txt", lambda data: data.replace(b"99 ", b"98 ")), "line 4 is not event 98"),
        (edited("proofs.txt", lambda data: data.replace(b"50 ", b"x ")), "can't be read"),
        (edited("checkpoint.txt", lambda data: data.replace(b"100", b"101")), "not signed"),
        (edited("checkpoint.txt", lambda data: data.partition(b"\n\n")[0]), "can't be read"),
        (
            edited(
                "keys.txt", lambda _: str(Signer(name="log.example/a", seed=b"2" * 32).key).encode()
            ),
            "not signed",
        ),
        (without_proofs, "can't be read"),
    ],
)
def test_whatever_was_tampered_with_is_false(
    tmp_path: Path, change: Callable[[Path], None], told: str
) -> None:
    folder = an_export(tmp_path)
    change(folder)
    code, said = verified(folder)
    assert code == 1
    assert said.startswith("FALSE: ")
    assert told in said


def test_events_and_proofs_given_twice_are_false(tmp_path: Path) -> None:
    folder = an_export(tmp_path)
    for name in ("events.jsonl", "proofs.txt"):
        edited(name, lambda data: data + data)(folder)
    assert verified(folder)[0] == 1


# RFC 8032, section 7.1, tests 1 to 3: public key, message, signature.
VECTORS = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bac"
        "c61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e"
        "458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290"
        "ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
]


@pytest.mark.parametrize(("public", "message", "signature"), VECTORS)
def test_signatures_of_the_rfc_hold_and_others_do_not(
    public: str, message: str, signature: str
) -> None:
    key, text, made = map(bytes.fromhex, (public, message, signature))
    assert standalone.signature_holds(key, text, made)
    assert not standalone.signature_holds(key, text + b" ", made)
    assert not standalone.signature_holds(key, text, made[:32] + bytes(32))
    assert not standalone.signature_holds(key[:-1], text, made)
    assert not standalone.signature_holds(b"\xff" * 32, text, made)
    too_large = int.from_bytes(made[32:], "little") + standalone.L
    assert not standalone.signature_holds(key, text, made[:32] + too_large.to_bytes(32, "little"))


@hypothesis_settings(max_examples=20)
@given(st.binary(min_size=32, max_size=32), st.text(max_size=80), st.integers(0, 511))
def test_it_judges_signatures_as_the_library_does(seed: bytes, text: str, bit: int) -> None:
    signer = Signer(name="a", seed=seed)
    made = signer.sign(text)
    flipped = (int.from_bytes(made, "big") ^ 1 << bit).to_bytes(64, "big")
    for each in (made, flipped):
        held = standalone.signature_holds(signer.key.public, text.encode(), each)
        assert held == signer.key.verifies(text, each)
