"""Worlds in which words of a text are replaced."""

from authoring.templates.world import Names, Shape, Unit, editing_unit, fixture, quote, saving_unit, shown, text_of


def _text_with_word(names: Names, word: str, *, twice: bool = False) -> str:
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
    text = _text_with_word(names, old, twice=True)
    return editing_unit(
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
            f"Update {shown(path)} in place: {old} becomes {new} throughout.",
            f"Overwrite each {old} in {shown(path)} with {new}.",
            f"Purge {shown(path)} of the word {old} by writing {new} wherever it occurs.",
            f"From now on {shown(path)} must say {new}, never {old}; correct the file itself, every occurrence.",
            f"Convert all occurrences of {old} within {shown(path)} to {new} and store the text in that same file.",
            f"Rename {old} to {new} throughout the text of {shown(path)} (in place, all occurrences).",
            f"Put {new} where {old} stands in {shown(path)}, as often as it is there; modify the file directly.",
            f"Since {old} is out of use, let {shown(path)} read {new} at each of those places, with no copy made.",
            f"All {old} in {shown(path)} are to be made {new}. Save under the same file name.",
            f"Correct {shown(path)}; it should have {new} for every single {old}.",
            f"Can {old} give way to {new} throughout {shown(path)}, with the change saved to the file itself?",
        ],
        [f"sed -i 's/{old}/{new}/g' {quote(path)}"],
    )


def replace_into_copy(names: Names) -> Unit:
    """The changed text in a new file; the original stays."""
    path, out = names.path("txt", names.number(0, 1)), names.file("txt")
    old, new = names.keyword(), names.word()
    text = _text_with_word(names, old, twice=True)
    return saving_unit(
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
            f"Duplicate {shown(path)} as {shown(out)} with every {old} made {new}.",
            f"Save to {shown(out)} what {shown(path)} says once all {old} are {new}; the source is not modified.",
            f"Produce {shown(out)}: the text of {shown(path)}, {new} substituted for each {old}.",
            f"Replace {old} by {new} throughout, reading {shown(path)} and writing {shown(out)}.",
            f"Convert all {old} in {shown(path)} to {new}, with the output in {shown(out)} and the input as it was.",
            f"Print {shown(path)} to {shown(out)}, saying {new} for every {old}.",
            f"Without a change to {shown(path)}, create {shown(out)}, where the same text has {new} for each {old}.",
            f"Every {old} of {shown(path)} is {new} in the copy {shown(out)}; all else is identical.",
            f"Export {shown(path)} as {shown(out)}, swapping {old} for {new} wherever it stands.",
            f"Can a copy of {shown(path)} that has {new} where the original has {old} be saved as {shown(out)}?",
            f"Leave {shown(path)} as it is. Its text goes to {shown(out)} with every {old} set to {new}.",
        ],
        solution=[f"sed 's/{old}/{new}/g' {quote(path)} > {quote(out)}"],
    )


def replace_in_directory(names: Names) -> Unit:
    """A word in all files of one extension of a directory."""
    home, old, new = names.directory(), names.keyword(), names.word()
    ext, other = names.rng.sample(["txt", "conf", "md"], 2)
    texts = {f"{home}/{names.file(ext)}": _text_with_word(names, old, twice=True) for _ in range(names.number(2, 3))}
    rest = fixture(f"{home}/{names.file(other)}", _text_with_word(names, old))
    return editing_unit(
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
            f"Update {home}/*.{ext} in place: {old} becomes {new}, at every occurrence.",
            f"Overwrite {old} with {new} wherever it stands in a .{ext} file of {home}.",
            f"Purge the .{ext} files in {home} of {old} by writing {new} for it each time; touch no other files.",
            f"Convert every {old} in {home}/*.{ext} to {new}, saving each file under its name.",
            f"Put {new} for all {old} in any file of {home} whose name ends in .{ext}, and in no other file.",
            f"If a file in {home} ends in .{ext}, all of its {old} must be made {new}, in place.",
            f"All .{ext} files in {home} should read {new} where they read {old}; correct them directly, no copies.",
            f"Correct the .{ext} files of {home}: {new}, not {old}, from their first line to the last.",
            f"Rename {old} to {new} inside the .{ext} files of {home} (all occurrences, files edited in place).",
            f"Can all {old} give way to {new} in {home}/*.{ext}? Only these files are modified.",
            f"Modify only .{ext} files in {home}. Their every {old} is replaced with {new}.",
        ],
        [f"sed -i 's/{old}/{new}/g' {home}/*.{ext}"],
    )


def replace_in_tree(names: Names) -> Unit:
    """A word in all files of a tree."""
    home, old, new = names.directory(), names.keyword(), names.word()
    texts = {f"{home}/{names.path('txt', depth, plain=True)}": _text_with_word(names, old) for depth in (0, 1, 2)}
    rest = [fixture(f"{home}/{names.path('txt', depth, plain=True)}", names.text()) for depth in (0, 1)]
    return editing_unit(
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
            f"Update all files in the tree {home} in place: {old} becomes {new}, each time.",
            f"Replace {old} with {new} recursively in the files of {home}.",
            f"Purge the whole tree {home} of the word {old}: its files must say {new} in all those places.",
            f"Overwrite every {old} with {new} in all files of {home}, subfolders at any depth included.",
            f"Convert each {old} to {new} in whichever file under {home} contains it, without making copies.",
            f"Descend through {home} and all its subdirectories, putting {new} for {old} in the files.",
            f"From {home} downward, all files should read {new} where {old} stands now.",
            f"Correct {old} to {new} in all text below {home} (every subdirectory as well), saving files in place.",
            f"If a file anywhere within {home} mentions {old}, it should be edited to say {new} each time.",
            f"Can all {old} give way to {new} in the files of {home} and of its subdirectories, at every level?",
            f"Modify, at all levels of the tree {home}, the files that have {old}; {new} is put for each of them.",
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
    return editing_unit(
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
            f"Replace the first {old} on each line of {shown(path)} with {new}, in place.",
            f"Overwrite only the leftmost {old} of every line in {shown(path)} with {new}.",
            f"Update {shown(path)}: per line, one {old}, the first, becomes {new}; those after it remain.",
            f"Convert {old} to {new} once a line in {shown(path)}, where it occurs first, editing the file itself.",
            f"Limit yourself to the first {old} of a line when you put {new} for {old} in {shown(path)}.",
            f"If {old} is on a line of {shown(path)} several times, only the first is made {new}; so is a lone one.",
            f"Modify each line in {shown(path)} so that its initial {old} reads {new}; retain all later ones.",
            f"Correct {shown(path)} in place. A line's first {old} must read {new}, other {old} must not change.",
            f"For all lines of {shown(path)}: first {old} to {new}, the rest as is; save to the same file.",
            f"Exchange no more than one {old} per line, the first, for {new} in the file {shown(path)}.",
            f"Can the first {old} of every line in {shown(path)} give way to {new}, with later ones kept?",
        ],
        [f"sed -i 's/{old}/{new}/' {quote(path)}"],
    )


def replace_two_words(names: Names) -> Unit:
    """Two words in one file."""
    path, first, second = names.path("md", names.number(0, 1)), names.keyword(), names.keyword()
    one, two = names.words(2)
    text = text_of([names.line(), f"{names.line()} {first}", f"{second} {names.line()}", f"{first} {second}"])
    return editing_unit(
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
            f"Replace all {first} with {one} and all {second} with {two} in {shown(path)}, in place.",
            f"Update {shown(path)}: {first} becomes {one}, {second} becomes {two}, at every occurrence.",
            f"Overwrite each {first} in {shown(path)} with {one} and each {second} with {two}.",
            f"Convert, throughout the file {shown(path)}, {first} to {one} as well as {second} to {two}.",
            f"Purge {shown(path)} of {first} and {second} by writing {one} and {two}, respectively, each time.",
            f"Correct two words wherever they stand in {shown(path)}: {first} is to read {one}; {second}, {two}.",
            f"All {first} in {shown(path)} are to be made {one}; likewise, all {second} are to be made {two}.",
            f"Swap {first} for {one}, {second} for {two}, from the first to the last line of {shown(path)} itself.",
            f"From now on, {shown(path)} has {one} for any {first} and {two} for any {second}. Edit it in place.",
            f"Modify the text in {shown(path)} (no copy): put {one} for every {first}, {two} for every {second}.",
            f"Can {first} give way to {one}, and {second} to {two}, everywhere in {shown(path)}?",
        ],
        names.pick(
            [
                [f"sed -i 's/{first}/{one}/g; s/{second}/{two}/g' {quote(path)}"],
                [f"sed -i 's/{first}/{one}/g' {quote(path)}", f"sed -i 's/{second}/{two}/g' {quote(path)}"],
            ]
        ),
    )


SHAPES: dict[str, list[Shape]] = {
    "replace_text": [
        replace_in_file,
        replace_into_copy,
        replace_in_directory,
        replace_in_tree,
        replace_once_per_line,
        replace_two_words,
    ],
}
