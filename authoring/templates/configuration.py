"""Worlds of the archetype that sets values in a configuration file.

A key is one word, or two joined by an underscore. No key begins like another one, so a short sed pattern matches its
line alone.
"""

from collections.abc import Sequence

from authoring.templates.world import Names, Shape, Unit, fixture, quote, shown, text_of

VALUES: tuple[tuple[str, ...], ...] = (
    ("on", "off", "auto"),
    ("yes", "no", "never"),
    ("debug", "info", "warn", "error"),
    ("low", "medium", "high"),
    ("daily", "weekly", "monthly"),
)


def fresh_keys(names: Names, count: int) -> list[str]:
    """`count` fresh keys."""
    return [
        names.pick([names.word(), f"{names.word()}_{names.pick(['size', 'port', 'mode', 'level', 'path'])}"])
        for _ in range(count)
    ]


def two_values(names: Names) -> tuple[str, str]:
    """A value and another one of the same kind."""
    if names.rng.random() < 0.5:
        low, high = names.numbers(2, 2, 9999)
        return str(low), str(high)
    one, two = names.rng.sample(names.pick(VALUES), 2)
    return one, two


def some_settings(names: Names, keys: Sequence[str]) -> dict[str, str]:
    """A value for each key."""
    return {key: two_values(names)[0] for key in keys}


def setting_lines(settings: dict[str, str], separator: str = "=") -> list[str]:
    """The settings as lines of a configuration file."""
    return [f"{key}{separator}{value}" for key, value in settings.items()]


def config_path(names: Names) -> str:
    """A fresh path of a configuration file."""
    return names.path(names.pick(["conf", "cfg", "ini", "env"]), names.number(0, 1))


def _set_value(names: Names) -> Unit:
    path, keys = config_path(names), fresh_keys(names, names.number(3, 5))
    separator = names.pick(["=", "=", ": ", " = "])
    old, new = two_values(names)
    settings = some_settings(names, keys)
    key = names.pick(keys)
    settings[key] = old
    s = shown(path)
    return Unit(
        fixtures=[fixture(path, text_of(setting_lines(settings, separator)))],
        directive=names.pick(
            [
                f"In {s} change the line '{key}{separator}{old}' to '{key}{separator}{new}'.",
                f"Set {key} in {s} to {new}: the line must read '{key}{separator}{new}'.",
                f"The setting {key} of {s} gets the value {new}, written '{key}{separator}{new}'.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want '{key}{separator}{new}' in {s} where {key} has another value now.",
                f"{s} should say '{key}{separator}{new}' for the key it already has.",
                f"Replace the value of {key} in {s} so that its line is '{key}{separator}{new}'.",
                f"Could you change {key} to {new} in the file {s}? Keep the form '{key}{separator}{new}'.",
                f"The file {s} has {key} at {old}. It should be {new}, as in '{key}{separator}{new}'.",
                f"In {s} there is a line for {key}; its new value is {new}, so write '{key}{separator}{new}'.",
                f"Edit {s}: the {key} line must say '{key}{separator}{new}', not '{key}{separator}{old}'.",
                f"{key} must have the value {new} in {s}; the new line is '{key}{separator}{new}'.",
                f"Update {key} in {s}: from '{key}{separator}{old}' to '{key}{separator}{new}'.",
                f"Put {new} in place of {old} as the value of {key} in {s}, in the form '{key}{separator}{new}'.",
                f"Find the line '{key}{separator}{old}' in {s} and rewrite it as '{key}{separator}{new}'.",
                f"Every line of {s} stays, except that '{key}{separator}{old}' turns into '{key}{separator}{new}'.",
                f"Swap '{key}{separator}{old}' for '{key}{separator}{new}' in the configuration file {s}.",
                f"Of the settings in {s}, give {key} the value {new}. Its line then says '{key}{separator}{new}'.",
                f"Change the line '{key}{separator}{old}' of {s} to '{key}{separator}{new}'.",
                f"Set {key} to {new} in {s}, so that the line reads '{key}{separator}{new}'.",
                f"Adjust {s}: where {key} is now {old}, the line becomes '{key}{separator}{new}'.",
                f"Alter just one setting of {s}, namely {key}, so as to get '{key}{separator}{new}'.",
                f"Assign {key} the new value {new} in {s} (written '{key}{separator}{new}'); the other lines stay.",
                f"Overwrite the present {key} line of {s} with '{key}{separator}{new}'.",
                f"Switch {key} in {s} from {old} over to {new}. The line is then '{key}{separator}{new}'.",
                f"Instead of '{key}{separator}{old}', the file {s} is to have '{key}{separator}{new}'.",
                f"The value {old} of {key} in {s} is wrong; correct the line to '{key}{separator}{new}'.",
                f"If a line in {s} sets {key}, it must now be '{key}{separator}{new}'.",
                f"For {key}, the one line in {s} has to be '{key}{separator}{new}', no longer '{key}{separator}{old}'.",
            ]
        ),
        solution=[f"sed -i 's/^{key}{separator}.*/{key}{separator}{new}/' {quote(path)}"],
        after=[fixture(path, text_of(setting_lines({**settings, key: new}, separator)))],
    )


def _add_setting(names: Names) -> Unit:
    path, keys = config_path(names), fresh_keys(names, names.number(3, 5))
    settings = some_settings(names, keys[1:])
    line = f"{keys[0]}={two_values(names)[0]}"
    s = shown(path)
    return Unit(
        fixtures=[fixture(path, text_of(setting_lines(settings)))],
        directive=names.pick(
            [
                f"Add the line '{line}' at the end of {s}.",
                f"{s} lacks a setting: append '{line}'.",
                f"Put one more line, '{line}', below the others in {s}.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want {s} to end with '{line}'.",
                f"'{line}' should be the last line of {s}.",
                f"Append '{line}' to the file {s}.",
                f"The file {s} needs another setting, '{line}', after all the lines that it has.",
                f"Could you add '{line}' to {s}? It belongs on a line of its own at the end.",
                f"After the last line of {s} write one more: '{line}'.",
                f"Extend {s} by the setting '{line}' at its end and leave the rest as it is.",
                f"'{line}' is missing from {s}; add it as the last line.",
                f"Write '{line}' as a new last line into {s}.",
                f"To the settings in {s} add one more, '{line}', behind all those already there.",
                f"Leave what {s} says and put '{line}' after it, as its closing line.",
                f"One setting has yet to be added to {s}. Its line is '{line}', and it comes last.",
                f"Insert '{line}' into {s} after the final line.",
                f"Place '{line}' on a fresh line at the bottom of {s}.",
                f"Enter '{line}' below everything else in {s}.",
                f"Supplement {s} with '{line}', which becomes the last line; the present ones are kept.",
                f"Tack '{line}' onto the end of {s}, on its own line.",
                f"'{line}' has to stand underneath all present lines of {s}.",
                f"Without altering any line of {s}, attach '{line}' to its end as a separate line.",
                f"Let {s} grow by one line at the bottom, which reads '{line}'.",
                f"So far {s} does not set this: '{line}'. Include it, after all other lines.",
                f"Complete {s} with one closing line: '{line}'.",
                f"When you are finished, {s} has its old lines in front and '{line}' at the very end.",
                f"Register a further setting at the foot of {s}, namely '{line}'.",
            ]
        ),
        solution=[f"echo '{line}' >> {quote(path)}"],
        after=[fixture(path, text_of([*setting_lines(settings), line]))],
    )


def _change_and_add(names: Names) -> Unit:
    path, keys = config_path(names), fresh_keys(names, names.number(4, 5))
    key, added = keys[0], keys[-1]
    settings = some_settings(names, names.rng.sample(keys[:-1], len(keys) - 1))
    settings[key], new = two_values(names)
    line = f"{added}={two_values(names)[0]}"
    s = shown(path)
    return Unit(
        fixtures=[fixture(path, text_of(setting_lines(settings)))],
        directive=names.pick(
            [
                f"Set {key} in {s} to {new} and append the line '{line}'.",
                f"Two edits of {s}: the value of {key} becomes {new}, and '{line}' is added at the end.",
                f"Change {key} to {new} in {s}, then add '{line}' as its last line.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want {s} to say {key}={new}, with '{line}' at its end as a new setting.",
                f"{s} should have {key} at {new} and close with '{line}'.",
                f"In {s} change the value of {key} to {new}; after the last line, add '{line}'.",
                f"Edit {s} twice: first {key} gets the value {new}, second '{line}' goes below all other lines.",
                f"Could you put {key} to {new} in the file {s} and write '{line}' at its end?",
                f"The {key} line of {s} should read {key}={new}, and behind the last line comes another: '{line}'.",
                f"Append '{line}' to {s}, where moreover the value of {key} has to become {new}.",
                f"Update {s}: {key}={new} in place of the old value, and the new setting '{line}' at the end.",
                f"Give {key} the value {new} in {s} and write the new line '{line}' after all the others.",
                f"Into {s} go two changes: the line of {key} turns into '{key}={new}', and a last line '{line}' is"
                " added.",
                f"Rewrite the {key} line of {s} as {key}={new}. Then let '{line}' follow the last line of the file.",
                f"Replace what {key} has as its value in {s} by {new}, and put '{line}' at the bottom of the same"
                " file.",
                f"Add '{line}' as the bottom line of {s} and turn the value of {key} there into {new}.",
                f"Set {key} to {new} within {s}, then append '{line}' there.",
                f"Modify the existing {key} line of {s} to {key}={new} and finish the file with '{line}'.",
                f"Adjust {s}: {key} takes the value {new}, and '{line}' comes in as an extra final line.",
                f"Attach '{line}' to the end of {s}; also swap the present value of {key} for {new}.",
                f"Once {key} has been switched to {new} in {s}, tack '{line}' onto its end.",
                f"{key} is out of date in {s} and must be {new}; '{line}' is missing and goes last.",
                f"Assign {new} to {key} in {s}. Supplement the file with one more line at the bottom, '{line}'.",
                f"Bring {s} up to date ({key}={new} where {key} is set, '{line}' as additional last line).",
                f"Two edits are due in {s}: {key} is changed to {new}, and '{line}' is appended.",
                f"Revise {key} in {s} so that it equals {new}, and enter '{line}' underneath the last line.",
                f"Exchange the value of {key} for {new} in {s} and complete that file with the line '{line}'.",
            ]
        ),
        solution=[f"sed -i 's/^{key}=.*/{key}={new}/' {quote(path)}", f"echo '{line}' >> {quote(path)}"],
        after=[fixture(path, text_of([*setting_lines({**settings, key: new}), line]))],
    )


def _set_two(names: Names) -> Unit:
    path, keys = config_path(names), fresh_keys(names, names.number(3, 5))
    settings = some_settings(names, keys)
    first, second = names.rng.sample(keys, 2)
    (settings[first], one), (settings[second], two) = two_values(names), two_values(names)
    s = shown(path)
    return Unit(
        fixtures=[fixture(path, text_of(setting_lines(settings)))],
        directive=names.pick(
            [
                f"In {s} set {first} to {one} and {second} to {two}.",
                f"Two values of {s} change: {first} becomes {one}, {second} becomes {two}.",
                f"Edit {s} so that it reads {first}={one} and {second}={two}, each in its place.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want {first} at {one} and {second} at {two} in {s}.",
                f"{s} should have the values {one} for {first} and {two} for {second}.",
                f"Change two settings in {s}: {first} must be {one} and {second} must be {two}.",
                f"Could you give {first} the value {one} and {second} the value {two} in {s}?",
                f"The file {s} should read {first}={one} and {second}={two}; no other line changes.",
                f"Update {s}, where {first} is to be {one} from now on, and {second} is to be {two}.",
                f"Replace the values of {first} and {second} in {s} by {one} and {two}, in this order.",
                f"Edit the lines of {first} and {second} in {s} so that they say {first}={one} and {second}={two}.",
                f"Give two settings of {s} other values: {one} for {first}, {two} for {second}.",
                f"Turn the {first} line of {s} into {first}={one} and the {second} line into {second}={two}.",
                f"Two lines of {s} get rewritten, namely that of {first} as {first}={one} and that of {second} as"
                f" {second}={two}.",
                f"Put {one} behind {first}= and {two} behind {second}= in the file {s}.",
                f"For {first} write {one} and for {second} write {two} as the values in {s}; leave all other lines"
                " alone.",
                f"Set two values in {s}: that of {first} to {one}, that of {second} to {two}.",
                f"Modify {s} in two places: {first}={one}, {second}={two}.",
                f"Assign {one} to {first}, and {two} to {second}, in the settings of {s}.",
                f"Adjust both {first} (to {one}) and {second} (to {two}) in the file {s}.",
                f"In {s} the setting {first} now needs {one} as its value, while {second} needs {two}.",
                f"Swap the present value of {first} in {s} for {one}; likewise that of {second} for {two}.",
                f"Enter {one} as the value of {first} in {s}. Do the same for {second} with {two}.",
                f"{first} and {second} are wrong in {s}: the former has to be {one}, the latter {two}.",
                f"Bring {s} to the state where {first} equals {one}, {second} equals {two}, and the rest is as before.",
                f"Can {first} be switched to {one} and {second} to {two} in {s}, with the other lines kept?",
                f"Revise {s} so that {first} has {one} and {second} has {two} after its equals sign.",
            ]
        ),
        solution=[
            f"sed -i 's/^{first}=.*/{first}={one}/' {quote(path)}",
            f"sed -i 's/^{second}=.*/{second}={two}/' {quote(path)}",
        ],
        after=[fixture(path, text_of(setting_lines({**settings, first: one, second: two})))],
    )


def _set_in_section(names: Names) -> Unit:
    path, (key, other) = names.path("ini", names.number(0, 1)), fresh_keys(names, 2)
    sections = names.words(names.number(2, 3))
    chosen = names.pick(sections)
    old, new = two_values(names)
    texts = {section: [f"[{section}]", f"{key}={old}", f"{other}={names.number(1, 99)}"] for section in sections}
    before = [line for lines in texts.values() for line in lines]
    texts[chosen][1] = f"{key}={new}"
    s = shown(path)
    return Unit(
        fixtures=[fixture(path, text_of(before))],
        directive=names.pick(
            [
                f"In the section [{chosen}] of {s} set {key} to {new}; the other sections keep their {key}.",
                f"Set {key}={new} in {s}, but only below [{chosen}].",
                f"Change {key} to {new} in just one section of {s}, the one headed [{chosen}].",
            ]
        ),
        instruction=names.wording(
            [
                f"I want {key} to be {new} under [{chosen}] in {s} and unchanged elsewhere.",
                f"The section [{chosen}] of {s} should say {key}={new}, no other section.",
                f"Edit {s}: below the head [{chosen}] the value of {key} becomes {new}; all else stays.",
                f"Could you change {key} to {new} in the [{chosen}] section of {s} and leave the {key} of the others?",
                f"The file {s} has {key} in each section. In [{chosen}], and only there, it must be {new}.",
                f"For the section [{chosen}] alone, replace the value of {key} in {s} by {new}.",
                f"Under [{chosen}] in {s} write {key}={new} in place of {key}={old}; leave other sections alone.",
                f"{key} should get the value {new} within [{chosen}] of the file {s}; other sections stay the same.",
                f"Look for the head [{chosen}] in {s} and turn the {key} line below it into {key}={new}; touch no other"
                " section.",
                f"Only the section [{chosen}] of {s} gets a new value for {key}, which is {new}.",
                f"Rewrite {key}={old} as {key}={new} where {s} has the section [{chosen}], and nowhere else.",
                f"Give {key} the value {new} in [{chosen}], a section of {s}, and leave {key} as it was in the rest of"
                " the file.",
                f"Out of all the {key} lines in {s}, change the one that belongs to [{chosen}] so that it reads"
                f" {key}={new}.",
                f"Set {key} to {new} in the [{chosen}] part of {s}; do not touch other sections.",
                f"Modify one line of {s}: the {key} that stands in section [{chosen}] is to be {new}.",
                f"Adjust {key} for [{chosen}] in {s} from {old} to {new}, keeping all the other sections.",
                f"In {s}, {key}={old} is wrong below [{chosen}]; make it {key}={new} there alone.",
                f"Swap {old} for {new} as the value of {key} in {s}, but solely within [{chosen}].",
                f"Assign {new} to {key} inside the [{chosen}] block of {s} and nowhere else.",
                f"All sections of {s} keep their {key}, except [{chosen}], where it becomes {new}.",
                f"Update {s} so that [{chosen}] has {key}={new}. The same key in another section stays at its value.",
                f"Locate section [{chosen}] in {s}, enter {new} as its {key}, and spare the remaining sections.",
                f"If a {key} line of {s} belongs to [{chosen}], it has to say {key}={new}; any other one is kept.",
                f"Switch the {key} of [{chosen}] over to {new} in the file {s} (that section only).",
            ]
        ),
        solution=[rf"sed -i '/^\[{chosen}\]/,/^\[/ s/^{key}=.*/{key}={new}/' {quote(path)}"],
        after=[fixture(path, text_of(line for lines in texts.values() for line in lines))],
    )


def _uncomment(names: Names) -> Unit:
    path, keys = config_path(names), fresh_keys(names, names.number(3, 5))
    lines = setting_lines(some_settings(names, keys))
    index = names.number(0, len(lines) - 1)
    key = keys[index]
    old, new = two_values(names)
    value = names.pick([old, new])
    before, wanted = [*lines], [*lines]
    before[index], wanted[index] = f"#{key}={old}", f"{key}={value}"
    s = shown(path)
    keep = value == old
    solution = f"s/^#{key}=/{key}=/" if keep else f"s/^#{key}=.*/{key}={new}/"
    to = "and leave its value" if keep else f"and set it to {value}"
    return Unit(
        fixtures=[fixture(path, text_of(before))],
        directive=names.pick(
            [
                f"The setting {key} in {s} is commented out with #. Uncomment it {to}.",
                f"Take the # away from the {key} line of {s} {to}.",
                f"Make the commented setting {key} of {s} active again {to}.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want '{key}={value}' as a live line in {s}, not '#{key}={old}'.",
                f"{s} should have {key}={value} in force, which is behind a # now.",
                f"In {s} the line '#{key}={old}' must become '{key}={value}'.",
                f"Enable the setting {key} in {s}: remove the leading # {to}.",
                f"Could you uncomment {key} in the file {s} {to}?",
                f"Replace '#{key}={old}' in {s} by the active line '{key}={value}'.",
                f"Edit {s} so that {key} is no comment any more but reads '{key}={value}'.",
                f"The line of {key} in {s} begins with #; delete this # {to}.",
                f"Turn the comment '#{key}={old}' of {s} into the setting '{key}={value}'.",
                f"Activate the setting {key} in {s}: drop its # {to}.",
                f"Find '#{key}={old}' in {s} and write '{key}={value}' instead of it.",
                f"Let {key} count again in {s}: its line loses the # that it begins with and says '{key}={value}'.",
                f"Out of the dead line '#{key}={old}' in {s} make the active line '{key}={value}'.",
                f"Uncomment the {key} line of {s}, which then has to read '{key}={value}'.",
                f"Strip the # from the front of the {key} line in {s} {to}.",
                f"Switch {key} on in {s}: '#{key}={old}' gives way to '{key}={value}'.",
                f"Bring {key} into effect in the file {s}; its line is '{key}={value}' afterwards, without a #.",
                f"Swap the comment '#{key}={old}' in {s} for a working '{key}={value}'.",
                f"Take the # off '#{key}={old}' in {s} {to}.",
                f"At present {s} has {key} commented out. Its line has to be '{key}={value}', with no # before it.",
                f"Make {key} active in {s} (so far it is '#{key}={old}') with the line '{key}={value}'.",
                f"Instead of the inactive '#{key}={old}', {s} is to have '{key}={value}'.",
                f"Clear away the # that disables {key} in {s} {to}.",
                f"Revive the setting {key}, commented out in {s}, as '{key}={value}'.",
            ]
        ),
        solution=[f"sed -i '{solution}' {quote(path)}"],
        after=[fixture(path, text_of(wanted))],
    )


def _set_in_all(names: Names) -> Unit:
    place, key, ext = names.directory(), fresh_keys(names, 1)[0], names.pick(["conf", "cfg", "env"])
    old, new = two_values(names)
    texts = {
        f"{place}/{names.file(ext)}": setting_lines(some_settings(names, fresh_keys(names, 2)))
        for _ in range(names.number(2, 3))
    }
    at = names.number(0, 2)

    def with_value(value: str) -> list[tuple[str, str]]:
        return [(path, text_of([*lines[:at], f"{key}={value}", *lines[at:]])) for path, lines in texts.items()]

    return Unit(
        fixtures=[fixture(*item) for item in with_value(old)],
        directive=names.pick(
            [
                f"Set {key} to {new} in every .{ext} file of {place}.",
                f"In all {place}/*.{ext} files the value of {key} becomes {new}.",
                f"Change {key} from {old} to {new} throughout the .{ext} files in {place}.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want {key}={new} in each of the .{ext} files below {place}.",
                f"Every .{ext} file in {place} should give {key} the value {new}.",
                f"Replace the value of {key} by {new} in all .{ext} files of the folder {place}.",
                f"Could you change {key}={old} to {key}={new} in each file that matches {place}/*.{ext}?",
                f"The .{ext} files in the directory {place} have {key} at {old}; it must be {new} in all of them.",
                f"Edit {place}/*.{ext} so that the {key} line of each file reads {key}={new}.",
                f"{key} should be {new} in every file in {place} with the extension .{ext}.",
                f"Go through the folder {place} and update {key} to {new} in its .{ext} files.",
                f"Write {key}={new} in place of {key}={old} in each .{ext} file that {place} has.",
                f"Look into all .{ext} files in the folder {place} and turn {key}={old} into {key}={new}.",
                f"All files {place}/*.{ext} get the same new value for {key}, namely {new}.",
                f"Wherever a .{ext} file in {place} sets {key}, enter {new} as its value.",
                f"For each .{ext} file in the directory {place}, rewrite its {key} line as {key}={new}.",
                f"Set {key} to {new} in all files of {place} that end in .{ext}.",
                f"Modify every .{ext} file in the directory {place}: {key} has to equal {new}.",
                f"Assign {new} to {key} throughout {place}/*.{ext}.",
                f"Switch {key} over from {old} to {new} in whatever .{ext} files the folder {place} holds.",
                f"No .{ext} file in {place} may keep {key}={old}; the line is {key}={new} from now on.",
                f"Adjust the {key} setting, now {old}, to {new} across the .{ext} files in {place}.",
                f"Swap {key}={old} for {key}={new} in each one of {place}/*.{ext}.",
                f"In {place}, {key} is still {old}. Bring it to {new} in every file with the ending .{ext}.",
                f"If a file in the folder {place} ends in .{ext}, its {key} must become {new}.",
                f"Revise all of {place}/*.{ext} so that they set {key} to {new} and are otherwise the same.",
                f"Exchange the value that {key} has in the .{ext} files of {place} for {new}.",
            ]
        ),
        solution=[f"sed -i 's/^{key}=.*/{key}={new}/' {place}/*.{ext}"],
        after=[fixture(*item) for item in with_value(new)],
    )


def _export_variable(names: Names) -> Unit:
    path = names.path(names.pick(["env", "sh"]), names.number(0, 1))
    variables = [word.upper() for word in names.words(names.number(2, 4))]
    values = names.filler(len(variables))
    index, new = names.number(0, len(variables) - 1), names.word()
    lines = [f"export {name}={value}" for name, value in zip(variables, values, strict=True)]
    wanted, name = [*lines], variables[index]
    wanted[index] = f"export {name}={new}"
    s = shown(path)
    return Unit(
        fixtures=[fixture(path, text_of(lines))],
        directive=names.pick(
            [
                f"In {s} the exported variable {name} gets the value {new}.",
                f"Change the export of {name} in {s} so that its value is {new}.",
                f"Edit the line 'export {name}=...' of {s}: the value must be {new}.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want {s} to export {name} as {new}.",
                f"{s} should say 'export {name}={new}' instead of what it says.",
                f"Give the variable {name} in {s} the new value {new}; its line still begins with export.",
                f"Could you change the value that {s} exports for {name} to {new}?",
                f"Replace the value of {name} in {s}, so that the line reads 'export {name}={new}'.",
                f"The file {s} exports several variables. {name} should have the value {new}.",
                f"Update {name} to {new} in the exports of {s} and leave the other variables.",
                f"In {s} there is an export of {name}; write {new} behind its equals sign.",
                f"Rewrite the line of {s} that exports {name} as 'export {name}={new}'.",
                f"Put {new} behind 'export {name}=' in {s}, in place of what stands there.",
                f"Make {s} export {name} with the value {new}, and leave its other exports alone.",
                f"Among the exports in {s}, turn that of {name} into 'export {name}={new}'.",
                f"Exchange the old value of {name} for {new} in {s}; the word export stays in front.",
                f"Set the exported variable {name} to {new} in {s}.",
                f"Modify {s} so that its export of {name} has the value {new}.",
                f"Assign {new} to {name} in the file {s}, keeping export at the start of that line.",
                f"Swap the value in the 'export {name}=' line of {s} for {new}.",
                f"{name}, which {s} exports, is to be {new} from now on; the other variables stay.",
                f"Adjust one export in {s}: the line of {name} becomes 'export {name}={new}'.",
                f"Switch {name} over to {new} in {s}, where it is exported. All other lines are kept.",
                f"The value exported for {name} by {s} is wrong and has to be {new}.",
                f"Edit the file {s} (export line of {name}) until it says 'export {name}={new}'.",
                f"Where {s} exports {name}, enter {new} as the value instead of the present one.",
                f"Bring the {name} export in {s} to 'export {name}={new}', with no change to the rest.",
            ]
        ),
        solution=[f"sed -i 's/^export {name}=.*/export {name}={new}/' {quote(path)}"],
        after=[fixture(path, text_of(wanted))],
    )


SHAPES: dict[str, list[Shape]] = {
    "set_config": [
        _set_value,
        _add_setting,
        _change_and_add,
        _set_two,
        _set_in_section,
        _uncomment,
        _set_in_all,
        _export_variable,
    ],
}
