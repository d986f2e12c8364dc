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
        solution=[f"mv {path} {place}/", f"ln -s {place}/{path} {path}"],
        after=[fixture(f"{place}/{path}", text), link(path, f"{place}/{path}")],
    )


SHAPES: dict[str, list[Shape]] = {
    "make_links": [_link_beside, _link_upwards, _absolute_link, _link_for_each, _two_links, _move_and_link],
}
