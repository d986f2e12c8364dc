"""Make worlds of whole lines: sorting them, taking some of them.

    from templates.lines import SHAPES

Reads   nothing
Writes  nothing
Needs   nothing
"""

from templates.world import Names, Shape, Unit, edited, fixture, quote, saved, shown, text_of


def _with_repeats(names: Names, count: int) -> list[str]:
    """Lines in random order, two of them repeated."""
    lines = names.lines(count)
    return names.rng.sample([*lines, *names.rng.sample(lines, 2)], count + 2)


def sort_plain(names: Names) -> Unit:
    """Sorted lines, forwards or backwards, with or without repeats, in a new file."""
    path, out = names.path(names.pick(["txt", "list"]), names.number(0, 1)), names.file("txt")
    lines = _with_repeats(names, names.number(4, 7))
    how, options, result = names.pick(
        [
            ("without repeats", "sort -u", sorted(set(lines))),
            ("with each line only once", "sort -u", sorted(set(lines))),
            ("keeping repeated lines", "sort", sorted(lines)),
            ("but from z to a, without repeats", "sort -ru", sorted(set(lines), reverse=True)),
            ("but in reverse, keeping repeated lines", "sort -r", sorted(lines, reverse=True)),
        ]
    )
    way = how.removeprefix("but ")
    return saved(
        names,
        [fixture(path, text_of(lines))],
        out,
        text_of(result),
        asks=[
            f"Sort the lines of {shown(path)} into {shown(out)}, {how}.",
            f"Write the lines of {shown(path)} to {shown(out)} in alphabetical order, {how}.",
            f"{shown(out)} shall hold the sorted lines of {shown(path)}, {how}.",
        ],
        others=[
            f"how to use sort on {shown(path)}, {way}, saving to {shown(out)}",
            f"Take the lines of {shown(path)}, sort them by alphabet, {way}, and store them in {shown(out)}.",
            f"{shown(out)} should have the lines in {shown(path)} sorted, {way}.",
            f"I want a sorted version of {shown(path)} in {shown(out)}, {way}.",
            f"Put the lines of the file {shown(path)} in order by alphabet, {way}, and save it as {shown(out)}.",
            f"The lines in {shown(path)} are in no order. Write them, sorted, {way}, to the new file {shown(out)}.",
            f"Arrange the lines of {shown(path)} alphabetically, {way}, and put them into {shown(out)}.",
            f"Copy {shown(path)} to {shown(out)} in sorted order, {way}.",
            f"How does {shown(path)} look when sorted, {way}? Save that as {shown(out)}.",
            f"Order the lines of {shown(path)} by alphabet, {way}, and record them in {shown(out)}, not in place.",
            f"To {shown(out)}, write the lines of {shown(path)}, sorted, {way}.",
            f"From {shown(path)}, make {shown(out)}: its lines, sorted, {way}.",
            f"Read {shown(path)}, sort its lines alphabetically, {way}, and write the outcome to {shown(out)}.",
            f"Leave {shown(path)} unsorted, but save its lines to {shown(out)} in order of the alphabet, {way}.",
        ],
        solution=[f"{options} {quote(path)} > {quote(out)}"],
    )


def sort_numbers(names: Names) -> Unit:
    """A file of numbers, by value."""
    path, out = names.path("dat", names.number(0, 1)), names.file("txt")
    numbers = [*names.numbers(names.number(4, 6), 1, 400), names.number(1000, 2000)]
    numbers = names.rng.sample([*numbers, numbers[0]], len(numbers) + 1)
    how, option, result = names.pick(
        [
            ("from lowest to highest", "-n", sorted(numbers)),
            ("from highest to lowest", "-rn", sorted(numbers, reverse=True)),
            ("from lowest to highest, each only once", "-nu", sorted(set(numbers))),
        ]
    )
    way = how.replace("each only once", "without repeats")
    return saved(
        names,
        [fixture(path, text_of(map(str, numbers)))],
        out,
        text_of(map(str, result)),
        asks=[
            f"Sort the numbers in {shown(path)} {how} and write them to {shown(out)}.",
            f"{shown(path)} holds one number per line. Save them {how} as {shown(out)}.",
            f"Order the numbers of {shown(path)} by value, {how}; the result goes to {shown(out)}.",
        ],
        others=[
            f"how to sort numerically {way}, input {shown(path)}, output {shown(out)}",
            f"Arrange the numbers from {shown(path)} {way} and store them in {shown(out)}.",
            f"{shown(out)} should list the numbers of {shown(path)} {way}.",
            f"I want the values in {shown(path)} sorted as numbers, {way}, and saved as {shown(out)}.",
            f"Do a numeric sort of the file {shown(path)}, {way}, into the new file {shown(out)}.",
            f"The lines of {shown(path)} are numbers. Sort them by size, {way}; put the result in {shown(out)}.",
            f"Copy the numbers in the list {shown(path)} to {shown(out)}, ordered by value {way}.",
            f"Sort {shown(path)} numerically {way}; save the numbers, one a line, as {shown(out)}.",
            f"Order what numbers {shown(path)} has by size, {way}, and record them one to a line in {shown(out)}.",
            f"In {shown(out)}, list the numbers of {shown(path)}, one per line, in order of value {way}.",
            f"Rank the numbers of {shown(path)} {way}; write them to {shown(out)} in that order.",
            f"Read the numbers in {shown(path)}, compare them as numbers and not as text, and put them into "
            f"{shown(out)} {way}.",
            f"From {shown(path)}, make a list {shown(out)} of its numbers in order of size: {way}.",
        ],
        solution=[f"sort {option} {quote(path)} > {quote(out)}"],
    )


def sort_in_place(names: Names) -> Unit:
    """The file itself gets sorted."""
    path = names.path(names.pick(["txt", "list"]), names.number(0, 1))
    lines = _with_repeats(names, names.number(4, 6))
    return edited(
        names,
        [fixture(path, text_of(lines))],
        {path: text_of(sorted(set(lines)))},
        names.pick(
            [
                f"Sort {shown(path)} itself and drop repeated lines.",
                f"The file {shown(path)} must end up sorted, every line once, under the same name.",
                f"Put the lines of {shown(path)} in alphabetical order in the same file; no line may occur twice.",
            ]
        ),
        [
            f"how to sort {shown(path)} in place with uniq lines",
            f"Sort the lines of the file {shown(path)} in place and remove repeats.",
            f"{shown(path)} should have its lines in alphabetical order, each of them once; overwrite it.",
            f"I want {shown(path)} sorted, without repeated lines, and saved with the same name.",
            f"Order the lines of {shown(path)} and save only one of each; the result replaces the old {shown(path)}.",
            f"Arrange {shown(path)} alphabetically, leave out repeats, and write it back to {shown(path)}.",
            f"The lines in {shown(path)} are in no order and some come twice. Sort them in the file itself, one of "
            "each.",
            f"Turn {shown(path)} into a sorted list, each entry once, with the file name unchanged.",
            f"Rearrange the lines of {shown(path)} by alphabet, erase any repeats, and save the file under its old "
            "name.",
            f"Under its own name, {shown(path)} gets its lines back in sorted order, without the repeats.",
            f"In {shown(path)}, put the lines in order of the alphabet and throw out every repeat.",
            f"Rewrite {shown(path)} as a list sorted by alphabet, in which each different line stands one time.",
            f"Sort what is in {shown(path)}, delete all repeats of a line, and make no second file.",
        ],
        names.pick(
            [
                [f"sort -u -o {quote(path)} {quote(path)}"],
                [f"sort -u {quote(path)} > {quote(path + '.new')}", f"mv {quote(path + '.new')} {quote(path)}"],
            ]
        ),
    )


def sort_several(names: Names) -> Unit:
    """The lines of all files of a directory, or of two files, merged."""
    home, out, ext = names.directory(), names.file("txt"), names.pick(["txt", "list"])
    lines = names.lines(6)
    paths = [f"{home}/{names.file(ext)}" for _ in range(3)]
    parts = [lines[:3], lines[2:5], lines[4:] + lines[:1]]
    for part in parts:
        names.rng.shuffle(part)
    return saved(
        names,
        [fixture(path, text_of(part)) for path, part in zip(paths, parts, strict=True)],
        out,
        text_of(sorted(lines)),
        asks=[
            f"Merge the lines of all .{ext} files in {home} into {shown(out)}, sorted and without repeats.",
            f"The .{ext} files of {home} overlap. Save their lines, sorted, each once, in {shown(out)}.",
            f"Collect every different line of the .{ext} files in {home}, sort them, and write them to {shown(out)}.",
        ],
        others=[
            f"how to unite the .{ext} files of {home} in one sorted {shown(out)} with unique lines",
            f"Combine the .{ext} files in the folder {home}: one sorted list of their lines, no line twice, stored in "
            f"{shown(out)}.",
            f"{shown(out)} should have each line that is in any .{ext} file of {home} once, in sorted order.",
            f"I want the lines of {home}/*.{ext} together in {shown(out)}, sorted, and repeated lines only once.",
            f"Take all .{ext} files of directory {home}, sort their lines as one list, drop repeats and save the list "
            f"as {shown(out)}.",
            f"Put all the lines of the .{ext} files from {home} into one file {shown(out)}, in alphabetical order, "
            "each line one time.",
            f"Some lines are in several .{ext} files of {home}. Write a sorted list of all the different lines to "
            f"{shown(out)}.",
            f"Join the lists {home}/*.{ext} to a single sorted list {shown(out)} without repeated entries.",
            f"Bring together what lines the .{ext} files in {home} have; {shown(out)} gets them sorted, each line a "
            "single time.",
            f"Into {shown(out)} goes every line that any of {home}/*.{ext} has, in sorted order, and none of them "
            "twice.",
            f"From the .{ext} files in {home}, make one list {shown(out)}: all lines sorted together, repeats thrown "
            "out.",
            f"Read all of {home}/*.{ext}, sort the lines by alphabet and write each different one a single time to "
            f"{shown(out)}.",
            f"Order the lines from all .{ext} files in the folder {home} as one list by alphabet, delete repeats from "
            f"it, and save it to {shown(out)}.",
        ],
        solution=[
            names.pick(
                [
                    f"sort -u {home}/*.{ext} > {quote(out)}",
                    f"cat {home}/*.{ext} | sort -u > {quote(out)}",
                    f"cat {home}/*.{ext} | sort | uniq > {quote(out)}",
                ]
            )
        ],
    )


def repeated_lines(names: Names) -> Unit:
    """Only the lines that occur more than once, or only the others."""
    path, out = names.path("txt", names.number(0, 1)), names.file("txt")
    lines = _with_repeats(names, names.number(4, 6))
    which, option, result = names.pick(
        [
            ("more than once", "-d", sorted({line for line in lines if lines.count(line) > 1})),
            ("exactly once", "-u", sorted(line for line in lines if lines.count(line) == 1)),
        ]
    )
    return saved(
        names,
        [fixture(path, text_of(lines))],
        out,
        text_of(result),
        asks=[
            f"Write the lines that occur {which} in {shown(path)} to {shown(out)}, sorted.",
            f"Which lines does {shown(path)} have {which}? Save them, sorted, one time each, as {shown(out)}.",
            f"{shown(out)} shall list, in sorted order, the lines of {shown(path)} that are there {which}.",
        ],
        others=[
            f"how to find the lines of {shown(path)} that appear {which} with sort and uniq, into {shown(out)}",
            f"Look for lines that are in {shown(path)} {which}, sort them and store each of them once in {shown(out)}.",
            f"{shown(out)} should have those lines, sorted and one time each, that {shown(path)} contains {which}.",
            f"I want to know what lines come up {which} in the file {shown(path)}: a sorted list of them in "
            f"{shown(out)}, no repeats.",
            f"Find what occurs {which} among the lines of {shown(path)} and save it, sorted, each line one time, as "
            f"{shown(out)}.",
            f"Some lines in {shown(path)} occur {which}. Write one of each, in alphabetical order, to {shown(out)}.",
            f"Sort {shown(path)} and keep the lines that occur {which}, one of each, in the file {shown(out)}.",
            f"Check how often each line is in {shown(path)}; a line that is there {which} is to be listed in "
            f"{shown(out)}, sorted, one time.",
            f"Take the lines that appear {which} in {shown(path)}, and put them, sorted and without repeats, into "
            f"{shown(out)}.",
            f"Pick the lines that stand in {shown(path)} {which}, order them by alphabet and record one of each in "
            f"{shown(out)}.",
            f"Into {shown(out)}, sorted, goes one copy of each line that {shown(path)} has {which}.",
            f"Count how often each line comes in {shown(path)}; if it comes {which}, print it one time to "
            f"{shown(out)}. The output is sorted.",
            f"From {shown(path)}, take what lines come {which}, and no others: write one of each to {shown(out)}, "
            "sorted.",
            f"Determine the lines that are found {which} in {shown(path)}. Each of them is saved one time to "
            f"{shown(out)}, in order of the alphabet.",
        ],
        solution=[f"sort {quote(path)} | uniq {option} > {quote(out)}"],
    )


def take_edge(names: Names) -> Unit:
    """The first or last lines of a file."""
    path, out = names.path(names.pick(["log", "txt"]), names.number(0, 1)), names.file("txt")
    lines, count = names.lines(names.number(6, 10)), names.number(2, 4)
    which, tool, result = names.pick([("first", "head", lines[:count]), ("last", "tail", lines[-count:])])
    return saved(
        names,
        [fixture(path, text_of(lines))],
        out,
        text_of(result),
        asks=[
            f"Save the {which} {count} lines of {shown(path)} as {shown(out)}.",
            f"Write only the {which} {count} lines of {shown(path)} to {shown(out)}.",
            f"{shown(out)} shall hold the {which} {count} lines of {shown(path)}.",
            f"From {shown(path)}, put the {which} {count} lines into {shown(out)}.",
        ],
        others=[
            f"how to cut {shown(path)} down to its {which} {count} lines in {shown(out)}",
            f"Copy the {which} {count} lines of the file {shown(path)} to {shown(out)}.",
            f"{shown(out)} should have just the {which} {count} lines in {shown(path)}.",
            f"I want a file {shown(out)} with the {which} {count} lines from {shown(path)}.",
            f"Take {shown(path)} and keep its {which} {count} lines in {shown(out)}.",
            f"The {which} {count} lines of {shown(path)} are to be stored in the new file {shown(out)}.",
            f"What are the {which} {count} lines in {shown(path)}? Store these in {shown(out)}.",
            f"Of {shown(path)}, only {count} lines are needed, the {which} ones; store these as {shown(out)}.",
            f"Extract the {which} {count} lines from {shown(path)} and record them in {shown(out)}.",
            f"In {shown(out)}, save just {count} lines of {shown(path)}: the {which} ones, order unchanged.",
            f"Reproduce {shown(path)} in {shown(out)}, but only its {which} {count} lines.",
            f"Leave {shown(path)} whole, but make {shown(out)} out of the {which} {count} lines it has.",
            f"Print the {which} {count} lines in {shown(path)}, as they are, into the new file {shown(out)}.",
        ],
        solution=[f"{tool} -n {count} {quote(path)} > {quote(out)}"],
    )


def take_middle(names: Names) -> Unit:
    """A range of lines."""
    path, out = names.path("txt", names.number(0, 1)), names.file("txt")
    lines, start = names.lines(names.number(8, 10)), names.number(2, 4)
    end = start + names.number(1, 3)
    return saved(
        names,
        [fixture(path, text_of(lines))],
        out,
        text_of(lines[start - 1 : end]),
        asks=[
            f"Save lines {start} to {end} of {shown(path)} as {shown(out)}.",
            f"Write {shown(path)} from line {start} up to and including line {end} to {shown(out)}.",
            f"Only lines {start} through {end} of {shown(path)} are needed; put them into {shown(out)}.",
        ],
        others=[
            f"how to print the range {start} to {end} of lines in {shown(path)} to {shown(out)}",
            f"Copy lines {start} to {end} of the file {shown(path)} to {shown(out)}.",
            f"{shown(out)} should have the lines of {shown(path)} from line {start} to line {end}, both included.",
            f"I want a part of {shown(path)} in {shown(out)}: line {start} to line {end}.",
            f"Take the part of {shown(path)} that begins at line {start} and ends at line {end}, and store it in "
            f"{shown(out)}.",
            f"What is in {shown(path)} on lines {start} to {end}? Write that to {shown(out)}.",
            f"Lines {start} to {end} in {shown(path)} are to be put into the new file {shown(out)}; leave out all "
            "before and after.",
            f"Print {shown(path)} from line {start} to line {end} and save the output as {shown(out)}.",
            f"Copy out of {shown(path)} what stands on lines {start} to {end}; it is saved to {shown(out)}.",
            f"Into {shown(out)} goes a piece of {shown(path)}: it starts on line {start}, and its last line is number "
            f"{end}.",
            f"Begin at line {start} of {shown(path)}, stop after line {end}, and write these lines, both ends "
            f"included, to {shown(out)}.",
            f"Leave {shown(path)} whole, but make {shown(out)} out of its lines {start} to {end}.",
            f"From line {start} on, down to line {end}, {shown(path)} is to be saved in {shown(out)}; nothing else of "
            "it is.",
        ],
        solution=[
            names.pick(
                [
                    f"sed -n '{start},{end}p' {quote(path)} > {quote(out)}",
                    f"head -n {end} {quote(path)} | tail -n +{start} > {quote(out)}",
                ]
            )
        ],
    )


def take_single(names: Names) -> Unit:
    """One line by its number."""
    path, out = names.path("txt", names.number(0, 1)), names.file("txt")
    lines = names.lines(names.number(6, 9))
    number = names.number(2, len(lines) - 1)
    return saved(
        names,
        [fixture(path, text_of(lines))],
        out,
        f"{lines[number - 1]}\n",
        asks=[
            f"Save line {number} of {shown(path)} as {shown(out)}.",
            f"Write just line number {number} of {shown(path)} to {shown(out)}.",
            f"What stands in line {number} of {shown(path)}? Put that line into {shown(out)}.",
        ],
        others=[
            f"how to pick line {number} out of {shown(path)} for {shown(out)}",
            f"Copy line {number} of the file {shown(path)} to {shown(out)}.",
            f"{shown(out)} should have one line, line {number} of {shown(path)}.",
            f"I want only line {number} from {shown(path)} in {shown(out)}.",
            f"Go to line {number} of {shown(path)} and store that line alone in {shown(out)}.",
            f"Find out what line {number} of {shown(path)} says, and write it to {shown(out)}.",
            f"Of all lines in {shown(path)}, just line {number} is needed; put it into the new file {shown(out)}.",
            f"Print line {number} in {shown(path)}, no other, and save it as {shown(out)}.",
            f"Get line {number} out of {shown(path)} and record it, alone, in {shown(out)}.",
            f"To {shown(out)}, copy one line: the one that is number {number} in {shown(path)}.",
            f"Read {shown(path)} down to line {number}; write that line and no other to {shown(out)}.",
            f"Make {shown(out)} a file of a single line, copied from line {number} in {shown(path)}.",
            f"From {shown(path)}, the only line to be saved in {shown(out)} is number {number}.",
        ],
        solution=[
            names.pick(
                [
                    f"sed -n '{number}p' {quote(path)} > {quote(out)}",
                    f"sed -n {number}p {quote(path)} > {quote(out)}",
                    f"head -n {number} {quote(path)} | tail -n 1 > {quote(out)}",
                ]
            )
        ],
    )


def take_rest(names: Names) -> Unit:
    """Everything after the first lines."""
    path, out = names.path(names.pick(["txt", "csv"]), names.number(0, 1)), names.file("txt")
    lines, skip = names.lines(names.number(6, 9)), names.number(1, 3)
    what = "line" if skip == 1 else f"{skip} lines"
    return saved(
        names,
        [fixture(path, text_of(lines))],
        out,
        text_of(lines[skip:]),
        asks=[
            f"Save {shown(path)} without its first {what} as {shown(out)}.",
            f"Write all but the first {what} of {shown(path)} to {shown(out)}.",
            f"Skip the first {what} of {shown(path)}; the remaining lines go to {shown(out)}.",
        ],
        others=[
            f"how to leave the first {what} out when copying {shown(path)} to {shown(out)}",
            f"Copy {shown(path)} to {shown(out)}, but leave out the first {what}.",
            f"{shown(out)} should have all lines of {shown(path)} except for the first {what}.",
            f"I want the file {shown(path)} minus its first {what} in {shown(out)}.",
            f"Drop the first {what} of {shown(path)} in a copy, and store this copy as {shown(out)}.",
            f"Take everything that comes after the first {what} in {shown(path)}, and put it into {shown(out)}.",
            f"The first {what} of {shown(path)} must not be in {shown(out)}, all further lines must.",
            f"Write whatever follows the first {what} of {shown(path)} to the file {shown(out)}.",
            f"Save to {shown(out)} all of {shown(path)} that comes below the first {what}.",
            f"Into {shown(out)} goes {shown(path)} from below its first {what} to its end.",
            f"Reproduce {shown(path)} as {shown(out)}, with the first {what} cut off, but in the copy only.",
            f"Pass over the first {what} in {shown(path)} and write whatever is left to {shown(out)}.",
            f"Make {shown(out)} from {shown(path)} without the first {what}; {shown(path)} itself stays whole.",
        ],
        solution=[
            names.pick(
                [
                    f"tail -n +{skip + 1} {quote(path)} > {quote(out)}",
                    f"sed '1,{skip}d' {quote(path)} > {quote(out)}"
                    if skip > 1
                    else f"sed 1d {quote(path)} > {quote(out)}",
                ]
            )
        ],
    )


def take_off_in_place(names: Names) -> Unit:
    """The first or last line removed from the file itself."""
    path = names.path(names.pick(["txt", "log"]), names.number(0, 1))
    lines = names.lines(names.number(5, 8))
    which, script, result = names.pick([("first", "1d", lines[1:]), ("last", "$d", lines[:-1])])
    return edited(
        names,
        [fixture(path, text_of(lines))],
        {path: text_of(result)},
        names.pick(
            [
                f"Take the {which} line off {shown(path)}, in the file itself.",
                f"Remove the {which} line of {shown(path)} and keep all other lines.",
                f"{shown(path)} has one line too many: delete its {which} line.",
            ]
        ),
        [
            f"how to strip the {which} line from {shown(path)} with sed",
            f"Delete the {which} line in the file {shown(path)}.",
            f"{shown(path)} should lose its {which} line; edit it in place.",
            f"I want the {which} line of {shown(path)} gone, and all other lines as they are.",
            f"Edit {shown(path)} and remove just the {which} line.",
            f"The {which} line in {shown(path)} is not needed any more: take it out of the file.",
            f"Shorten {shown(path)} by one line, the {which} one, in place.",
            f"Overwrite {shown(path)} with the same text minus the {which} line.",
            f"Cut the {which} line off {shown(path)} and save what is left under the same name.",
            f"Throw out the {which} line in {shown(path)}; nothing else in the file changes.",
            f"From {shown(path)}, drop one line, the {which}; the file keeps its name and its other lines.",
            f"Rewrite {shown(path)} as it is but for its {which} line, which is left out.",
            f"In {shown(path)} itself, erase the line that comes {which}, and no further one.",
        ],
        [f"sed -i '{script}' {quote(path)}"],
    )


def take_of_each(names: Names) -> Unit:
    """The first or last line of each file of a directory."""
    home, out, ext = names.directory(), names.file("txt"), names.pick(["txt", "log"])
    texts = {f"{home}/{names.file(ext)}": names.lines(names.number(3, 5)) for _ in range(3)}
    which, tool, index = names.pick([("first", "head", 0), ("last", "tail", -1)])
    return saved(
        names,
        [fixture(path, text_of(lines)) for path, lines in texts.items()],
        out,
        text_of(texts[path][index] for path in sorted(texts)),
        asks=[
            f"Write the {which} line of each .{ext} file in {home}, in order of file name, to {shown(out)}.",
            f"Every .{ext} file of {home} gives its {which} line to {shown(out)}; go by file name, no headings.",
            f"Collect in {shown(out)} the {which} lines of all .{ext} files of {home}, sorted by file name.",
        ],
        others=[
            f"how to gather the {which} line from every .{ext} in {home} with a loop to {shown(out)}",
            f"Go through the .{ext} files in the folder {home}, sorted by name, and store the {which} line of each in "
            f"{shown(out)}.",
            f"{shown(out)} should have one line for every .{ext} file of {home}, by file name: its {which} line.",
            f"I want the {which} line from each of {home}/*.{ext} in one file {shown(out)}, files sorted by name.",
            f"From every .{ext} file in directory {home}, copy the {which} line to {shown(out)}, file by file in name "
            "order.",
            f"What is the {which} line of each .{ext} file of {home}? Write these lines to {shown(out)}, by file "
            "name, without the names.",
            f"Put the {which} lines of the .{ext} files from {home} together in {shown(out)}, one for each file, by "
            "name.",
            f"For each .{ext} file in {home}, by name, just the {which} line is needed; save these lines as "
            f"{shown(out)}.",
            f"Extract the {which} line from each file in {home} called *.{ext}, in name order, and record just these "
            f"lines in {shown(out)}.",
            f"For each .{ext} file of {home}, in alphabetical order, write one line to {shown(out)}: its {which}.",
            f"Read {home}/*.{ext} one after another in name order and write only the {which} line of every file to "
            f"{shown(out)}.",
            f"Out of every .{ext} file in the folder {home}, pick the line that comes {which}; save them all to "
            f"{shown(out)}, ordered by file name.",
            f"Make {shown(out)} from {home}/*.{ext}: the {which} line of file after file, in order of their names, "
            "with no name added.",
        ],
        solution=[f'for f in {home}/*.{ext}; do {tool} -n 1 "$f"; done > {quote(out)}'],
    )


SHAPES: dict[str, list[Shape]] = {
    "sort_unique": [sort_plain, sort_numbers, sort_in_place, sort_several, repeated_lines],
    "take_lines": [take_edge, take_middle, take_single, take_rest, take_off_in_place, take_of_each],
}
