"""Shape the permission archetypes: set modes, make symbolic links, repair links, and places that are not to be written.

    from templates.permissions import SHAPES

Reads   nothing
Writes  nothing
Needs   nothing

Contents stay as they are, only modes and links change. What may not be written at all lives in blocked.py.
"""

import shlex
from collections.abc import Callable

from schema import HOME, Fixture
from templates.world import Names, Shape, Unit, directory, fixture, link, listed, quote, shown

SYMBOLIC: dict[str, tuple[str, Callable[[int], int]]] = {
    "u+x": ("executable for its owner", lambda mode: mode | 0o100),
    "a+x": ("executable for everybody", lambda mode: mode | 0o111),
    "go-r": ("unreadable for group and others", lambda mode: mode & ~0o044),
    "a-w": ("read-only for everybody, the owner too", lambda mode: mode & ~0o222),
    "g+w": ("writable for its group", lambda mode: mode | 0o020),
    "o-r": ("unreadable for others", lambda mode: mode & ~0o004),
}


def _with_mode(entry: Fixture, mode: int) -> Fixture:
    """The entry as it is after chmod."""
    return entry.model_copy(update={"mode": mode})


def _octal(names: Names, *without: int) -> int:
    """A mode for files that differs from `without`."""
    return names.pick([mode for mode in (0o600, 0o640, 0o644, 0o660, 0o664, 0o440, 0o400) if mode not in without])


def _mode_of_file(names: Names) -> Unit:
    entry = fixture(path := names.path(names.pick(["txt", "sh", "conf"]), names.number(0, 1)), names.text(), 0o644)
    mode = names.pick([0o600, 0o640, 0o660, 0o664, 0o400, 0o444, 0o700, 0o750, 0o755])
    s = shown(path)
    return Unit(
        fixtures=[entry],
        directive=names.pick(
            [
                f"Set the mode of {s} to {mode:o}.",
                f"Change the permissions of {s} to {mode:o}.",
                f"Give {s} the mode {mode:o}.",
                f"The file {s} must have mode {mode:o}; see to it.",
            ]
        ),
        instruction=names.pick([f"I want permission bits {mode:o} on {s}.", f"{s} should end up with mode {mode:o}."]),
        solution=[f"chmod {mode:o} {quote(path)}"],
        after=[_with_mode(entry, mode)],
    )


def _mode_in_words(names: Names) -> Unit:
    before = names.pick([0o644, 0o664, 0o600])
    entry = fixture(path := names.path(names.pick(["txt", "sh", "log"]), names.number(0, 1)), names.text(), before)
    change, (words, become) = names.pick([item for item in SYMBOLIC.items() if item[1][1](before) != before])
    s = shown(path)
    return Unit(
        fixtures=[entry],
        directive=names.pick(
            [
                f"Make {s} {words} and leave its other permission bits alone.",
                f"Without touching the other bits, make {s} {words}.",
                f"See to it that {s} is {words}; the rest of its mode stays.",
            ]
        ),
        instruction=names.pick([f"I want {s} to be {words}, nothing else changed.", f"{s} should become {words}."]),
        solution=[f"chmod {change} {quote(path)}"],
        after=[_with_mode(entry, become(before))],
    )


def _modes_by_extension(names: Names) -> Unit:
    place = names.directory()
    ext, other = names.pick([("sh", "txt"), ("py", "md"), ("conf", "log"), ("log", "txt")])
    mode = names.pick([0o755, 0o750, 0o700]) if ext in ("sh", "py") else names.pick([0o600, 0o640, 0o660])
    matching = [fixture(f"{place}/{names.file(ext)}", names.text(1, 3), 0o644) for _ in range(names.number(2, 4))]
    rest = [fixture(f"{place}/{names.file(other)}", names.text(1, 3), 0o644) for _ in range(names.number(1, 2))]
    return Unit(
        fixtures=names.rng.sample(matching + rest, len(matching + rest)),
        directive=names.pick(
            [
                f"Set the mode of every .{ext} file in {place} to {mode:o}; other files keep theirs.",
                f"All .{ext} files of {place} get mode {mode:o}.",
                f"Change the permissions of the .{ext} files in {place} to {mode:o} and of nothing else.",
            ]
        ),
        instruction=names.pick(
            [
                f"In {place} I want mode {mode:o} on whatever ends in .{ext}.",
                f"Each .{ext} file below {place} should end up with permission bits {mode:o}.",
            ]
        ),
        solution=[f"chmod {mode:o} {place}/*.{ext}"],
        after=[_with_mode(entry, mode) for entry in matching],
    )


def _private_directory(names: Names) -> Unit:
    place = names.directory()
    outer, inner = names.pick([0o700, 0o750, 0o711]), names.pick([0o600, 0o640])
    entry = directory(place, 0o755)
    inside = [fixture(f"{place}/{names.file()}", names.text(1, 3), 0o644) for _ in range(names.number(2, 3))]
    return Unit(
        fixtures=[entry, *inside],
        directive=names.pick(
            [
                f"Give the files in {place} mode {inner:o} and the directory {place} itself mode {outer:o}.",
                f"Set every file of {place} to {inner:o}, then the directory to {outer:o}.",
                f"Close {place} down: mode {inner:o} for the files in it, mode {outer:o} for the directory.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want {place} with permission bits {outer:o} and all that lies in it with {inner:o}.",
                f"The directory {place} should end up as {outer:o}, its files as {inner:o}.",
            ]
        ),
        solution=[f"chmod {inner:o} {place}/*", f"chmod {outer:o} {place}"],
        after=[_with_mode(entry, outer), *(_with_mode(file, inner) for file in inside)],
    )


def _tree_by_type(names: Names) -> Unit:
    place, below = names.directory(), names.word()
    for_files, for_directories = names.pick([0o600, 0o640, 0o660]), names.pick([0o700, 0o750, 0o770])
    directories = [directory(place, 0o755), directory(f"{place}/{below}", 0o755)]
    files = [fixture(f"{place}/{names.file()}", names.text(1, 3), 0o644)]
    files += [fixture(f"{place}/{below}/{names.file()}", names.text(1, 3), 0o644) for _ in range(names.number(1, 2))]
    return Unit(
        fixtures=directories + files,
        directive=names.pick(
            [
                f"In the tree {place}, set all files to mode {for_files:o} and all directories, {place} included, to"
                f" {for_directories:o}.",
                f"Files anywhere below {place} get mode {for_files:o}, directories from {place} down get"
                f" {for_directories:o}.",
                f"Go through {place} with its subdirectories: mode {for_files:o} on files, mode {for_directories:o} on"
                f" every directory and on {place}.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want {for_directories:o} on each directory from {place} down and {for_files:o} on each file there.",
                f"Below {place} files should be {for_files:o}; directories, the top one too, {for_directories:o}.",
            ]
        ),
        solution=[
            f"find {place} -type f -exec chmod {for_files:o} {{}} +",
            f"find {place} -type d -exec chmod {for_directories:o} {{}} +",
        ],
        after=[_with_mode(entry, for_files) for entry in files]
        + [_with_mode(entry, for_directories) for entry in directories],
    )


def _two_modes(names: Names) -> Unit:
    first, second = names.path("txt", names.number(0, 1)), names.path("conf", names.number(0, 1))
    one = _octal(names, 0o644)
    two = _octal(names, 0o644, one)
    entries = [fixture(first, names.text(), 0o644), fixture(second, names.text(), 0o644)]
    a, b = shown(first), shown(second)
    return Unit(
        fixtures=entries,
        directive=names.pick(
            [
                f"Set {a} to mode {one:o} and {b} to mode {two:o}.",
                f"Change two modes: {a} becomes {one:o}, {b} becomes {two:o}.",
                f"Give {a} the permissions {one:o}; {b} gets {two:o}.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want permission bits {one:o} on {a} but {two:o} on {b}.",
                f"{a} should end up with mode {one:o}, and {b} with {two:o}.",
            ]
        ),
        solution=[f"chmod {one:o} {quote(first)}", f"chmod {two:o} {quote(second)}"],
        after=[_with_mode(entries[0], one), _with_mode(entries[1], two)],
    )


def _modes_by_mode(names: Names) -> Unit:
    place, below = names.directory(), names.word()
    wrong = names.pick([0o666, 0o777])
    right = names.pick([0o644, 0o640, 0o600])
    bad = [
        fixture(f"{place}/{names.file()}", names.text(1, 2), wrong),
        fixture(f"{place}/{below}/{names.file()}", "x\n", wrong),
    ]
    good = [fixture(f"{place}/{names.file()}", names.text(1, 2), 0o444) for _ in range(2)]
    return Unit(
        fixtures=bad + good,
        directive=names.pick(
            [
                f"Find the files below {place} that have mode {wrong:o} and set them to {right:o}.",
                f"Every file in the tree {place} with mode {wrong:o} gets mode {right:o}; the others stay.",
                f"Change mode {wrong:o} to {right:o} on all files under {place} that have it.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want no file of mode {wrong:o} left below {place}: make those {right:o}.",
                f"Whatever file under {place} is {wrong:o} should become {right:o}.",
            ]
        ),
        solution=[f"find {place} -type f -perm {wrong:o} -exec chmod {right:o} {{}} +"],
        after=[_with_mode(entry, right) for entry in bad],
    )


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
            [f"I want to reach {t} through a symlink called {name}.", f"{name} should be a symbolic link to {t}."]
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
            ]
        ),
        solution=[f"ln -s ../{target} {place}/{name}"],
        after=[link(f"{place}/{name}", f"../{target}")],
    )


def _absolute_link(names: Names) -> Unit:
    target, place, name = names.path("txt", names.number(0, 1), plain=True), names.directory(), names.stem(plain=True)
    made = names.rng.random() < 0.5
    words = f"Make the directory {place}. In it, create" if made else f"In {place} create"
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
            ]
        ),
        solution=[f"rm {' '.join(bad)}", f"ln -sfn {good} {two}"],
        after=[link(two, good)],
        removed=bad,
    )


SHAPES: dict[str, list[Shape]] = {
    "set_modes": [
        _mode_of_file,
        _mode_in_words,
        _modes_by_extension,
        _private_directory,
        _tree_by_type,
        _two_modes,
        _modes_by_mode,
    ],
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
