"""Values that try to look like something else to an approver, and what he has to see of them."""

from dataclasses import dataclass, field

from gateway.approvals.marks import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoof:
    """A value, what must be readable of it, and what it must be marked as."""

    name: str
    value: str
    seen: tuple[str, ...]  # each of these is in the shown text, or in a note beside it
    kinds: tuple[Kind, ...] = ()
    hidden: str = field(default="")  # characters that never reach a screen as they are


SPOOFS = (
    # --- direction
    Spoof(name="right-to-left override", value="invoice\u202efdp.exe",
          seen=("invoice\\u{202E}fdp.exe",), kinds=(Kind.BIDI,), hidden="\u202e"),
    Spoof(name="isolates that swap a sum", value="\u2067900\u2069\u2066 1\u2069",
          seen=("\\u{2067}900\\u{2069}\\u{2066} 1\\u{2069}",), kinds=(Kind.BIDI,),
          hidden="\u2066\u2067\u2069"),
    Spoof(name="embedding", value="\u202aa\u202bb\u202cc\u202d",
          seen=("\\u{202A}a\\u{202B}b\\u{202C}c\\u{202D}",), kinds=(Kind.BIDI,),
          hidden="\u202a\u202b\u202c\u202d"),
    Spoof(name="direction marks", value="100\u200f/\u200e200\u061c",
          seen=("100\\u{200F}/\\u{200E}200\\u{61C}",), kinds=(Kind.BIDI,),
          hidden="\u200e\u200f\u061c"),
    Spoof(name="letters that turn their neighbours", value="pay 100 \u05e9\u05dc\u05d5\u05dd 900",
          seen=("right to left",), kinds=(Kind.RIGHT_TO_LEFT,)),
    # --- nothing to see
    Spoof(name="zero width space", value="ad\u200bmin", seen=("ad\\u{200B}min",),
          kinds=(Kind.ZERO_WIDTH,), hidden="\u200b"),
    Spoof(name="joiners", value="a\u200cb\u200dc\u2060d\ufeffe",
          seen=("a\\u{200C}b\\u{200D}c\\u{2060}d\\u{FEFF}e",), kinds=(Kind.ZERO_WIDTH,),
          hidden="\u200c\u200d\u2060\ufeff"),
    Spoof(name="soft hyphen", value="pay\u00adpal", seen=("pay\\u{AD}pal",),
          kinds=(Kind.ZERO_WIDTH,), hidden="\u00ad"),
    Spoof(name="a hundred of them", value="a" + "\u200b" * 100 + "b",
          seen=("a\\u{200B ×100}b",), kinds=(Kind.ZERO_WIDTH,), hidden="\u200b"),
    Spoof(name="tag characters with an order in them",
          value="ok" + "".join(chr(0xE0000 + ord(each)) for each in "approve"),
          seen=("ok\\u{E0061}\\u{E0070}\\u{E0070}\\u{E0072}\\u{E006F}\\u{E0076}\\u{E0065}",),
          kinds=(Kind.TAG,), hidden="\U000e0061\U000e0070"),
    Spoof(name="variation selectors that carry bytes", value="ok\U000e0101\ufe0f",
          seen=("ok\\u{E0101}\\u{FE0F}",), kinds=(Kind.SELECTOR,), hidden="\U000e0101\ufe0f"),
    Spoof(name="blanks that are no space", value="a\u00a0b\u3000c\u2800d\u3164e\u115ff",
          seen=("a\\u{A0}b\\u{3000}c\\u{2800}d\\u{3164}e\\u{115F}f",), kinds=(Kind.BLANK,),
          hidden="\u00a0\u3000\u2800\u3164\u115f"),
    Spoof(name="blanks that push the rest away", value="c-1001" + " " * 400 + "and c-1002",
          seen=("c-1001\\u{20 ×400}and c-1002",)),
    Spoof(name="blanks at the ends", value=" c-1001 ", seen=("\\u{20}c-1001\\u{20}",)),
    Spoof(name="private use", value="\ue000\U000f0000", seen=("\\u{E000}\\u{F0000}",),
          kinds=(Kind.PRIVATE,), hidden="\ue000\U000f0000"),
    Spoof(name="unassigned", value="a\u0378b", seen=("a\\u{378}b",), kinds=(Kind.UNASSIGNED,),
          hidden="\u0378"),
    # --- terminals and lines
    Spoof(name="ANSI that clears the screen", value="\x1b[2J\x1b[1;1HRefund 1 EUR",
          seen=("\\u{1B}[2J\\u{1B}[1;1HRefund 1 EUR",), kinds=(Kind.CONTROL,), hidden="\x1b"),
    Spoof(name="a link of a terminal", value="\x1b]8;;https://evil.example\x07ok\x1b]8;;\x07",
          seen=("\\u{1B}]8;;https://evil.example\\u{7}ok",), kinds=(Kind.CONTROL,),
          hidden="\x1b\x07"),
    Spoof(name="C1 and DEL", value="\x9b2J\x7f\x85", seen=("\\u{9B}2J\\u{7F}\\u{85}",),
          kinds=(Kind.CONTROL,), hidden="\x9b\x7f\x85"),
    Spoof(name="backspaces", value="900\b\b\b1", seen=("900\\u{8}\\u{8}\\u{8}1",),
          kinds=(Kind.CONTROL,), hidden="\b"),
    Spoof(name="carriage return over the line", value="amount 900\ramount 1",
          seen=("amount 900\\u{D}amount 1",), kinds=(Kind.CONTROL,), hidden="\r"),
    Spoof(name="a row of its own", value="x\nAmount: 1\n\tApproved by: cfo",
          seen=("x⏎Amount: 1⏎⇥Approved by: cfo",), hidden="\n\t"),
    Spoof(name="line separators", value="x\u2028y\u2029z", seen=("x\\u{2028}y\\u{2029}z",),
          kinds=(Kind.CONTROL,), hidden="\u2028\u2029"),
    Spoof(name="marks that climb over the lines around", value="a" + "\u0301\u0302" * 20,
          seen=("\\u{301}\\u{302}",)),
    # --- letters
    Spoof(name="a Cyrillic letter in a Latin word", value="p\u0430ypal",
          seen=("`p\\u{430}ypal` mixes Cyrillic and Latin",), kinds=(Kind.MIXED_SCRIPTS,)),
    Spoof(name="a Greek letter in a Latin word", value="\u03bfrder",
          seen=("mixes Greek and Latin",), kinds=(Kind.MIXED_SCRIPTS,)),
    Spoof(name="a whole word that looks Latin", value="\u0440\u0430\u0443\u0440\u0430\u04cf",
          seen=("is Cyrillic, and looks like Latin",), kinds=(Kind.LOOKALIKE,)),
    Spoof(name="mathematical letters", value="\U0001d429\U0001d41a\U0001d432",
          seen=("other forms of `pay`",), kinds=(Kind.STYLED,)),
    Spoof(name="fullwidth digits", value="\uff11\uff10\uff10", seen=("other forms of `100`",),
          kinds=(Kind.STYLED,)),
    # --- addresses
    Spoof(name="an encoded host", value="https://xn--pypal-4ve.com/pay",
          seen=("`xn--pypal-4ve` stands for `p\\u{430}ypal`",), kinds=(Kind.HOST,)),
    Spoof(name="a login that looks like the host", value="https://bank.example@evil.example/",
          seen=("goes to `evil.example`, and not to `bank.example`",), kinds=(Kind.HOST,)),
    Spoof(name="a slash that is none", value="https://bank.example\u2215a.evil.example/",
          seen=("`bank.example\\u{2215}a.evil.example` is not written in plain letters",),
          kinds=(Kind.HOST,)),
    # --- languages of surfaces
    Spoof(name="HTML", value='<b>approved</b><script>alert(1)</script><img src=x onerror="x()">',
          seen=('<b>approved</b><script>alert(1)</script><img src=x onerror="x()">',)),
    Spoof(name="HTML that ends what it is in", value='"></td></tr><form action=/approvals>',
          seen=('"></td></tr><form action=/approvals>',)),
    Spoof(name="entities", value="&lt;b&gt; &#x202e; &amp;", seen=("&lt;b&gt; &#x202e; &amp;",)),
    Spoof(name="markdown", value="**APPROVED** [click](https://evil.example) `x`",
          seen=("**APPROVED** [click](https://evil.example) `x`",)),
    Spoof(name="the markup of a chat", value="<!channel> <https://evil.example|bank> *ok*",
          seen=("<!channel> <https://evil.example|bank> *ok*",)),
    # --- our own signs
    Spoof(name="an escape that is none", value="\\u{202E}abc", seen=("\\u{5C}u{202E}abc",)),
    Spoof(name="a line end that is none", value="a⏎b⇥c", seen=("a\\u{23CE}b\\u{21E5}c",)),
    Spoof(name="a number that is a text", value="100", seen=('"100"',)),
    Spoof(name="a mask that is none", value="(hidden: 6 characters)",
          seen=('"(hidden: 6 characters)"',)),
    Spoof(name="nothing", value="", seen=('""',)),
    # --- size
    Spoof(name="100 KB with the sting in the middle",
          value="a" * 50_000 + " and delete everything " + "b" * 50_000,
          seen=("100,023 characters in all", " and delete everything ")),
    Spoof(name="100 KB of nothing to see", value="\u200b\u200d" * 50_000,
          seen=("100,000 characters in all",), kinds=(Kind.ZERO_WIDTH,), hidden="\u200b\u200d"),
)  # fmt: skip
