"""Ask an OpenAI-compatible endpoint for a chat message or a completion, with one retry policy for all who ask.

    client = ChatClient("http://localhost:11434/v1", key="none", timeout_seconds=120.0, retries=5)
    client.ask([{"role": "user", "content": "Say ls."}], model="qwen2.5:32b").text

The openai SDK repeats a request after 408, 409, 429, 5xx, a time-out or a broken connection, and waits as the server's
Retry-After says or with its own backoff. This client adds what the SDK does not do: it repeats a request whose answer
is not a chat completion, and it leaves `response_format` out for good once the server has refused it.
"""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from schema import BadInputError, Usage

OLLAMA_URL = "http://localhost:11434/v1"  # where a local Ollama listens
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.5, 8.0  # between tries, doubled each time; the SDK's own limits


class EndpointError(Exception):
    """The endpoint is dead, refuses the request, or does not speak the protocol. The message names its URL."""


class RequestRefusedError(EndpointError):
    """The endpoint refuses this very request (400 or 422), with and without response_format."""


class ContextLengthError(RequestRefusedError):
    """The endpoint refuses the request because it is longer than the model's context."""


class UnintelligibleError(EndpointError):
    """The body of an answer is not a chat completion."""


@dataclass(frozen=True)
class Reply:
    """What the model answered; `text` is None where the message had no content, the others where they were left out."""

    text: str | None
    finish_reason: str | None = None
    total_tokens: int | None = None
    usage: Usage | None = None

    @property
    def prompt_tokens(self) -> int | None:
        """The tokens of the request, as the endpoint counts them; None where it does not tell."""
        return None if self.usage is None else self.usage.input_tokens + self.usage.cached_input_tokens


def require_address(url: str, key: str) -> None:
    """Raise BadInputError for a URL or a key that no request can be made with."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # such as a port that is no number
        usable = False
    if not usable:
        raise BadInputError(f"{url!r} is no address of an endpoint; write it like http://localhost:8000/v1")
    if not key.isascii():
        raise BadInputError(f"the key for {url} has characters that no HTTP header can carry; correct it")


class ChatClient:
    """One endpoint. Threads may share a client. The openai package is imported with the first request.

    Raises BadInputError for a URL or a key that no request can be made with.
    """

    def __init__(self, url: str, *, key: str, timeout_seconds: float, retries: int) -> None:
        require_address(url, key)
        self.url, self.key = url, key
        self.timeout_seconds, self.retries = timeout_seconds, retries
        self.takes_format = True  # false once the server has refused response_format
        self._sdk: Any = None

    def ask(
        self,
        messages: Sequence[dict[str, str]],
        *,
        model: str,
        response_format: dict[str, Any] | None = None,
        text_required: bool = False,
        **parameters: Any,
    ) -> Reply:
        """The model's reply to `messages`; `parameters` go into the request as they are.

        An answer that is not a chat completion is asked for again, `retries` times at most. So is a message without
        content where `text_required`. Raises ContextLengthError, RequestRefusedError, UnintelligibleError and
        EndpointError.
        """
        request = {"model": model, "messages": list(messages), **parameters}
        return self._readable(lambda: self._ask_once(request, response_format, text_required))

    def complete(self, prompt: str, *, model: str, stop: Sequence[str], **parameters: Any) -> Reply:
        """How the model goes on after `prompt`, as `ask` asks; the server ends the text at one of the `stop` strings.

        Some servers leave the stop string in the text.
        """
        request = {"model": model, "prompt": prompt, "stop": list(stop), **parameters}
        return self._readable(lambda: read_completion(self._create("completions", request)))

    def _readable(self, ask_once: Callable[[], Reply]) -> Reply:
        """What `ask_once` gives; it is called again, `retries` times at most, while the answer is unintelligible."""
        for attempt in range(self.retries + 1):
            try:
                return ask_once()
            except UnintelligibleError as error:
                problem = error
            if attempt < self.retries:
                time.sleep(min(FIRST_PAUSE_SECONDS * 2**attempt, LONGEST_PAUSE_SECONDS))
        raise UnintelligibleError(f"{self.url}: unintelligible answer ({problem})") from problem

    def _ask_once(self, request: dict[str, Any], response_format: dict[str, Any] | None, text_required: bool) -> Reply:
        """One request with the SDK's retries; a second one without response_format where the server refuses that."""
        formatted = response_format is not None and self.takes_format
        extra = {"response_format": response_format} if formatted else {}
        try:
            answer = self._create("chat", {**request, **extra})
        except RequestRefusedError as error:
            if not formatted or isinstance(error, ContextLengthError):
                raise
            reply = self._ask_once(request, None, text_required)
            self.takes_format = False
            return reply
        return read_reply(answer, text_required=text_required)

    def _create(self, kind: Literal["chat", "completions"], request: dict[str, Any]) -> Any:
        """The SDK's object for one request. Raises EndpointError, or UnintelligibleError for a body without JSON."""
        import openai

        if self._sdk is None:
            self._sdk = openai.OpenAI(
                base_url=self.url, api_key=self.key, timeout=self.timeout_seconds, max_retries=self.retries
            )
        create = self._sdk.chat.completions.create if kind == "chat" else self._sdk.completions.create
        try:
            return create(**request)
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            words = str(error).lower()
            too_long = isinstance(error, openai.BadRequestError) and "context" in words and "length" in words
            refusal = ContextLengthError if too_long else RequestRefusedError
            raise refusal(f"{self.url} refuses the request: {error}") from error
        except openai.OpenAIError as error:
            raise EndpointError(f"{self.url}: {type(error).__name__}: {error}") from error
        except json.JSONDecodeError as error:
            raise UnintelligibleError(f"a body that is not JSON: {error}") from error


def read_reply(answer: Any, *, text_required: bool = False) -> Reply:
    """The reply in what the SDK made of a body; the SDK does not validate it, so any part may be missing.

    Raises UnintelligibleError for anything but a chat completion whose content, if it has one, is valid Unicode.
    """
    choice = _first_choice(answer)
    message = getattr(choice, "message", None)
    if message is None:
        raise UnintelligibleError(f"no chat completion: {str(answer)[:200]}")
    return _reply(answer, choice, getattr(message, "content", None), text_required)


def read_completion(answer: Any) -> Reply:
    """The reply in what the SDK made of the body of a text completion. Raises UnintelligibleError."""
    choice = _first_choice(answer)
    if choice is None:
        raise UnintelligibleError(f"no completion: {str(answer)[:200]}")
    return _reply(answer, choice, getattr(choice, "text", None), text_required=True)


def _first_choice(answer: Any) -> Any:
    choices = getattr(answer, "choices", None)
    return choices[0] if isinstance(choices, list) and choices else None


def _reply(answer: Any, choice: Any, text: Any, text_required: bool) -> Reply:
    if not isinstance(text, str) and (text is not None or text_required):
        raise UnintelligibleError(f"message content is {type(text).__name__}")
    try:
        (text or "").encode()
    except UnicodeEncodeError as error:  # a lone surrogate: no shell and no file could take it
        raise UnintelligibleError(f"message content is not valid Unicode: {error}") from error
    finish_reason, usage = getattr(choice, "finish_reason", None), getattr(answer, "usage", None)
    return Reply(text, finish_reason, getattr(usage, "total_tokens", None), _usage_of(usage))


def _usage_of(told: Any) -> Usage | None:
    """The tokens of a call, as the endpoint counts them; None where it does not tell."""
    read, wrote = getattr(told, "prompt_tokens", None), getattr(told, "completion_tokens", None)
    cached = getattr(getattr(told, "prompt_tokens_details", None), "cached_tokens", None) or 0
    if not isinstance(read, int) or not isinstance(wrote, int) or not isinstance(cached, int):
        return None
    return Usage(calls=1, input_tokens=max(read - cached, 0), cached_input_tokens=cached, output_tokens=wrote)
