"""Carry out a prompt with one tool, a shell, until the model answers without a call: an agent program for tests."""

import json
import os
import subprocess
import sys
import urllib.request
from typing import Any

TOOL = {
    "name": "shell",
    "description": "Run a command.",
    "parameters": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
}
messages: list[dict[str, Any]] = [{"role": "user", "content": sys.argv[1]}]
while True:
    body = {"model": os.environ["MODEL"], "messages": messages, "tools": [{"type": "function", "function": TOOL}]}
    request = urllib.request.Request(f"{os.environ['BASE_URL']}/chat/completions", json.dumps(body).encode())
    request.add_header("Content-Type", "application/json")
    request.add_header("Authorization", f"Bearer {os.environ['API_KEY']}")
    with urllib.request.urlopen(request) as answer:
        messages.append(json.load(answer)["choices"][0]["message"])
    if not messages[-1].get("tool_calls"):
        break
    for call in messages[-1]["tool_calls"]:
        command = json.loads(call["function"]["arguments"])["command"]
        ran = subprocess.run(["/bin/sh", "-c", command], stdout=-1, stderr=-2, stdin=-3, errors="replace")
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": ran.stdout})
