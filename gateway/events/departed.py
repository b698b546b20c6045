"""What left the log, held against what the log itself says of it.

Rows of archives are nothing that anybody signed: whoever owns the database can add one, and then
delete the beginning. What proves that events went into a sealed file is the event that says so,
under a checkpoint.
"""

from collections.abc import Mapping, Sequence

from gateway.events.faults import Fault, FaultKind
from gateway.events.tiles import WIDTH
from gateway.events.upkeep import Left


def faults(
    kept: Sequence[Left], told: Mapping[int, Left], *, start: int, covered: int
) -> list[Fault]:
    """Return what is wrong with the kept archives, smallest first.

    Events were read from `start` on, and `told` is what those say, by their numbers; checkpoints
    cover them up to `covered`. What was archived before the last archive that nobody read may be
    told by an event that was archived as well.
    """
    found: list[Fault] = []
    after = 0
    for each in kept:
        what = _wrong(each, told, start=start, covered=covered)
        if what:
            found.append(_fault(after, each.last, what))
        after = each.last
    if start and all(each.last != start for each in kept):
        found.append(_fault(0, start, "the store knows of no archive that ends here"))
    return found


def _wrong(each: Left, told: Mapping[int, Left], *, start: int, covered: int) -> str:
    if each.last <= 0 or each.last % WIDTH:
        return f"an archive ends at {each.last}, and only whole tiles of {WIDTH} ever go"
    numbers = [seq for seq, left in told.items() if left == each and seq > each.last]
    if each.last < start:
        return ""
    if not numbers:
        return "gone into an archive, as the store says, and no event of the log says so"
    if each.last == start and min(numbers) > covered:  # those that were read prove themselves
        return f"event {min(numbers)} says that they were archived, and no checkpoint covers it"
    return ""


def _fault(after: int, last: int, what: str) -> Fault:
    first = min(after + 1, last)
    return Fault(kind=FaultKind.ARCHIVED, first=first, last=last, what=what)
