"""Worlds in which the extension of many files changes.

The loops are plain POSIX sh: `mv` in a for loop over a glob, with `${f%.old}` and `${f#old-}`.
"""

from authoring.templates.world import Names, Shape, Unit, directory, fixture, listed, quote, shown

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


def _files_named(names: Names, count: int, ext: str) -> dict[str, str]:
    """`count` file names of an extension with their texts."""
    return {names.file(ext): names.text(1, 3) for _ in range(count)}


def renaming_unit(
    place: str, before: dict[str, str], after: dict[str, str], *, rest: dict[str, str], **asks: object
) -> Unit:
    """A unit that renames the files of `before` in `place` to those of `after`; the files of `rest` stay."""
    return Unit(
        fixtures=[fixture(f"{place}/{name}", text) for name, text in sorted({**before, **rest}.items())],
        after=[fixture(f"{place}/{name}", text) for name, text in after.items()],
        removed=[f"{place}/{name}" for name in before],
        **asks,  # type: ignore[arg-type]
    )


def _swap_extension(names: Names) -> Unit:
    place, (old, new) = names.directory(), names.pick(PAIRS)
    files = _files_named(names, names.number(2, 4), old)
    return renaming_unit(
        place,
        files,
        {f"{name.removesuffix(old)}{new}": text for name, text in files.items()},
        rest=_files_named(names, 1, names.pick(["bak", "pdf", "tmp"])),
        directive=names.pick(
            [
                f"Rename every .{old} file in {place} to end in .{new} instead.",
                f"Change the extension of all .{old} files of {place} to .{new}.",
                f"In {place} turn each NAME.{old} into NAME.{new}.",
            ]
        ),
        instruction=names.wording(
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
                f"Replace the extension .{old} by .{new} on all files in {place}.",
                f"Change every file name in {place} with .{old} at the end so that .{new} is there.",
                f"Convert names, not contents: in {place}, any NAME.{old} becomes NAME.{new}.",
                f"Rename each NAME.{old} in {place} to NAME.{new}.",
                f"Relabel the .{old} files of {place} as .{new}, with the same base names.",
                f"Substitute .{new} for the final .{old} in the file names of {place}.",
                f"Switch {place}/*.{old} over to the extension .{new}.",
                f"Move every {place}/NAME.{old} to {place}/NAME.{new}.",
                f"If a file in {place} ends in .{old}, its name must end in .{new} instead; the others keep theirs.",
                f"After this, what is NAME.{old} in {place} today is called NAME.{new}.",
                f"Is there any .{old} file in {place}? Each one needs the same base name with .{new} as its extension.",
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
    files = _files_named(names, names.number(2, 4), f"{names.pick(['txt', 'conf', 'log'])}.{old}")
    return renaming_unit(
        place,
        files,
        {name.removesuffix(f".{old}"): text for name, text in files.items()},
        rest=_files_named(names, 1, "md"),
        directive=names.pick(
            [
                f"Strip the ending .{old} from every file name in {place} that has it.",
                f"In {place} rename each NAME.{old} to NAME.",
                f"Take .{old} off the names of all .{old} files in {place}.",
            ]
        ),
        instruction=names.wording(
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
                f"Strip the final .{old} from all file names in {place} that have it.",
                f"Rename each {place}/NAME.{old} to {place}/NAME.",
                f"Trim .{old} from the end of every name in {place}; names without it stay.",
                f"Take the ending .{old} away from the files in {place}, without altering the rest of their names.",
                f"Move every file NAME.{old} in {place} to plain NAME, in the same folder.",
                f"Delete the suffix .{old} (the suffix, not the file) from names in {place}.",
                f"Chop the last part off the names {place}/*.{old}, namely .{old}.",
                f"Restore the original names in {place}: whatever has .{old} added at the end loses it.",
                f"When a file in {place} has a name that ends in .{old}, it is to be renamed without that ending.",
                f"Names in {place} are to be free of a trailing .{old}; only this last part goes.",
                f"What ends in .{old} in {place}? Every such file is to be called what stands before that ending.",
            ]
        ),
        solution=[f'for f in {place}/*.{old}; do mv "$f" "${{f%.{old}}}"; done'],
    )


def _append_extension(names: Names) -> Unit:
    place, ext, new = names.directory(), names.pick(["txt", "log", "conf", ""]), names.pick(["bak", "old", "orig"])
    files = _files_named(names, names.number(2, 4), ext)
    pattern = f"*.{ext}" if ext else "*"
    what = f".{ext} file" if ext else "file"
    return renaming_unit(
        place,
        files,
        {f"{name}.{new}": text for name, text in files.items()},
        rest=_files_named(names, 1, "md") if ext else {},
        directive=names.pick(
            [
                f"Append .{new} to the name of every {what} in {place}.",
                f"Rename each {what} of {place}: its name gets .{new} added at the end.",
                f"In {place} every {what} NAME becomes NAME.{new}.",
            ]
        ),
        instruction=names.wording(
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
                f"Append .{new} to the name of each {what} in {place}.",
                f"Rename every {what} of {place}, full name NAME, to NAME.{new}.",
                f"Tack .{new} onto all {what} names in {place}, after any extension they have.",
                f"Move each {what} in {place} to its own full name followed by .{new}, in the same folder.",
                f"Suffix the names {place}/{pattern} with .{new}; keep everything before it.",
                f"Lengthen each {what} name in {place} by a final .{new}.",
                f"Put an extra .{new} at the end of what every {what} in {place} is called.",
                f"Change the names of all {what}s in {place} by adding .{new} at the end, nothing more.",
                f"For any {what} in {place}, the new name is the complete old name with .{new} appended.",
                f"Where {place} has a {what}, its present full name is to be followed by .{new}.",
                f"Names that match {place}/{pattern} are kept whole, but .{new} comes at the end of them.",
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
        instruction=names.wording(
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
                f"Rename {what}, replacing the extension .{old} by .{new}.",
                f"Have .{new} at the end of {what} in place of the present extension.",
                f"Give {what} the ending .{new} instead of .{old}, with nothing else in their names changed.",
                f"Replace .{old} by .{new} at the end of two names, {what}.",
                f"Switch the files {what} over to the extension .{new}; each stays in its directory.",
                f"Substitute .{new} for the final .{old} in the names, not the contents, of {what}.",
                f"Relabel two files, {what}: same base name, .{new} as the extension.",
                f"Move both files, {what}, to the same name with .{new} where .{old} was.",
                f"As the extension .{old} of {what} is wrong, both are to be renamed with .{new}.",
                f"The ending .{new}, not .{old}, belongs on {what}. Rename both.",
                f"After the renaming, {what} are found under the same names but with .{new} for .{old}.",
            ]
        ),
        solution=[f"mv {quote(a)} {quote(b)}" for a, b in zip(files, after, strict=True)],
        after=[fixture(*item) for item in after.items()],
        removed=list(files),
    )


def _swap_in_subdirectories(names: Names) -> Unit:
    place, (old, new) = names.directory(), names.pick(PAIRS)
    below = names.words(2)
    files = {f"{names.pick(below)}/{name}": text for name, text in _files_named(names, names.number(2, 3), old).items()}
    return renaming_unit(
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
        instruction=names.wording(
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
                f"Replace the extension .{old} by .{new} on all files in the direct subdirectories of {place}.",
                f"Rename each {place}/*/NAME.{old} to NAME.{new}, within its own folder.",
                f"Change the ending .{old} to .{new} on all files of the folders directly inside {place}.",
                f"Convert .{old} names to .{new} in every subfolder of {place}, and leave the files where they are.",
                f"Substitute .{new} for .{old} at the end of the file names {place}/*/*.{old}.",
                f"Move all {place}/DIR/NAME.{old} to {place}/DIR/NAME.{new}, whatever DIR and NAME are.",
                f"Switch the .{old} files in the subdirectories of {place} over to the ending .{new}.",
                f"Relabel NAME.{old} as NAME.{new} in each of the folders that {place} holds.",
                f"If a folder inside {place} has a NAME.{old}, that file is to be called NAME.{new}, same folder.",
                f"The names {place}/*/*.{old} are out of date: each of them must end in .{new} instead.",
                f"Does a subdirectory of {place} hold .{old} files? Rename them there with .{new} as the extension.",
            ]
        ),
        solution=[f'for f in {place}/*/*.{old}; do mv "$f" "${{f%.{old}}}.{new}"; done'],
    )


def _swap_and_move(names: Names) -> Unit:
    place, target, (old, new) = names.directory(), names.directory(), names.pick(PAIRS)
    files = _files_named(names, names.number(2, 3), old)
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
        instruction=names.wording(
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
                f"Make a directory {target} and move each {place}/NAME.{old} to {target}/NAME.{new}.",
                f"Relocate the .{old} files of {place} to a new folder {target}, renamed to .{new}.",
                f"Move {place}/*.{old} to {target}, a directory to be created, with .{new} as the new extension.",
                f"Rename to .{new} what {place} has as .{old}; next, move it to {target}, which you have to create.",
                f"Convert NAME.{old} in {place} to {target}/NAME.{new}; the folder {target} is not there yet: add it.",
                f"Transfer what ends in .{old} from {place} to a fresh directory {target}, where it ends in .{new}.",
                f"Add the folder {target}. Shift every .{old} file of {place} there and change its ending to .{new}.",
                f"Empty {place} of .{old} files: they go to {target} (create it) with the extension .{new}.",
                f"Once a directory {target} is made, the .{old} files in {place} are to be moved there as .{new} files",
                f"{target} is to be a new directory with all the .{old} files of {place}, moved and now called .{new}.",
                f"Every {place}/NAME.{old} has to be moved to {target}/NAME.{new} after {target} has been created.",
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


SHAPES: dict[str, list[Shape]] = {
    "rename_extension": [
        _swap_extension,
        _strip_extension,
        _append_extension,
        _two_named,
        _swap_in_subdirectories,
        _swap_and_move,
    ],
}
