"""Worlds of the archetype count_things: count lines, words, files or matches.

Every answer is a small text file, whose content is computed here.
"""

from authoring.templates.world import Names, Shape, Unit, fixture, quote, saving_unit, shown, text_of


def _lines_of_file(names: Names) -> Unit:
    source, out = names.path(names.pick(["txt", "log", "list"]), names.number(0, 1)), names.file("txt")
    lines = names.lines(names.number(4, 12))
    f, s, o = quote(source), shown(source), shown(out)
    return saving_unit(
        names,
        [fixture(source, text_of(lines))],
        out,
        f"{len(lines)}\n",
        asks=[
            f"Count the lines of {s} and write only the number to {o}.",
            f"How many lines does {s} have? Put just that number into {o}.",
            f"Save the line count of {s} as a bare number in {o}.",
            f"Work out how many lines {s} holds and leave the number, nothing else, in {o}.",
        ],
        others=[
            f"{o} should hold the number of lines of {s}.",
            f"I need the line count of {s}, only the number, in a file named {o}.",
            f"Write the number of lines in the file {s} to {o}, with nothing but the number.",
            f"Could you count how many lines are in {s}? The number alone belongs in {o}.",
            f"In {o} put the length of {s} in lines, as a number without a name.",
            f"Use wc to get the lines of {s} and store only the count as {o}.",
            f"Create {o} with one number in it: how many lines there are in {s}.",
            f"The file {s} must be counted line by line, and the bare count written to {o}.",
            f"Find the number of lines of {s}; {o} gets that number and no file name.",
            f"Determine for {s} its count of lines and record it in {o} as nothing but a number.",
            f"Into {o} goes one number, the line count of {s}.",
            f"Store in {o} a single number that says how many lines stand in {s}.",
            f"Record as {o} how many lines {s} has, the bare number without the file name.",
            f"Of how many lines does {s} consist? Send the bare number to {o}.",
            f"Count the lines of {s} into {o}, number only.",
            f"Tally how many lines {s} contains and save the plain number as {o}.",
            f"Total up the lines in {s}; the figure alone makes up {o}.",
            f"Measure {s} in lines and note the bare figure in {o}.",
            f"Save the line total of {s} under {o} without mentioning the file's name.",
            f"Get the number of lines that {s} holds. Only this number may appear in {o}.",
            f"Put a plain figure into {o}: the number of lines that make up {s}.",
            f"A file {o} is wanted whose sole content is the number of lines in {s}.",
            f"As soon as the lines of {s} are counted, enter the sum in {o}, with no file name beside it.",
            f"Work out the line count of {s} for {o}, which gets the digits and nothing else.",
            f"How many lines {s} has is to be read in {o}, as one bare number.",
        ],
        solution=[names.pick([f"wc -l < {f} > {quote(out)}", f"cat {f} | wc -l > {quote(out)}"])],
    )


def _words_of_file(names: Names) -> Unit:
    source, out = names.path(names.pick(["txt", "md", "note"]), names.number(0, 1)), names.file("txt")
    lines = names.lines(names.number(3, 7))
    unit, flag, count = names.pick(
        [("words", "-w", sum(len(line.split()) for line in lines)), ("bytes", "-c", len(text_of(lines)))]
    )
    s, o = shown(source), shown(out)
    return saving_unit(
        names,
        [fixture(source, text_of(lines))],
        out,
        f"{count}\n",
        asks=[
            f"Count the {unit} of {s} and write only the number to {o}.",
            f"How many {unit} are in {s}? Store the number alone in {o}.",
            f"Measure {s} in {unit} and save the bare number as {o}.",
        ],
        others=[
            f"{o} should hold the number of {unit} of {s}.",
            f"I need to know how many {unit} {s} has, as one number in {o}.",
            f"Write the number of {unit} in the file {s} to {o}, with nothing but the number.",
            f"Could you count the {unit} in {s}? The number alone belongs in {o}.",
            f"In {o} put the length of {s} in {unit}, as a number without a name.",
            f"Use wc to get the {unit} of {s} and store only the count as {o}.",
            f"Create {o} with one number in it, which tells how many {unit} there are in {s}.",
            f"The {unit} of {s} must be counted and the bare count written to {o}.",
            f"Find the number of {unit} of {s}; {o} gets that number and no file name.",
            f"Determine how long {s} is, in {unit}, and keep the bare number in {o}.",
            f"Into {o} goes a single number: the count of {unit} in {s}.",
            f"What is the number of {unit} in {s}? Send it, alone, to {o}.",
            f"Record in {o} the size of {s}, measured in {unit}, as one bare number.",
            f"From {s} work out the count of {unit}. Nothing but this number goes into {o}.",
            f"Count {unit} in {s} and save the bare total as {o}.",
            f"Tally the {unit} of the file {s}; {o} receives the plain figure.",
            f"Total up all {unit} in {s} into {o}, number only.",
            f"Measure {s} in {unit} and enter the result, without the file's name, in {o}.",
            f"Store the {unit} count of {s} under {o}. No name may stand beside the number.",
            f"Get the total of {unit} that {s} contains, then fill {o} with that one number.",
            f"How many {unit} make up {s} is to be read in {o}, as a plain number.",
            f"Put a single figure into {o}, namely the amount of {unit} in {s}.",
            f"A new file {o} is wanted that consists of one number, the total of {unit} in {s}.",
            f"After the {unit} in {s} have been counted, note the sum in {o} and nothing besides.",
            f"Calculate for {o} how many {unit} the file {s} is made up of (digits only).",
        ],
        solution=[f"wc {flag} < {quote(source)} > {quote(out)}"],
    )


def _files_by_extension(names: Names) -> Unit:
    place, out = names.directory(), names.file("txt")
    wanted, other = names.rng.sample(["txt", "log", "csv", "md", "conf", "png"], 2)
    count = names.number(2, 5)
    paths = [f"{place}/{names.file(wanted)}" for _ in range(count)]
    paths += [f"{place}/{names.file(other)}" for _ in range(names.number(1, 3))]
    return saving_unit(
        names,
        [fixture(path, names.text(1, 2)) for path in names.rng.sample(paths, len(paths))],
        out,
        f"{count}\n",
        asks=[
            f"Count the files in {place} that end in .{wanted} and write the number to {shown(out)}.",
            f"How many .{wanted} files lie in {place}? Put the bare number into {shown(out)}.",
            f"Save the number of .{wanted} files of the directory {place} in {shown(out)}.",
        ],
        others=[
            f"{shown(out)} should say, as a number, how many .{wanted} files there are in {place}.",
            f"For {shown(out)} I need the count of the .{wanted} files below {place}.",
            f"Count the .{wanted} files in the folder {place} and store just the count as {shown(out)}.",
            f"Could you count {place}/*.{wanted} and put the number of files in {shown(out)}?",
            f"In {shown(out)} write one number: how many files of the directory {place} have the extension .{wanted}.",
            f"The number of files ending in .{wanted} in the folder {place} must be saved as {shown(out)}.",
            f"List the .{wanted} files of {place}, count them, and let {shown(out)} hold the count.",
            f"Create {shown(out)} with the count of files in {place} whose names end in .{wanted}.",
            f"The folder {place} has files of several kinds; write to {shown(out)} how many are .{wanted} files.",
            f"Look into {place}, count its .{wanted} files, and record the bare number in {shown(out)}.",
            f"Into {shown(out)} goes one number: that of the .{wanted} files that lie in {place}.",
            f"Of the files in {place}, count only those ending in .{wanted}, and send the count to {shown(out)}.",
            f"Save to {shown(out)}, as a number, how many names in the directory {place} end in .{wanted}.",
            f"What number of .{wanted} files does the folder {place} have? Enter it in {shown(out)}.",
            f"Tally the .{wanted} files in {place} into {shown(out)}, number only.",
            f"Total up the files with the ending .{wanted} in {place}; save the figure as {shown(out)}.",
            f"Determine how many .{wanted} files {place} contains and note that number in {shown(out)}.",
            f"Fill {shown(out)} with a single figure: the amount of .{wanted} files in the folder {place}.",
            f"How many .{wanted} files the directory {place} holds is to be read in {shown(out)}.",
            f"Work out the number of .{wanted} files in {place}. Just this number belongs in {shown(out)}.",
            f"Ignoring other kinds of files, count those in {place} that end in .{wanted}, into {shown(out)}.",
            f"Get the count of {place}/*.{wanted} and keep it, without any names, in {shown(out)}.",
            f"A file {shown(out)} is wanted that holds one number, the sum of .{wanted} files in {place}.",
            f"Check how many files in {place} have the extension .{wanted}; put the figure in {shown(out)}.",
            f"Calculate the .{wanted} file count of {place} and print it, alone, into {shown(out)}.",
        ],
        solution=[
            names.pick(
                [
                    f"ls {place}/*.{wanted} | wc -l > {quote(out)}",
                    f"find {place} -name '*.{wanted}' | wc -l > {quote(out)}",
                ]
            )
        ],
    )


def _matching_lines(names: Names) -> Unit:
    source, out, word = names.path("log", names.number(0, 1)), names.file("txt"), names.word()
    lines = names.lines(names.number(5, 10))
    for index in names.rng.sample(range(len(lines)), names.number(2, 4)):
        lines[index] = f"{lines[index]} {word}" if names.rng.random() < 0.5 else f"{word} {lines[index]}"
    hits = sum(word in line for line in lines)
    contain = names.rng.random() < 0.6
    count, flags = (hits, "-c") if contain else (len(lines) - hits, names.pick(["-vc", "-v -c"]))
    verb = "contain" if contain else "do not contain"
    return saving_unit(
        names,
        [fixture(source, text_of(lines))],
        out,
        f"{count}\n",
        asks=[
            f"Count the lines of {shown(source)} that {verb} {word} and write the number to {shown(out)}.",
            f"How many lines of {shown(source)} {verb} the word {word}? Save the number in {shown(out)}.",
            f"Store in {shown(out)}, as a bare number, how many lines of {shown(source)} {verb} {word}.",
        ],
        others=[
            f"{shown(out)} should hold the number of lines in {shown(source)} that {verb} {word}.",
            f"I need a count of the lines that {verb} {word}, taken from {shown(source)}, in {shown(out)}.",
            f"Write the number of lines in {shown(source)} that {verb} {word} to {shown(out)}.",
            f"Could you count, in {shown(source)}, the lines that {verb} {word}? Put the bare number in {shown(out)}.",
            f"In {shown(out)} store one number: how many of the lines in {shown(source)} {verb} {word}.",
            f"Some lines of {shown(source)} {verb} {word}. Save just their number as {shown(out)}.",
            f"Use grep to count which lines of {shown(source)} {verb} {word}; the count belongs in {shown(out)}.",
            f"Create {shown(out)} with the bare count of lines that {verb} {word} in the file {shown(source)}.",
            f"The lines {'with' if contain else 'without'} {word} in {shown(source)} must be counted, and the number"
            f" saved as {shown(out)}.",
            f"Read through {shown(source)} and record in {shown(out)} how many of its lines {verb} {word}.",
            f"Into {shown(out)} goes a bare number, that of the lines in {shown(source)}"
            f" {'with' if contain else 'without'} {word}.",
            f"From {shown(source)} pick whichever lines {verb} {word}; their number, and nothing more, goes to"
            f" {shown(out)}.",
            f"Put into {shown(out)}, and nothing else there, how many lines {'with' if contain else 'without'} {word}"
            f" stand in {shown(source)}.",
            f"Only lines {'with' if contain else 'without'} {word} count here: enter in {shown(out)} how many of them"
            f" {shown(source)} has.",
            f"Count the lines that {verb} {word} in {shown(source)} into {shown(out)}.",
            f"Tally lines in {shown(source)} that {verb} {word}; note the figure in {shown(out)}.",
            f"Total up whatever lines of {shown(source)} {verb} {word} and save the sum as {shown(out)}.",
            f"Fill {shown(out)} with the number of lines that {verb} {word} in {shown(source)}.",
            f"How many lines in {shown(source)} {verb} {word} is to be read, as a figure, in {shown(out)}.",
            f"Determine how many lines of {shown(source)} {verb} {word}. Only that goes into {shown(out)}.",
            f"Check each line of {shown(source)}; {shown(out)} says how many of them {verb} {word}.",
            f"Work out, for {shown(out)}, the amount of lines in {shown(source)} that {verb} {word}.",
            f"Lines of {shown(source)} that {verb} {word}: their count alone makes up {shown(out)}.",
            f"Get the total of lines which {verb} {word} from {shown(source)} and keep it in {shown(out)}.",
            f"If lines of {shown(source)} {verb} {word}, they count; the sum is stored in {shown(out)}.",
        ],
        solution=[f"grep {flags} {word} {quote(source)} > {quote(out)}"],
    )


def _matches_in_directory(names: Names) -> Unit:
    place, out, word = names.directory(), names.file("txt"), names.word()
    texts = [names.lines(names.number(2, 5)) for _ in range(names.number(2, 4))]
    for lines in texts:
        lines[names.number(0, len(lines) - 1)] += f" {word}"
    count = sum(word in line for lines in texts for line in lines)
    ext = names.pick(["log", "txt"])
    return saving_unit(
        names,
        [fixture(f"{place}/{names.file(ext)}", text_of(lines)) for lines in texts],
        out,
        f"{count}\n",
        asks=[
            f"Count the lines with {word} in all .{ext} files of {place} and write the one number to {shown(out)}.",
            f"How many lines in the .{ext} files of {place} mention {word}? Write the total to {shown(out)}.",
            f"Take all .{ext} files in {place} as one and save the number of lines with {word} in {shown(out)}.",
        ],
        others=[
            f"The total of lines mentioning {word} over every .{ext} file in {place} belongs in {shown(out)}.",
            f"I need one number in {shown(out)}: the lines with {word} over all .{ext} files below {place}.",
            f"Search all .{ext} files in {place} for {word} and write the total number of lines found to {shown(out)}.",
            f"Could you count the lines that contain {word} in {place}/*.{ext}? Put one total in {shown(out)}.",
            f"In {shown(out)} save how many lines with {word} the .{ext} files in the folder {place} have together.",
            f"The lines with {word} in {place}/*.{ext} must be counted, all files together, and the number stored in"
            f" {shown(out)}.",
            f"Create {shown(out)} with one number, the count of lines in the .{ext} files of {place} that contain"
            f" {word}.",
            f"Join the .{ext} files of the directory {place}, count the lines with {word}, and keep that number in"
            f" {shown(out)}.",
            f"Search {place}/*.{ext} for {word}, add up the lines found in each file, and record the one number in"
            f" {shown(out)}.",
            f"Into {shown(out)} goes a single count, over all .{ext} files of {place}, of the lines that contain"
            f" {word}.",
            f"Over all .{ext} files in the folder {place}, determine how many lines have {word} in them, and keep the"
            f" one total in {shown(out)}.",
            f"Tally the lines with {word} across {place}/*.{ext} and enter the overall number in {shown(out)}.",
            f"What number of lines with {word} do the .{ext} files in {place} have between them? Send it to"
            f" {shown(out)}.",
            f"Count lines with {word} in {place}/*.{ext} and save the grand total as {shown(out)}.",
            f"Total up, over all .{ext} files in {place}, the lines with {word}, into {shown(out)}.",
            f"Fill {shown(out)} with one sum that counts each line having {word}, whichever {place}/*.{ext} it is in.",
            f"Determine how many lines of {place}/*.{ext} contain {word}. {shown(out)} gets one number.",
            f"Take every {place}/*.{ext} file, see how many lines hold {word}, and let {shown(out)} state the total.",
            f"Note in {shown(out)} the combined count of lines having {word} in {place}/*.{ext}.",
            f"Work out one overall number of lines with {word} for {place}/*.{ext}; it goes to {shown(out)}.",
            f"All .{ext} files in {place} taken together, {shown(out)} says how many lines have {word}.",
            f"Sum the lines that mention {word} in the .{ext} files in {place}, and put it in {shown(out)}.",
            f"Check {place}/*.{ext} for lines with {word}; store only their overall count in {shown(out)}.",
            f"Get a single figure (lines with {word} in {place}/*.{ext}, no file names) into {shown(out)}.",
        ],
        solution=[f"cat {place}/*.{ext} | grep -c {word} > {quote(out)}"],
    )


def _lines_of_two_files(names: Names) -> Unit:
    first, second, out = names.file("txt"), names.file("txt"), names.file("txt")
    one, two = names.number(2, 5), names.number(6, 9)
    if names.rng.random() < 0.5:
        one, two = two, one
    a, b, o = shown(first), shown(second), shown(out)
    return saving_unit(
        names,
        [fixture(first, text_of(names.lines(one))), fixture(second, text_of(names.lines(two)))],
        out,
        f"{one}\n{two}\n",
        asks=[
            f"Write the line count of {a} and below it the line count of {b} to {o}, only the two numbers.",
            f"Fill {o} with two numbers, one on each line: the lines of {a}, then the lines of {b}.",
            f"Count the lines of {a} and of {b}. Save the numbers in that order in {o}, one per line.",
        ],
        others=[
            f"{o} should hold two line counts, first that of {a}, next that of {b}.",
            f"I need to compare {a} with {b}: their line counts, one under the other, in {o}.",
            f"Write two numbers to {o}: on line 1 how many lines {a} has, on line 2 how many {b} has.",
            f"Could you count the lines in {a} and then in {b}, and put each number on a line of its own in {o}?",
            f"In {o} store the number of lines of {a}; after it, on the next line, the number of lines of {b}.",
            f"Use wc for {a} and for {b}; {o} gets both line counts, in that order and without file names.",
            f"Create {o} with two lines, the line count of {a} and the line count of {b}.",
            f"The files {a} and {b} must be counted line by line; save the count of {a} in {o} and append that of {b}.",
            f"How long are {a} and {b}? Put their line counts in {o}, {a} first, one number a line.",
            f"Into {o} go two numbers on two lines: on top the line count of {a}, beneath it that of {b}.",
            f"Measure {a} and then {b} in lines, and record both numbers in {o}, one on each line and in this order.",
            f"Determine the line counts of {a} and {b}; send the former to {o} and append the latter as a second line.",
            f"For {a}, and after that for {b}, print into {o} a line with the bare number of its lines.",
            f"Start {o} with the number of lines in {a}, and end it with the number of lines in {b} on a second line.",
            f"Count the lines of {a}, next those of {b}, and list both bare numbers in {o}, one a line.",
            f"Tally {a} and {b} by lines; {o} has the figure of {a} above the figure of {b}.",
            f"Fill {o} with two bare numbers, one per line: lines in {a}, lines in {b}.",
            f"Save the line count of {a} as {o}, then add that of {b} on a second line.",
            f"Line 1 of {o} has to be the number of lines in {a}, line 2 the number of lines in {b}.",
            f"Get the lengths in lines of {a} and {b} (in this order) into {o}, each on a separate line.",
            f"Note how many lines {a} has in {o}. Below it comes how many {b} has.",
            f"Work out how many lines {a} has and how many {b} has; list the two figures in {o} in that order.",
            f"Once the line total of {a} is in {o}, append the line total of {b} beneath it, numbers only.",
            f"A two-line file {o} is wanted: the line total of {a}, followed by the line total of {b}.",
            f"Enter into {o} the bare line counts of two files, {a} on top and {b} underneath.",
        ],
        solution=[f"wc -l < {quote(first)} > {quote(out)}", f"wc -l < {quote(second)} >> {quote(out)}"],
    )


def _empty_files(names: Names) -> Unit:
    place, out = names.directory(), names.file("txt")
    count = names.number(2, 4)
    below = names.word()
    paths = [f"{names.pick([place, f'{place}/{below}'])}/{names.file()}" for _ in range(count + 3)]
    entries = [fixture(path, "") for path in paths[:count]] + [
        fixture(path, names.text(1, 3)) for path in paths[count:]
    ]
    return saving_unit(
        names,
        entries,
        out,
        f"{count}\n",
        asks=[
            f"Count the empty files anywhere below {place} and write the number to {shown(out)}.",
            f"How many files under {place}, subdirectories included, have no content? Number to {shown(out)}.",
            f"Find out how many files below {place} are empty and save that number in {shown(out)}.",
        ],
        others=[
            f"{shown(out)} should hold the number of files of size zero in the tree {place}.",
            f"I need the count of all empty files in the tree {place}, written to {shown(out)}.",
            f"Write the number of files without any content in {place} and its subdirectories to {shown(out)}.",
            f"Could you count files of size zero in the whole tree {place}? Only the count belongs in {shown(out)}.",
            f"In {shown(out)} store how many empty files there are in {place}, at any depth.",
            f"Use find to count all empty files in {place} and the folders in it; save the count as {shown(out)}.",
            f"Create {shown(out)} with the count of files that are empty, in the directory {place} or deeper.",
            f"The empty files in the tree {place} must be counted, and only their number written to {shown(out)}.",
            f"How many files have size zero in {place} or its subdirectories? The number belongs in {shown(out)}.",
            f"Search {place} and all folders in it for empty files, and record in {shown(out)} how many there are.",
            f"Some files in the tree {place} have size zero. Save their number, however deep they lie, as"
            f" {shown(out)}.",
            f"Go down through {place}, count whatever files have size zero, and enter the bare count in {shown(out)}.",
            f"Of all files in {place} and deeper, count just the empty ones. Send the number to {shown(out)}.",
            f"Determine how many files of zero bytes there are in {place}, at any depth, and keep that number alone in"
            f" {shown(out)}.",
            f"Count every empty file in {place} and all folders below it, into {shown(out)}.",
            f"Tally the zero-size files in {place}, at any depth; note the number in {shown(out)}.",
            f"Total up files of 0 bytes in the tree {place} and save the figure as {shown(out)}.",
            f"Fill {shown(out)} with one number, that of the empty files in {place} and its subfolders.",
            f"How many files in the tree {place} are empty is to be read, as a number, in {shown(out)}.",
            f"Work out how many files have no content in {place} or deeper. Put it in {shown(out)}.",
            f"Check the tree {place} for empty files; only the count of them goes into {shown(out)}.",
            f"Get the sum of all files of size 0 in {place}, subfolders included, into {shown(out)}.",
            f"If a file in {place} or in a folder below has 0 bytes, it counts; {shown(out)} gets the total.",
            f"Look through {place} with its subfolders and print the number of empty files to {shown(out)}.",
            f"A bare number is wanted in {shown(out)}: the files without content in the tree {place}.",
        ],
        solution=[f"find {place} -type f -size 0 | wc -l > {quote(out)}"],
    )


def _distinct_lines(names: Names) -> Unit:
    source, out = names.path(names.pick(["txt", "list"]), names.number(0, 1)), names.file("txt")
    values = names.filler(names.number(3, 6))
    lines = values + [names.pick(values) for _ in range(names.number(2, 5))]
    names.rng.shuffle(lines)
    f = quote(source)
    return saving_unit(
        names,
        [fixture(source, text_of(lines))],
        out,
        f"{len(values)}\n",
        asks=[
            f"Count the different lines of {shown(source)} and write the number to {shown(out)}.",
            f"How many distinct lines are there in {shown(source)}? Write the number to {shown(out)}.",
            f"Save in {shown(out)} how many different values {shown(source)} lists, as a bare number.",
        ],
        others=[
            f"Repeats not counted, the number of lines in {shown(source)} belongs in {shown(out)}.",
            f"I need one number in {shown(out)}: how many values of {shown(source)} differ from each other.",
            f"Write the number of different lines in the file {shown(source)} to {shown(out)}.",
            f"Could you count the unique values in {shown(source)}? Put the bare number in {shown(out)}.",
            f"In {shown(out)} store how many lines {shown(source)} has when every repeated line counts once.",
            f"Sort {shown(source)}, drop the repeated lines, count what is left, and save that number as {shown(out)}.",
            f"Create {shown(out)} with one number: how many distinct values occur in {shown(source)}.",
            f"The different lines of {shown(source)} must be counted, and just the count saved in {shown(out)}.",
            f"Some lines of {shown(source)} occur again and again. Count each only once and write what you get"
            f" to {shown(out)}.",
            f"Count each line of {shown(source)} only once, however many times it stands there; record the bare number"
            f" in {shown(out)}.",
            f"Store into {shown(out)} how many values of {shown(source)} are left when none comes twice.",
            f"How long is {shown(source)} in lines if its repeats are left out? Enter that number in {shown(out)}.",
            f"Determine the number of unique lines in {shown(source)} and keep it, and nothing else, in {shown(out)}.",
            f"Leave repeats aside and tally the lines of {shown(source)}; send the bare tally to {shown(out)}.",
            f"Count the distinct lines of {shown(source)} into {shown(out)}, number only.",
            f"Total up the different values in {shown(source)} and save the figure as {shown(out)}.",
            f"Fill {shown(out)} with one number: the amount of unique lines in {shown(source)}.",
            f"Work out how many different lines {shown(source)} has; note that number in {shown(out)}.",
            f"How many distinct lines {shown(source)} has is to be read, as a number, in {shown(out)}.",
            f"Ignore later copies of a line in {shown(source)}; put the line count into {shown(out)}.",
            f"Duplicates in {shown(source)} count as one line. The total goes to {shown(out)}, alone.",
            f"Get the number of values in {shown(source)}, equal ones taken as one, into {shown(out)}.",
            f"Disregarding duplicate lines, how many has {shown(source)}? {shown(out)} holds the answer.",
            f"Calculate the number of lines of {shown(source)} without duplicates for {shown(out)}.",
            f"Check how many lines of {shown(source)} are different; print just that to {shown(out)}.",
        ],
        solution=[names.pick([f"sort -u {f} | wc -l > {quote(out)}", f"sort {f} | uniq | wc -l > {quote(out)}"])],
    )


SHAPES: dict[str, list[Shape]] = {
    "count_things": [
        _lines_of_file,
        _words_of_file,
        _files_by_extension,
        _matching_lines,
        _matches_in_directory,
        _lines_of_two_files,
        _empty_files,
        _distinct_lines,
    ],
}
