"""Read the word lists that names and contents of every world are made of.

    from authoring.templates.words import EXTENSIONS, WORDS

The words are short and common, so that a small tokenizer can hold each as one token. None of them is a shell command or
occurs in the sentences around the names: `world.masked` finds names by these lists alone.
"""

from pathlib import Path


def read_words(name: str) -> tuple[str, ...]:
    """The words of a file beside this one, which are separated by whitespace, in the file's order."""
    return tuple((Path(__file__).parent / name).read_text().split())


WORDS = read_words("words.txt")
CALLS = read_words("calls.txt")  # the words that provider programs are called with (providers.py)
CALLED = read_words("called.txt")  # further words in the names of programs, calls and keys
EXTENSIONS = read_words("extensions.txt")
