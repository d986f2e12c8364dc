"""The rules that a machine can hold: layout, imports, flags, sizes; each seen to fail on a planted fault."""

import ast
import dataclasses
import importlib
import inspect
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from pipeline.rates import BEHAVIOUR, RATES
from pipeline.stage import settings_of
from tests.helpers import ROOT, program

MAX_LINES = 600
VOCABULARY = ("taxonomy", "schema")  # the two scripts that everything may import
CODE = ("bench", "dev", "examples", "tests")  # beside the packages of the README's table


def table_rows(text: str) -> dict[str, str]:
    """File or package (with its slash) -> its sentence in the README's tables, in order."""
    return dict(re.findall(r"^\| `([a-z_]+(?:\.py|/))` \| (.+?) \|$", text, flags=re.MULTILINE))


def first_sentence(path: Path) -> str:
    docstring = ast.get_docstring(ast.parse(path.read_text())) or ""
    return docstring.splitlines()[0] if docstring else ""


def packages() -> list[str]:
    """The packages in the order of the README's table, which is the order of imports."""
    return [name.removesuffix("/") for name in table_rows((ROOT / "README.md").read_text()) if name.endswith("/")]


def scripts() -> list[str]:
    return sorted(path.stem for path in ROOT.glob("*.py"))


def sources_of(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def every_source() -> list[Path]:
    return [*ROOT.glob("*.py"), *(path for name in [*packages(), *CODE] for path in sources_of(name))]


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def runnable() -> list[str]:
    """Scripts (`sft.py`) and modules of packages (`training.reload`) that have a command line."""
    modules = [module_name(path) for name in packages() for path in sources_of(name) if has_parser(path)]
    return [f"{name}.py" for name in scripts() if has_parser(ROOT / f"{name}.py")] + modules


def has_parser(path: Path) -> bool:
    return "\ndef parser(" in path.read_text()


def path_of(name: str) -> Path:
    return ROOT / (name if name.endswith(".py") else name.replace(".", "/") + ".py")


def module_of(name: str) -> ModuleType:
    return importlib.import_module(name.removesuffix(".py"))


def imports_of(source: str) -> set[str]:
    """Dotted names of the modules that a source may import, wherever in it, with `from a import b` as `a` and `a.b`."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def downward_imports(sources: dict[str, str], order: list[str], all_scripts: list[str]) -> list[str]:
    """What a package's module (its dotted name) imports from a later package or a script."""
    faults = []
    for name, source in sources.items():
        place = order.index(name.split(".")[0])
        for other in sorted({one.split(".")[0] for one in imports_of(source)}):
            if (other in order and order.index(other) > place) or (other in all_scripts and other not in VOCABULARY):
                faults.append(f"{name} imports {other}")
    return faults


def scripts_that_import_scripts(sources: dict[str, str]) -> list[str]:
    """Scripts that import another one which is not the vocabulary."""
    return [
        f"{name} imports {other}"
        for name, source in sources.items()
        for other in sorted(imports_of(source) & set(sources))
        if other not in VOCABULARY
    ]


def circles(graph: dict[str, set[str]]) -> list[str]:
    """Modules that import themselves through others."""

    def reached(name: str) -> set[str]:
        seen: set[str] = set()
        todo = list(graph.get(name, ()))
        while todo:
            if (one := todo.pop()) not in seen:
                seen.add(one)
                todo += graph.get(one, ())
        return seen

    return sorted(name for name in graph if name in reached(name))


def import_graph() -> dict[str, set[str]]:
    modules = {module_name(path): path for name in packages() for path in sources_of(name)}
    graph = {}
    for name, path in modules.items():
        found = imports_of(path.read_text()) & set(modules)
        # `from authoring.templates import lines` is an import of that module, not of what the package itself holds.
        graph[name] = {one for one in found if not any(other.startswith(f"{one}.") for other in found)}
    return graph


def test_readme_tables_name_every_script_and_package() -> None:
    rows = table_rows((ROOT / "README.md").read_text())
    named = {path.parent.name + "/" for path in ROOT.glob("*/__init__.py")} - {"bench/", "dev/", "tests/"}
    assert set(rows) == {f"{name}.py" for name in scripts()} | named
    for name, sentence in rows.items():
        path = ROOT / name if name.endswith(".py") else ROOT / name / "__init__.py"
        assert first_sentence(path) == sentence, name


def test_a_row_with_another_sentence_is_seen() -> None:
    assert table_rows("| `split.py` | Do something else. |") == {"split.py": "Do something else."}
    assert first_sentence(ROOT / "split.py") != "Do something else."


def test_packages_import_upwards_only() -> None:
    sources = {module_name(path): path.read_text() for name in packages() for path in sources_of(name)}
    assert downward_imports(sources, packages(), scripts()) == []


def test_a_downward_import_is_seen() -> None:
    order = ["pipeline", "sandbox", "model"]
    planted = {"sandbox.session": "def f():\n    from model import decoder\n"}
    assert downward_imports(planted, order, ["rollout"]) == ["sandbox.session imports model"]
    assert downward_imports({"model.render": "import rollout"}, order, ["rollout"]) == ["model.render imports rollout"]
    assert downward_imports({"model.render": "import schema, pipeline.stage"}, order, ["schema"]) == []


def test_no_script_imports_a_script() -> None:
    sources = {name: (ROOT / f"{name}.py").read_text() for name in scripts()}
    assert scripts_that_import_scripts(sources) == []


def test_a_script_that_imports_a_script_is_seen() -> None:
    planted = {"eval": "import schema\nfrom rollout import finished", "rollout": "", "schema": ""}
    assert scripts_that_import_scripts(planted) == ["eval imports rollout"]


def test_no_module_imports_itself_through_others() -> None:
    assert circles(import_graph()) == []


def test_a_circle_is_seen() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == ["a", "b", "c"]


def test_tests_mirror_the_packages() -> None:
    directories = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert directories == {*packages(), "bench", "examples"}
    assert {path.stem.removeprefix("test_") for path in (ROOT / "tests").glob("test_*.py")} <= {
        *scripts(), "layout", "bad_input", "old_records",
    }  # fmt: skip


def test_tests_import_no_tests() -> None:
    assert imports_of_tests({module_name(one): one.read_text() for one in sources_of("tests")}) == []


def test_a_test_that_imports_a_test_is_seen() -> None:
    planted = {"tests.sandbox.test_faults": "from tests.test_rollout import Scripted\nfrom tests.helpers import ROOT"}
    assert imports_of_tests(planted) == ["tests.sandbox.test_faults imports tests.test_rollout"]


def imports_of_tests(sources: dict[str, str]) -> list[str]:
    return [
        f"{name} imports {other}"
        for name, source in sources.items()
        for other in sorted(imports_of(source))
        if re.search(r"(^|\.)test_\w+$", other)
    ]


@pytest.mark.parametrize("name", runnable())
def test_flags_are_the_keywords_of_main(name: str) -> None:
    module = module_of(name)
    arguments = [action for action in module.parser()._actions if action.dest != "help"]
    assert {action.dest for action in arguments} == flags_of_main(module.main)
    assert all(action.help for action in arguments)
    assert not module.parser().allow_abbrev


def flags_of_main(main: Callable[..., int]) -> set[str]:
    """The keyword-only parameters of a main, or the fields of the one record that it takes."""
    if settings := settings_of(main):
        return {field.name for field in dataclasses.fields(settings)}
    parameters = inspect.signature(main).parameters
    assert all(parameter.kind is inspect.Parameter.KEYWORD_ONLY for parameter in parameters.values())
    return set(parameters)


def test_a_flag_that_nobody_reads_is_seen() -> None:
    def main(*, n: int) -> int:
        return n

    assert flags_of_main(main) == {"n"} != {"n", "seed"}


def test_one_flag_name_has_one_type_in_every_script() -> None:
    kinds: dict[str, dict[str, str]] = {}
    for name in runnable():
        for action in module_of(name).parser()._actions:
            if action.option_strings and action.dest != "help":
                kinds.setdefault(action.dest, {})[name] = f"{action.type}{action.nargs}{action.const}"
    assert {dest: uses for dest, uses in kinds.items() if len(set(uses.values())) > 1} == {}


@pytest.mark.parametrize("name", runnable())
def test_help_is_quick_and_needs_no_torch(name: str) -> None:
    module = name.removesuffix(".py")
    code = (
        f"import importlib, sys; script = importlib.import_module({module!r})\n"
        "try:\n    script.parser().parse_args(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'torch', 'transformers', 'peft'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    start = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert first_sentence(path_of(name)) in done.stdout
    assert time.monotonic() - start < 10  # a hang guard, not a benchmark


@pytest.mark.parametrize("name", ["training.reload", "eval.py"])
def test_programs_run_as_written(name: str) -> None:
    done = subprocess.run([*program(name), "--help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert first_sentence(path_of(name)) in done.stdout


def test_no_file_is_over_600_lines_and_no_name_shadows_a_module() -> None:
    assert long_files({str(path): path.read_text() for path in every_source()}) == []
    taken = set(sys.stdlib_module_names) | {"docker", "torch", "transformers", "peft", "openai", "pydantic", "tqdm"}
    assert not taken & {*scripts(), *packages()}


def test_a_file_of_601_lines_is_seen() -> None:
    assert long_files({"short.py": "\n" * 600, "long.py": "\n" * 601}) == ["long.py"]


def long_files(sources: dict[str, str]) -> list[str]:
    return [name for name, text in sources.items() if len(text.splitlines()) > MAX_LINES]


def proof_rows() -> list[str]:
    """The rows of the first table of the tiny base's proof, which report.py wrote."""
    made = (ROOT / "dev" / "proof" / "tiny_base" / "rates.md").read_text().split("\n\n")[0].splitlines()
    return [line for line in made if re.match(r"\| draw-\d/eval-(archetypes|scenarios) ", line)]


def rates_by_split_seed(rows: list[str]) -> dict[str, list[str]]:
    """Split seed -> terminate, verified, clean of the adapter in held-out archetypes, then in trained ones, percent."""
    rates: dict[str, list[str]] = {}
    for row in rows:
        run, _, subject, _, *cells = [cell.strip() for cell in row.strip("|").split("|")]
        if subject == "adapter":
            seed = run.removeprefix("draw-").split("/")[0]
            rates.setdefault(seed, []).extend(re.findall(r" (\d+)% ", " ".join(cells)))
    return rates


def rates_in_table(text: str) -> dict[str, list[str]]:
    """The cells of each row of a page whose first cell is a split seed."""
    rows = re.findall(r"^\| (\d) \| (.+) \|$", text, flags=re.MULTILINE)
    return {seed: cells.split(" | ") for seed, cells in rows}


def test_results_show_the_rates_of_the_tiny_base() -> None:
    section = (ROOT / "docs" / "results.md").read_text().partition("\n## The tiny base")[2].partition("\n## ")[0]
    shown = rates_in_table(section)
    assert len(shown) == 4
    assert shown == rates_by_split_seed(proof_rows())


def test_another_rate_on_the_page_is_seen() -> None:
    made = rates_by_split_seed(proof_rows())
    rows = "".join(f"| {seed} | {' | '.join(cells)} |\n" for seed, cells in made.items())
    assert rates_in_table(rows) == made
    assert rates_in_table(rows.replace("| 1 | 95 |", "| 1 | 96 |")) != made


def shows_eval_columns(text: str) -> bool:
    """True where a page shows the columns of eval.py's first two tables, in their order."""
    lines = [line.split() for line in text.splitlines()]
    return [*RATES, "voided"] in lines and list(BEHAVIOUR) in lines


def test_readme_shows_the_columns_that_eval_prints() -> None:
    assert shows_eval_columns((ROOT / "README.md").read_text())


def test_a_missing_column_is_seen() -> None:
    text = (ROOT / "README.md").read_text()
    assert not shows_eval_columns(text.replace("discover_rate   ", ""))


def dead_links(page: Path, text: str) -> list[str]:
    """Links of a markdown page to files that do not exist, or to headings that the page does not have."""
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    links = [one for one in re.findall(r"\]\(([^)\s]+)\)", text) if not one.startswith("http")]
    return [
        link
        for link in links
        if (link[1:] not in anchors if link.startswith("#") else not (page.parent / link.split("#")[0]).exists())
    ]


@pytest.mark.parametrize("pattern", ["*.md", "docs/*.md", "dev/*.md"])
def test_links_lead_somewhere(pattern: str) -> None:
    pages = sorted(ROOT.glob(pattern))
    assert pages
    assert {str(one): dead for one in pages if (dead := dead_links(one, one.read_text()))} == {}


def test_a_dead_link_is_seen() -> None:
    text = (
        "# A page\n[here](README.md#files) [there](docs/nowhere.md) [up](#a-page) [down](#below) [web](https://a.b/c)"
    )
    assert dead_links(ROOT / "CONTRIBUTING.md", text) == ["docs/nowhere.md", "#below"]


@pytest.mark.parametrize("pattern", ["*.md", "docs/*.md", "runs/*.sh"])
def test_commands_on_pages_and_in_recipes_exist(pattern: str) -> None:
    pages = sorted(ROOT.glob(pattern))
    assert pages
    assert {str(page): faults for page in pages if (faults := unknown_flags(page.read_text()))} == {}


def test_a_command_with_an_unknown_flag_is_seen() -> None:
    text = "python split.py \\\n  --by archetype --colour red\n`python -m training.reload --tint 3` python none.py --x"
    text += "\n.venv-peers/bin/python -m harbor.utils --x"  # not this project's
    assert unknown_flags(text) == ["split.py --colour", "training.reload --tint", "none.py: no such program"]


def unknown_flags(text: str) -> list[str]:
    """Flags that a page gives to programs of this project that do not have them, and programs that do not exist."""
    faults = []
    joined = re.sub(r"\\\n\s*", "", text)
    for name, rest in re.findall(r"(?<!peers/bin/)\bpython (?:-m )?([\w./]+)([^`\n#]*)", joined):
        if not path_of(name).exists() and name not in {"pytest", *sys.stdlib_module_names}:
            faults.append(f"{name}: no such program")
        elif name in runnable() and name != "resident.py":  # whose jobs take the flags of sft.py and eval.py
            known = {flag for action in module_of(name).parser()._actions for flag in action.option_strings}
            faults += [
                f"{name} {flag}"
                for flag in re.findall(r"(?<!\S)(--[a-z0-9-]+)", rest.split(" python ")[0])
                if flag not in known
            ]
    return faults


def entries_without_decision(log: str) -> list[str]:
    """Headings of log entries that do not open with the lines `decided` and `why`."""
    entries = re.split(r"^## ", log, flags=re.MULTILINE)[1:]
    return [entry.split("\n")[0] for entry in entries if not re.match(r".+\n\n- decided: .+\n(  .+\n)*- why: ", entry)]


def test_log_entries_open_with_decided_and_why() -> None:
    assert entries_without_decision((ROOT / "dev" / "LOG.md").read_text()) == []


def test_a_log_entry_without_why_is_seen() -> None:
    log = "# Log\n\n## One\n\n- decided: this.\n- why: that.\n\n## Two\n\n- decided: this.\n\nText.\n"
    assert entries_without_decision(log) == ["Two"]


def names_in_two_files(sources: dict[str, str]) -> list[str]:
    """Public classes and functions at the top of a file whose name another file has too."""
    places: dict[str, list[str]] = {}
    for name, source in sorted(sources.items()):
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name not in ("main", "parser"):
                places.setdefault(node.name, []).append(name)
    return [f"{name}: {', '.join(found)}" for name, found in places.items() if len(found) > 1 and name[0] != "_"]


def test_one_name_is_one_thing() -> None:
    paths = [*ROOT.glob("*.py"), *(path for name in [*packages(), "bench"] for path in sources_of(name))]
    assert names_in_two_files({module_name(path): path.read_text() for path in paths}) == []


def test_a_name_in_two_files_is_seen() -> None:
    planted = {
        "a": "def check(): ...",
        "b": "class check: ...\ndef _own(): ...",
        "c": "def _own(): ...\ndef main(): ...",
    }
    assert names_in_two_files(planted) == ["check: a, b"]


def long_mains(sources: dict[str, str]) -> list[str]:
    """Files whose `main` has 60 lines or more."""
    return [
        name
        for name, source in sources.items()
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) and node.name == "main" and (node.end_lineno or 0) - node.lineno >= 59
    ]


def test_every_main_is_under_60_lines() -> None:
    assert long_mains({str(path): path.read_text() for path in every_source()}) == []


def test_a_long_main_is_seen() -> None:
    assert long_mains({"a": "def main():\n" + "    x = 1\n" * 59, "b": "def main():\n" + "    x = 1\n" * 58}) == ["a"]


def test_no_broad_except_and_no_mock() -> None:
    for path in every_source():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ExceptHandler):
                assert node.type is not None, f"{path}:{node.lineno} catches everything"
                caught = {n.id for n in ast.walk(node.type) if isinstance(n, ast.Name)}
                assert not caught & {"Exception", "BaseException"}, f"{path}:{node.lineno}"
        assert not {one.split(".")[0] for one in imports_of(path.read_text())} & {"mock", "unittest"}, path


def test_every_program_says_what_it_reads_writes_and_needs() -> None:
    for name in runnable():
        docstring = ast.get_docstring(ast.parse(path_of(name).read_text())) or ""
        for word in ("Reads ", "Writes ", "Needs "):
            assert word in docstring, f"{name}: {word}"
