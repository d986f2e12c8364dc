"""Worlds in which archives are unpacked: all of an archive, a part of it, or its listing."""

from authoring.templates.archives import binary_file, named_texts, tar_bytes, text_files, texts_below, zip_bytes
from authoring.templates.world import Names, Shape, Unit, directory, fixture, quote, shown, text_of
from schema import Fixture


def _archive(names: Names, members: dict[str, str]) -> tuple[str, str, Fixture, str]:
    """A tar archive: its name, the words for its kind, its fixture, and the letter of tar's option for it."""
    if names.rng.random() < 0.5:
        path = names.file(names.pick(["tgz", "tar.gz"]))
        return path, "compressed tar archive", binary_file(path, tar_bytes(members, compressed=True)), "z"
    path = names.file("tar")
    return path, "tar archive", binary_file(path, tar_bytes(members)), ""


def _unpack_into(names: Names) -> Unit:
    members, place, exists = named_texts(names, names.number(2, 3)), names.directory(), names.rng.random() < 0.5
    path, kind, entry, z = _archive(names, members)
    p, where = shown(path), "the directory" if exists else "the new directory"
    return Unit(
        fixtures=[entry, *([directory(place)] if exists else [])],
        directive=names.pick(
            [
                f"Unpack the {kind} {p} into {where} {place}.",
                f"Extract all of {p} (a {kind}) into {where} {place}.",
                f"Put the content of the {kind} {p} into {where} {place}.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want everything from the {kind} {p} below {where} {place}.",
                f"{place}, {where[4:]}, should hold what the {kind} {p} holds.",
                f"Extract the {kind} {p}; its files go in {where} {place}.",
                f"Everything in {p}, a {kind}, must be unpacked to {where} {place}.",
                f"Could you unpack {p} for me? It is a {kind}, and its members belong in {where} {place}.",
                f"In {where} {place}, expand the whole {kind} {p}.",
                f"Use tar to take all members out of {p} and leave them in {where} {place}.",
                f"The members of the {kind} {p} are wanted as files in {where} {place}.",
                f"{'Use' if exists else 'Create'} the folder {place} for everything that is inside the {kind} {p}.",
                f"Expand {p}, which is a {kind}, with {where} {place} as the target.",
                f"Restore in {where} {place} all that is packed in {p}, a {kind}.",
                f"Write to {where} {place} the files that the {kind} {p} is made of.",
                f"Into {where} {place} go all files of the {kind} {p}, unpacked.",
                f"Every file in {p} comes out of that {kind} and into {where} {place}.",
                f"Let {where} {place} have all that comes from unpacking {p}, a {kind}.",
                f"Open up the {kind} {p} and place its whole content in {where} {place}.",
                f"Pull every member out of {p}, a {kind}; {where} {place} takes them.",
                f"Unload the {kind} {p}, all of it, to {where} {place}.",
                f"Fill {where} {place} with the files from the {kind} {p}.",
                f"With {p} (a {kind}) as the source, recreate its files in {where} {place}.",
                f"What the {kind} {p} contains is to appear in {where} {place}.",
                f"Bring out all files that are packed in {p}, a {kind}. They belong in {where} {place}.",
                f"Release the members of the {kind} {p}, with {where} {place} as their location.",
                f"The {kind} {p} gets unpacked, not here but in {where} {place}.",
                f"Populate {where} {place}: the source is the {kind} {p}, and all its members are wanted.",
            ]
        ),
        solution=[*([] if exists else [f"mkdir {place}"]), f"tar -x{z}f {quote(path)} -C {place}"],
        after=[*([] if exists else [directory(place)]), *text_files(texts_below(place, members))],
    )


def _unpack_here(names: Names) -> Unit:
    place = names.word()
    members = texts_below(place, named_texts(names, names.number(2, 3)))
    path, kind, entry, z = _archive(names, members)
    delete, p = names.rng.random() < 0.5, shown(path)
    then = " and delete the archive" if delete else ""
    return Unit(
        fixtures=[entry],
        directive=names.pick(
            [
                f"Unpack the {kind} {p} right in the home directory{then}.",
                f"Extract {p}, a {kind}, here in the home directory{then}.",
                f"The {kind} {p} holds a directory {place}; unpack it at home{then}.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want what the {kind} {p} holds, the directory {place}, in my home"
                f"{', and the archive gone' if delete else ''}.",
                f"The home directory should get {place} from the {kind} {p}"
                f"{', which can go afterwards' if delete else ''}.",
                f"Expand the {kind} {p} where you are, in the home"
                f" directory{'; remove the archive then' if delete else '; the archive stays'}.",
                f"Could you extract all of {p} here at home? It is a"
                f" {kind}{' and is not needed any more afterwards: delete it' if delete else ''}.",
                f"Unpack {p} with tar in the current directory, which gets the folder"
                f" {place}{'. Then erase the archive' if delete else ''}.",
                f"Everything inside the {kind} {p} is wanted here as"
                f" {place}/NAME{', after which the archive is removed' if delete else ''}.",
                f"The files of {p}, a {kind}, must come out at home, below"
                f" {place}{'; then remove the archive file' if delete else ''}.",
                f"{'First extract' if delete else 'Extract'} the members of the {kind} {p} here, at"
                f" home{'; second, delete it' if delete else ''}.",
                f"Restore the directory {place} from the {kind} {p} here at"
                f" home{', then throw the archive out' if delete else ''}.",
                f"Open {p}, a {kind}, and write its files to the home directory, as"
                f" {place}/NAME{'; drop the archive afterwards' if delete else ''}.",
                f"Into the home directory goes all that {p} holds, a {kind} of the directory"
                f" {place}{'; the archive is then deleted' if delete else ''}.",
                f"Create {place} in the home directory by expanding the {kind}"
                f" {p}{', and erase the archive once that is done' if delete else ', which stays'}.",
                f"All members of {p}, which is a {kind}, come out right here at"
                f" home{'. Delete the archive then' if delete else ''}.",
                f"Unpack the {kind} {p} in the home directory{' and remove it afterwards' if delete else ''}.",
                f"Recreate {place} here from the {kind} {p}{'; purge that archive next' if delete else ''}.",
                f"Bring out {place}, the folder in the {kind} {p}, here{'; scrap the archive then' if delete else ''}.",
                f"Release all files of the {kind} {p} right here{', then discard the archive' if delete else ''}.",
                f"Take everything out of {p} ({kind}) here{', and wipe the archive once done' if delete else ''}.",
                f"The {kind} {p} is to be unpacked at home{', after which it is deleted' if delete else ''}.",
                f"{place} is packed in the {kind} {p}; extract it here{' and drop the archive' if delete else ''}.",
                f"Unload {p}, a {kind}, at home{': its files stay, the archive does not' if delete else ''}.",
                f"Populate {place}, here at home, from the {kind} {p}{'; delete that one then' if delete else ''}.",
                f"From the {kind} {p}, restore {place} at home{', then erase the archive' if delete else ''}.",
                f"Here, at home, all of the {kind} {p} must come out{' and the archive must go' if delete else ''}.",
            ]
        ),
        solution=[f"tar -x{z}f {quote(path)}", *([f"rm {quote(path)}"] if delete else [])],
        after=text_files(members),
        removed=[path] if delete else [],
    )


def _unpack_one(names: Names) -> Unit:
    members, place = named_texts(names, 3), names.directory()
    path, kind, entry, z = _archive(names, members)
    wanted, p = names.pick(list(members)), shown(path)
    return Unit(
        fixtures=[entry, directory(place)],
        directive=names.pick(
            [
                f"From the {kind} {p} extract only {wanted} into the directory {place}.",
                f"Unpack the single member {wanted} of {p}, a {kind}, into {place}.",
                f"Get {wanted} out of the {kind} {p} and into {place}; leave the other members packed.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want just {wanted} from the {kind} {p}, placed in {place}.",
                f"{place} should get one member of the {kind} {p}, namely {wanted}.",
                f"Extract the file {wanted}, and no other, from the {kind} {p}; it belongs in {place}.",
                f"Only {wanted} is needed of what the {kind} {p} contains; put it in the folder {place}.",
                f"Could you take {wanted} out of {p} and leave it in the directory {place}? {p} is a {kind} with other"
                " members, too.",
                f"In the directory {place}, restore {wanted} from the {kind} {p}, nothing else.",
                f"Use tar to unpack one file of the {kind} {p}: {wanted}, to the directory {place}.",
                f"The directory {place} needs {wanted}, which is a member of {p}, a {kind}; do not unpack the rest.",
                f"Restore {wanted}, one member of the {kind} {p}, in {place}; unpack no other.",
                f"Copy {wanted}, just this one file, to the directory {place}; it is packed in {p}, a {kind}.",
                f"Into {place} goes {wanted} from {p} ({kind}). All the other members remain in the archive only.",
                f"Pick {wanted} from all that the {kind} {p} holds and write that file alone to {place}.",
                f"Nothing but {wanted} is to come out of {p}, a {kind}: expand that member into {place}.",
                f"Unpack nothing but {wanted} from {p}, a {kind}, with {place} as its directory.",
                f"Fetch {wanted} for the folder {place}, while the rest of {p}, a {kind}, stays packed.",
                f"Pull a single member, {wanted}, from the {kind} {p} into {place}.",
                f"Retrieve just {wanted} from the {kind} {p} and drop it in the folder {place}.",
                f"Select {wanted} in the {kind} {p}: this file alone is unpacked to {place}.",
                f"Leave all of the {kind} {p} packed but {wanted}, which is extracted to the directory {place}.",
                f"As for the {kind} {p}, {wanted} alone is wanted as a file in {place}.",
                f"Recover {wanted} from {p} (a {kind}) in the directory {place}. Skip all its other members.",
                f"{wanted} is one of the files in the {kind} {p}; have only that one unpacked in {place}.",
                f"Of everything in {p}, a {kind}, bring out {wanted} only. It belongs in the folder {place}.",
                f"Which file is needed in {place}? It is {wanted}: expand it, and it alone, from the {kind} {p}.",
            ]
        ),
        solution=[f"tar -x{z}f {quote(path)} -C {place} {wanted}"],
        after=[fixture(f"{place}/{wanted}", members[wanted])],
    )


def _member_to_file(names: Names) -> Unit:
    members, out = named_texts(names, names.number(2, 3)), names.file("txt")
    path, kind, entry, z = _archive(names, members)
    wanted, p, o = names.pick(list(members)), shown(path), shown(out)
    return Unit(
        fixtures=[entry],
        directive=names.pick(
            [
                f"Write the content of the member {wanted} of the {kind} {p} to the file {o}.",
                f"Read {wanted} out of {p} ({kind}) and save its content under the name {o}.",
                f"Extract the member {wanted} of the {kind} {p} as {o}, not under its own name.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want what {wanted} says inside the {kind} {p}, in a file called {o}.",
                f"{o} should equal {wanted} as it is in the {kind} {p}.",
                f"Print the text of {wanted}, from inside the {kind} {p}, and redirect it to {o}.",
                f"In the {kind} {p} there is a file {wanted}; its text is wanted as {o} here, and nothing else gets"
                " unpacked.",
                f"Could you copy the text of {wanted} from inside {p}, a {kind}, to {o}?",
                f"Create {o} with the text of {wanted}, a member of the {kind} {p}.",
                f"Take {wanted} from the {kind} {p} but call it {o}; no file {wanted} should be left here.",
                f"The text of {wanted}, packed in {p} ({kind}), has to be in the new file {o}.",
                f"Let tar print {wanted} from {p} and store what it prints in {o}.",
                f"Write to {o} what is in {wanted}, a member of the {kind} {p}.",
                f"Copy {wanted}, which the {kind} {p} holds, to a file by another name, {o}; nothing else is"
                " extracted.",
                f"To {o} goes what {wanted} says, which you read from the {kind} {p} without unpacking anything.",
                f"Send the plain text of {wanted}, one of the files in {p} ({kind}), to {o}.",
                f"What does {wanted} say in the {kind} {p}? Save its text as {o}.",
                f"Extract {wanted} from the {kind} {p} to standard output and redirect that to {o}.",
                f"Dump the text of {wanted}, a member of {p} ({kind}), to {o}; leave no other new file.",
                f"Straight from inside {p} ({kind}), read {wanted} and record its text as {o}.",
                f"Fetch the text that the {kind} {p} has in {wanted}; it belongs in {o}, and only there.",
                f"Fill {o} with the text of {wanted} as stored in the {kind} {p}.",
                f"Under the name {o}, save one member, {wanted}, out of {p} ({kind}); unpack nothing beside it.",
                f"{o} is the new name under which {wanted}, a member of {p} ({kind}), is to be retrieved.",
                f"{wanted}, inside the {kind} {p}, has a text that must be in {o}, while {wanted} itself stays packed.",
                f"The new file {o} is to have exactly the content of {wanted} in the {kind} {p}.",
                f"Without unpacking {wanted} under its own name, get its text from {p}, a {kind}, into {o}.",
                f"Direct the text of {wanted}, out of {p} (a {kind}), to the file {o}; extract nothing else.",
            ]
        ),
        solution=[f"tar -x{z}Of {quote(path)} {wanted} > {quote(out)}"],
        after=[fixture(out, members[wanted])],
    )


def _list_members(names: Names) -> Unit:
    members, out, place = named_texts(names, names.number(3, 4)), names.file("list"), names.directory()
    path, kind, entry, z = _archive(names, members)
    p, o, a = shown(path), shown(out), quote(path)
    return Unit(
        fixtures=[entry, directory(place)],
        directive=names.pick(
            [
                f"Save the sorted member list of the {kind} {p} as {o}, then unpack it into {place}.",
                f"List {p} ({kind}) into {o}, one name per line and sorted, and extract everything into {place}.",
                f"Write the names in the {kind} {p}, sorted, to {o}; after that unpack it in the directory {place}.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want the {kind} {p} unpacked below {place} and a sorted list of its members in {o}.",
                f"{o} should list the members of the {kind} {p} in order, and {place} should hold them.",
                f"Put a sorted list of the members of {p}, a {kind}, in {o}; next extract all of them to the directory"
                f" {place}.",
                f"Which files are in the {kind} {p}? Write their sorted names to {o} and unpack them to the folder"
                f" {place}.",
                f"First {o}: the member names of the {kind} {p} in alphabetical order. Second, the members themselves:"
                f" extract them to {place}.",
                f"Use tar twice on {p}: store the listing, sorted, in {o} and expand the archive inside {place}.",
                f"The names of all members of {p} ({kind}) belong in {o}, sorted, and the members themselves in"
                f" {place}.",
                f"Could you list the {kind} {p}, sort the names, save them as {o}, and then unpack the archive to the"
                f" folder {place}?",
                f"Record the member names of the {kind} {p} in {o}, in sorted order and one on each line; also expand"
                f" the archive into {place}.",
                f"Sort into {o} the names of all members of {p} ({kind}). Then extract the members themselves into"
                f" {place}.",
                f"Into {place} go all files of the {kind} {p}, while their sorted names go to {o}.",
                f"Unpack the {kind} {p} below {place} and leave an alphabetical list of its member names in {o}.",
                f"For the {kind} {p}, create {o}: the names of all its files in sorted order. The files themselves are"
                f" extracted to {place}.",
                f"Unpack {p}, a {kind}, to {place}; list its sorted member names, one to a line, in {o}.",
                f"Catalogue the {kind} {p} in {o} (member names, sorted), then release its files into {place}.",
                f"List the members of the {kind} {p} alphabetically in {o} and extract them all to {place}.",
                f"Expand {p} ({kind}) below {place}. Collect the names of its members, in order, in {o}.",
                f"Two results from the {kind} {p}: the sorted member names in {o}, the unpacked files in {place}.",
                f"Besides unpacking the {kind} {p} into {place}, note down its member names in {o}, sorted.",
                f"Take down in {o}, sorted, what the files in {p} ({kind}) are called; pull these out into {place}.",
                f"Fill {place} with the files of the {kind} {p}, and {o} with their names in sorted order.",
                f"Before the {kind} {p} is unpacked to {place}, its member names are stored, sorted, in {o}.",
                f"Name in {o} every member of {p}, a {kind}, in alphabetical order; then unpack them all in {place}.",
                f"What {p} ({kind}) contains goes to {place}; {o} gets its names in an alphabetical list.",
            ]
        ),
        solution=[f"tar -t{z}f {a} | sort > {quote(out)}", f"tar -x{z}f {a} -C {place}"],
        after=[fixture(out, text_of(members)), *text_files(texts_below(place, members))],
    )


def _unzip(names: Names) -> Unit:
    members, place = named_texts(names, names.number(2, 3)), names.directory()
    path = names.file("zip")
    return Unit(
        fixtures=[binary_file(path, zip_bytes(members)), directory(place)],
        directive=names.pick(
            [
                f"Unpack the zip archive {shown(path)} into the directory {place}.",
                f"Extract everything in {shown(path)}, a zip archive, to {place}.",
                f"Unzip {shown(path)} so that its files land in {place}.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want the files of the zip archive {shown(path)} to be in {place}.",
                f"{place} should hold all that the zip archive {shown(path)} holds.",
                f"Expand the zip file {shown(path)} in the folder {place}.",
                f"Everything packed in {shown(path)} must be extracted with unzip; the target is {place}.",
                f"Could you unpack {shown(path)} for me? It is a zip file whose members belong in the directory"
                f" {place}.",
                f"In the directory {place}, extract all members of the zip file {shown(path)}.",
                f"Take the files out of {shown(path)}, which is a zip archive, and leave them in {place}.",
                f"The members of the zip archive {shown(path)} are wanted as files in the folder {place}.",
                f"Restore all files of the zip archive {shown(path)} in {place}.",
                f"Write every member of {shown(path)}, which is a zip file, to the directory {place}.",
                f"Into {place} goes all that is packed in the zip file {shown(path)}.",
                f"Open the zip archive {shown(path)} and put what it holds in {place}.",
                f"Every file of the zip archive {shown(path)} comes out into the folder {place}.",
                f"Unpack the zip archive {shown(path)} to the directory {place}.",
                f"Unzip {shown(path)} with {place} as the target directory.",
                f"Extract whatever the zip file {shown(path)} contains; {place} is where it goes.",
                f"Pull all members from {shown(path)}, a zip archive, into the folder {place}.",
                f"Fill the folder {place} from the zip archive {shown(path)}, leaving no member out.",
                f"Release the whole content of the zip file {shown(path)} into {place}.",
                f"Decompress {shown(path)} (zip format). Its files are wanted in {place}.",
                f"What the zip file {shown(path)} contains is to appear, unpacked, in {place}.",
                f"{shown(path)} is a zip archive; recreate its files in the directory {place}.",
                f"The folder {place} gets each of the files that are zipped up in {shown(path)}.",
                f"With the zip archive {shown(path)} as source, populate {place}: every member is wanted.",
            ]
        ),
        solution=[names.pick([f"unzip -q {quote(path)} -d {place}", f"unzip -q -d {place} {quote(path)}"])],
        after=text_files(texts_below(place, members)),
    )


SHAPES: dict[str, list[Shape]] = {
    "unpack_archive": [_unpack_into, _unpack_here, _unpack_one, _member_to_file, _list_members, _unzip],
}
