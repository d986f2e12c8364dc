"""Count the tokens of a session, and cut one to a budget without breaking it.

    count = counter("base/smollm2")         # or counter(None): the estimate of characters / 4
    cut(row, budget_tokens=4096, count=count)

A cut leaves out whole round trips (an assistant turn and everything up to the next), the oldest first, so no tool
result ever stands without its call. What precedes the first assistant turn stays, and so does the end of the session
from its last round trip with work on: a cut that left nothing but "Done." would teach to claim what was not done.
"""

import json
import math
from collections.abc import Callable
from typing import Any

from exports.chat import filled, tools_of, with_objects
from exports.rows import SHELL_BLOCK, ChatTurn, Row, opening_length
from pipeline.verdicts import terminal_of

TokenCounter = Callable[[Row], int]
OVERHEAD_TOKENS = 4  # of a message, where the tokenizer has no chat template that takes the messages


def counter(base: str | None) -> TokenCounter:
    """How tokens are counted: with the tokenizer and chat template of `base`, or estimated without one."""
    if base is None:
        return lambda row: estimated_tokens(row.messages)
    from training.run import check_tokenizer, load_tokenizer

    check_tokenizer(base)
    tokenizer = load_tokenizer(base)
    return lambda row: tokens_of(row, tokenizer)


def estimated_tokens(messages: list[ChatTurn]) -> int:
    """Characters / 4, rounded up; UTF-16 code units are counted, and 8 more for each message."""
    return math.ceil(sum(len(text.encode("utf-16-le")) // 2 for text in texts_of(messages)) / 4 + 2 * len(messages))


def texts_of(messages: list[ChatTurn]) -> list[str]:
    """Every text in the messages: contents, names, calls with their ids and arguments."""
    texts = [text for message in messages for text in (message["content"], message.get("name")) if text]
    calls = [call for message in messages for call in message.get("tool_calls", ())]
    return texts + [text for call in calls for text in (call["id"], *call["function"].values())]


def tokens_of(row: Row, tokenizer: Any) -> int:
    """Tokens of a session as the forms write it, with its tools, in the tokenizer's own chat template.

    Counted text by text where the template refuses the messages, or where the row is unusable.
    """
    from jinja2 import TemplateError

    tools = [] if row.unusable else tools_of(row)
    if tokenizer.chat_template and not row.unusable:
        try:
            messages = filled(with_objects(row.messages))
            text = tokenizer.apply_chat_template(messages, tools=tools or None, tokenize=False)
            return len(tokenizer.encode(text, add_special_tokens=False))
        except (TemplateError, TypeError):  # such as: no system turns, strict alternation
            pass
    texts = texts_of(row.messages) + [json.dumps(tool, ensure_ascii=False) for tool in tools]
    return sum(len(tokenizer.encode(text, add_special_tokens=False)) for text in texts) + OVERHEAD_TOKENS * len(
        row.messages
    )


def round_trips(messages: list[ChatTurn]) -> tuple[list[ChatTurn], list[list[ChatTurn]]]:
    """What precedes the first assistant turn, and then the messages from each assistant turn up to the next."""
    start = opening_length(messages)
    trips: list[list[ChatTurn]] = []
    for message in messages[start:]:
        if message["role"] == "assistant":
            trips.append([])
        trips[-1].append(message)
    return messages[:start], trips


def is_work(row: Row, trip: list[ChatTurn]) -> bool:
    """True for a round trip with a call and its result, or a command: of ours, or in a fence where calls are typed."""
    text = trip[0]["content"] or ""
    if row.trajectory is not None:
        return terminal_of(text) is None
    return any(message["role"] == "tool" for message in trip) or SHELL_BLOCK.search(text) is not None


def cut(row: Row, *, budget_tokens: int, count: TokenCounter) -> Row | None:
    """The row with its oldest round trips left out, within the budget; None where what must stay is too long."""
    opening, trips = round_trips(row.messages)
    last = next((at for at in reversed(range(len(trips))) if is_work(row, trips[at])), len(trips) - 1)
    low, high = 1, last + 1  # how many to leave out: fewer tokens the more there are
    while low < high:
        middle = (low + high) // 2
        kept = row.replaced(messages=opening + [message for trip in trips[middle:] for message in trip])
        low, high = (low, middle) if count(kept) <= budget_tokens else (middle + 1, high)
    if low > last:
        return None
    shorter = row.replaced(messages=opening + [message for trip in trips[low:] for message in trip], truncated=True)
    tokens = count(shorter)
    return shorter.replaced(tokens=tokens) if tokens <= budget_tokens else None
