"""Find out what Python source does with paths and commands that stand in it as constants, without running it.

    source_accesses("open('a', 'w'); os.system('rm b')", run)      # run says what `rm b` does

Names of constants, joined paths and loops over a list of constants are followed; all else is not seen.
"""

import ast
import re
from collections.abc import Callable

from exports.access import MAX_ROUNDS, Access, Kind, normal

Runner = Callable[[str | list[str]], list[Access]]  # what a command does: shell text, or the words of one program


def source_accesses(source: str, run: Runner) -> list[Access]:
    """What Python source does, each thing once; nothing where it is no Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: nested too deeply
        return []
    try:
        names = _named(tree)
        rounds = max(map(len, names.values()), default=1)  # a name that a loop gives several values has one in each
        found = [
            access
            for number in range(min(MAX_ROUNDS, rounds))
            for access in _calls(tree, {name: values[number % len(values)] for name, values in names.items()}, run)
        ]
    except RecursionError:
        return []
    return list(dict.fromkeys(found))


def _named(tree: ast.AST) -> dict[str, list[str]]:
    """The constants that names stand for, by assignment or in a loop over a list of them."""
    names: dict[str, list[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            pairs = [(target, [node.value]) for target in node.targets]
        elif isinstance(node, ast.For | ast.comprehension) and isinstance(node.iter, ast.List | ast.Tuple):
            pairs = [(node.target, node.iter.elts)]
        else:
            continue
        for target, values in pairs:
            texts = [text for one in values if (text := _constant(one, {})) is not None]
            if isinstance(target, ast.Name) and texts:
                names.setdefault(target.id, []).extend(texts[:MAX_ROUNDS])
    return names


def _calls(tree: ast.AST, names: dict[str, str], run: Runner) -> list[Access]:
    """What the calls in a tree do, where the names stand for these texts."""
    found: list[Access] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        texts = [text for one in node.args if (text := _constant(one, names)) is not None]
        owned = [text] if owner is not None and (text := _constant(owner, names)) is not None else []
        modes = [str(text) for one in node.keywords if one.arg == "mode" and (text := _constant(one.value, names))]
        if name == "open":
            places = owned or texts[:1]
            mode = "".join([*(texts if owned else texts[1:]), *modes])
            kind: Kind = "write" if re.search(r"[wax+]", mode) else "read"
            found += [Access(kind, normal(text), "python") for text in places]
        elif name in ("write_text", "write_bytes", "touch", "chmod"):
            found += [Access("write", normal(text), "python", "".join(texts)) for text in owned or texts]
        elif name in ("read_text", "read_bytes"):
            found += [Access("read", normal(text), "python") for text in owned or texts]
        elif name in ("remove", "unlink", "rmtree", "rename", "replace", "move"):
            whole = owned + texts if name == "unlink" or owner is None else owned or texts
            found += [Access("delete", normal(text), "python") for text in whole if name != "replace" or owned]
        elif name in ("copy", "copyfile", "copy2"):
            found += [Access("read" if at == 0 else "write", normal(text), "python") for at, text in enumerate(texts)]
        elif name in ("system", "popen", "run", "call", "check_call", "check_output", "Popen"):
            listed = [one for one in node.args if isinstance(one, ast.List | ast.Tuple)]
            words = [text for one in listed for part in one.elts if (text := _constant(part, names)) is not None]
            for command in ([words] if words else []) + texts:
                found += run(command)
    return found


def _constant(node: ast.AST, names: dict[str, str]) -> str | None:
    """The text of a constant, a name of one, constants that are added, and a path that is joined from them."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Div):
        left, right = _constant(node.left, names), _constant(node.right, names)
        between = "/" if isinstance(node.op, ast.Div) else ""
        return None if left is None or right is None else left + between + right
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        parts = [_constant(one, names) for one in node.args]
        if name in ("join", "Path", "PurePath", "expanduser", "str") and parts and None not in parts:
            return "/".join(part for part in parts if part is not None)
    return None
