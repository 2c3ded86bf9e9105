"""The house as it stands: rooms, their sizes and what they import, read from the source. `make graph`;
`make test` runs it with --quiet, which prints only the rules that are broken.

A room is a folder of src/zwang, or a single file beside the folders. Imports count wherever they stand: at module
level, inside functions (lazy) and under TYPE_CHECKING (typing). Exit code 1 if there is a cycle of any of them, between
rooms or between modules, a room of more than twenty files without sub-rooms, a function too complex or with too many
parameters (public signatures aside: they are listed).
"""

import ast
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

ROOT = Path(__file__).parents[1] / "src" / "zwang"
KINDS = ("module", "lazy", "typing")
MOST_FILES = 20  # in a room without sub-rooms
MOST_COMPLEX = 25
MOST_PARAMETERS = 10

Graph = dict[str, set[str]]
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Import:
    """That one module imports another, and how."""

    source: str
    target: str
    kind: str


@dataclass(frozen=True)
class Measured:
    """A function, where it stands, and its size in two measures."""

    place: str
    name: str
    complexity: int
    parameters: int
    public: bool


def main() -> int:
    """Print everything; the number of rules that are broken."""
    trees = {name_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in sorted(ROOT.rglob("*.py"))}
    imports = [found for name, tree in trees.items() for found in imports_of(name, tree, trees.keys())]
    print_rooms(imports)
    broken = [*cycles_found(imports), *large_rooms(), *large_functions(trees)]
    print("\n".join(["", *broken, f"{len(broken)} rules broken" if broken else "no rule is broken"]))
    return len(broken)


def name_of(path: Path) -> str:
    """A module's name; a package's is its folder's."""
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    """The room that a module stands in; the package's own file is the door."""
    return module.split(".")[1] if "." in module else "zwang"


# Imports


def imports_of(name: str, tree: ast.Module, known: Iterable[str]) -> Iterator[Import]:
    """All imports of one module from the package."""
    package = name if (ROOT.parent.joinpath(*name.split(".")) / "__init__.py").exists() else name.rpartition(".")[0]
    for node, kind in walk(tree, "module"):
        for target in targets(node, package, set(known)):
            if target != name:
                yield Import(name, target, kind)


def walk(node: ast.AST, kind: str) -> Iterator[tuple[ast.Import | ast.ImportFrom, str]]:
    """Every import below a node with its kind."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, kind
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for part in child.body:
                yield from walk(ast.Module([part], []), "typing")
            for part in child.orelse:
                yield from walk(ast.Module([part], []), kind)
        elif isinstance(child, Function):
            yield from walk(child, "lazy" if kind == "module" else kind)
        else:
            yield from walk(child, kind)


def targets(node: ast.Import | ast.ImportFrom, package: str, known: set[str]) -> Iterator[str]:
    """The modules that an import statement names."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in known)
        return
    base = node.module or ""
    if node.level:
        parents = package.split(".")[: len(package.split(".")) - node.level + 1]
        base = ".".join([*parents, *([base] if base else [])])
    for alias in node.names:
        inner = f"{base}.{alias.name}"
        if inner in known or base in known:
            yield inner if inner in known else base


def graph_of(edges: Iterable[tuple[str, str]]) -> Graph:
    """A graph of edges, loops left out."""
    graph: Graph = {}
    for source, target in edges:
        graph.setdefault(source, set())
        graph.setdefault(target, set())
        if source != target:
            graph[source].add(target)
    return graph


def cycles(graph: Graph) -> list[list[str]]:
    """The strongly connected components of more than one node (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            component = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(component) > 1:
                found.append(sorted(component))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def cycles_found(imports: list[Import]) -> Iterator[str]:
    """Every cycle of rooms, then of modules, in words with the imports that close it."""
    rooms = graph_of((room_of(i.source), room_of(i.target)) for i in imports)
    for cycle in cycles(rooms):
        yield f"cycle of rooms: {', '.join(cycle)}"
    for cycle in cycles(graph_of((i.source, i.target) for i in imports)):
        inside = dict.fromkeys(i for i in imports if i.source in cycle and i.target in cycle)
        arrows = "".join(f"\n    {i.source} -> {i.target} ({i.kind})" for i in inside)
        yield f"cycle of {len(cycle)} modules:{arrows}"


# Rooms


def print_rooms(imports: list[Import]) -> None:
    """The rooms from the top of the house down, each with its size and the rooms that it imports."""
    between = Counter((room_of(i.source), room_of(i.target), i.kind) for i in imports)
    graph = graph_of((source, target) for source, target, _ in between)
    sizes = sizes_of_rooms()
    print(f"{'room':14}{'files':>6}{'lines':>8}  imports (at module level + lazy + typing)")
    for room in from_top(graph | {room: graph.get(room, set()) for room in sizes}):
        files, lines, inner = sizes[room]
        below = [
            f"{target} {'+'.join(str(between[room, target, kind]) for kind in KINDS)}" for target in sorted(graph[room])
        ]
        print(f"{room:14}{files:6}{lines:8}  {', '.join(below)}")
        for name, (count, length) in inner.items():
            print(f"  {name:12}{count:6}{length:8}")
    totals = Counter(i.kind for i in imports)
    print(
        f"{'all':14}{sum(s[0] for s in sizes.values()):6}{sum(s[1] for s in sizes.values()):8}  "
        f"{', '.join(f'{totals[kind]} {kind}' for kind in KINDS)}"
    )


def sizes_of_rooms() -> dict[str, tuple[int, int, dict[str, tuple[int, int]]]]:
    """Files and lines of every room, and of the folders in it."""
    sizes: dict[str, tuple[int, int, dict[str, tuple[int, int]]]] = {}
    for path in sorted(ROOT.rglob("*.py")):
        room, lines = room_of(name_of(path)), len(path.read_text(encoding="utf-8").splitlines())
        files, total, inner = sizes.get(room, (0, 0, {}))
        inside = path.relative_to(ROOT).parts[1:-1]
        if inside:
            count, length = inner.get("/".join(inside), (0, 0))
            inner["/".join(inside)] = count + 1, length + lines
        sizes[room] = files + 1, total + lines, inner
    return sizes


def from_top(graph: Mapping[str, set[str]]) -> list[str]:
    """Rooms in an order in which everyone stands above what it imports, as far as there is one."""
    left, order = dict(graph), list[str]()
    while left:
        free = sorted(room for room in left if not any(room in left[other] for other in left if other != room))
        order += free or sorted(left)
        left = {room: below for room, below in left.items() if room not in order}
    return order


def large_rooms() -> Iterator[str]:
    """Rooms of more files than one can look over, without sub-rooms."""
    for room, (files, _, inner) in sizes_of_rooms().items():
        if files > MOST_FILES and not inner:
            yield f"{room}: {files} files and no sub-room, at most {MOST_FILES}"


# Functions


def large_functions(trees: Mapping[str, ast.Module]) -> Iterator[str]:
    """Functions that are too complex, or have too many parameters; public ones of the latter are only listed."""
    public = public_names(trees["zwang"])
    functions = [f for name, tree in trees.items() for f in measured(name, tree, public)]
    print(f"\n{len(functions)} functions; the most complex:")
    for f in sorted(functions, key=lambda f: -f.complexity)[:8]:
        print(f"  {f.complexity:3} {f.name} ({f.place})")
    print(f"public signatures of more than {MOST_PARAMETERS} parameters, fixed by the contract:")
    for f in functions:
        if f.public and f.parameters > MOST_PARAMETERS:
            print(f"  {f.parameters:3} {f.name} ({f.place})")
    for f in functions:
        if f.complexity > MOST_COMPLEX:
            yield f"{f.place}: {f.name} has complexity {f.complexity}, at most {MOST_COMPLEX}"
        if f.parameters > MOST_PARAMETERS and not f.public:
            yield f"{f.place}: {f.name} has {f.parameters} parameters, at most {MOST_PARAMETERS}"


def public_names(door: ast.Module) -> set[str]:
    """What `zwang.__all__` lists."""
    for node in door.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def measured(module: str, tree: ast.Module, public: set[str]) -> Iterator[Measured]:
    """Every function of a module; one inside another counts for both."""
    for node in ast.walk(tree):
        if isinstance(node, Function):
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            named = [a for a in arguments if a.arg not in ("self", "cls")]
            command = any("typer" in ast.unparse(a) or "Annotated" in ast.unparse(a) for a in named)
            contract = node.name in public or (room_of(module) == "cli" and command)
            yield Measured(f"{module}:{node.lineno}", node.name, complexity(node), len(named), contract)


def complexity(function: Function) -> int:
    """The number of independent ways through a function: one, and one for each place where it may branch."""
    ways = 1
    for node in ast.walk(function):
        if isinstance(node, ast.If | ast.IfExp | ast.For | ast.While | ast.ExceptHandler | ast.Assert | ast.match_case):
            ways += 1
        elif isinstance(node, ast.BoolOp):
            ways += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            ways += 1 + len(node.ifs)
    return ways


if __name__ == "__main__":
    if "--quiet" in sys.argv[1:]:
        said = StringIO()
        with redirect_stdout(said):
            broken = main()
        print(said.getvalue().rpartition("\n\n")[2] if broken else "", end="")
        sys.exit(1 if broken else 0)
    sys.exit(1 if main() else 0)
