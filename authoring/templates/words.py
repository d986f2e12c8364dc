"""Read the word lists that names and contents of every world are made of.

    from authoring.templates.words import EXTENSIONS, WORDS

The words are short and common. None of them is a shell command or occurs in the sentences around the names:
`world.masked` finds names by these lists alone.
"""

from pathlib import Path


def read_words(name: str) -> tuple[str, ...]:
    """The words of a file beside this one, which are separated by whitespace, in the file's order."""
    return tuple((Path(__file__).parent / name).read_text().split())


WORDS = read_words("words.txt")
EXTENSIONS = read_words("extensions.txt")
