"""Shape the rename archetypes: change the extension of many files, add or strip a prefix of many names.

    from templates.renames import SHAPES

Reads   nothing
Writes  nothing
Needs   nothing

The loops are the plain ones of a POSIX shell: `mv` in a for loop over a glob, with `${f%.old}` and `${f#old-}`.
"""

from templates.world import Names, Shape, Unit, directory, fixture, listed, quote, shown

PAIRS: tuple[tuple[str, str], ...] = (
    ("txt", "md"),
    ("text", "txt"),
    ("log", "old"),
    ("dat", "csv"),
    ("htm", "html"),
    ("cfg", "conf"),
    ("jpeg", "jpg"),
    ("yaml", "yml"),
    ("TXT", "txt"),
)


def _named(names: Names, count: int, ext: str) -> dict[str, str]:
    """`count` file names of an extension with their texts."""
    return {names.file(ext): names.text(1, 3) for _ in range(count)}


def _renamed(
    place: str, before: dict[str, str], after: dict[str, str], *, rest: dict[str, str], **asks: object
) -> Unit:
    """A unit in which the files of `before` in `place` become those of `after`, and `rest` stays."""
    return Unit(
        fixtures=[fixture(f"{place}/{name}", text) for name, text in sorted({**before, **rest}.items())],
        after=[fixture(f"{place}/{name}", text) for name, text in after.items()],
        removed=[f"{place}/{name}" for name in before],
        **asks,  # type: ignore[arg-type]
    )


def _swap_extension(names: Names) -> Unit:
    place, (old, new) = names.directory(), names.pick(PAIRS)
    files = _named(names, names.number(2, 4), old)
    return _renamed(
        place,
        files,
        {f"{name.removesuffix(old)}{new}": text for name, text in files.items()},
        rest=_named(names, 1, names.pick(["bak", "pdf", "tmp"])),
        directive=names.pick(
            [
                f"Rename every .{old} file in {place} to end in .{new} instead.",
                f"Change the extension of all .{old} files of {place} to .{new}.",
                f"In {place} turn each NAME.{old} into NAME.{new}.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want the .{old} files below {place} to be called .{new}.",
                f"Each .{old} file in {place} should carry the extension .{new}.",
                f"Files in the folder {place} that end in .{old} must end in .{new}: rename them all.",
                f"Give the .{old} files in {place} the extension .{new} and leave every other file as it is.",
                f"Could you rename {place}/*.{old} so that they end in .{new}?",
                f"The extension .{old} is wrong in {place}; it should be .{new} for all these files.",
                f"Swap the ending .{old} for .{new} in all file names of the directory {place}.",
                f"No name in {place} should end in .{old} any more, but in .{new}; the part before the dot stays.",
                f"For each file of {place} with the extension .{old}, rename it to the same name with .{new}.",
                f"Set the extension of whatever is called *.{old} in {place} to .{new}; the part before the dot stays"
                " the same.",
                f"In the folder {place}, let all names end in .{new} that now have .{old} as their last part.",
                f"All .{old} files of {place} are renamed: .{new} comes where .{old} was, and no other file is"
                " touched.",
                f"Run through the directory {place} and turn the ending .{old} of a file name into .{new}.",
                f"Wrong extension in {place}: .{old}. Rename each file that has it, with .{new} in place of it.",
            ]
        ),
        solution=[
            names.pick(
                [
                    f'for f in {place}/*.{old}; do mv "$f" "${{f%.{old}}}.{new}"; done',
                    f'for f in {place}/*.{old}; do mv "$f" "${{f%{old}}}{new}"; done',
                ]
            )
        ],
    )


def _strip_extension(names: Names) -> Unit:
    place, old = names.directory(), names.pick(["bak", "old", "orig", "tmp"])
    files = _named(names, names.number(2, 4), f"{names.pick(['txt', 'conf', 'log'])}.{old}")
    return _renamed(
        place,
        files,
        {name.removesuffix(f".{old}"): text for name, text in files.items()},
        rest=_named(names, 1, "md"),
        directive=names.pick(
            [
                f"Strip the ending .{old} from every file name in {place} that has it.",
                f"In {place} rename each NAME.{old} to NAME.",
                f"Take .{old} off the names of all .{old} files in {place}.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want no .{old} at the end of any name in {place}, the rest of the name kept.",
                f"Files in {place} that end in .{old} should lose that ending.",
                f"Rename the files {place}/*.{old}: cut .{old} off and leave the rest of each name.",
                f"The extension .{old} is not wanted in {place}; every file that has it gets its name without it.",
                f"Could you drop .{old} from the file names in the folder {place}?",
                f"In the directory {place}, files such as NAME.{old} should be called NAME.",
                f"Every .{old} file in the folder {place} gets a shorter name, the one it has now minus .{old}.",
                f"Remove the last extension, .{old}, of all names in {place} that end in it.",
                f"Cut .{old} off wherever a name in {place} ends in it; what stands before it is the new name.",
                f"From all file names in {place} with a final .{old}, drop this .{old}, but lose no file.",
                f"Shorten the names *.{old} in {place} by .{old} and by nothing more.",
                f"All .{old} files in the folder {place} are renamed. Their new names are the old ones up to the final"
                f" .{old}.",
                f"Free the names in {place} of the extension .{old}, so that NAME.{old} is simply NAME.",
            ]
        ),
        solution=[f'for f in {place}/*.{old}; do mv "$f" "${{f%.{old}}}"; done'],
    )


def _append_extension(names: Names) -> Unit:
    place, ext, new = names.directory(), names.pick(["txt", "log", "conf", ""]), names.pick(["bak", "old", "orig"])
    files = _named(names, names.number(2, 4), ext)
    pattern = f"*.{ext}" if ext else "*"
    what = f".{ext} file" if ext else "file"
    return _renamed(
        place,
        files,
        {f"{name}.{new}": text for name, text in files.items()},
        rest=_named(names, 1, "md") if ext else {},
        directive=names.pick(
            [
                f"Append .{new} to the name of every {what} in {place}.",
                f"Rename each {what} of {place}: its name gets .{new} added at the end.",
                f"In {place} every {what} NAME becomes NAME.{new}.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want .{new} behind the full name of each {what} below {place}.",
                f"Each {what} in {place} should be called as now plus .{new}.",
                f"Give every {what} in {place} a second ending, .{new}, behind the name that it has.",
                f"Rename the files {place}/{pattern}: put .{new} after each full name.",
                f"Could you add .{new} to the end of each {what} name in the directory {place}?",
                f"In the folder {place}, NAME should be called NAME.{new}, for every {what}.",
                f"The names of all {what}s in {place} must end in .{new}; the old name stays in front of it.",
                f"Each {what} of the folder {place} is to be renamed: old name, then .{new}.",
                f"Add .{new} behind the whole name of whatever {what} lies in {place}.",
                f"Extend by .{new} what the {what}s in {place} are called, and drop nothing of it.",
                f"To each {what} name in {place}, attach .{new} as one more extension.",
                f"All {what}s of {place} are renamed. The new name is the old name and, right after it, .{new}.",
                f"In the folder {place}, mark each {what} with .{new} at the very end, so that NAME turns into"
                f" NAME.{new}.",
            ]
        ),
        solution=[f'for f in {place}/{pattern}; do mv "$f" "$f.{new}"; done'],
    )


def _two_named(names: Names) -> Unit:
    old, new = names.pick(PAIRS)
    files = {names.path(old, names.number(0, 1)): names.text(1, 3) for _ in range(2)}
    after = {f"{path.removesuffix(old)}{new}": text for path, text in files.items()}
    what = listed([shown(path) for path in files])
    return Unit(
        fixtures=[fixture(*item) for item in files.items()],
        directive=names.pick(
            [
                f"Rename {what}: both get the extension .{new} instead of .{old}.",
                f"Change the extension of {what} to .{new}.",
                f"Give {what} the extension .{new}; the rest of their names stays.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want {what} to end in .{new}.",
                f"{what} should each be called .{new}, no longer .{old}.",
                f"Two files, {what}, need another extension: .{new} in place of .{old}.",
                f"Could you rename {what} so that they end in .{new}?",
                f"For {what} swap the ending .{old} for .{new} in the name.",
                f"The files {what} have the extension .{old} but should have .{new}; rename them.",
                f"In the names of {what} put .{new} where .{old} stands now.",
                f"{what} must lose the extension .{old} and get .{new} in its place.",
                f"Turn the final .{old} of both names into .{new}: {what}.",
                f"Set .{new} as the extension where it is .{old} now, for the files {what}.",
                f"Use mv on {what}: .{old} goes, .{new} comes in its place.",
                f"Two names end in .{old}: {what}. Let them end in .{new} from now on.",
                f"Convert the names {what} from .{old} to .{new} with two mv commands.",
            ]
        ),
        solution=[f"mv {quote(a)} {quote(b)}" for a, b in zip(files, after, strict=True)],
        after=[fixture(*item) for item in after.items()],
        removed=list(files),
    )


def _swap_in_subdirectories(names: Names) -> Unit:
    place, (old, new) = names.directory(), names.pick(PAIRS)
    below = names.words(2)
    files = {f"{names.pick(below)}/{name}": text for name, text in _named(names, names.number(2, 3), old).items()}
    return _renamed(
        place,
        files,
        {f"{path.removesuffix(old)}{new}": text for path, text in files.items()},
        rest={f"{word}/{names.file('md')}": names.text(1, 2) for word in below},
        directive=names.pick(
            [
                f"In the subdirectories of {place} rename all .{old} files to .{new}.",
                f"Change .{old} to .{new} in the names of all files one level below {place}.",
                f"Every file {place}/*/NAME.{old} becomes NAME.{new} in the same subdirectory.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want .{new} instead of .{old} on the files in each subdirectory of {place}.",
                f"Files of type .{old} in directories below {place} should end in .{new}.",
                f"Rename every .{old} file that lies in a folder inside {place}: its extension should be .{new}.",
                f"Could you change the extension from .{old} to .{new} for {place}/*/*.{old}?",
                f"One level down from {place}, in its subdirectories, files NAME.{old} are to be called NAME.{new}.",
                f"All folders in {place} have .{old} files. Let these end in .{new} and stay in their folder.",
                f"The files matching {place}/*/*.{old} need the extension .{new}; each stays in its subdirectory.",
                f"Go through the subdirectories of {place} and give each .{old} file the extension .{new}.",
                f"In each folder that lies directly in {place}, turn the extension .{old} of the file names into"
                f" .{new}.",
                f"Set .{new} as the extension of what the subdirectories of {place} have as .{old} files.",
                f"Visit every subdirectory of {place}; a NAME.{old} that is there turns into NAME.{new}.",
                f"Files {place}/*/*.{old} stay in their folder. Only their extension is renamed, to .{new}.",
                f"For the folders inside {place}: rename what they have as .{old} so that it is .{new}, in the same"
                " folder.",
            ]
        ),
        solution=[f'for f in {place}/*/*.{old}; do mv "$f" "${{f%.{old}}}.{new}"; done'],
    )


def _swap_and_move(names: Names) -> Unit:
    place, target, (old, new) = names.directory(), names.directory(), names.pick(PAIRS)
    files = _named(names, names.number(2, 3), old)
    after = {f"{target}/{name.removesuffix(old)}{new}": text for name, text in files.items()}
    return Unit(
        fixtures=[fixture(f"{place}/{name}", text) for name, text in files.items()],
        directive=names.pick(
            [
                f"Rename the .{old} files of {place} to .{new}, then move them into the new directory {target}.",
                f"Make {target} and bring every .{old} file of {place} there, its extension changed to .{new}.",
                f"All .{old} files in {place} become .{new} files in {target}, a directory that you create.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want what is .{old} in {place} to be .{new} in a directory {target} that has to be made.",
                f"A new directory {target} should take the .{old} files of {place} under the extension .{new}.",
                f"Create the folder {target}; the .{old} files in {place} go there, with .{new} for their extension.",
                f"Could you rename {place}/*.{old} to end in .{new} and bring them to {target}? That directory has to"
                " be made.",
                f"In a new folder {target} put all files of {place} that end in .{old}, but let them end in .{new}.",
                f"For every NAME.{old} in {place} there should be a {target}/NAME.{new} and no longer a NAME.{old};"
                f" make {target} first.",
                f"First rename the .{old} files in the folder {place} so that they end in .{new}; second, create"
                f" {target} and put them there.",
                f"The .{old} files do not stay in {place}: as .{new} files they belong in {target}, which does not"
                " exist yet.",
                f"Set up a folder {target} and transfer whatever ends in .{old} in {place} to it, now with .{new} as"
                " its ending.",
                f"Into a new directory {target} carry every .{old} file out of {place}; on the way .{old} turns into"
                f" .{new}.",
                f"Out of {place}, bring NAME.{old} to {target}/NAME.{new}, for all such files. Create the directory"
                f" {target} before that.",
                f"Start a directory {target}. Whatever is NAME.{old} in {place} goes there as NAME.{new}.",
                f"Turn the ending .{old} into .{new} on the files of {place} and shift these files to {target}, a"
                " folder that you add.",
            ]
        ),
        solution=names.pick(
            [
                [
                    f'for f in {place}/*.{old}; do mv "$f" "${{f%.{old}}}.{new}"; done',
                    f"mkdir {target}",
                    f"mv {place}/*.{new} {target}/",
                ],
                [
                    f"mkdir {target}",
                    f'for f in {place}/*.{old}; do mv "$f" "${{f%.{old}}}.{new}"; done',
                    f"mv {place}/*.{new} {target}/",
                ],
            ]
        ),
        after=[directory(target), *(fixture(*item) for item in after.items())],
        removed=[f"{place}/{name}" for name in files],
    )


def _plain(names: Names, count: int, ext: str, prefix: str = "") -> dict[str, str]:
    """`count` names without a leading dash or space, so that a prefix can be taken off or put on in a directory."""
    return {f"{prefix}{names.file(ext, plain=True)}": names.text(1, 3) for _ in range(count)}


def _add_prefix(names: Names) -> Unit:
    place, prefix, ext = names.directory(), f"{names.word()}{names.pick(['-', '_'])}", names.pick(["log", "txt", "jpg"])
    files = _plain(names, names.number(2, 4), ext)
    return _renamed(
        place,
        files,
        {f"{prefix}{name}": text for name, text in files.items()},
        rest=_plain(names, 1, "md"),
        directive=names.pick(
            [
                f"Put the prefix {prefix} before the name of every .{ext} file in {place}.",
                f"Rename all .{ext} files of {place} so that {prefix} comes first, then the old name.",
                f"In {place} each .{ext} file NAME becomes {prefix}NAME.",
            ]
        ),
        instruction=names.pick(
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
    files = _plain(names, names.number(2, 4), ext, prefix)
    return _renamed(
        place,
        files,
        {name.removeprefix(prefix): text for name, text in files.items()},
        rest=_plain(names, 1, ext),
        directive=names.pick(
            [
                f"Strip the prefix {prefix} from the names of all files in {place} that have it.",
                f"In {place} rename every {prefix}NAME to NAME.",
                f"Take {prefix} off the front of each file name in {place} that starts with it.",
            ]
        ),
        instruction=names.pick(
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
    files = _plain(names, names.number(2, 4), names.pick(["log", "txt", "png"]), old)
    return _renamed(
        place,
        files,
        {f"{new}{name.removeprefix(old)}": text for name, text in files.items()},
        rest=_plain(names, 1, "md"),
        directive=names.pick(
            [
                f"Replace the prefix {old} by {new} in all file names of {place} that start with it.",
                f"In {place} rename each {old}NAME to {new}NAME.",
                f"File names in {place} that begin with {old} must begin with {new} instead.",
            ]
        ),
        instruction=names.pick(
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
            ]
        ),
        solution=[f'(cd {place} && for f in {old}*; do mv "$f" "{new}${{f#{old}}}"; done)'],
    )


def _prefix_two_named(names: Names) -> Unit:
    prefix = f"{names.word()}{names.pick(['-', '_'])}"
    files = _plain(names, 2, names.pick(["txt", "md", "csv"]))
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
        instruction=names.pick(
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
            ]
        ),
        solution=[f"mv {name} {prefix}{name}" for name in files],
        after=[fixture(f"{prefix}{name}", text) for name, text in files.items()],
        removed=list(files),
    )


def _prefix_with_directory(names: Names) -> Unit:
    place, target = names.directory(), names.directory()
    ext = names.pick(["txt", "log", "csv"])
    files = _plain(names, names.number(2, 3), ext)
    return Unit(
        fixtures=[*(fixture(f"{place}/{name}", text) for name, text in files.items()), directory(target)],
        directive=names.pick(
            [
                f"Move every .{ext} file of {place} into {target}, with {place}- put before its name.",
                f"Bring the .{ext} files from {place} to {target}; NAME is called {place}-NAME there.",
                f"Each {place}/NAME.{ext} becomes {target}/{place}-NAME.{ext}.",
            ]
        ),
        instruction=names.pick(
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
            ]
        ),
        solution=[f'for f in {place}/*.{ext}; do mv "$f" "{target}/{place}-${{f##*/}}"; done'],
        after=[fixture(f"{target}/{place}-{name}", text) for name, text in files.items()],
        removed=[f"{place}/{name}" for name in files],
    )


SHAPES: dict[str, list[Shape]] = {
    "rename_extension": [
        _swap_extension,
        _strip_extension,
        _append_extension,
        _two_named,
        _swap_in_subdirectories,
        _swap_and_move,
    ],
    "rename_prefix": [
        _add_prefix,
        _strip_prefix,
        _swap_prefix,
        _prefix_two_named,
        _prefix_with_directory,
    ],
}
