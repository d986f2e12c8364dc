"""Rules a machine can hold: files, rows, import order, flags, sizes; each seen to fail on a planted fault."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MAX_LINES = 600


def readme_rows(text: str) -> dict[str, str]:
    """File name -> sentence of the README's file table, in order."""
    return dict(re.findall(r"^\| `([a-z_]+(?:\.py|/))` \| (.+?) \|$", text, flags=re.MULTILINE))


def first_sentence(path: Path) -> str:
    docstring = ast.get_docstring(ast.parse(path.read_text())) or ""
    return docstring.splitlines()[0] if docstring else ""


def order() -> list[str]:
    """Module names in the order of the README's table."""
    return [name.removesuffix(".py").removesuffix("/") for name in readme_rows((ROOT / "README.md").read_text())]


def imports_of(source: str) -> set[str]:
    """Top-level names that a source imports anywhere."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add((node.module or "").split(".")[0])
    return found


COMMANDS = {("dashdocker", "sandbox_cases")}  # a command that runs what is below it, imported nowhere but in main()


def upward_faults(sources: dict[str, str], table: list[str]) -> list[str]:
    """Imports that point down the table."""
    return [
        f"{name} imports {other}, which is not above it"
        for name, source in sources.items()
        for other in imports_of(source) & set(table)
        if other != name and table.index(other) >= table.index(name) and (name, other) not in COMMANDS
    ]


def scripts() -> list[str]:
    return sorted(path.stem for path in ROOT.glob("*.py"))


def with_command_line() -> list[str]:
    return [name for name in scripts() if "def parser(" in (ROOT / f"{name}.py").read_text()]


def test_readme_table_names_every_file_and_repeats_its_first_sentence() -> None:
    rows = readme_rows((ROOT / "README.md").read_text())
    assert set(rows) == {f"{name}.py" for name in scripts()} | {"templates/"}
    for name, sentence in rows.items():
        path = ROOT / name if name.endswith(".py") else ROOT / name / "__init__.py"
        assert first_sentence(path) == sentence, name


def test_the_readmes_rates_are_those_that_report_made_of_the_proof() -> None:
    made = (ROOT / "dev" / "proof" / "rates.md").read_text().split("\n\n")[0].splitlines()
    shown = [line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("| draw-")]
    assert shown == [line for line in made if re.match(r"\| draw-\d/eval-(archetypes|scenarios) ", line)]
    assert len(shown) == 4 * 2 * 3  # draws, sets, rows


def test_a_row_with_another_sentence_is_seen() -> None:
    assert readme_rows("| `split.py` | Do something else. |") == {"split.py": "Do something else."}
    assert first_sentence(ROOT / "split.py") != "Do something else."


def test_imports_point_up_the_table() -> None:
    sources = {name: (ROOT / f"{name}.py").read_text() for name in scripts()}
    sources["templates"] = "\n".join(path.read_text() for path in sorted((ROOT / "templates").glob("*.py")))
    assert upward_faults(sources, order()) == []


def test_what_a_command_runs_is_imported_by_main_alone() -> None:
    for name, other in COMMANDS:
        body = ast.parse((ROOT / f"{name}.py").read_text()).body
        users = [getattr(node, "name", "") for node in body if other in imports_of(ast.unparse(node))]
        assert users == ["main"]


def test_an_import_down_the_table_is_seen() -> None:
    assert upward_faults({"schema": "from rollout import run_episode"}, ["schema", "rollout"]) != []


@pytest.mark.parametrize("name", with_command_line())
def test_flags_are_the_keywords_of_main(name: str) -> None:
    module = importlib.import_module(name)
    arguments = [action for action in module.parser()._actions if action.dest != "help"]
    parameters = inspect.signature(module.main).parameters
    assert {action.dest for action in arguments} == set(parameters)
    assert all(parameter.kind is inspect.Parameter.KEYWORD_ONLY for parameter in parameters.values())
    assert all(action.help for action in arguments)
    assert not module.parser().allow_abbrev


def test_one_flag_name_has_one_type_in_every_script() -> None:
    kinds: dict[str, dict[str, str]] = {}
    for name in with_command_line():
        for action in importlib.import_module(name).parser()._actions:
            if action.option_strings and action.dest != "help":
                kinds.setdefault(action.dest, {})[name] = f"{action.type}{action.nargs}{action.const}"
    assert {dest: uses for dest, uses in kinds.items() if len(set(uses.values())) > 1} == {}


@pytest.mark.parametrize("name", with_command_line())
def test_help_is_quick_and_needs_no_torch(name: str) -> None:
    code = (
        f"import sys, {name} as script\n"
        "try:\n    script.parser().parse_args(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'torch', 'transformers', 'peft'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    start = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert first_sentence(ROOT / f"{name}.py") in done.stdout
    assert time.monotonic() - start < 10  # a hang guard, not a benchmark


def test_no_file_is_over_600_lines_and_no_name_shadows_a_module() -> None:
    taken = set(sys.stdlib_module_names) | {"docker", "torch", "transformers", "peft", "openai", "pydantic", "tqdm"}
    for path in [*ROOT.glob("*.py"), *(ROOT / "templates").glob("*.py"), *(ROOT / "tests").glob("*.py")]:
        assert len(path.read_text().splitlines()) <= MAX_LINES, path
    assert not taken & set(scripts())


def test_no_broad_except_and_no_mock() -> None:
    for path in [*ROOT.glob("*.py"), *(ROOT / "templates").glob("*.py"), *(ROOT / "tests").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ExceptHandler):
                assert node.type is not None, f"{path}:{node.lineno} catches everything"
                caught = {n.id for n in ast.walk(node.type) if isinstance(n, ast.Name)}
                assert not caught & {"Exception", "BaseException"}, f"{path}:{node.lineno}"
        assert not imports_of(path.read_text()) & {"mock", "unittest"}, path


def test_every_script_that_writes_prints_its_reads_writes_needs() -> None:
    for name in with_command_line():
        docstring = ast.get_docstring(ast.parse((ROOT / f"{name}.py").read_text())) or ""
        for word in ("Reads ", "Writes ", "Needs "):
            assert word in docstring, f"{name}: {word}"
