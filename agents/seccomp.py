"""Widen the sandbox's filter of system calls for agent programs: TCP on the loopback, and nothing else.

A sandbox has no network, so the only address that a socket reaches is its own 127.0.0.1, where the relay listens.
"""

import json
from typing import Any

from sandbox.containers import SECCOMP

# socket(2): AF_INET with SOCK_STREAM, whatever flags. setsockopt(2): any option of IPPROTO_TCP and IPPROTO_IP, and
# those of SOL_SOCKET below SO_ATTACH_FILTER: filters hold memory of the kernel that no cgroup counts.
AF_INET, SOCK_STREAM, TYPE_MASK = 2, 1, 0xF
SOL_SOCKET, IPPROTO_TCP, IPPROTO_IP = 1, 6, 0
SO_ATTACH_FILTER = 26
OTHER_FAMILIES = "SCMP_CMP_NE"


def agent_seccomp() -> str:
    """The filter as Docker takes it: sandbox/seccomp.json with the rules above."""
    profile = json.loads(SECCOMP)
    rules = [rule for rule in profile["syscalls"] if not _refuses_other_families(rule)]
    rules.append(_allowed("socketpair", refuse=[_argument(0, 1, "SCMP_CMP_NE")]))
    for protocol in (IPPROTO_IP, IPPROTO_TCP):  # the first is socket(2)'s default: TCP
        stream = _masked(1, TYPE_MASK, SOCK_STREAM)
        rules.append(_allowed("socket", [_argument(0, AF_INET), stream, _argument(2, protocol)]))
    rules += [_allowed("setsockopt", [_argument(1, level)]) for level in (IPPROTO_TCP, IPPROTO_IP)]
    rules.append(_allowed("setsockopt", [_argument(1, SOL_SOCKET), _argument(2, SO_ATTACH_FILTER, "SCMP_CMP_LT")]))
    return json.dumps({**profile, "syscalls": rules})


def _refuses_other_families(rule: dict[str, Any]) -> bool:
    return "socket" in rule["names"] and any(one["op"] == OTHER_FAMILIES for one in rule.get("args") or ())


def _allowed(name: str, args: list[dict[str, Any]] | None = None, *, refuse: Any = None) -> dict[str, Any]:
    if refuse:
        return {"names": [name], "action": "SCMP_ACT_ERRNO", "errnoRet": 97, "args": refuse}
    return {"names": [name], "action": "SCMP_ACT_ALLOW", "args": args}


def _argument(index: int, value: int, op: str = "SCMP_CMP_EQ") -> dict[str, Any]:
    return {"index": index, "value": value, "op": op}


def _masked(index: int, mask: int, value: int) -> dict[str, Any]:
    return {"index": index, "value": mask, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ"}
