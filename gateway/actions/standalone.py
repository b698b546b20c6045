"""Verify an export of Weighbridge's event log: `python verify.py [KEY]`, nothing to install.

Beside this file: `events.jsonl` (an event a line, byte for byte), `proofs.txt` (its number and its
way to the root of the tree), `checkpoint.txt` (root and size, signed) and `keys.txt` (who may sign;
give the KEY that you got from elsewhere instead: its text, NAME+HASH+KEY). Python 3.9 or later.
Exit code 0: all is proven; 1: it is not; 2: what was given is no key.
"""

from __future__ import annotations

import base64
import hashlib
import sys
from pathlib import Path

P = 2**255 - 19  # Ed25519 as in RFC 8032, section 6
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)
Point = tuple[int, int, int, int]  # extended coordinates


def _sha(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def _x(y: int, sign: int) -> int | None:
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT % P
    if y >= P or (x * x - square) % P or (x == 0 and sign):
        return None
    return P - x if x & 1 != sign else x


def _point(data: bytes) -> Point | None:
    number = int.from_bytes(data, "little")
    y = number & (2**255 - 1)
    x = _x(y, number >> 255)
    return None if x is None else (x, y, 1, x * y % P)


def _add(p: Point, q: Point) -> Point:
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def _times(scalar: int, point: Point) -> Point:
    found = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            found = _add(found, point)
        point, scalar = _add(point, point), scalar >> 1
    return found


def signature_holds(public: bytes, text: bytes, signature: bytes) -> bool:
    """Whether an Ed25519 signature over some bytes was made with the key."""
    if len(public) != 32 or len(signature) != 64:
        return False
    a, r, s = _point(public), _point(signature[:32]), int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= L:
        return False
    number = int.from_bytes(hashlib.sha512(signature[:32] + public + text).digest(), "little") % L
    base_y = 4 * pow(5, P - 2, P) % P
    base_x = _x(base_y, 0) or 0
    left = _times(s, (base_x, base_y, 1, base_x * base_y % P))
    right = _add(r, _times(number, a))
    return all((left[i] * right[2] - right[i] * left[2]) % P == 0 for i in (0, 1))


def leads_to(leaf: bytes, index: int, size: int, path: list[bytes], root: bytes) -> bool:
    """Whether a leaf is at a place of a tree (RFC 9162, section 2.1.3.2)."""
    number, last = index, size - 1
    for step in path:
        if last == 0:
            return False
        if number & 1 or number == last:
            leaf = _sha(b"\x01" + step + leaf)
            while number and not number & 1:
                number, last = number >> 1, last >> 1
        else:
            leaf = _sha(b"\x01" + leaf + step)
        number, last = number >> 1, last >> 1
    return index < size and last == 0 and leaf == root


def signed_head(note: str, keys: list[str]) -> tuple[str, int, bytes] | None:
    """Return origin, size and root of a checkpoint that one of the keys has signed, or None."""
    text, _, lines = note.rpartition("\n\n")
    text += "\n"
    for key in keys:
        name, _, data = key.strip().split("+", 2)
        public = base64.b64decode(data)[1:]
        named = _sha(name.encode() + b"\n\x01" + public)[:4]
        for line in lines.splitlines():
            made = base64.b64decode(line.rpartition(" ")[2])
            if line.startswith(f"\u2014 {name} ") and made[:4] == named:
                origin, size, root = text.splitlines()[:3]
                if origin == name and signature_holds(public, text.encode(), made[4:]):
                    return origin, int(size), base64.b64decode(root)
    return None


def is_key(text: str) -> bool:
    """Whether a text has the form of a key, which is not that of a file's name."""
    try:
        _, _, data = text.strip().split("+", 2)
        return len(base64.b64decode(data, validate=True)) == 33
    except ValueError:
        return False


def main(folder: Path, given: list[str]) -> tuple[str, int]:
    """Verify everything in a folder; return what to say and the exit code."""
    for each in given:
        if not is_key(each):
            return f"`{each}` is no key: give its text, NAME+HASH+KEY, and no file", 2
    keys = given or (folder / "keys.txt").read_text("utf-8").split()
    head = signed_head((folder / "checkpoint.txt").read_text("utf-8"), keys)
    if head is None:
        return "FALSE: the checkpoint is not signed by the key", 1
    origin, size, root = head
    *events, rest = (folder / "events.jsonl").read_bytes().split(b"\n")
    proofs = (folder / "proofs.txt").read_text("ascii").splitlines()
    before = 0
    if rest or len(events) != len(proofs):
        return "FALSE: there are not as many proofs as events", 1
    for number, event in enumerate(events, 1):
        seq, *path = proofs[number - 1].split()
        hashes = [base64.b64decode(each) for each in path]
        leaf = _sha(b"\x00" + event)
        if int(seq) <= before or not leads_to(leaf, int(seq) - 1, size, hashes, root):
            return f"FALSE: line {number} is not event {seq} of the log", 1
        before = int(seq)
    told = f"true: {len(events)} events are in the log {origin}, as it was at {size} events"
    return told if given else f"{told} (by keys.txt: compare it with the key that you know)", 0


if __name__ == "__main__":
    try:
        said, code = main(Path(__file__).resolve().parent, sys.argv[1:])
    except (OSError, ValueError) as error:
        said, code = f"FALSE: the export can't be read: {error}", 1
    print(said)
    sys.exit(code)
