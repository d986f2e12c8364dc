"""Count 13-grams of scenarios that occur in the corpus of the base that `base/` was trained further from.

    python -m dev.began_on dev/proof/began_on.json runs/out/proof/draw-*/{archetypes,scenarios}/holdout

That base was made at commit cc11deb, by code that is no longer in the tree. The script unpacks that commit with `git
archive`, writes the corpus again with its own code (150,528 documents, `base/recipe.json`), checks the hash of the
corpus, and counts as contamination.py does. It takes about five minutes on one core.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from contamination import GRAM_WORDS, found_in, grams_of, shared, union_of
from pipeline.files import read_json, read_scenarios, write_json

ROOT = Path(__file__).resolve().parent.parent
COMMIT = "cc11deb"
WRITE = """
import json, corpus
print(json.dumps(corpus.digest({seed})))
for index in range({documents}):
    print(json.dumps([turn.content for turn in corpus.document({seed}, index).messages]))
"""


def texts_of_corpus(seed: int, documents: int, digest: str) -> Iterator[str]:
    """The turns of all documents, written by the code of COMMIT. Asserts that its corpus has this digest."""
    with tempfile.TemporaryDirectory() as directory:
        archive = subprocess.run(["git", "archive", COMMIT], cwd=ROOT, capture_output=True, check=True).stdout
        subprocess.run(["tar", "-x", "-C", directory], input=archive, check=True)
        command = [sys.executable, "-c", WRITE.format(seed=seed, documents=documents)]
        with subprocess.Popen(command, cwd=directory, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout
            assert json.loads(next(writer.stdout)) == digest, f"{COMMIT} writes another corpus than the recipe names"
            for line in writer.stdout:
                yield from json.loads(line)


def main(out: Path, holdouts: list[Path]) -> None:
    """Write the counts of each directory, named by its path below the parent of its split seed."""
    recipe = read_json(ROOT / "base" / "recipe.json")["began_on"]
    wanted = {"/".join(path.parts[-3:-1]): [grams_of(one) for one in read_scenarios(path)] for path in holdouts}
    texts = texts_of_corpus(int(recipe["flags"]["seed"]), int(recipe["documents"]), recipe["corpus_sha256"])
    found = found_in(union_of(grams for all_of_one in wanted.values() for grams in all_of_one), texts)
    counts = {name: shared(union_of(grams), found) for name, grams in wanted.items()}
    write_json(out, {"commit": COMMIT, "documents": recipe["documents"], "run_words": GRAM_WORDS, "shared": counts})


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(one) for one in sys.argv[2:]])
