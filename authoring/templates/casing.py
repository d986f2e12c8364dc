"""Worlds in which the characters of a text are translated, in a copy or in place."""

from authoring.templates.world import Names, Shape, Unit, editing_unit, fixture, quote, saving_unit, shown, text_of


def case_into_copy(names: Names) -> Unit:
    """Upper or lower case in a new file."""
    path, out, upper = names.path("txt", names.number(0, 1)), names.file("txt"), names.number(0, 1)
    text = "".join(names.pick([line.title(), line]) for line in names.text(4, 6).splitlines(keepends=True))
    which, sets, result = ("upper", "a-z A-Z", text.upper()) if upper else ("lower", "A-Z a-z", text.lower())
    if text == result:
        text = text.swapcase()
    return saving_unit(
        names,
        [fixture(path, text)],
        out,
        result,
        asks=[
            f"Write {shown(path)} in {which} case to {shown(out)}.",
            f"Save a copy of {shown(path)} as {shown(out)} with all letters in {which} case.",
            f"{shown(out)} shall hold the text of {shown(path)}, every letter in {which} case.",
        ],
        solution=[
            names.pick(
                [
                    f"tr {sets} < {quote(path)} > {quote(out)}",
                    f"cat {quote(path)} | tr {sets} > {quote(out)}",
                ]
            )
        ],
    )


def case_in_place(names: Names) -> Unit:
    """Upper or lower case in the file itself, by way of a second file."""
    path, upper = names.path("txt", names.number(0, 1)), names.number(0, 1)
    text = text_of(line.title() for line in names.lines(names.number(4, 6)))
    which, sets, result = ("upper", "a-z A-Z", text.upper()) if upper else ("lower", "A-Z a-z", text.lower())
    return editing_unit(
        [fixture(path, text)],
        {path: result},
        names.pick(
            [
                f"Change all letters of {shown(path)} to {which} case, in the file itself.",
                f"The text in {shown(path)} has to be {which} case only; overwrite the file.",
                f"Turn {shown(path)} into {which} case and keep its name.",
            ]
        ),
        [
            f"tr {sets} < {quote(path)} > {quote(path + '.new')}",
            f"mv {quote(path + '.new')} {quote(path)}",
        ],
    )


def swap_character(names: Names) -> Unit:
    """One character for another."""
    path, out = names.path("txt", names.number(0, 1)), names.file("txt")
    old, new, old_name, new_name = names.pick(
        [
            (",", ";", "comma", "a semicolon"), (":", " ", "colon", "a space"), (" ", "_", "space", "an underscore"),
            (" ", ",", "space", "a comma"), ("-", "_", "dash", "an underscore"), (";", ":", "semicolon", "a colon"),
        ]
    )  # fmt: skip
    text = text_of(line.replace(" ", old) for line in names.lines(names.number(4, 6)))
    return saving_unit(
        names,
        [fixture(path, text)],
        out,
        text.replace(old, new),
        asks=[
            f"Replace each {old_name} in {shown(path)} by {new_name} and save the result as {shown(out)}.",
            f"Write {shown(path)} to {shown(out)} with {new_name} wherever there is a {old_name}.",
            f"{shown(out)} shall be {shown(path)} with every {old_name} turned into {new_name}.",
        ],
        solution=[f"tr '{old}' '{new}' < {quote(path)} > {quote(out)}"],
    )


def drop_character(names: Names) -> Unit:
    """All of one character removed, or runs of it squeezed."""
    path, out = names.path("txt", names.number(0, 1)), names.file("txt")
    rows = [line.split() for line in names.lines(names.number(4, 6))]
    sign, sign_name = names.pick([(",", "commas"), ("#", "hash signs"), ("*", "stars"), ("-", "dashes")])
    if names.number(0, 1):
        text = text_of(f"{sign} ".join(row) for row in rows)
        what, option, result = f"without any {sign_name}", "-d", text.replace(sign, "")
    else:
        text = text_of((sign * names.number(2, 4)).join(row) for row in rows)
        what, option = f"with each run of {sign_name} squeezed to one", "-s"
        result = text_of(sign.join(row) for row in rows)
    return saving_unit(
        names,
        [fixture(path, text)],
        out,
        result,
        asks=[
            f"Save {shown(path)} {what} as {shown(out)}.",
            f"Write the text of {shown(path)} to {shown(out)}, {what}.",
            f"{shown(out)} needs the content of {shown(path)} {what}.",
        ],
        solution=[f"tr {option} '{sign}' < {quote(path)} > {quote(out)}"],
    )


def case_of_directory(names: Names) -> Unit:
    """Every file of a directory, translated into a file of the same name in another directory."""
    home, target, upper = names.directory(), names.directory(), names.number(0, 1)
    which, sets = ("upper", "a-z A-Z") if upper else ("lower", "A-Z a-z")
    texts = {
        names.file("txt", plain=True): text_of(line.title() for line in names.lines(names.number(3, 4)))
        for _ in range(names.number(2, 3))
    }
    results = {name: text.upper() if upper else text.lower() for name, text in texts.items()}
    return Unit(
        fixtures=[fixture(f"{home}/{name}", text) for name, text in texts.items()],
        directive=names.pick(
            [
                f"Make {target} and write every file of {home} into it in {which} case, under the same name.",
                f"The files of {home} are wanted in {which} case: same names, in a new directory {target}.",
                f"For each file of {home}, save a version in {which} case in the new directory {target}.",
            ]
        ),
        solution=[
            f"mkdir {target}",
            names.pick(
                [
                    f"for f in {home}/*; do tr {sets} < $f > {target}/${{f##*/}}; done",
                    f"for f in {home}/*; do tr {sets} < $f > {target}/$(basename $f); done",
                ]
            ),
        ],
        after=[fixture(f"{target}/{name}", text) for name, text in results.items()],
    )


SHAPES: dict[str, list[Shape]] = {
    "change_case": [case_into_copy, case_in_place, swap_character, drop_character, case_of_directory],
}
