"""Worlds in which a prefix is added to many names, or stripped from them."""

from authoring.templates.renames import renaming_unit
from authoring.templates.world import Names, Shape, Unit, directory, fixture, listed


def _plain_files(names: Names, count: int, ext: str, prefix: str = "") -> dict[str, str]:
    """`count` file names with texts. No name begins with a dash or has a space, so that a prefix can be added."""
    return {f"{prefix}{names.file(ext, plain=True)}": names.text(1, 3) for _ in range(count)}


def _add_prefix(names: Names) -> Unit:
    place, prefix, ext = names.directory(), f"{names.word()}{names.pick(['-', '_'])}", names.pick(["log", "txt", "jpg"])
    files = _plain_files(names, names.number(2, 4), ext)
    return renaming_unit(
        place,
        files,
        {f"{prefix}{name}": text for name, text in files.items()},
        rest=_plain_files(names, 1, "md"),
        directive=names.pick(
            [
                f"Put the prefix {prefix} before the name of every .{ext} file in {place}.",
                f"Rename all .{ext} files of {place} so that {prefix} comes first, then the old name.",
                f"In {place} each .{ext} file NAME becomes {prefix}NAME.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want {prefix} in front of each .{ext} name below {place}.",
                f"The .{ext} files in {place} should all be called {prefix} plus the name they have.",
                f"Rename the files {place}/*.{ext}: each name gets {prefix} at its beginning.",
                f"Could you add {prefix} to the front of every .{ext} file name in the folder {place}?",
                f"In the directory {place}, a file NAME.{ext} should be called {prefix}NAME.{ext}.",
                f"Every .{ext} file in {place} must have a name that starts with {prefix}, followed by the old one.",
                f"Give all .{ext} files of the folder {place} the prefix {prefix} and leave the other files as they"
                " are.",
                f"Names of .{ext} files in {place} should begin with {prefix}; add it to each.",
                f"Set {prefix} before all names of .{ext} files in {place}; other names stay the same.",
                f"In the folder {place}, let {prefix} come before all names *.{ext}.",
                f"Attach {prefix} to the beginning of whatever name in {place} ends in .{ext}.",
                f"All .{ext} files of {place} are renamed. Their new names are {prefix} and, right behind it, the old"
                " names.",
                f"Let the .{ext} files in the directory {place} start with {prefix}, NAME turning into {prefix}NAME.",
                f"Prefix the .{ext} file names in {place} with {prefix}.",
                f"Prepend {prefix} in {place} wherever a name ends in .{ext}, and nowhere else.",
                f"Rename each NAME.{ext} in {place} to {prefix}NAME.{ext}.",
                f"Put {prefix} at the front of all names {place}/*.{ext}, and of no others.",
                f"Move {place}/NAME.{ext} to {place}/{prefix}NAME.{ext}, for every such file.",
                f"Label the .{ext} files in {place} by starting their names with {prefix}; the old name follows it.",
                f"Change what each .{ext} file in {place} is called: {prefix} first, then its present name.",
                f"Insert {prefix} ahead of the names of the .{ext} files that lie in {place}.",
                f"If a file of {place} ends in .{ext}, its name has to be {prefix} followed by the one it has today.",
                f"The text {prefix} goes before each .{ext} name in {place}; the rest of the name stays as it is.",
                f"Which files in {place} end in .{ext}? Those, and only those, need {prefix} before their names.",
            ]
        ),
        solution=[
            names.pick(
                [
                    f'(cd {place} && for f in *.{ext}; do mv "$f" "{prefix}$f"; done)',
                    f'for f in {place}/*.{ext}; do mv "$f" "{place}/{prefix}${{f##*/}}"; done',
                ]
            )
        ],
    )


def _strip_prefix(names: Names) -> Unit:
    place, prefix = names.directory(), f"{names.word()}{names.pick(['-', '_'])}"
    ext = names.pick(["log", "txt", "csv"])
    files = _plain_files(names, names.number(2, 4), ext, prefix)
    return renaming_unit(
        place,
        files,
        {name.removeprefix(prefix): text for name, text in files.items()},
        rest=_plain_files(names, 1, ext),
        directive=names.pick(
            [
                f"Strip the prefix {prefix} from the names of all files in {place} that have it.",
                f"In {place} rename every {prefix}NAME to NAME.",
                f"Take {prefix} off the front of each file name in {place} that starts with it.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want the names in {place} without {prefix} at their start.",
                f"Files in {place} that begin with {prefix} should lose just that.",
                f"Rename {place}/{prefix}*: each file keeps only what comes after {prefix}.",
                f"Could you drop {prefix} from the beginning of the file names in the folder {place}?",
                f"In the directory {place}, a file such as {prefix}NAME should be called just NAME.",
                f"Remove the leading {prefix} of all names in {place}; files without it stay as they are.",
                f"The prefix {prefix} is not wanted any more: files of {place} that carry it get the rest of the name.",
                f"Every file in the folder {place} called {prefix} and something must be renamed to the something.",
                f"Cut {prefix} off wherever a name in {place} begins with it.",
                f"From the names {prefix}* in {place}, drop {prefix} and leave what comes next.",
                f"Shorten the names in {place} that start with {prefix} by just this prefix.",
                f"All {prefix}* files of {place} are renamed. They lose {prefix} and nothing else.",
                f"In the folder {place}, turn what is called {prefix}NAME into plain NAME, and touch no other name.",
                f"Strip the prefix {prefix} from file names in {place}.",
                f"Rename each {place}/{prefix}NAME to {place}/NAME.",
                f"Delete {prefix} at the start of names in {place} (the files themselves stay).",
                f"Trim every file name in {place} that begins with {prefix} by this beginning.",
                f"Take {prefix} away from the front of the names in {place}; names that lack it are left alone.",
                f"Move all files {prefix}NAME in {place} to plain NAME, within that folder.",
                f"Chop the opening {prefix} off the names {place}/{prefix}*.",
                f"Clear file names in {place} of a leading {prefix}. What follows it is the new name.",
                f"If a name in {place} starts with {prefix}, the file has to be renamed to the part behind that.",
                f"After the renaming, no name in {place} has {prefix} at the front; the rest of each is as before.",
                f"Is a file of {place} called {prefix}NAME? NAME alone is what it has to be called.",
            ]
        ),
        solution=[
            names.pick(
                [
                    f'(cd {place} && for f in {prefix}*; do mv "$f" "${{f#{prefix}}}"; done)',
                    f'for f in {place}/{prefix}*; do mv "$f" "{place}/${{f#{place}/{prefix}}}"; done',
                ]
            )
        ],
    )


def _swap_prefix(names: Names) -> Unit:
    place, mark = names.directory(), names.pick(["-", "_"])
    old, new = (f"{word}{mark}" for word in names.words(2))
    files = _plain_files(names, names.number(2, 4), names.pick(["log", "txt", "png"]), old)
    return renaming_unit(
        place,
        files,
        {f"{new}{name.removeprefix(old)}": text for name, text in files.items()},
        rest=_plain_files(names, 1, "md"),
        directive=names.pick(
            [
                f"Replace the prefix {old} by {new} in all file names of {place} that start with it.",
                f"In {place} rename each {old}NAME to {new}NAME.",
                f"File names in {place} that begin with {old} must begin with {new} instead.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want {new} where names in {place} now start with {old}.",
                f"Whatever is called {old} and more in {place} should be called {new} and the same.",
                f"Rename {place}/{old}*: each name should start with {new} where it has {old} now.",
                f"Could you change the prefix of the {old} files in the folder {place} to {new}?",
                f"In the directory {place}, a file such as {old}NAME should be called {new}NAME.",
                f"The prefix {old} is wrong in {place}; put {new} at the front of these names in its place.",
                f"Every file of the folder {place} with the prefix {old} gets the prefix {new} for it, the rest as"
                " before.",
                f"Files in {place} must not start with {old} any more but with {new}; what follows stays.",
                f"Set {new} in place of {old} before all names in {place} that have {old} there.",
                f"In the folder {place}, let {new} be the prefix of the names that have {old} for it now.",
                f"Turn the names {old}* of {place} into {new}*, what comes after the prefix being the same.",
                f"All {old}* files of {place} are renamed. They start with {new} now and go on as before.",
                f"Wrong prefix in {place}: {old}. Rename each file that has it, with {new} in place of it.",
                f"Replace the prefix {old} by {new} in the file names of {place}.",
                f"Rename each {old}NAME in {place} to {new}NAME.",
                f"Change the start of names in {place} from {old} to {new}; the remainder is kept.",
                f"Swap the leading {old} for {new} on all files in {place} that have it.",
                f"Substitute {new} for {old} at the front of names in {place}.",
                f"Move every {place}/{old}NAME to {place}/{new}NAME.",
                f"Switch the files {place}/{old}* over to the prefix {new}, keeping what comes after.",
                f"Relabel what begins with {old} in {place}, so that it begins with {new} and ends as it did.",
                f"If a file name in {place} begins with {old}, this beginning has to become {new}.",
                f"The names {place}/{old}* must have {new} for a prefix instead; no other file is touched.",
                f"Does a name in {place} start with {old}? Put {new} there and keep everything after it.",
            ]
        ),
        solution=[f'(cd {place} && for f in {old}*; do mv "$f" "{new}${{f#{old}}}"; done)'],
    )


def _prefix_two_named(names: Names) -> Unit:
    prefix = f"{names.word()}{names.pick(['-', '_'])}"
    files = _plain_files(names, 2, names.pick(["txt", "md", "csv"]))
    what = listed(list(files))
    return Unit(
        fixtures=[fixture(*item) for item in files.items()],
        directive=names.pick(
            [
                f"Rename {what} by putting {prefix} before each name.",
                f"Give the files {what} the prefix {prefix}.",
                f"Put {prefix} at the front of two names: {what}.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want {what} to start with {prefix} from now on.",
                f"{what} should both get {prefix} in front.",
                f"Add the prefix {prefix} to the names of {what}.",
                f"Could you rename {what} so that {prefix} stands in front of the old name?",
                f"The two files {what} need names that begin with {prefix}, the old name behind it.",
                f"For {what} the new name is {prefix} and then the name as it is now.",
                f"Let the names of {what} start with {prefix}; use mv for both.",
                f"{what} are to be called {prefix}NAME, where NAME is what each is called today.",
                f"Set {prefix} before both names, {what}.",
                f"For {what}, extend both names by {prefix}, which comes before them.",
                f"Use mv on {what} to attach {prefix} at the beginning.",
                f"Two files are renamed: {what}. Their new names are {prefix} and, right behind it, the old names.",
                f"Turn NAME into {prefix}NAME for both {what}.",
                f"Prepend {prefix} to the names of {what}.",
                f"Relabel {what}: put {prefix} ahead of each present name, and change nothing else.",
                f"Lengthen the names of {what} at the front by {prefix}.",
                f"Mark {what} with {prefix} at the head of each name.",
                f"Label both {what} afresh, each as {prefix} plus its present name.",
                f"Move {what} to new names in place; {prefix} comes first, the present name second.",
                f"Change what {what} are called to {prefix} followed by the present name.",
                f"Two names grow by {prefix} at the front, those of {what}.",
                f"Instead of {what} we need the same two files with {prefix} leading each name.",
                f"A leading {prefix} is missing from the names of {what}; insert it.",
                f"Can both {what} carry {prefix} as the first part of their names, ahead of the present one?",
            ]
        ),
        solution=[f"mv {name} {prefix}{name}" for name in files],
        after=[fixture(f"{prefix}{name}", text) for name, text in files.items()],
        removed=list(files),
    )


def _prefix_with_directory(names: Names) -> Unit:
    place, target = names.directory(), names.directory()
    ext = names.pick(["txt", "log", "csv"])
    files = _plain_files(names, names.number(2, 3), ext)
    return Unit(
        fixtures=[*(fixture(f"{place}/{name}", text) for name, text in files.items()), directory(target)],
        directive=names.pick(
            [
                f"Move every .{ext} file of {place} into {target}, with {place}- put before its name.",
                f"Bring the .{ext} files from {place} to {target}; NAME is called {place}-NAME there.",
                f"Each {place}/NAME.{ext} becomes {target}/{place}-NAME.{ext}.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want the .{ext} files of {place} to live in {target} under names that begin with {place}-.",
                f"{target} should take over all .{ext} files in {place}, each as {place}- plus its name.",
                f"Bring {place}/*.{ext} over to the directory {target} and let each name begin with {place}-, then the"
                " old name.",
                f"Could you move the .{ext} files out of {place} to the folder {target} and add {place}- to the front"
                " of their names?",
                f"In {target} there should be a {place}-NAME for each .{ext} file NAME of {place}, which then has none"
                " of them.",
                f"Rename and move at once: a .{ext} file NAME in {place} goes to {target}/{place}-NAME.",
                f"The .{ext} files do not stay in {place}; they go to {target}, and their names get the prefix"
                f" {place}-.",
                f"Give each .{ext} file in the folder {place} the prefix {place}- and put it in the folder {target}.",
                f"Transfer whatever ends in .{ext} from {place} to the directory {target}; the names there are"
                f" {place}- and the old name.",
                f"Into {target} shift all .{ext} files of {place}; there, {place}- comes before their names.",
                f"Out of {place}, carry every NAME.{ext} to {target} and name it {place}-NAME.{ext} there.",
                f"All .{ext} files leave {place} for the folder {target}. On the way, {place}- is attached to the"
                " beginning of their names.",
                f"Turn the .{ext} files {place}/NAME into {target}/{place}-NAME, so that {place} has no .{ext} file"
                " any more.",
                f"Relocate the .{ext} files of {place} to {target}, each renamed to {place}- plus its old name.",
                f"Move each {place}/NAME.{ext} so that it becomes {target}/{place}-NAME.{ext}.",
                f"Clear {place} of .{ext} files: all go to {target}, their names prefixed with {place}-.",
                f"Shift {place}/*.{ext} into the folder {target}, putting {place}- before each name.",
                f"Empty {place} of .{ext} files; each NAME is to be found in {target} as {place}-NAME instead.",
                f"Send all files ending in .{ext} from {place} to {target}, and prepend {place}- to every name.",
                f"Take the .{ext} files out of {place}, add {place}- before their names, and put them in {target}.",
                f"Every .{ext} file now in {place} is moved to {target} and has {place}- added before its name.",
                f"For a .{ext} file NAME in {place}, the new path is {target}/{place}-NAME; no copy stays behind.",
                f"To show their origin, .{ext} files from {place} get {place}- in front as they move to {target}.",
                f"Has a file in {place} the ending .{ext}? Then move it to {target} with {place}- before its name.",
            ]
        ),
        solution=[f'for f in {place}/*.{ext}; do mv "$f" "{target}/{place}-${{f##*/}}"; done'],
        after=[fixture(f"{target}/{place}-{name}", text) for name, text in files.items()],
        removed=[f"{place}/{name}" for name in files],
    )


SHAPES: dict[str, list[Shape]] = {
    "rename_prefix": [_add_prefix, _strip_prefix, _swap_prefix, _prefix_two_named, _prefix_with_directory],
}
