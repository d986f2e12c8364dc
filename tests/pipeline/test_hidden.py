"""Characters that a terminal or a browser would obey or hide are shown as text; all others stay as they are."""

import unicodedata

from pipeline.hidden import as_text


def test_no_control_format_or_surrogate_character_is_left() -> None:
    for code in range(0x110000):
        character = chr(code)
        shown = as_text(character)
        if code in EMPTY:
            assert shown == f"«U+{code:04X}»"
        elif unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in "\n\t":
            # Signs of Arabic, Kaithi and Egyptian numbers and of musical notation are format characters and show.
            assert shown != character or code in SHOWN, hex(code)
        else:
            assert shown == character or unicodedata.category(character) == "Cn", hex(code)


EMPTY = {0x34F, 0x115F, 0x1160, 0x3164, 0xFFA0}  # letters and marks that show nothing
SHOWN = {
    *range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x13430, 0x13440),
    *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B),
}  # fmt: skip


def test_names_are_those_of_ascii_or_numbers() -> None:
    assert as_text("a\x1b[0m\x00\r\x7f\x9b\u202e\U000e0041\n\tz") == (
        "a«ESC»[0m«NUL»«CR»«DEL»«U+009B»«U+202E»«U+E0041»\n\tz"
    )
