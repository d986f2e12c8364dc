"""Worlds of the archetype set_modes: the modes of one file, of some files by name, type or mode, or of a tree.

Contents stay as they are; only modes change.
"""

from collections.abc import Callable

from authoring.templates.world import Names, Shape, Unit, directory, fixture, quote, shown
from schema import Fixture

SYMBOLIC: dict[str, tuple[str, Callable[[int], int]]] = {
    "u+x": ("executable for its owner", lambda mode: mode | 0o100),
    "a+x": ("executable for everybody", lambda mode: mode | 0o111),
    "go-r": ("unreadable for group and others", lambda mode: mode & ~0o044),
    "a-w": ("read-only for everybody, the owner too", lambda mode: mode & ~0o222),
    "g+w": ("writable for its group", lambda mode: mode | 0o020),
    "o-r": ("unreadable for others", lambda mode: mode & ~0o004),
}


def _with_mode(entry: Fixture, mode: int) -> Fixture:
    """The entry as it is after chmod."""
    return entry.model_copy(update={"mode": mode})


def _octal(names: Names, *without: int) -> int:
    """A mode for files that is none of `without`."""
    return names.pick([mode for mode in (0o600, 0o640, 0o644, 0o660, 0o664, 0o440, 0o400) if mode not in without])


def _mode_of_file(names: Names) -> Unit:
    entry = fixture(path := names.path(names.pick(["txt", "sh", "conf"]), names.number(0, 1)), names.text(), 0o644)
    mode = names.pick([0o600, 0o640, 0o660, 0o664, 0o400, 0o444, 0o700, 0o750, 0o755])
    s = shown(path)
    return Unit(
        fixtures=[entry],
        directive=names.pick(
            [
                f"Set the mode of {s} to {mode:o}.",
                f"Change the permissions of {s} to {mode:o}.",
                f"Give {s} the mode {mode:o}.",
                f"The file {s} must have mode {mode:o}; see to it.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want permission bits {mode:o} on {s}.",
                f"{s} should end up with mode {mode:o}.",
                f"Run chmod {mode:o} on {s}.",
                f"Could you change the mode of the file {s} to {mode:o}?",
                f"Use chmod so that {s} has the permissions {mode:o}.",
                f"The permissions of {s} have to be {mode:o}.",
                f"We need mode {mode:o} on the file {s}.",
                f"Let {s} have {mode:o} as its octal mode.",
                f"Octal mode {mode:o} is wanted for {s}.",
                f"Turn the permissions of {s} into {mode:o}.",
                f"Chmod {s} to {mode:o}.",
                f"Assign the permission bits {mode:o} to {s}.",
                f"On {s} set permissions {mode:o}, in octal.",
                f"For the file {s} the right mode is {mode:o}; set that.",
                f"Give the permissions {mode:o} to {s}.",
                f"Change the access rights of {s} to {mode:o} (octal).",
                f"Apply octal permissions {mode:o} to {s}.",
                f"Adjust the mode bits of {s} so that they read {mode:o}.",
                f"Make {mode:o} the mode of {s}.",
                f"Put mode {mode:o} on the file {s}, whatever its mode is today.",
                f"Reset the access mode of {s}; the new value, in octal, is {mode:o}.",
                f"Grant exactly those permissions on {s} that octal {mode:o} stands for.",
                f"Whatever permissions {s} has now, {mode:o} must replace them.",
                f"When inspected, {s} must show permission bits {mode:o}, no more and no less.",
                f"Is {s} at mode {mode:o}? If not, alter its permissions to exactly that.",
            ]
        ),
        solution=[f"chmod {mode:o} {quote(path)}"],
        after=[_with_mode(entry, mode)],
    )


def _mode_in_words(names: Names) -> Unit:
    before = names.pick([0o644, 0o664, 0o600])
    entry = fixture(path := names.path(names.pick(["txt", "sh", "log"]), names.number(0, 1)), names.text(), before)
    change, (words, become) = names.pick([item for item in SYMBOLIC.items() if item[1][1](before) != before])
    s = shown(path)
    return Unit(
        fixtures=[entry],
        directive=names.pick(
            [
                f"Make {s} {words} and leave its other permission bits alone.",
                f"Without touching the other bits, make {s} {words}.",
                f"See to it that {s} is {words}; the rest of its mode stays.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want {s} to be {words}, nothing else changed.",
                f"{s} should become {words}.",
                f"{s} has to be {words}; change no other bit.",
                f"Change only what is needed to have {s} {words}.",
                f"Use chmod on {s}, so that it becomes {words}; all its other bits stay.",
                f"Could you see that {s} becomes {words}, with no other change to its mode?",
                f"We need {s} {words}. All other permission bits stay as they are.",
                f"Leave the mode of {s} as it is, but let it be {words}.",
                f"By a single chmod {s} is to become {words}; do not alter anything else about its permissions.",
                f"Turn {s} into a file {words}, but alter none of its other bits.",
                f"Adjust {s} to become {words}; every other bit of its mode remains what it was.",
                f"Render {s} {words}, with nothing else changed in its mode.",
                f"Of the mode of {s} alter only this: the file becomes {words}.",
                f"The file {s} is to be {words}. Set its mode accordingly, with all the other bits as before.",
                f"Make {s} {words}; keep all its remaining permission bits.",
                f"Modify the permissions of {s} just enough for it to be {words}.",
                f"Edit the mode of {s}: the file becomes {words} and each bit not concerned is kept.",
                f"Alter mode bits of {s} to get it {words}, without touching the remaining ones.",
                f"Preserve the permissions of {s} but for one change, which leaves it {words}.",
                f"Keep the permissions of {s}, except that the file must now be {words}.",
                f"Update {s} so that it is {words} (any bit this does not concern is preserved).",
                f"Apply one symbolic mode change to {s}: it ends up {words}, with other bits unaltered.",
                f"Is {s} {words} yet? It has to be, with its other permission bits untouched.",
                f"Once finished, {s} has become {words} while its other mode bits are the same as today.",
                f"Without disturbing the other bits of its mode, have {s} end up {words}.",
            ]
        ),
        solution=[f"chmod {change} {quote(path)}"],
        after=[_with_mode(entry, become(before))],
    )


def _modes_by_extension(names: Names) -> Unit:
    place = names.directory()
    ext, other = names.pick([("sh", "txt"), ("py", "md"), ("conf", "log"), ("log", "txt")])
    mode = names.pick([0o755, 0o750, 0o700]) if ext in ("sh", "py") else names.pick([0o600, 0o640, 0o660])
    matching = [fixture(f"{place}/{names.file(ext)}", names.text(1, 3), 0o644) for _ in range(names.number(2, 4))]
    rest = [fixture(f"{place}/{names.file(other)}", names.text(1, 3), 0o644) for _ in range(names.number(1, 2))]
    return Unit(
        fixtures=names.rng.sample(matching + rest, len(matching + rest)),
        directive=names.pick(
            [
                f"Set the mode of every .{ext} file in {place} to {mode:o}; other files keep theirs.",
                f"All .{ext} files of {place} get mode {mode:o}.",
                f"Change the permissions of the .{ext} files in {place} to {mode:o} and of nothing else.",
            ]
        ),
        instruction=names.wording(
            [
                f"In {place} I want mode {mode:o} on whatever ends in .{ext}.",
                f"Each .{ext} file below {place} should end up with permission bits {mode:o}.",
                f"Run chmod {mode:o} on the .{ext} files in {place}.",
                f"Could you give each .{ext} file in the folder {place} the mode {mode:o}?",
                f"Use chmod so that all files in {place} ending in .{ext} have permissions {mode:o}.",
                f"The .{ext} files of {place} have to have mode {mode:o}; do not touch other files.",
                f"We need mode {mode:o} on {place}/*.{ext}.",
                f"Only what is called *.{ext} in {place} gets a new mode: {mode:o}.",
                f"Let all the .{ext} files in {place} have {mode:o} as their octal mode.",
                f"Assign mode {mode:o} to every file in {place} whose name ends in .{ext}, and to no other.",
                f"Chmod all .{ext} files of {place} to {mode:o} and leave the rest untouched.",
                f"For the files {place}/*.{ext} set the permission bits {mode:o}.",
                f"Go through {place} and set the mode of what ends in .{ext} to {mode:o}.",
                f"Any .{ext} file in {place} becomes {mode:o}. The mode of everything else remains.",
                f"Give mode {mode:o} to all files in {place} with the extension .{ext}.",
                f"Apply the permissions {mode:o} to {place}/*.{ext} and to nothing else.",
                f"Change the access rights of .{ext} files in {place}; octal {mode:o} is the new value.",
                f"Put mode {mode:o} on a selection of files in {place}, namely *.{ext}.",
                f"Grant permissions {mode:o} on the .{ext} files in {place}, while other files keep theirs.",
                f"Make {mode:o} the octal mode of everything matching {place}/*.{ext}.",
                f"Adjust the .{ext} files of {place}: their permission bits become {mode:o}.",
                f"If a name in {place} ends in .{ext}, switch that file to mode {mode:o}; otherwise leave it alone.",
                f"Permission bits {mode:o} are due on every file of {place} called *.{ext}; the others keep their own.",
                f"Update permissions in {place}, on *.{ext} only, to {mode:o}.",
                f"With the job finished, all .{ext} files in {place} show mode {mode:o} and the rest are unaltered.",
            ]
        ),
        solution=[f"chmod {mode:o} {place}/*.{ext}"],
        after=[_with_mode(entry, mode) for entry in matching],
    )


def _private_directory(names: Names) -> Unit:
    place = names.directory()
    outer, inner = names.pick([0o700, 0o750, 0o711]), names.pick([0o600, 0o640])
    entry = directory(place, 0o755)
    inside = [fixture(f"{place}/{names.file()}", names.text(1, 3), 0o644) for _ in range(names.number(2, 3))]
    return Unit(
        fixtures=[entry, *inside],
        directive=names.pick(
            [
                f"Give the files in {place} mode {inner:o} and the directory {place} itself mode {outer:o}.",
                f"Set every file of {place} to {inner:o}, then the directory to {outer:o}.",
                f"Close {place} down: mode {inner:o} for the files in it, mode {outer:o} for the directory.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want {place} with permission bits {outer:o} and all that lies in it with {inner:o}.",
                f"The directory {place} should end up as {outer:o}, its files as {inner:o}.",
                f"Run chmod {inner:o} on all files in {place}, then chmod {outer:o} on {place} itself.",
                f"Could you set the files in {place} to mode {inner:o}, and the folder {place} to {outer:o}?",
                f"The folder {place} has to have mode {outer:o}, and each file in it mode {inner:o}.",
                f"We need permissions {inner:o} on the files of {place} and {outer:o} on the directory.",
                f"Use chmod twice: {inner:o} for {place}/*, {outer:o} for {place}.",
                f"Let the directory {place} have {outer:o} as its mode, its files {inner:o}.",
                f"Protect {place}: its files become {inner:o}, and the directory becomes {outer:o}.",
                f"Chmod what lies in {place} to {inner:o} and {place} as a directory to {outer:o}.",
                f"Assign {outer:o} to the directory {place}, and {inner:o} to every file directly in it.",
                f"On {place} itself set mode {outer:o}, on its files mode {inner:o}.",
                f"Turn the permissions of all files in {place} into {inner:o}; those of the directory become"
                f" {outer:o}.",
                f"Every file of {place} becomes {inner:o}, and {place} gets other permissions, too: {outer:o}.",
                f"Give every file in {place} mode {inner:o}, then the directory {place} mode {outer:o}.",
                f"Change {place} to mode {outer:o} and the files it holds to mode {inner:o}.",
                f"Apply permissions {inner:o} to {place}/* and {outer:o} to the folder {place}.",
                f"Restrict access: the folder {place} goes to mode {outer:o}, the files inside to {inner:o}.",
                f"Adjust two kinds of modes. Files in {place}: {inner:o}. The directory {place}: {outer:o}.",
                f"Make {outer:o} the mode of the directory {place}; make {inner:o} that of each file inside.",
                f"Put mode {inner:o} on all contents of {place}, mode {outer:o} on the directory that holds them.",
                f"Tighten the files of {place} to {inner:o}, and give the folder itself permissions {outer:o}.",
                f"After the files within {place} are at {inner:o}, switch {place} itself over to {outer:o}.",
                f"Octal modes wanted: {outer:o} for the directory {place}, {inner:o} for all files inside it.",
                f"Mode {inner:o} is required for everything inside {place}, mode {outer:o} for {place} itself.",
            ]
        ),
        solution=[f"chmod {inner:o} {place}/*", f"chmod {outer:o} {place}"],
        after=[_with_mode(entry, outer), *(_with_mode(file, inner) for file in inside)],
    )


def _tree_by_type(names: Names) -> Unit:
    place, below = names.directory(), names.word()
    for_files, for_directories = names.pick([0o600, 0o640, 0o660]), names.pick([0o700, 0o750, 0o770])
    directories = [directory(place, 0o755), directory(f"{place}/{below}", 0o755)]
    files = [fixture(f"{place}/{names.file()}", names.text(1, 3), 0o644)]
    files += [fixture(f"{place}/{below}/{names.file()}", names.text(1, 3), 0o644) for _ in range(names.number(1, 2))]
    return Unit(
        fixtures=directories + files,
        directive=names.pick(
            [
                f"In the tree {place}, set all files to mode {for_files:o} and all directories, {place} included, to"
                f" {for_directories:o}.",
                f"Files anywhere below {place} get mode {for_files:o}, directories from {place} down get"
                f" {for_directories:o}.",
                f"Go through {place} with its subdirectories: mode {for_files:o} on files, mode {for_directories:o} on"
                f" every directory and on {place}.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want {for_directories:o} on each directory from {place} down and {for_files:o} on each file there.",
                f"Below {place} files should be {for_files:o}; directories, the top one too, {for_directories:o}.",
                f"Use find and chmod on {place}: files become {for_files:o}, directories, {place} too, become"
                f" {for_directories:o}.",
                f"Could you set the mode of each file under {place} to {for_files:o}, and of {place} and each"
                f" directory under it to {for_directories:o}?",
                f"All files in {place} and its subdirectories have to have mode {for_files:o}; {place} and the"
                f" directories in it need {for_directories:o}.",
                f"We need permissions {for_files:o} on the files of the whole tree {place} and {for_directories:o}"
                " on its directories, the top one as well.",
                f"Change the modes in the tree {place}: {for_directories:o} for directories, {place} among them,"
                f" and {for_files:o} for files.",
                f"Let the files anywhere in {place} be {for_files:o} and the directories, starting with {place}"
                f" itself, {for_directories:o}.",
                f"Recursively below and including {place}, directories are to have mode {for_directories:o} and"
                f" files mode {for_files:o}.",
                f"Chmod the tree {place} by type: every file to {for_files:o}, every directory, {place} as well, to"
                f" {for_directories:o}.",
                f"Assign {for_files:o} to the files at all levels of {place}, {for_directories:o} to its directories"
                f" and to {place} itself.",
                f"On all directories from {place} downwards set {for_directories:o}; on the files in them set"
                f" {for_files:o}.",
                f"Turn the mode of each directory in the tree {place}, the top included, into {for_directories:o} and"
                f" that of each file into {for_files:o}.",
                f"Any file of {place} and its subdirectories becomes {for_files:o}. {place} and every directory below"
                f" it become {for_directories:o}.",
                f"Give all files under {place} mode {for_files:o}, all directories {for_directories:o}, {place} too.",
                f"Set every directory from {place} on down to {for_directories:o} and every file to {for_files:o}.",
                f"Apply {for_directories:o} to {place} and all folders below it, {for_files:o} to all files below it.",
                f"Walk the tree {place}. Files get {for_files:o}; directories, {place} too, get {for_directories:o}.",
                f"Make directories {for_directories:o} and files {for_files:o} in all of {place}, itself included.",
                f"Adjust modes by type throughout {place}, top included: {for_directories:o} dirs, {for_files:o} files",
                f"Put {for_files:o} on files in the tree {place}, {for_directories:o} on {place} and all its folders.",
                f"Normalize the tree {place}: files {for_files:o}, directories (also {place}) {for_directories:o}.",
                f"If it is a file under {place}, mode {for_files:o}; if a directory ({place} too), {for_directories:o}",
                f"At every depth of {place}, files need {for_files:o}, directories and {place} {for_directories:o}.",
                f"Mode {for_directories:o} is for {place} and each folder at any depth, {for_files:o} for each file.",
            ]
        ),
        solution=[
            f"find {place} -type f -exec chmod {for_files:o} {{}} +",
            f"find {place} -type d -exec chmod {for_directories:o} {{}} +",
        ],
        after=[_with_mode(entry, for_files) for entry in files]
        + [_with_mode(entry, for_directories) for entry in directories],
    )


def _two_modes(names: Names) -> Unit:
    first, second = names.path("txt", names.number(0, 1)), names.path("conf", names.number(0, 1))
    one = _octal(names, 0o644)
    two = _octal(names, 0o644, one)
    entries = [fixture(first, names.text(), 0o644), fixture(second, names.text(), 0o644)]
    a, b = shown(first), shown(second)
    return Unit(
        fixtures=entries,
        directive=names.pick(
            [
                f"Set {a} to mode {one:o} and {b} to mode {two:o}.",
                f"Change two modes: {a} becomes {one:o}, {b} becomes {two:o}.",
                f"Give {a} the permissions {one:o}; {b} gets {two:o}.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want permission bits {one:o} on {a} but {two:o} on {b}.",
                f"{a} should end up with mode {one:o}, and {b} with {two:o}.",
                f"Run chmod {one:o} on {a} and chmod {two:o} on {b}.",
                f"Could you chmod {a} to {one:o} and {b} to {two:o}?",
                f"The permissions of {a} have to be {one:o}, those of {b} {two:o}.",
                f"We need mode {one:o} on {a} and mode {two:o} on {b}.",
                f"Two files need other permissions: {one:o} for {a}, {two:o} for {b}.",
                f"Let {a} have octal mode {one:o}, {b} octal mode {two:o}.",
                f"Use chmod on {a} with {one:o}, then on {b} with {two:o}.",
                f"Chmod {a} to {one:o}; do the same with {b}, but to {two:o}.",
                f"Assign mode {one:o} to the file {a}, and to the file {b} mode {two:o}.",
                f"On {a} set the permission bits {one:o}, on {b} set {two:o}.",
                f"Turn the permissions of two files, {a} and {b}, into {one:o} and {two:o} respectively.",
                f"For {a} the right mode is {one:o}, for {b} it is {two:o}. Set both.",
                f"Give {a} mode {one:o} and {b} mode {two:o}.",
                f"Change the access rights: {one:o} on {a}, {two:o} on {b}.",
                f"Apply octal permissions {one:o} to {a} and {two:o} to {b}.",
                f"Set {b} to mode {two:o}, {a} to mode {one:o}.",
                f"Put permissions {one:o} on {a} first, then {two:o} on {b}.",
                f"Make {one:o} the mode of {a} and {two:o} the mode of {b}.",
                f"Adjust two files. Mode {one:o} is for {a}, mode {two:o} is for {b}.",
                f"Switch {a} over to permission bits {one:o}, and {b} over to {two:o}.",
                f"While {a} gets the octal mode {one:o}, {b} must get {two:o}.",
                f"File {b} belongs at mode {two:o} and file {a} at mode {one:o}; fix both.",
                f"Which permissions are wanted? {one:o} on {a} and {two:o} on {b}.",
            ]
        ),
        solution=[f"chmod {one:o} {quote(first)}", f"chmod {two:o} {quote(second)}"],
        after=[_with_mode(entries[0], one), _with_mode(entries[1], two)],
    )


def _modes_by_mode(names: Names) -> Unit:
    place, below = names.directory(), names.word()
    wrong = names.pick([0o666, 0o777])
    right = names.pick([0o644, 0o640, 0o600])
    bad = [
        fixture(f"{place}/{names.file()}", names.text(1, 2), wrong),
        fixture(f"{place}/{below}/{names.file()}", "x\n", wrong),
    ]
    good = [fixture(f"{place}/{names.file()}", names.text(1, 2), 0o444) for _ in range(2)]
    return Unit(
        fixtures=bad + good,
        directive=names.pick(
            [
                f"Find the files below {place} that have mode {wrong:o} and set them to {right:o}.",
                f"Every file in the tree {place} with mode {wrong:o} gets mode {right:o}; the others stay.",
                f"Change mode {wrong:o} to {right:o} on all files under {place} that have it.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want no file of mode {wrong:o} left below {place}: make those {right:o}.",
                f"Whatever file under {place} is {wrong:o} should become {right:o}.",
                f"Use find to look for files of mode {wrong:o} in the tree {place}, and chmod them to {right:o}.",
                f"Could you change all files in {place} and its subdirectories that are {wrong:o} to {right:o}?",
                f"Files with permissions {wrong:o} anywhere in {place} have to get {right:o} instead.",
                f"We need mode {right:o} on each file under {place} that now has {wrong:o}.",
                f"Look through {place} for files whose mode is {wrong:o}, and let them have {right:o}; leave all"
                " others.",
                f"Where a file in the tree {place} has octal mode {wrong:o}, set it to {right:o}.",
                f"If a file below {place} is {wrong:o}, make it {right:o}; if not, leave it.",
                f"Search the tree {place} for files of mode {wrong:o} and turn that mode into {right:o}.",
                f"Chmod to {right:o} each file anywhere under {place} that has the permission bits {wrong:o}.",
                f"In {place} and the directories below it, turn mode {wrong:o} on files into {right:o}; touch no other"
                " mode.",
                f"No file in the tree {place} may still have mode {wrong:o}; where one does, set {right:o}.",
                f"Which files below {place} have permissions {wrong:o}? Set the mode of those, and only those, to"
                f" {right:o}.",
                f"Locate files of mode {wrong:o} at any depth in {place} and switch them to {right:o}.",
                f"Give mode {right:o} to all files below {place} that are at {wrong:o} now, and only to them.",
                f"Replace file mode {wrong:o} by {right:o} everywhere in the tree {place}.",
                f"Correct the permissions in {place}, recursively: a file at exactly {wrong:o} goes to {right:o}.",
                f"Tighten every file under {place} whose mode is exactly {wrong:o}; its new mode is {right:o}.",
                f"Scan {place} and all folders in it. Files with mode {wrong:o} get {right:o}, others keep theirs.",
                f"Apply {right:o} to each file in the tree {place}, provided that its permissions are {wrong:o}.",
                f"Is there a file of mode {wrong:o} anywhere in {place}? Any such file must be reset to {right:o}.",
                f"Mode {wrong:o} is too open: all files under {place} that have it are to be changed to {right:o}.",
                f"Swap permission bits {wrong:o} for {right:o} on files throughout {place}; skip files of other modes.",
                f"Files at {wrong:o}, on whatever level of {place}, are to be put at {right:o}, the rest left alone.",
            ]
        ),
        solution=[f"find {place} -type f -perm {wrong:o} -exec chmod {right:o} {{}} +"],
        after=[_with_mode(entry, right) for entry in bad],
    )


SHAPES: dict[str, list[Shape]] = {
    "set_modes": [
        _mode_of_file,
        _mode_in_words,
        _modes_by_extension,
        _private_directory,
        _tree_by_type,
        _two_modes,
        _modes_by_mode,
    ],
}
