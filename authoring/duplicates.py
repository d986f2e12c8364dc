"""Find scenarios that are nearly the same.

    known = NearDuplicates()
    known.add(one)
    known.reason(other)      # why `other` is refused, an empty string where it is not

Scenarios are compared by the words of their directives, fixtures and solutions; names count.
"""

import re
from collections import Counter

from schema import Scenario

GRAM, DUPLICATE_JACCARD = 5, 0.5  # words in a row; share of them that two scenarios may have in common


class NearDuplicates:
    """Word 5-grams of directives, fixtures and solution, unmasked, of every scenario admitted so far."""

    def __init__(self) -> None:
        self.sizes: dict[str, int] = {}
        self.index: dict[str, list[str]] = {}

    def nearest(self, scenario: Scenario) -> tuple[str | None, float]:
        """Id and Jaccard similarity of the most similar scenario; (None, 0) when none shares a gram."""
        grams = _grams(scenario)
        shared = Counter(id_ for gram in grams for id_ in self.index.get(gram, ()))
        scored = [(common / (len(grams) + self.sizes[id_] - common), id_) for id_, common in shared.items()]
        similarity, nearest = max(scored, default=(0.0, None))
        return nearest, similarity

    def reason(self, scenario: Scenario) -> str:
        """Why the scenario is refused as a near-duplicate; an empty string where it is none."""
        nearest, similarity = self.nearest(scenario)
        if similarity <= DUPLICATE_JACCARD:
            return ""
        return f"{similarity:.0%} of its {GRAM}-word runs are those of {nearest}; change names and contents"

    def add(self, scenario: Scenario) -> None:
        """Remember an admitted scenario."""
        grams = _grams(scenario)
        self.sizes[scenario.id] = len(grams)
        for gram in grams:
            self.index.setdefault(gram, []).append(scenario.id)


def _grams(scenario: Scenario) -> set[str]:
    fixtures = sorted(scenario.fixtures, key=lambda fixture: fixture.path)
    texts = [
        *scenario.directives, *scenario.reference_solution,
        *(f"{fixture.path} {fixture.text or fixture.base64 or fixture.target or ''}" for fixture in fixtures),
    ]  # fmt: skip
    words = re.findall(r"\w+", " ".join(texts).lower())
    return {" ".join(words[start : start + GRAM]) for start in range(max(1, len(words) - GRAM + 1))}
