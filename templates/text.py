"""Make worlds of changing text: replacing words, translating characters.

    from templates.text import SHAPES

Reads   nothing
Writes  nothing
Needs   nothing
"""

from templates.world import Names, Shape, Unit, edited, fixture, quote, saved, shown, text_of


def _mentions(names: Names, word: str, *, twice: bool = False) -> str:
    """A text of four to six lines, two or three of which hold the word; one of them twice if asked."""
    lines = names.lines(names.number(4, 6))
    for number, index in enumerate(names.rng.sample(range(len(lines)), names.number(2, 3))):
        lines[index] += f" {word}"
        if twice and number == 0:
            lines[index] = f"{word} {lines[index]}"
    return text_of(lines)


def replace_in_file(names: Names) -> Unit:
    """Every occurrence of a word in one file, in place."""
    path, old, new = names.path(names.pick(["txt", "md", "conf"]), names.number(0, 1)), names.keyword(), names.word()
    text = _mentions(names, old, twice=True)
    return edited(
        names,
        [fixture(path, text)],
        {path: text.replace(old, new)},
        names.pick(
            [
                f"In {shown(path)}, replace every {old} by {new}.",
                f"The word {old} in {shown(path)} must read {new} everywhere. Change the file itself.",
                f"Edit {shown(path)}: each occurrence of {old} becomes {new}.",
                f"Substitute {new} for {old} throughout the file {shown(path)}.",
            ]
        ),
        [
            f"how to swap {old} for {new} all over {shown(path)} in place",
            f"Go through {shown(path)} and set {new} in place of each {old}; the file itself is edited.",
            f"{shown(path)} should say {new} wherever it now says {old}; the old text is overwritten.",
            f"I want all {old} in the file {shown(path)} changed to {new}, in place.",
            f"Could you change {old} to {new} everywhere in the text of {shown(path)}?",
            f"Every {old} in {shown(path)} has to be replaced with {new}, in the same file.",
            f"The file {shown(path)} uses the word {old}. Write {new} instead, each time, in the same file.",
            f"Edit the file {shown(path)} so that all occurrences of {old} are replaced with {new}.",
            f"Change the word {old} into {new} in {shown(path)}, all of them, and leave the rest of the text.",
            f"Swap {old} for {new} each time it occurs in {shown(path)}, and save the text back to {shown(path)}.",
            f"Wherever {shown(path)} has the word {old}, write {new}, so that no {old} is left in the file afterwards.",
            f"Turn {old} into {new} in the text of {shown(path)}, every single time, without making a second file.",
            f"Rewrite {shown(path)} with {new} for {old} from the first line to the last, and no other change.",
            f"In the text of {shown(path)}, exchange each {old} for {new} and save the file under its name.",
        ],
        [f"sed -i 's/{old}/{new}/g' {quote(path)}"],
    )


def replace_into_copy(names: Names) -> Unit:
    """The changed text in a new file; the original stays."""
    path, out = names.path("txt", names.number(0, 1)), names.file("txt")
    old, new = names.keyword(), names.word()
    text = _mentions(names, old, twice=True)
    return saved(
        names,
        [fixture(path, text)],
        out,
        text.replace(old, new),
        asks=[
            f"Write {shown(path)} with every {old} replaced by {new} to {shown(out)}; leave {shown(path)} as it is.",
            f"{shown(out)} shall be a copy of {shown(path)} in which {new} stands wherever {old} stood.",
            f"Save a version of {shown(path)} as {shown(out)} that says {new} instead of {old} everywhere.",
        ],
        others=[
            f"how to produce {shown(out)} out of {shown(path)} with {old} turned to {new}",
            f"Copy {shown(path)} to {shown(out)} and, in the copy only, replace each {old} with {new}.",
            f"{shown(out)} should have the text of {shown(path)}, but with {new} in place of every {old}; "
            f"{shown(path)} stays the same.",
            f"I want a second file {shown(out)} like {shown(path)} where all {old} are changed to {new}.",
            f"Substitute {new} for each {old} in the text of {shown(path)} and store the result in {shown(out)}; do "
            f"not edit {shown(path)}.",
            f"Take {shown(path)}, put {new} wherever the word {old} occurs, and save that to the new file "
            f"{shown(out)}.",
            f"The word {old} should read {new} in {shown(out)}, which is otherwise the same as {shown(path)}; the "
            "original is not changed.",
            f"What would {shown(path)} look like with {new} for {old}? Write that text to {shown(out)}.",
            f"Rewrite the text of {shown(path)} with {new} for each {old}, but into the new file {shown(out)}; "
            f"{shown(path)} keeps its own text.",
            f"For {shown(out)}, take what {shown(path)} says and turn every {old} into {new}. Do not edit "
            f"{shown(path)}.",
            f"Read {shown(path)}, exchange each {old} for {new}, and write the changed text to {shown(out)} only.",
            f"From {shown(path)}, make a file {shown(out)} that differs in one word: where the former has {old}, the "
            f"latter has {new}.",
            f"Change {old} to {new} all through the text of {shown(path)}, but save it to {shown(out)}; {shown(path)} "
            "is not overwritten.",
        ],
        solution=[f"sed 's/{old}/{new}/g' {quote(path)} > {quote(out)}"],
    )


def replace_in_directory(names: Names) -> Unit:
    """A word in all files of one extension of a directory."""
    home, old, new = names.directory(), names.keyword(), names.word()
    ext, other = names.rng.sample(["txt", "conf", "md"], 2)
    texts = {f"{home}/{names.file(ext)}": _mentions(names, old, twice=True) for _ in range(names.number(2, 3))}
    rest = fixture(f"{home}/{names.file(other)}", _mentions(names, old))
    return edited(
        names,
        [*(fixture(path, text) for path, text in texts.items()), rest],
        {path: text.replace(old, new) for path, text in texts.items()},
        names.pick(
            [
                f"Replace {old} by {new} in all .{ext} files of {home}, every time it occurs.",
                f"In every .{ext} file of the directory {home}, {old} must become {new}; other files stay as they are.",
                f"The .{ext} files of {home} say {old}. Make that {new} in all of them.",
            ]
        ),
        [
            f"how to edit many .{ext} files of {home} at once so that {old} turns to {new}",
            f"Edit all files ending in .{ext} in the folder {home}: each {old} should be {new}.",
            f"Go through {home}/*.{ext} and set {new} in place of every {old}, in the files themselves.",
            f"I want {old} replaced with {new} everywhere in the .{ext} files in directory {home}; leave files of "
            "another kind alone.",
            f"The word {old} may not be in any .{ext} file of {home} any more: write {new} instead, in place.",
            f"In {home} there are .{ext} files with the word {old}. Change it to {new} throughout, in these files "
            "only.",
            f"Each .{ext} file in {home} has to say {new} wherever it says {old} now.",
            f"Substitute {new} for {old} in the files of {home} that end in .{ext}, all occurrences, and overwrite "
            "them.",
            f"Swap {old} for {new}, each time, in whatever ends in .{ext} in the folder {home}; save the files under "
            "their own names.",
            f"Rewrite {home}/*.{ext} with {new} wherever {old} was; nothing else in {home} changes.",
            f"No .{ext} file in {home} is to say {old} after this: put {new} there each time, and skip files of any "
            "other type.",
            f"Turn every {old} into {new} across the files called *.{ext} in {home}, and edit no others.",
            f"In the folder {home}, change the .{ext} files one by one: {old} is exchanged for {new} throughout each "
            "of them.",
        ],
        [f"sed -i 's/{old}/{new}/g' {home}/*.{ext}"],
    )


def replace_in_tree(names: Names) -> Unit:
    """A word in all files of a tree."""
    home, old, new = names.directory(), names.keyword(), names.word()
    texts = {f"{home}/{names.path('txt', depth, plain=True)}": _mentions(names, old) for depth in (0, 1, 2)}
    rest = [fixture(f"{home}/{names.path('txt', depth, plain=True)}", names.text()) for depth in (0, 1)]
    return edited(
        names,
        [*(fixture(path, text) for path, text in texts.items()), *rest],
        {path: text.replace(old, new) for path, text in texts.items()},
        names.pick(
            [
                f"Change {old} to {new} in every file below {home}, at any depth.",
                f"Wherever a file in the tree {home} says {old}, it should say {new}.",
                f"{old} has a new name: {new}. Correct all files under {home}, subdirectories included.",
            ]
        ),
        [
            f"how to rename {old} to {new} in the files of the whole tree {home}",
            f"Go through all files of {home} and its subfolders and set {new} in place of {old}.",
            f"Every file in the folder {home}, also in folders deeper down, should say {new} instead of {old}; edit "
            "them in place.",
            f"I want the word {old} replaced with {new} in each file of the directory tree {home}.",
            f"Search {home} recursively for files that contain {old} and change that word to {new} in them.",
            f"No file in {home} or its subdirectories may say {old} any more; it has to be {new}.",
            f"Edit the files below {home} at all levels so that {old} reads {new}.",
            f"All over the tree {home}, substitute {new} for {old} in the files, and leave everything else in them "
            "alone.",
            f"Swap {old} for {new} in whatever file has it, from {home} down to its deepest folder; save each file in "
            "place.",
            f"In {home} and all folders within it, rewrite the files that say {old} so that they say {new} instead, "
            "each time.",
            f"Find {old} in the files under {home}, whatever their depth, and write {new} in its place each time.",
            f"Each {old} in any file of {home}, or of a folder inside it, is changed to {new}; the files keep their "
            "names.",
            f"Exchange the word {old} for {new} throughout the whole of {home}: all files at all levels, nothing but "
            "this word.",
        ],
        [
            names.pick(
                [
                    f"grep -rl {old} {home} | xargs sed -i 's/{old}/{new}/g'",
                    f"find {home} -type f -exec sed -i 's/{old}/{new}/g' {{}} +",
                    f"find {home} -type f -exec sed -i 's/{old}/{new}/g' {{}} \\;",
                ]
            )
        ],
    )


def replace_once_per_line(names: Names) -> Unit:
    """Only the first occurrence on each line."""
    path, old, new = names.path("txt", names.number(0, 1)), names.keyword(), names.word()
    lines = [f"{old} {names.line(1, 2)} {old}", f"{names.line(1, 2)} {old} {old}", *names.lines(3)]
    names.rng.shuffle(lines)
    return edited(
        names,
        [fixture(path, text_of(lines))],
        {path: text_of(line.replace(old, new, 1) for line in lines)},
        names.pick(
            [
                f"In {shown(path)}, replace only the first {old} of each line by {new}.",
                f"Lines of {shown(path)} hold {old} more than once; change just the first one on every line to {new}.",
                f"On each line of {shown(path)} the first {old} becomes {new}, any later one stays.",
            ]
        ),
        [
            f"how to alter the first {old} per line in {shown(path)} to {new}",
            f"Edit {shown(path)}: on every line only the first {old} is replaced with {new}.",
            f"Each line of {shown(path)} should get {new} in place of its first {old}; further ones on the line stay "
            f"{old}.",
            f"I want one replacement per line in the file {shown(path)}: the first {old} on it turns into {new}.",
            f"Go through {shown(path)} line by line and change {old} to {new} once, the first time it occurs on the "
            "line; edit the file in place.",
            f"Where a line of {shown(path)} has {old}, put {new} for the first of them and leave the others.",
            f"Substitute {new} for {old} in {shown(path)}, but no more than the first time on any line.",
            f"The file {shown(path)} must say {new} instead of the first {old} of a line, on all lines; a second "
            f"{old} stays.",
            f"Swap just one {old} a line for {new} in {shown(path)}, the leftmost; save the result in the same file.",
            f"Turn the first {old} that a line of {shown(path)} has into {new}, line after line, and let any further "
            f"{old} stand.",
            f"Rewrite {shown(path)}: at its first place on a line, {old} is exchanged for {new}; at later places it is "
            "kept.",
            f"On any line of {shown(path)}, write {new} for {old} the first time only. All other text in the file is "
            "kept.",
            f"Change {old} in {shown(path)} to {new} where it stands for the first time on a line, not where it comes "
            "again.",
        ],
        [f"sed -i 's/{old}/{new}/' {quote(path)}"],
    )


def replace_two_words(names: Names) -> Unit:
    """Two words in one file."""
    path, first, second = names.path("md", names.number(0, 1)), names.keyword(), names.keyword()
    one, two = names.words(2)
    text = text_of([names.line(), f"{names.line()} {first}", f"{second} {names.line()}", f"{first} {second}"])
    return edited(
        names,
        [fixture(path, text)],
        {path: text.replace(first, one).replace(second, two)},
        names.pick(
            [
                f"In {shown(path)}, replace {first} by {one} and {second} by {two}, everywhere.",
                f"Two words of {shown(path)} change: {first} becomes {one}, {second} becomes {two}.",
                f"Edit {shown(path)} so that it says {one} for {first} and {two} for {second}.",
            ]
        ),
        [
            f"how to make two substitutions in {shown(path)}: {first} to {one}, {second} to {two}",
            f"Go through {shown(path)} and set {one} in place of each {first}, and {two} in place of each {second}.",
            f"{shown(path)} should say {one} wherever it says {first} now, and {two} wherever it says {second}; "
            "overwrite it.",
            f"I want {first} changed to {one} and {second} changed to {two} all over the file {shown(path)}.",
            f"Edit the file {shown(path)} in place: {one} for every {first}, {two} for every {second}.",
            f"Make two changes to {shown(path)}: all {first} turn into {one}, and all {second} turn into {two}.",
            f"Substitute {one} for {first}, and also {two} for {second}, throughout {shown(path)}.",
            f"The words {first} and {second} in {shown(path)} are wrong: write {one} for {first} and {two} for "
            f"{second}, each time, in the same file.",
            f"Rewrite {shown(path)} with two words changed: {one} is put for {first}, and {two} is put for {second}, "
            "every time.",
            f"Turn each {first} into {one} and each {second} into {two} within {shown(path)}, and save it under its "
            "name.",
            f"In the text of {shown(path)}, change {first} to {one}; then change {second} to {two}. Do so each time, "
            "in the file itself.",
            f"Wherever {shown(path)} has {first}, put {one} in its place. Wherever it has {second}, put {two}.",
            f"No {first} and no {second} stay in {shown(path)}: {one} is written for the former and {two} for the "
            "latter.",
        ],
        names.pick(
            [
                [f"sed -i 's/{first}/{one}/g; s/{second}/{two}/g' {quote(path)}"],
                [f"sed -i 's/{first}/{one}/g' {quote(path)}", f"sed -i 's/{second}/{two}/g' {quote(path)}"],
            ]
        ),
    )


def case_into_copy(names: Names) -> Unit:
    """Upper or lower case in a new file."""
    path, out, upper = names.path("txt", names.number(0, 1)), names.file("txt"), names.number(0, 1)
    text = "".join(names.pick([line.title(), line]) for line in names.text(4, 6).splitlines(keepends=True))
    which, sets, result = ("upper", "a-z A-Z", text.upper()) if upper else ("lower", "A-Z a-z", text.lower())
    if text == result:
        text = text.swapcase()
    return saved(
        names,
        [fixture(path, text)],
        out,
        result,
        asks=[
            f"Write {shown(path)} in {which} case to {shown(out)}.",
            f"Save a copy of {shown(path)} as {shown(out)} with all letters in {which} case.",
            f"{shown(out)} shall hold the text of {shown(path)}, every letter in {which} case.",
        ],
        others=[
            f"how to translate {shown(path)} to {which} case letters with tr and keep it in {shown(out)}",
            f"Copy {shown(path)} to {shown(out)} and turn all letters of the copy to {which} case.",
            f"{shown(out)} should have the text of {shown(path)} in {which} case letters, without other changes.",
            f"I want a {which} case version of the file {shown(path)}, stored in {shown(out)}.",
            f"Take the text of {shown(path)}, change every letter to {which} case and save the result as {shown(out)}.",
            f"Convert {shown(path)} to {which} case; the converted text goes to the new file {shown(out)}.",
            f"All letters of {shown(path)} must be in {which} case in {shown(out)}; nothing else is different.",
            f"How would {shown(path)} read in {which} case only? Put that text into {shown(out)}.",
            f"Bring the letters from {shown(path)} into {which} case on the way to {shown(out)}; {shown(path)} itself "
            "is not edited.",
            f"Into {shown(out)} goes all that {shown(path)} says, letter by letter in {which} case.",
            f"Rewrite the text of {shown(path)} with {which} case letters alone, and record it in {shown(out)}, not in "
            f"{shown(path)}.",
            f"From {shown(path)}, make {shown(out)}: the same text, with its letters all set in {which} case.",
            f"Write what is in {shown(path)} to a new file {shown(out)}, in {which} case letters from beginning to "
            "end.",
        ],
        solution=[
            names.pick(
                [
                    f"tr {sets} < {quote(path)} > {quote(out)}",
                    f"cat {quote(path)} | tr {sets} > {quote(out)}",
                ]
            )
        ],
    )


def case_in_place(names: Names) -> Unit:
    """Upper or lower case in the file itself, by way of a second file."""
    path, upper = names.path("txt", names.number(0, 1)), names.number(0, 1)
    text = text_of(line.title() for line in names.lines(names.number(4, 6)))
    which, sets, result = ("upper", "a-z A-Z", text.upper()) if upper else ("lower", "A-Z a-z", text.lower())
    return edited(
        names,
        [fixture(path, text)],
        {path: result},
        names.pick(
            [
                f"Change all letters of {shown(path)} to {which} case, in the file itself.",
                f"The text in {shown(path)} has to be {which} case only; overwrite the file.",
                f"Turn {shown(path)} into {which} case and keep its name.",
            ]
        ),
        [
            f"how to rewrite {shown(path)} using {which} case, by way of a temporary file",
            f"Convert the file {shown(path)} to {which} case in place.",
            f"{shown(path)} should have nothing but {which} case letters; write the result back to it.",
            f"I want the text of {shown(path)} in {which} case, stored in the same file.",
            f"Make every letter in {shown(path)} {which} case and leave the file name.",
            f"Replace the content of {shown(path)} by the same text in {which} case.",
            f"The letters in {shown(path)} are of mixed case. Overwrite the file so that all of them are {which} case.",
            f"Edit {shown(path)} itself: all its letters turn to {which} case.",
            f"Set the whole text of {shown(path)} in {which} case and save it back under the same name.",
            f"Turn the letters in {shown(path)} to {which} case, one and all, and leave no other file behind.",
            f"Rewrite {shown(path)} so that it is the same text in {which} case letters.",
            f"Only {which} case letters may be left in {shown(path)}: change the others to that case and overwrite the "
            "file.",
            f"In {shown(path)}, put every single letter into {which} case; the file keeps its name.",
        ],
        [
            f"tr {sets} < {quote(path)} > {quote(path + '.new')}",
            f"mv {quote(path + '.new')} {quote(path)}",
        ],
    )


def swap_character(names: Names) -> Unit:
    """One character for another."""
    path, out = names.path("txt", names.number(0, 1)), names.file("txt")
    old, new, old_name, new_name = names.pick(
        [
            (",", ";", "comma", "a semicolon"), (":", " ", "colon", "a space"), (" ", "_", "space", "an underscore"),
            (" ", ",", "space", "a comma"), ("-", "_", "dash", "an underscore"), (";", ":", "semicolon", "a colon"),
        ]
    )  # fmt: skip
    text = text_of(line.replace(" ", old) for line in names.lines(names.number(4, 6)))
    return saved(
        names,
        [fixture(path, text)],
        out,
        text.replace(old, new),
        asks=[
            f"Replace each {old_name} in {shown(path)} by {new_name} and save the result as {shown(out)}.",
            f"Write {shown(path)} to {shown(out)} with {new_name} wherever there is a {old_name}.",
            f"{shown(out)} shall be {shown(path)} with every {old_name} turned into {new_name}.",
        ],
        others=[
            f"how to exchange the {old_name} for {new_name} across {shown(path)} giving {shown(out)}",
            f"Take the text of {shown(path)}, set {new_name} in place of every {old_name}, and store it in "
            f"{shown(out)}.",
            f"{shown(out)} should have the text of {shown(path)} with {new_name} where {shown(path)} has a {old_name}.",
            f"I want every {old_name} of {shown(path)} changed to {new_name} in a new file {shown(out)}.",
            f"Copy {shown(path)} to {shown(out)}; in the copy, {new_name} stands for each {old_name}.",
            f"Change each {old_name} in the file {shown(path)} to {new_name}, but save the changed text as "
            f"{shown(out)} and leave {shown(path)} alone.",
            f"Convert {shown(path)}: {new_name} instead of a {old_name}, everywhere. The converted text goes to "
            f"{shown(out)}.",
            f"Where {shown(path)} has a {old_name}, {shown(out)} must have {new_name}; all other characters are the "
            "same.",
            f"Exchange every {old_name} for {new_name} on the way from {shown(path)} to {shown(out)}, and do not edit "
            f"{shown(path)}.",
            f"In {shown(out)}, save the text of {shown(path)}, but with each {old_name} made {new_name}.",
            f"Rewrite {shown(path)} with {new_name} for each {old_name}, but save it to {shown(out)} and not in place.",
            f"Put {new_name} wherever the text of {shown(path)} has a {old_name}; print the outcome to {shown(out)}.",
            f"From {shown(path)}, make a copy {shown(out)}. Any {old_name} is changed to {new_name} there, and nothing "
            "else.",
        ],
        solution=[f"tr '{old}' '{new}' < {quote(path)} > {quote(out)}"],
    )


def drop_character(names: Names) -> Unit:
    """All of one character removed, or runs of it squeezed."""
    path, out = names.path("txt", names.number(0, 1)), names.file("txt")
    rows = [line.split() for line in names.lines(names.number(4, 6))]
    sign, sign_name = names.pick([(",", "commas"), ("#", "hash signs"), ("*", "stars"), ("-", "dashes")])
    if names.number(0, 1):
        text = text_of(f"{sign} ".join(row) for row in rows)
        what, otherwise = f"without any {sign_name}", f"with all {sign_name} deleted"
        option, result = "-d", text.replace(sign, "")
    else:
        text = text_of((sign * names.number(2, 4)).join(row) for row in rows)
        what, otherwise = (
            f"with each run of {sign_name} squeezed to one",
            f"with {sign_name} in a row made a single one",
        )
        option, result = "-s", text_of(sign.join(row) for row in rows)
    return saved(
        names,
        [fixture(path, text)],
        out,
        result,
        asks=[
            f"Save {shown(path)} {what} as {shown(out)}.",
            f"Write the text of {shown(path)} to {shown(out)}, {what}.",
            f"{shown(out)} needs the content of {shown(path)} {what}.",
        ],
        others=[
            f"how to get {shown(out)} from {shown(path)} {otherwise} by means of tr",
            f"Copy {shown(path)} to {shown(out)}, {otherwise}.",
            f"{shown(out)} should have the text of {shown(path)} {otherwise}, while {shown(path)} is left alone.",
            f"I want the lines of {shown(path)} {otherwise} in a new file {shown(out)}.",
            f"Take {shown(path)} and store it {otherwise} in {shown(out)}.",
            f"Make a version of the file {shown(path)} {otherwise} and put it into {shown(out)}.",
            f"How would {shown(path)} look {otherwise}? Save that text as {shown(out)}.",
            f"The same text as in {shown(path)}, but {otherwise}, is to be stored in the file {shown(out)}.",
            f"Rewrite the text of {shown(path)} {otherwise} and record it in {shown(out)}, not in place.",
            f"Into {shown(out)} goes what {shown(path)} says, {otherwise}.",
            f"From {shown(path)}, make a second file {otherwise}. Its name is {shown(out)}.",
            f"Print {shown(path)} {otherwise}, and send the output to {shown(out)}.",
            f"Write a copy of {shown(path)} to {shown(out)}, {otherwise} in the copy and nothing else changed.",
        ],
        solution=[f"tr {option} '{sign}' < {quote(path)} > {quote(out)}"],
    )


def case_of_directory(names: Names) -> Unit:
    """Every file of a directory, translated into a file of the same name in another directory."""
    home, target, upper = names.directory(), names.directory(), names.number(0, 1)
    which, sets = ("upper", "a-z A-Z") if upper else ("lower", "A-Z a-z")
    texts = {
        names.file("txt", plain=True): text_of(line.title() for line in names.lines(names.number(3, 4)))
        for _ in range(names.number(2, 3))
    }
    results = {name: text.upper() if upper else text.lower() for name, text in texts.items()}
    return Unit(
        fixtures=[fixture(f"{home}/{name}", text) for name, text in texts.items()],
        directive=names.pick(
            [
                f"Make {target} and write every file of {home} into it in {which} case, under the same name.",
                f"The files of {home} are wanted in {which} case: same names, in a new directory {target}.",
                f"For each file of {home}, save a version in {which} case in the new directory {target}.",
            ]
        ),
        solution=[
            f"mkdir {target}",
            names.pick(
                [
                    f"for f in {home}/*; do tr {sets} < $f > {target}/${{f##*/}}; done",
                    f"for f in {home}/*; do tr {sets} < $f > {target}/$(basename $f); done",
                ]
            ),
        ],
        instruction=names.pick(
            [
                f"how to loop over {home} and put {which} case versions of its files in {target}",
                f"Create the folder {target} and store there each file of {home} converted to {which} case, file "
                "names unchanged.",
                f"{target} should be a new directory with a {which} case version of every file in {home}, same names.",
                f"I want all files of {home} in {which} case in a new folder {target}; the names stay the same.",
                f"Convert the text of the files in {home} to {which} case and write them, name by name, to the new "
                f"directory {target}.",
                f"Go through the files of the folder {home}; put the text of each in {which} case into a file of this "
                f"name in {target}, which is new.",
                f"Copy the files of {home} to {target} (make that directory) and turn the letters of the copies to "
                f"{which} case.",
                f"Make a directory {target} that has the files of {home}, by the same names, with all letters {which} "
                f"case; leave {home} alone.",
                f"Set up {target}, a new directory, and reproduce in it each file of {home}, same name, with its "
                f"letters in {which} case.",
                f"Into the folder {target}, still to be made, goes the text of every file in {home}, set in {which} "
                "case; file names are kept.",
                f"Rewrite all files of {home} in {which} case, not in place but into files of the same names in the "
                f"folder {target}, which you make first.",
                f"Start a folder {target}. Then turn each text in {home} to {which} case and write it there under the "
                "name of its file.",
                f"From {home}, make a second directory {target} with the same file names, where all text is in {which} "
                "case.",
            ]
        ),
        after=[fixture(f"{target}/{name}", text) for name, text in results.items()],
    )


SHAPES: dict[str, list[Shape]] = {
    "replace_text": [
        replace_in_file, replace_into_copy, replace_in_directory, replace_in_tree, replace_once_per_line,
        replace_two_words,
    ],
    "change_case": [case_into_copy, case_in_place, swap_character, drop_character, case_of_directory],
}  # fmt: skip
