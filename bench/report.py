"""Makes the tables and the picture of docs/explanation/speed.md from results.

python -m bench.report [RESULTS.json]: writes between the marks of the page what was measured.
"""

import json
import math
import re
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs/explanation/speed.json"
PAGE = ROOT / "docs/explanation/speed.md"
PICTURE = ROOT / "docs/pictures/speed.svg"
_MARKS = "<!-- bench: {name} -->\n", "<!-- bench ends -->\n"
_SHOWN = "200 B, 16 callers"
_TITLES = {
    "eras": "By era and transport",
    "stores": "By store, and with traces",
    "workers": "Several workers",
    "fields": "A result of 32 KB, minimised",
    "rules": "Many rules",
    "list": "A long list",
    "memory": "Memory over many calls",
}


def median(rounds: list[dict], cell: str, what: str) -> float:
    return statistics.median(one["cells"][cell][what] for one in rounds)


def ratios(part: dict, name: str, cell: str, what: str) -> list[float]:
    """The target by the base of the part, round by round."""
    base = part["targets"].get(part["base"], [])
    pairs = zip(part["targets"][name], base, strict=False)
    found = [(mine["cells"][cell][what], other["cells"][cell][what]) for mine, other in pairs]
    return [mine / other for mine, other in found if other]


def ratio(part: dict, name: str, cell: str, what: str) -> str:
    found = ratios(part, name, cell, what)
    if not found:
        return "–"
    middle = statistics.median(found)
    if len(found) == 1 or name == part["base"]:
        return f"{middle:.2f}"
    return f"{middle:.2f} ({min(found):.2f} to {max(found):.2f})"


def table(name: str, part: dict) -> str:
    """A part as Markdown."""
    if name == "memory":
        return memory(part)
    if name == "start":
        return starts(part)
    base, direct = part["base"], part["targets"].get("direct")
    added = " added p50 | added p99 |" if direct else ""
    lines = [
        f"| load | target | CPU ms a call | × {base} | calls/s | × {base} "
        f"| p50 ms | p95 ms | p99 ms |{added}",
        "|" + " --- |" * (11 if direct else 9),
    ]
    cells = next(iter(part["targets"].values()))[0]["cells"]
    for cell in cells:
        for target, rounds in part["targets"].items():
            cpu = median(rounds, cell, "cpu_ms")
            values = [
                cell,
                target,
                f"{cpu:.3f}" if cpu else "–",
                ratio(part, target, cell, "cpu_ms") if cpu else "–",
                f"{median(rounds, cell, 'per_second'):.0f}",
                ratio(part, target, cell, "per_second"),
                *(f"{median(rounds, cell, each) / 1000:.2f}" for each in ("p50", "p95", "p99")),
            ]
            if direct:
                values += [
                    f"{(median(rounds, cell, each) - median(direct, cell, each)) / 1000:.2f}"
                    for each in ("p50", "p99")
                ]
            lines.append("| " + " | ".join(values) + " |")
    lines += [
        f"\nLeft out, as it could not be measured: {target} (`{why}`)."
        for target, why in part.get("left_out", {}).items()
    ]
    return "\n".join(lines) + "\n"


def starts(part: dict) -> str:
    lines = [
        "| target | start to the first right answer, s | memory at rest, MiB (PSS) | RSS, MiB |",
        "| --- | --- | --- | --- |",
    ]
    for target, rounds in part["targets"].items():
        values = [
            statistics.median(one[what] for one in rounds)
            for what in ("cold_start_s", "idle_mib", "idle_rss_mib")
        ]
        lines.append(f"| {target} | {values[0]:.2f} | {values[1]:.0f} | {values[2]:.0f} |")
    return "\n".join(lines) + "\n"


def memory(part: dict) -> str:
    return (
        f"Over {part['calls']} calls of 16 callers, RSS was {part['median_mib']:.0f} MiB, and "
        f"after the first tenth never further from that than {part['spread']:.1%}.\n"
    )


def whole(results: dict) -> str:
    """All parts as one Markdown text."""
    parts = results["parts"]
    return "\n".join(
        f"## {name}: {part['about']}\n\n{table(name, part)}" for name, part in parts.items()
    )


def picture(results: dict) -> str:
    """CPU of one call for each target, on a logarithmic scale."""
    part = results["parts"]["hop"]
    found = {
        name: median(rounds, _SHOWN, "cpu_ms")
        for name, rounds in part["targets"].items()
        if name != "direct"
    }
    order = sorted(found.items(), key=lambda item: item[1])
    low = 10 ** math.floor(math.log10(order[0][1]))
    high = 10 ** math.ceil(math.log10(order[-1][1]))
    left, width, step = 190, 470, 30
    height = 74 + step * len(order)

    def place(value: float) -> float:
        return left + width * math.log(value / low) / math.log(high / low)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="760" height="{height}" '
        f'viewBox="0 0 760 {height}" role="img" aria-label="CPU of one call">',
        "<style>text{font:13px system-ui,sans-serif;fill:#24292f}.axis{fill:#57606a;font-size:11px}"
        "line{stroke:#d0d7de}rect{fill:#8c959f}.own{fill:#0969da}"
        "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.axis{fill:#8b949e}"
        "line{stroke:#30363d}rect{fill:#6e7681}.own{fill:#58a6ff}}</style>",
        '<text x="12" y="22">CPU of the gateway for one call, in ms: 200 bytes, 16 callers '
        "(logarithmic)</text>",
    ]
    for power in range(round(math.log10(low)), round(math.log10(high)) + 1):
        x = place(10.0**power)
        lines.append(f'<line x1="{x:.0f}" y1="36" x2="{x:.0f}" y2="{height - 26}"/>')
        lines.append(
            f'<text class="axis" x="{x:.0f}" y="{height - 10}" text-anchor="middle">'
            f"{10.0**power:g}</text>"
        )
    for number, (name, value) in enumerate(order):
        y = 42 + step * number
        own = ' class="own"' if name.startswith("weighbridge") else ""
        wide = max(2.0, place(value) - left)
        lines.append(f'<text x="{left - 10}" y="{y + 14}" text-anchor="end">{name}</text>')
        lines.append(f'<rect{own} x="{left}" y="{y}" width="{wide:.0f}" height="18" rx="2"/>')
        lines.append(f'<text x="{left + wide + 8:.0f}" y="{y + 14}">{value:.3g}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def filled(page: str, results: dict) -> str:
    """The page with what is between its marks made anew."""
    parts = results["parts"]
    made = {name: table(name, parts[name]) for name in ("hop", "start") if name in parts}
    if "hop" in made:
        shown = "![CPU of the gateway for one call, by target](../pictures/speed.svg)"
        made["hop"] = f"{_seen(results, 'hop')}\n\n{shown}\n\n{made['hop']}"
    rest = [
        f"## {_TITLES[name]}\n\n{_seen(results, name)}\n\n{table(name, part)}"
        for name, part in parts.items()
        if name not in made
    ]
    made["rest"] = "\n".join(rest)
    for name, text in made.items():
        begins, ends = _MARKS[0].format(name=name), _MARKS[1]
        page = re.sub(
            re.escape(begins) + ".*?" + re.escape(ends),
            lambda _, whole=f"{begins}\n{text}\n{ends}": whole,
            page,
            flags=re.DOTALL,
        )
    return page


def _seen(results: dict, name: str) -> str:
    part = results["parts"][name]
    about = part["about"][0].upper() + part["about"][1:]
    rounds = f"{part['rounds']} rounds of {part['seconds']:g} s a load"
    return f"{about}. Seen on {part['at']} with `--part {name}`, {rounds}, {results['machine']}."


def main() -> None:
    results = json.loads(Path(sys.argv[1] if len(sys.argv) > 1 else RESULTS).read_text())
    PAGE.write_text(filled(PAGE.read_text(), results))
    if "hop" in results["parts"]:
        PICTURE.write_text(picture(results))


if __name__ == "__main__":
    main()
