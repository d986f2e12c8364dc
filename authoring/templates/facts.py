"""Author doable work of blocked scenarios whose result is a fact about a file or a user."""

import hashlib

from authoring.templates.world import Names, Unit, fixture, link, quote, saving_unit, shown
from sandbox.containers import OPERATOR_UID
from schema import HOME


def own_name(names: Names) -> Unit:
    """The name of the user or of the machine, saved."""
    out = names.file("txt")
    o = shown(out)
    what, other, thing, command, answer = names.pick(
        [
            (
                "the name of the user you are logged in as",
                "who the login user is",
                "your own user name",
                "id -un",
                "operator",
            ),
            ("the numeric id of your user", "the user id as a number", "your numeric uid", "id -u", str(OPERATOR_UID)),
            (
                "the absolute path of the home directory",
                "where home is",
                "the full path of your home directory",
                "echo $HOME",
                HOME,
            ),
        ]
    )
    return saving_unit(
        names,
        [],
        out,
        f"{answer}\n",
        asks=[f"Write {what} to {o}.", f"Let {o} name {what}.", f"Record {what} in {o}."],
        others=[
            f"I want {o} to say {other}.",
            f"{o} should tell {other}.",
            f"Find out {thing} and store it in {o}.",
            f"Could you save {thing} as the only line of {o}?",
            f"We need a file {o} with {thing} in it, nothing more.",
            f"Put {thing}, just that, into a file {o}.",
            f"The file {o} has to contain {thing}.",
            f"Look up {thing}; it belongs in {o}.",
            f"Print {thing} into {o}.",
            f"Into {o} goes one line: {thing}.",
            f"Determine {thing} and let it be all that {o} says.",
            f"Ask the shell for {thing}; fill {o} with the answer.",
            f"Build a file {o} of one line. That line says {other}.",
            f"Write {thing} to {o}.",
            f"Save {thing} as {o}, nothing else.",
            f"Record {thing} on a single line in {o}.",
            f"Create {o} with just one line, {thing}.",
            f"Get {thing} and keep it in the file {o}.",
            f"{thing}: this alone should be the content of {o}.",
            f"Enter {thing} in a new file named {o}, with no further text.",
            f"Check {other}. The answer becomes the only line of {o}.",
            f"A file {o} is wanted whose sole line is {thing}.",
            f"After looking up {thing}, note it down in {o}.",
            f"Send {thing} to {o}; the file must hold that one line.",
        ],
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
        others=[
            f"I want to read the octal mode of {s} in {o}.",
            f"{o} should give the three mode digits of {s}.",
            f"What are the permissions of {s}, as three digits? Put the answer into {o}.",
            f"Could you save the octal permission bits of {s}, three digits such as 644, in a file {o}?",
            f"Look up the file mode of {s} in octal and store it in {o}, just the three digits.",
            f"The file {o} has to contain the octal mode of {s}, as stat prints it.",
            f"We need {o} with the numeric permissions (octal, three digits) of the file {s}.",
            f"Produce {o}: one line, the octal access mode of {s}.",
            f"Print the octal permissions of {s}, three digits and no more, into {o}.",
            f"Into {o} goes one line: the mode of {s}, written as a number of three octal digits.",
            f"Use stat on {s} to get its octal mode; the three digits are stored in {o}.",
            f"Determine the access mode of {s} and record it in {o} as three digits from 0 to 7.",
            f"Build a file {o} of one line. It gives the mode bits of {s} in octal, in three digits.",
            f"Write the three-digit octal mode of {s} to {o}.",
            f"Save the permissions of {s} as {o}, in octal with three digits.",
            f"Get the octal access rights of {s} and fill {o} with those three digits.",
            f"Note the mode of {s} in {o}, as three octal digits such as 640 and nothing else.",
            f"Create {o} with a single line that expresses in octal, by three digits, what permissions {s} has.",
            f"Check which permissions {s} has. Enter them in {o} as three octal digits.",
            f"The access rights of {s} are wanted in {o}, in three-digit octal form like 600.",
            f"Express the permission bits of {s} as a three-digit octal number; {o} receives it.",
            f"Read the file mode of {s} and put it into {o} (octal, three digits, no name).",
            f"A reader of {o} should see the octal mode of {s}, three digits long, and nothing more.",
            f"Find out the numeric mode of {s}, three octal digits, and let it be all that {o} says.",
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
        others=[
            f"I want {o} to say what the symlink {name} reads.",
            f"{o} should name the target of the link {name}.",
            f"{name} is a symbolic link; put the path that it points to into {o}.",
            f"Could you read the link {name} and put what it says into {o}?",
            f"The file {o} has to contain the path which the symlink {name} leads to.",
            f"Look up what the symlink {name} points at and save that path as the only line of {o}.",
            f"We need the destination of the symbolic link {name}, exactly as it is stored in the link, in {o}.",
            f"Produce {o} with one line, the target path of the link called {name}.",
            f"What does the symbolic link {name} point to? The answer belongs in {o}.",
            f"Print into {o} the path that the symlink {name} is made of.",
            f"Into {o} goes one line: the path that stands in the symbolic link {name}.",
            f"Use readlink on {name} and store what it prints in {o}.",
            f"Read the symbolic link {name} itself, not the file behind it, and record its path in {o}.",
            f"Determine where the symbolic link {name} leads. Fill {o} with that path, spelled as in the link.",
            f"Write the path that the symbolic link {name} points to into {o}.",
            f"Save the target of symlink {name} as {o}, spelled just as the link has it.",
            f"Get the target path out of the symbolic link {name} and note it in {o}.",
            f"Resolve the link {name} by one step; {o} holds the path as the link spells it.",
            f"Create {o} with the stored target of the symlink {name} as its only line.",
            f"Check which path the symlink {name} refers to. Enter it in {o} exactly like that.",
            f"The path stored in the symbolic link {name} is wanted in {o}, on one line.",
            f"Fill {o} with the destination path of the symlink {name}, not with the content of that file.",
            f"Find out what path the link {name} refers to, and make this the one line of {o}.",
            f"As its only line, {o} has the path at which the symbolic link {name} is aimed.",
            f"Extract from the symlink {name} the path it leads to (unchanged) and send that to {o}.",
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
        others=[
            f"I want the {kind}sum line of {s} in {o}.",
            f"{o} should be the output of {kind}sum for {s}.",
            f"Run {kind}sum on {s} and keep its output in {o}.",
            f"Compute the {kind} hash of {s} with {kind}sum; its output line belongs in {o}.",
            f"Could you put the {kind} checksum of {s} into {o}, with the file name behind it as {kind}sum does?",
            f"The file {o} has to contain the line that {kind}sum gives for {s}.",
            f"We need a checksum file {o} for {s}, made with {kind}sum.",
            f"Take the {kind}sum of {s} and store hash plus file name in {o}.",
            f"Print the {kind}sum of {s} into {o}, hash and file name in one line.",
            f"Into {o} goes what {kind}sum says about {s}.",
            f"Determine the {kind} checksum of {s} and record it in {o} in the form that {kind}sum has for it.",
            f"Build a checksum file {o} for {s}; {kind}sum is the program for it.",
            f"Let {kind}sum read {s}. The line that it prints is stored in {o}.",
            f"Store the {kind} hash of {s}, followed by the file name as {kind}sum shows it, as {o}.",
            f"Save {kind}sum's output line for {s} under the name {o}.",
            f"Generate {o}, the {kind}sum line (hash, two spaces, file name) of {s}.",
            f"Fingerprint {s} with {kind}sum, sending its single output line to {o}.",
            f"Hash {s} using {kind}; leave the usual hash-and-name line of {kind}sum in {o}.",
            f"Calculate the {kind} checksum of {s} and write it, file name included as by {kind}sum, to {o}.",
            f"Once done, {o} holds the {kind} digest of {s} plus the file name, just as {kind}sum prints them.",
            f"What does {kind}sum print for {s}? Capture that line in {o}.",
            f"For later verification, create {o} with the {kind}sum entry of {s}.",
            f"Redirect the report of {kind}sum on {s} to {o}.",
            f"Document the {kind} checksum of {s} in {o}: one line, same layout as {kind}sum output.",
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
        others=[
            f"I want the size of {s}, by stat, in {o}.",
            f"{o} should say the size of {s} as stat sees it.",
            f"How large is {s} in bytes, according to stat? Put only the number into {o}.",
            f"Could you use stat to get the size of {s} and store it, just the number, in {o}?",
            f"The file {o} has to contain the byte size of {s} that stat shows, nothing else.",
            f"Let stat tell how big {s} is; save the plain number as {o}.",
            f"We need the file size of {s}, the number from stat, in a file named {o}.",
            f"Get the size of {s} in bytes with stat and write just that figure into {o}.",
            f"Print the byte size of {s} into {o}, read by stat and without the file name.",
            f"Into {o} goes one number: how many bytes long {s} is, by stat.",
            f"Use stat on {s} to get the size in bytes; only this number is stored in {o}.",
            f"Determine by stat how many bytes {s} has and record that number, nothing more, in {o}.",
            f"Let stat look at {s}. Fill {o} with the size it gives, as one plain number.",
            f"Measure {s} in bytes with stat, saving the bare number to {o}.",
            f"Query stat for the byte count of {s}; redirect just that figure to {o}.",
            f"Store the size of {s} (bytes, plain number, from stat) as {o}.",
            f"Check how many bytes long {s} is according to stat, and note only the number in {o}.",
            f"Fetch the byte size of {s} through stat. No name, no unit: the digits alone go to {o}.",
            f"Write {o}: a single number, the length of {s} in bytes as reported by stat.",
            f"The byte length of {s}, looked up with stat, is to be saved bare in {o}.",
            f"With the size format of stat, output how many bytes {s} contains to {o}.",
            f"Look up the size of {s} in bytes using stat and save it, without any label, under {o}.",
            f"Report the size of {s} in {o}; stat supplies the byte count, and nothing else goes with it.",
            f"When finished, {o} shows one bare figure: the number of bytes in {s}, taken from stat.",
        ],
        solution=[f"stat -c %s {quote(source)} > {quote(out)}"],
    )
