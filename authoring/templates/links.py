"""Worlds of the archetype make_links: symbolic links are made.

The checker compares a link's target as text; contents stay as they are.
"""

import shlex

from authoring.templates.world import Names, Shape, Unit, directory, fixture, link, shown
from schema import HOME


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
        instruction=names.wording(
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
                f"Make {name} a symlink to {t}.",
                f"Create {name} as a symbolic link that refers to {t}.",
                f"Link {name} to {t} symbolically.",
                f"Point a new symlink {name} at {t}.",
                f"Establish a symlink from {name} to {t}.",
                f"Install a soft link to {t} under the name {name}.",
                f"Give {t} a symbolic link called {name}.",
                f"Provide {t} with another name, {name}, in the form of a symlink to it.",
                f"{t} has to be reachable as {name}, by means of a symbolic link.",
                f"To reach {t} by another name, put the symlink {name} here.",
                f"Symlink wanted: name {name}, target {t}.",
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
        instruction=names.wording(
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
                f"Have ../{target} as the target when you create the symlink {place}/{name}.",
                f"Make a symlink {name} in {place}; what it reads is ../{target}.",
                f"Put into {place} a symbolic link {name} to ../{target}.",
                f"Link {place}/{name} symbolically to ../{target}, a relative target.",
                f"Install {name}, a symlink to ../{target}, in the directory {place}.",
                f"Point a new symlink {place}/{name} at ../{target}.",
                f"Give the folder {place} a soft link called {name}. It refers to ../{target}.",
                f"Write ../{target} as the target of a new symlink {place}/{name}.",
                f"A relative symlink to ../{target} is to be created as {place}/{name}.",
                f"To reach ../{target} from within {place}, provide a symlink {name} there with that text.",
                f"{place}/{name} does not exist yet; it has to be a symlink with ../{target} as its text.",
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
        instruction=names.wording(
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
                f"Create {place}/{name} as a symlink to the absolute path {HOME}/{target}{first}.",
                f"Put into {where} the symlink {name}, which reads {HOME}/{target}.",
                f"Link {place}/{name} symbolically to {HOME}/{target}, written in full{first}.",
                f"Point a symlink {name} in {where} at {HOME}/{target}.",
                f"Install a soft link {name}, its text {HOME}/{target}, inside {where}.",
                f"Make {HOME}/{target} the target of a new symlink {place}/{name}{first}.",
                f"Write {HOME}/{target}, the absolute path, as the text of the symlink {place}/{name}{first}.",
                f"Give {where} a symlink called {name}. Its target is {HOME}/{target}.",
                f"A symbolic link to {HOME}/{target} is to be created as {place}/{name}{first}.",
                f"To reach {HOME}/{target} from {where}, provide the symlink {name} there, the path in full.",
                f"{place}/{name} has to be a symlink with the absolute target {HOME}/{target}{first}.",
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
        instruction=names.wording(
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
                f"Create symlinks in {links}, one per .{ext} file of {place}: same name, target ../{place}/NAME.",
                f"Make a symlink {links}/NAME to ../{place}/NAME for every .{ext} file NAME of {place}.",
                f"Populate {links} with symlinks to all .{ext} files in {place}, each as NAME to ../{place}/NAME.",
                f"Link all {place}/*.{ext} into {links} by symlinks of the same name that read ../{place}/NAME.",
                f"Mirror {place}/*.{ext} in {links} as symlinks: NAME with the text ../{place}/NAME.",
                f"Fill {links} with soft links ../{place}/NAME, named NAME, for the .{ext} files of {place}.",
                f"Install in {links} a symlink for each of {place}/*.{ext}. Same name; it reads ../{place}/NAME.",
                f"Give every .{ext} file in {place} a symlink of its name in {links}, with ../{place}/NAME as text.",
                f"If {place} has a file NAME ending in .{ext}, {links}/NAME is to be a symlink to ../{place}/NAME.",
                f"For {links}, symlinks are to be created to the .{ext} files of {place}: NAME to ../{place}/NAME.",
                f"To have {place}/*.{ext} in {links} too, put symlinks NAME there that refer to ../{place}/NAME.",
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
        instruction=names.wording(
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
                f"Create the symlinks {new} (to {first}) and {old} (to {second}).",
                f"Make {new} a symlink to {first} and {old} another to {second}.",
                f"Link {new} to {first} and {old} to {second}, symbolically in both cases.",
                f"Point a symlink {new} at {first}; point a second one, {old}, at {second}.",
                f"Give {first} the symlink {new}. Give {second} the symlink {old}.",
                f"Establish {new} as a soft link for {first}, and {old} for {second} in the same way.",
                f"Install a pair of symlinks: {new} reads {first}, {old} reads {second}.",
                f"Provide symlinks to two directories, {first} by the name {new} and {second} by the name {old}.",
                f"Two symbolic links are to be created: {new} with target {first}, {old} with target {second}.",
                f"{first} has to be reachable as {new}, {second} as {old}, both by symlink.",
                f"While {new} is to be a symlink to the folder {first}, {old} is to be one to {second}.",
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
        instruction=names.wording(
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
                f"Move {path} to {place} and make {path} a symlink to {place}/{path}.",
                f"Relocate {path} into {place}; where it was, create a symlink to {place}/{path}.",
                f"Put {path} into the folder {place}, then create a symbolic link {path} that reads {place}/{path}.",
                f"Store {path} in {place} from now on, and substitute a symlink to {place}/{path} for it here.",
                f"Exchange {path} for a symlink to {place}/{path}, which is where the file itself moves.",
                f"Send {path} to {place}. Link the old name to {place}/{path} symbolically.",
                f"Leave a symlink {path} to {place}/{path} behind when the file {path} moves to {place}.",
                f"Place {path} inside {place}, and let a new symlink {path} refer to {place}/{path}.",
                f"Once {path} has been moved into {place}, its former name is to be a symlink to {place}/{path}.",
                f"The file {path} is to be moved to {place}, with a symlink to {place}/{path} left under its old name.",
                f"To keep the name {path} working, move the file to {place} and symlink {path} to {place}/{path}.",
            ]
        ),
        solution=[f"mv {path} {place}/", f"ln -s {place}/{path} {path}"],
        after=[fixture(f"{place}/{path}", text), link(path, f"{place}/{path}")],
    )


SHAPES: dict[str, list[Shape]] = {
    "make_links": [_link_beside, _link_upwards, _absolute_link, _link_for_each, _two_links, _move_and_link],
}
