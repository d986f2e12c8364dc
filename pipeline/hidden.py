r"""Show characters that a terminal or a browser would obey or hide as text.

    as_text("\x1b[31mred\u202e")      # ESC[31mred U+202E, both names in angle quotes

Newline and tab stay as they are. The page of report.py gets the same ranges (pages/document.py).
"""

import json

HIDDEN: tuple[tuple[int, int], ...] = (
    (0x00, 0x08),
    (0x0B, 0x1F),
    (0x7F, 0x9F),
    (0xAD, 0xAD),  # soft hyphen
    (0x34F, 0x34F),  # joins letters, and shows nothing itself
    (0x61C, 0x61C),  # bidirectional, as are 200E, 200F, 202A to 202E and 2066 to 2069
    (0x115F, 0x1160),  # a filler, as are 3164 and FFA0: an empty place for a letter
    (0x180E, 0x180E),
    (0x200B, 0x200F),
    (0x2028, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xD800, 0xDFFF),  # half of a surrogate pair
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF9, 0xFFFB),
    (0xE0000, 0xE007F),  # tags, which show nothing
)


CONTROL_NAMES = (
    *("NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "HT", "LF", "VT", "FF", "CR", "SO", "SI", "DLE"),
    *("DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US"),
)  # of the first 32


def name_of(code: int) -> str:
    """How one of these characters is shown: its name where it has a short one, else its number, in angle quotes."""
    name = CONTROL_NAMES[code] if code < len(CONTROL_NAMES) else "DEL" if code == 0x7F else f"U+{code:04X}"
    return f"«{name}»"


_CODES = [code for first, last in HIDDEN for code in range(first, last + 1)]
_NAMES = {code: name_of(code) for code in _CODES}
_ESCAPES = {code: json.dumps(chr(code))[1:-1] for code in _CODES}


def replace_surrogates(text: str) -> str:
    """The text with U+FFFD for each half of a surrogate pair that stands alone: UTF-8 has no bytes for one."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def as_text(text: str) -> str:
    """The text with the name of each hidden character in its place."""
    return text.translate(_NAMES)


def as_escapes(json_text: str) -> str:
    r"""The same JSON document with a \u escape for each hidden character."""
    return json_text.translate(_ESCAPES)
