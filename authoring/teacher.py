"""Have a strong model write scenarios over an OpenAI-compatible endpoint.

    teacher = Teacher(Path("scenarios/raw"), max_total_tokens=None)
    messages = question(combination, seed="1/0")
    bundle = parse_bundle(teacher.reply("make_links-0000-1", messages))

SEKFT_MODEL, SEKFT_URL and SEKFT_KEY name the endpoint. Every reply is kept in `<raw>/<id>-<round>.json`, word for word,
with the hash of its question and its token count. A kept reply to the same question is used again and costs nothing.
The model only writes: schema.py and gate.py decide whether the result is a scenario, the gate in a real shell.
The fixed texts of a question are in rules.txt and question.json.
"""

import json
import random
import re
import threading
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipeline import stage
from authoring.templates.words import WORDS
from operators.chat import OLLAMA_URL, ChatClient
from pipeline.files import read_json, write_json
from schema import (
    HOME,
    MAX_FIXTURE_BYTES,
    PROVIDER_DIRECTORY,
    Announcement,
    Fixture,
    OwnTaxonomy,
    Provenance,
    Provider,
    Scenario,
    canonical,
    known_values,
    sha256,
)
from taxonomy import DIFFICULTIES, DOC_DEPTHS, Combination

DEFAULT_MODEL = "qwen2.5:32b"
TIMEOUT_SECONDS = 600.0


def _read_filled(name: str) -> str:
    """The text of a file beside this one, with the paths and limits of the product in its ${slots}."""
    text = Template((Path(__file__).parent / name).read_text())
    return text.substitute(home=HOME, provider_directory=PROVIDER_DIRECTORY, max_fixture_bytes=MAX_FIXTURE_BYTES)


RULES = _read_filled("rules.txt")
QUESTION: dict[str, Any] = json.loads(_read_filled("question.json"))


class BudgetSpentError(Exception):
    """The token budget of the teacher is used up."""


class BundleError(ValueError):
    """The reply holds no valid scenario. The model is told this text; `gate` is reply (no JSON object) or schema."""

    def __init__(self, reason: str, gate: str = "schema") -> None:
        super().__init__(reason)
        self.gate = gate


# The model is sent the docstrings and descriptions of these classes, in the JSON Schema of a bundle.
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
    blocked_attempt: list[str] = Field(
        default=[], description="only for work that cannot be done: the commands that would do it"
    )


class Teacher:
    """One endpoint that all workers share. It keeps every reply and counts the tokens of them all."""

    def __init__(
        self, raw: Path, *, model: str | None = None, url: str | None = None, key: str | None = None,
        max_total_tokens: int | None = None, timeout_seconds: float = TIMEOUT_SECONDS, retries: int = 5,
    ) -> None:  # fmt: skip
        self.raw, self.max_total_tokens = raw, max_total_tokens
        self.model = model or model_name()
        self.client = ChatClient(
            url or stage.env("SEKFT_URL") or OLLAMA_URL, key=key or stage.env("SEKFT_KEY") or "none",
            timeout_seconds=timeout_seconds, retries=retries,
        )  # fmt: skip
        self._lock = threading.Lock()
        self.spent_tokens = sum(read_json(path)["total_tokens"] or 0 for path in raw.glob("*.json"))

    def reply(self, name: str, messages: Sequence[dict[str, str]]) -> str:
        """The model's answer to `messages`, from `<raw>/<name>.json` when that holds the answer to the same question.

        A message without content is an empty answer. Raises BudgetSpentError before a request when the token budget is
        used up, RequestRefusedError and EndpointError as ChatClient.ask does.
        """
        path = self.raw / f"{name}.json"
        request_hash = self.request_hash(messages)
        if path.exists() and (kept := read_json(path))["request_hash"] == request_hash:
            return str(kept["reply"])
        with self._lock:
            if self.max_total_tokens is not None and self.spent_tokens >= self.max_total_tokens:
                raise BudgetSpentError(f"{self.spent_tokens} of {self.max_total_tokens} tokens are spent")
        schema = {"name": "bundle", "schema": Bundle.model_json_schema()}
        reply = self.client.ask(
            messages, model=self.model, response_format={"type": "json_schema", "json_schema": schema}
        )
        with self._lock:
            self.spent_tokens += reply.total_tokens or 0
        text = reply.text or ""
        write_json(
            path,
            {
                "request_hash": request_hash, "messages": list(messages), "model": self.model, "reply": text,
                "finish_reason": reply.finish_reason, "total_tokens": reply.total_tokens,
            },
        )  # fmt: skip
        return text

    def request_hash(self, messages: Sequence[dict[str, str]]) -> str:
        """SHA-256 of the model's name and the messages."""
        return sha256(canonical({"model": self.model, "messages": list(messages)}))


def model_name() -> str:
    """The teacher's model: SEKFT_MODEL, or a default for the local Ollama."""
    return stage.env("SEKFT_MODEL") or DEFAULT_MODEL


def question(
    combination: Combination, *, seed: str, own: OwnTaxonomy | None = None, tools: Sequence[str] = ()
) -> list[dict[str, str]]:
    """The messages that ask for one bundle. The same arguments give the same messages.

    `own` is the taxonomy of a user's own, `tools` are the commands that the image has beside its base's.
    """
    rng = random.Random(canonical({"combination": vars(combination), "seed": seed}))
    archetype = known_values(own).archetypes[combination.task]
    difficulty = DIFFICULTIES[combination.difficulty]
    blocked = archetype.terminal == "panic"
    lines = [
        f"Work: {archetype.summary} ({archetype.name}).",
        f"Directives: exactly {difficulty.directives}.",
        f"Provider: {_provider_form(combination.provider, own)}",
        f"Documentation: {DOC_DEPTHS[combination.doc_depth]}. "
        f"help_commands: {QUESTION['help_commands'][combination.doc_depth]}.",
        f"Announcement: {_announcement_form(combination.announcement, own)}",
        f"Besides the files that the work needs, put in {difficulty.distractors} that it must leave alone.",
    ]
    if tools:
        lines.append(f"Beside busybox's tools there are: {', '.join(tools)}.")
    if difficulty.awkward_names:
        lines.append("Some file names hold a blank or begin with a dash; quote them well.")
    if blocked:
        lines.append(QUESTION["blocked"])
    lines.append(f"Take names and contents from these words where you can: {' '.join(rng.sample(WORDS, 24))}.")
    return [{"role": "system", "content": RULES}, {"role": "user", "content": "\n".join(lines)}]


def _provider_form(name: str, own: OwnTaxonomy | None) -> str:
    """The sentence that tells the teacher how the provider is called."""
    kind = own.provider(name) if own else None
    return kind.summary if kind else str(QUESTION["provider"][name])


def _announcement_form(name: str, own: OwnTaxonomy | None) -> str:
    """The sentence that tells the teacher what the announcement is; for an own channel also what it is like."""
    channel = own.channel(name) if own else None
    told = str(QUESTION["announcement"][channel.like if channel else name])
    return f"{channel.summary} It is {told}" if channel else told


def complaint(gate: str, reason: str) -> dict[str, str]:
    """The turn that tells the model which gate refused its bundle and why."""
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
        except (ValueError, RecursionError):  # no JSON, a number of thousands of digits, too deeply nested
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
        raise BundleError(_first_fault(error)) from error


def scenario_of(
    bundle: Bundle, combination: Combination, *, id: str, model: str, seed: int, request_hash: str,  # noqa: A002
    own: OwnTaxonomy | None = None,
) -> Scenario:  # fmt: skip
    """The scenario in a bundle, with our axes, terminal and id. Raises BundleError, which names the field."""
    channel = own.channel(combination.announcement) if own else None
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
                channel=combination.announcement, like=channel.like if channel else None,
                text=bundle.announcement.text, place=bundle.announcement.place or None,
            ),
            directives=bundle.directives,
            fixtures=[
                Fixture.model_validate({**fixture.model_dump(exclude_none=True), "mode": int(fixture.mode, 8)})
                for fixture in bundle.fixtures
            ],
            checker=bundle.checker, reference_solution=bundle.reference_solution,
            terminal=known_values(own).archetypes[combination.task].terminal, blocked_outputs=bundle.blocked_outputs,
            blocked_attempt=bundle.blocked_attempt or None, taxonomy=own.used_by(combination) if own else None,
            provenance=Provenance(author="teacher", model=model, seed=seed, request_hash=request_hash),
        )  # fmt: skip
    except ValidationError as error:
        raise BundleError(_first_fault(error)) from error
    except ValueError as error:  # a mode that is not octal digits
        raise BundleError(f"fixtures: {error}") from error


def _first_fault(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{error.title}.{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
