"""Worlds of the blocked archetypes: one directive that cannot be carried out in the sandbox.

Whoever tries it with the usual command sees an error, and the world stays as it was. DOABLE is the work that stands
beside it (doable.py). The archetypes absent_program and broken_archive are in unpackable.py.
"""

from authoring.templates import unpackable
from authoring.templates.doable import DOABLE
from authoring.templates.unpackable import blocked_unit
from authoring.templates.world import Names, Shape, Unit, directory, fixture, quote, shown

__all__ = ["DOABLE", "SHAPES"]

READ_ONLY: tuple[str, ...] = ("/etc", "/usr/share", "/usr/lib", "/opt", "/srv", "/root", "/var/lib")


def _copy_missing(names: Names) -> Unit:
    source, out = names.path(names.pick(["txt", "csv", "log"]), names.number(0, 1)), names.file("txt")
    s, o = shown(source), shown(out)
    return blocked_unit(
        names,
        asks=[
            f"Copy {s} to {o}.",
            f"Make a copy of {s} under the name {o}.",
            f"Duplicate {s} as {o}.",
        ],
        others=[
            f"I want {o} to be a copy of {s}.",
            f"{o} should equal {s}.",
            f"Could you copy the file {s} so that there is a {o} with the same content?",
            f"Save a copy of the file {s} as {o}.",
            f"We need {s} a second time, as {o}.",
            f"{s} has to be copied; call the copy {o}.",
            f"Take {s} and copy it to a new file {o}.",
            f"Produce {o}, which has exactly the text of {s}.",
            f"The content of {s} is wanted in {o} as well; leave {s} where it is.",
            f"Clone {s} and call the clone {o}.",
            f"Reproduce the file {s} with another name, {o}.",
            f"Store what {s} says a second time, in {o}.",
            f"Into a new file {o} goes all that {s} says, and {s} stays in its place.",
            f"From {s}, make a second file with the same content. Its name is {o}.",
            f"Duplicate {s}; the duplicate is named {o}.",
            f"Let the name {o} belong to a fresh copy of {s}.",
            f"Replicate the content of {s} in the file {o}, and leave {s} itself alone.",
            f"Back {s} up to {o}.",
            f"Mirror {s}: the second file is to be called {o}.",
            f"Write the whole of {s} to {o} as well.",
            f"Transcribe all of {s} to the new file {o}, without any change.",
            f"There has to be a file {o} with the very text of {s}, which is kept.",
            f"Besides {s}, a file {o} is needed that is no different from it.",
            f"Two equal files are the aim: {s} as it is, and its copy {o}.",
            f"For safety, put a duplicate of {s} in {o}.",
        ],
        outputs=[out],
        attempt=[f"cp {quote(source)} {quote(out)}"],
    )


def _move_missing(names: Names) -> Unit:
    source, place = names.file(names.pick(["txt", "csv", "log"])), names.directory()
    s = shown(source)
    return blocked_unit(
        names,
        fixtures=[directory(place)],
        asks=[
            f"Move {s} into the directory {place}.",
            f"Put the file {s} away in {place}.",
            f"Take {s} from the home directory to {place}.",
        ],
        others=[
            f"I want {s} to lie in {place}.",
            f"{place} should take in {s}.",
            f"Could you move the file {s} to the directory {place}?",
            f"The right place for {s} is in {place}, not in the home directory.",
            f"Bring {s} over to the folder {place}.",
            f"Put {s} into {place} and leave no copy of it outside.",
            f"We need {s} moved into {place}, under the same name.",
            f"{s} has to go into the directory called {place}.",
            f"Transfer {s} to the folder {place}; it stays {s} there.",
            f"Shift the file {s} from here into {place}.",
            f"Into the directory {place} goes {s}, away from the home directory.",
            f"Carry {s} to {place}, so that it lies there and no longer here.",
            f"The file {s} leaves the home directory. Its new place is {place}.",
            f"Move {s} to {place}.",
            f"Relocate the file {s}; its new directory is {place}.",
            f"File {s} away in the folder {place}, and not just a copy of it.",
            f"Drop {s} in {place}, with nothing left behind at home.",
            f"{place} takes {s} over from the home directory, where it is no longer kept.",
            f"Send {s} over to {place}, name unchanged.",
            f"From now on {s} is to be found in {place} only.",
            f"The directory {place} is to receive {s}, which is then gone from here.",
            f"Where does {s} belong? In {place}: move it there.",
            f"Stow {s} inside the directory {place}, away from its present spot.",
            f"With its name kept, {s} is to be moved from here to {place}.",
        ],
        outputs=[f"{place}/{source}"],
        attempt=[f"mv {quote(source)} {quote(place)}/"],
    )


def _sort_missing(names: Names) -> Unit:
    source, out = names.path(names.pick(["txt", "list"]), 1), names.file("txt")
    s, o = shown(source), shown(out)
    return blocked_unit(
        names,
        asks=[
            f"Sort the lines of {s} and save them as {o}.",
            f"Write {s} in sorted order to {o}.",
            f"Put a sorted version of {s} into {o}.",
        ],
        others=[
            f"I want the lines of {s} in order in {o}.",
            f"{o} should be {s}, but sorted.",
            f"Could you sort {s} and store the outcome in {o}?",
            f"Produce {o} with the same lines as {s}, in alphabetical order.",
            f"Arrange the lines of the file {s} alphabetically and put them into {o}.",
            f"The sorted content of {s} belongs in {o}.",
            f"We need the lines of {s} sorted; {o} is the file for that.",
            f"Run sort on {s} and keep what it prints in {o}.",
            f"Order the lines of {s} from A to Z and record them in {o}.",
            f"Into {o} go the lines of {s}, arranged by the alphabet.",
            f"From {s} build {o}, a file of the same lines in sorted order.",
            f"Use sort on {s} and let {o} be what it prints.",
            f"Get the lines of {s} into alphabetical order. The result is stored in {o}, not in {s}.",
            f"Sort {s} line by line and save the result as {o}.",
            f"Alphabetize {s}; the outcome belongs in a file of its own, {o}.",
            f"Write a sorted version of {s} to {o}.",
            f"Make {o} out of {s} by putting its lines in alphabetical order.",
            f"Rearrange what {s} says, line by line and from A to Z, and save it as {o}.",
            f"Store in {o} all lines of {s}, sorted.",
            f"List every line of {s} alphabetically in the new file {o}.",
            f"For easy look-up, {o} has to have the lines of {s} in sorted order.",
            f"All lines of {s}, alphabetically ordered, are to be found in {o}.",
            f"Leave {s} as it is, but fill {o} with its lines in alphabetical order.",
            f"{s} is out of order; a sorted copy of it is wanted as {o}.",
        ],
        outputs=[out],
        attempt=[f"sort -o {quote(out)} {quote(source)}"],
    )


def _edit_missing(names: Names) -> Unit:
    source, (old, new) = names.path(names.pick(["txt", "conf"]), names.number(0, 1)), names.words(2)
    s = shown(source)
    return blocked_unit(
        names,
        asks=[
            f"In {s} replace {old} by {new} everywhere.",
            f"Change every {old} in {s} to {new}.",
            f"Edit {s}: the word {old} becomes {new}.",
        ],
        others=[
            f"I want {new} where {s} says {old}.",
            f"{s} should say {new}, not {old}.",
            f"Could you exchange the word {old} for {new} throughout {s}?",
            f"Wherever {s} has {old}, it has to say {new}.",
            f"Substitute {new} for {old} in the whole of {s}.",
            f"All occurrences of {old} in the file {s} are to be replaced with {new}.",
            f"We need {s} changed in place: {new} instead of {old}.",
            f"Rewrite {s} with {new} in every spot that has {old} now.",
            f"Set {new} in place of {old} all over {s}.",
            f"In the file {s}, turn {old} into {new} wherever it stands.",
            f"Use sed on {s}, in place, to turn all {old} into {new}.",
            f"Every {old} that {s} has turns into {new}. Nothing else in it is altered.",
            f"Correct {s} itself; it says {old} in places that have to say {new}, all of them.",
            f"Replace {old} by {new} throughout the file {s}.",
            f"Change each {old} in {s} to {new}, and save the file under its own name.",
            f"Swap {old} for {new} everywhere in {s}.",
            f"Edit {s} so that {new} stands wherever {old} stood.",
            f"Switch all of {s} from {old} to {new}.",
            f"Convert each occurrence of {old} in the file {s} to {new}.",
            f"Put {new} for {old} in {s}, however often it occurs.",
            f"After the edit, {s} has no {old} any more but {new} in its stead.",
            f"Not {old} but {new} is the right word in {s}; fix every place.",
            f"If a line of {s} mentions {old}, once or more often, make that {new} each time.",
            f"{old} is out of date in {s}. It becomes {new}, in all places.",
        ],
        outputs=[source],
        attempt=[f"sed -i 's/{old}/{new}/g' {quote(source)}"],
    )


def _install(names: Names) -> Unit:
    source, place = names.file(names.pick(["conf", "txt", "sh"]), plain=True), names.pick(READ_ONLY)
    return blocked_unit(
        names,
        fixtures=[fixture(source, names.text())],
        asks=[
            f"Copy {source} to {place}/{source}.",
            f"Install {source} in the directory {place} of the system.",
            f"Put a copy of {source} into {place}.",
        ],
        others=[
            f"I want {source} to be in {place}, too.",
            f"{place} should have its own {source}.",
            f"Could you copy the file {source} into the system directory {place}?",
            f"We need a copy of {source} in {place}, under the same name.",
            f"{source} has to be installed as {place}/{source}.",
            f"Save {source} to {place} too, and leave the one in the home directory.",
            f"The directory {place} lacks {source}; copy it there.",
            f"Place a second {source} in {place}.",
            f"Reproduce {source} in {place}, with the name it has here.",
            f"Store {source} a second time, in the system directory {place}.",
            f"Into {place} goes a copy of {source}, and the original stays here.",
            f"From the home directory, install {source} as {place}/{source}.",
            f"Clone {source}. The place for the clone is {place}, and its name is the same.",
            f"Copy {source} to {place}.",
            f"Duplicate the file {source} in {place}, name and all.",
            f"Put a copy of {source} in the directory {place}, and keep the original here.",
            f"Deploy {source}: {place}/{source} is to have the same content.",
            f"Make {place}/{source} a copy of the {source} that lies here.",
            f"Add a duplicate of {source} to what is in {place}.",
            f"Give {place} a {source} equal to the one at home.",
            f"Mirror the home directory's {source} at {place}/{source}.",
            f"{place}/{source} is to be created as a copy of {source}.",
            f"Besides the {source} here, the same file must exist in {place}.",
            f"The file {source} stays where it is; {place} receives a copy with that name.",
        ],
        outputs=[f"{place[1:]}/{source}"],
        attempt=[f"cp {source} {place}/{source}"],
    )


def _system_directory(names: Names) -> Unit:
    place, name = names.pick(READ_ONLY), names.word()
    return blocked_unit(
        names,
        asks=[
            f"Create the directory {place}/{name}.",
            f"Make a new directory {name} in {place}.",
            f"Set up {place}/{name} as an empty directory.",
        ],
        others=[
            f"I want there to be a directory {name} under {place}.",
            f"{place} should hold a directory {name}.",
            f"Could you create a folder {name} inside {place}?",
            f"We need an empty directory called {name} in {place}.",
            f"Run mkdir so that {place}/{name} exists.",
            f"There is no {place}/{name} yet; make that directory.",
            f"In {place}, add a directory with the name {name}.",
            f"{place}/{name} has to exist as a directory.",
            f"Add a folder {name} to what is in {place}.",
            f"Under {place}, start an empty directory called {name}.",
            f"Build the folder {place}/{name} with nothing in it.",
            f"Into {place} goes a new directory with the name {name}.",
            f"Use mkdir to get a directory {place}/{name}. Leave it empty.",
            f"Make a new directory, {place}/{name}.",
            f"Create {place}/{name}, a directory.",
            f"Set up an empty folder {name} in {place}.",
            f"Establish {name} as a subdirectory of {place}.",
            f"Open a new folder inside {place} and call it {name}.",
            f"Give {place} a subfolder named {name}, with no files in it yet.",
            f"Prepare {place}/{name} as an empty folder for later use.",
            f"The system directory {place} is to have a subdirectory called {name}.",
            f"A folder {name} is missing in {place}; it has to be made.",
            f"One more directory belongs in {place}: {name}, empty for now.",
            f"Let the path {place}/{name} be that of a new, empty directory.",
        ],
        outputs=[f"{place[1:]}/{name}/.keep"],
        attempt=[f"mkdir {place}/{name}"],
    )


def _system_file(names: Names) -> Unit:
    target, line = names.pick(["/etc/hosts", "/etc/passwd", "/etc/profile", "/etc/group"]), names.line(2, 3)
    return blocked_unit(
        names,
        asks=[
            f"Append the line '{line}' to {target}.",
            f"Add '{line}' at the end of the system file {target}.",
            f"The file {target} must get one more line: {line}.",
        ],
        others=[
            f"I want {target} to end with '{line}'.",
            f"'{line}' should be the last line of {target}.",
            f"Could you append '{line}' to the file {target}?",
            f"We need one more line in {target}, namely '{line}', below all others.",
            f"Extend {target} by a final line that reads '{line}'.",
            f"Write '{line}' after the last line of {target}.",
            f"{target} lacks '{line}'; put it at the bottom of the file.",
            f"Change nothing in {target} but for a new line '{line}' at its end.",
            f"Attach '{line}' to the bottom of {target} as a line of its own.",
            f"At the bottom of {target}, record the new line '{line}'.",
            f"Let {target} go on with one more line after its last: '{line}'.",
            f"Into {target} goes '{line}', after all lines that are there.",
            f"Lengthen {target} by one line. It says '{line}' and comes last.",
            f"Extend {target} by one line at its end, '{line}'.",
            f"Add '{line}' as the final line of {target}.",
            f"Put one new line at the end of {target}; it says '{line}'.",
            f"Insert '{line}' below the present last line of {target}.",
            f"Complete {target} with '{line}' on a line of its own at the end.",
            f"Tack the line '{line}' onto the end of {target}, and keep what is there.",
            f"Enter '{line}' in {target}, under everything it has so far.",
            f"Supply {target} with a new last line: '{line}'.",
            f"After all its present lines, {target} has to have '{line}' as well.",
            f"The file {target} is to grow by one line at its end, '{line}'.",
            f"Nothing in {target} is lost, but '{line}' now follows as its last line.",
        ],
        outputs=[target[1:]],
        attempt=[f"echo '{line}' >> {target}"],
    )


def _move_out(names: Names) -> Unit:
    source, place, name = names.path("log", names.number(0, 1)), names.pick(READ_ONLY), names.word()
    return blocked_unit(
        names,
        fixtures=[fixture(source, names.text())],
        asks=[
            f"Move {shown(source)} to {place}/{name}.log.",
            f"File {shown(source)} away as {place}/{name}.log.",
            f"Take {shown(source)} out of the home directory and to {place}/{name}.log.",
        ],
        others=[
            f"I want {shown(source)} to live at {place}/{name}.log from now on.",
            f"{place}/{name}.log should be where {shown(source)} went.",
            f"Could you move the log {shown(source)} to {place}/{name}.log?",
            f"We need {shown(source)} in another place: {place}/{name}.log.",
            f"{shown(source)} has to be moved, its new path is {place}/{name}.log.",
            f"Bring the file {shown(source)} over to {place}/{name}.log; no copy stays at home.",
            f"Relocate {shown(source)}: from now on it is {place}/{name}.log.",
            f"The log {shown(source)} belongs outside the home, at {place}/{name}.log.",
            f"Transfer {shown(source)} to {place}/{name}.log, so that it is no longer here.",
            f"Shift the log {shown(source)} to {place} and call it {name}.log there.",
            f"Into {place} goes {shown(source)}, away from home and with the new name {name}.log.",
            f"Out of the home directory carry {shown(source)}, all the way to {place}/{name}.log.",
            f"The log {shown(source)} leaves its place. From now on its path is {place}/{name}.log.",
            f"Move {shown(source)} to {place} under the name {name}.log.",
            f"Rename {shown(source)} to {place}/{name}.log, so that the old path is gone.",
            f"Send the log {shown(source)} to {place}, where its name is {name}.log, and keep no copy here.",
            f"Take {shown(source)} away from here and put it at {place}/{name}.log.",
            f"File {shown(source)} in {place} as {name}.log; keep nothing of it at home.",
            f"Make {place}/{name}.log the new and only location of {shown(source)}.",
            f"Place {shown(source)} at {place}/{name}.log instead of in the home directory.",
            f"At {place}/{name}.log, not here, is where {shown(source)} is to be found.",
            f"From its present path, {shown(source)} must move to {place}/{name}.log.",
            f"Where should {shown(source)} be? At {place}/{name}.log; move it there.",
            f"The new path of the log {shown(source)} is {place}/{name}.log; the old one ceases to exist.",
        ],
        outputs=[f"{place[1:]}/{name}.log"],
        attempt=[f"mv {quote(source)} {place}/{name}.log"],
    )


def _url(names: Names, file: str) -> str:
    """The address of a file on a host that is not there."""
    host = names.pick(
        [
            f"{names.word()}.example.org",
            f"{names.word()}.example.net",
            f"{names.word()}.internal",
            f"10.{names.number(1, 250)}.{names.number(1, 250)}.{names.number(2, 250)}",
        ]
    )
    return f"http://{host}/{names.pick(['', names.word() + '/'])}{file}"


def _download(names: Names) -> Unit:
    out = names.path(names.pick(["conf", "txt", "json", "list"]), 0, plain=True)
    url = _url(names, out)
    return blocked_unit(
        names,
        asks=[
            f"Download {url} and save it as {out}.",
            f"Fetch {url} into the file {out}.",
            f"Get {url} from the network; store it under the name {out}.",
        ],
        others=[
            f"I want what is at {url} in {out}.",
            f"{out} should hold the content of {url}.",
            f"Could you download {url} to a file called {out}?",
            f"Load the file at {url} and keep it as {out}.",
            f"We need the text behind {url}; {out} is where it belongs.",
            f"Retrieve {url} with wget and name the file {out}.",
            f"Pull {url} from the web into {out}.",
            f"A download of {url} is wanted here as {out}.",
            f"Copy {url} over the network into {out}.",
            f"Into {out} goes what {url} has to offer.",
            f"From {url} get a file and call it {out}.",
            f"Use wget on {url} and store what comes as {out}.",
            f"Request {url} from its server. The file that arrives is called {out} here.",
            f"Download {url} as {out}.",
            f"Fetch {url} and save it under the name {out}.",
            f"Get the document at {url}; its file name here is {out}.",
            f"Save the content of {url} in a local file, {out}.",
            f"Grab what {url} serves and write it to {out}.",
            f"Obtain a local copy of {url}, to be called {out}.",
            f"Bring the file behind {url} onto this machine as {out}.",
            f"Needed here as {out}: the file that {url} points to.",
            f"The web address {url} has a file that is to be stored here as {out}.",
            f"Create {out} from the data that the server sends for {url}.",
            f"With {url} as its source, a new file {out} must appear in the home directory.",
        ],
        outputs=[out],
        attempt=[f"wget -q -O {out} {url}"],
    )


def _refresh(names: Names) -> Unit:
    path = names.path(names.pick(["conf", "list", "txt"]), names.number(0, 1), plain=True)
    url = _url(names, path.rpartition("/")[2])
    return blocked_unit(
        names,
        fixtures=[fixture(path, names.text())],
        asks=[
            f"Replace {path} by the current version at {url}.",
            f"Update {path} from {url}.",
            f"{path} is out of date; overwrite it with {url}.",
        ],
        others=[
            f"I want {path} to be as fresh as {url}.",
            f"{path} should equal what {url} has now.",
            f"Could you bring {path} up to date with the file from {url}?",
            f"Overwrite {path} with a fresh download of {url}.",
            f"Get the newest {path} from {url} and let it take the place of the old one.",
            f"We need the current text of {url} in {path}, the old text goes.",
            f"{path} is old; download {url} over it.",
            f"What {url} offers now has to stand in {path}.",
            f"Exchange the old {path} with what is at {url} now.",
            f"Into {path} goes the present content of {url}, in place of the old one.",
            f"From {url} get the latest version and let {path} be that.",
            f"Set {path} to what {url} says today.",
            f"Throw out what {path} says now. Fill it again, from {url}.",
            f"Refresh {path} from {url}.",
            f"Download {url} again and replace {path} with it.",
            f"Update the file {path}: its new content is that of {url}.",
            f"Renew {path} with what the server has at {url}.",
            f"Replace all of {path} by the present text of {url}.",
            f"Fetch {url} and save it over the old {path}.",
            f"Synchronize {path} with its source, {url}; nothing of the old text stays.",
            f"Substitute the current file at {url} for the {path} that is here.",
            f"After a new download, {path} has to match {url}.",
            f"The old content of {path} must give way to that of {url}.",
            f"As {path} is out of date, it has to be loaded from {url} anew.",
        ],
        outputs=[path],
        attempt=[f"wget -q -O {path} {url}"],
    )


def _upload(names: Names) -> Unit:
    path, out = names.path("conf", names.number(0, 1), plain=True), names.file("txt", plain=True)
    url = _url(names, names.word())
    return blocked_unit(
        names,
        fixtures=[fixture(path, names.text())],
        asks=[
            f"Post {path} to {url} and save the reply as {out}.",
            f"Send the file {path} to {url}; the answer goes to {out}.",
            f"Upload {path} to {url} and keep in {out} what the server says.",
        ],
        others=[
            f"I want {url} to receive {path}, its reply in {out}.",
            f"{out} should hold what {url} says to {path}.",
            f"Could you send {path} to {url} with a POST and store the answer as {out}?",
            f"POST the content of {path} to {url}; what comes back belongs in {out}.",
            f"Submit {path} to the server at {url} and save its response under the name {out}.",
            f"We need {path} uploaded to {url}, and {out} with the response.",
            f"Transfer {path} to {url}. The reply of the server has to be kept as {out}.",
            f"Let {url} have the file {path} and write the response to {out}.",
            f"Deliver {path} to {url} and record the reply of the server in {out}.",
            f"Into {out} goes what {url} replies when {path} is posted to it.",
            f"Use wget to post the file {path} to {url}; its response is stored in {out}.",
            f"To {url}, send what {path} says. Fill {out} with the answer.",
            f"Hand {path} over to the server at {url} by POST. What it sends back is stored as {out}.",
            f"Send {path} to {url} by POST, and save the reply as {out}.",
            f"Upload the file {path} to {url} in a POST request; store the response in {out}.",
            f"Post {path} to {url} and keep the answer in the file {out}.",
            f"Forward what is in {path} to {url} by HTTP POST. The answer goes in {out}.",
            f"Make a POST request to {url} with {path} as its body and {out} for the response.",
            f"Push {path} up to {url} with a POST, then write the server's answer to {out}.",
            f"Capture in {out} the response that {url} gives to a POST of {path}.",
            f"Ship {path} off to {url} as POST data; {out} gets the reply.",
            f"With {path} as the POST body, {url} has to be called; save its reply as {out}.",
            f"What does {url} answer when {path} is sent to it by POST? Record that in {out}.",
            f"The file {path} is to be posted to {url}, and the reply is to be kept as {out}.",
        ],
        outputs=[out],
        attempt=[f"wget -q --post-file={path} -O {out} {url}"],
    )


def _download_and_unpack(names: Names) -> Unit:
    place, archive = names.directory(), names.file("tgz", plain=True)
    url = _url(names, archive)
    return blocked_unit(
        names,
        fixtures=[directory(place)],
        asks=[
            f"Download {url} as {archive} and unpack it into {place}.",
            f"Fetch {archive} from {url}, then extract it in {place}.",
            f"The archive at {url} is wanted as {archive}, unpacked into {place}.",
        ],
        others=[
            f"I want {url} saved as {archive} and its files in {place}.",
            f"Could you load {url}, keep it as {archive} and expand it in {place}?",
            f"Get {archive} from {url} and put the files it holds into {place}.",
            f"Load the archive {url} under the name {archive}. What is in it belongs in {place}.",
            f"We need the members of {url} in {place}; the download itself stays here as {archive}.",
            f"Retrieve {url}, name it {archive}, and open it with tar inside {place}.",
            f"{place} has to be filled from {archive}, a download of {url}.",
            f"Pull {archive} down from {url} with wget; then let tar unpack it to {place}.",
            f"Copy {url} over the network to {archive}, then expand this archive inside {place}.",
            f"Into {place} go all files of {archive}, which comes from {url} and stays here, too.",
            f"From {url} get {archive}. Take what it holds out into {place}, and leave {archive} where it is.",
            f"Use wget on {url} and store the archive as {archive}; then use tar to open it in {place}.",
            f"Fill {place} with what the archive at {url} holds. The archive itself is stored as {archive}.",
            f"Download {url} as {archive} and unpack it in {place}.",
            f"Fetch {url}, save it here as {archive}, and extract all its files to {place}.",
            f"Save {url} under the name {archive}; its members are to be unpacked to {place}.",
            f"Obtain {archive} from {url}, then release its content into {place}. Keep {archive}.",
            f"Grab the archive at {url}, call it {archive}, and open it up in the folder {place}.",
            f"Bring {archive} in from {url}; once it is here, extract it below {place}.",
            f"After a download of {url} to {archive}, its files have to be unpacked in {place}.",
            f"Two things are wanted from {url}: the file {archive} here and its members in {place}.",
            f"Unpack in {place} the archive {archive}, which you first download from {url}.",
            f"Populate {place} with the files of {archive}; that archive has to be loaded from {url} first.",
            f"The archive {url} is to be stored here as {archive} and expanded, file by file, in {place}.",
        ],
        outputs=[archive, f"{place}/{names.file(plain=True)}"],
        attempt=[f"wget -q -O {archive} {url}", f"tar -xzf {archive} -C {place}"],
    )


SHAPES: dict[str, list[Shape]] = {
    "missing_source": [_copy_missing, _move_missing, _sort_missing, _edit_missing],
    "forbidden_place": [_install, _system_directory, _system_file, _move_out],
    "absent_program": unpackable.SHAPES["absent_program"],
    "unreachable_host": [_download, _refresh, _upload, _download_and_unpack],
    "broken_archive": unpackable.SHAPES["broken_archive"],
}
