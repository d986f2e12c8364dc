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
        solution=[f"sed -i 's/^export {name}=.*/export {name}={new}/' {quote(path)}"],
        after=[fixture(path, text_of(wanted))],
    )


def _add_two(names: Names) -> Unit:
    path, keys = config_path(names), fresh_keys(names, 5)
    settings = some_settings(names, keys)
    lines = setting_lines(settings)
    one, two = lines[3:]
    s = shown(path)
    return Unit(
        fixtures=[fixture(path, text_of(lines[:3]))],
        directive=names.pick(
            [
                f"Append two lines to {s}, first '{one}', then '{two}'.",
                f"Add the settings '{one}' and '{two}' at the end of {s}, a line each.",
                f"Below the other settings of {s} come two more lines: '{one}' and '{two}'.",
            ]
        ),
        solution=[f"printf '{one}\\n{two}\\n' >> {quote(path)}"],
        after=[fixture(path, text_of(lines))],
    )


SHAPES: dict[str, list[Shape]] = {
    "set_config": [
        _add_two,
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
