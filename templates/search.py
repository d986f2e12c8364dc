"""Make worlds of searching: paths by name, files by content, lines by pattern.

    from templates.search import SHAPES

Reads   nothing
Writes  nothing
Needs   nothing
"""

from schema import Fixture
from templates.world import Names, Shape, Unit, fixture, listed, quote, saved, shown, text_of


def _tree(names: Names, ext: str, other: str) -> tuple[str, list[str], list[str]]:
    """A directory name, paths below it with the extension at depths 0 to 2, and paths with another one."""
    home = names.directory()
    hits = [f"{home}/{names.path(ext, depth)}" for depth in (0, 1, names.number(1, 2))]
    return home, hits, [f"{home}/{names.path(other, depth)}" for depth in (0, 1)]


def _files(names: Names, paths: list[str]) -> list[Fixture]:
    """Files with contents at the paths, in random order."""
    return [fixture(path, names.text(2, 4)) for path in names.rng.sample(paths, len(paths))]


def _planted(names: Names, word: str, count: int) -> tuple[list[str], list[str]]:
    """Lines of which two to four hold the word at the start, inside or at the end; and those that do."""
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
    return saved(
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
    return saved(
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
        ],
        solution=[f"find {home} -type f -name '{pattern}' | sort > {quote(out)}"],
    )


def names_in_directory(names: Names) -> Unit:
    """Bare names of one extension in one flat directory."""
    home, out = names.directory(), names.file("list")
    ext, other = names.rng.sample(["txt", "log", "md", "jpg", "csv"], 2)
    hits = [names.file(ext) for _ in range(names.number(2, 4))]
    rest = [names.file(other) for _ in range(2)]
    return saved(
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
        ],
        solution=[f"ls {home} | grep '\\.{ext}$' > {quote(out)}"],
    )


def names_of_directories(names: Names) -> Unit:
    """The directories of a tree."""
    home, out = names.directory(), names.file("list")
    parts = names.words(3)
    paths = [f"{home}/{parts[0]}", f"{home}/{parts[1]}", f"{home}/{parts[1]}/{parts[2]}"]
    return saved(
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
        ],
        solution=[f"find {home} -type d | sort > {quote(out)}"],
    )


def content_flat(names: Names) -> Unit:
    """Files of one directory that contain a word, or that do not."""
    home, word, out = names.directory(), names.keyword(), names.file("list")
    ext, missing = names.pick(["txt", "log", "md"]), names.number(0, 1)
    hits, rest = ([f"{home}/{names.file(ext)}" for _ in range(count)] for count in (2, names.number(2, 3)))
    found = [fixture(path, text_of(_planted(names, word, 4)[0])) for path in hits]
    does, flag = ("do not contain", "-L") if missing else ("contain", "-l")
    return saved(
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
        ],
        solution=[f"grep {flag} {word} {home}/* > {quote(out)}"],
    )


def content_tree(names: Names) -> Unit:
    """Files at any depth that contain a word."""
    word, out = names.keyword(), names.file("list")
    home, hits, rest = _tree(names, names.pick(["txt", "md", "conf"]), "log")
    found = [fixture(path, text_of(_planted(names, word, names.number(3, 5))[0])) for path in hits]
    return saved(
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
    return saved(
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
        ],
        solution=[f"grep -il {word} {home}/* > {quote(out)}"],
    )


def content_copied(names: Names) -> Unit:
    """Copies of the files that contain a word."""
    home, word, target = names.directory(), names.keyword(), names.directory()
    hits, rest = ([names.file("txt", plain=True) for _ in range(2)] for _ in range(2))
    texts = {name: text_of(_planted(names, word, 4)[0]) for name in hits}
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
        instruction=names.pick(
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
            ]
        ),
        solution=[f"mkdir {target}", f"cp $(grep -l {word} {home}/*) {target}/"],
        after=[fixture(f"{target}/{name}", text) for name, text in texts.items()],
    )


def lines_with_word(names: Names) -> Unit:
    """Lines of a file that contain a word, or that do not."""
    source, word, out = names.path(names.pick(["log", "txt"]), names.number(0, 1)), names.keyword(), names.file("txt")
    lines, hits = _planted(names, word, names.number(5, 8))
    kind, solution, kept = names.pick(
        [
            ("contain", f"grep {word} {quote(source)} > {quote(out)}", hits),
            ("contain", f"cat {quote(source)} | grep {word} > {quote(out)}", hits),
            ("do not contain", f"grep -v {word} {quote(source)} > {quote(out)}", [x for x in lines if x not in hits]),
        ]
    )
    return saved(
        names,
        [fixture(source, text_of(lines))],
        out,
        text_of(kept),
        asks=[
            f"Save the lines of {shown(source)} that {kind} {word} as {shown(out)}.",
            f"Write those lines of {shown(source)} which {kind} the word {word} to {shown(out)}, in the same order.",
            f"From {shown(source)}, only lines that {kind} {word} are wanted. Put them into {shown(out)}.",
        ],
        others=[
            f"how to filter {shown(source)} for lines that {kind} {word}, with {shown(out)} as output",
            f"Go through {shown(source)} and keep the lines which {kind} {word} in a new file {shown(out)}.",
            f"{shown(out)} should have those lines from {shown(source)} that {kind} {word}, nothing else.",
            f"I want all lines that {kind} the word {word} copied from {shown(source)} to {shown(out)}.",
            f"Look for {word} in {shown(source)}. Lines that {kind} it are to be stored in {shown(out)}, in their old "
            "order.",
            f"Filter {shown(source)}: only lines which {kind} {word} may go to {shown(out)}.",
            f"Which lines of {shown(source)} {kind} {word}? Put them into the file {shown(out)}.",
            f"Of the file {shown(source)}, lines that {kind} {word} should be copied to {shown(out)}; leave out the "
            "rest.",
            f"Search {shown(source)} for the word {word} and save all lines that {kind} it to {shown(out)}.",
        ],
        solution=[solution],
    )


def lines_by_edge(names: Names) -> Unit:
    """Lines that start or end with a word; other lines hold it elsewhere."""
    source, word, out = names.path("txt", names.number(0, 1)), names.keyword(), names.file("txt")
    rows = [names.filler(2) for _ in range(6)]
    lines = [f"{word} {a} {b}" for a, b in rows[:2]] + [f"{a} {b} {word}" for a, b in rows[2:4]]
    lines += [f"{a} {word} {b}" for a, b in rows[4:]] + names.lines(2)
    names.rng.shuffle(lines)
    where, pattern = names.pick([("start", f"^{word}"), ("end", f"{word}$")])
    hits = [line for line in lines if line.split()[0 if where == "start" else -1] == word]
    return saved(
        names,
        [fixture(source, text_of(lines))],
        out,
        text_of(hits),
        asks=[
            f"Save the lines of {shown(source)} that {where} with {word} in {shown(out)}.",
            f"Take the lines from {shown(source)} which {where} with the word {word}; write them to {shown(out)}.",
            f"{shown(out)} shall get every line of {shown(source)} that {where}s with {word}, in order.",
        ],
        others=[
            f"how to select lines of {shown(source)} that {where} with {word}, anchored, to {shown(out)}",
            f"Search {shown(source)} for lines that {where} with the word {word} and store those lines in "
            f"{shown(out)}.",
            f"{shown(out)} should have only lines from {shown(source)} that {where} with {word}.",
            f"Which lines in {shown(source)} {where} with {word}? Put them into {shown(out)} in the same order.",
            f"The word {word} stands at the {where} of some lines of {shown(source)}. Those lines, and no others, go "
            f"in {shown(out)}.",
            f"I want the lines with {word} at the very {where} copied from {shown(source)} to {shown(out)}.",
            f"Write to {shown(out)} every line of {shown(source)} with {word} at its {where}; lines with {word} "
            "elsewhere stay out.",
            f"Filter {shown(source)} so that just the lines that {where} with {word} are left, and save them as "
            f"{shown(out)}.",
            f"Go through {shown(source)} line by line; a line that {where}s with {word} is to be stored in "
            f"{shown(out)}.",
        ],
        solution=[f"grep '{pattern}' {quote(source)} > {quote(out)}"],
    )


def lines_any_case(names: Names) -> Unit:
    """Lines with a word in any case, or numbered lines with it."""
    source, word, out = names.path("log", names.number(0, 1)), names.keyword(), names.file("txt")
    lines, _ = _planted(names, word, names.number(5, 8))
    lines = [line.replace(word, names.pick([word, word.upper(), word.capitalize()])) for line in lines]
    hits = [line for line in lines if word in line.lower().split()]
    return saved(
        names,
        [fixture(source, text_of(lines))],
        out,
        text_of(hits),
        asks=[
            f"Save the lines of {shown(source)} that contain {word} in any case as {shown(out)}.",
            f"Upper or lower case does not matter: lines of {shown(source)} with {word} go to {shown(out)}.",
            f"Write each line of {shown(source)} that has the word {word}, ignoring case, to {shown(out)}.",
        ],
        others=[
            f"how to grep {shown(source)} for {word} case insensitively and keep the hits in {shown(out)}",
            f"Look in {shown(source)} for {word} without regard to case, and store each line with it in {shown(out)}.",
            f"{shown(out)} should hold those lines of {shown(source)} that mention {word} in upper or lower case.",
            f"Ignore case: which lines in {shown(source)} contain {word}? Put those lines into {shown(out)}.",
            f"I want all lines with {word}, be it in capital or small letters, from {shown(source)} in {shown(out)}.",
            f"Search {shown(source)} for the word {word}, ignoring upper and lower case, and write the lines found to "
            f"{shown(out)}.",
            f"Filter the lines of {shown(source)} for {word} in whatever case; the result should be a file "
            f"{shown(out)}.",
            f"Lines in {shown(source)} that have {word} in them, capitals or not, are to be saved to {shown(out)} in "
            "the same order.",
        ],
        solution=[f"grep -i {word} {quote(source)} > {quote(out)}"],
    )


def lines_numbered(names: Names) -> Unit:
    """Matching lines with their numbers in front."""
    source, word, out = names.path("txt", names.number(0, 1)), names.keyword(), names.file("txt")
    lines, hits = _planted(names, word, names.number(5, 8))
    return saved(
        names,
        [fixture(source, text_of(lines))],
        out,
        text_of(f"{number}:{line}" for number, line in enumerate(lines, 1) if line in hits),
        asks=[
            f"Save the lines of {shown(source)} with the word {word} in {shown(out)}, each as number:line.",
            f"Write to {shown(out)} where {word} occurs in {shown(source)}: line number, a colon, the line.",
            f"Put the lines of {shown(source)} that contain {word}, line number and colon in front, into {shown(out)}.",
        ],
        others=[
            f"how to print line numbers with the matches of {word} in {shown(source)} to {shown(out)}",
            f"Search {shown(source)} for {word} and write the lines found to {shown(out)} with their line numbers and "
            "a colon before them.",
            f"{shown(out)} should show which lines of {shown(source)} contain {word}: the lines themselves, with line "
            "numbers and a colon in front.",
            f"Store in {shown(out)} all lines of {shown(source)} with {word}, in the form 3:text for line 3.",
            f"Find {word} in {shown(source)} and save the lines with their line numbers, as in 5:text, to "
            f"{shown(out)}.",
            f"I want to see in {shown(out)} where {shown(source)} has {word}: all these lines, numbered like 4:text.",
            f"Which lines of {shown(source)} mention {word}? Write them to {shown(out)} with line numbers in front, "
            "separated by a colon.",
            f"Print every line in {shown(source)} that contains {word}, with line numbers as in 6:text, to "
            f"{shown(out)}.",
            f"Lines of {shown(source)} that have the word {word} belong in {shown(out)}; each begins with its "
            "position (1 for the top line) and a colon.",
        ],
        solution=[f"grep -n {word} {quote(source)} > {quote(out)}"],
    )


def lines_of_several(names: Names) -> Unit:
    """Lines with a word from all files of a directory, without file names."""
    home, word, out = names.directory(), names.keyword(), names.file("txt")
    texts = {f"{home}/{names.file('log')}": _planted(names, word, 5) for _ in range(names.number(2, 3))}
    return saved(
        names,
        [fixture(path, text_of(lines)) for path, (lines, _) in texts.items()],
        out,
        text_of(line for path in sorted(texts) for line in texts[path][1]),
        asks=[
            f"Gather just the lines with {word} from all .log files of {home}, by file name, in {shown(out)}.",
            f"Go through the .log files of {home} in order of name and write every line that contains {word} to "
            f"{shown(out)}. Only the lines, no file names.",
            f"{shown(out)} shall hold just the lines of {home}/*.log, file by file, that have {word} in them.",
        ],
        others=[
            f"how to collect matches of {word} over the logs in {home}, no prefix, as {shown(out)}",
            f"Search all .log files of {home} for {word} and store the lines found, without file names, in "
            f"{shown(out)}.",
            f"{shown(out)} should have every line with {word} from the .log files in {home}, sorted by file name, "
            "with no names in front.",
            f"Which lines of the .log files in {home} mention {word}? Put them, file after file by name, in "
            f"{shown(out)}, and nothing but the lines.",
            f"I want the lines that contain {word} from {home}/*.log together in one file {shown(out)}, no file names "
            "added.",
            f"Take the .log files in the folder {home} by name and copy each line that has {word} in it to "
            f"{shown(out)}, the line alone.",
            f"Filter every .log file in {home} for the word {word}; the plain lines, one file after another, go to "
            f"{shown(out)}.",
            f"Lines with the word {word} are to be collected from the .log files of directory {home} and saved, "
            f"without names of files, as {shown(out)}.",
        ],
        solution=[
            names.pick(
                [
                    f"grep -h {word} {home}/*.log > {quote(out)}",
                    f"cat {home}/*.log | grep {word} > {quote(out)}",
                ]
            )
        ],
    )


def lines_with_either(names: Names) -> Unit:
    """Lines with one of two words."""
    source, out = names.path("txt", names.number(0, 1)), names.file("txt")
    first, second = names.keyword(), names.keyword()
    lines = [f"{names.line(1, 2)} {word} {names.line(1, 2)}" for word in (first, second, first, second)]
    lines = names.rng.sample([*lines, *names.lines(4)], 8)
    hits = [line for line in lines if {first, second} & set(line.split())]
    return saved(
        names,
        [fixture(source, text_of(lines))],
        out,
        text_of(hits),
        asks=[
            f"Save the lines of {shown(source)} that contain {first} or {second} as {shown(out)}.",
            f"A line of {shown(source)} with either {listed([first, second])} in it belongs into {shown(out)}.",
            f"Copy to {shown(out)} each line of {shown(source)} where one of the words {first}, {second} occurs.",
        ],
        others=[
            f"how to match two words {first} {second} at once in {shown(source)}, saved to {shown(out)}",
            f"Look for two words in {shown(source)}: lines with {first} or with {second} are stored in {shown(out)}.",
            f"{shown(out)} should hold all lines of {shown(source)} that mention {first}, {second} or both.",
            f"Which lines in {shown(source)} have {first} or {second} in them? Put these into {shown(out)}, in the "
            "same order.",
            f"I want each line of {shown(source)} with at least one of the words {first} and {second} in {shown(out)}.",
            f"Search {shown(source)} for {first} and also for {second}, and write the lines with one or the other to "
            f"{shown(out)}, in file order.",
            f"Filter {shown(source)}: a line may stay if it contains {first} or if it contains {second}; save the "
            f"result as {shown(out)}.",
            f"Lines of {shown(source)} that contain the word {first} or the word {second} should be copied to "
            f"{shown(out)}.",
        ],
        solution=[
            names.pick(
                [
                    f"grep -e {first} -e {second} {quote(source)} > {quote(out)}",
                    f"grep -E '{first}|{second}' {quote(source)} > {quote(out)}",
                ]
            )
        ],
    )


SHAPES: dict[str, list[Shape]] = {
    "find_names": [names_by_extension, names_by_word, names_in_directory, names_of_directories],
    "find_content": [content_flat, content_tree, content_any_case, content_copied],
    "extract_lines": [
        lines_with_word, lines_by_edge, lines_any_case, lines_numbered, lines_of_several, lines_with_either,
    ],
}  # fmt: skip
