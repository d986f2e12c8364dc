"""Shape the link archetypes: make symbolic links, and repair those that lead to the wrong place.

    from templates.links import SHAPES

Reads   nothing
Writes  nothing
Needs   nothing

A link's target is checked as the text that the link holds; contents stay as they are.
"""

import shlex

from schema import HOME
from templates.world import Names, Shape, Unit, directory, fixture, link, listed, shown


def _link_beside(names: Names) -> Unit:
    target, name = names.path(names.pick(["txt", "conf", "log"]), 1), names.stem(plain=True)
    t = shown(target)
    return Unit(
        fixtures=[fixture(target, names.text())],
        directive=names.pick(
            [
                f"Make a symbolic link {name} that points to {t}.",
                f"Create the symlink {name} with the target {t}.",
                f"Link {name} symbolically to {t}.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want to reach {t} through a symlink called {name}.",
                f"{name} should be a symbolic link to {t}.",
                f"Use ln -s to make {name}, a link to {t}.",
                f"Could you create a symlink called {name} for the file {t}?",
                f"We need a symbolic link with the name {name} that leads to {t}.",
                f"Let {name} be a symlink whose target is {t}.",
                f"Add a soft link {name}, pointing to {t}.",
                f"A symlink {name} is wanted, with {t} as its target.",
                f"Under the name {name}, set up a symbolic link to {t}.",
                f"Place a symlink called {name} here; its target is {t}.",
                f"Set {name} up as a symlink that leads to {t}.",
                f"For {t} build a symbolic link by the name of {name}.",
                f"Start a new symlink, {name}, whose text is {t}.",
                f"The file {t} gets a symlink, {name}, that leads to it.",
            ]
        ),
        solution=[f"ln -s {shlex.quote(target)} {name}"],
        after=[link(name, target)],
    )


def _link_upwards(names: Names) -> Unit:
    place, target, name = names.directory(), names.file("txt", plain=True), names.stem(plain=True)
    return Unit(
        fixtures=[fixture(target, names.text()), directory(place)],
        directive=names.pick(
            [
                f"In the directory {place} make a symbolic link {name} with the target ../{target}.",
                f"Create {place}/{name} as a symlink whose target is ../{target}.",
                f"Put a symbolic link {name} into {place}; it points to ../{target}.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want {place}/{name} to be a symlink reading ../{target}.",
                f"{place} should hold a symbolic link {name} to ../{target}.",
                f"Use ln -s to make {place}/{name}, a link that reads ../{target}.",
                f"Could you create a symlink {name} inside {place} that leads to ../{target}?",
                f"We need a relative symlink in {place}: it is called {name} and points to ../{target}.",
                f"Let {place}/{name} be a symbolic link to ../{target}, relative as written.",
                f"Add a soft link {name} to the folder {place}, with ../{target} as its target.",
                f"The folder {place} lacks a symlink {name}; its target has to be ../{target}.",
                f"Under the name {place}/{name}, set up a symbolic link with the text ../{target}.",
                f"Set up a symlink in {place}: name {name}, target ../{target}.",
                f"Place the symlink {name} in {place} and let it lead to ../{target}.",
                f"Into {place} goes a symlink called {name} whose text is ../{target}.",
                f"With ../{target} as its text, build the symlink {place}/{name}.",
                f"The directory {place} gets a symlink {name} that leads one level up, to ../{target}.",
            ]
        ),
        solution=[f"ln -s ../{target} {place}/{name}"],
        after=[link(f"{place}/{name}", f"../{target}")],
    )


def _absolute_link(names: Names) -> Unit:
    target, place, name = names.path("txt", names.number(0, 1), plain=True), names.directory(), names.stem(plain=True)
    made = names.rng.random() < 0.5
    words = f"Make the directory {place}. In it, create" if made else f"In {place} create"
    where, first = (f"a new directory {place}", f"; make {place} first") if made else (f"the directory {place}", "")
    return Unit(
        fixtures=[fixture(target, names.text())] + ([] if made else [directory(place)]),
        directive=names.pick(
            [
                f"{words} a symbolic link {name} to the absolute path {HOME}/{target}.",
                f"{words} the symlink {name} whose target is {HOME}/{target}, written in full.",
                f"{words} a link {name} (symbolic, absolute target {HOME}/{target}).",
            ]
        ),
        instruction=names.pick(
            [
                f"I want {place}/{name} as a symlink reading {HOME}/{target}{', in a new directory' if made else ''}.",
                f"{'A new directory ' if made else ''}{place} should hold a symlink {name} to {HOME}/{target}.",
                f"Use ln -s to make a link {name} in {where}; it reads {HOME}/{target}.",
                f"Could you create a symlink {name} in {where} that leads to {HOME}/{target}, as an absolute path?",
                f"We need a symbolic link {place}/{name} with the absolute target {HOME}/{target}{first}.",
                f"Let {place}/{name} be a symlink with {HOME}/{target} as its target{first}.",
                f"Add a soft link {name} to {where}, pointing to the full path {HOME}/{target}.",
                f"In {where}, the link {name} has to be symbolic and to point at {HOME}/{target}.",
                f"Under the name {place}/{name}, set up a symbolic link whose text is {HOME}/{target}{first}.",
                f"Set up {name} in {where}: a symlink with the absolute path {HOME}/{target} as its text.",
                f"Place a symlink called {name} in {where}, one that leads to {HOME}/{target}.",
                f"From {where} let a symlink {name} lead to {HOME}/{target}, the path in full.",
                f"Build the symlink {place}/{name}{' and its directory' if made else ''}; spell its target out in full,"
                f" {HOME}/{target}.",
                f"The full path {HOME}/{target} is what the new symlink {place}/{name} refers"
                f" to{'; its directory is new, too' if made else ''}.",
            ]
        ),
        solution=[*([f"mkdir {place}"] if made else []), f"ln -s {HOME}/{target} {place}/{name}"],
        after=[*([directory(place)] if made else []), link(f"{place}/{name}", f"{HOME}/{target}")],
    )


def _link_for_each(names: Names) -> Unit:
    place, links, ext = names.directory(), names.directory(), names.pick(["conf", "txt", "sh"])
    files = [names.file(ext) for _ in range(names.number(2, 3))]
    return Unit(
        fixtures=[directory(links), *(fixture(f"{place}/{file}", names.text(1, 3)) for file in files)],
        directive=names.pick(
            [
                f"For every .{ext} file in {place} make a symbolic link of the same name in {links}, with the target"
                f" ../{place}/ and the name.",
                f"Link each .{ext} file of {place} into {links}: symlinks of the same name, target ../{place}/NAME.",
                f"Fill {links} with symlinks to the .{ext} files of {place}; each keeps its name and has the relative"
                f" target ../{place}/NAME.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want a symlink in {links} to each .{ext} file of {place}, reading ../{place}/ plus its name.",
                f"{links} should hold relative symlinks, ../{place}/NAME, for all .{ext} files in {place}.",
                f"Use ln -s in a loop: each {place}/NAME.{ext} gets a link {links}/NAME.{ext} that reads"
                f" ../{place}/NAME.{ext}.",
                f"Could you create a symlink in {links} for all .{ext} files of {place}, named alike and pointing"
                f" to ../{place}/NAME?",
                f"We need relative symlinks in {links}, one per .{ext} file in {place}, with that file's name and"
                f" the target ../{place}/NAME.",
                f"Let the folder {links} have a symbolic link ../{place}/NAME for whatever file NAME in {place}"
                f" ends in .{ext}.",
                f"Each .{ext} file of {place} has to be reachable in {links}, by a symlink NAME that leads to"
                f" ../{place}/NAME.",
                f"Add soft links to {links}: for all of {place}/*.{ext}, under their own names, with targets of the"
                f" form ../{place}/NAME.",
                f"In {links}, set up symlinks named like the .{ext} files in {place}; they read ../{place}/NAME.",
                f"Provide one symlink per .{ext} file of {place} in the directory {links}: NAME reads ../{place}/NAME.",
                f"Set up in {links}, for each .{ext} file that {place} has, a symlink with its name that reads"
                f" ../{place}/NAME.",
                f"Every {place}/NAME.{ext} gets a symlink in {links} that is named like it and refers to"
                f" ../{place}/NAME.{ext}.",
                f"From {links} let a symlink NAME lead to ../{place}/NAME, one for each file in {place} with the"
                f" extension .{ext}.",
                f"Go through the .{ext} files in {place} and create {links}/NAME for each one, a symlink that reads"
                f" ../{place}/NAME.",
            ]
        ),
        solution=[
            names.pick(
                [
                    f'for f in {place}/*.{ext}; do ln -s "../$f" {links}/; done',
                    f"(cd {links} && ln -s ../{place}/*.{ext} .)",
                ]
            )
        ],
        after=[link(f"{links}/{file}", f"../{place}/{file}") for file in files],
    )


def _two_links(names: Names) -> Unit:
    new, old = names.words(2)
    versions = [names.number(2, 9) for _ in range(2)]
    base = names.word()
    first, second = f"{base}-{versions[0]}.1", f"{base}-{versions[1]}.2"
    return Unit(
        fixtures=[
            fixture(f"{first}/{names.file()}", names.text(1, 3)),
            fixture(f"{second}/{names.file()}", names.text(1, 3)),
        ],
        directive=names.pick(
            [
                f"Make two symbolic links: {new} to the directory {first} and {old} to the directory {second}.",
                f"Create the symlinks {new} (target {first}) and {old} (target {second}).",
                f"Point a new symbolic link {new} at {first} and another one, {old}, at {second}.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want {new} to lead to {first} and {old} to {second}, both as symlinks.",
                f"{new} should be a symlink to {first}, {old} one to {second}.",
                f"Use ln -s twice, for {new} to {first} and for {old} to {second}.",
                f"Could you create two symlinks, {new} for the directory {first} and {old} for the directory {second}?",
                f"We need symbolic links named {new} and {old}; the targets are {first} and {second}, in that order.",
                f"Let {new} be a symlink with the target {first}, and {old} a symlink with the target {second}.",
                f"Add two soft links: {new} points to {first}, {old} points to {second}.",
                f"The folders {first} and {second} need symlinks, {new} for the former and {old} for the latter.",
                f"Set up {new} as a symbolic link to {first}, likewise {old} as one to {second}.",
                f"Set up one symlink from {new} to {first} and another from {old} to {second}.",
                f"Place two symlinks here, {new} and {old}; {new} leads to {first}, {old} to {second}.",
                f"For the directory {first} build the symlink {new}, for the directory {second} the symlink {old}.",
                f"Start two symbolic links. The one called {new} has {first} as its target, the one called {old} has"
                f" {second}.",
                f"Both {first} and {second} get a symlink: {new} leads to the former, {old} to the latter.",
            ]
        ),
        solution=[f"ln -s {first} {new}", f"ln -s {second} {old}"],
        after=[link(new, first), link(old, second)],
    )


def _move_and_link(names: Names) -> Unit:
    path, place = names.file(names.pick(["log", "txt", "conf"]), plain=True), names.directory()
    text = names.text()
    return Unit(
        fixtures=[fixture(path, text), directory(place)],
        directive=names.pick(
            [
                f"Move {path} into {place}; leave a symbolic link {path} with the target {place}/{path} behind.",
                f"Put {path} into the directory {place}, then link the old name {path} symbolically to {place}/{path}.",
                f"The file {path} goes into {place}; where it was, a symlink with the target {place}/{path} stays.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want {path} to live in {place} but still be reached by its old name, a symlink to {place}/{path}.",
                f"{path} should become a symlink to {place}/{path}, where the file itself then lies.",
                f"Bring {path} into {place} and make a symlink in its old place that reads {place}/{path}.",
                f"Could you move {path} to {place} and leave a symlink {path} to {place}/{path} where it was?",
                f"We need the file {path} inside {place}, and a symbolic link {path} to {place}/{path} in the home"
                " directory.",
                f"After moving {path} to the directory {place}, link {path} to {place}/{path} with ln -s.",
                f"Let {place} have the file {path}; a symlink of that name, with the target {place}/{path}, takes"
                " its old place.",
                f"{path} has to be moved to {place}, and replaced by a soft link to {place}/{path}.",
                f"Use mv to put {path} in {place}, then ln -s so that {path} still leads to {place}/{path}.",
                f"Carry {path} over to {place}; then set up a symlink in its old place, called {path} too, to"
                f" {place}/{path}.",
                f"Transfer {path} to the directory {place} and leave a symlink that reads {place}/{path} where it was.",
                f"Into {place} goes the file {path}. Its old name becomes a symlink that refers to {place}/{path}.",
                f"Replace {path} by a symlink to {place}/{path}, after shifting the file itself there.",
                f"Shift {path} into {place}, but let the old name still lead to it, as a symlink that reads"
                f" {place}/{path}.",
            ]
        ),
        solution=[f"mv {path} {place}/", f"ln -s {place}/{path} {path}"],
        after=[fixture(f"{place}/{path}", text), link(path, f"{place}/{path}")],
    )


def _wrong_link(names: Names) -> Unit:
    right, name = names.path(names.pick(["txt", "conf"]), names.number(0, 1), plain=True), names.stem(plain=True)
    dangling = names.rng.random() < 0.5
    wrong = names.path("txt", names.number(0, 1), plain=True)
    state = "dangles" if dangling else f"points to {wrong}"
    return Unit(
        fixtures=[fixture(right, names.text()), link(name, wrong)]
        + ([] if dangling else [fixture(wrong, names.text())]),
        directive=names.pick(
            [
                f"The symbolic link {name} {state}. Point it at {right}.",
                f"Repair the symlink {name}: it {state}, its target must be {right}.",
                f"{name} is a symlink that {state}; change its target to {right}.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want the existing symlink {name} to lead to {right} instead.",
                f"{name} {state}, but as a symlink it should lead to {right}.",
                f"Use ln -sfn so that {name} leads to {right}.",
                f"Could you redirect the symlink {name} to {right}? It {state} now.",
                f"The symlink {name} is wrong: it {state}, while it has to read {right}.",
                f"The target of the symlink {name} has to become {right}; at present it {state}.",
                f"Let the link {name}, which {state}, point to {right}.",
                f"Fix {name}: the symlink has to have the target {right}.",
                f"Replace the symbolic link {name} by one of the same name that leads to {right}.",
                f"Turn the symlink {name} towards {right}: at present it {state}.",
                f"Set a new target for the symlink {name}, which {state} now: {right}.",
                f"Erase the symlink {name}, which {state}, and set up one to {right} in its place.",
                f"To {right}, and nowhere else, the symlink {name} has to lead; now it {state}.",
                f"The symlink {name}, which {state}, gets {right} as its new target.",
            ]
        ),
        solution=names.pick(
            [[f"ln -sfn {right} {name}"], [f"ln -sfn {right} {name}"], [f"rm {name}", f"ln -s {right} {name}"]]
        ),
        after=[link(name, right)],
    )


def _directory_link(names: Names) -> Unit:
    base, name = names.word(), names.stem(plain=True)
    low = names.number(1, 8)
    old, new = f"{base}-{low}", f"{base}-{low + 1}"
    return Unit(
        fixtures=[
            fixture(f"{old}/{names.file()}", names.text(1, 3)),
            fixture(f"{new}/{names.file()}", names.text(1, 3)),
            link(name, old),
        ],
        directive=names.pick(
            [
                f"The symbolic link {name} points to the directory {old}. Make it point to {new}.",
                f"Switch the symlink {name} from the directory {old} to the directory {new}.",
                f"Change the target of the symlink {name} to the directory {new}.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want {name}, a symlink to the directory {old}, to lead to {new} from now on.",
                f"{name} should no longer lead into {old} but into {new}.",
                f"Use ln -sfn to let {name} lead to the directory {new}.",
                f"Could you redirect the symlink {name} from {old} to {new}?",
                f"We need the link {name} to have {new} as its target, where it has {old} now.",
                f"The symlink {name} still leads to {old}; replace it by one to {new}.",
                f"Let {name}, a symbolic link, point at the folder {new} in place of {old}.",
                f"{new} has to be the target of the symbolic link {name}; now it is {old}.",
                f"Replace the symlink {name} so that it reads {new}.",
                f"Turn the symlink {name} away from {old} and towards {new}, which is a directory, too.",
                f"Set {new} as the target of {name}, a symlink that reads {old} so far.",
                f"From {old} redirect the symlink {name} to {new}.",
                f"Erase the symlink {name}, which leads to the directory {old}, and set up one to {new} by that name.",
                f"Not {old} but {new} is the directory that the symlink {name} has to lead to.",
            ]
        ),
        solution=names.pick(
            [[f"ln -sfn {new} {name}"], [f"ln -sfn {new} {name}"], [f"rm {name}", f"ln -s {new} {name}"]]
        ),
        after=[link(name, new)],
    )


def _swapped_links(names: Names) -> Unit:
    first, second = names.file("txt", plain=True), names.file("txt", plain=True)
    one, two = names.words(2)
    return Unit(
        fixtures=[fixture(first, names.text()), fixture(second, names.text()), link(one, second), link(two, first)],
        directive=names.pick(
            [
                f"The symbolic links {one} and {two} are mixed up: {one} must point to {first}, {two} to {second}.",
                f"Swap two symlink targets so that {one} leads to {first} and {two} leads to {second}.",
                f"Correct the symlinks {one} (right target {first}) and {two} (right target {second}).",
            ]
        ),
        instruction=names.pick(
            [
                f"I want {one} to lead to {first} and {two} to {second}; now these symlinks are the wrong way round.",
                f"Symlink {one} should read {first}, symlink {two} should read {second}.",
                f"Use ln -sfn twice: {one} has to read {first}, {two} has to read {second}.",
                f"Could you exchange the targets of the symlinks {one} and {two}? Then {one} leads to {first},"
                f" {two} to {second}.",
                f"We need {one} as a symlink to {first} and {two} as a symlink to {second}; they are the other way"
                " round now.",
                f"Fix two symbolic links: the target of {one} is {first}, the target of {two} is {second}.",
                f"Redirect the symlink {one} to {first} and the symlink {two} to {second}.",
                f"{one} and {two} are symlinks with each other's target; let {one} read {first}, {two} {second}.",
                f"Replace both symlinks, {one} by one to {first} and {two} by one to {second}.",
                f"Turn two symlinks around: {one} refers to {first} from now on, and {two} to {second}.",
                f"Set {first} as the target of {one} and {second} as the target of {two}; both are symlinks.",
                f"Now the symlink {one} leads to {second}, but {two} to {first}; let it be the other way round.",
                f"Mend the symlinks {one} and {two}: the former has to refer to {first}, the latter to {second}.",
                f"Both symlinks, {one} and {two}, are wrong. Rewrite them: {one} to read {first}, {two} to read"
                f" {second}.",
            ]
        ),
        solution=[f"ln -sfn {first} {one}", f"ln -sfn {second} {two}"],
        after=[link(one, first), link(two, second)],
    )


def _moved_targets(names: Names) -> Unit:
    place, old, new = names.directory(), names.word(), names.directory()
    files = [names.file("txt", plain=True) for _ in range(names.number(2, 3))]
    return Unit(
        fixtures=[fixture(f"{new}/{file}", names.text(1, 3)) for file in files]
        + [link(f"{place}/{file}", f"../{old}/{file}") for file in files],
        directive=names.pick(
            [
                f"The symlinks in {place} still point into ../{old}, which is now ../{new}. Point each one at the file"
                f" of its own name in ../{new}.",
                f"Every symbolic link in {place} dangles: its target must be ../{new}/NAME instead of ../{old}/NAME.",
                f"Repair all links of {place}: replace ../{old}/ by ../{new}/ in their targets, names stay.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want each symlink of {place} to read ../{new}/NAME, since ../{old} is no more.",
                f"All links below {place} should lead into ../{new}, each to the file it is named after.",
                f"In {place}, redirect each symlink from ../{old}/NAME to ../{new}/NAME.",
                f"Could you repair the links in {place}? They have to read ../{new}/NAME, where they read"
                f" ../{old}/NAME.",
                f"We need all symlinks in {place} to have the target ../{new}/NAME, NAME being the name of the link.",
                f"Use ln -sfn in a loop over {place}, so that each link leads to its namesake in ../{new}.",
                f"The directory ../{old} was renamed to ../{new}; change the targets of all symlinks in {place} to"
                " match.",
                f"Let the symbolic links in {place} have their old names and point at ../{new}/NAME, no longer at"
                f" ../{old}/NAME.",
                f"Replace each link {place}/NAME by a symlink that reads ../{new}/NAME.",
                f"Rewrite the targets of all symlinks in {place}: ../{new}/ replaces ../{old}/, with the same file"
                " names behind it.",
                f"Turn all symlinks in {place} from ../{old} to ../{new}, where files of the same names lie.",
                f"For each symlink NAME in {place}, set the target ../{new}/NAME.",
                f"Into ../{new}, not ../{old}, the symlinks of {place} have to lead, NAME to ../{new}/NAME.",
                f"No symlink in {place} may lead into ../{old} any longer. Let a link NAME read ../{new}/NAME.",
            ]
        ),
        solution=names.pick(
            [
                [f"for f in {place}/*; do ln -sfn ../{new}/${{f##*/}} $f; done"],
                [f"ln -sfn ../{new}/{file} {place}/{file}" for file in files],
            ]
        ),
        after=[link(f"{place}/{file}", f"../{new}/{file}") for file in files],
    )


def _remove_dangling(names: Names) -> Unit:
    place = names.directory()
    good, gone = names.file("txt", plain=True), names.words(2)
    keep, bad = names.words(2), [f"{place}/{word}" for word in gone]
    one, two = f"{place}/{keep[0]}", f"{place}/{keep[1]}"
    return Unit(
        fixtures=[
            fixture(f"{place}/{good}", names.text()),
            link(one, good),
            link(two, names.file("txt", plain=True)),
            *(link(path, names.file("txt", plain=True)) for path in bad),
        ],
        directive=names.pick(
            [
                f"Delete the dangling symlinks {listed(bad)}, and point the dangling symlink {two} at {good}.",
                f"The links {listed(bad)} lead nowhere; remove them. The link {two} gets the target {good}.",
                f"Clear away the broken symlinks {listed(bad)}; then make the symlink {two} point to {good}.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want {listed(bad)} gone, they dangle, and {two} as a symlink that reads {good}.",
                f"No dangling link should stay: {listed(bad)} go, {two} leads to {good}.",
                f"Remove {listed(bad)}, symlinks that lead nowhere, and let {two} point to {good}.",
                f"Could you delete the symlinks {listed(bad)} and redirect the symlink {two} to {good}?",
                f"We need {listed(bad)} deleted, and the symlink {two} to have the target {good}.",
                f"{listed(bad)} are broken links: get rid of them. The link {two} is to be repaired, it has to read"
                f" {good}.",
                f"Use rm on {listed(bad)}, then ln -sfn to make {two} a link to {good}.",
                f"Of the broken links, {listed(bad)} are to be removed and {two} is to get {good} as its target.",
                f"Erase the links {listed(bad)}, but redirect {two}, which has to lead to {good}.",
                f"Throw out the symlinks {listed(bad)}, since they lead nowhere, and set the symlink {two} to {good}.",
                f"Drop {listed(bad)}, two broken symlinks; turn a third one, {two}, to {good} instead.",
                f"Of three broken symlinks only {two} survives, with {good} as its text. Delete {listed(bad)}.",
                f"To {good} the symlink {two} has to lead; as for the broken links {listed(bad)}, delete them.",
                f"Both {listed(bad)} are broken symlinks to delete, while {two} is one to repair: it has to read"
                f" {good}.",
            ]
        ),
        solution=[f"rm {' '.join(bad)}", f"ln -sfn {good} {two}"],
        after=[link(two, good)],
        removed=bad,
    )


SHAPES: dict[str, list[Shape]] = {
    "make_links": [
        _link_beside,
        _link_upwards,
        _absolute_link,
        _link_for_each,
        _two_links,
        _move_and_link,
    ],
    "repair_links": [
        _wrong_link,
        _directory_link,
        _swapped_links,
        _moved_targets,
        _remove_dangling,
    ],
}
