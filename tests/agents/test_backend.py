"""A backend samples what the model would, in ids, and stops when it is told to."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from agents.backend import (
    BackendError,
    CompletionsBackend,
    DecoderBackend,
    KeptContexts,
    Sampled,
    Sampling,
    common_prefix,
)
from agents.templates import ChatTemplate
from model.decoder import Context, Decoder, next_logits
from model.loading import load_model
from tests.helpers import ids_server, tiny

GREEDY = Sampling(temperature=0.0, max_new_tokens=12)


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> DecoderBackend:
    """A tiny model whose context holds 4,096 tokens."""
    model, tokenizer = load_model(tiny.base(tmp_path_factory.mktemp("base")), dtype="fp32")
    template = ChatTemplate.of(tokenizer)
    return DecoderBackend("tiny", Decoder(model), end_ids=template.end_ids, decode=template.decode, slots=2)


@pytest.fixture(scope="module")
def served(backend: DecoderBackend) -> Iterator[ids_server.IdsServer]:
    with ids_server.running(backend) as server:
        yield server


def sample(backend: Any, ids: list[int], sampling: Sampling = GREEDY) -> Sampled:
    sampled: Sampled = asyncio.run(backend.sample(ids, sampling, threading.Event()))
    return sampled


def greedy_by_hand(model: Any, ids: list[int], count: int) -> list[int]:
    found: list[int] = []
    for _ in range(count):
        found.append(int(next_logits(model, [*ids, *found]).argmax()))
    return found


def test_kept_contexts_change_nothing(backend: DecoderBackend) -> None:
    """A longer, a shorter and a parted request read what was cached and sample as from the start."""
    for ids in ([5, 6, 7, 8], [5, 6, 7, 8, 9, 10, 11], [5, 6, 7], [5, 6, 7, 8, 99, 98], [40, 41], [5, 6, 7, 8]):
        sampled = sample(backend, ids)
        assert sampled.token_ids == greedy_by_hand(backend.decoder.model, ids, len(sampled.token_ids))
        assert len(sampled.log_probs) == len(sampled.token_ids)


def test_a_kept_context_is_read_no_second_time() -> None:
    kept, context = KeptContexts(200), Context()
    context.ids, context.cached = list(range(100)), 99
    kept.give(context)
    assert kept.take([*range(100), 7, 8]) is context
    assert (context.cached, len(context.ids)) == (99, 102)
    kept.give(context)
    assert kept.take([*range(20), 7]).cached == 0  # too little is shared
    assert kept.take(list(range(90))).cached == 89
    for start in (1000, 2000, 3000):
        other = Context()
        other.ids = list(range(start, start + 90))
        kept.give(other)
    assert [one.ids[0] for one in kept.kept] == [2000, 3000]  # 200 tokens in all


def test_common_prefix() -> None:
    assert [common_prefix([1, 2, 3], other) for other in ([], [1], [1, 2, 4, 5], [1, 2, 3, 4], [2])] == [0, 1, 2, 3, 0]


def test_many_requests_are_decoded_together(backend: DecoderBackend) -> None:
    """Four at once with two slots: the same ids as one by one, in fewer steps than their tokens."""
    contexts = [[place, place + 1, place + 2] for place in range(20, 24)]
    alone = [sample(backend, ids).token_ids for ids in contexts]
    steps, tokens = backend.decoder.steps, backend.decoder.sampled_tokens

    async def at_once() -> list[Sampled]:
        return await asyncio.gather(*(backend.sample(ids, GREEDY, threading.Event()) for ids in contexts))

    assert [one.token_ids for one in asyncio.run(at_once())] == alone
    assert backend.decoder.steps - steps < backend.decoder.sampled_tokens - tokens
    assert backend.state() == {"sampling": 0, "waiting": 0}


def test_a_cancelled_request_frees_its_slot(backend: DecoderBackend) -> None:
    """Two long requests hold both slots, a third waits; when one is cancelled, the third is sampled."""
    endless = Sampling(temperature=1.0, max_new_tokens=4000, seed=1)
    cancelled, other = threading.Event(), threading.Event()

    async def play() -> tuple[Sampled, dict[str, int], Sampled]:
        backend_ends, backend.end_ids = backend.end_ids, frozenset()
        try:
            first = asyncio.create_task(backend.sample([1, 2, 3], endless, cancelled))
            second = asyncio.create_task(backend.sample([4, 5, 6], endless, other))
            third = asyncio.create_task(backend.sample([7, 8, 9], GREEDY, threading.Event()))
            while backend.state() != {"sampling": 2, "waiting": 1}:
                await asyncio.sleep(0.01)
            state = backend.state()
            assert not third.done()
            cancelled.set()
            done = await asyncio.wait_for(third, 60)
            other.set()
            await second
            return await first, state, done
        finally:
            backend.end_ids = backend_ends

    first, _, third = asyncio.run(play())
    assert first.finish == "cancelled"
    assert len(first.token_ids) < 4000
    assert len(third.token_ids) == 12


def test_a_seed_gives_the_same_reply_again(backend: DecoderBackend) -> None:
    once, again, other = (sample(backend, [1, 2, 3], Sampling(1.0, 12, seed)).token_ids for seed in (7, 7, 8))
    assert once == again != other


def test_a_stop_text_ends_a_reply(backend: DecoderBackend) -> None:
    whole = sample(backend, [1, 2, 3])
    text = backend.decode(whole.token_ids)
    sampled = sample(backend, [1, 2, 3], Sampling(0.0, 12, 0, (text[2:4],)))
    assert sampled.finish == "stop"
    assert sampled.stop_text == text[2:4]
    assert len(sampled.token_ids) < len(whole.token_ids)


def test_a_server_that_returns_ids_samples_as_the_model_here(
    backend: DecoderBackend, served: ids_server.IdsServer
) -> None:
    remote = CompletionsBackend(served.url, "tiny", end_ids=backend.end_ids)
    assert remote.context_tokens == 512
    there, here = sample(remote, [9, 8, 7]), sample(backend, [9, 8, 7])
    assert there == here
    body = served.bodies[-1]
    assert body["prompt"] == [9, 8, 7]
    assert body["return_token_ids"] is True
    assert body["stop_token_ids"] == sorted(backend.end_ids)
    assert (body["top_p"], body["top_k"], body["repetition_penalty"]) == (1.0, 0, 1.0)


@pytest.mark.parametrize(
    "change",
    [{"token_ids": None}, {"token_ids": [1]}, {"prompt_token_ids": [0, 9, 8, 7]}, {"logprobs": None}],
    ids=str,
)
def test_an_answer_without_the_right_ids_is_refused(
    backend: DecoderBackend, served: ids_server.IdsServer, change: dict[str, Any]
) -> None:
    remote = CompletionsBackend(served.url, "tiny", end_ids=backend.end_ids, retries=0)
    served.change = change
    try:
        with pytest.raises(BackendError):
            sample(remote, [9, 8, 7])
    finally:
        served.change = {}


def test_a_server_that_fails_or_lacks_the_model_is_named(backend: DecoderBackend, served: ids_server.IdsServer) -> None:
    remote = CompletionsBackend(served.url, "tiny", end_ids=backend.end_ids, retries=0)
    served.status = 500
    try:
        with pytest.raises(BackendError, match="broken"):
            sample(remote, [9, 8, 7])
    finally:
        served.status = 200
    with pytest.raises(BackendError, match="has no model 'other', but tiny"):
        CompletionsBackend(served.url, "other", end_ids=backend.end_ids)
    with pytest.raises(BackendError, match=r"127\.0\.0\.1:9/"):
        CompletionsBackend("http://127.0.0.1:9/v1", "tiny", end_ids=backend.end_ids, retries=0)


def test_cancelling_closes_the_connection_to_the_server(backend: DecoderBackend, served: ids_server.IdsServer) -> None:
    remote, cancelled = CompletionsBackend(served.url, "tiny", end_ids=backend.end_ids), threading.Event()
    served.wait_for_disconnect = True
    try:
        threading.Timer(0.2, cancelled.set).start()
        assert asyncio.run(remote.sample([1, 2], GREEDY, cancelled)).finish == "cancelled"
        assert served.cancelled.wait(30)
    finally:
        served.wait_for_disconnect = False
