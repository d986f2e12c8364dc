"""Say an instruction in other words: what the tiny base reads varies more than what the shapes wrote.

    from authoring.templates.wording import asked

Reads   nothing
Writes  nothing
Needs   nothing
"""

import random
import re
from functools import cache

from authoring.templates import DOABLE, SHAPES
from authoring.templates.world import Names, Unit, masked

SENTENCE_END = re.compile(r"[.?!:;](?:\s|$)|\n")

OPENERS = [
    "", "", "", "", "Please: ", "Next: ", "Job: ", "To do: ", "Now: ", "Wanted: ", "- ", "* ", "Request: ", "Also: ",
    "Task for today. ", "One more. ", "Hello. ", "> ", "# ", "Note: ", "today: ", "Entry. ",
    "1. ", "2. ", "3) ", "#2 ", "(1) ", "[4] ", "No 5: ", "3: ",
]  # fmt: skip
CLOSERS = ["", "", "", "", "", " Thanks.", " That is all.", " No hurry.", " Nothing else.", "\n-- kim", " (kim)"]


def worded(unit: Unit, rng: random.Random) -> str:
    """The unit's instruction in other words; many a wish, question or heading comes as an order."""
    thing, frame = unit.instruction.removeprefix("how to "), None
    if thing != unit.instruction:
        frame = rng.choice([*HOW_TO, *ORDERS])
    elif (found := QUESTION.fullmatch(thing)) and rng.random() < 0.7:
        thing, frame = found[1], rng.choice(ORDERS)
    text = SYNONYM.sub(lambda found: rng.choice([found[0], *ALIKE[found[0]]]), thing)
    text = text if frame else as_order(text, rng)
    if rng.random() < 0.2:  # in a hurry
        text = SMALL_WORD.sub(lambda found: rng.choice(["", found[0]]), text)
    if rng.random() < 0.25:
        text = strange(text, rng)
    if frame in ORDERS:
        text = frame.format(text)
        return text[:1].upper() + text[1:] if rng.random() < 0.9 else text
    return frame.format(text) if frame else text


def strange(text: str, rng: random.Random) -> str:
    """The text with a word or two that say nothing of the work, or that stand in its first word's place.

    A small base takes a word that it has never read for a name to copy: here it reads words that are none.
    """
    words = text.split(" ")
    if len(words) > 5 and words[0].isalpha() and rng.random() < 0.3:
        return " ".join([rng.choice(STRANGE), *words[1:]])
    for _ in range(rng.choice([1, 1, 2])):
        at = rng.randrange(len(words))
        if not any(mark in " ".join(words[:at]) for mark in "'\"`\n"):  # never inside what is quoted
            words.insert(at, rng.choice(STRANGE))
    return " ".join(words)


def as_order(wish: str, rng: random.Random) -> str:
    """A wish as an order, where its beginning allows that, in half of the cases."""
    if rng.random() < 0.5:
        return wish
    if (found := WISH.match(wish)) and " to " not in wish:
        return f"{rng.choice(['Produce', 'Prepare', 'Provide', 'Make', 'Set up', 'Create'])} {wish[found.end() :]}"
    if found := DUTY.match(wish):
        verb, be = rng.choice([("Let", "be "), ("Let", "be "), ("Have", ""), ("Make", "")])
        return f"{verb} {found[1]} {be if found[2] else ''}{wish[found.end() :]}"
    return wish


@cache
def told() -> frozenset[str]:
    """The sentences of five words and more of every directive, masked: 40 draws of each shape have each wording."""
    shapes = [shape for table in (SHAPES, DOABLE) for group in table.values() for shape in group]
    units = (shape(Names(random.Random(at), awkward=at % 4 == 0)) for shape in shapes for at in range(40))
    parts = {
        part.strip(" .?!:;*-=#[]") for unit in units for part in SENTENCE_END.split(masked(unit.directive).lower())
    }
    return frozenset(part for part in parts if len(part.split()) >= 5)


def instruction_of(unit: Unit, rng: random.Random) -> str:
    """The unit's instruction in other words, none of whose sentences is a directive's."""
    for _ in range(8):
        text = worded(unit, rng)
        frame = masked(text).lower()
        if not any(sentence in frame for sentence in told()):
            return text
    return unit.instruction.removeprefix("how to ")


def asked(instruction: str, rng: random.Random) -> str:
    """The instruction with something small before and after it."""
    return rng.choice(OPENERS) + instruction + rng.choice(CLOSERS)


_STRANGE = """
accept accordingly account actually additional adjust admin advice ago agree ahead along already although altogether
always amount announce anyway anywhere apart apparently append apply approve archive arrive aside assign assume attach
attempt audit automatic available avoid aware backlog badly balance base basic basically become behave belong better
borrow bother briefly bring broadly budget busy buy calmly cancel capture careful carefully carry cause certain
certainly choose claim clean clear clearly client close closely colleague comfortable comment commit common company
compare complain complete completely compress concern condition confirm connect consider constantly consult correctly
cost couple currently customary customer daily decide declare decompress deeply deliver demand department depend
desired detach detailed develop directly discuss distribute divide doubt download duly eager easily edit effort either
elsewhere enable encourage enjoy enormous enough ensure entirely especially establish eventually evidently examine
excuse exercise exist expand expect expose extra extremely fairly familiar fashion fast favour fetch finally finish
firmly fit fix flip follow following forever forget formal former forward free freely frequent friend fully function
further future general generally gently genuine glad gradually grateful group grow handle handy happen happily
harmless hereby hesitate hold honest hopefully hourly however ideally immediately important improve including indeed
inform initially insist install instantly intact intend internal invite join kindly know lately latter lead learn
legal lend let likely link literally little live long loosely lose lovely main mainly manage manually mark match
matter maybe mean meanwhile measure meet merely method mildly mind minor modest monthly moreover mostly multiply
mutual namely narrow natural nearby nearly neatly necessarily need nevertheless nicely nightly normally notice obtain
obviously occasionally occupy offer officially often ordinary original otherwise outcome overall owner pack partly
patiently pay perfectly perform perhaps permit person plain plainly pleasant plenty point policy politely popular
possible possibly practical precisely prefer prepare prepend present prevent previously principle private probably
proceed process produce project promise promptly proper properly propose protect prove provide public publish purely
purpose push quickly quietly quite random rapidly rather readily ready realise really reason reasonable recently
recommend reduce regard regular regularly reject relate release relevant reliable reluctant rely remarkable remember
remind repair repeat require rescue resolve respect respond restore result retain return review revise rightly risk
roughly routine rush safely sane satisfy secret secure seem select sensible serious seriously severe shortly sign
silently similar simple simply sincerely slightly slowly smart smooth smoothly solely solid solve somehow sometimes
somewhat soon sound spare special specific spend split spot standard steadily still stock straight strange strictly
strip strongly study subsequently subtract succeed such sudden suddenly suggest suitable suppose surely surprise
survive swiftly switch symbolic symbolically tag talk target teach team technical temporary thank therefore thing
think thorough thoroughly though thus tidy tightly tomorrow tonight top total touch trade transfer treat trim true
truly trust try type typical typically ultimately unarchive uncomment ungroup unlink unpack unusual unzip update
upgrade upload upon urgent urgently use useful usual usually vary vast verify very visit vital wait want warn weekly
welcome whenever wherever whichever wholly willing wisely wish wonder work worry worth wrap yearly yesterday yet
"""
STRANGE: tuple[str, ...] = tuple(form for word in _STRANGE.split() for form in (word, word.capitalize()))

ALIKE: dict[str, list[str]] = {}  # a word to what may stand in its place
for _group in """
save|write|store|put|record
saved|written|stored
copy|duplicate
move|bring|carry
delete|remove|erase|get rid of
make|create|build
directory|folder
directories|folders
contain|hold|include
contains|holds|includes
find|locate|look for
replace|exchange|change
lines|rows
column|field
columns|fields
under|inside
count|tally
unpack|extract|expand
pack|bundle
squeezed|compressed
begin with|start with
strip|remove|cut off
fix|repair|correct|mend
download|fetch
join|merge|combine
sort|arrange|rank
collect|gather
search|look through|go through
compress|squeeze
edit|alter|rework
disable|switch off|turn off
occurs|appears|shows up|stands
occur|appear|show up|stand
in reverse|backwards|from the end to the start
extension|suffix
exactly once|just once|a single time
dangles|leads nowhere|is broken
contents|content
each|every
current|present
numbers|figures
should|must|shall
I want|I need|We need|Give me
the first line|the leading line|the top line
the last line|the final line|the closing line
first lines|leading lines|top lines
last lines|final lines|closing lines
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
at any depth|however deep|recursively|in its subdirectories too|however deep it lies
under the name|by the name
under another name|by another name
everywhere|wherever it stands|throughout
greater than|more than|larger than|higher than
less than|smaller than|lower than
at least|no less than
files|documents
stay|remain
as it is|untouched|unchanged
the word|the string
different|distinct|unique
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
    for _words in (_group.split("|"), [_word[0].upper() + _word[1:] for _word in _group.split("|")]):
        for _word in _words:
            ALIKE.setdefault(_word, []).extend(_other for _other in _words if _other != _word)
ALTERNATIVES = "|".join(sorted(ALIKE, key=len, reverse=True))
SYNONYM = re.compile(rf"(?<![\w./'-])(?<![Uu]se )(?<![Rr]un )(?:{ALTERNATIVES})(?![\w./'-])")
SMALL_WORD = re.compile(r"\b(?:[Tt]he|[Aa]n?|of|is|are|be|please) ")
QUESTION = re.compile(r"(?:Could|Can|Would) you (?:please )?(.*)\?", re.DOTALL)
WISH = re.compile(r"(?:I want|I need|We need) (?=(?:the|an?|all|each|every|two|one|some)\b)")
DUTY = re.compile(r"([\w./*-]+) (?:should|shall|must|has to|is to) (be )?")
ORDERS = ["{}.", "{}.", "{}.", "{}.", "{}", "please {}.", "now {}.", "then {}.", "go and {}.", "{} now.", "{} next."]
HOW_TO = [
    "how to {}", "how to {}?", "I want to {}.", "It is time to {}.", "we have to {}", "The job is to {}.", "to {}:",
    "What is needed is to {}.", "the way to {}", "Somebody should {}.", "could you {}?", "{}, please", "let us {}",
    "you may now {}.", "{}: do that", "Show how to {}.", "[ ] {}", "kim asked you to {}.",
]  # fmt: skip
