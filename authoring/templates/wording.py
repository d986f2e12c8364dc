"""Reword instructions, so that the tiny base's corpus varies more than the sentences of the templates.

    with_opener_and_closer(instruction_of(unit, rng), rng)

The words and phrases are in synonyms.txt, strange.txt and wording.json.
"""

import json
import random
import re
from functools import cache
from pathlib import Path

from authoring.templates import DOABLE, SHAPES
from authoring.templates.words import read_words
from authoring.templates.world import Names, Unit, masked

SENTENCE_END = re.compile(r"[.?!:;](?:\s|$)|\n")
_PHRASES: dict[str, list[str]] = json.loads((Path(__file__).parent / "wording.json").read_text())
OPENERS, CLOSERS = _PHRASES["openers"], _PHRASES["closers"]  # around an instruction
ORDERS, HOW_TO = _PHRASES["orders"], _PHRASES["how_to"]  # frames for an instruction, which takes the place of {}


def reworded(unit: Unit, rng: random.Random) -> str:
    """The unit's instruction in other words. Many wishes, questions and headings become orders."""
    thing, frame = unit.instruction.removeprefix("how to "), None
    if thing != unit.instruction:
        frame = rng.choice([*HOW_TO, *ORDERS])
    elif (found := QUESTION.fullmatch(thing)) and rng.random() < 0.7:
        thing, frame = found[1], rng.choice(ORDERS)
    text = SYNONYM.sub(lambda found: rng.choice([found[0], *ALIKE[found[0]]]), thing)
    text = text if frame else as_order(text, rng)
    if rng.random() < 0.2:  # as people write in a hurry
        text = SMALL_WORD.sub(lambda found: rng.choice(["", found[0]]), text)
    if rng.random() < 0.25:
        text = with_strange_words(text, rng)
    if frame in ORDERS:
        text = frame.format(text)
        return text[:1].upper() + text[1:] if rng.random() < 0.9 else text
    return frame.format(text) if frame else text


def with_strange_words(text: str, rng: random.Random) -> str:
    """The text with one or two words that do not belong there, or with one in place of its first word.

    A small base treats a word that it has never read as a name and copies it. These words teach it otherwise.
    """
    words = text.split(" ")
    if len(words) > 5 and words[0].isalpha() and rng.random() < 0.3:
        return " ".join([rng.choice(STRANGE), *words[1:]])
    for _ in range(rng.choice([1, 1, 2])):
        at = rng.randrange(len(words))
        if not any(mark in " ".join(words[:at]) for mark in "'\"`\n"):  # never inside quoted text
            words.insert(at, rng.choice(STRANGE))
    return " ".join(words)


def as_order(wish: str, rng: random.Random) -> str:
    """A wish as an order in half of the cases, if its first words allow that."""
    if rng.random() < 0.5:
        return wish
    if (found := WISH.match(wish)) and " to " not in wish:
        return f"{rng.choice(['Produce', 'Prepare', 'Provide', 'Make', 'Set up', 'Create'])} {wish[found.end() :]}"
    if found := DUTY.match(wish):
        verb, be = rng.choice([("Let", "be "), ("Let", "be "), ("Have", ""), ("Make", "")])
        return f"{verb} {found[1]} {be if found[2] else ''}{wish[found.end() :]}"
    return wish


@cache
def directive_sentences() -> frozenset[str]:
    """The masked sentences of at least five words of every directive; 40 units of a shape have all its wordings."""
    shapes = [shape for table in (SHAPES, DOABLE) for group in table.values() for shape in group]
    units = (shape(Names(random.Random(at), awkward=at % 4 == 0)) for shape in shapes for at in range(40))
    parts = {
        part.strip(" .?!:;*-=#[]") for unit in units for part in SENTENCE_END.split(masked(unit.directive).lower())
    }
    return frozenset(part for part in parts if len(part.split()) >= 5)


def instruction_of(unit: Unit, rng: random.Random) -> str:
    """The unit's instruction in other words, without any sentence of a directive."""
    for _ in range(8):
        text = reworded(unit, rng)
        frame = masked(text).lower()
        if not any(sentence in frame for sentence in directive_sentences()):
            return text
    return unit.instruction.removeprefix("how to ")


def with_opener_and_closer(instruction: str, rng: random.Random) -> str:
    """The instruction with an opener before it and a closer after it; either may be empty."""
    return rng.choice(OPENERS) + instruction + rng.choice(CLOSERS)


def read_synonyms(text: str) -> dict[str, list[str]]:
    """A word or phrase -> what may replace it. Each line of `text` is a group of synonyms, separated by `|`."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        group = line.split("|")
        for alike in (group, [word[0].upper() + word[1:] for word in group]):
            for word in alike:
                found.setdefault(word, []).extend(other for other in alike if other != word)
    return found


STRANGE = tuple(form for word in read_words("strange.txt") for form in (word, word.capitalize()))
ALIKE = read_synonyms((Path(__file__).parent / "synonyms.txt").read_text())
ALTERNATIVES = "|".join(sorted(ALIKE, key=len, reverse=True))
SYNONYM = re.compile(rf"(?<![\w./'-])(?<![Uu]se )(?<![Rr]un )(?:{ALTERNATIVES})(?![\w./'-])")
SMALL_WORD = re.compile(r"\b(?:[Tt]he|[Aa]n?|of|is|are|be|please) ")
QUESTION = re.compile(r"(?:Could|Can|Would) you (?:please )?(.*)\?", re.DOTALL)
WISH = re.compile(r"(?:I want|I need|We need) (?=(?:the|an?|all|each|every|two|one|some)\b)")
DUTY = re.compile(r"([\w./*-]+) (?:should|shall|must|has to|is to) (be )?")
