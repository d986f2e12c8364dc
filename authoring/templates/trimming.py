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
