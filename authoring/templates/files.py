"""Worlds in which files and trees are made or copied."""

from authoring.templates.world import Names, Shape, Unit, directory, fixture, listed, quote, shown, text_of


def nested_note(names: Names) -> Unit:
    """A directory three deep with a file of one line in it."""
    place = "/".join(names.words(names.number(2, 3)))
    path, line = f"{place}/{names.file(names.pick(['txt', 'md', 'note']))}", names.line()
    return Unit(
        fixtures=[],
        directive=names.pick(
            [
                f"Make the directories {place} and write the line '{line}' to {shown(path)}.",
                f"The file {shown(path)} is needed, with the single line '{line}'; its directories do not exist yet.",
                f"Create {shown(path)} holding the one line '{line}'. Make {place} first.",
                f"Set up {place}, then store the line '{line}' in {shown(path)}.",
            ]
        ),
        instruction=names.wording(
            [
                f"how to create the nested directory {place} plus a file {shown(path)} that says {line}",
                f"Create the directory {place} with all its parents and put the line '{line}' into {shown(path)}, a"
                " new file.",
                f"Could you make the folders {place} and in them a file {shown(path)} that has the line '{line}'?",
                f"There is no {place} yet: make it, then save '{line}' as the only line of {shown(path)}.",
                f"We need the nested folders {place} and the text '{line}' in {shown(path)}.",
                f"A new file {shown(path)} has to contain just '{line}'; create the directories above it as needed.",
                f"Build the path {place} and leave a one-line file in it, {shown(path)}, which says '{line}'.",
                f"'{line}' belongs in {shown(path)}, and {place} is to be created for it.",
                f"Start by making the folders {place}. Then write a file {shown(path)}, which says '{line}' and no"
                " more.",
                f"Into {shown(path)}, a file still to be made in the new directories {place}, goes one line: '{line}'.",
                f"Build {place}, parents and all, and record '{line}' as the sole line of {shown(path)}.",
                f"Print '{line}' into the new file {shown(path)} after you have made the nested directories {place} for"
                " it.",
                f"Add a file {shown(path)} with nothing in it but the line '{line}'. Its directories {place} are new,"
                " too: make them first.",
                f"Make {place}, with all parents, and a file {shown(path)} with the single line '{line}'.",
                f"Set up the directory chain {place}; write '{line}' to a new file {shown(path)}.",
                f"Store the line '{line}' in a new file {shown(path)}, creating {place} first.",
                f"Prepare the folders {place} and save the text '{line}' there as {shown(path)}.",
                f"Write '{line}' to {shown(path)} once you have created the nested folders {place}.",
                f"Generate {place} (missing parents too), then {shown(path)} with '{line}' as all its text.",
                f"Establish the directory path {place}. Fill the new file {shown(path)} with the line '{line}'.",
                f"So that {shown(path)} can say '{line}', create {place} and then the file.",
                f"In the end {place} is a directory and {shown(path)} in it reads '{line}', nothing more.",
                f"'{line}' is to be the only line of a new file {shown(path)}, in new directories {place}.",
                f"The folders {place} are missing: add them, then output '{line}' to {shown(path)}.",
            ]
        ),
        solution=[f"mkdir -p {place}", f"echo '{line}' > {quote(path)}"],
        after=[directory(place), fixture(path, f"{line}\n")],
    )


def sibling_directories(names: Names) -> Unit:
    """Directories side by side, and a file that is moved into one of them."""
    top, parts = names.directory(), names.words(names.number(2, 3))
    source = names.file(names.pick(["txt", "md", "csv"]))
    text, chosen = names.text(), names.pick(parts)
    paths = [f"{top}/{part}" for part in parts]
    return Unit(
        fixtures=[fixture(source, text)],
        directive=names.pick(
            [
                f"Make the directories {listed(paths)}, then move {shown(source)} into {top}/{chosen}.",
                f"Below {top} we need the directories {listed(parts)}. The file {shown(source)} belongs in {chosen}.",
                f"Create {top} with the subdirectories {listed(parts)} and move {shown(source)} to {top}/{chosen}/.",
            ]
        ),
        instruction=names.wording(
            [
                f"how to make several directories {' '.join(paths)} and put {shown(source)} in {top}/{chosen}",
                f"Create the folders {listed(paths)} and see that {shown(source)} is moved to {top}/{chosen}.",
                f"Could you set up the folders {listed(parts)} inside {top} and move {shown(source)} to {chosen}"
                " there?",
                f"We need a directory {top} with {listed(parts)} in it; {shown(source)} has to go into {top}/{chosen}.",
                f"Make all of {listed(paths)}, and let {shown(source)} go from the home directory into {top}/{chosen}.",
                f"Inside a new directory {top} make {listed(parts)}, and place {shown(source)} in the one called"
                f" {chosen}.",
                f"{shown(source)} has to be moved to {top}/{chosen}; all of {listed(paths)} should exist as"
                " directories in the end.",
                f"Let {top} have a subdirectory each for {listed(parts)}; bring {shown(source)} into {top}/{chosen}.",
                f"Set up {listed(paths)} as new folders and carry {shown(source)} over into {top}/{chosen}.",
                f"Under {top}, which is new, add the folders {listed(parts)}. Then shift {shown(source)} into"
                f" {top}/{chosen}.",
                f"Into {top}/{chosen} goes {shown(source)}, moved, not copied, once the folders {listed(paths)} are"
                " made.",
                f"Start a directory {top} and in it one folder each called {listed(parts)}; transfer {shown(source)} to"
                f" {top}/{chosen}.",
                f"Each of {listed(paths)} is to be made as a directory. Move {shown(source)} to {top}/{chosen}"
                " afterwards, so that it leaves its old place.",
                f"Build the directories {listed(paths)}; relocate {shown(source)} to {top}/{chosen}.",
                f"Add directories {listed(parts)} below {top} and move {shown(source)} to {top}/{chosen}.",
                f"Establish {listed(paths)} as directories. After that, move {shown(source)} into {top}/{chosen}.",
                f"Prepare folders {listed(paths)}, then file {shown(source)} away in {top}/{chosen} (move, no copy).",
                f"Relocate {shown(source)} to {top}/{chosen} after creating the folders {listed(paths)}.",
                f"Move {shown(source)} into {top}/{chosen}, having made {listed(paths)} as directories first.",
                f"Generate the subfolders {listed(parts)} of a new {top}; transfer {shown(source)} to {top}/{chosen}.",
                f"First come the new folders {listed(paths)}, then {shown(source)} moves to {top}/{chosen}.",
                f"Once {listed(paths)} are made as folders, shift {shown(source)} to {top}/{chosen}.",
                f"In the end {listed(paths)} are directories, and {shown(source)} lies in {top}/{chosen} only.",
                f"Divide a new folder {top} into subfolders {listed(parts)}; move {shown(source)} to {top}/{chosen}.",
            ]
        ),
        solution=[f"mkdir -p {' '.join(paths)}", f"mv {quote(source)} {top}/{chosen}/"],
        after=[*(directory(path) for path in paths), fixture(f"{top}/{chosen}/{source}", text)],
        removed=[source],
    )


def directories_of_list(names: Names) -> Unit:
    """One directory for each line of a file."""
    source, top = names.file("list"), names.directory()
    paths = [f"{top}/{word}" for word in names.words(names.number(3, 5))]
    return Unit(
        fixtures=[fixture(source, text_of(paths))],
        directive=names.pick(
            [
                f"Make every directory that is named in {shown(source)}, one per line, with its parents.",
                f"Each line of {shown(source)} is the path of a directory. Create them all.",
                f"Read {shown(source)} and create each of the directories listed there, parents included.",
            ]
        ),
        instruction=names.wording(
            [
                f"how to create the directories whose paths stand in {shown(source)}",
                f"Could you make the directories listed in {shown(source)}? Every line has one path.",
                f"The file {shown(source)} holds directory paths, one on each line; make these directories and what"
                " parents they need.",
                f"Run mkdir -p for each line of {shown(source)}.",
                f"We need all folders that the lines of {shown(source)} name, with their parent folders.",
                f"Go through the list {shown(source)} and make a directory for each path in it.",
                f"For every path in {shown(source)} a directory has to exist afterwards; make the missing ones,"
                " parents too.",
                f"Take the paths in {shown(source)} and turn each of them into a new directory.",
                f"Take one path after another from {shown(source)}, one to a line, and set up a folder at each of them,"
                " along with any folder above it.",
                f"Every path that {shown(source)} lists, line by line, becomes a directory; parents that are missing"
                " are made as well.",
                f"Build the folders that {shown(source)} lists. It has a path per line, and the folders above are to be"
                " made, too.",
                f"From the lines of {shown(source)}, make directories: a line is one path, whose parents may not exist"
                " yet either.",
                f"Add a directory for each path in {shown(source)}, where every line is one, and create all missing"
                " parents on the way.",
                f"Create every directory listed in {shown(source)}, parents included; each line is one path.",
                f"Read {shown(source)} and set up a folder for the path on every line, with its parents.",
                f"Feed the lines of {shown(source)} to mkdir -p.",
                f"Use the paths in {shown(source)}, one per line, to create directories, parents as needed.",
                f"Prepare the directory structure that {shown(source)} describes, one path a line.",
                f"Generate all directories that appear as paths in {shown(source)}, nested ones included.",
                f"Establish a folder at each path in {shown(source)}; missing parents get created on the way.",
                f"Ensure that each line of {shown(source)}, taken as a path, exists as a directory.",
                f"Which directories does {shown(source)} list? Create all of them, along with their parents.",
                f"Once done, each path in {shown(source)} is a directory, and so are its parents.",
                f"Directories are wanted at all paths in {shown(source)} (a line is a path), parents included.",
            ]
        ),
        solution=[names.pick([f"xargs mkdir -p < {quote(source)}", f"mkdir -p $(cat {quote(source)})"])],
        after=[directory(path) for path in paths],
    )


def same_file_in_each(names: Names) -> Unit:
    """New directories, each with a copy of the same file."""
    source, parts = names.file(names.pick(["md", "txt", "cfg"])), names.words(names.number(2, 3))
    text, row = names.text(), " ".join(parts)
    return Unit(
        fixtures=[fixture(source, text)],
        directive=names.pick(
            [
                f"Make the directories {listed(parts)} and put a copy of {shown(source)} into each of them.",
                f"Every one of the new directories {listed(parts)} gets its own copy of {shown(source)}.",
                f"Create {listed(parts)} as directories; then copy {shown(source)} into all of them.",
            ]
        ),
        instruction=names.wording(
            [
                f"how to give each directory of {row} the same file {shown(source)} with a loop",
                f"Could you create {listed(parts)}, all folders, and save the file {shown(source)} in each one?",
                f"Make {listed(parts)}, all new directories, and copy {shown(source)} to every one of them; do not"
                " remove the original.",
                f"{shown(source)} has to lie in each of the folders {listed(parts)}, which do not exist so far, and"
                " where it is now.",
                f"We need {listed(parts)} as directories that have {shown(source)} in them.",
                f"Set up {listed(parts)} as new folders that each contain the same {shown(source)}.",
                f"A copy of {shown(source)} belongs in each of {listed(parts)}; these directories are still to be"
                " made.",
                f"Distribute {shown(source)} to new folders, one copy each; they are called {listed(parts)}.",
                f"Set up new folders {listed(parts)} and reproduce {shown(source)} in every one, under its own name,"
                " without removing the original.",
                f"Into each of {listed(parts)}, directories that you make first, goes {shown(source)} as a copy; it"
                " also stays where it is.",
                f"Start new folders, {listed(parts)}. Then duplicate {shown(source)} so that each has one, and leave"
                " the first where it lies.",
                f"Add directories called {listed(parts)} and copy {shown(source)} once to each of them, without moving"
                " it.",
                f"Clone {shown(source)} into the folders {listed(parts)}, one clone per folder. None of these folders"
                " exists, so build them.",
                f"Create the directories {listed(parts)} and place a copy of {shown(source)} in each.",
                f"Build folders {listed(parts)}, each with its own copy of {shown(source)}; keep the original.",
                f"Duplicate {shown(source)} into the new directories {listed(parts)}.",
                f"Use a loop to copy {shown(source)} to every one of the new folders {listed(parts)}.",
                f"Replicate {shown(source)} across {listed(parts)}, directories that have to be created first.",
                f"Prepare {listed(parts)} as folders; every one receives {shown(source)}, which also stays put.",
                f"Supply each of the new folders {listed(parts)} with a copy of {shown(source)}.",
                f"Generate directories {listed(parts)}. Copy {shown(source)} to all of them under the same name.",
                f"Once the folders {listed(parts)} are made, {shown(source)} is copied to each; it is not moved.",
                f"In the end {listed(parts)} are folders, and {shown(source)} is in all of them and in its old place.",
                f"For each of {listed(parts)}: create a folder of that name and copy {shown(source)} there.",
            ]
        ),
        solution=[
            f"mkdir {row}",
            names.pick(
                [
                    f"for d in {row}; do cp {quote(source)} $d/; done",
                    f"for d in {row}; do cp {quote(source)} $d; done",
                ]
            ),
        ],
        after=[entry for part in parts for entry in (directory(part), fixture(f"{part}/{source}", text))],
    )


def copy_one(names: Names) -> Unit:
    """One file under a second name."""
    ext = names.pick(["txt", "conf", "csv", "log"])
    source, target, text = (
        names.path(ext, names.number(0, 1)),
        names.file(names.pick([ext, "bak", "orig"])),
        names.text(),
    )
    return Unit(
        fixtures=[fixture(source, text)],
        directive=names.pick(
            [
                f"Copy {shown(source)} to {shown(target)}.",
                f"A copy of {shown(source)} is needed under the name {shown(target)}.",
                f"Duplicate {shown(source)} as {shown(target)} and leave the original alone.",
                f"Keep {shown(source)} and save a second copy of it as {shown(target)}.",
            ]
        ),
        instruction=names.wording(
            [
                f"how to make {shown(target)} a copy of the file {shown(source)}",
                f"Could you save a copy of {shown(source)} as {shown(target)}?",
                f"Copy the file {shown(source)} under a new name, {shown(target)}.",
                f"We need the content of {shown(source)} in {shown(target)}, too; {shown(source)} itself is not to"
                " change.",
                f"Leave {shown(source)} in place and make a file {shown(target)} with the same content.",
                f"{shown(source)} is to be copied to a file called {shown(target)}.",
                f"Put a duplicate of {shown(source)} into {shown(target)}.",
                f"The file {shown(target)} has to be the same as {shown(source)}; use cp.",
                f"Reproduce {shown(source)} as {shown(target)}, and let both files be there in the end.",
                f"Clone {shown(source)}; the clone is called {shown(target)}.",
                f"To {shown(target)}, write the exact content of {shown(source)}, which stays where it is.",
                f"From {shown(source)}, make a second file with the same content. Its name is {shown(target)}.",
                f"Save all that is in {shown(source)} a second time, in {shown(target)}, and do not move the first.",
                f"What {shown(source)} contains has to be found in {shown(target)} as well, so copy it.",
                f"Create {shown(target)} with exactly what {shown(source)} contains; keep both.",
                f"Back up {shown(source)} under the name {shown(target)}.",
                f"Make a copy of {shown(source)}, name it {shown(target)}, and leave the original alone.",
                f"Replicate the file {shown(source)}; the replica has the name {shown(target)}.",
                f"Mirror {shown(source)} in a second file, {shown(target)}.",
                f"Store the same content that {shown(source)} has in {shown(target)} without touching {shown(source)}.",
                f"In the end two identical files exist: {shown(source)} and its copy {shown(target)}.",
                f"{shown(target)} is to be an identical copy of {shown(source)}.",
                f"As a safeguard, copy {shown(source)} to {shown(target)}.",
                f"Could {shown(source)} exist twice, the second time as {shown(target)}? Do not rename it.",
            ]
        ),
        solution=[f"cp {quote(source)} {quote(target)}"],
        after=[fixture(target, text)],
    )


def copy_named(names: Names) -> Unit:
    """Some named files of a directory into a new one."""
    home, target = names.directory(), names.directory()
    files = {names.file(names.pick(["txt", "md", "csv"])): names.text() for _ in range(names.number(3, 5))}
    chosen = sorted(names.rng.sample(sorted(files), 2))
    sources = [f"{home}/{name}" for name in chosen]
    return Unit(
        fixtures=[fixture(f"{home}/{name}", text) for name, text in files.items()],
        directive=names.pick(
            [
                f"Make the directory {target} and copy {listed([shown(path) for path in sources])} into it.",
                f"The new directory {target} shall hold copies of {listed([shown(path) for path in sources])}.",
                f"From {home}, copy only {listed([shown(name) for name in chosen])} to a new directory {target}.",
            ]
        ),
        instruction=names.wording(
            [
                f"how to copy two files {' '.join(map(shown, sources))} to a fresh directory called {target}",
                f"Create a folder {target} and put copies of {listed([shown(path) for path in sources])} in it.",
                f"Could you copy {listed([shown(path) for path in sources])} to {target}? That directory has to be"
                " made first.",
                f"We need {target}, a new directory, with {listed([shown(name) for name in chosen])} from {home} in"
                " it as copies.",
                f"Out of {home}, {listed([shown(name) for name in chosen])} are to be copied to {target}, which is"
                " not there yet.",
                f"Two files of {home}, {listed([shown(name) for name in chosen])}, have to be in a new folder"
                f" {target} as well.",
                f"Set up {target} and let it hold a copy each of {listed([shown(path) for path in sources])}.",
                f"Take {listed([shown(path) for path in sources])} and copy both to {target} after making that"
                " directory.",
                f"Add a directory {target}; then reproduce {listed([shown(path) for path in sources])} in it under the"
                " same names.",
                f"To {target}, a directory still to be created, copy {listed([shown(name) for name in chosen])} from"
                f" {home}; the originals stay there.",
                f"Clone just {listed([shown(name) for name in chosen])} out of {home}: build a folder {target} and put"
                " the clones in it by their names.",
                f"Save {listed([shown(path) for path in sources])} a second time, under the same names, in {target},"
                " which you make as a new directory.",
                f"Start a folder {target}. From {home} it gets {listed([shown(name) for name in chosen])} as copies, no"
                " other file.",
                f"Make a folder {target} and copy {listed([shown(path) for path in sources])} there.",
                f"Create a directory {target} for copies of {listed([shown(path) for path in sources])}.",
                f"Duplicate {listed([shown(path) for path in sources])} into the new folder {target}.",
                f"Place copies of {listed([shown(path) for path in sources])} in {target}, a new folder.",
                f"Build a folder {target}; copy {listed([shown(name) for name in chosen])} from {home} to it.",
                f"Replicate {listed([shown(path) for path in sources])}, names kept, in a new folder {target}.",
                f"Fetch copies of {listed([shown(name) for name in chosen])} from {home} to a new folder {target}.",
                f"Once a folder {target} is made, copy {listed([shown(path) for path in sources])} to it.",
                f"In the end a new folder {target} holds copies of {listed([shown(path) for path in sources])}.",
                f"{listed([shown(path) for path in sources])} are to be copied, not moved, to a new folder {target}.",
                f"The new folder {target} gets copies of {listed([shown(name) for name in chosen])} from {home}.",
            ]
        ),
        solution=[f"mkdir {target}", f"cp {' '.join(map(quote, sources))} {target}/"],
        after=[fixture(f"{target}/{name}", files[name]) for name in chosen],
    )


def copy_by_extension(names: Names) -> Unit:
    """All files of one extension out of a mixed directory."""
    home, target = names.directory(), names.directory()
    ext, *others = names.rng.sample(["txt", "log", "md", "csv", "conf"], 3)
    files = {names.file(ext): names.text() for _ in range(names.number(2, 3))}
    rest = {names.file(other): names.text() for other in others}
    return Unit(
        fixtures=[fixture(f"{home}/{name}", text) for name, text in {**files, **rest}.items()],
        directive=names.pick(
            [
                f"Copy all .{ext} files of {home} into a new directory {target}.",
                f"Make {target} and copy every file of {home} that ends in .{ext} there.",
                f"A new directory {target} is wanted, with copies of the .{ext} files of {home} and of nothing else.",
            ]
        ),
        instruction=names.wording(
            [
                f"how to copy by extension: each .{ext} from {home} to {target}",
                f"Create {target} and copy what ends in .{ext} from {home} into it.",
                f"Could you copy each .{ext} file in {home} to a folder {target}? The folder does not exist yet.",
                f"We need copies of all files of {home} with the extension .{ext}, in a directory {target} made for"
                " them.",
                f"The .{ext} files in {home} are to be copied to {target}, a new directory; other files are not.",
                f"Make a folder {target} that holds the same .{ext} files as {home}.",
                f"Put a copy of every .{ext} file from {home} in a folder named {target}, which is to be created"
                " first.",
                f"Into a new folder {target}, copy only what is called *.{ext} in {home}.",
                f"Set up a directory {target} and reproduce in it every file from {home} that is called *.{ext}, names"
                " unchanged.",
                f"Into {target}, which you create, go duplicates of the files in {home} with the ending .{ext}; the"
                " rest is left out.",
                f"Duplicate whatever in {home} has a name in .{ext}. The duplicates lie in a new folder {target} under"
                " the same names.",
                f"From {home}, only files of type .{ext} are copied, each by its name, to {target}; make that directory"
                " first.",
                f"Save a copy of {home}/*.{ext}, file by file, in a fresh directory {target} and take nothing"
                f" out of {home}.",
                f"Make a directory {target} and copy {home}/*.{ext} to it.",
                f"Duplicate the .{ext} files of {home} in a new folder {target}; leave the originals in place.",
                f"Gather copies of the .{ext} files directly in {home} in a new directory {target}.",
                f"Build {target} as a directory, then place copies of all files in {home} that end in .{ext} there.",
                f"Copy every .{ext} file out of {home} to a directory {target} that you create for this.",
                f"Replicate the .{ext} files of {home}, and none of another type, in the new folder {target}.",
                f"Select the files named *.{ext} in {home} and copy them, names kept, to a new directory {target}.",
                f"Establish a folder {target}. Fill it with copies of all .{ext} files in {home}.",
                f"If a file in {home} ends in .{ext}, copy it to {target}, a directory to be made beforehand.",
                f"Which files in {home} end in .{ext}? Copy these to {target}, a new directory.",
                f"A new folder {target} is wanted, with copies of exactly the .{ext} files that {home} has.",
            ]
        ),
        solution=[f"mkdir {target}", f"cp {home}/*.{ext} {target}/"],
        after=[fixture(f"{target}/{name}", text) for name, text in files.items()],
    )


def copy_tree(names: Names) -> Unit:
    """A whole directory tree under a second name."""
    home, target = names.directory(), names.directory()
    files = {names.path(names.pick(["txt", "md"]), depth): names.text() for depth in (0, 1, names.number(1, 2))}
    return Unit(
        fixtures=[fixture(f"{home}/{name}", text) for name, text in files.items()],
        directive=names.pick(
            [
                f"Copy the whole directory {home} to {target}.",
                f"Make a full copy of {home}, with everything below it, named {target}.",
                f"The tree {home} is needed twice: copy it as {target}.",
            ]
        ),
        instruction=names.wording(
            [
                f"how to copy a directory recursively, {home} to the new name {target}",
                f"Could you copy the folder {home}, with all its files and subdirectories, to {target}?",
                f"We need a second copy of the directory {home}, called {target}.",
                f"Make {target} an exact copy of the directory {home}.",
                f"Everything in {home} has to be in {target}, too, subdirectories included; {target} is new.",
                f"Copy {home} recursively and name the copy {target}.",
                f"The directory {home} is to be duplicated with its whole content; call the second one {target}.",
                f"Do not touch {home}, but make the same tree again under the name {target}.",
                f"Reproduce all of {home}, files and folders at every level, as a new directory {target}.",
                f"Clone the directory {home}: the clone is {target}, with the same folders and files in it.",
                f"Under the new name {target}, set up the same tree that {home} is, file for file, and keep {home},"
                " too.",
                f"Build a directory {target} that has what {home} has, down to the deepest folder, and leave {home}"
                " alone.",
                f"From {home}, make a second tree {target} of the same folders, files and texts.",
                f"Duplicate the directory tree {home} as {target}.",
                f"Create {target} as a full copy of {home}, subfolders and files included.",
                f"Mirror {home}, with everything below it, in a new directory {target}.",
                f"Back up the whole folder {home} under the name {target}.",
                f"Replicate {home} at all levels; the replica is to be called {target}.",
                f"Use cp to copy {home} with its subdirectories to a new directory {target}.",
                f"Store a complete second version of the folder {home} as {target}, original untouched.",
                f"Take the directory {home} with all that is in it and copy it to the new name {target}.",
                f"In the end {home} and {target} are two equal trees, the second a copy of the first.",
                f"A recursive copy of {home} is needed; its name is {target}.",
                f"As {target} does not exist yet, copy the entire tree {home} to that name.",
            ]
        ),
        solution=[names.pick([f"cp -r {home} {target}", f"cp -R {home} {target}"])],
        after=[fixture(f"{target}/{name}", text) for name, text in files.items()],
    )


def copy_from_tree(names: Names) -> Unit:
    """Files of one extension, at any depth, into one flat directory."""
    home, target = names.directory(), names.directory()
    ext, other = names.rng.sample(["md", "txt", "log", "csv"], 2)
    files = {names.path(ext, depth): names.text() for depth in (0, 1, 2)}
    rest = {names.path(other, depth): names.text() for depth in (0, 1)}
    return Unit(
        fixtures=[fixture(f"{home}/{name}", text) for name, text in {**files, **rest}.items()],
        directive=names.pick(
            [
                f"Find every .{ext} file at any depth below {home} and copy it into the new directory {target}.",
                f"Gather copies of all .{ext} files under {home}, at any depth, in a new directory {target}.",
                f"Make {target}; into it go copies of the .{ext} files from the whole tree {home}.",
            ]
        ),
        instruction=names.wording(
            [
                f"how to search {home} for .{ext} files and copy each hit to {target} with find",
                f"Create {target} and copy all .{ext} files from {home} and its subdirectories into it.",
                f"Could you look for .{ext} files in the whole of {home} and put copies of them in a new folder"
                f" {target}?",
                f"We need the .{ext} files from everywhere below {home} copied into one directory {target}, still"
                " to be made.",
                f"Use find to copy each .{ext} file in the tree {home} to {target}, a directory that you make first.",
                f"Copies of all files ending in .{ext}, wherever they lie under {home}, belong in a new directory"
                f" {target}.",
                f"What is called *.{ext} in {home} or deeper is to be copied to {target}, without subdirectories;"
                f" make {target} first.",
                f"Make a flat folder {target} of copies of all the .{ext} files in {home} and in the directories"
                " below it.",
                f"Set up a directory {target}. Then search {home} at all levels for *.{ext} and reproduce every hit"
                f" directly in {target}.",
                f"Into {target}, a folder that you make, goes a duplicate of each .{ext} file from {home} and its"
                " subfolders, all on one level.",
                f"Collect copies of whatever ends in .{ext} anywhere in the tree {home}; they lie side by side in a new"
                f" folder {target}.",
                f"From {home} and the directories in it, copy each file of type .{ext} straight into {target}, which is"
                " to be made first.",
                f"Every file called *.{ext}, however deep it is in {home}, is duplicated in a new directory {target},"
                " by its bare name.",
                f"Gather copies of the .{ext} files anywhere under {home} in a new flat directory {target}.",
                f"Make the directory {target}; copy each *.{ext} file in {home}, at any depth, straight into it.",
                f"Find all files below {home} ending in .{ext} and copy them, without paths, to a new folder {target}.",
                f"Flatten the .{ext} files of the tree {home} by copying them all directly into a new folder {target}.",
                f"Search the tree {home} for *.{ext}; a new directory {target} directly holds a copy of each file.",
                f"Build a folder {target}. Copy to its top level each .{ext} file that {home} has at any depth.",
                f"Fetch copies of all .{ext} files, nested ones too, from {home} to one new flat directory {target}.",
                f"Pool copies of every .{ext} file in {home} and its subfolders on one level in a new folder {target}.",
                f"Once {target} is made, copies of all .{ext} files in and below {home} go directly into it.",
                f"Wherever in {home} a file ends in .{ext}, copy it to the top level of {target}, a new directory.",
                f"Which .{ext} files has {home} at any depth? Copy them all side by side to a new folder {target}.",
            ]
        ),
        solution=[f"mkdir {target}", f"find {home} -name '*.{ext}' -exec cp {{}} {target}/ \\;"],
        after=[fixture(f"{target}/{name.rpartition('/')[2]}", text) for name, text in files.items()],
    )


SHAPES: dict[str, list[Shape]] = {
    "make_tree": [nested_note, sibling_directories, directories_of_list, same_file_in_each],
    "copy_files": [copy_one, copy_named, copy_by_extension, copy_tree, copy_from_tree],
}
