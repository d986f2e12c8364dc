"""Worlds in which symbolic links are repaired that point to the wrong target, or to none."""

from authoring.templates.world import Names, Shape, Unit, fixture, link, listed


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
        solution=[f"rm {' '.join(bad)}", f"ln -sfn {good} {two}"],
        after=[link(two, good)],
        removed=bad,
    )


SHAPES: dict[str, list[Shape]] = {
    "repair_links": [_wrong_link, _directory_link, _swapped_links, _moved_targets, _remove_dangling],
}
