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
        others=[
            f"how to translate {shown(path)} to {which} case letters with tr and keep it in {shown(out)}",
            f"Copy {shown(path)} to {shown(out)} and turn all letters of the copy to {which} case.",
            f"{shown(out)} should have the text of {shown(path)} in {which} case letters, without other changes.",
            f"I want a {which} case version of the file {shown(path)}, stored in {shown(out)}.",
            f"Take the text of {shown(path)}, change every letter to {which} case and save the result as {shown(out)}.",
            f"Convert {shown(path)} to {which} case; the converted text goes to the new file {shown(out)}.",
            f"All letters of {shown(path)} must be in {which} case in {shown(out)}; nothing else is different.",
            f"How would {shown(path)} read in {which} case only? Put that text into {shown(out)}.",
            f"Bring the letters from {shown(path)} into {which} case on the way to {shown(out)}; {shown(path)} itself "
            "is not edited.",
            f"Into {shown(out)} goes all that {shown(path)} says, letter by letter in {which} case.",
            f"Rewrite the text of {shown(path)} with {which} case letters alone, and record it in {shown(out)}, not in "
            f"{shown(path)}.",
            f"From {shown(path)}, make {shown(out)}: the same text, with its letters all set in {which} case.",
            f"Write what is in {shown(path)} to a new file {shown(out)}, in {which} case letters from beginning to "
            "end.",
            f"Save a {which} case copy of {shown(path)} as {shown(out)}.",
            f"Duplicate {shown(path)} as {shown(out)}, with its letters changed to {which} case.",
            f"Produce {shown(out)} by setting all text of {shown(path)} in {which} case.",
            f"Print {shown(path)} in {which} case to {shown(out)}.",
            f"Without a change to {shown(path)}, render its text in {which} case; {shown(out)} is the new file.",
            f"Export the content of {shown(path)} to {shown(out)}, every letter being made {which} case.",
            f"The file {shown(out)} has to be {shown(path)} in {which} case throughout, identical in all else.",
            f"Read {shown(path)}, make each letter {which} case, and send the text to {shown(out)}.",
            f"Whatever case a letter has in {shown(path)}, it is {which} case in the copy {shown(out)}.",
            f"Transform all letters from {shown(path)} to {which} case. Output file: {shown(out)}.",
            f"Can the text of {shown(path)}, put in {which} case, be stored as {shown(out)}?",
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
        names,
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
            f"how to rewrite {shown(path)} using {which} case, by way of a temporary file",
            f"Convert the file {shown(path)} to {which} case in place.",
            f"{shown(path)} should have nothing but {which} case letters; write the result back to it.",
            f"I want the text of {shown(path)} in {which} case, stored in the same file.",
            f"Make every letter in {shown(path)} {which} case and leave the file name.",
            f"Replace the content of {shown(path)} by the same text in {which} case.",
            f"The letters in {shown(path)} are of mixed case. Overwrite the file so that all of them are {which} case.",
            f"Edit {shown(path)} itself: all its letters turn to {which} case.",
            f"Set the whole text of {shown(path)} in {which} case and save it back under the same name.",
            f"Turn the letters in {shown(path)} to {which} case, one and all, and leave no other file behind.",
            f"Rewrite {shown(path)} so that it is the same text in {which} case letters.",
            f"Only {which} case letters may be left in {shown(path)}: change the others to that case and overwrite the "
            "file.",
            f"In {shown(path)}, put every single letter into {which} case; the file keeps its name.",
            f"Transform {shown(path)} to {which} case throughout, in place.",
            f"Overwrite {shown(path)} with a {which} case version of its own text.",
            f"Update the file {shown(path)}: every letter becomes {which} case.",
            f"All letters in {shown(path)} are to be made {which} case. Save under the same name.",
            f"Switch the whole content of {shown(path)} to {which} case; do not leave a second file.",
            f"Modify {shown(path)} directly so that each of its letters is {which} case.",
            f"After this, {shown(path)} must say the same as before, in {which} case letters throughout.",
            f"Render what {shown(path)} says in {which} case and put that in place of the old text.",
            f"Whatever is not {which} case among the letters of {shown(path)} has to become so, in the same file.",
            f"Can {shown(path)} itself be changed to {which} case, from its first letter to its last?",
            f"Correct the case of the text in {shown(path)}: {which} everywhere (same file, same name).",
        ],
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
        others=[
            f"how to exchange the {old_name} for {new_name} across {shown(path)} giving {shown(out)}",
            f"Take the text of {shown(path)}, set {new_name} in place of every {old_name}, and store it in "
            f"{shown(out)}.",
            f"{shown(out)} should have the text of {shown(path)} with {new_name} where {shown(path)} has a {old_name}.",
            f"I want every {old_name} of {shown(path)} changed to {new_name} in a new file {shown(out)}.",
            f"Copy {shown(path)} to {shown(out)}; in the copy, {new_name} stands for each {old_name}.",
            f"Change each {old_name} in the file {shown(path)} to {new_name}, but save the changed text as "
            f"{shown(out)} and leave {shown(path)} alone.",
            f"Convert {shown(path)}: {new_name} instead of a {old_name}, everywhere. The converted text goes to "
            f"{shown(out)}.",
            f"Where {shown(path)} has a {old_name}, {shown(out)} must have {new_name}; all other characters are the "
            "same.",
            f"Exchange every {old_name} for {new_name} on the way from {shown(path)} to {shown(out)}, and do not edit "
            f"{shown(path)}.",
            f"In {shown(out)}, save the text of {shown(path)}, but with each {old_name} made {new_name}.",
            f"Rewrite {shown(path)} with {new_name} for each {old_name}, but save it to {shown(out)} and not in place.",
            f"Put {new_name} wherever the text of {shown(path)} has a {old_name}; print the outcome to {shown(out)}.",
            f"From {shown(path)}, make a copy {shown(out)}. Any {old_name} is changed to {new_name} there, and nothing "
            "else.",
            f"Replace every {old_name} of {shown(path)} by {new_name}, writing the text to {shown(out)}.",
            f"Duplicate {shown(path)} as {shown(out)} with {new_name} for each {old_name}.",
            f"Save to {shown(out)} what {shown(path)} says once each {old_name} has become {new_name}.",
            f"Substitute {new_name} for any {old_name} in {shown(path)}; {shown(out)} receives the output.",
            f"Without a change to {shown(path)}, create {shown(out)}: same text, {new_name} where a {old_name} was.",
            f"Turn every {old_name} into {new_name} while you transfer the text of {shown(path)} to {shown(out)}.",
            f"Every {old_name} in {shown(path)} is {new_name} in the copy {shown(out)}; all else is identical.",
            f"Produce a file {shown(out)} that has the text of {shown(path)}, each {old_name} made {new_name}.",
            f"Swap the {old_name} for {new_name} throughout {shown(path)}. Output file: {shown(out)}.",
            f"Can {shown(path)} be saved as {shown(out)} with {new_name} instead of every {old_name}?",
            f"Export {shown(path)} to {shown(out)} ({new_name} in place of each {old_name}, no other change).",
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
        what, otherwise = f"without any {sign_name}", f"with all {sign_name} deleted"
        option, result = "-d", text.replace(sign, "")
    else:
        text = text_of((sign * names.number(2, 4)).join(row) for row in rows)
        what, otherwise = (
            f"with each run of {sign_name} squeezed to one",
            f"with {sign_name} in a row made a single one",
        )
        option, result = "-s", text_of(sign.join(row) for row in rows)
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
        others=[
            f"how to get {shown(out)} from {shown(path)} {otherwise} by means of tr",
            f"Copy {shown(path)} to {shown(out)}, {otherwise}.",
            f"{shown(out)} should have the text of {shown(path)} {otherwise}, while {shown(path)} is left alone.",
            f"I want the lines of {shown(path)} {otherwise} in a new file {shown(out)}.",
            f"Take {shown(path)} and store it {otherwise} in {shown(out)}.",
            f"Make a version of the file {shown(path)} {otherwise} and put it into {shown(out)}.",
            f"How would {shown(path)} look {otherwise}? Save that text as {shown(out)}.",
            f"The same text as in {shown(path)}, but {otherwise}, is to be stored in the file {shown(out)}.",
            f"Rewrite the text of {shown(path)} {otherwise} and record it in {shown(out)}, not in place.",
            f"Into {shown(out)} goes what {shown(path)} says, {otherwise}.",
            f"From {shown(path)}, make a second file {otherwise}. Its name is {shown(out)}.",
            f"Print {shown(path)} {otherwise}, and send the output to {shown(out)}.",
            f"Write a copy of {shown(path)} to {shown(out)}, {otherwise} in the copy and nothing else changed.",
            f"Save {shown(path)} as {shown(out)}, {otherwise}.",
            f"Duplicate {shown(path)} {otherwise}; call the duplicate {shown(out)}.",
            f"Produce {shown(out)}: the text of {shown(path)}, {otherwise}.",
            f"Export the content of {shown(path)} to {shown(out)} {otherwise}, and leave the source as it is.",
            f"Read {shown(path)} and output it {otherwise}. The output file is {shown(out)}.",
            f"Without a change to {shown(path)}, its text is written, {otherwise}, to {shown(out)}.",
            f"Transfer to {shown(out)}, {otherwise}, all the text in {shown(path)}.",
            f"Create {shown(out)} as an edited version of {shown(path)}, {otherwise} and all else the same.",
            f"A copy of {shown(path)}, {otherwise}, has to be there as {shown(out)}.",
            f"Can the text of {shown(path)} be stored as {shown(out)} {otherwise}?",
            f"Reproduce what is in {shown(path)} {otherwise} (new file: {shown(out)}; the old one stays as is).",
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
        instruction=names.wording(
            [
                f"how to loop over {home} and put {which} case versions of its files in {target}",
                f"Create the folder {target} and store there each file of {home} converted to {which} case, file "
                "names unchanged.",
                f"{target} should be a new directory with a {which} case version of every file in {home}, same names.",
                f"I want all files of {home} in {which} case in a new folder {target}; the names stay the same.",
                f"Convert the text of the files in {home} to {which} case and write them, name by name, to the new "
                f"directory {target}.",
                f"Go through the files of the folder {home}; put the text of each in {which} case into a file of this "
                f"name in {target}, which is new.",
                f"Copy the files of {home} to {target} (make that directory) and turn the letters of the copies to "
                f"{which} case.",
                f"Make a directory {target} that has the files of {home}, by the same names, with all letters {which} "
                f"case; leave {home} alone.",
                f"Set up {target}, a new directory, and reproduce in it each file of {home}, same name, with its "
                f"letters in {which} case.",
                f"Into the folder {target}, still to be made, goes the text of every file in {home}, set in {which} "
                "case; file names are kept.",
                f"Rewrite all files of {home} in {which} case, not in place but into files of the same names in the "
                f"folder {target}, which you make first.",
                f"Start a folder {target}. Then turn each text in {home} to {which} case and write it there under the "
                "name of its file.",
                f"From {home}, make a second directory {target} with the same file names, where all text is in {which} "
                "case.",
                f"Duplicate each file of {home} in {which} case under its own name in {target}, a new folder.",
                f"Export the files of {home} in {which} case to a new directory {target}, names unchanged.",
                f"Render every file in {home} in {which} case, saving it by the same name in the new folder {target}.",
                f"Add a directory {target}; fill it with {which} case copies, same names, of all files in {home}.",
                f"For every file in {home}, a {which} case version by the same name belongs in a new folder {target}.",
                f"Build {target}, a directory where the files of {home} are again, same names, in {which} case.",
                f"Produce {which} case copies of all {home} files. They keep their names, in a new folder {target}.",
                f"Without a change to {home}, save its files as {which} case text in {target} (new), names kept.",
                f"Transform each text in {home} to {which} case; output it to the same name in a new folder {target}.",
                f"Can a new folder {target} hold {which} case copies of all files in {home}, with names kept?",
                f"Mirror the folder {home} as {target}, a new one: same file names, but texts in {which} case.",
            ]
        ),
        after=[fixture(f"{target}/{name}", text) for name, text in results.items()],
    )


SHAPES: dict[str, list[Shape]] = {
    "change_case": [case_into_copy, case_in_place, swap_character, drop_character, case_of_directory],
}
