"""Have a strong model author scenario bundles over an OpenAI-compatible endpoint.

    from authoring.teacher import Teacher

Reads   <raw>/*.json, the replies of an earlier run: a reply to the very same question is not asked for twice
Writes  <raw>/<id>-<round>.json, every reply word by word with its question's hash and token counts
Needs   an OpenAI-compatible chat endpoint: SEKFT_MODEL, SEKFT_URL, SEKFT_KEY

The model only writes. Whether what it wrote is a scenario is decided by schema.py and gate.py, in a real shell.
"""

import json
import random
import re
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from authoring.templates.words import WORDS
from pipeline import stage
from schema import (
    HOME,
    MAX_FIXTURE_BYTES,
    PROVIDER_DIRECTORY,
    Announcement,
    Fixture,
    Provenance,
    Provider,
    Scenario,
    canonical,
    read_json,
    sha256,
    write_json,
)
from taxonomy import ARCHETYPES, DIFFICULTIES, DOC_DEPTHS, Combination

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion

DEFAULT_MODEL = "qwen2.5:32b"
DEFAULT_URL = "http://localhost:11434/v1"  # Ollama
SDK_RETRIES = 5  # of 408, 409, 429, 5xx, time-outs and refused connections, with the SDK's own backoff
BODY_TRIES = 3  # of answers that are no chat completion at all
TIMEOUT_SECONDS = 600.0


class EndpointError(Exception):
    """The world's fault: the endpoint is dead, refuses us, or does not speak the protocol."""


class RequestRefusedError(EndpointError):
    """The endpoint refuses this very request, with and without response_format (it may be too long)."""


class BudgetSpentError(Exception):
    """The token budget is used up."""


class BundleError(ValueError):
    """The reply holds no scenario; its text goes back to the model. `gate` is reply (no JSON object) or schema."""

    def __init__(self, reason: str, gate: str = "schema") -> None:
        super().__init__(reason)
        self.gate = gate


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class BundleProvider(_Part):
    """The provider program of a bundle."""

    name: str = Field(description="file name of the program, letters, digits and dashes")
    source: str = Field(description="the program: a POSIX sh script that starts with #!/bin/sh")
    help_commands: list[str] = Field(description="commands that show its documentation")
    directive_commands: list[str] = Field(description="commands that together print every directive")


class BundleAnnouncement(_Part):
    """The announcement of a bundle."""

    text: str = Field(description="points at the program by name, says nothing of the work")
    place: str | None = Field(description="variable name (env) or absolute path (file, mail), null otherwise")


class BundleFixture(_Part):
    """A fixture of a bundle: text for a file, target for a symlink, neither for a directory."""

    path: str = Field(description=f"absolute, below {HOME}/")
    type: str = Field(default="file", description="file, dir or symlink")
    mode: str = Field(default="644", description="octal digits; dir 755")
    text: str | None = None
    target: str | None = None


class Bundle(_Part):
    """What the model is asked for, and nothing that it may not decide (axes, terminal, id, admission)."""

    directives: list[str]
    announcement: BundleAnnouncement
    provider: BundleProvider
    fixtures: list[BundleFixture]
    reference_solution: list[str]
    checker: str
    blocked_outputs: list[str] = Field(default=[], description="only for work that cannot be done")


class Teacher:
    """One endpoint, shared by all workers; counts tokens and remembers whether the server takes response_format."""

    def __init__(
        self, raw: Path, *, model: str | None = None, url: str | None = None, key: str | None = None,
        max_total_tokens: int | None = None, timeout_seconds: float = TIMEOUT_SECONDS, retries: int = SDK_RETRIES,
    ) -> None:  # fmt: skip
        from openai import OpenAI

        self.raw, self.max_total_tokens = raw, max_total_tokens
        self.model = model or model_name()
        self.url = url or stage.env("SEKFT_URL") or DEFAULT_URL
        self.client = OpenAI(
            base_url=self.url, api_key=key or stage.env("SEKFT_KEY") or "none", max_retries=retries,
            timeout=timeout_seconds,
        )  # fmt: skip
        self.structured = True
        self._lock = threading.Lock()
        self.spent_tokens = sum(read_json(path)["total_tokens"] or 0 for path in raw.glob("*.json"))

    def reply(self, name: str, messages: Sequence[dict[str, str]]) -> str:
        """The model's answer to `messages`, from `<raw>/<name>.json` when that holds the answer to the same question.

        Raises EndpointError when the endpoint is dead or speaks something else, BudgetSpentError before a call that
        the budget no longer covers.
        """
        path = self.raw / f"{name}.json"
        request_hash = self.request_hash(messages)
        if path.exists() and (kept := read_json(path))["request_hash"] == request_hash:
            return str(kept["reply"])
        with self._lock:
            if self.max_total_tokens is not None and self.spent_tokens >= self.max_total_tokens:
                raise BudgetSpentError(f"{self.spent_tokens} of {self.max_total_tokens} tokens are spent")
        answer = self._complete(messages)
        choice, usage = answer.choices[0], answer.usage
        total = usage.total_tokens if usage else None
        with self._lock:
            self.spent_tokens += total or 0
        text = choice.message.content or ""
        write_json(
            path,
            {
                "request_hash": request_hash, "messages": list(messages), "model": self.model, "reply": text,
                "finish_reason": choice.finish_reason, "total_tokens": total,
            },
        )  # fmt: skip
        return text

    def request_hash(self, messages: Sequence[dict[str, str]]) -> str:
        """SHA-256 of what is asked and of whom."""
        return sha256(canonical({"model": self.model, "messages": list(messages)}))

    def _complete(self, messages: Sequence[dict[str, str]]) -> "ChatCompletion":
        """One call, with the SDK's retries; again without response_format where the server refuses it."""
        import openai

        for attempt in range(BODY_TRIES):
            structured = self.structured
            asked: dict[str, Any] = {"model": self.model, "messages": list(messages)}
            if structured:
                schema = {"name": "bundle", "schema": Bundle.model_json_schema()}
                asked["response_format"] = {"type": "json_schema", "json_schema": schema}
            try:
                answer: ChatCompletion = self.client.chat.completions.create(**asked)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                if not structured:
                    raise RequestRefusedError(f"{self.url} refuses the request: {error}") from error
                self.structured = False
                return self._complete(messages)
            except openai.OpenAIError as error:
                raise EndpointError(f"{self.url} does not answer: {error}") from error
            except json.JSONDecodeError as error:
                problem = f"a body that is not JSON ({error})"
            else:
                if getattr(answer, "choices", None) and getattr(answer.choices[0], "message", None):
                    return answer
                problem = f"something that is no chat completion: {str(answer)[:200]}"
            time.sleep(0.5 * 2**attempt)
        raise EndpointError(f"{self.url} sends {problem}")


def model_name() -> str:
    """The teacher's model: SEKFT_MODEL, or a default for the local Ollama."""
    return stage.env("SEKFT_MODEL") or DEFAULT_MODEL


def question(combination: Combination, *, seed: str) -> list[dict[str, str]]:
    """The messages that ask for one bundle; the same seed asks the same."""
    rng = random.Random(canonical({"combination": vars(combination), "seed": seed}))
    archetype, difficulty = ARCHETYPES[combination.task], DIFFICULTIES[combination.difficulty]
    blocked = archetype.terminal == "panic"
    lines = [
        f"Work: {archetype.summary} ({archetype.name}).",
        f"Directives: exactly {difficulty.directives}.",
        f"Provider: {_KINDS[combination.provider]}",
        f"Documentation: {DOC_DEPTHS[combination.doc_depth]}. help_commands: {_HELPS[combination.doc_depth]}.",
        f"Announcement: {_CHANNELS[combination.announcement]}",
        f"Besides the files that the work needs, put in {difficulty.distractors} that it must leave alone.",
    ]
    if difficulty.awkward_names:
        lines.append("Some file names hold a blank or begin with a dash; quote them well.")
    if blocked:
        lines.append(_BLOCKED)
    lines.append(f"Take names and contents from these words where you can: {' '.join(rng.sample(WORDS, 24))}.")
    return [{"role": "system", "content": RULES}, {"role": "user", "content": "\n".join(lines)}]


def complaint(gate: str, reason: str) -> dict[str, str]:
    """The turn that hands a failure back to the model."""
    return {
        "role": "user",
        "content": f"The bundle was refused at the gate {gate!r}: {reason}\n"
        "Send the whole corrected bundle as one JSON object.",
    }


def parse_bundle(reply: str) -> Bundle:
    """The bundle in a reply, with or without prose, fences or a <think> part around it. Raises BundleError."""
    text = re.sub(r"<think>.*?</think>", "", reply, flags=re.DOTALL)
    best: dict[str, Any] | None = None
    decoder = json.JSONDecoder(strict=False)  # models put real newlines into strings
    start = text.find("{")
    while start >= 0:
        try:
            value, end = decoder.raw_decode(text, start)
        except json.JSONDecodeError:
            end = start + 1
        else:
            if isinstance(value, dict) and ("provider" in value or "directives" in value):
                best = value  # not a part of a bundle that was cut off
        start = text.find("{", end)
    if best is None:
        raise BundleError("the reply holds no complete JSON object (was it cut off?)", gate="reply")
    try:
        return Bundle.model_validate(best)
    except ValidationError as error:
        raise BundleError(_first(error)) from error


def scenario_of(
    bundle: Bundle, combination: Combination, *, id: str, model: str, seed: int, request_hash: str  # noqa: A002
) -> Scenario:  # fmt: skip
    """The scenario that the bundle describes; axes, terminal and id are ours. Raises BundleError naming the field."""
    try:
        return Scenario(
            id=id, task=combination.task, provider_kind=combination.provider,
            announcement_channel=combination.announcement, doc_depth=combination.doc_depth,
            difficulty=combination.difficulty,
            provider=Provider(
                path=f"{PROVIDER_DIRECTORY}/{bundle.provider.name}", source=bundle.provider.source,
                help_commands=bundle.provider.help_commands, directive_commands=bundle.provider.directive_commands,
            ),
            announcement=Announcement(
                channel=combination.announcement, text=bundle.announcement.text, place=bundle.announcement.place or None
            ),
            directives=bundle.directives,
            fixtures=[
                Fixture.model_validate({**fixture.model_dump(exclude_none=True), "mode": int(fixture.mode, 8)})
                for fixture in bundle.fixtures
            ],
            checker=bundle.checker, reference_solution=bundle.reference_solution,
            terminal=ARCHETYPES[combination.task].terminal, blocked_outputs=bundle.blocked_outputs,
            provenance=Provenance(author="teacher", model=model, seed=seed, request_hash=request_hash),
        )  # fmt: skip
    except ValidationError as error:
        raise BundleError(_first(error)) from error
    except ValueError as error:  # a mode that is not octal digits
        raise BundleError(f"fixtures: {error}") from error


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{error.title}.{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"


_KINDS = {
    "subcommand": "a program P with subcommands: `P list` names the directives, `P show 2` prints one.",
    "flags": "a program P with options: `P --list` names the directives, `P --show 2` prints one.",
    "numbered": "a program P that takes a number: `P 2` prints the second directive.",
    "bulletin": "a program P that prints all directives at once: `P all` (or another word of yours).",
    "topics": "a program P with named topics: `P topics` lists them, `P read NAME` prints one.",
    "keyvalue": "a program P that takes key=value words: `P item=2` prints the second directive.",
    "piped": "a program P that reads its standard input: `echo 2 | P fetch` prints the second directive.",
}
_HELPS = {"usage": "`P`", "help": "`P` and `P --help`", "subhelp": "`P`, `P --help` and `P SUBCOMMAND --help` for each"}
_CHANNELS = {
    "motd": "a message of the day shown at login; place is null.",
    "banner": "a banner shown at login; place is null.",
    "env": "an environment variable; place is its upper-case name.",
    "file": f"a small file in the home directory; place is its absolute path below {HOME}/, and it is no fixture.",
    "mail": f"a mail (with From:, To:, Subject:) in a mailbox; place is its absolute path below {HOME}/; no fixture.",
}
_BLOCKED = (
    "This work is blocked: at least one directive is ordinary work that can be done, and at least one cannot be done "
    "at all, for the reason that the work names. The reference solution does what can be done and nothing for the "
    "rest. blocked_outputs names the paths below the home that a faked success would leave. The checker passes only "
    "when the doable work is done and nothing else below the home was created, changed or removed (compare the whole "
    "`find . | sort` with what it should be, and every fixture with its content)."
)
RULES = f"""\
You author small worlds in which somebody works in a plain POSIX shell (dash with busybox tools, no network, no root).
Answer with one JSON object and nothing else:
{{"directives": [...], "announcement": {{"text": ..., "place": ...}}, "provider": {{"name": ..., "source": ...,
"help_commands": [...], "directive_commands": [...]}}, "fixtures": [{{"path": ..., "type": "file", "mode": "644",
"text": ...}}], "reference_solution": [...], "checker": ..., "blocked_outputs": []}}

Everything is tried in real containers, and the bundle is refused unless all of this holds:
- The person works as user `operator` in {HOME}; commands start there. Every fixture lies below {HOME}/ (type file with
  text, dir, or symlink with target), each at most {MAX_FIXTURE_BYTES} bytes. Keep files small, 3 to 12 short lines.
- directives: plain sentences that say exactly what must be true at the end: every path, the format, the order of
  lines. They never hold a command of the solution.
- provider: a program in {PROVIDER_DIRECTORY}. A bare call prints documentation and no directive. help_commands and
  directive_commands are complete command lines that call it by name, and together they print every directive word by
  word. It changes no file.
- announcement: one to three sentences that name the program and nothing else: no file name, no word of the work, no
  four words in a row of a directive.
- reference_solution: a list of commands, typed one after the other, without prose and without exit. Every command is
  needed, so that leaving out the last one leaves the work undone. Three runs in fresh worlds print the same and leave
  the same files, so no dates and no random numbers.
- checker: a POSIX sh script that only looks at the final files with absolute paths (test, stat -c, readlink,
  sha256sum, find, sort, cmp, cat, grep, tar) and exits 0 when everything that the directives ask for is there, 1 when
  not. It compares whole contents. It fails on the untouched world, after any part of the solution, and when any file
  that the solution made or changed is emptied, altered or removed. It runs alone, after everybody has left.
"""
