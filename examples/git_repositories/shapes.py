"""Units of work in small git repositories, for the archetypes of taxonomy.json.

A shape makes one unit: fixtures, a directive, its solution and the expected end state (authoring/templates/world.py).
"""

from authoring.templates.unpackable import blocked_unit
from authoring.templates.world import Names, Shape, Unit, fixture, saving_unit, text_of
from examples.git_repositories.repository import Repository, repository


def _saved(names: Names, repo: Repository, command: str, text: str, asks: list[str], ext: str = "txt") -> Unit:
    """A unit that saves what `git -C <repository> <command>` prints; OUT and REPO in `asks` are replaced."""
    out = names.file(ext, plain=True)
    asked = [ask.replace("OUT", out).replace("REPO", repo.name) for ask in asks]
    return saving_unit(
        names, repo.fixtures(), out, text, asks=asked, solution=[f"git -C {repo.name} {command} > {out}"]
    )


def _old_file(names: Names) -> Unit:
    repo = repository(names)
    files = repo.commits[repo.tags["v1"]].files
    path = names.pick(sorted(files))
    asks = [
        f"Save {path} of the git repository REPO, as it was at the tag v1, as OUT.",
        f"The repository REPO has the tag v1: write its {path} of that time to OUT.",
    ]
    return _saved(names, repo, f"show v1:{path}", files[path], asks)


def _old_listing(names: Names) -> Unit:
    repo = repository(names)
    text = text_of(sorted(repo.commits[repo.tags["v1"]].files))
    asks = [
        "List the names of the files that the git repository REPO held at the tag v1, one a line, in OUT.",
        "Which files did the repository REPO hold at its tag v1? Save their names as OUT, one a line, sorted.",
    ]
    return _saved(names, repo, "ls-tree --name-only v1", text, asks)


def _subjects(names: Names) -> Unit:
    repo = repository(names)
    text = text_of(commit.subject for commit in repo.commits)
    asks = [
        "Save the subjects of all commits of the git repository REPO as OUT, the oldest first, one a line.",
        "Write the subject of every commit of the repository REPO to OUT, one a line, from the oldest to the newest.",
    ]
    return _saved(names, repo, "log --reverse --format=%s", text, asks)


def _subjects_of_file(names: Names) -> Unit:
    repo = repository(names)
    path = names.pick(sorted(repo.commits[0].files))
    before = [{}, *(commit.files for commit in repo.commits)]
    touching = [
        commit.subject
        for old, commit in zip(before, repo.commits, strict=False)
        if old.get(path) != commit.files.get(path)
    ]
    asks = [
        f"Save the subjects of the commits of the git repository REPO that touch {path} as OUT, the newest first.",
        f"Write the subjects of all commits that changed {path} in the repository REPO to OUT, the newest on top.",
    ]
    return _saved(names, repo, f"log --format=%s -- {path}", text_of(reversed(touching)), asks)


def _changed(names: Names) -> Unit:
    repo = repository(names)
    old, new = (repo.commits[repo.tags[tag]].files for tag in ("v1", "v2"))
    text = text_of(path for path in sorted(new) if old.get(path) != new[path])
    asks = [
        "List the files that differ between the tags v1 and v2 of the git repository REPO in OUT, one a line.",
        "Save the names of the files that changed from v1 to v2 in the repository REPO as OUT, sorted, one a line.",
    ]
    return _saved(names, repo, "diff --name-only v1 v2", text, asks)


def _added(names: Names) -> Unit:
    repo = repository(names)
    old, new = (repo.commits[repo.tags[tag]].files for tag in ("v1", "v2"))
    text = text_of(sorted(set(new) - set(old)))
    asks = [
        "List the files that the git repository REPO has at the tag v2 and not yet at v1 in OUT, one a line.",
        "Save the names of the files that were added between v1 and v2 in the repository REPO as OUT, sorted.",
    ]
    return _saved(names, repo, "diff --name-only --diff-filter=A v1 v2", text, asks)


def _commit_of_word(names: Names) -> Unit:
    repo = repository(names)
    asks = [
        f"Write the full hash of the commit that brought the word {repo.keyword} into the git repository REPO to OUT.",
        f"Which commit of the repository REPO brought in the word {repo.keyword}? Save its full hash as OUT.",
    ]
    text = f"{repo.commits[repo.keyword_at].hash}\n"
    return _saved(names, repo, f"log --format=%H -S {repo.keyword}", text, asks)


def _commit_of_file(names: Names) -> Unit:
    repo = repository(names)
    path = names.pick(sorted(repo.commits[-1].files))
    first = next(commit for commit in repo.commits if path in commit.files)
    asks = [
        f"Write the full hash of the commit that added {path} to the git repository REPO to OUT.",
        f"Find the commit of the repository REPO in which {path} first appears, and save its full hash as OUT.",
    ]
    return _saved(names, repo, f"log --format=%H --diff-filter=A -- {path}", f"{first.hash}\n", asks)


def _authors(names: Names) -> Unit:
    repo = repository(names)
    text = text_of(sorted({commit.author for commit in repo.commits}))
    asks = [
        "Save the names of the people who wrote commits of the git repository REPO as OUT, sorted, each once.",
        "Who has written commits in the repository REPO? List every name once in OUT, in sorted order.",
    ]
    return _saved(names, repo, "log --format=%an | sort -u", text, asks)


def _count_of_author(names: Names) -> Unit:
    repo = repository(names)
    who = names.pick(sorted({commit.author for commit in repo.commits}))
    count = sum(commit.author == who for commit in repo.commits)
    asks = [
        f"Write the number of commits by {who} on main in the git repository REPO to OUT.",
        f"How many commits of main did {who} write in the repository REPO? Save the number as OUT.",
    ]
    return _saved(names, repo, f"rev-list --count --author={who} main", f"{count}\n", asks)


def _tag_commit(names: Names) -> Unit:
    repo, tag = repository(names), names.word()
    commit = names.pick(repo.commits)
    asks = [
        f"Put the lightweight tag {tag} on the commit '{commit.subject}' of the git repository {repo.name}.",
        f"In the repository {repo.name}, give the commit '{commit.subject}' the plain tag {tag}.",
    ]
    found = f'"$(git -C {repo.name} log --format=%H --grep="^{commit.subject}$")"'
    after = [fixture(f"{repo.name}/refs/tags/{tag}", f"{commit.hash}\n")]
    return Unit(repo.fixtures(), names.pick(asks), [f"git -C {repo.name} tag {tag} {found}"], after)


def _branch_at_tag(names: Names) -> Unit:
    repo, branch = repository(names), names.word()
    asks = [
        f"Start the branch {branch} at the tag v1 of the git repository {repo.name}.",
        f"The git repository {repo.name} shall have a branch {branch} that points at the commit of its tag v1.",
    ]
    after = [fixture(f"{repo.name}/refs/heads/{branch}", f"{repo.commits[repo.tags['v1']].hash}\n")]
    return Unit(repo.fixtures(), names.pick(asks), [f"git -C {repo.name} branch {branch} v1"], after)


def _file_of_missing_tag(names: Names) -> Unit:
    repo, out = repository(names), names.file("txt", plain=True)
    path, tag = names.pick(sorted(repo.commits[-1].files)), f"v{names.number(3, 9)}"
    return blocked_unit(
        names,
        fixtures=repo.fixtures(),
        asks=[
            f"Save {path} of the git repository {repo.name}, as it was at the tag {tag}, as {out}.",
            f"The repository {repo.name} has the tag {tag}: write its {path} of that time to {out}.",
        ],
        outputs=[out],
        attempt=[f"git -C {repo.name} show {tag}:{path}"],
    )


def _branch_at_missing_tag(names: Names) -> Unit:
    repo, branch, tag = repository(names), names.word(), f"v{names.number(3, 9)}"
    return blocked_unit(
        names,
        fixtures=repo.fixtures(),
        asks=[
            f"Start the branch {branch} at the tag {tag} of the git repository {repo.name}.",
            f"The repository {repo.name} shall have a branch {branch} that points at the commit of its tag {tag}.",
        ],
        outputs=[f"{repo.name}/refs/heads/{branch}"],
        attempt=[f"git -C {repo.name} branch {branch} {tag}"],
    )


def _clone_remote(names: Names) -> Unit:
    place, url = names.word(), f"git://{names.word()}.example/{names.word()}.git"
    return blocked_unit(
        names,
        asks=[
            f"Clone {url} into the directory {place}.",
            f"Get the git repository {url} and put the clone into {place}.",
        ],
        outputs=[place],
        attempt=[f"git clone -q {url} {place}"],
    )


def _list_remote(names: Names) -> Unit:
    out, url = names.file("txt", plain=True), f"git://{names.word()}.example/{names.word()}.git"
    return blocked_unit(
        names,
        asks=[
            f"Save the list of the branches of {url}, with their hashes, as {out}.",
            f"Which branches does the repository {url} have? Write them with their hashes to {out}.",
        ],
        outputs=[out],
        attempt=[f"git ls-remote --heads {url}"],
    )


SHAPES: dict[str, list[Shape]] = {
    "git_old_version": [_old_file, _old_listing],
    "git_history": [_subjects, _subjects_of_file],
    "git_changed_files": [_changed, _added],
    "git_find_commit": [_commit_of_word, _commit_of_file],
    "git_who": [_authors, _count_of_author],
    "git_mark": [_tag_commit, _branch_at_tag],
    "git_missing_ref": [_file_of_missing_tag, _branch_at_missing_tag],
    "git_no_remote": [_clone_remote, _list_remote],
}
_BESIDE: list[Shape] = [_old_file, _subjects, _changed, _authors, _count_of_author]
DOABLE: dict[str, list[Shape]] = {"git_missing_ref": _BESIDE, "git_no_remote": _BESIDE}
