"""Name the rules by which a task or a trajectory of another tool is refused.

RULES says what each rule refuses. docs/formats.md has the same table.
"""

RULES = {
    "toml": "task.toml is not TOML or misses its shape",
    "steps": "the task has several steps: a scenario is judged once, at its end",
    "os": "the task is not for Linux",
    "services": "the task needs other services, tools, accelerators or a prebuilt image",
    "network": "the task asks for a network",
    "dockerfile": "the Dockerfile does more than FROM, COPY, WORKDIR, USER, LABEL and CMD, or copies a bad name",
    "world": "a path of the task lies outside /home/operator, or work begins elsewhere",
    "verifier": "the verifier is more than one POSIX sh program that writes /logs/verifier/reward.txt",
    "solution": "there is no solution, or it is more than one POSIX sh program",
    "instruction": "the instruction is empty or too long for a directive",
    "archetype": "nothing says which archetype the work is, or the archetype is a blocked one",
    "id": "an earlier record has the same id, or the id is that of a directory's manifest",
    "image": "the scenario needs an image of your own that Docker here does not have",
    "link": "a file of the task is a link, or leads out of it",
    "missing": "a file of the task is not there or cannot be read",
    "size": "a file of the task is over 8 MiB",
    "text": "a file of the task is not UTF-8",
    "mismatch": "environment/world.tar contradicts scenario.json, or cannot be read",
    "record": "the parts do not make a valid record",
    "foreign": "the trajectory was not written here: it does not tell scenario, labels and exit codes",
    "messages": "the messages of a trajectory do not follow from its steps",
}


class UnfitError(ValueError):
    """Something that cannot be read or written as ours: `rule` names why, the text says what."""

    def __init__(self, rule: str, text: str) -> None:
        super().__init__(f"{rule}: {text}")
        assert rule in RULES, rule
        self.rule = rule
