"""A provider prints directives only when asked; an announcement reveals nothing of the work."""

import re
from pathlib import Path

import pytest

from authoring.templates.providers import ROLES, announcement, provider
from authoring.templates.words import WORDS
from taxonomy import ANNOUNCEMENTS, PROVIDERS
from tests.helpers.templates import names_of, run_script

NASTY = ['it\'s $HOME `id` \\n %s "x"; *', "back\\slash & 'quotes' | $(id) ~ #"]


@pytest.mark.parametrize("kind", sorted(PROVIDERS))
def test_providers_print_directives_only_when_asked(kind: str, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for depth in PROVIDERS[kind]:
        for seed in range(12):
            names = names_of(f"{kind}{depth}{seed}")
            made = provider(kind, depth, NASTY[: 1 + seed % 2], names, names.rng)
            program = tmp_path / "bin" / made.path.rpartition("/")[2]
            program.write_text(made.source)
            program.chmod(0o755)

            def call(command: str) -> str:
                done = run_script(tmp_path, command)
                assert done.returncode == 0, (command, done)
                assert not done.stderr
                return done.stdout

            helps = [call(command) for command in made.help_commands]
            shown = [call(command) for command in made.directive_commands]
            told = {word for output in [*helps, shown[0]] for word in re.findall(r"[A-Za-z][\w-]*|\d+", output)}
            assert {
                word for asked in made.directive_commands for word in re.findall(r"[A-Za-z][\w-]*|\d+", asked)
            } <= told | {"echo"}
            assert made.help_commands[0] == program.name
            assert len(made.help_commands) == {"usage": 1, "help": 2}.get(depth, len(helps))
            assert helps[0].count("\n") == 1
            assert all(directive in "".join(shown) for directive in NASTY[: 1 + seed % 2])
            assert not any(directive in "".join(helps) for directive in NASTY)
            assert run_script(tmp_path, f"{program.name} nonsense").returncode == 2


@pytest.mark.parametrize("channel", ANNOUNCEMENTS)
def test_announcements_vary_and_reveal_nothing(channel: str) -> None:
    names = names_of(channel)
    made = [announcement(channel, "PROGRAM", names.rng) for _ in range(200)]
    assert len({entry.text for entry in made}) >= 8
    assert all("PROGRAM" in entry.text for entry in made)
    words = {word.strip(".,:;*#[]-='").lower() for entry in made for word in entry.text.split()}
    assert words.isdisjoint(WORDS)
    assert words.isdisjoint(ROLES)
    assert not any("/" in entry.text for entry in made)


def test_program_names_and_words_differ() -> None:
    assert set(ROLES).isdisjoint(WORDS)
    assert len(WORDS) == len(set(WORDS)) >= 500
    assert all(word.isascii() and word.islower() and 3 <= len(word) <= 9 for word in WORDS)
