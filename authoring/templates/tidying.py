"""Worlds in which files and trees are tidied up: sorted into directories or deleted."""

from authoring.templates.world import Names, Shape, Unit, directory, fixture, quote, shown, text_of


def sort_two_kinds(names: Names) -> Unit:
    """A mixed directory sorted into one subdirectory for each extension."""
    home = names.directory()
    kinds = sorted(names.rng.sample(["txt", "log", "md", "csv", "jpg", "pdf"], 2))
    files = {names.file(ext): (ext, names.text()) for ext in [*kinds, *kinds]}
    first, second = kinds
    return Unit(
        fixtures=[fixture(f"{home}/{name}", text) for name, (_, text) in files.items()],
        directive=names.pick(
            [
                f"Sort the files of {home}: .{first} files into {home}/{first}, .{second} files into {home}/{second}.",
                f"In {home}, make directories {first} and {second} and move each file into the one of its extension.",
                f"Move the .{first} files of {home} to {home}/{first} and the .{second} files to {home}/{second}.",
            ]
        ),
        instruction=names.wording(
            [
                f"how to sort {home} by extension into {home}/{first} and {home}/{second}",
                f"Create {home}/{first} and {home}/{second}, then move the .{first} files of {home} into the one"
                f" and the .{second} files into the other.",
                f"Could you tidy up {home}? Its .{first} files belong in {home}/{first}, its .{second} files in"
                f" {home}/{second}.",
                f"We need two new directories in {home}, {first} and {second}, each with the files of that"
                " extension moved in.",
                f"Every file in {home} has to go to a subdirectory named after its extension, {first} or {second}.",
                f"Separate the files of {home} by type: .{first} goes to a new directory {home}/{first}, .{second}"
                f" to {home}/{second}.",
                f"Two new folders are wanted, {home}/{first} for the .{first} files of {home} and {home}/{second}"
                f" for the .{second} files; move them there.",
                f"Move each .{first} file in {home} into {home}/{first}, and each .{second} file into"
                f" {home}/{second}; make these folders first.",
                f"Set up {home}/{first} and {home}/{second}; shift *.{first} from {home} into the former and"
                f" *.{second} into the latter.",
                f"Distribute the files of {home} over two new subdirectories by extension: .{first} to {first},"
                f" .{second} to {second}.",
                f"Into {home}/{first} goes what {home} has as *.{first}, into {home}/{second} what it has as"
                f" *.{second}. Add both folders before you move the files.",
                f"Under {home}, start one folder per extension, {first} and {second}, and transfer all files to the"
                " one that fits.",
                f"Bring what ends in .{first} from {home} down into a new folder {home}/{first}, and what ends in"
                f" .{second} into a new folder {home}/{second}.",
                f"Split {home} by type: *.{first} into a new {home}/{first}, *.{second} into a new {home}/{second}.",
                f"Relocate {home}/*.{first} to a new {home}/{first} and {home}/*.{second} to a new {home}/{second}.",
                f"Group the files in {home} by type in new subfolders: {first} for .{first}, {second} for .{second}.",
                f"File all .{first} of {home} under {home}/{first} and all .{second} under {home}/{second}, both new.",
                f"Once {home}/{first} and {home}/{second} are created, the {home} files go there by extension.",
                f"Tidy {home}: its .{first} files move to a new folder {first} in it, its .{second} files to {second}.",
                f"Organize {home} with two new subfolders, {first} and {second}, each for the files of that extension.",
                f"Divide {home} into {home}/{first} (for .{first}) and {home}/{second} (for .{second}); add both first",
                f"Can .{first} files in {home} move to a new {home}/{first}, and .{second} to a new {home}/{second}?",
                f"Put .{first} files of {home} in {home}/{first}, .{second} ones in {home}/{second}. Both are new.",
                f"No file stays in {home} itself: .{first} moves to subfolder {first}, .{second} to {second}, both new",
            ]
        ),
        solution=names.pick(
            [
                [
                    f"mkdir {home}/{first} {home}/{second}",
                    f"mv {home}/*.{first} {home}/{first}/",
                    f"mv {home}/*.{second} {home}/{second}/",
                ],
                [
                    f"mkdir {home}/{first} && mv {home}/*.{first} {home}/{first}/",
                    f"mkdir {home}/{second} && mv {home}/*.{second} {home}/{second}/",
                ],
            ]
        ),
        after=[fixture(f"{home}/{ext}/{name}", text) for name, (ext, text) in files.items()],
        removed=[f"{home}/{name}" for name in files],
    )


def sort_one_kind(names: Names) -> Unit:
    """The files of one extension moved out of a mixed directory."""
    home, target = names.directory(), names.directory()
    ext, other = names.rng.sample(["png", "jpg", "pdf", "txt", "log"], 2)
    files = {names.file(ext): names.text() for _ in range(names.number(2, 4))}
    rest = {names.file(other): names.text() for _ in range(2)}
    return Unit(
        fixtures=[fixture(f"{home}/{name}", text) for name, text in {**files, **rest}.items()],
        directive=names.pick(
            [
                f"Move all .{ext} files from {home} to a new directory {target}; the others stay.",
                f"Make {target} and move the .{ext} files of {home} there.",
                f"The .{ext} files do not belong in {home}: move them into {target}, which is still to be made.",
            ]
        ),
        instruction=names.wording(
            [
                f"how to move only the .{ext} files of {home} into a directory {target} made for them",
                f"Create {target} and bring all .{ext} files out of {home} into it.",
                f"Could you move what ends in .{ext} from {home} to a folder {target}? The folder is not there yet.",
                f"We need the .{ext} files of {home} in a directory {target} of their own; move them, and leave the"
                f" rest in {home}.",
                f"Make a new folder {target}, then take each .{ext} file out of {home} and put it there.",
                f"Only the .{ext} files have to leave {home}; their new place is {target}, a directory to be created.",
                f"Separate the .{ext} files from {home} by moving them into the new folder {target}.",
                f"Each file in {home} with the extension .{ext} is to be moved to {target}, which has to be made"
                " first.",
                f"Set up a directory {target} and carry the .{ext} files over to it from {home}, but nothing else.",
                f"Into the new folder {target} bring whatever ends in .{ext} in {home}.",
                f"Out of {home}, shift all files with the extension .{ext} to {target}. Add that directory first.",
                f"Start a folder {target} for what {home} has as *.{ext} and transfer it there; other files remain in"
                f" {home}.",
                f"Every .{ext} file of {home} gets a new place: {target}, a folder that you add for this.",
                f"Relocate {home}/*.{ext} to {target}, a new directory.",
                f"Keep in {home} all but the .{ext} files; a newly made folder {target} is where those move.",
                f"Transfer each .{ext} file of {home} to the directory {target}, once you have created that.",
                f"Collect the .{ext} files of {home} in a new folder {target}, so that none is left in {home}.",
                f"After the directory {target} is made, whatever {home} has with the ending .{ext} moves there.",
                f"Clear {home} of its .{ext} files by moving them to {target} (not there yet, so create it).",
                f"Pull everything called *.{ext} out of {home}, and drop it in {target}, a folder yet to be created.",
                f"The .{ext} files of {home} now belong in {target}. Create this directory and move them.",
                f"Split off the .{ext} files of {home}: a new directory {target} takes them, the rest does not move.",
                f"Can the .{ext} files in {home}, and only these, move to a new directory {target}?",
                f"Gather into {target}, which is to be a new directory, all .{ext} files out of {home}.",
            ]
        ),
        solution=[f"mkdir {target}", f"mv {home}/*.{ext} {target}/"],
        after=[fixture(f"{target}/{name}", text) for name, text in files.items()],
        removed=[f"{home}/{name}" for name in files],
    )


def sort_from_tree(names: Names) -> Unit:
    """Files of one extension, at any depth, moved into one directory that is there already."""
    home, target = names.directory(), names.directory()
    ext, other = names.rng.sample(["log", "csv", "md", "dat"], 2)
    files = {names.path(ext, depth): names.text() for depth in (1, 1, 2)}
    rest = {names.path(other, depth): names.text() for depth in (0, 1)}
    return Unit(
        fixtures=[directory(target), *(fixture(f"{home}/{name}", text) for name, text in {**files, **rest}.items())],
        directive=names.pick(
            [
                f"Move every .{ext} file below {home}, at any depth, into the directory {target}.",
                f"All .{ext} files somewhere under {home} go to {target}, without their subdirectories.",
                f"Collect the .{ext} files of the tree {home} in {target} by moving them.",
            ]
        ),
        instruction=names.wording(
            [
                f"how to pull each .{ext} out of the tree {home} into {target} using find and mv",
                f"Use find to move all .{ext} files in {home} and its subdirectories to {target}.",
                f"Could you bring each .{ext} file in the whole tree {home} into the existing directory {target}?",
                f"We need all the .{ext} files from {home} and the directories in it moved to {target}, side by side.",
                f"Wherever a .{ext} file lies below {home}, move it straight into {target}.",
                f"Take the .{ext} files out of {home} and its subdirectories and put them in {target}.",
                f"The directory {target} has to get each .{ext} file that is in {home} at whatever depth; none of"
                " them stays behind.",
                f"Files called *.{ext} anywhere in {home} are to be moved to the folder {target}, flat.",
                f"Search {home} down to its deepest folder for .{ext} files and shift them straight into {target}.",
                f"Out of the tree {home}, transfer all that ends in .{ext} to the existing folder {target}, without"
                " any subdirectories.",
                f"Into {target} carry every .{ext} file from {home}, wherever in that tree it lies.",
                f"Use find and mv on {home} and its subdirectories: what is called *.{ext} changes over to {target}.",
                f"All .{ext} files leave {home} and the folders in it. From now on they lie side by side in {target}.",
                f"Relocate all .{ext} files of the tree {home} to {target}, without their folders.",
                f"Gather every .{ext} file from {home}, at any depth, in {target}; move, do not copy.",
                f"Flatten: all *.{ext} in {home} and its subfolders move directly into {target}.",
                f"Move each *.{ext} found recursively in {home} to the existing directory {target}.",
                f"Clear {home} and all its subdirectories of .{ext} files by moving these to {target}.",
                f"Pull .{ext} files out of {home}, from all levels, and drop them right in the folder {target}.",
                f"However deep in {home} it lies, a file ending in .{ext} now belongs directly in {target}; move it.",
                f"After this, {target} has all .{ext} files of the tree {home} next to each other, and {home} has none",
                f"Collect in {target}, which exists, whatever is named *.{ext} under {home}; nothing of it stays there",
                f"Can all .{ext} files in {home} and its subdirectories be moved right into {target}, without folders?",
                f"Strip the tree {home} of its .{ext} files. Their new place is {target} itself, not a folder in it.",
            ]
        ),
        solution=[f"find {home} -name '*.{ext}' -exec mv {{}} {target}/ \\;"],
        after=[fixture(f"{target}/{name.rpartition('/')[2]}", text) for name, text in files.items()],
        removed=[f"{home}/{name}" for name in files],
    )


def sort_by_prefix(names: Names) -> Unit:
    """Files whose names start alike, each group moved to the directory of that name."""
    home, (first, second) = names.directory(), names.words(2)
    files = {f"{word}-{names.word()}.txt": (word, names.text()) for word in (first, first, second, second)}
    return Unit(
        fixtures=[fixture(f"{home}/{name}", text) for name, (_, text) in files.items()],
        directive=names.pick(
            [
                f"In {home}, files that start with {first}- move to {home}/{first}, with {second}- to {home}/{second}.",
                f"Files of {home} begin with {first}- or {second}-. Move them into new directories {home}/{first} "
                f"and {home}/{second} accordingly.",
                f"Split {home} by prefix: names with {first}- go to {home}/{first}, names with {second}- to "
                f"{home}/{second}.",
            ]
        ),
        instruction=names.wording(
            [
                f"how to group the files of {home} by the prefixes {first} and {second} into directories",
                f"Create {home}/{first} and {home}/{second}; then move the {first}- files of {home} into the one,"
                f" the {second}- files into the other.",
                f"Could you put the files of {home} into two new folders, {home}/{first} for names that begin with"
                f" {first}- and {home}/{second} for {second}-?",
                f"We need the files {home}/{first}-* in {home}/{first} and {home}/{second}-* in {home}/{second};"
                " make both directories.",
                f"What is called {first}-something in {home} has to go into a new directory {home}/{first}, and"
                f" {second}-something into {home}/{second}.",
                f"Sort the files in {home} by the word before the dash: {first} into a new folder {home}/{first},"
                f" {second} into {home}/{second}.",
                f"Make two folders in {home}, {first} and {second}, and move each file into the folder that its"
                " name starts with.",
                f"Move {home}/{first}-* into a new directory {home}/{first}, and {home}/{second}-* into a new"
                f" directory {home}/{second}.",
                f"Set up the folders {first} and {second} inside {home}; shift {home}/{first}-* into the former,"
                f" {home}/{second}-* into the latter.",
                f"Distribute the files of {home} by how their names start: {first}- to a new directory {home}/{first},"
                f" {second}- to a new directory {home}/{second}.",
                f"Into {home}/{first} bring all files of {home} with the prefix {first}-, into {home}/{second} those"
                f" with {second}-. Both folders are still to be added.",
                f"Start two subdirectories in {home}, {first} and {second}, and transfer every file to the one that"
                " has its prefix as a name.",
                f"All files {first}-* of {home} go down into {home}/{first}, all files {second}-* into"
                f" {home}/{second}; add these two folders first.",
                f"Split {home} by prefix into two new folders in it: {first}-* goes to {first}, {second}-* to {second}",
                f"Relocate {first}-* and {second}-* of {home} to its new subfolders {first} and {second} respectively.",
                f"Group the files of {home} by prefix ({first}- or {second}-) in new subfolders {first} and {second}.",
                f"Add {first} and {second} as folders in {home}; put {first}-* in the one, {second}-* in the other.",
                f"In {home}, {first}-* and {second}-* are to be moved to new subfolders {first} and {second} there.",
                f"For each prefix, {first} and {second}, make a folder so named in {home} and move its files there.",
                f"Divide {home} between two new folders in it: {first} for {first}-*, {second} for {second}-*.",
                f"Organise {home}: a new folder {first} in it takes {first}-*, a new folder {second} takes {second}-*.",
                f"To tidy {home}, gather {first}-* in a new folder {first} there and {second}-* in a new {second}.",
                f"Establish {first} and {second} as folders in {home}. Each takes all files prefixed with its name.",
                f"Separate {first}-* and {second}-* in {home}: each goes to a new folder there named by its prefix.",
            ]
        ),
        solution=[
            f"mkdir {home}/{first} {home}/{second}",
            f"mv {home}/{first}-* {home}/{first}/",
            f"mv {home}/{second}-* {home}/{second}/",
        ],
        after=[fixture(f"{home}/{word}/{name}", text) for name, (word, text) in files.items()],
        removed=[f"{home}/{name}" for name in files],
    )


def delete_by_extension(names: Names) -> Unit:
    """Files of one extension in one directory."""
    home = names.directory()
    ext, other = names.pick(["tmp", "bak", "old", "out"]), names.pick(["txt", "md", "csv"])
    files = [f"{home}/{names.file(ext)}" for _ in range(names.number(2, 4))]
    rest = [f"{home}/{names.file(other)}" for _ in range(2)]
    return Unit(
        fixtures=[fixture(path, names.text()) for path in [*files, *rest]],
        directive=names.pick(
            [
                f"Delete all .{ext} files in {home}.",
                f"The .{ext} files of {home} are of no use any more; remove them and keep the rest.",
                f"Clean {home} of files ending in .{ext}.",
            ]
        ),
        instruction=names.wording(
            [
                f"how to remove each .{ext} from the directory {home} and nothing more",
                f"Erase what ends in .{ext} in {home}, and leave everything else there.",
                f"Could you delete the .{ext} files from the folder {home}?",
                f"We need {home} without its .{ext} files.",
                f"Each .{ext} file in {home} has to go, the other files stay.",
                f"Get rid of {home}/*.{ext}.",
                f"Remove only the files with the extension .{ext} from the directory {home}.",
                f"All files in {home} called *.{ext} are to be deleted.",
                f"Throw out whatever ends in .{ext} in {home}, and touch no other file.",
                f"From the folder {home}, erase all files with the ending .{ext}.",
                f"Rid the directory {home} of its .{ext} files.",
                f"Drop {home}/*.{ext}. All other files of {home} remain.",
                f"Nothing called *.{ext} stays in {home}: delete such files, and only such.",
                f"Purge {home} of every .{ext} file; keep the rest.",
                f"Clear the .{ext} files out of {home}.",
                f"Discard all files in {home} whose names end in .{ext}, but nothing else.",
                f"Delete {home}/*.{ext}; whatever has another extension is kept.",
                f"Wipe out any file with the .{ext} extension that lies directly in {home}.",
                f"If a file in {home} has the extension .{ext}, delete it; if it has another, keep it.",
                f"The directory {home} must end up with no .{ext} files and with all its others intact.",
                f"To clean up {home}, take away its .{ext} files. Files of other types are not affected.",
                f"Eliminate everything matching *.{ext} from {home}.",
                f"Every file {home}/*.{ext} can be removed; retain those with other extensions.",
                f"Run rm on the .{ext} files in {home} (and on no others).",
            ]
        ),
        solution=[names.pick([f"rm {home}/*.{ext}", f"rm -f {home}/*.{ext}"])],
        after=[],
        removed=files,
    )


def delete_in_tree(names: Names) -> Unit:
    """Files of one extension at any depth."""
    home = names.directory()
    ext, other = names.pick(["tmp", "bak", "old", "orig"]), names.pick(["txt", "md", "conf"])
    files = [f"{home}/{names.path(ext, depth)}" for depth in (0, 1, 2)]
    rest = [f"{home}/{names.path(other, depth)}" for depth in (0, 1, 1)]
    return Unit(
        fixtures=[fixture(path, names.text()) for path in [*files, *rest]],
        directive=names.pick(
            [
                f"Delete every .{ext} file below {home}, at any depth.",
                f"Remove the .{ext} files from {home} and all its subdirectories.",
                f"No .{ext} file may be left anywhere under {home}.",
            ]
        ),
        instruction=names.wording(
            [
                f"how to find and delete .{ext} files in a tree such as {home}",
                f"Erase the .{ext} files in {home} and in all directories below it.",
                f"Could you delete each .{ext} file from the whole tree {home}?",
                f"Use find to remove whatever ends in .{ext} from {home}, subdirectories too.",
                f"We need the tree {home} free of .{ext} files.",
                f"Look through {home} and the folders in it for .{ext} files and delete them all.",
                f"Files called *.{ext}, wherever they lie under {home}, are to be deleted; leave all others.",
                f"Get rid of all files with the extension .{ext} in {home} or deeper.",
                f"Throw out all .{ext} files in {home}, those in deeper folders included.",
                f"From the tree {home}, erase whatever file has the ending .{ext}, at its top or deeper down.",
                f"Rid {home} and the directories in it of .{ext} files.",
                f"Search the whole of {home} for *.{ext} and drop each file that turns up.",
                f"Nothing that ends in .{ext} stays in {home} or in a folder of {home}. Files with other endings do.",
                f"Purge {home} of .{ext} files recursively.",
                f"Clear all .{ext} files out of {home} and its subdirectories, however deep; other files are kept.",
                f"Discard every file under {home}, at whatever level, whose name ends in .{ext}.",
                f"Delete *.{ext} throughout the directory tree {home} and keep everything else in it.",
                f"Wipe out each .{ext} file that can be found in {home}, descending into every subfolder.",
                f"If a file anywhere below {home} has the extension .{ext}, remove it; otherwise keep it.",
                f"The tree {home} must end up with no *.{ext} at any level and with its other files intact.",
                f"To clean up {home}, take away the .{ext} files on all its levels. Files of other types are kept.",
                f"Descend through {home} and all its subfolders, removing each file that matches *.{ext}.",
                f"Any .{ext} file, whether directly in {home} or further down, is no longer wanted: delete it.",
                f"Eliminate the extension .{ext} from the tree at {home} by deleting all files that have it.",
            ]
        ),
        solution=[
            names.pick(
                [
                    f"find {home} -name '*.{ext}' -exec rm {{}} \\;",
                    f"find {home} -name '*.{ext}' -exec rm {{}} +",
                    f"find {home} -type f -name '*.{ext}' -exec rm {{}} +",
                ]
            )
        ],
        after=[],
        removed=files,
    )


def delete_empty(names: Names) -> Unit:
    """Files of zero bytes."""
    home, ext = names.directory(), names.pick(["txt", "log", "dat"])
    files = [f"{home}/{names.path(ext, depth)}" for depth in (0, 0, 1)]
    rest = [f"{home}/{names.path(ext, depth)}" for depth in (0, 1)]
    return Unit(
        fixtures=[*(fixture(path, "") for path in files), *(fixture(path, names.text()) for path in rest)],
        directive=names.pick(
            [
                f"Delete the empty files below {home}.",
                f"Some files under {home} have no content at all. Remove those.",
                f"Remove every file of zero bytes from {home} and its subdirectories.",
            ]
        ),
        instruction=names.wording(
            [
                f"how to get rid of empty files in the tree {home} with find",
                f"Erase whatever file in the tree {home} is empty.",
                f"Could you delete all files without content from {home} and the folders below it?",
                f"Use find to remove the files of size zero in {home}, subdirectories too.",
                f"We need {home} without empty files, at any depth; files with text in them stay.",
                f"Each file under {home} that has nothing in it has to be deleted.",
                f"Look through {home} and its subdirectories and get rid of the files that are 0 bytes long.",
                f"The empty files anywhere in {home} are to be removed, not those with content.",
                f"Throw out each file in {home}, in deeper folders too, that has not one byte in it.",
                f"From the tree {home}, erase the files of length zero and no others.",
                f"Rid {home} and the directories in it of empty files.",
                f"Search the whole of {home} for files without a single byte and drop them.",
                f"Only files with something in them stay in {home} and its folders. Those that are empty get deleted.",
                f"Purge {home} of zero-byte files recursively.",
                f"Clear all empty files out of {home} and its subdirectories; files with content are kept.",
                f"Discard every file of 0 bytes under {home}, at whatever level.",
                f"Delete empty files throughout the directory tree {home} and keep all the others.",
                f"Wipe out each zero-length file in {home}, descending into every subfolder.",
                f"If a file anywhere below {home} has size 0, remove it; if it has any content, keep it.",
                f"The tree {home} must end up with no empty file at any level and with its other files intact.",
                f"To clean up {home}, take away the empty files on all its levels. Those with text are kept.",
                f"Descend through {home} and all its subfolders, removing any file that contains nothing.",
                f"Files of no size at all, whether directly in {home} or further down, are not wanted: delete them.",
                f"Prune the tree {home}: blank files (0 bytes) go, wherever they lie; the rest is retained.",
            ]
        ),
        solution=[
            names.pick(
                [f"find {home} -type f -size 0 -exec rm {{}} \\;", f"find {home} -type f -empty -exec rm {{}} +"],
            )
        ],
        after=[],
        removed=files,
    )


def delete_containing(names: Names) -> Unit:
    """Files of one directory that contain a word."""
    home, word, ext = names.directory(), names.word(), names.pick(["txt", "md", "log"])
    files = [f"{home}/{names.file(ext, plain=True)}" for _ in range(2)]
    rest = [f"{home}/{names.file(ext, plain=True)}" for _ in range(2)]
    return Unit(
        fixtures=[
            *(fixture(path, f"{names.text(2, 3)}{names.line()} {word}\n{names.line()}\n") for path in files),
            *(fixture(path, names.text()) for path in rest),
        ],
        directive=names.pick(
            [
                f"Delete the files in {home} that contain the word {word}.",
                f"Every file of {home} in which {word} occurs must go; leave the others.",
                f"Look for {word} in the files of {home} and remove each file that has it.",
            ]
        ),
        instruction=names.wording(
            [
                f"how to delete files by content, here those of {home} with {word} inside",
                f"Erase whatever file of {home} mentions {word}.",
                f"Could you delete each file in {home} that has {word} in it?",
                f"Use grep to find the files of {home} that contain {word}, and delete these files.",
                f"We need {home} without the files that mention {word}.",
                f"If a file in {home} holds the word {word}, remove it; if not, leave it.",
                f"The files in {home} with {word} somewhere in their text are to be removed.",
                f"Search {home} for {word} and get rid of all files where it is found.",
                f"Throw out each file in {home} with {word} in it and touch no file without {word}.",
                f"From the folder {home}, erase the files in which {word} can be read.",
                f"Rid {home} of all files that mention {word}.",
                f"Drop every file of {home} that grep finds {word} in.",
                f"Only files without {word} stay in {home}. Those that have it somewhere get deleted.",
                f"Purge {home} of files containing {word}.",
                f"Clear out those files in {home} in whose text {word} occurs; the others are kept.",
                f"Discard every file directly in {home} with at least one line that contains {word}.",
                f"Delete the files in {home} that include the text {word}, keeping those that do not.",
                f"Wipe out whichever files in {home} say {word} anywhere.",
                f"Whenever {word} appears in the content of a file in {home}, delete that file.",
                f"The directory {home} must end up with no file that contains {word}, all others being intact.",
                f"To clean up {home}, take away each file with {word} in its content. Retain what lacks it.",
                f"Check the content of each file in {home} for {word}; where it occurs, remove the whole file.",
                f"Any file in {home} whose text includes {word} is no longer wanted and should be deleted.",
                f"Scan the files of {home}, eliminating (as whole files) those that match {word}.",
            ]
        ),
        solution=[names.pick([f"grep -l {word} {home}/* | xargs rm", f"rm $(grep -l {word} {home}/*)"])],
        after=[],
        removed=files,
    )


def delete_listed(names: Names) -> Unit:
    """Files that another file lists."""
    source, home = names.file("list"), names.directory()
    files = [f"{home}/{names.file(names.pick(['txt', 'log', 'csv']), plain=True)}" for _ in range(5)]
    gone = files[: names.number(2, 3)]
    return Unit(
        fixtures=[fixture(source, text_of(gone)), *(fixture(path, names.text()) for path in sorted(files))],
        directive=names.pick(
            [
                f"Delete the files whose paths are listed in {shown(source)}.",
                f"{shown(source)} names files, one path per line. Remove each of these files, but keep the list.",
                f"Remove every file that {shown(source)} lists.",
            ]
        ),
        instruction=names.wording(
            [
                f"how to delete what the list {shown(source)} enumerates",
                f"Erase all files that are named in {shown(source)}.",
                f"Could you delete each file whose path stands in {shown(source)}?",
                f"The lines of {shown(source)} are paths of files; delete those files, not {shown(source)} itself.",
                f"We need the files on the list {shown(source)} removed.",
                f"Go through {shown(source)} line by line and remove the file that each line names.",
                f"Whatever path is in {shown(source)}, the file there is to be deleted; leave {shown(source)}"
                " itself alone.",
                f"Get rid of the files that the list {shown(source)} holds, one path per line.",
                f"Throw out all files whose paths are the lines of {shown(source)}, but not {shown(source)} itself.",
                f"From {shown(source)} read one path per line and erase the file at that path.",
                f"For every line of {shown(source)}, drop the file that has this path; the list {shown(source)}"
                " remains.",
                f"The file at every path in {shown(source)} gets deleted. The list itself does not.",
                f"Use {shown(source)} as a list for rm: what it names goes, one path a line.",
                f"Purge all the files listed in {shown(source)}, one path per line.",
                f"Clear away each file that {shown(source)} lists; the list itself is kept.",
                f"Discard whatever files {shown(source)} names on its lines.",
                f"Delete every path listed in {shown(source)} and no other file.",
                f"Wipe out the files whose paths you read in {shown(source)}, one to a line; retain the list.",
                f"If the path of a file is a line in {shown(source)}, remove that file; otherwise keep it.",
                f"No file listed in {shown(source)} may exist any longer; files not listed there are kept.",
                f"Take {shown(source)} as the list of what to delete: each line is the path of a file to remove.",
                f"To clean up, remove each file on the list in {shown(source)}. Unlisted files remain.",
                f"Paths are stored in {shown(source)}, one on each line. Eliminate the files they point to.",
                f"Read {shown(source)}, a list of paths, and unlink the files it refers to (not the list).",
            ]
        ),
        solution=[names.pick([f"xargs rm < {quote(source)}", f"rm $(cat {quote(source)})"])],
        after=[],
        removed=gone,
    )


def delete_all_but(names: Names) -> Unit:
    """Everything in a tree but the files of one extension."""
    home = names.directory()
    keep, *others = names.rng.sample(["txt", "md", "csv", "conf"], 3)
    gone = [f"{home}/{names.path(ext, depth)}" for ext, depth in zip(others, (0, 1), strict=True)]
    rest = [f"{home}/{names.path(keep, depth)}" for depth in (0, 1)]
    return Unit(
        fixtures=[fixture(path, names.text()) for path in [*gone, *rest]],
        directive=names.pick(
            [
                f"Below {home}, keep only the .{keep} files; delete all other files.",
                f"Remove every file under {home} that does not end in .{keep}.",
                f"In {home} and its subdirectories nothing but .{keep} files shall stay.",
            ]
        ),
        instruction=names.wording(
            [
                f"how to delete all files in {home} except the .{keep} ones",
                f"Erase all files in the tree {home} but those ending in .{keep}.",
                f"Could you delete each file that is no .{keep} file from {home} and its subdirectories?",
                f"Use find to remove each file under {home} whose name does not end in .{keep}.",
                f"We need {home} with its .{keep} files alone; the other files go, in subdirectories too.",
                f"Only files called *.{keep} may be left in {home} and below it.",
                f"Get rid of all files in {home}, at any depth, except the .{keep} files.",
                f"The .{keep} files anywhere in {home} are to stay and all other files there to be deleted.",
                f"Throw out each file in {home} and its folders unless its extension is .{keep}.",
                f"From the tree {home}, erase the files that have another ending than .{keep}.",
                f"Spare the .{keep} files in {home} and in the folders inside it, and drop all other files there.",
                f"Search the whole of {home} for files not called *.{keep} and delete those.",
                f"All files in {home} or deeper get erased. Only what ends in .{keep} stays.",
                f"Purge {home} recursively of all files that are not .{keep} files.",
                f"Clear every file out of {home} and its subdirectories unless it ends in .{keep}.",
                f"Discard whatever files under {home}, at any level, lack the extension .{keep}.",
                f"Delete all files throughout the tree {home}, *.{keep} excepted.",
                f"Keep *.{keep} in {home} and its subfolders; delete every other file there.",
                f"If a file anywhere below {home} has an extension other than .{keep}, remove it.",
                f"The tree {home} must end up with all of its .{keep} files and no other file, on any level.",
                f"To clean up {home}, take away the files of all types but .{keep}, in its subdirectories as well.",
                f"Retain just the .{keep} files in the tree {home}. All the rest of its files are to be removed.",
                f"Any file in {home} or further down whose name does not match *.{keep} is unwanted: delete it.",
                f"Reduce the tree {home} to its .{keep} files by eliminating the files with other extensions.",
            ]
        ),
        solution=[
            names.pick(
                [
                    f"find {home} -type f ! -name '*.{keep}' -exec rm {{}} +",
                    f"find {home} -type f ! -name '*.{keep}' -exec rm {{}} \\;",
                ]
            )
        ],
        after=[],
        removed=gone,
    )


SHAPES: dict[str, list[Shape]] = {
    "sort_by_kind": [sort_two_kinds, sort_one_kind, sort_from_tree, sort_by_prefix],
    "delete_matching": [
        delete_by_extension, delete_in_tree, delete_empty, delete_containing, delete_listed, delete_all_but,
    ],
}  # fmt: skip
