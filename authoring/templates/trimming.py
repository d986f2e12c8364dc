"""Worlds in which settings are removed from a configuration file or commented out.

configuration.py makes the keys and values.
"""

from authoring.templates.configuration import config_path, fresh_keys, setting_lines, some_settings, two_values
from authoring.templates.world import Names, Shape, Unit, fixture, listed, quote, shown, text_of


def _delete_setting(names: Names) -> Unit:
    path, keys = config_path(names), fresh_keys(names, names.number(3, 6))
    settings, key = some_settings(names, keys), names.pick(keys)
    s = shown(path)
    return Unit(
        fixtures=[fixture(path, text_of(setting_lines(settings)))],
        directive=names.pick(
            [
                f"Delete the line that sets {key} from {s}.",
                f"Remove the setting {key} from {s}.",
                f"Take {key} out of {s}, the whole line.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want no {key} line in {s} any more.",
                f"{s} should not mention {key}.",
                f"In {s}, delete the line of {key} and leave all other lines.",
                f"Could you remove {key} and its value from the file {s}?",
                f"The setting {key} is not needed in {s} any more, so drop its line.",
                f"Edit {s} so that {key} is no longer set there; the line goes away.",
                f"The line that begins with {key}= must be gone from {s}, and the rest stays.",
                f"Erase '{key}={settings[key]}' from {s}.",
                f"Keep every line of {s} but the one for {key}.",
                f"Throw the line '{key}={settings[key]}' out of {s}.",
                f"From {s}, drop the {key} line and no other.",
                f"Cut the line beginning with {key}= from {s}; let the others be.",
                f"All lines of {s} stay but that of {key}, which is erased.",
                f"Strip {s} of its {key} setting, so that no {key}= line is left in it.",
                f"Purge {key} from {s}: the whole line goes, all others remain.",
                f"Clear the line that sets {key} out of {s}.",
                f"Discard the {key}= line in {s} and retain the rest as it is.",
                f"Remove the setting {key} from {s} entirely (its whole line, no other).",
                f"Delete from {s} the one line that starts with {key}=.",
                f"Unset {key} in {s} by taking its line out altogether; do not merely comment it.",
                f"The {key} entry in {s} is obsolete. Delete that line.",
                f"When finished, {s} has all its present lines except the one starting with {key}=.",
                f"To drop the option {key}, delete its line in {s} and alter nothing else.",
                f"Any line {key}=... is to be deleted from {s}; the other settings are not touched.",
                f"Eliminate {key}, name and value, from the settings in {s}.",
            ]
        ),
        solution=[f"sed -i '/^{key}=/d' {quote(path)}"],
        after=[
            fixture(path, text_of(setting_lines({name: settings[name] for name in keys if name != key}))),
        ],
    )


def _comment_out(names: Names) -> Unit:
    path, keys = config_path(names), fresh_keys(names, names.number(3, 6))
    lines = setting_lines(some_settings(names, keys))
    chosen = names.rng.sample(range(len(keys)), names.number(1, 2))
    what = listed([keys[index] for index in chosen])
    s = shown(path)
    return Unit(
        fixtures=[fixture(path, text_of(lines))],
        directive=names.pick(
            [
                f"Comment out {what} in {s} by putting # right before the key.",
                f"In {s} disable {what}: a # without a space goes in front of the line.",
                f"Turn the setting of {what} in {s} into a comment that starts with # and is otherwise unchanged.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want a # directly before {what} in {s}, so that it is off.",
                f"{s} should have {what} commented, as # plus the old line.",
                f"Disable {what} in the file {s}: begin each such line with #.",
                f"Could you turn off {what} in {s}? Put # in front of the line and leave its text.",
                f"In {s} the lines that set {what} must begin with #, with no space after it.",
                f"Edit {s}: add a # to the front of the line for {what}, nothing else changes.",
                f"Make comments of the lines in {s} that set {what}: # and then the line as it was.",
                f"{what} should be switched off in {s}: do not delete the line, write # before it.",
                f"Write # right before {what} in {s}, with no space in between and with no other change.",
                f"Prefix {what} in {s} directly with #, the rest of the line staying as it was.",
                f"Deactivate {what} in {s}. Every line concerned keeps its text and gets a # as its first character.",
                f"All that changes in {s} is that a # goes immediately in front of {what}, without a space.",
                f"With a # directly before the name, disable {what} in {s}; delete nothing.",
                f"Comment out {what} in {s} with a # directly before the name.",
                f"Mark {what} in {s} as a comment, # and the unchanged line behind it without a space.",
                f"Insert a # at the very start of each line of {s} that sets {what}; keep its text as it is.",
                f"Let {s} have, where it sets {what}, a comment instead: a bare #, no space, then the old text.",
                f"Set # as the new first character wherever {s} sets {what}; the other lines stay as they are.",
                f"To disable {what} in {s}, place # at the line start, immediately before the name.",
                f"Find where {s} sets {what}; there, use # alone (no space behind it) to comment the line out.",
                f"In {s}, whatever line sets {what} is to be commented out: a # is placed right before the name.",
                f"Neutralise {what} in {s} by a leading #. There is no space after it, and no line is removed.",
                f"When {s} is read, {what} must count as a comment; so add # right at the front, without a space.",
                f"Have {s} ignore {what}: its line gains a # at the beginning and is otherwise kept as is.",
            ]
        ),
        solution=[f"sed -i 's/^{keys[index]}=/#{keys[index]}=/' {quote(path)}" for index in chosen],
        after=[fixture(path, text_of("#" * (index in chosen) + line for index, line in enumerate(lines)))],
    )


def _commented(names: Names) -> tuple[list[str], list[str]]:
    """Lines of a configuration with comments in between, and the same without."""
    plain = setting_lines(some_settings(names, fresh_keys(names, names.number(3, 4))))
    lines: list[str] = []
    for line in plain:
        lines += [f"# {names.line(1, 3)}"] * (names.rng.random() < 0.7 or not lines) + [line]
    return lines, plain


def _delete_comments(names: Names) -> Unit:
    path = config_path(names)
    lines, plain = _commented(names)
    s = shown(path)
    return Unit(
        fixtures=[fixture(path, text_of(lines))],
        directive=names.pick(
            [
                f"Delete every comment line (it starts with #) from {s}.",
                f"Remove all lines of {s} that begin with #.",
                f"Strip {s} of its # comment lines; the settings stay.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want {s} without the lines that start with #.",
                f"No # line should be left in {s}.",
                f"In {s}, delete all lines with # at the start and leave the others.",
                f"Could you remove the comments from the file {s}? They are lines starting with #.",
                f"The lines of {s} that start with # are comments and not needed: drop them.",
                f"Edit {s} so that only its settings are left and no line begins with #.",
                f"Erase the comment lines in {s}; each of them has a # as its first character.",
                f"Keep just those lines of {s} that do not start with #.",
                f"All comments must be gone from {s}, that is, each line with a leading #.",
                f"Throw every line with # as its first character out of {s}.",
                f"From {s} drop the comments, which are the lines with # in front.",
                f"Leave in {s} only lines whose first character is not #.",
                f"No comment may stay in {s}: delete what begins with #, line by line.",
                f"Look through {s} and delete whichever line begins with #.",
                f"Purge {s} of all comments, meaning lines that begin with #.",
                f"Clear the # lines out of {s}, in place.",
                f"Discard each line of {s} whose first character is #; retain the others in their order.",
                f"Remove from {s} any line beginning with # and save the file under the same name.",
                f"Strip {s} of its comment lines (# in the first column).",
                f"If a line in {s} starts with #, delete it; if not, keep it.",
                f"Lines with a # at the very start are to be deleted from {s}, while all others stay.",
                f"Reduce {s} to the lines that have no # at the beginning.",
                f"To rid {s} of comments, cut every line starting with #. Change nothing else.",
                f"Afterwards {s} must contain the same lines as now, minus those that begin with #.",
                f"Eliminate comments in the file {s} itself: whatever starts with # goes.",
            ]
        ),
        solution=[f"sed -i '/^#/d' {quote(path)}"],
        after=[fixture(path, text_of(plain))],
    )


def _save_without_comments(names: Names) -> Unit:
    path, out = config_path(names), names.file(names.pick(["conf", "txt", "cfg"]))
    lines, plain = _commented(names)
    s, o = shown(path), shown(out)
    return Unit(
        fixtures=[fixture(path, text_of(lines))],
        directive=names.pick(
            [
                f"Save {s} without its comment lines (those that start with #) as {o}; {s} stays as it is.",
                f"Write only the lines of {s} that do not begin with # to {o}.",
                f"Make {o}, a copy of {s} that leaves out each line starting with #.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want the settings of {s}, no # lines, in a file of their own: {o}.",
                f"{o} should repeat {s} but for the # lines.",
                f"Copy {s} to {o}, but leave out the lines with # at the start.",
                f"Could you put {s} without its comments into the new file {o}? A comment starts with #.",
                f"In {o} store all lines of {s} except those that begin with #.",
                f"Filter the # lines out of {s} and keep what is left as {o}; {s} itself is not changed.",
                f"The settings of {s} are wanted in {o}, without any comment line, which is one starting with #.",
                f"Create {o} from the lines of {s} that have no # at the start.",
                f"From {s} take every line that is not a comment (no # in front) and write it to {o}.",
                f"Copy {s} into {o} line by line, but skip each line that has # in front.",
                f"Into {o} put what is left of {s} once its # lines are left out; {s} itself stays whole.",
                f"Build {o} out of {s}: the settings go in, the lines with # as first character do not.",
                f"All settings of {s}, but none of its comments (lines with # in front), go into a new file {o}.",
                f"Search {s} for lines whose first character is not # and save these as {o}.",
                f"Write {s} to {o} minus the lines that begin with #.",
                f"Extract from {s} all lines not starting with # and put them in {o}.",
                f"Duplicate {s} as {o}, omitting every comment line (# as first character).",
                f"Save a comment-free version of {s} as {o}: lines starting with # are dropped, {s} is not edited.",
                f"Strip the lines with a leading # from the text of {s} and store the result as {o}, leaving {s} alone",
                f"Transfer to {o} just those lines of {s} that do not start with #; {s} keeps all of its own.",
                f"If a line of {s} does not begin with #, it belongs in the new file {o}; otherwise omit it there.",
                f"The new file {o} is to hold the lines of {s} in their order, except those starting with #.",
                f"Output {s} to the file {o} with its comments, the lines that have # in front, excluded.",
                f"Exclude what starts with # from {s}; the remaining lines make up {o}. Do not alter {s}.",
                f"Select the lines without a leading # in {s}, then collect them in the file {o}.",
            ]
        ),
        solution=[
            names.pick([f"grep -v '^#' {quote(path)} > {quote(out)}", f"sed '/^#/d' {quote(path)} > {quote(out)}"])
        ],
        after=[fixture(out, text_of(plain))],
    )


def _delete_empty_lines(names: Names) -> Unit:
    path = config_path(names)
    lines, plain = _commented(names)
    for _ in range(names.number(2, 3)):
        lines.insert(names.number(1, len(lines) - 1), "")
    both = names.rng.random() < 0.5
    kept = plain if both else [line for line in lines if line]
    what = "comment lines (starting with #) and empty lines" if both else "empty lines"
    gone = "lines that are empty or start with #" if both else "empty lines"
    s, f = shown(path), quote(path)
    return Unit(
        fixtures=[fixture(path, text_of(lines))],
        directive=names.pick(
            [
                f"Delete all {what} from {s}.",
                f"Clear {s} of {what}.",
                f"Remove the {what} of {s} and nothing else.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want {s} free of {gone}.",
                f"{s} should have no {gone}.",
                f"Could you remove the {gone} from the file {s}?",
                f"In {s}, the {gone} must go, and the others stay.",
                f"Erase the {gone} in {s}, changing nothing else.",
                f"In {s} there are {gone}: delete these and nothing more.",
                f"Edit {s} so that no {gone} are left.",
                f"Keep only the lines of {s} that are"
                f" {'neither empty nor comments with # at the start' if both else 'not empty'}.",
                f"Throw all {gone} out of {s}.",
                f"From {s} cut the {gone}, and let every other line stay.",
                f"No {gone} may stay in {s}.",
                f"Look for {gone} in {s} and erase every one that you find.",
                f"Drop any {gone} from the text of {s}.",
                f"Purge {s} of {gone}.",
                f"Clear {s} of all {gone} and leave the rest in order.",
                f"Discard {gone} from {s}; retain all other lines as they are.",
                f"Delete {gone} in {s}, in place.",
                f"Strip the {gone} from {s}. The remaining lines keep their order.",
                f"Remove from the file {s} any {gone}, without touching the others.",
                f"Condense {s} by deleting {gone}.",
                f"All {gone} are to be deleted from {s}, while every other line remains.",
                f"To tidy {s}, eliminate its {gone}.",
                f"Afterwards {s} must contain the same lines as now, minus the {gone}.",
                f"Filter {s} in place so as to exclude {gone}.",
            ]
        ),
        solution=[*([f"sed -i '/^#/d' {f}"] if both else []), f"sed -i '/^$/d' {f}"],
        after=[fixture(path, text_of(kept))],
    )


def _delete_section(names: Names) -> Unit:
    path, sections = names.path("ini", names.number(0, 1)), names.words(names.number(2, 3))
    chosen = names.pick(sections)
    texts = {
        section: [f"[{section}]", *setting_lines(some_settings(names, fresh_keys(names, 2))), ""]
        for section in sections
    }
    s = shown(path)
    return Unit(
        fixtures=[fixture(path, text_of(line for lines in texts.values() for line in lines))],
        directive=names.pick(
            [
                f"Delete the section [{chosen}] from {s}, from its head to the empty line that ends it.",
                f"Remove [{chosen}] with all its settings and the empty line below them from {s}.",
                f"Drop the whole section [{chosen}] of {s}, the blank line after it included.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want {s} without the part headed [{chosen}] and the empty line closing it.",
                f"{s} should lose [{chosen}], down to the next empty line.",
                f"Edit {s} so that [{chosen}] is gone: head, settings and the blank line behind them.",
                f"Could you remove everything from [{chosen}] to the following empty line in the file {s}?",
                f"The section headed [{chosen}] is not needed in {s}; erase it together with its closing empty line.",
                f"In {s}, delete the lines from [{chosen}] down to the next blank one, including both.",
                f"Keep all sections of {s} but [{chosen}], which goes with the empty line at its end.",
                f"Take [{chosen}] out of {s}: the head, the keys under it, and one blank line.",
                f"Cut the section [{chosen}] out of {s}: its head, its settings and, behind these, one empty line.",
                f"From [{chosen}] as far as the next empty line, that line too, delete everything in {s}.",
                f"Find the head [{chosen}] in {s} and delete all from there through the first empty line after it.",
                f"All other sections of {s} stay, but [{chosen}] goes, and with it the blank line at its end.",
                f"No trace of the section [{chosen}] may stay in {s}: erase its lines and the empty one that closes"
                " it.",
                f"Purge {s} of the section [{chosen}], including the empty line that ends it.",
                f"Remove from {s} the line [{chosen}] and all that follows, up to and including the first empty line.",
                f"Discard the [{chosen}] block in {s}, heading to closing blank line; retain the other sections.",
                f"Eliminate section [{chosen}] in {s} with its heading, its settings and the one blank line after them",
                f"Strip the block [{chosen}] from {s}: heading, keys, and the empty line below them.",
                f"The block in {s} that opens with [{chosen}] and closes with an empty line is to be deleted whole.",
                f"Starting at the line [{chosen}] in {s}, delete up to the next empty line, which goes as well.",
                f"Clear [{chosen}] out of {s} entirely. The blank line that ends this section goes too.",
                f"To drop section [{chosen}], erase its lines in {s} (heading, settings, the blank line after).",
                f"Afterwards {s} has every section it has now except [{chosen}], whose closing blank line is gone too.",
                f"Trim {s} by one section, [{chosen}]: all its lines go, from the heading through the next empty line.",
            ]
        ),
        solution=[rf"sed -i '/^\[{chosen}\]/,/^$/d' {quote(path)}"],
        after=[fixture(path, text_of(line for name, lines in texts.items() if name != chosen for line in lines))],
    )


def _trim_all(names: Names) -> Unit:
    place, key, ext = names.directory(), fresh_keys(names, 1)[0], names.pick(["conf", "cfg", "env"])
    comment = names.rng.random() < 0.5
    texts = {
        f"{place}/{names.file(ext)}": setting_lines(some_settings(names, fresh_keys(names, 2)))
        for _ in range(names.number(2, 3))
    }
    line = f"{key}={two_values(names)[0]}"
    verb, noun = ("Comment out", "commented out with a leading #") if comment else ("Delete", "deleted")
    how = " with a # at the start of the line" if comment else ""
    deed = "put # directly before" if comment else "erase"
    script = f"s/^{key}=/#{key}=/" if comment else f"/^{key}=/d"
    return Unit(
        fixtures=[fixture(path, text_of([lines[0], line, lines[1]])) for path, lines in texts.items()],
        directive=names.pick(
            [
                f"{verb} the {key} setting in every .{ext} file of {place}{how}.",
                f"In all {place}/*.{ext} files the line of {key} is to be {noun}.",
                f"{verb} {key} throughout the .{ext} files in {place}{how}.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want {key} {noun} in each .{ext} file below {place}.",
                f"Every .{ext} file in {place} should have its {key} line {noun}.",
                f"Edit all .{ext} files in the folder {place} so that {key} is {noun}.",
                f"Could you have the {key} line {noun} in each file that matches {place}/*.{ext}?",
                f"The setting {key} must be {noun} in the files of {place} that end in .{ext}.",
                f"Go through the .{ext} files of the directory {place} and have the {key} line {noun}.",
                f"Every file in {place} with the extension .{ext} needs its {key} line {noun}.",
                f"Have the line that begins with {key}= {noun} wherever a .{ext} file in {place} has it.",
                f"{deed.capitalize()} the {key} line in every one of the files {place}/*.{ext}.",
                f"For each .{ext} file in the directory {place}, {deed} the line that sets {key}.",
                f"Look for {key} in the folder {place} and {deed} whatever line of a .{ext} file sets it.",
                f"Wherever a .{ext} file in {place} sets {key}, {deed} that line.",
                f"No .{ext} file in {place} may go on setting {key}: {deed} its line.",
                f"See that {key} is {noun} in all the files {place}/*.{ext}.",
                f"Check each .{ext} file of {place}; if a line starts with {key}=, it gets {noun}.",
                f"Process all files {place}/*.{ext}: {deed} the line that starts with {key}=.",
                f"Update the .{ext} files in {place} so that the line {key}=... is {noun} in every one.",
                f"Open every .{ext} file in {place} and {deed} its {key}= line.",
                f"Treat all .{ext} files in {place} alike: {deed} the line setting {key}, change no other.",
                f"Visit {place}/*.{ext} one by one and {deed} the {key} line of each.",
                f"If a line in one of the files {place}/*.{ext} begins with {key}=, {deed} it.",
                f"The lines in {place}/*.{ext} stay, except that of {key}, which gets {noun}.",
                f"To stop the use of {key} in {place}, {deed} the line that sets it in each .{ext} file there.",
                f"Afterwards {key} must be {noun} in all .{ext} files of {place}, with their other lines as before.",
            ]
        ),
        solution=[f"sed -i '{script}' {place}/*.{ext}"],
        after=[
            fixture(path, text_of([lines[0], *([f"#{line}"] if comment else []), lines[1]]))
            for path, lines in texts.items()
        ],
    )


SHAPES: dict[str, list[Shape]] = {
    "trim_config": [
        _delete_setting,
        _comment_out,
        _delete_comments,
        _save_without_comments,
        _delete_empty_lines,
        _delete_section,
        _trim_all,
    ],
}
