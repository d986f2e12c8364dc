"""Find what a server gets wrong with a model that acts as an operator; each fault has a check with a name.

    for check in run_checks(Served(client, "adapter", ...), [Expected(...), ...], context_tokens=4096):
        print(check)

The server is asked for the next command in sessions that the adapter has not read, greedily, as `rollout.py --operator
endpoint` asks. How many tokens it counted and what it answered are compared with the renderer and the decoder here.
Ids never come back from a server, so a template that changes a prompt without changing its length is seen by its
commands alone.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from model.decoder import Context, Decoder, Turn
from model.render import Renderer
from operators.chat import ChatClient, EndpointError, Reply, RequestRefusedError
from operators.endpoint import wire_messages
from schema import Message

SURE = -0.5  # log-probability (0.6) above which another rounding cannot make another token the best one
CHECKS = ("reachable", "bos", "template", "truncation", "stop", "steady", "commands")  # in the order of the report
FILLER = "drwxr-xr-x    2 operator operator      40 Jan  1 00:00 notes\n"


@dataclass(frozen=True)
class CheckResult:
    """The result of one check: `passed` is None where the server's answers do not tell."""

    name: str
    passed: bool | None
    found: str
    remedy: str = ""

    def __str__(self) -> str:
        """One line."""
        word = {True: "pass", False: "FAIL", None: "?"}[self.passed]
        return f"{self.name:12}{word:6}{self.found}" + (f"; {self.remedy}" if self.passed is False else "")


@dataclass(frozen=True)
class Expected:
    """A context, its ids, and what the model does there: the command, whether it is sure and whether it ends."""

    messages: Sequence[Message]
    token_ids: list[int]
    command: str
    ended: bool
    sure: bool


@dataclass(frozen=True)
class Served:
    """A server, and how to ask it: by messages or, with `completions`, by the rendered prompt."""

    client: ChatClient
    model: str
    renderer: Renderer
    completions: bool
    max_new_tokens: int

    def ask(self, messages: Sequence[Message], max_tokens: int | None = None) -> Reply:
        """The greedy reply to a context. Raises EndpointError."""
        sampling: dict[str, Any] = {"max_tokens": max_tokens or self.max_new_tokens, "temperature": 0.0}
        if self.completions:
            stop = [self.renderer.end_text]
            return self.client.complete(self.renderer.prompt_text(messages), model=self.model, stop=stop, **sampling)
        return self.client.ask(wire_messages(messages, None), model=self.model, **sampling)


def expectations(
    decoder: Decoder, renderer: Renderer, sessions: Sequence[Sequence[Message]], max_new_tokens: int
) -> list[Expected]:
    """One context of each session, at another command each time, and the greedy command there."""
    found = []
    for index, messages in enumerate(sessions):
        commands = [at for at, message in enumerate(messages) if message.role == "assistant"]
        before = messages[: commands[index % len(commands)]]
        token_ids = renderer.context(before)
        context = Context()
        context.ids = list(token_ids)
        turn = decoder.decode(
            Turn(
                context,
                ended=lambda ids: bool(renderer.decode_turn(ids)[1]),
                max_new_tokens=max_new_tokens,
                limit=int(decoder.model.config.max_position_embeddings),
                temperature=0.0,
                generator=None,
                cancelled=threading.Event(),
            )
        )
        command = renderer.decode_turn(turn.token_ids)[0]
        sure = all(one is not None and one > SURE for one in turn.log_probs)
        found.append(Expected(before, token_ids, command, turn.end == "ended", sure))
    return found


def ask_first(client: ChatClient, model: str, *, completions: bool) -> list[CheckResult]:
    """The report on a server that answers no request at all, before a model is loaded; empty where it answers."""
    sampling: dict[str, Any] = {"max_tokens": 1, "temperature": 0.0}
    try:
        if completions:
            client.complete("$ ", model=model, stop=["\n"], **sampling)
        else:
            client.ask([{"role": "user", "content": "$ "}], model=model, **sampling)
    except RequestRefusedError:  # a session may please it better
        return []
    except EndpointError as error:
        return not_reachable(error)
    return []


def not_reachable(error: EndpointError) -> list[CheckResult]:
    """The report on a server that does not answer: nothing else can be told."""
    remedy = "look at --url (it ends in /v1), --model and SEKFT_OP_KEY"
    rest = [CheckResult(name, None, "cannot be told before the server answers") for name in CHECKS[1:]]
    return [CheckResult(CHECKS[0], False, first_line(error), remedy), *rest]


def run_checks(served: Served, expected: Sequence[Expected], context_tokens: int) -> list[CheckResult]:
    """Every check, in the order in which a fault of one explains those after it."""
    try:
        replies = [served.ask(one.messages) for one in expected]
        again = served.ask(expected[0].messages)
    except RequestRefusedError as error:
        remedy = "send the rendered prompt (--completions)" if not served.completions else "look at --model and --url"
        return [
            CheckResult("template", False, f"the server refuses the turns of a session ({first_line(error)})", remedy)
        ]
    except EndpointError as error:
        return not_reachable(error)
    prompt = check_prompt(served, expected, replies)
    long = CheckResult("truncation", None, "cannot be told before bos and template are mended")
    if all(check.passed for check in prompt):
        long = check_truncation(served, expected[-1], context_tokens)
    return [
        CheckResult("reachable", True, f"{len(replies)} contexts answered"),
        *prompt,
        long,
        check_stop(served, expected, replies),
        check_steady(replies[0], again),
        check_commands(served, expected, replies),
    ]


def check_prompt(served: Served, expected: Sequence[Expected], replies: Sequence[Reply]) -> list[CheckResult]:
    """The checks `bos` and `template`: how many tokens the server counted in each prompt."""
    counted = [reply.prompt_tokens for reply in replies]
    if None in counted:
        told = "the server reports no usage.prompt_tokens; commands must tell"
        return [CheckResult("bos", None, told), CheckResult("template", None, told)]
    differences = [(count or 0) - len(one.token_ids) for count, one in zip(counted, expected, strict=True)]
    if set(differences) in ({1}, {-1}):
        what = "one token more" if differences[0] == 1 else "one token less"
        remedy = (
            "stop the server from adding a BOS token to a prompt that has one (tokenizer.ggml.add_bos_token, "
            "add_special_tokens, add_bos_token)"
            if differences[0] == 1
            else "let the server begin each prompt with the BOS token"
        )
        return [
            CheckResult("bos", False, f"each prompt has {what} than the {served.renderer.wire} render", remedy),
            CheckResult("template", None, "cannot be told before bos is mended"),
        ]
    if wrong := [(one, at) for at, one in enumerate(differences) if one]:
        (difference, at), count = wrong[0], len(wrong)
        found = f"{count} of {len(expected)} prompts have other lengths than the {served.renderer.wire} render"
        found += f", {len(expected[at].token_ids) + difference} tokens for {len(expected[at].token_ids)}"
        remedy = (
            "serve the base's own tokenizer, and let it read special tokens in a prompt"
            if served.completions
            else "serve the base's own chat template unchanged (chat_template.jinja), or send rendered prompts "
            "(--completions)"
        )
        return [CheckResult("bos", True, "no constant difference"), CheckResult("template", False, found, remedy)]
    counts = f"{min(map(len_of, expected))} to {max(map(len_of, expected))} tokens, as rendered here"
    return [CheckResult("bos", True, "no token too many or too few"), CheckResult("template", True, counts)]


def check_truncation(served: Served, one: Expected, context_tokens: int) -> CheckResult:
    """A long prompt is read whole; one that is cut or refused fails."""
    long = long_context(served.renderer, one.messages, context_tokens - served.max_new_tokens)
    wanted = len(served.renderer.context(long))
    try:
        reply = served.ask(long, max_tokens=1)
    except RequestRefusedError as error:
        remedy = "give it more context (llama.cpp: -c per slot, vLLM: --max-model-len, Ollama: num_ctx)"
        return CheckResult("truncation", False, f"the server refuses {wanted} tokens ({first_line(error)})", remedy)
    except EndpointError as error:
        return CheckResult(
            "truncation", False, f"no answer to {wanted} tokens: {first_line(error)}", "see the server's log"
        )
    if reply.prompt_tokens == wanted:
        return CheckResult("truncation", True, f"a prompt of {wanted} tokens was read whole")
    remedy = "give it more context (llama.cpp: -c per slot, vLLM: --max-model-len, Ollama: num_ctx)"
    return CheckResult("truncation", False, f"of {wanted} tokens the server read {reply.prompt_tokens}", remedy)


def check_stop(served: Served, expected: Sequence[Expected], replies: Sequence[Reply]) -> CheckResult:
    """A reply ends where the model ends its turn. A stop string that is left at the end of a text is no fault."""
    end = served.renderer.end_text
    ended = [(one, reply.text or "") for one, reply in zip(expected, replies, strict=True) if one.ended]
    if not ended:
        return CheckResult("stop", None, "the model itself ends no turn in these contexts")
    for one, text in ended:
        head, marker, rest = text.partition(end)
        goes_on = head.startswith(one.command) and len(head) > len(one.command)
        if rest or (marker and not served.completions) or (goes_on and served.renderer.forged(head)):
            remedy = f"make {end!r} a stop string, or its token one that ends a generation (eos_token_id)"
            return CheckResult("stop", False, f"the reply goes on after the end of the turn: {text[:60]!r}", remedy)
        if goes_on and one.sure:
            remedy = f"make {end!r} a stop string, or its token one that ends a generation (eos_token_id)"
            return CheckResult(
                "stop", False, f"the reply is {text[:60]!r} where the turn is {one.command[:40]!r}", remedy
            )
    return CheckResult("stop", True, f"{len(ended)} turns end at {end!r}")


def check_steady(first: Reply, second: Reply) -> CheckResult:
    """The same greedy request gives the same reply."""
    if first.text == second.text:
        return CheckResult("steady", True, "the same request gave the same command")
    remedy = "let temperature 0 be greedy, without penalties and without a grammar"
    return CheckResult("steady", False, f"{(first.text or '')[:40]!r}, then {(second.text or '')[:40]!r}", remedy)


def check_commands(served: Served, expected: Sequence[Expected], replies: Sequence[Reply]) -> CheckResult:
    """Where the model is sure of every token, the server gives the same command."""
    end = served.renderer.end_text
    sure = [
        (one, (reply.text or "").partition(end)[0]) for one, reply in zip(expected, replies, strict=True) if one.sure
    ]
    if not sure:
        return CheckResult("commands", None, "the model is not sure of its command in any of these contexts")
    other = [(one.command, text) for one, text in sure if not text.startswith(one.command)]
    if not other:
        return CheckResult("commands", True, f"the model's own command in {len(sure)} contexts where it is sure")
    (ours, theirs) = other[0]
    remedy = "serve this base with this adapter (a server without it, or with other weights, answers so), unquantised"
    found = f"another command in {len(other)} of {len(sure)} contexts: {theirs[:40]!r}, the model gives {ours[:40]!r}"
    return CheckResult("commands", False, found, remedy)


def long_context(renderer: Renderer, messages: Sequence[Message], tokens: int) -> list[Message]:
    """`messages` with an output before the last prompt that makes them nearly `tokens` long."""
    *before, prompt = messages
    line = len(renderer.context([*before, Message(role="user", content=FILLER * 2), prompt]))
    line -= len(renderer.context([*before, Message(role="user", content=FILLER), prompt]))
    room = max(1, (tokens - len(renderer.context(messages))) // line - 1)
    return [*before, Message(role="user", content=FILLER * room), prompt]


def len_of(one: Expected) -> int:
    """The length of the prompt in tokens."""
    return len(one.token_ids)


def first_line(error: Exception) -> str:
    """The first line of an error's words, at most 160 characters."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:160]
