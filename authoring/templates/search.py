"""Worlds in which paths are found by name, or files by content."""

from authoring.templates.world import Names, Shape, Unit, fixture, quote, saving_unit, shown, text_of
from schema import Fixture


def _tree(names: Names, ext: str, other: str) -> tuple[str, list[str], list[str]]:
    """A directory name, paths below it with the extension at depths 0 to 2, and paths with another one."""
    home = names.directory()
    hits = [f"{home}/{names.path(ext, depth)}" for depth in (0, 1, names.number(1, 2))]
    return home, hits, [f"{home}/{names.path(other, depth)}" for depth in (0, 1)]


def _files(names: Names, paths: list[str]) -> list[Fixture]:
    """Files with contents at the paths, in random order."""
    return [fixture(path, names.text(2, 4)) for path in names.rng.sample(paths, len(paths))]


def lines_some_with(names: Names, word: str, count: int) -> tuple[list[str], list[str]]:
    """`count` lines, of which two to four have the word at the start, inside or at the end; and a list of those."""
    lines = names.lines(count)
    for index in names.rng.sample(range(count), names.number(2, min(4, count - 1))):
        first, *rest = lines[index].split()
        lines[index] = " ".join(names.pick([[word, first, *rest], [first, word, *rest], [first, *rest, word]]))
    return lines, [line for line in lines if word in line.split()]


def names_by_extension(names: Names) -> Unit:
    """Paths of one extension in a tree."""
    ext, other = names.rng.sample(["txt", "log", "md", "conf", "csv"], 2)
    home, hits, rest = _tree(names, ext, other)
    out = names.file("list")
    return saving_unit(
        names,
        _files(names, hits + rest),
        out,
        text_of(sorted(hits)),
        asks=[
            f"List the paths of all .{ext} files below {home}, sorted, in {shown(out)}.",
            f"Find every .{ext} file under {home} and save the sorted paths as {shown(out)}, one per line.",
            f"{shown(out)} shall hold the sorted paths ({home}/...) of all .{ext} files in the tree {home}.",
        ],
        others=[
            f"how to find .{ext} files in {home} by name and keep the sorted list in {shown(out)}",
            f"{shown(out)} should list, one path per line, sorted, whatever lies in the folder tree {home} with a "
            f"name in .{ext}.",
            f"Look through {home} with all its subfolders and save where the .{ext} files are: sorted paths, into "
            f"{shown(out)}.",
            f"Please collect the paths of files ending in .{ext} from {home}, at any depth; sort them and store them "
            f"in {shown(out)}.",
            f"Which files in {home} and its subdirectories have a name that ends in .{ext}? Write the sorted paths to "
            f"{shown(out)}.",
            f"A sorted list of every .{ext} path in {home} and deeper is wanted as {shown(out)}.",
            f"Search the directory {home} for *.{ext} and put the sorted result, one path a line, in {shown(out)}.",
            f"The paths (like {home}/...) of files with the extension .{ext} must be stored in {shown(out)} in sorted "
            "order.",
            f"Save to {shown(out)} the sorted paths of files under {home}, at all levels, with the extension .{ext}.",
            f"Record in {shown(out)}, sorted and one to a line, the path of each file below {home} that is called "
            f"*.{ext}.",
            f"Under {home}, locate all files with the ending .{ext}; write their paths, {home}/ in front, to "
            f"{shown(out)} and sort them.",
            f"Every file of type .{ext} in {home} or deeper gets a line in {shown(out)}: its path. The lines are "
            "sorted.",
            f"Where in the tree {home} are the .{ext} files? Their paths, in sorted order, go to {shown(out)}.",
            f"From {home} and all folders in it, gather the paths of *.{ext} files. Sort them and print them to "
            f"{shown(out)}.",
            f"List in {shown(out)}, as sorted paths, what the tree {home} has by way of .{ext} files.",
            f"Compile in {shown(out)} a sorted index of .{ext} paths from {home} and its subfolders.",
            f"Scan {home} at every depth for names ending in .{ext} and write the sorted paths to {shown(out)}.",
            f"Note each path below {home} that ends in .{ext} in {shown(out)}, one per line, in sorted order.",
            f"Enumerate *.{ext} files throughout {home}; {shown(out)} receives their sorted paths.",
            f"Fill {shown(out)} with the sorted paths of whatever .{ext} files {home} has at any level.",
            f"Trace all .{ext} files in {home}, nested ones too, then sort their paths into {shown(out)}.",
            f"Paths of .{ext} files from the whole of {home} belong in {shown(out)}, a line each, sorted.",
            f"If a file anywhere in {home} ends in .{ext}, {shown(out)} has its path on a line; sort the lines.",
            f"{shown(out)} is to be an inventory of {home}: sorted paths, .{ext} files only, all subfolders.",
            f"No matter how deep in {home}, all .{ext} files are listed by path, sorted, in {shown(out)}.",
        ],
        solution=[
            names.pick(
                [
                    f"find {home} -name '*.{ext}' | sort > {quote(out)}",
                    f"find {home} -type f -name '*.{ext}' | sort > {quote(out)}",
                ]
            )
        ],
    )


def names_by_word(names: Names) -> Unit:
    """Paths of files whose name holds or starts with a word."""
    home, word, out = names.directory(), names.keyword(), names.file("list")
    starts = names.number(0, 1)
    hits = [f"{home}/{word}-{names.word()}.txt", f"{home}/{names.word()}/{word}_{names.word()}.md"]
    hits += [] if starts else [f"{home}/{names.word()}-{word}.csv"]
    rest = [f"{home}/{names.path('txt', depth)}" for depth in (0, 0, 1)]
    how, pattern = ("starts with", f"{word}*") if starts else ("contains", f"*{word}*")
    return saving_unit(
        names,
        _files(names, hits + rest),
        out,
        text_of(sorted(hits)),
        asks=[
            f"Find the files below {home} whose name {how} {word}; write their sorted paths to {shown(out)}.",
            f"Every file under {home} with a name that {how} {word} is to be listed by path in {shown(out)}, sorted.",
            f"Put the sorted paths of files in {home}, at any depth, whose name {how} {word}, into {shown(out)}.",
        ],
        others=[
            f"how to look in {home} for file names where the name {how} {word} and sort them into {shown(out)}",
            f"Look below {home} for files where the name {how} {word}, and store their paths, sorted, in {shown(out)}.",
            f"{shown(out)} should give, sorted, the path of each file in the tree {home} if the file's name {how} "
            f"{word}.",
            f"I want a sorted list of paths in {shown(out)}: all files anywhere in {home} with a file name that {how} "
            f"{word}.",
            f"Which names of files in {home}, subdirectories included, fit? A name that {how} {word} does; save the "
            f"sorted paths to {shown(out)}.",
            f"Search the tree {home} by name: if the name of a file {how} {word}, its path belongs in {shown(out)}. "
            "Sort the list.",
            f"Please sort and save in {shown(out)} the paths of files from {home} and the folders in it for which the "
            f"file name {how} {word}.",
            f"The name of some files below {home}, at all levels, {how} {word}: list each such path in {shown(out)}, "
            "sorted.",
            f"Locate, anywhere under {home}, the files of which the name {how} {word}, and record their paths in "
            f"{shown(out)}, sorted.",
            f"Write a sorted list of paths to {shown(out)}: take all files in the tree {home} that have a name which "
            f"{how} {word}.",
            f"Each file in {home}, or in a folder below, gets its path into {shown(out)} if its name {how} {word}. The "
            "paths are sorted.",
            f"From {home} and its subdirectories, gather file paths, but only where the file name {how} {word}; "
            f"sorted, they go to {shown(out)}.",
            f"What files does {home} have, at any level, of which the name {how} {word}? Sorted paths to {shown(out)}.",
            f"List in {shown(out)}, sorted, the paths of all files in the tree {home} whose name {how} {word}.",
            f"Scan {home} at all depths; if a file name {how} {word}, put its path in the sorted {shown(out)}.",
            f"Fill {shown(out)} with sorted paths of files, at any level of {home}, whose name {how} {word}.",
            f"Collate {shown(out)} from sorted paths below {home}, taking a file if its name {how} {word}.",
            f"Find files throughout {home} by name (it {how} {word}) and save their sorted paths in {shown(out)}.",
            f"Extract from the tree {home} the path of each file whose name {how} {word}, sorted, to {shown(out)}.",
            f"Note every file in {home}, nested or not, whose name {how} {word}: sorted paths, in {shown(out)}.",
            f"When the name of a file anywhere in {home} {how} {word}, {shown(out)} has its path; sort the paths.",
            f"Only a file whose own name {how} {word} counts: sorted paths from all of {home} go to {shown(out)}.",
            f"{shown(out)} is an index of the tree {home}: sorted paths, just files whose name {how} {word}.",
            f"Sorted paths are needed in {shown(out)}, for all files in or below {home} whose name {how} {word}.",
        ],
        solution=[f"find {home} -type f -name '{pattern}' | sort > {quote(out)}"],
    )


def names_in_directory(names: Names) -> Unit:
    """Bare names of one extension in one flat directory."""
    home, out = names.directory(), names.file("list")
    ext, other = names.rng.sample(["txt", "log", "md", "jpg", "csv"], 2)
    hits = [names.file(ext) for _ in range(names.number(2, 4))]
    rest = [names.file(other) for _ in range(2)]
    return saving_unit(
        names,
        _files(names, [f"{home}/{name}" for name in hits + rest]),
        out,
        text_of(sorted(hits)),
        asks=[
            f"Write the names (not the paths) of the .{ext} files in {home} to {shown(out)}, sorted, one per line.",
            f"Which .{ext} files lie in {home}? Save their bare names in {shown(out)} in alphabetical order.",
            f"List {home}, keep only names ending in .{ext}, and store the list as {shown(out)}.",
        ],
        others=[
            f"how to put the listing of {home}, reduced to .{ext} names, in {shown(out)}",
            f"Give me the .{ext} file names of the folder {home} in {shown(out)}, without the directory, one name a "
            "line, sorted.",
            f"{shown(out)} should have the names of all files ending in .{ext} that are in {home}, in sorted order, "
            f"without {home}/ in front.",
            f"List only the .{ext} files of the directory {home} and save their names, no paths, to {shown(out)}.",
            f"Look into {home} and note in {shown(out)} how the .{ext} files there are called: the plain names, "
            "sorted.",
            f"File names only, no path: the .{ext} ones from {home} are to be stored in {shown(out)}, sorted.",
            f"What .{ext} files are there in {home}? Put a sorted list of their names into {shown(out)}, one a line.",
            f"Save an alphabetical list of the names that end in .{ext} in directory {home} as {shown(out)}.",
            f"The file {shown(out)} must contain a line for each .{ext} file in {home}: its name alone, sorted by "
            "name.",
            f"Record the plain names of whatever ends in .{ext} in the folder {home}, sorted, one to a line, in "
            f"{shown(out)}.",
            f"From {home}, write out just the file names that end in .{ext}, alphabetically and without {home}/, to "
            f"{shown(out)}.",
            f"Every .{ext} file in {home} gets a line in {shown(out)}, with its bare name on it. The order is that of "
            "the alphabet.",
            f"In {home}, some names end in .{ext}. Make {shown(out)} a sorted list of these names, with no directory "
            "before them.",
            f"Look up what {home} has of *.{ext} and send the names, without paths, to {shown(out)} in sorted order.",
            f"Note the bare names of all .{ext} files in {home}, sorted, in {shown(out)}.",
            f"Compile {shown(out)}: a sorted list of .{ext} names in {home}, one per line, no directory part.",
            f"Fill {shown(out)} with the file names in {home} that end in .{ext}, sorted, without paths.",
            f"Strip {home}/ from the paths of its .{ext} files and store the names, sorted, in {shown(out)}.",
            f"Filter the listing of {home} for names ending in .{ext} and save it, still sorted, as {shown(out)}.",
            f"Catalogue the .{ext} files of {home} by plain name in {shown(out)}, from A to Z.",
            f"Enumerate in {shown(out)}, a line each and in sorted order, the names in {home} ending in .{ext}.",
            f"Names ending in .{ext} are taken from {home} and written, sorted and bare, to {shown(out)}.",
            f"Does a name in {home} end in .{ext}? It then goes, without the folder, into the sorted {shown(out)}.",
            f"{shown(out)} is wanted as a sorted index of the .{ext} files in {home}; each line is a name only.",
            f"For an overview of {home}, its .{ext} file names (no paths) stand sorted in {shown(out)}.",
        ],
        solution=[f"ls {home} | grep '\\.{ext}$' > {quote(out)}"],
    )


def names_of_directories(names: Names) -> Unit:
    """The directories of a tree."""
    home, out = names.directory(), names.file("list")
    parts = names.words(3)
    paths = [f"{home}/{parts[0]}", f"{home}/{parts[1]}", f"{home}/{parts[1]}/{parts[2]}"]
    return saving_unit(
        names,
        _files(names, [f"{path}/{names.file('txt')}" for path in paths] + [f"{home}/{names.file('md')}"]),
        out,
        text_of(sorted([home, *paths])),
        asks=[
            f"Write the sorted paths of all directories in the tree {home}, {home} itself included, to {shown(out)}.",
            f"List every directory from {home} downwards, {home} first, sorted by path, in {shown(out)}.",
            f"{shown(out)} needs a sorted list of directories only: {home} and all those below it.",
        ],
        others=[
            f"how to list just the directories of {home} recursively and sorted, saved as {shown(out)}",
            f"Save the paths of {home} and all of its subdirectories, sorted, to {shown(out)}; files do not belong "
            "there.",
            f"{shown(out)} should list the folder {home} and every folder in it at any depth, one path per line, "
            "sorted.",
            f"Find the directories in {home}, no files, and store their sorted paths, starting with {home}, in "
            f"{shown(out)}.",
            f"Which folders are there in the tree {home}? Put {home} and the paths of all the others, sorted, into "
            f"{shown(out)}.",
            f"Please write a sorted list of folders to {shown(out)}: {home} and whatever directory is below it.",
            f"I want the directory structure of {home} in {shown(out)}: the path of each directory, {home} included, "
            "in sorted order.",
            f"The paths of directories only, from {home} down, are to be collected, sorted and saved as {shown(out)}.",
            f"Gather the paths of {home} and of each folder within it, however deep, sort them and send them to "
            f"{shown(out)}.",
            f"In {shown(out)}, save the path of every folder of the tree {home}, that of {home} as well; sort them, "
            "one to a line.",
            f"Leave out files: {shown(out)} gets only {home} and the folders below it, all levels, as sorted paths.",
            f"Search {home} for folders at all levels. Print their paths and that of {home} to {shown(out)}, in sorted "
            "order.",
            f"What folders does {home} consist of? Write each one's path, and {home} itself, to {shown(out)}, sorted.",
            f"List {home} and every folder below it by path, sorted, in {shown(out)}; skip the files.",
            f"Map the folder tree {home} in {shown(out)}: sorted paths of all directories, {home} included.",
            f"Enumerate the directories of the tree {home}, itself among them, as sorted paths in {shown(out)}.",
            f"Compile {shown(out)} from the path {home} and those of all nested folders, sorted, one a line.",
            f"Walk {home} to any depth, note directories only ({home} too), and sort their paths into {shown(out)}.",
            f"Record {home} plus each subdirectory, however deep, as a sorted list of paths in {shown(out)}.",
            f"Fill {shown(out)} with directory paths, sorted: first {home}, then all folders inside, no files.",
            f"Directories, not files, are listed in {shown(out)}: {home} and all below it, as sorted paths.",
            f"Any folder within {home}, at all depths, goes with {home} itself into {shown(out)} as a sorted path.",
            f"{shown(out)} has one path per line, sorted: the directory {home} as well as any folder under it.",
            f"How is {home} divided into folders? Store its path and all subfolder paths, sorted, in {shown(out)}.",
        ],
        solution=[f"find {home} -type d | sort > {quote(out)}"],
    )


def content_flat(names: Names) -> Unit:
    """Files of one directory that contain a word, or that do not."""
    home, word, out = names.directory(), names.keyword(), names.file("list")
    ext, missing = names.pick(["txt", "log", "md"]), names.number(0, 1)
    hits, rest = ([f"{home}/{names.file(ext)}" for _ in range(count)] for count in (2, names.number(2, 3)))
    found = [fixture(path, text_of(lines_some_with(names, word, 4)[0])) for path in hits]
    does, flag = ("do not contain", "-L") if missing else ("contain", "-l")
    return saving_unit(
        names,
        found + _files(names, rest),
        out,
        text_of(sorted(rest if missing else hits)),
        asks=[
            f"Write the sorted paths of the files in {home} that {does} the word {word} to {shown(out)}.",
            f"Search the files of {home} for {word}; list the paths of those that {does} it in {shown(out)}, sorted.",
            f"Some files in {home} {does} the word {word}. Save their paths, sorted, as {shown(out)}.",
        ],
        others=[
            f"how to save in {shown(out)} which files of {home} {does} {word}",
            f"Go through the files in the folder {home}. The paths of files that {does} {word} are stored in "
            f"{shown(out)}, sorted.",
            f"{shown(out)} should list those paths {home}/... whose files {does} {word}, in sorted order.",
            f"I want to know which files in directory {home} {does} the word {word}: sorted paths in {shown(out)}, "
            "please.",
            f"Check each file of {home} for the word {word}, and save a sorted list of the paths that {does} it as "
            f"{shown(out)}.",
            f"Files of {home} that {does} {word} must be listed in {shown(out)}, one path per line, sorted.",
            f"Which files of {home} {does} {word}? Put their sorted paths, {home}/ included, into {shown(out)}.",
            f"Look inside the files of {home} and store in {shown(out)} the paths of those files which {does} {word}; "
            "sort them.",
            f"Pick out files directly in {home} which {does} {word}; record their paths, sorted, in {shown(out)}.",
            f"Into {shown(out)} go, sorted, all paths {home}/... of files which {does} {word}.",
            f"Some texts in the folder {home} {does} {word}. Find them; the path of each, in sorted order, is written "
            f"to {shown(out)}.",
            f"List by path in {shown(out)}, in sorted order, those files from {home} which {does} {word} anywhere in "
            "their text.",
            f"Determine which texts in {home} {does} {word} and send the sorted paths of these files to {shown(out)}.",
            f"Scan the files in {home}; save the sorted paths of those that {does} {word} in {shown(out)}.",
            f"Compile {shown(out)} from the paths, in sorted order, of files in {home} that {does} {word}.",
            f"Note in {shown(out)}, sorted, by path {home}/..., the files that {does} {word}.",
            f"Filter the files of {home}: those that {does} {word} are listed by path, sorted, in {shown(out)}.",
            f"Enumerate, with {home}/ in front, the files there that {does} {word}; sort them into {shown(out)}.",
            f"Fill {shown(out)} with paths from {home}, sorted, of such texts as {does} {word}.",
            f"Test the files in {home} for {word} and write the paths of all that {does} it, sorted, to {shown(out)}.",
            f"Only files that {does} {word} matter: list their paths, {home}/NAME, sorted, in {shown(out)}.",
            f"If the lines of a file in {home} {does} {word}, its path is entered in {shown(out)}; sort the paths.",
            f"A sorted index, {shown(out)}, is needed of those files in {home} (by path) that {does} {word}.",
            f"Of the files in {home}, {shown(out)} names by path, sorted and one a line, all which {does} {word}.",
        ],
        solution=[f"grep {flag} {word} {home}/* > {quote(out)}"],
    )


def content_tree(names: Names) -> Unit:
    """Files at any depth that contain a word."""
    word, out = names.keyword(), names.file("list")
    home, hits, rest = _tree(names, names.pick(["txt", "md", "conf"]), "log")
    found = [fixture(path, text_of(lines_some_with(names, word, names.number(3, 5))[0])) for path in hits]
    return saving_unit(
        names,
        found + _files(names, rest),
        out,
        text_of(sorted(hits)),
        asks=[
            f"Find all files below {home} that contain {word} and write their sorted paths to {shown(out)}.",
            f"Search {home} and its subdirectories for {word}; the sorted paths of the files go to {shown(out)}.",
            f"In which files under {home}, at any depth, does {word} occur? Save the paths, sorted, in {shown(out)}.",
        ],
        others=[
            f"how to grep the tree {home} for {word} and store the sorted file names in {shown(out)}",
            f"Look in all files of the tree {home} for the word {word} and save the paths of files with it, sorted, "
            f"to {shown(out)}.",
            f"{shown(out)} should list, sorted, each file somewhere below {home} whose text has {word} in it, by path.",
            f"Which files of {home} and its subfolders mention {word}? Store the sorted paths in {shown(out)}.",
            f"Go through the folder {home} recursively; a file that contains {word} belongs in {shown(out)}, as a "
            "path, sorted.",
            f"I want a sorted list in {shown(out)} of the paths where {word} is in the file; search {home} and every "
            "folder in it.",
            f"Save sorted paths to {shown(out)}: all files with {word} inside them, anywhere in the directory tree "
            f"{home}.",
            f"The word {word} is in some files under {home}, also in subdirectories. Put the paths of these files in "
            f"{shown(out)}, sorted.",
            f"Locate {word} in the texts of the whole tree {home}. Each file that has it is recorded by path in "
            f"{shown(out)}, sorted.",
            f"From every level of {home}, gather the paths of files with {word} in their text; write them, sorted, to "
            f"{shown(out)}.",
            f"Under {home} and in all folders there, some files say {word}: make a sorted list of their paths in "
            f"{shown(out)}.",
            f"Search all of {home}, subfolders too, for {word}; print the path of each file with a hit to "
            f"{shown(out)}, sorted.",
            f"To {shown(out)}, sorted, write the path of any file in {home} or deeper down that has the word {word} in "
            "its text.",
            f"List in {shown(out)} the sorted paths of all files in the tree {home} that contain {word}.",
            f"Scan {home} at every depth for files with {word} in them; sort their paths into {shown(out)}.",
            f"Compile {shown(out)}: sorted paths of files, at any level of {home}, whose text has {word}.",
            f"Trace the word {word} through {home} and all its subfolders; save sorted file paths as {shown(out)}.",
            f"Note every file below {home}, nested or not, that contains {word}: sorted paths in {shown(out)}.",
            f"Fill {shown(out)} with paths, sorted, of whichever files in the whole of {home} mention {word}.",
            f"Enumerate by path, sorted, in {shown(out)} the files across {home} and its folders that have {word}.",
            f"If a file anywhere in {home} contains {word}, its path goes to {shown(out)}; the list is sorted.",
            f"Only paths are wanted in {shown(out)}, sorted: files in the tree {home} with {word} in the text.",
            f"Here and there in {home}, at any depth, files contain {word}; {shown(out)} lists their sorted paths.",
            f"Files containing {word}, from {home} and every subdirectory, are named by sorted path in {shown(out)}.",
        ],
        solution=[
            names.pick(
                [
                    f"grep -rl {word} {home} | sort > {quote(out)}",
                    f"grep -r -l {word} {home} | sort > {quote(out)}",
                ]
            )
        ],
    )


def content_any_case(names: Names) -> Unit:
    """Files that contain a word in upper or lower case."""
    home, word, out = names.directory(), names.keyword(), names.file("list")
    forms = [word, word.upper(), word.capitalize()]
    hits, rest = ([f"{home}/{names.file('txt')}" for _ in range(count)] for count in (3, 2))
    found = [
        fixture(path, text_of([*names.lines(2), f"{names.line()} {form}"]))
        for path, form in zip(hits, forms, strict=True)
    ]
    return saving_unit(
        names,
        found + _files(names, rest),
        out,
        text_of(sorted(hits)),
        asks=[
            f"List the files of {home} that contain {word}, in upper or lower case, by path in {shown(out)}, sorted.",
            f"Save in {shown(out)} the sorted paths of those files in {home} that mention {word}; ignore case.",
            f"Search the files of {home} for {word}, whatever its case; the sorted paths go into {shown(out)}.",
        ],
        others=[
            f"how to do a case blind search for {word} over {home} with the file names in {shown(out)}",
            f"Which files in {home} have {word} in them, no matter if in capitals? Save the paths, sorted, to "
            f"{shown(out)}.",
            f"{shown(out)} should hold the sorted paths of files in the folder {home} with {word} in any mix of upper "
            "and lower case.",
            f"Look for {word} in every file of directory {home}, ignoring upper and lower case, and store the sorted "
            f"list of paths in {shown(out)}.",
            f"Ignore case and find the files of {home} that mention {word}; put their sorted paths into {shown(out)}.",
            f"I want to see in {shown(out)} which files of {home} contain {word}, capital or small letters alike: "
            "paths, sorted.",
            f"Files of {home} with the word {word}, in capital or small letters, are to be listed in {shown(out)} by "
            "their sorted paths.",
            f"Collect the paths of those files in {home} that have the word {word} in any case and store them, "
            f"sorted, as {shown(out)}.",
            f"Search {home} for files that say {word}, in capitals, small letters or both. Record their paths, sorted, "
            f"in {shown(out)}.",
            f"Without regard to capitals, determine what files in {home} contain {word}; send the paths to "
            f"{shown(out)}, sorted.",
            f"Write to {shown(out)}, sorted, by path, all files from {home} that have {word} in them, whether in "
            "capitals or not.",
            f"Each file in {home} with {word} in its text, however it is capitalised, is recorded by path in "
            f"{shown(out)}. The paths are sorted.",
            f"In {home}, find every file with the word {word}; capital and small letters count as the same. Sorted "
            f"paths to {shown(out)}.",
            f"List in {shown(out)} the sorted paths of files in {home} that contain {word}, upper or lower case.",
            f"Scan the files of {home} for {word}, case-insensitively; write the sorted paths to {shown(out)}.",
            f"Treat capitals as small letters: which files in {home} have {word}? Sorted paths to {shown(out)}.",
            f"Disregard case and enter the paths of files in {home} that contain {word}, sorted, in {shown(out)}.",
            f"Compile {shown(out)}, a sorted list of paths {home}/... of files with {word} in any letter case.",
            f"Fill {shown(out)} with the sorted paths of files in {home} that mention {word}, case ignored.",
            f"Note by path, sorted, in {shown(out)} the files of {home} where {word} occurs, whatever the case.",
            f"If {word} is in a file of {home}, in any letter case, its path is entered in {shown(out)}, sorted.",
            f"Case does not matter: {shown(out)} has the sorted paths of all files in {home} containing {word}.",
            f"Sorted paths from {home} are needed in {shown(out)}: files with {word} in small or capital letters.",
            f"{shown(out)} is to name by sorted path the files in {home} with {word}, capitalised or not.",
        ],
        solution=[f"grep -il {word} {home}/* > {quote(out)}"],
    )


def content_copied(names: Names) -> Unit:
    """Copies of the files that contain a word."""
    home, word, target = names.directory(), names.keyword(), names.directory()
    hits, rest = ([names.file("txt", plain=True) for _ in range(2)] for _ in range(2))
    texts = {name: text_of(lines_some_with(names, word, 4)[0]) for name in hits}
    fixtures = [fixture(f"{home}/{name}", text) for name, text in texts.items()]
    return Unit(
        fixtures=fixtures + _files(names, [f"{home}/{name}" for name in rest]),
        directive=names.pick(
            [
                f"Copy the files of {home} that contain the word {word} into the new directory {target}.",
                f"Make {target} and put copies of those files there that have {word} in them; look in {home}.",
                f"All files of {home} with {word} inside are needed a second time, in a new directory {target}.",
            ]
        ),
        instruction=names.wording(
            [
                f"how to copy by content, from {home} to {target}, whatever has {word} in it",
                f"Create the directory {target} and copy into it each file of {home} that contains {word}.",
                f"Put a copy of every file in {home} that mentions {word} into a new folder {target}; the originals "
                "stay.",
                f"Which files of {home} have the word {word}? They should be copied, names unchanged, to {target}, a "
                "new directory.",
                f"We need a new folder {target} with copies of those files from {home} whose text contains {word}.",
                f"{target} should be a new folder with a copy of each file of {home} in which the word {word} occurs.",
                f"Search {home} for files with {word} in the text, make the directory {target} and copy these files "
                "to it.",
                f"Please duplicate files of {home} if the word {word} is in them: the copies go to {target}, which "
                "does not exist yet.",
                f"Set up a directory {target}, then reproduce in it, name by name, the files from {home} that say "
                f"{word}.",
                f"Into a folder {target}, still to be made, goes a copy of each text in {home} with the word {word}, "
                f"without changes to {home}.",
                f"Find the files in {home} that have {word} in their text. Make the folder {target} and save copies of "
                "just these there.",
                f"From {home}, take only files with {word} in the text and make copies of them, same names, in "
                f"{target}, which you make as a new folder.",
                f"Duplicate any file of {home} that mentions {word}: build a folder {target}, which gets the "
                "duplicates under their old names.",
                f"Make {target} first, a folder that mirrors {home} but has only files with {word} in the text.",
                f"Make a folder {target} and replicate in it, names unchanged, the files from {home} that have {word}.",
                f"Gather copies of all files in {home} that contain {word} in a new directory {target}.",
                f"Open a new folder {target}; into it copy the files of {home} where {word} occurs.",
                f"Select the files in {home} whose text has {word} and copy them to {target}, a folder you create.",
                f"Back up whatever files in {home} mention {word} to the new directory {target}, leaving {home} as is.",
                f"Scan {home} for texts with {word}; place copies of them, same names, in {target} (new folder).",
                f"If a file in {home} contains {word}, a copy of it goes into {target}, a directory yet to be created.",
                f"A new directory {target} holds copies of exactly those files of {home} that have {word} in them.",
                f"Files of {home} with {word} in the text are copied, not moved, to {target}, created for them.",
                f"After {target} is created as a folder, every file of {home} that includes {word} is copied to it.",
            ]
        ),
        solution=[f"mkdir {target}", f"cp $(grep -l {word} {home}/*) {target}/"],
        after=[fixture(f"{target}/{name}", text) for name, text in texts.items()],
    )


SHAPES: dict[str, list[Shape]] = {
    "find_names": [names_by_extension, names_by_word, names_in_directory, names_of_directories],
    "find_content": [content_flat, content_tree, content_any_case, content_copied],
}
