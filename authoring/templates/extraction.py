"""Worlds in which lines are picked by a pattern, from one file or several."""

from authoring.templates.search import lines_some_with
from authoring.templates.world import Names, Shape, Unit, fixture, listed, quote, saving_unit, shown, text_of


def lines_with_word(names: Names) -> Unit:
    """Lines of a file that contain a word, or that do not."""
    source, word, out = names.path(names.pick(["log", "txt"]), names.number(0, 1)), names.keyword(), names.file("txt")
    lines, hits = lines_some_with(names, word, names.number(5, 8))
    kind, solution, kept = names.pick(
        [
            ("contain", f"grep {word} {quote(source)} > {quote(out)}", hits),
            ("contain", f"cat {quote(source)} | grep {word} > {quote(out)}", hits),
            ("do not contain", f"grep -v {word} {quote(source)} > {quote(out)}", [x for x in lines if x not in hits]),
        ]
    )
    return saving_unit(
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
            f"Extract from {shown(source)} just those lines which {kind} {word}; record them, in order, in "
            f"{shown(out)}.",
            f"Read {shown(source)} and send the lines in it that {kind} {word} to {shown(out)}; their order does not "
            "change.",
            f"Into {shown(out)}, in order, go lines from {shown(source)}, but only such as {kind} {word}.",
            f"Some lines in {shown(source)} {kind} {word}. Copy these, and no others, to {shown(out)}.",
            f"Write to {shown(out)} what lines {shown(source)} has which {kind} {word}, and leave {shown(source)} "
            "unchanged.",
            f"With their order unchanged, {shown(out)} collects all {shown(source)} lines which {kind} {word}.",
            f"Lines retained from {shown(source)} in {shown(out)} are those which {kind} {word}; no others are kept.",
            f"Select from {shown(source)} the lines that {kind} {word}; save them as {shown(out)}.",
            f"Create {shown(out)} from the lines in {shown(source)} that {kind} {word}.",
            f"Fetch all lines that {kind} {word} from {shown(source)} for the new file {shown(out)}.",
            f"Use grep on {shown(source)} to list the lines that {kind} {word} in {shown(out)}.",
            f"Pick the lines that {kind} {word} from {shown(source)} and write them, in order, to {shown(out)}.",
            f"Duplicate into {shown(out)} whichever lines of {shown(source)} {kind} {word}.",
            f"Only such lines of {shown(source)} as {kind} {word} need saving, and {shown(out)} is the file for them.",
            f"If lines of {shown(source)} {kind} {word}, they go to {shown(out)}; all others stay out.",
            f"Out of {shown(source)}, {shown(out)} takes over whichever lines {kind} {word} and skips the others.",
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
    return saving_unit(
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
            f"Collect the lines in {shown(source)} that have {word} at the {where}, and record them in {shown(out)} as "
            "they come.",
            f"Into {shown(out)} goes each line out of {shown(source)} with {word} at its {where}; a {word} elsewhere "
            "in a line does not count.",
            f"Pick out every line in {shown(source)} with {word} at its very {where}. Write these to {shown(out)} in "
            "the order they have.",
            f"Each line that {where}s with {word} is copied out of {shown(source)} to {shown(out)}, and nothing else "
            "is.",
            f"At the {where} of some lines in {shown(source)} there is {word}; save these lines alone to {shown(out)}.",
            f"Gather from {shown(source)} the lines that {where} with {word} and save them as {shown(out)}.",
            f"Extract the lines of {shown(source)} that {where} with the word {word} into {shown(out)}.",
            f"Keep, in {shown(out)}, only such lines of {shown(source)} as {where} with {word}.",
            f"Select lines with {word} at the {where} from {shown(source)}; write them, in order, to {shown(out)}.",
            f"Use grep on {shown(source)}, {word} being anchored at the line {where}, to fill {shown(out)}.",
            f"Copy to {shown(out)} all lines of {shown(source)} that {where} with {word}, skipping the others.",
            f"Fetch each line that {where}s with {word} from {shown(source)} for the new file {shown(out)}.",
            f"Create {shown(out)}: out of {shown(source)} it lists, in order, whatever line {where}s with {word}.",
            f"If a line of {shown(source)} {where}s with {word}, it goes to {shown(out)}; otherwise not.",
            f"Does a line in {shown(source)} {where} with {word}? Then save it to {shown(out)}; skip the rest.",
            f"Lines of {shown(source)} whose {where} is {word}, and only those, are written to {shown(out)}.",
        ],
        solution=[f"grep '{pattern}' {quote(source)} > {quote(out)}"],
    )


def lines_any_case(names: Names) -> Unit:
    """Lines with a word in any case, or numbered lines with it."""
    source, word, out = names.path("log", names.number(0, 1)), names.keyword(), names.file("txt")
    lines, _ = lines_some_with(names, word, names.number(5, 8))
    lines = [line.replace(word, names.pick([word, word.upper(), word.capitalize()])) for line in lines]
    hits = [line for line in lines if word in line.lower().split()]
    return saving_unit(
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
            f"Extract from {shown(source)} all lines that say {word}, no matter how it is capitalised, and put them "
            f"into {shown(out)}.",
            f"Without regard to capitals, pick the lines with {word} out of {shown(source)}. Record them, in order, in "
            f"{shown(out)}.",
            f"Find {word} in {shown(source)}, whether in capitals or small letters; print every line that has it to "
            f"{shown(out)}.",
            f"Treat capital and small letters as the same: copy what lines in {shown(source)} mention {word} to "
            f"{shown(out)}.",
            f"Every line in {shown(source)} that mentions {word}, in capitals, small letters or a mix, is written to "
            f"{shown(out)}, in the old order.",
            f"Gather the lines of {shown(source)} with {word}, in any letter case, in {shown(out)}.",
            f"Save every line of {shown(source)} that contains {word}, whatever its case, as {shown(out)}.",
            f"Match {word} case-insensitively in {shown(source)} and send the matching lines to {shown(out)}.",
            f"Use grep, ignoring case, to get the lines of {shown(source)} with {word} into {shown(out)}.",
            f"Select lines with {word} from {shown(source)}; case is irrelevant, {shown(out)} takes the result.",
            f"Collect in {shown(out)} what lines of {shown(source)} contain {word}, upper or lower case alike.",
            f"Fetch all mentions of {word} (any case) from {shown(source)}, as whole lines, into {shown(out)}.",
            f"No matter the case, a line of {shown(source)} that has {word} in it goes to {shown(out)}.",
            f"Are there lines with {word} in {shown(source)}, in any case? List them in {shown(out)}.",
            f"Case does not count: lines of {shown(source)} that contain {word} are saved as {shown(out)}.",
            f"Create {shown(out)} out of the {shown(source)} lines that mention {word}, capitalised or not.",
        ],
        solution=[f"grep -i {word} {quote(source)} > {quote(out)}"],
    )


def lines_numbered(names: Names) -> Unit:
    """Matching lines with their numbers in front."""
    source, word, out = names.path("txt", names.number(0, 1)), names.keyword(), names.file("txt")
    lines, hits = lines_some_with(names, word, names.number(5, 8))
    return saving_unit(
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
            f"Extract every line with {word} from {shown(source)} and record it in {shown(out)} after its line number "
            "and a colon, like 7:text.",
            f"Number the lines of {shown(source)}, but write only those with the word {word} to {shown(out)}, each "
            "like 2:text.",
            f"Write what lines of {shown(source)} mention {word} to {shown(out)}; before each line come its line "
            "number and a colon.",
            f"Look {word} up in {shown(source)}. For each hit, {shown(out)} gets one line: the line number, a colon, "
            "then the whole line as it is.",
            f"At which lines of {shown(source)} is there the word {word}? Copy these to {shown(out)}, every one after "
            "its line number and a colon.",
            f"List the lines of {shown(source)} with {word}, each as number:text, in {shown(out)}.",
            f"Gather all {word} lines of {shown(source)} in {shown(out)}, every one as 8:text with its line number.",
            f"Use grep to save the lines of {shown(source)} with {word}, numbered as in 9:text, to {shown(out)}.",
            f"Report in {shown(out)} each {shown(source)} line with {word} as line number, colon, text.",
            f"Send lines of {shown(source)} that mention {word} to {shown(out)}, each after its number and a colon.",
            f"Create {shown(out)}: lines from {shown(source)} that contain {word}, in the form line number:text.",
            f"Record every line with {word} in {shown(source)} as number:line in {shown(out)}.",
            f"Each line of {shown(source)} with {word} goes to {shown(out)} after its line number and a colon.",
            f"If a line of {shown(source)} has {word}, write its line number, a colon and the line to {shown(out)}.",
            f"Where does {word} occur in {shown(source)}? Output those lines to {shown(out)} as number:text.",
            f"Fetch lines with {word} from {shown(source)}; label each with line number and colon in {shown(out)}.",
        ],
        solution=[f"grep -n {word} {quote(source)} > {quote(out)}"],
    )


def lines_of_several(names: Names) -> Unit:
    """Lines with a word from all files of a directory, without file names."""
    home, word, out = names.directory(), names.keyword(), names.file("txt")
    texts = {f"{home}/{names.file('log')}": lines_some_with(names, word, 5) for _ in range(names.number(2, 3))}
    return saving_unit(
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
            f"Extract all lines that say {word} from the .log files in {home}, go by file name, and put the bare lines "
            f"into {shown(out)}.",
            f"To {shown(out)}, print any line with {word} out of {home}/*.log, file by file in name order, without a "
            "file name before it.",
            f"From each .log file in the folder {home}, by name, pick the lines that mention {word}. Write them alone "
            f"to {shown(out)}.",
            f"Read the .log files in {home} one at a time, in alphabetical order; what lines contain {word} are copied "
            f"to {shown(out)} as they are.",
            f"Search {home}/*.log for {word} and save each line that has it to {shown(out)}: files in order of name, "
            "no names printed.",
            f"Gather the lines with {word} from {home}/*.log in {shown(out)}, without file name prefixes.",
            f"Collate, by file name, the bare lines with {word} from the .log files in {home} as {shown(out)}.",
            f"Merge all lines with {word} from {home}/*.log, in name order, into {shown(out)}; no file names.",
            f"Use grep over {home}/*.log for {word}, file names suppressed, output to {shown(out)}.",
            f"Save to {shown(out)} every line that mentions {word} in {home}/*.log, with no file name in front.",
            f"Fetch each line with {word} from {home}/*.log by file name; only the lines go to {shown(out)}.",
            f"Combine the lines of {home}/*.log that have {word} as one file {shown(out)}, file names left off.",
            f"In {home}, some .log lines contain {word}; list them, bare and in file order, in {shown(out)}.",
            f"Any line with {word} in {home}/*.log goes to {shown(out)} as it is, the files taken in name order.",
            f"If a line in a .log file of {home} has {word}, copy it, without the file's name, to {shown(out)}.",
            f"Where do the .log files of {home} mention {word}? Save just those lines, by file, in {shown(out)}.",
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
    return saving_unit(
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
            f"Gather what lines in {shown(source)} mention {first} or {second}, and record them, in order, in "
            f"{shown(out)}.",
            f"Two words count in {shown(source)}, {first} and {second}: write every line with one of them, or both, to "
            f"{shown(out)}, order unchanged.",
            f"Into {shown(out)} goes a line from {shown(source)} whenever it has {first}, {second} or the two together "
            "in it.",
            f"Find the lines in {shown(source)} where {first} or {second} appears; send them to the new file "
            f"{shown(out)}, without any others.",
            f"Reproduce in {shown(out)} just those lines from {shown(source)} that have {first} in them, or {second}, "
            "or both.",
            f"Select the lines of {shown(source)} with {first} or {second} and save them as {shown(out)}.",
            f"Extract any line that has {first} or {second} from {shown(source)} to {shown(out)}.",
            f"Keep just the {first} and {second} lines of {shown(source)}, in file order, in {shown(out)}.",
            f"Collect lines containing either {first} or {second} from {shown(source)} in {shown(out)}.",
            f"Use grep with two patterns, {first} and {second}, on {shown(source)}; the output is {shown(out)}.",
            f"Save to {shown(out)} whatever lines of {shown(source)} contain {first}, {second} or both.",
            f"Pick each line out of {shown(source)} in which {first} or {second} occurs; list it in {shown(out)}.",
            f"Create {shown(out)} from {shown(source)} by dropping every line with neither {first} nor {second}.",
            f"If {first} or {second} is in a line of {shown(source)}, that line goes to {shown(out)}.",
            f"Either {first} or {second} is enough: such lines of {shown(source)} are written to {shown(out)}.",
            f"Does a line of {shown(source)} mention {first} or {second}? Then copy it to {shown(out)}.",
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
    "extract_lines": [
        lines_with_word, lines_by_edge, lines_any_case, lines_numbered, lines_of_several, lines_with_either,
    ],
}  # fmt: skip
