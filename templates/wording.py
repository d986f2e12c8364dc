"""Say an instruction in other words: what the tiny base reads varies more than what the shapes wrote.

    from templates.wording import asked

Reads   nothing
Writes  nothing
Needs   nothing
"""

import random
import re

from templates.world import Unit

OPENERS = [
    "", "", "", "", "Please: ", "Next: ", "Job: ", "To do: ", "Now: ", "Wanted: ", "- ", "* ", "Request: ", "Also: ",
    "Task for today. ", "One more. ", "Hello. ", "> ", "# ", "Note: ", "today: ", "Entry. ",
]  # fmt: skip
CLOSERS = ["", "", "", "", "", " Thanks.", " That is all.", " No hurry.", " Nothing else.", "\n-- kim", " (kim)"]


def worded(unit: Unit, rng: random.Random) -> str:
    """The unit's instruction; one that says how to do a thing also comes as a wish, a question or a heading."""
    thing = unit.instruction.removeprefix("how to ")
    text = SYNONYM.sub(lambda found: rng.choice([found[0], *ALIKE[found[0]]]), thing)
    if rng.random() < 0.3:  # in a hurry
        text = SMALL_WORD.sub(lambda found: rng.choice(["", found[0]]), text)
    return text if thing == unit.instruction else rng.choice(HOW_TO).format(text)


def asked(unit: Unit, rng: random.Random) -> str:
    """The instruction with something small before and after it."""
    return rng.choice(OPENERS) + worded(unit, rng) + rng.choice(CLOSERS)


ALIKE: dict[str, list[str]] = {}  # a word to what may stand in its place
for _group in """
save|write|store|put|keep|record
saved|written|stored|kept
copy|duplicate
move|bring|carry
delete|remove|erase|get rid of
make|create|build
directory|folder
directories|folders
contain|hold|include
contains|holds|includes
find|locate|look for
replace|exchange|substitute|change|swap
lines|rows
column|field
columns|fields
below|under|inside
count|tally
unpack|extract|expand
pack|bundle|archive
squeezed|compressed
begin with|start with
should|must|shall
I want|I need|We need|Give me
first|leading
last|final|closing
just|only
alter|modify
glue|join
symlink|symbolic link|soft link
symlinks|symbolic links
lower case|lowercase|small letters
upper case|uppercase|capital letters
comma separated|comma-separated|csv
heading|header
ends in|ends with
end in|end with
starts with|begins with
empty|blank
named|called
at any depth|however deep|recursively|in its subdirectories too
everywhere|wherever it stands|throughout
greater than|more than|larger than|higher than
less than|smaller than|lower than
at least|no less than
files|documents
stay|remain
as it is|untouched|unchanged
the word|the string|the text
different|distinct|unique
often|frequent
most often|most frequently
total|sum
new|fresh
executable|runnable
points to|leads to|refers to
point to|lead to|refer to
gzip-compressed|gzipped|compressed with gzip
uncompressed|unzipped
in one go|at once
show|print|output
take|pick|grab
""".strip().splitlines():
    for _word in _group.split("|"):
        ALIKE.setdefault(_word, []).extend(other for other in _group.split("|") if other != _word)
SYNONYM = re.compile(r"(?<![\w./'-])(?:" + "|".join(sorted(ALIKE, key=len, reverse=True)) + r")(?![\w./'-])")
SMALL_WORD = re.compile(r"\b(?:[Tt]he|[Aa]n?|of|is|are|be|it|its|that|which|I|should|must|then|to be|please) ")
HOW_TO = [
    "how to {}", "how to {}?", "I want to {}.", "It is time to {}.", "we have to {}", "The job is to {}.", "to {}:",
    "What is needed is to {}.", "the way to {}", "Somebody should {}.", "could you {}?", "{}, please", "let us {}",
    "you may now {}.", "{}: do that", "Show how to {}.", "[ ] {}", "kim asked you to {}.",
]  # fmt: skip
