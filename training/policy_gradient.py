"""Policy gradients on whole episodes: rewards, advantages, the rows to train, and the clipped loss.

    group = Group(scenario.id, episodes, [reward_of(one, scenario, settings) for one in episodes])
    data = policy_rows([group], settings, vocabulary=49152)
    loss = surrogate(log_probs, row, settings)

An episode has one reward. Its advantage is the reward minus the mean over the episodes of its group, each counted once
however many segments it has; nothing is divided by a standard deviation unless --divide-by-std says so. An episode that
could not be scored has no reward and is in no mean. With --credit command each turn has an advantage of its own
(`turn_advantages`). --negative-weight scales the advantages below 0, of what failed, against those of what succeeded
(Zhu et al. 2025, arXiv 2506.01347). The loss is (1 / E) sum over the E episodes of (1 / T) sum over the sampled tokens
of an episode of -min(r A, clip(r, 1 - low, 1 + high) A), where r = exp(log pi(t) - recorded log-prob) and A is the
advantage (Schulman et al. 2017, arXiv 1707.06347). T is the number of the episode's sampled tokens with --loss-type
grpo (Shao et al. 2024, arXiv 2402.03300), and their mean over the step's episodes with dapo, which makes every token of
a step weigh the same (Yu et al. 2025, arXiv 2503.14476). With --kl the term kl * (exp(d) - d - 1), d = log pi_start(t)
- log pi(t), is added to each token. With --sft-data the mean SFT loss of some sessions, per token, is added
--sft-weight times (PPO-ptx: Ouyang et al. 2022, arXiv 2203.02155).

Log-probs are recorded at the sampling temperature, so those of the policy and of the start are computed at it too. An
end marker that was appended to a turn of full length was not sampled: it has no log-prob and is not trained.
"""

import math
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pipeline.verdicts import events_of, verdict_of, was_shown
from schema import VOIDED, Scenario, Segment, Trajectory, canonical, sha256
from training.continued import spares_terminal
from training.dataset import Dataset, last_turn
from training.rl_settings import RlSettings

UNSCORABLE = VOIDED | {"checker_failed"}


def is_solved(episode: Trajectory, scenario: Scenario) -> bool:
    """True where the final state is verified and the terminal is the right one."""
    verdict = verdict_of(
        expected=scenario.terminal, commands=episode.commands, outcome=episode.outcome, verified=episode.verified
    )
    return verdict.verified and verdict.correct_terminal


def reward_of(episode: Trajectory, scenario: Scenario, settings: RlSettings) -> float | None:
    """The reward of an episode, from 0 to 1; None where it cannot be scored.

    1 for verified with the right terminal. With --terminate-share, --discover-share and --directive-share that earns
    the rest only; the shares are earned by a terminal, by being shown every directive before it, and by the share of
    directives shown.
    """
    if episode.outcome in UNSCORABLE:
        return None
    reward = (1 - settings.shares) * is_solved(episode, scenario)
    if settings.terminate_share:
        reward += settings.terminate_share * (episode.terminal is not None)
    if settings.discover_share:
        reward += settings.discover_share * events_of(episode, scenario.directives).discover
    if settings.directive_share:
        shown = [was_shown(directive, episode.steps) for directive in scenario.directives]
        reward += settings.directive_share * sum(shown) / len(shown)
    return reward


def advantages(rewards: Sequence[float | None], *, divide_by_std: bool = False) -> list[float | None]:
    """Each reward minus the mean of the group's rewards; None where there is no reward.

    Args:
        rewards: one for each episode of a group, not for each segment.
        divide_by_std: divide by the sample standard deviation + 1e-4, as GRPO does. It makes hard and easy scenarios
            weigh more than others (Liu et al. 2025, arXiv 2503.20783).
    """
    known = [reward for reward in rewards if reward is not None]
    if not known:
        return list[float | None](rewards)
    mean = _mean(known)
    scale = 1.0
    if divide_by_std:
        deviation = math.sqrt(sum((one - mean) ** 2 for one in known) / (len(known) - 1)) if len(known) > 1 else 0.0
        scale = deviation + 1e-4
    return [None if reward is None else (reward - mean) / scale for reward in rewards]


def _mean(rewards: Iterable[float]) -> float:
    known = list(rewards)
    return known[0] if len(set(known)) == 1 else sum(known) / len(known)  # equal rewards teach nothing, exactly


@dataclass(frozen=True)
class Group:
    """The episodes of one visit to a scenario, in id order, and the reward of each."""

    scenario_id: str
    episodes: Sequence[Trajectory]
    rewards: Sequence[float | None]

    @property
    def scored(self) -> list[float]:
        """The rewards of the episodes that could be scored."""
        return [reward for reward in self.rewards if reward is not None]

    @property
    def has_signal(self) -> bool:
        """True where two scored episodes have different rewards."""
        return len(set(self.scored)) > 1


@dataclass(frozen=True)
class PolicyRow:
    """A segment to train on.

    `places` are the positions of its sampled tokens; `old` and `advantages` hold the recorded log-prob and the
    advantage of each.
    """

    episode: str
    token_ids: Sequence[int]
    places: Sequence[int]
    old: Sequence[float]
    advantages: Sequence[float]
    divisor: float  # T of the loss: sampled tokens in all segments of the episode, or their mean over the step
    temperature: float

    @property
    def teaches(self) -> bool:
        """True where a token has an advantage."""
        return any(self.advantages)


@dataclass(frozen=True)
class SftRow:
    """A session of --sft-data. `places` are the positions of the operator's tokens, which carry loss."""

    token_ids: Sequence[int]
    places: Sequence[int]


def sft_rows(dataset: Dataset, settings: RlSettings, step: int) -> list[SftRow]:
    """The sessions of --sft-data that join the update of a step: --groups of them, drawn anew for each step."""
    draw = random.Random(f"{settings.seed} {step}")
    return [
        SftRow(one.encoded.token_ids, [at for at, on in enumerate(one.encoded.mask) if on])
        for one in draw.sample(dataset.examples, min(settings.groups, len(dataset.examples)))
    ]


@dataclass
class PolicyData:
    """The rows of one step. `episodes`: how many episodes they are of, which is what the loss is divided by."""

    rows: list[PolicyRow] = field(default_factory=list)
    left_out: dict[str, list[str]] = field(
        default_factory=lambda: {"unscorable": [], "not_recorded": [], "greedy": [], "over_length": [], "no_tokens": []}
    )
    episodes: int = 0
    sft: list[SftRow] = field(default_factory=list)

    def hash(self) -> str:
        """SHA-256 over ids, places and advantages."""
        return sha256(
            canonical([[row.episode, list(row.token_ids), list(row.places), list(row.advantages)] for row in self.rows])
        )


def segments_of(episode: Trajectory) -> list[Segment]:
    """What the operator read and sampled: the segments of an agent program, or the one session of a local operator."""
    if episode.segments is not None:
        return episode.segments
    if episode.token_ids is None or episode.assistant_mask is None or episode.log_probs is None:
        return []
    return [
        Segment(token_ids=episode.token_ids, assistant_mask=episode.assistant_mask, log_probs=episode.log_probs)
    ]  # fmt: skip


def sampled_places(segment: Segment) -> list[int]:
    """The positions that were sampled and are trained. The first token has nothing before it."""
    return [
        at
        for at, (on, known) in enumerate(zip(segment.assistant_mask, segment.log_probs, strict=True))
        if on and known is not None and at
    ]


Turn = tuple[int, ...]  # the ids of what was read or sampled


def typed_turns(segment: Segment) -> Iterator[tuple[range, Turn, Turn]]:
    """Each turn of the operator: its positions, the turn before with what it brought, and the turn itself."""
    before = begin = 0
    for end, (on, after) in enumerate(zip(segment.assistant_mask, [*segment.assistant_mask[1:], 0], strict=True), 1):
        if not on:
            begin = end
        elif not after:
            yield range(begin, end), tuple(segment.token_ids[before:begin]), tuple(segment.token_ids[begin:end])
            before = begin


def turn_advantages(group: Group) -> dict[str, list[dict[int, float]]]:
    """The advantage at each position of the operator's turns, for each segment, by the id of a scored episode.

    Two episodes of a group are in the same state where their turn before and what it brought are the same, whatever
    came earlier. The advantage of a turn is the mean reward of the episodes that typed it in its state minus the mean
    reward of all episodes that were in that state, each counted once. So it is 0 where nobody typed anything else, as
    after a mistake that one episode alone made (step-level advantages of GiGPO: Feng et al. 2025, arXiv 2505.10978).
    """
    state_rewards: dict[Turn, dict[str, float]] = defaultdict(dict)
    turn_rewards: dict[tuple[Turn, Turn], dict[str, float]] = defaultdict(dict)
    scored = [
        (one.id, list(map(list, map(typed_turns, segments_of(one)))), reward)
        for one, reward in zip(group.episodes, group.rewards, strict=True)
        if reward is not None
    ]
    for id_, segments, reward in scored:
        for _, state, typed in (turn for turns in segments for turn in turns):
            state_rewards[state][id_] = turn_rewards[state, typed][id_] = reward
    return {
        id_: [
            {
                place: _mean(turn_rewards[state, typed].values()) - _mean(state_rewards[state].values())
                for places, state, typed in turns
                for place in places
            }
            for turns in segments
        ]
        for id_, segments, _ in scored
    }


def policy_rows(groups: Sequence[Group], settings: RlSettings, *, vocabulary: int) -> PolicyData:
    """The rows of a step's groups.

    An episode is left out of the rows, with all its segments, where it cannot be scored (`unscorable`), has no
    recorded ids with log-probs of this vocabulary, or no sampling temperature (`not_recorded`: the reference operator
    behind an agent program samples nothing), was sampled at temperature 0 (`greedy`: it was
    no draw from the policy), has a segment over --max-length-tokens (`over_length`), or no sampled token (`no_tokens`).
    Only the first is left out of its group's mean as well. With --terminal-loss at-fault the terminal of an episode
    below its group's mean has no place in its row, unless the final state is verified.
    """
    data = PolicyData()
    for group in groups:
        found = advantages(group.rewards, divide_by_std=settings.divide_by_std)
        by_turn = turn_advantages(group) if settings.credit == "command" else None
        for episode, advantage in zip(group.episodes, found, strict=True):
            segments = segments_of(episode)
            if reason := _why_left_out(segments, episode, advantage, settings, vocabulary):
                data.left_out[reason].append(episode.id)
                continue
            assert advantage is not None
            places = [sampled_places(one) for one in segments]
            if advantage < 0 and spares_terminal(episode, settings.terminal_loss):
                last = max(at for at, tokens in enumerate(places) if tokens)
                begin, _ = last_turn(segments[last].assistant_mask)
                places[last] = [place for place in places[last] if place < begin]
            data.episodes += 1
            for index, (segment, at) in enumerate(zip(segments, places, strict=True)):
                if at:
                    credit = [by_turn[episode.id][index][place] if by_turn else advantage for place in at]
                    row = PolicyRow(
                        episode=episode.id,
                        token_ids=segment.token_ids[: at[-1] + 1],
                        places=at,
                        old=[segment.log_probs[place] or 0.0 for place in at],
                        advantages=[one * settings.negative_weight if one < 0 else one for one in credit],
                        divisor=sum(map(len, places)),
                        temperature=episode.operator.sampling["temperature"],
                    )
                    data.rows.append(row)
    if settings.loss_type == "dapo" and data.rows:
        mean = sum(len(row.places) for row in data.rows) / data.episodes
        data.rows = [replace(row, divisor=mean) for row in data.rows]
    return data


def _why_left_out(
    segments: Sequence[Segment], episode: Trajectory, advantage: float | None, settings: RlSettings, vocabulary: int
) -> str | None:
    """The reason to leave an episode out of the rows, or None."""
    if advantage is None:
        return "unscorable"
    temperature = episode.operator.sampling.get("temperature")
    if (
        not segments
        or temperature is None
        or any(id_ >= vocabulary for segment in segments for id_ in segment.token_ids)
    ):
        return "not_recorded"
    if not any(map(sampled_places, segments)):
        return "no_tokens"
    if not temperature:
        return "greedy"
    if max(len(segment.token_ids) for segment in segments) > settings.max_length_tokens:
        return "over_length"
    return None


def token_log_probs(
    model: Any, ids: Any, places: Any, temperature: float, *, compact: bool = True, with_entropy: bool = False
) -> tuple[Any, Any]:
    """The log-probs (n,) of the ids at `places`, at a temperature, and the entropies (n,) there (None if not wanted).

    Args:
        model: a transformers or peft model.
        ids: the segment (T,).
        places: the positions (n,), each after the first.
        temperature: what the logits are divided by.
        compact: apply the head to these positions only, right where `head_is_plain`.
        with_entropy: compute the entropies, without gradient.
    """
    import torch
    import torch.nn.functional as functional

    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    if compact:
        states = inner.get_decoder()(input_ids=ids[None], use_cache=False).last_hidden_state[0]  # (T, H)
        logits = inner.get_output_embeddings()(states[places - 1])
    else:
        logits = model(input_ids=ids[None], use_cache=False).logits[0, places - 1]
    logits = logits.float() / temperature  # (n, V)
    log_probs = -functional.cross_entropy(logits, ids[places], reduction="none")
    entropies = None
    if with_entropy:
        with torch.no_grad():
            table = torch.log_softmax(logits.detach(), -1)
            entropies = -(table.exp() * table).sum(-1)
    return log_probs, entropies


def surrogate(log_probs: Any, row: PolicyRow, settings: RlSettings, reference: Any = None) -> tuple[Any, Any, Any]:
    """The loss of a row: the sum over its tokens / its divisor. Also the clipped tokens and the KL, each (n,).

    Args:
        log_probs: of the policy (n,).
        row: what was sampled.
        settings: the limits of the ratio, and the weight of the KL.
        reference: the start adapter's log-probs (n,), where --kl is not 0.
    """
    import torch

    old = torch.tensor(row.old, device=log_probs.device, dtype=log_probs.dtype)
    advantage = torch.tensor(row.advantages, device=log_probs.device, dtype=log_probs.dtype)
    ratio = (log_probs - old).exp()
    inside = ratio.clamp(1 - settings.clip_low, 1 + settings.clip_high)
    losses = -torch.minimum(ratio * advantage, inside * advantage)
    kl = None
    if reference is not None:
        apart = reference - log_probs
        kl = apart.exp() - apart - 1  # an estimate that is never negative: http://joschu.net/blog/kl-approx.html
        losses = losses + settings.kl * kl
    with torch.no_grad():
        clipped = (advantage > 0) & (ratio > 1 + settings.clip_high) | (advantage < 0) & (ratio < 1 - settings.clip_low)
    return losses.sum() / row.divisor, clipped, kl
