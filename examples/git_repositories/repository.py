"""Build a small bare git repository in memory, without git: the same names give the same bytes.

    orchard = repository(names)
    orchard.fixtures()            # what lies in the home: objects, refs, HEAD, config
    orchard.commits[0].files      # path -> text, as of that commit

A bare repository has no index. Git writes inode numbers and times into an index, so that no two runs of a solution
would leave the same files; the gate refuses such a scenario.
"""

import hashlib
import zlib
from dataclasses import dataclass, field

from authoring.templates.world import Names, text_of
from schema import HOME, Fixture

CONFIG = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"
FIRST_SECOND = 1_600_000_000  # of the oldest commit, since the epoch


@dataclass(frozen=True)
class Commit:
    """One commit: its full hash, subject, author's name, and every file as of it."""

    hash: str
    subject: str
    author: str
    files: dict[str, str]


@dataclass
class Repository:
    """A repository with one branch, main. `commits` are the oldest first; `tags` maps a tag to the place of its commit.

    `keyword` is a word that the commit at `keyword_at` brought in and that no other commit touches.
    """

    name: str
    keyword: str
    keyword_at: int = 0
    commits: list[Commit] = field(default_factory=list)
    tags: dict[str, int] = field(default_factory=dict)
    objects: dict[str, bytes] = field(default_factory=dict)

    def add_object(self, kind: str, body: bytes) -> str:
        """Store a loose object; returns its hash."""
        data = f"{kind} {len(body)}\0".encode() + body
        name = hashlib.sha1(data).hexdigest()
        self.objects[name] = zlib.compress(data, 1)
        return name

    def add_commit(self, subject: str, author: str, files: dict[str, str], second: int) -> None:
        """Commit the files, all of which lie at the top, on top of main."""
        rows = sorted((path, self.add_object("blob", text.encode())) for path, text in files.items())
        tree = self.add_object(
            "tree", b"".join(f"100644 {path}\0".encode() + bytes.fromhex(blob) for path, blob in rows)
        )
        parent = f"parent {self.commits[-1].hash}\n" if self.commits else ""
        who = f"{author} <{author.lower()}@example.org> {second} +0000"
        body = f"tree {tree}\n{parent}author {who}\ncommitter {who}\n\n{subject}\n"
        self.commits.append(Commit(self.add_object("commit", body.encode()), subject, author, dict(files)))

    def fixtures(self) -> list[Fixture]:
        """The repository as files of the world."""
        refs = {"heads/main": self.commits[-1].hash} | {
            f"tags/{tag}": self.commits[at].hash for tag, at in self.tags.items()
        }
        texts = {
            "HEAD": "ref: refs/heads/main\n",
            "config": CONFIG,
            **{f"refs/{ref}": f"{one}\n" for ref, one in refs.items()},
        }
        top = f"{HOME}/{self.name}"
        return [
            *(Fixture(path=f"{top}/{path}", text=text) for path, text in texts.items()),
            *(Fixture.of(f"{top}/objects/{one[:2]}/{one[2:]}", data, 0o444) for one, data in self.objects.items()),
        ]


def repository(names: Names) -> Repository:
    """A repository of four or five commits by two or three people, with the tags v1 and v2."""
    made = Repository(f"{names.word()}.git", names.keyword())
    people = [word.capitalize() for word in names.words(names.number(2, 3))]
    files: dict[str, str] = {}
    second = FIRST_SECOND + names.number(0, 10**8)
    count = names.number(4, 5)
    made.keyword_at = names.number(1, count - 1)
    for number in range(count):
        if number < 2 or number == count - 1:
            path = f"{names.word()}.{names.pick(['txt', 'md', 'conf'])}"
            files[path], subject = names.text(2, 4), f"Add {path}"
        else:
            path = names.pick(sorted(files))
            files[path], subject = files[path] + text_of([names.line()]), f"{names.pick(['Extend', 'Grow'])} {path}"
        if number == made.keyword_at:
            files[path] += f"{names.filler()[0]} {made.keyword}\n"
        made.add_commit(f"{subject} for {names.word()}", names.pick(people), files, second)
        second += names.number(600, 10**6)
    made.tags = {"v1": names.number(0, count - 3), "v2": count - 1}
    return made
