"""Author doable work of blocked scenarios whose result is a fact about a file or a user."""

import hashlib

from authoring.templates.world import Names, Unit, fixture, link, quote, saving_unit, shown
from sandbox.containers import OPERATOR_UID
from schema import HOME


def own_name(names: Names) -> Unit:
    """The name of the user or of the machine, saved."""
    out = names.file("txt")
    o = shown(out)
    what, command, answer = names.pick(
        [
            ("the name of the user you are logged in as", "id -un", "operator"),
            ("the numeric id of your user", "id -u", str(OPERATOR_UID)),
            ("the absolute path of the home directory", "echo $HOME", HOME),
        ]
    )
    return saving_unit(
        names,
        [],
        out,
        f"{answer}\n",
        asks=[f"Write {what} to {o}.", f"Let {o} name {what}.", f"Record {what} in {o}."],
        solution=[f"{command} > {quote(out)}"],
    )


def mode_digits(names: Names) -> Unit:
    """The permission bits of a file, saved."""
    source, out = names.path("txt", names.number(0, 1)), names.file("txt")
    mode = names.pick([0o600, 0o640, 0o644, 0o660, 0o700, 0o750, 0o755])
    s, o = shown(source), shown(out)
    return saving_unit(
        names,
        [fixture(source, names.text(), mode)],
        out,
        f"{mode:o}\n",
        asks=[
            f"Write the mode of {s} to {o} as three octal digits.",
            f"Which mode does {s} have? Save its three digits in {o}.",
            f"Record the permissions of {s}, as an octal number, in {o}.",
        ],
        solution=[f"stat -c %a {quote(source)} > {quote(out)}"],
    )


def link_target(names: Names) -> Unit:
    """Where a symbolic link leads, saved."""
    name, target, out = names.stem(plain=True), names.path("txt", names.number(0, 1), plain=True), names.file("txt")
    o = shown(out)
    return saving_unit(
        names,
        [fixture(target, names.text()), link(name, target)],
        out,
        f"{target}\n",
        asks=[
            f"Write the target of the symbolic link {name} to {o}.",
            f"Where does the symlink {name} point? Save its target in {o}.",
            f"Record in {o} what the symbolic link {name} leads to, as the link has it.",
        ],
        solution=[f"readlink {name} > {quote(out)}"],
    )


def checksum(names: Names) -> Unit:
    """The line of a checksum program for a file, saved."""
    source, out = names.path(names.pick(["txt", "dat"]), names.number(0, 1), plain=True), names.file("txt")
    text, kind = names.text(), names.pick(["sha256", "md5", "sha1"])
    digest = hashlib.new(kind, text.encode(), usedforsecurity=False).hexdigest()
    s, o = shown(source), shown(out)
    return saving_unit(
        names,
        [fixture(source, text)],
        out,
        f"{digest}  {source}\n",
        asks=[
            f"Save the {kind} checksum of {s} in {o}, as {kind}sum prints it.",
            f"Write what {kind}sum prints for {s} to {o}.",
            f"Record the {kind} checksum line of {s}, hash and name, in {o}.",
        ],
        solution=[f"{kind}sum {source} > {quote(out)}"],
    )


def size_in_bytes(names: Names) -> Unit:
    """The size of a file in bytes, saved."""
    source, out, text = names.path(names.pick(["txt", "dat"]), names.number(0, 1)), names.file("txt"), names.text()
    s, o = shown(source), shown(out)
    return saving_unit(
        names,
        [fixture(source, text)],
        out,
        f"{len(text.encode())}\n",
        asks=[
            f"Write the size that stat gives for {s} to {o}, a bare number.",
            f"What size does stat report for {s}? Save that number in {o}.",
            f"Ask stat for the size of {s} and let {o} hold the answer.",
        ],
        solution=[f"stat -c %s {quote(source)} > {quote(out)}"],
    )
