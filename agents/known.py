"""Know which agent programs can act in a sandbox: how each is started, and what its calls and results look like.

    program = AGENTS["plain"]
    program.command("shell login: operator", "http://127.0.0.1:8642", "secret")

runs/agent_image.sh builds the images. Settings of a program go to /tmp/agent, so that nothing of it lies in the home
directory, which is what a scenario is checked on.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

OPT = "/opt/agents"
PYTHON = f"{OPT}/python/bin/python3"
MINI = f"{OPT}/mini-swe-agent"
SETTINGS = "/tmp/agent"
MODEL = "sekft"  # the name that the programs ask for; the endpoint has one model


@dataclass(frozen=True)
class AgentProgram:
    """One agent program.

    Attributes:
        arguments: makes its command line of the prompt.
        environment: makes the variables beside the login's, of the endpoint's URL and the secret.
        shell_tool: the name of the tool that runs commands, in its argument `command`.
        ends_with: how a session ends that the program itself can end: a last answer without a call, or only a call.
        read_result: a result's text as the command's output and its exit code, where the program tells it.
        memory_bytes: of the sandbox.
    """

    name: str
    arguments: Callable[[str], list[str]]
    environment: Callable[[str, str], dict[str, str]]
    shell_tool: str
    ends_with: Literal["text", "call"] = "text"
    read_result: Callable[[str], tuple[str, int | None]] = lambda text: (text, None)
    memory_bytes: int = 512 << 20

    def command(self, prompt: str, url: str, secret: str) -> list[str]:
        """Its environment and command line, after `env`."""
        return [*(f"{key}={value}" for key, value in self.environment(url, secret).items()), *self.arguments(prompt)]

    def image(self, world: str) -> str:
        """The image that runs/agent_image.sh builds on that of the world."""
        return f"{world}-{self.name}"


def _mini_result(text: str) -> tuple[str, int | None]:
    """mini-swe-agent shows results as JSON; anything else is taken as it is."""
    try:
        found = json.loads(text)
        output = found["output"] if "output" in found else found["output_head"] + found["output_tail"]
        return str(output), int(found["returncode"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return text, None


def _claude_result(text: str) -> tuple[str, int | None]:
    """Claude Code writes the exit code of a command that failed before its output, and a note where there is none."""
    if text == "(Bash completed with no output)":
        return "", 0
    found = re.fullmatch(r"Exit code (\d+)(?:\n(.*))?", text, re.DOTALL)
    return (found[2] or "", int(found[1])) if found else (text, None)


PLAIN = AgentProgram(
    name="plain",
    arguments=lambda prompt: [PYTHON, "-I", f"{OPT}/plain/plain.py", prompt],
    environment=lambda url, secret: {"BASE_URL": f"{url}/v1", "API_KEY": secret, "MODEL": MODEL},
    shell_tool="shell",
    memory_bytes=256 << 20,
)
MINI_SWE_AGENT = AgentProgram(
    name="mini-swe-agent",
    arguments=lambda prompt: [
        PYTHON, "-m", "minisweagent", "--yolo", "--exit-immediately", "--cost-limit", "0", "--model", f"openai/{MODEL}",
        "--output", f"{SETTINGS}/last.json", "--task", prompt,
    ],
    environment=lambda url, secret: {
        "PYTHONPATH": MINI, "OPENAI_API_BASE": f"{url}/v1", "OPENAI_API_KEY": secret, "MSWEA_CONFIGURED": "true",
        "MSWEA_COST_TRACKING": "ignore_errors", "MSWEA_GLOBAL_CONFIG_DIR": SETTINGS, "MSWEA_SILENT_STARTUP": "1",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True", "XDG_CACHE_HOME": SETTINGS, "PYTHONDONTWRITEBYTECODE": "1",
    },
    shell_tool="bash",
    ends_with="call",
    read_result=_mini_result,
    memory_bytes=1 << 30,
)  # fmt: skip
# The replayed history must not change from request to request: no attribution header or reminder, no titles, no
# betas; every alias names the one model, so that no request asks for another.
CLAUDE_CODE = AgentProgram(
    name="claude-code",
    arguments=lambda prompt: [
        f"{OPT}/claude-code/claude", "-p", prompt, "--permission-mode", "bypassPermissions", "--tools", "Bash",
        "--system-prompt", "This is a session in a shell.", "--setting-sources", "", "--strict-mcp-config",
        "--disable-slash-commands", "--no-session-persistence",
        "--settings", '{"includeCoAuthoredBy": false, "attribution": {"commit": "", "pr": ""}}',
    ],
    environment=lambda url, secret: {
        "ANTHROPIC_BASE_URL": url, "ANTHROPIC_AUTH_TOKEN": secret, "ANTHROPIC_MODEL": MODEL,
        "ANTHROPIC_SMALL_FAST_MODEL": MODEL, "ANTHROPIC_DEFAULT_HAIKU_MODEL": MODEL,
        "ANTHROPIC_DEFAULT_SONNET_MODEL": MODEL, "ANTHROPIC_DEFAULT_OPUS_MODEL": MODEL,
        "CLAUDE_CODE_SUBAGENT_MODEL": MODEL, "CLAUDE_CODE_ATTRIBUTION_HEADER": "0",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS": "1",
        "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1", "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
        "DISABLE_AUTOUPDATER": "1", "CLAUDE_CONFIG_DIR": SETTINGS, "CLAUDE_CODE_TMPDIR": SETTINGS,
        "SHELL": f"{OPT}/claude-code/bash", "IS_SANDBOX": "1",
    },
    shell_tool="Bash",
    read_result=_claude_result,
    memory_bytes=2 << 30,
)  # fmt: skip
AGENTS = {program.name: program for program in (PLAIN, MINI_SWE_AGENT, CLAUDE_CODE)}
