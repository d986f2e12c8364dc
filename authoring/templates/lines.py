"""Worlds in which the lines of files are sorted, or repeated lines are picked."""

from authoring.templates.world import Names, Shape, Unit, editing_unit, fixture, quote, saving_unit, shown, text_of


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
    return saving_unit(
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
            f"Sort {shown(path)} alphabetically, {way}; the output file is {shown(out)}.",
            f"Produce {shown(out)}, an alphabetical listing, {way}, whose lines all come from {shown(path)}.",
            f"Alphabetize {shown(path)} by line, {way}, and place the outcome in {shown(out)}.",
            f"Rearrange what {shown(path)} contains, line by line, in sorted order, {way}, as a new {shown(out)}.",
            f"Sort, {way}, to create {shown(out)}; the lines for it are in {shown(path)}.",
            f"Dump a sorted copy of {shown(path)}, {way}, into the file {shown(out)}.",
            f"Bring the lines from {shown(path)} into alphabetical order, {way}. Save the result as {shown(out)}.",
            f"Run {shown(path)} through sort, {way}, and keep the output in {shown(out)}.",
            f"The contents of {shown(path)} are to be saved in {shown(out)}, sorted by line, {way}.",
            f"Is {shown(path)} out of order? Generate a sorted {shown(out)} from it, {way}.",
            f"Sorted alphabetically, {way}, the lines of {shown(path)} belong in the new file {shown(out)}.",
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
    return saving_unit(
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
            f"Rearrange the numbers of {shown(path)} {way}, and save that list as {shown(out)}.",
            f"Create {shown(out)}, a list of the numbers in {shown(path)} by value, {way}.",
            f"Put what {shown(path)} has into numerical order, {way}; write it to {shown(out)}.",
            f"Output the numbers of {shown(path)} {way} to {shown(out)}, one on each line.",
            f"Fill {shown(out)} with the numbers of {shown(path)}, sorted by value {way}.",
            f"Transfer the numbers in {shown(path)}, in numerical order {way}, to {shown(out)}; the source stays.",
            f"Collect the figures from {shown(path)} in {shown(out)}, sorted numerically {way}.",
            f"Numbers in {shown(path)} come in no order; {shown(out)} is to have them {way}, sorted by value.",
            f"Sorted by value, {way}, the numbers of {shown(path)} are to be written to {shown(out)}.",
            f"What do the numbers in {shown(path)} look like {way}? Save that, one a line, as {shown(out)}.",
            f"Generate {shown(out)} from {shown(path)} by a numerical sort {way}.",
        ],
        solution=[f"sort {option} {quote(path)} > {quote(out)}"],
    )


def sort_in_place(names: Names) -> Unit:
    """The file itself gets sorted."""
    path = names.path(names.pick(["txt", "list"]), names.number(0, 1))
    lines = _with_repeats(names, names.number(4, 6))
    return editing_unit(
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
            f"Alphabetize {shown(path)} in place, discarding duplicate lines.",
            f"Bring the lines of {shown(path)} into sorted order within the file and strip duplicates.",
            f"Clean up {shown(path)}: sort it alphabetically, eliminate duplicate lines, keep the name.",
            f"Replace {shown(path)} by its own sorted lines, duplicates removed.",
            f"Update {shown(path)} so that its lines stand in alphabetical order and none is repeated.",
            f"Discard duplicate lines from {shown(path)} and sort the remaining ones; change the file itself.",
            f"Reorder {shown(path)} alphabetically in place. Of identical lines, retain a single one.",
            f"Duplicates in {shown(path)} are to go, and the lines left are to be sorted, all in the same file.",
            f"Should any line of {shown(path)} be repeated, keep one copy; then sort the file in place.",
            f"Purge {shown(path)} of repeated lines and store the rest, sorted, in {shown(path)} again.",
            f"Sorted and free of duplicates: that is how the lines of {shown(path)} should be, in place.",
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
    return saving_unit(
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
            f"Gather all lines of {home}/*.{ext} in {shown(out)}, sorted alphabetically and free of duplicates.",
            f"Merge the .{ext} files from {home} into {shown(out)} as sorted lines, discarding duplicates.",
            f"Collect each distinct line of the .{ext} files in {home}; {shown(out)} lists them alphabetically.",
            f"Compile {shown(out)}, a sorted list of the distinct lines in all .{ext} files of {home}.",
            f"Pool the lines of every .{ext} file in {home}, remove duplicates, sort them, and fill {shown(out)}.",
            f"Sort {home}/*.{ext} jointly, one copy of each line, with {shown(out)} as the output file.",
            f"Unite the contents of {home}/*.{ext}. Sorted and without duplicate lines, they go to {shown(out)}.",
            f"What distinct lines do the .{ext} files of {home} have? List them, sorted, in {shown(out)}.",
            f"Have what lines {home}/*.{ext} hold saved in {shown(out)}, all sorted together and with no repeats.",
            f"Create one alphabetical {shown(out)} out of {home}/*.{ext}; identical lines come only once.",
            f"To list all that {home}/*.{ext} contain, write their lines, sorted and unique, to {shown(out)}.",
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
    return saving_unit(
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
            f"List alphabetically in {shown(out)}, a single time, the lines occurring {which} in {shown(path)}.",
            f"Extract from {shown(path)} the lines present {which}; {shown(out)} has one of each, sorted.",
            f"Collect one of each line that {shown(path)} contains {which}, and save these sorted as {shown(out)}.",
            f"Identify what lines {shown(path)} shows {which}; let a sorted {shown(out)} list them with no repeats.",
            f"Gather in {shown(out)}, sorted and without repeats, what lines {shown(path)} has {which}.",
            f"Select whatever lines come {which} in {shown(path)}; write one of each, sorted, to {shown(out)}.",
            f"Create {shown(out)}: sorted lines, one of each, of those that stand in {shown(path)} {which}.",
            f"Filter {shown(path)} for lines occurring {which}. One copy of each is saved, sorted, in {shown(out)}.",
            f"Does {shown(path)} have lines {which}? Put one of each such line into a sorted {shown(out)}.",
            f"If a line appears {which} in {shown(path)}, it is listed one time in {shown(out)}, which is sorted.",
            f"Lines that are in {shown(path)} {which} are to be saved sorted, each one time, to {shown(out)}.",
        ],
        solution=[f"sort {quote(path)} | uniq {option} > {quote(out)}"],
    )


SHAPES: dict[str, list[Shape]] = {
    "sort_unique": [sort_plain, sort_numbers, sort_in_place, sort_several, repeated_lines],
}
