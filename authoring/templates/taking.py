"""Worlds in which some lines of a file are taken or removed by their position."""

from authoring.templates.world import Names, Shape, Unit, editing_unit, fixture, quote, saving_unit, shown, text_of


def take_edge(names: Names) -> Unit:
    """The first or last lines of a file."""
    path, out = names.path(names.pick(["log", "txt"]), names.number(0, 1)), names.file("txt")
    lines, count = names.lines(names.number(6, 10)), names.number(2, 4)
    which, tool, result = names.pick([("first", "head", lines[:count]), ("last", "tail", lines[-count:])])
    return saving_unit(
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
            f"Keep a copy of the {which} {count} lines of {shown(path)}: {shown(out)}.",
            f"Write to {shown(out)} what the {which} {count} lines of {shown(path)} say.",
            f"Put only the {which} {count} lines from {shown(path)} into a file {shown(out)}.",
            f"Fetch the {which} {count} lines out of {shown(path)} and place them in {shown(out)}.",
            f"Create {shown(out)} with nothing but the {which} {count} lines of {shown(path)}.",
            f"Duplicate {count} lines, the {which} ones, of {shown(path)}; they make up {shown(out)}.",
            f"Output the {which} {count} lines of {shown(path)}. The output file is {shown(out)}.",
            f"Limit {shown(path)} to its {which} {count} lines in a copy called {shown(out)}.",
            f"From {shown(path)}, the {which} {count} lines have to be saved in {shown(out)}.",
            f"To shorten {shown(path)} without touching it, save its {which} {count} lines as {shown(out)}.",
            f"The new file {shown(out)} is made up of the {which} {count} lines in {shown(path)}.",
        ],
        solution=[f"{tool} -n {count} {quote(path)} > {quote(out)}"],
    )


def take_middle(names: Names) -> Unit:
    """A range of lines."""
    path, out = names.path("txt", names.number(0, 1)), names.file("txt")
    lines, start = names.lines(names.number(8, 10)), names.number(2, 4)
    end = start + names.number(1, 3)
    return saving_unit(
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
            f"Extract lines {start} through {end} from {shown(path)} into {shown(out)}.",
            f"Save {shown(path)}, lines {start} to {end} only, as {shown(out)}.",
            f"Write to {shown(out)} a stretch of {shown(path)}: line {start} begins it and line {end} ends it.",
            f"Gather from {shown(path)} the lines numbered {start} to {end}; {shown(out)} is where they go.",
            f"Fetch the lines from number {start} to number {end} in {shown(path)} and place them in {shown(out)}.",
            f"Create {shown(out)} from the block of lines {start} to {end} in {shown(path)}.",
            f"Select line {start}, line {end} and all between in {shown(path)}. Save these as {shown(out)}.",
            f"Discard lines before {start} and after {end} of {shown(path)} in a copy named {shown(out)}.",
            f"{shown(path)} has a section, lines {start} to {end}, that is to be copied to {shown(out)}.",
            f"Only lines {start} to {end} of {shown(path)} belong in {shown(out)}.",
            f"What stands on line {start}, on line {end} and between in {shown(path)} is to fill {shown(out)}.",
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
    return saving_unit(
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
            f"Extract line {number} from {shown(path)} into {shown(out)}.",
            f"Save just line {number} of {shown(path)} as {shown(out)}.",
            f"Fetch the line numbered {number} in {shown(path)} and place it in {shown(out)}.",
            f"Write a file {shown(out)} that has line {number} of {shown(path)} and nothing else.",
            f"Select a single line, number {number}, of {shown(path)}; output it to {shown(out)}.",
            f"Duplicate line {number} from {shown(path)}. It alone goes into {shown(out)}.",
            f"Transfer a copy of line {number} in {shown(path)} to the file {shown(out)}.",
            f"Discard all but line {number} of {shown(path)} in a copy called {shown(out)}.",
            f"Line {number} of {shown(path)} is to be stored by itself in {shown(out)}.",
            f"What does {shown(path)} have on line {number}? Store the answer in {shown(out)}.",
            f"The content of {shown(out)} has to be line {number} of {shown(path)} alone.",
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
    return saving_unit(
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
            f"Skip the first {what} of {shown(path)} and save the rest as {shown(out)}.",
            f"Omit the first {what} when writing {shown(path)} to {shown(out)}.",
            f"Store {shown(path)} as {shown(out)}, its first {what} removed in the new file.",
            f"Transfer a copy of {shown(path)} to {shown(out)}, less its first {what}.",
            f"Create {shown(out)} with the lines of {shown(path)} that come after the first {what}.",
            f"Extract all that follows the first {what} in {shown(path)}; place it in {shown(out)}.",
            f"Discard the first {what} of {shown(path)}, but only in a copy that is called {shown(out)}.",
            f"All that {shown(out)} lacks, compared with {shown(path)}, is the first {what}.",
            f"Apart from the first {what}, everything in {shown(path)} is to be copied to {shown(out)}.",
            f"What remains of {shown(path)} without the first {what}? Record it in {shown(out)}.",
            f"The remainder of {shown(path)}, once its first {what} is skipped, belongs in {shown(out)}.",
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
    return editing_unit(
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
            f"Discard the {which} line of {shown(path)}, changing the file in place.",
            f"Trim {shown(path)} in place by its {which} line.",
            f"Purge the {which} line from {shown(path)} and leave the others untouched.",
            f"Eliminate one line from {shown(path)}, namely the {which}; save to the same file.",
            f"Get rid of the {which} line that {shown(path)} has. The rest stays.",
            f"Clear {shown(path)} of its {which} line, in place.",
            f"Modify {shown(path)} directly: its {which} line goes, all others remain.",
            f"Update {shown(path)} so that the present {which} line is no longer in it.",
            f"Without its {which} line, but otherwise unchanged, {shown(path)} is to be kept under its name.",
            f"The {which} line is to be dropped from {shown(path)}, the others are retained.",
            f"Every line of {shown(path)} stays except the {which}, which is removed from the file itself.",
        ],
        [f"sed -i '{script}' {quote(path)}"],
    )


def take_of_each(names: Names) -> Unit:
    """The first or last line of each file of a directory."""
    home, out, ext = names.directory(), names.file("txt"), names.pick(["txt", "log"])
    texts = {f"{home}/{names.file(ext)}": names.lines(names.number(3, 5)) for _ in range(3)}
    which, tool, index = names.pick([("first", "head", 0), ("last", "tail", -1)])
    return saving_unit(
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
            f"Collect the {which} line of each {home}/*.{ext} in {shown(out)}, ordered by file name.",
            f"Gather into {shown(out)} one line per .{ext} file of {home}, the {which}, sorted by file name.",
            f"Take the {which} line of every .{ext} file in {home}, by name, and fill {shown(out)} with these.",
            f"List in {shown(out)} only the {which} line of each .{ext} file that {home} has, by file name.",
            f"Copy each {home}/*.{ext} file's {which} line to {shown(out)}, in name order and without the names.",
            f"Compile {shown(out)}: by file name, the {which} line of every .{ext} file of {home}, no names.",
            f"Loop over {home}/*.{ext} in name order and output each file's {which} line to {shown(out)}.",
            f"Save one line per file of {home}/*.{ext}, the {which}, as {shown(out)}; order by name, no headings.",
            f"Each .{ext} file in {home} gives its {which} line to {shown(out)}; the files come in name order.",
            f"The {which} line of every {home}/*.{ext} is to be saved in {shown(out)}, in file name order.",
            f"For a summary of {home}, put the {which} line of each .{ext} file, by name, into {shown(out)}.",
        ],
        solution=[f'for f in {home}/*.{ext}; do {tool} -n 1 "$f"; done > {quote(out)}'],
    )


SHAPES: dict[str, list[Shape]] = {
    "take_lines": [take_edge, take_middle, take_single, take_rest, take_off_in_place, take_of_each],
}
