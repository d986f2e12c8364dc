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
        instruction=names.wording(
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
                f"Redirect the symlink {name}, which {state}, to {right}.",
                f"Point the existing symlink {name} at {right} instead.",
                f"Change the symlink {name} so that its target is {right}.",
                f"Repair the symbolic link {name}, which {state}: it should read {right}.",
                f"Make the symlink {name} refer to {right}; so far it {state}.",
                f"Update the target of the link {name} to {right}.",
                f"Correct the symlink {name}. It {state}, but has to lead to {right}.",
                f"Delete the symlink {name} and create it again with {right} as its target.",
                f"Since the symlink {name} {state}, it is to be replaced by one to {right}.",
                f"{right} is the file that the symlink {name} is to refer to; at the moment it {state}.",
                f"Overwrite the link {name} with a symlink to {right}.",
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
        instruction=names.wording(
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
                f"Redirect the symlink {name} to the directory {new}.",
                f"Point {name}, now a symlink to {old}, at {new}.",
                f"Update the symlink {name} from {old} to {new}.",
                f"Change the target of the symlink {name}: {new} instead of {old}.",
                f"Make the existing link {name} refer to the folder {new} and not to {old} any more.",
                f"Switch the symlink {name} over from {old} to {new}.",
                f"Delete the symlink {name} to {old}. Create it afresh, with {new} as its target.",
                f"Substitute {new} for {old} as the text of the symlink {name}.",
                f"If {name} is followed, {new} should be reached, no longer {old}; adapt this symlink.",
                f"The symlink {name}, so far to {old}, is to be replaced by a symlink to {new}.",
                f"Overwrite {name} with a symlink to the directory {new}.",
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
        instruction=names.wording(
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
                f"Swap the targets of two symlinks, so that {one} reads {first} and {two} reads {second}.",
                f"Correct the symlinks: {one} has to refer to {first} and {two} to {second}.",
                f"Point the symlink {one} at {first}, and the symlink {two} at {second}.",
                f"Change both links, {one} to read {first} and {two} to read {second}.",
                f"Update the symlink {one} to {first}. Update the symlink {two} to {second}.",
                f"Make {first} the target of the symlink {one}; likewise {second} that of {two}.",
                f"Switch {one} and {two}, two symlinks, so that they refer to {first} and {second} in that order.",
                f"Recreate the symlink {one} with target {first} and the symlink {two} with target {second}.",
                f"Instead of {second}, the symlink {one} is to read {first}; for {two} it is the other way round.",
                f"Are the symlinks {one} and {two} right? The former has to lead to {first}, the latter to {second}.",
                f"{first} is where the symlink {one} is to lead, {second} is where the symlink {two} is to lead.",
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
        instruction=names.wording(
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
                f"Point every symlink in {place} at its namesake in ../{new}, with ../{new}/NAME as the link text.",
                f"Update the symlinks in {place}: swap ../{old}/ for ../{new}/ in each target and keep all names.",
                f"Retarget all links in {place} to ../{new}/NAME; ../{old}/NAME is where they lead today.",
                f"Since ../{old} is now ../{new}, recreate every symlink in {place} with the text ../{new}/NAME.",
                f"Aim each link {place}/NAME at the relative target ../{new}/NAME.",
                f"Fix the stale symlinks of {place}. Each one still reads ../{old}/NAME; it must read ../{new}/NAME.",
                f"Relink whatever symlink {place} has, so that NAME leads to ../{new}/NAME.",
                f"Symlink targets in {place} are out of date: ../{old}/NAME must be changed to ../{new}/NAME.",
                f"Does a link in {place} lead to ../{old}/NAME? It must lead to ../{new}/NAME, as must all the others.",
                f"Substitute ../{new}/ for ../{old}/ in the target of each symlink that lies in {place}.",
                f"When done, {place}/NAME is a symlink with the text ../{new}/NAME, for every link there now.",
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
        instruction=names.wording(
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
                f"Purge the dangling symlinks {listed(bad)}, and have the symlink {two} read {good}.",
                f"Discard {listed(bad)}, which are broken symlinks, then relink {two} with {good} as its target.",
                f"Repair the symlink {two} (its target has to be {good}); unlink {listed(bad)}, which dangle.",
                f"Make {two} a symlink to {good} and clear away the broken links {listed(bad)}.",
                f"Once {listed(bad)}, both dangling symlinks, are deleted, give the link {two} the target {good}.",
                f"Broken links {listed(bad)}: to be deleted. Broken link {two}: to be aimed at {good}.",
                f"Eliminate two dangling symlinks, {listed(bad)}, but save {two} by setting its target to {good}.",
                f"Retarget the link {two}, now broken, so that it reads {good}; scrap the broken {listed(bad)}.",
                f"The symlink {two} must be pointed at {good}, and the dangling links {listed(bad)} must be deleted.",
                f"Take away the useless links {listed(bad)}. Update {two} to be a symlink that leads to {good}.",
                f"Fix {two} by relinking it to {good}; {listed(bad)} are beyond repair, so wipe out these two links.",
            ]
        ),
        solution=[f"rm {' '.join(bad)}", f"ln -sfn {good} {two}"],
        after=[link(two, good)],
        removed=bad,
    )


SHAPES: dict[str, list[Shape]] = {
    "repair_links": [_wrong_link, _directory_link, _swapped_links, _moved_targets, _remove_dangling],
}
