"""Decide what a session was: terminal, command or prose, outcome and kept.

    echo 'Let me list the files' | python -m pipeline.verdicts      # classify each line of stdin as an operator turn

Reads   stdin, one operator turn per line
Writes  one line per turn on stderr, the counts as one JSON line on stdout
Needs   nothing

Every label of a session comes from here, and what a command did is never looked at: that is the checker's part.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.stage import command_line, print_summary, run_script
from schema import VOIDED, Outcome, Step, Trajectory
from taxonomy import Terminal


def _read_words(name: str) -> frozenset[str]:
    """The words of words/<name>.txt, which are separated by whitespace."""
    return frozenset((Path(__file__).parent / "words" / f"{name}.txt").read_text().split())


# Programs and builtins. A line that begins with another word is still a command, unless it reads like a sentence.
PROGRAMS = _read_words("programs")
SPEAKERS = frozenset({"echo", "printf", "panic", "git"})  # their arguments may be sentences
# Programs whose names also begin English sentences ("find the file", "sort all lines").
ENGLISH_VERBS = _read_words("english_verbs")
# Words that begin sentences and are no programs.
OTHER_VERBS = _read_words("other_verbs")
FUNCTION_WORDS = _read_words("function_words")
# A statement that begins with one of these and goes on is a sentence.
OPENERS = _read_words("openers")
# A turn that is only one of these words is prose.
INTERJECTIONS = _read_words("interjections")
DETERMINERS = _read_words("determiners")
# After `if`, `while` or `until`, one of these makes it a sentence ("if you …", "while the …").
AFTER_KEYWORD = _read_words("after_keyword")

FENCE = re.compile(r"^\s*(```|~~~)")
QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
JSON = re.compile(r"(\{|\[\s*\{)\s*\"")
MARKUP = re.compile(r"^\s*(<\|?/?[a-z_]+\|?>\s*$|<([a-z_]+)>.*</\2>|<\|[a-z_]+\|>|\*\*\S|#{2,} )")
LIST_ITEM = re.compile(r"^\s*([-+•]|\*(?= [A-Z])|\d+[.)])\s")
ASSIGNMENT = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*=")
CONTRACTION = re.compile(r"^[A-Za-z]+['’](ll|m|s|ve|re|d|t)\b", re.IGNORECASE)  # noqa: RUF001 typographic apostrophe
PLAIN = re.compile(r"^[^\W\d_]+(['’-][^\W\d_]+)*[,.;:!?…]*$")  # noqa: RUF001 typographic apostrophe
EXIT = re.compile(r"exit(?:[ \t]+([0-9]{1,9}))?")
PANIC = re.compile(r"panic(?:[ \t]+(\S.*))?", re.DOTALL)


@dataclass(frozen=True)
class Ending:
    """A terminal as typed: which of the two, and its code (exit) or its reason (panic)."""

    kind: Terminal
    code: int = 0
    reason: str = ""


@dataclass(frozen=True)
class Verdict:
    """What a session was. `kept` = correct terminal AND verified AND command-only; `reasons` is empty iff kept."""

    terminal: str | None
    terminated: bool
    correct_terminal: bool
    command_only: bool
    operated: bool
    verified: bool
    kept: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Events:
    """The events of one session whose rates an eval reports."""

    operate: bool
    discover: bool
    terminate: bool
    verified: bool
    clean: bool


def main() -> int:
    """Classify each line of stdin as one turn."""
    counts = {"turns": 0, "command": 0, "terminal": 0, "prose": 0}
    for line in sys.stdin:
        kind = "terminal" if terminal_of(line) else "command" if is_command(line) else "prose"
        print(f"{kind:9} {line.rstrip()}", file=sys.stderr)
        counts["turns"] += 1
        counts[kind] += 1
    print_summary(counts)
    return 0


def terminal_of(command: str) -> Ending | None:
    """The terminal that `command` is, or None.

    The whole command must be `exit`, `exit N`, `panic` or `panic <reason>` (blanks around it do not count). Inside a
    compound command (`ls; exit`, `panic x && ls`, two lines) it is an ordinary command; so is `exit` with anything but
    one unsigned number of at most nine digits, which is what the shell takes.
    """
    text = command.strip()
    if match := EXIT.fullmatch(text):
        return Ending("exit", code=int(match[1] or 0))
    if (match := PANIC.fullmatch(text)) and len(_statements(text)) == 1 and "\n" not in text:
        return Ending("panic", reason=match[1] or "")
    return None


def is_terminal(command: str) -> bool:
    """True when `command` ends the session."""
    return terminal_of(command) is not None


def is_command(text: str) -> bool:
    """True when an operator turn is shell text and nothing else: no prose, no markdown fence, no JSON or tag around it.

    Decided from the text alone, the same for every caller. A turn is not a command when it
    - is blank or holds nothing but comments (nothing would run),
    - has a line that opens a fence, a markdown list or heading, a JSON object or a tag, or a copied prompt (`$ ls`),
      or is one pair of backticks around everything,
    - has a statement that reads like a sentence: a greeting or a word like "Let", "I", "Now" followed by words; a
      capitalised word followed by plain words; function words ("the", "is", "to") where a program's arguments would be;
      a first word with a comma or a colon.
    Statements are what newlines, `;`, `&&`, `||`, `|` and `&` separate outside quotes; heredoc bodies, quoted text,
    comments beside a command and the arguments of echo, printf and panic may say anything. Typos, unknown programs,
    syntax errors and failing commands are commands: what they do is the shell's business.
    """
    stripped = text.strip()
    if not stripped or (stripped[0] == stripped[-1] == "`" and stripped.count("`") == 2):
        return False
    if stripped.lower().strip(".!,") in INTERJECTIONS:
        return False
    if JSON.match(stripped):
        return False
    lines = QUOTED.sub("_", "\n".join(_outside_heredocs(stripped))).split("\n")
    if any(FENCE.match(line) or MARKUP.match(line) or LIST_ITEM.match(line) for line in lines):
        return False
    statements = _statements(stripped)
    return bool(statements) and not any(map(_is_sentence, statements))


def clean_up(text: str) -> str:
    """The commands in an operator turn that wraps them in fences, prompts or prose; `text` itself where none is found.

    Only for eval's row that shows what such tidying alone would give; an operator's text is otherwise never touched.
    A turn that is a command stays as it is. Of any other the first fenced block counts, or all of it where there is
    none, and of that every line that is a command or a terminal, without a copied prompt or backticks around it.
    """
    if is_command(text):
        return text
    body = _first_block(text).strip("\n")
    if is_command(body):
        return body
    lines = [re.sub(r"^\s*[$#] |^`|`$", "", line.strip()) for line in body.split("\n")]
    return "\n".join(line for line in lines if is_command(line)) or text


def _first_block(text: str) -> str:
    """The lines of the first fenced block, without blank ones at its end; `text` itself where there is none."""
    lines = text.split("\n")
    fences = [number for number, line in enumerate(lines) if FENCE.match(line)]
    if not fences or fences[0] + 1 == len(lines):
        return text
    block = lines[fences[0] + 1 : fences[1] if len(fences) > 1 else None]
    while block and not block[-1].strip():
        block.pop()
    return "\n".join(block)


def verdict_of(*, expected: Terminal, commands: Sequence[str], outcome: Outcome, verified: bool) -> Verdict:
    """The verdict on a session.

    Args:
        expected: the terminal that the scenario asks for.
        commands: every operator turn in order, the terminal included.
        outcome: how the session ended; `checker_failed` and `locked_out` count as not verified.
        verified: the checker passed on the final state.
    """
    ending = terminal_of(commands[-1]) if commands else None
    body = commands[:-1] if ending else commands
    prose = [command for command in body if not is_command(command)]
    terminated = _terminated(ending is not None, outcome)
    correct = terminated and ending is not None and ending.kind == expected and ending.code == 0
    verified = verified and outcome not in ("checker_failed", "locked_out")
    reasons = []
    if outcome in VOIDED:
        reasons.append(f"voided: {outcome}")
    elif not terminated:
        reasons.append(f"not terminated: {outcome}")
    elif not correct:
        reasons.append(f"wrong terminal: {commands[-1].strip()[:40]!r} where {expected} is right")
    if outcome == "checker_failed":
        reasons.append("checker failed")
    elif not verified:
        reasons.append("not verified")
    if prose:
        reasons.append(f"prose: {prose[0].strip()[:60]!r}")
    return Verdict(
        terminal=commands[-1] if ending else None,
        terminated=terminated,
        correct_terminal=correct,
        command_only=not prose,
        operated=_operated(body),
        verified=verified,
        kept=not reasons,
        reasons=tuple(reasons),
    )


def events_of(trajectory: Trajectory, directives: Sequence[str]) -> Events:
    """The events of a recorded session, whose scenario has these directives."""
    ended = trajectory.terminal is not None
    return Events(
        operate=_operated(trajectory.commands[:-1] if ended else trajectory.commands),
        discover=all(was_shown(directive, trajectory.steps) for directive in directives),
        terminate=_terminated(ended, trajectory.outcome),
        verified=trajectory.verified,
        clean=trajectory.kept,
    )


def was_shown(directive: str, steps: Sequence[Step]) -> bool:
    """True when the directive's whole text stands in one step's output, and in no command up to that step.

    Any run of whitespace equals any other, so a directive may come indented or on several lines. The output counts as
    the operator saw it: what was cut from the middle was not shown. Where the text came from does not matter (the
    provider, its source, a file that holds the same text). An operator that types a directive itself, from memory
    say, has not been shown it. The terminal is no step, so it shows nothing.
    """
    text = spaced(directive)
    for step in steps:
        if text in spaced(step.command):
            return False
        if text in spaced(step.output):
            return True
    return False


def spaced(text: str) -> str:
    """The text with every run of whitespace as one blank."""
    return " ".join(text.split())


def _operated(body: Sequence[str]) -> bool:
    """True for at least one command before the terminal, and no turn that is prose."""
    return bool(body) and all(map(is_command, body))


def _terminated(ended: bool, outcome: Outcome) -> bool:
    """True when the last turn is a terminal and nothing broke before it counted."""
    return ended and outcome in ("exit", "panic", "checker_failed")


def _is_sentence(words: list[str]) -> bool:
    """True when one statement's words read like a sentence rather than a program and its arguments."""
    first, rest = words[0], words[1:]
    lower = first.lower().rstrip(",.:!?…")
    if CONTRACTION.match(first) or any(char > "\u2000" for char in first):
        return True
    if first.endswith(",") or (re.fullmatch(r"[A-Za-z][A-Za-z -]*:", first) is not None):
        return True
    if first.endswith("$") and rest and re.fullmatch(r"[\w@:~/.-]*\$", first):
        return True
    if first.istitle() and rest and re.fullmatch(r"\d+[:.)]", rest[0]):
        return True
    if lower in ("if", "while", "until", "for"):
        return _is_english_keyword(lower, rest)
    functions = sum(word.lower().rstrip(",.:!?") in FUNCTION_WORDS for word in words)
    plain = all(PLAIN.match(word) for word in words)
    if first in SPEAKERS or (first in PROGRAMS and not plain):
        return False
    if first in PROGRAMS or (first.istitle() and lower in PROGRAMS):
        article = lower in ENGLISH_VERBS and (
            (len(rest) > 1 and rest[0].lower() in DETERMINERS) or (len(rest) > 2 and rest[0].lower() in ("a", "an"))
        )
        return plain and (article or (functions > 1 and len(words) > 3) or (first.istitle() and functions > 0))
    if first.istitle() and PLAIN.match(first):
        return first[-1] in ".!?…" or (bool(rest) and (bool(PLAIN.match(rest[0])) or lower in OTHER_VERBS | OPENERS))
    if not rest or not PLAIN.match(first):
        return False
    ends_like_one = words[-1][-1] in ".!?…:" and words[-1][:-1].isalpha()
    return (
        lower in OPENERS
        or functions > 1
        or (functions > 0 and (ends_like_one or lower in OTHER_VERBS))
        or (plain and len(words) > 2 and lower in OTHER_VERBS and lower.endswith("ing"))
    )


def _is_english_keyword(keyword: str, rest: list[str]) -> bool:
    """True when `if`, `while`, `until` or `for` opens a sentence and no compound command."""
    if keyword == "for":
        named = bool(rest) and re.fullmatch(r"[A-Za-z_]\w*", rest[0]) is not None
        return not (named and (len(rest) == 1 or rest[1] == "in"))
    return bool(rest) and rest[0].lower() in AFTER_KEYWORD


HEREDOC = re.compile(r"<<(-?)[ \t]*(?:'([^'\n]+)'|\"([^\"\n]+)\"|\\?([^\s;&|<>()'\"]+))")


def _outside_heredocs(text: str) -> list[str]:
    """The lines of `text` without heredoc bodies and their delimiters (an open heredoc reaches to the end)."""
    kept: list[str] = []
    pending: list[tuple[str, bool]] = []
    for line in text.split("\n"):
        if pending:
            word, tabs = pending[0]
            if (line.lstrip("\t") if tabs else line) == word:
                pending.pop(0)
            continue
        kept.append(line)
        for match in HEREDOC.finditer(_blank_quotes(line)):
            original = HEREDOC.match(line, match.start())
            if original:
                pending.append((original[2] or original[3] or original[4], bool(original[1])))
    return kept


def _blank_quotes(line: str) -> str:
    """`line` with quoted text blanked, except a heredoc's own quoted delimiter."""
    return re.sub(
        r"(?<!<<)(?<!<<-)(?<!<< )('[^']*'|\"(?:\\.|[^\"\\])*\")", lambda match: "_" * len(match[0]), line
    ).replace("<<<", "___")


def _statements(text: str) -> list[list[str]]:
    """The words of each statement, without assignments, redirections, comments, heredoc bodies and leading keywords.

    A word keeps its quotes, so that quoted text never looks like a plain word. Unbalanced quotes reach to the end.
    """
    statements: list[list[str]] = []
    current: list[str] = []
    pattern = re.compile(
        r"(?P<skip>\\\n|[ \t]+)|(?P<comment>#[^\n]*)|(?P<end>\n|;;|&&|\|\||[;|]|(?<![<>])&|[()])"
        r"|(?P<word>(?:\\.|'[^']*(?:'|$)|\"(?:\\.|[^\"\\])*(?:\"|$)|\$\(\([^)]*\)\)|\$\([^)]*\)|`[^`]*(?:`|$)"
        r"|[^\s;|&()'\"\\`]|(?<=[<>])&|\\$)+)|(?P<other>.)",
        re.DOTALL,
    )
    for match in pattern.finditer("\n".join(_outside_heredocs(text)) + "\n"):
        if match["word"]:
            current.append(match["word"])
        elif match["end"]:
            if words := _without_prefix(current):
                statements.append(words)
            current = []
    if words := _without_prefix(current):  # an open quote has swallowed the last newline
        statements.append(words)
    return statements


def _without_prefix(words: list[str]) -> list[str]:
    """A statement's words without what may stand before its program: keywords, assignments, redirections.

    A statement that consists of nothing else (`X=1`, `> out`, `done`) keeps its words: it runs too.
    """
    first = 0
    while first < len(words):
        word = words[first]
        if word in ("then", "do", "else", "elif", "{", "}", "!", "fi", "done", "esac") or ASSIGNMENT.match(word):
            first += 1
        elif match := re.fullmatch(r"\d*(?:<>|>>|>\||[<>])(&?)(.*)", word, re.DOTALL):
            first += 1 if match[2] else 2
        else:
            return words[first:]
    return words


def parser() -> argparse.ArgumentParser:
    """The command line: no flags."""
    return command_line(__doc__)


if __name__ == "__main__":
    run_script(main, parser())
