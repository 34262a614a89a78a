"""Which small changes could be made to a module, each of which some test should notice?"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult,
}  # fmt: skip
_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list"}
_GUARDS = ("frozen", "slots", "strict", "compare", "kw_only", "gc")
"""Keywords that keep programmers from mistakes or the collector from work, and decide nothing."""
_NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Owner:
    """The outermost function a change lies in."""

    name: str
    line: int
    """Its first line, decorators included."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A module with one change."""

    module: str
    line: int
    text: str
    """The line that changes."""
    change: str
    owner: Owner | None
    """The function in whose body it lies; without one, only importing the module anew shows it."""
    tree: ast.Module = field(repr=False, compare=False)
    place: tuple[ast.AST, str, int | None] = field(repr=False, compare=False)
    new: ast.AST | None = field(repr=False, compare=False)

    def apply(self) -> ast.Module:
        """The changed module; the tree is shared, so a process can apply one mutant only."""
        parent, name, index = self.place
        if index is None:
            setattr(parent, name, self.new)
        elif self.new is None:
            del getattr(parent, name)[index]
        else:
            getattr(parent, name)[index] = self.new
        return ast.fix_missing_locations(self.tree)


@dataclass(frozen=True, slots=True)
class _Context:
    owner: Owner | None = None
    scope: str = ""
    bound: frozenset[str] = frozenset()
    """The names a function has bound, so that binding one again could be left out."""
    returns: str = ""


def mutants(module: str, source: str) -> Iterator[Mutant]:
    """Every change of the module, in the order of its lines."""
    tree = ast.parse(source)
    lines = source.splitlines()
    found = []
    for place, node, new, change, owner in _walk(tree, _Context(), _errors(tree)):
        if new is not None:
            ast.copy_location(new, node)
        line = _line(node)
        found.append(Mutant(module, line, lines[line - 1].strip(), change, owner, tree, place, new))
    return iter(sorted(found, key=lambda mutant: mutant.line))


def _line(node: ast.AST) -> int:
    match node:
        case ast.comprehension(target=placed) | ast.match_case(pattern=placed):
            return placed.lineno
        case _:
            return int(getattr(node, "lineno", 0))


def _errors(tree: ast.Module) -> frozenset[str]:
    """The error classes a module imports: of their arguments only the code decides anything."""
    return frozenset(
        alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "headgate.errors"
        for alias in node.names
    )


_Found = tuple[tuple[ast.AST, str, int | None], Any, ast.AST | None, str, Owner | None]


def _walk(parent: ast.AST, context: _Context, errors: frozenset[str]) -> Iterator[_Found]:
    for name, value in ast.iter_fields(parent):
        if name in ("annotation", "returns", "decorator_list", "type_comment", "format_spec"):
            continue
        inside = context
        if isinstance(parent, ast.FunctionDef | ast.Lambda) and name != "body":
            inside = _Context(scope=context.scope)
        for index, node in enumerate(value) if isinstance(value, list) else ((None, value),):
            if not isinstance(node, ast.AST) or _is_left_alone(node):
                continue
            for new, change in _changes(parent, name, node, inside, errors):
                yield (parent, name, index), node, new, change, inside.owner
            yield from _walk(node, _within(node, inside), errors)


def _within(node: ast.AST, context: _Context) -> _Context:
    if isinstance(node, ast.ClassDef):
        return _Context(scope=f"{context.scope}{node.name}.")
    if not isinstance(node, ast.FunctionDef):
        return context
    line = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    owner = context.owner or Owner(f"{context.scope}{node.name}", line)
    arguments = {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
    returns = ast.unparse(node.returns) if node.returns else ""
    return _Context(owner, context.scope, frozenset(arguments) | _bound_twice(node), returns)


def _bound_twice(function: ast.FunctionDef) -> frozenset[str]:
    names = [
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    return frozenset(name for name in names if names.count(name) > 1)


def _is_left_alone(node: ast.AST) -> bool:
    """Whether it is a text, an import, a guard or an alias of types, which decide nothing."""
    match node:
        case ast.JoinedStr() | ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return True
        case ast.keyword(arg=name):
            return name in _GUARDS
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp() | ast.Subscript()):
            return name[0].isupper() and not name.isupper()
        case _:
            return False


def _changes(
    parent: ast.AST, name: str, node: ast.AST, context: _Context, errors: frozenset[str]
) -> Iterator[tuple[ast.AST | None, str]]:
    if isinstance(node, ast.stmt):
        yield from _of_a_statement(node, context)
    elif isinstance(node, ast.keyword):
        called = parent.func if isinstance(parent, ast.Call) else None
        if node.arg == "code" or not (isinstance(called, ast.Name) and called.id in errors):
            yield None, f"without `{ast.unparse(node)}`"
    elif name == "test" and isinstance(parent, ast.If | ast.While):
        for outcome in (False,) if isinstance(parent, ast.While) else (True, False):
            yield ast.Constant(outcome), f"`{_short(node)}` → `{outcome}`"
        yield from _of_an_expression(node, tested=True)
    elif isinstance(node, ast.comprehension):
        for index, test in enumerate(node.ifs):
            others = node.ifs[:index] + node.ifs[index + 1 :]
            changed = ast.comprehension(node.target, node.iter, others, node.is_async)
            yield changed, f"without `if {_short(test)}`"
    elif isinstance(node, ast.match_case):
        if node.guard is not None:
            yield ast.match_case(node.pattern, None, node.body), f"without `if {_short(node.guard)}`"
        if not _is_last_case(parent, node):
            yield None, f"without `case {ast.unparse(node.pattern)}`"
    elif isinstance(node, ast.ExceptHandler):
        yield ast.ExceptHandler(node.type, node.name, [ast.Raise()]), "raised again"
    elif isinstance(node, ast.expr) and not _is_a_place(parent, node):
        tested = isinstance(parent, ast.BoolOp | ast.comprehension) or name == "test"
        yield from _of_an_expression(node, tested=tested)


def _is_last_case(parent: ast.AST, node: ast.match_case) -> bool:
    return isinstance(parent, ast.Match) and parent.cases[-1] is node


def _is_a_place(parent: ast.AST, node: ast.expr) -> bool:
    """Whether it is assigned to, or taken apart right where it is made."""
    if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
        return True
    taken_apart = isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Tuple)
    return taken_apart and isinstance(node, ast.Tuple)


def _of_a_statement(node: ast.stmt, context: _Context) -> Iterator[tuple[ast.AST | None, str]]:
    match node:
        case ast.Expr() | ast.Raise() | ast.AugAssign() | ast.Continue() | ast.Break():
            yield ast.Pass(), f"`{_short(node)}` → {_NOTHING}"
        case ast.Assign(targets=[target]) if _names(target) and _names(target) <= context.bound:
            yield ast.Pass(), f"`{_short(node)}` → {_NOTHING}"
        case ast.Return(value=ast.expr() as value) if context.returns == "bool":
            for outcome in (True, False):
                if not (isinstance(value, ast.Constant) and value.value is outcome):
                    yield ast.Return(ast.Constant(outcome)), f"`{_short(node)}` → `return {outcome}`"
        case ast.Return(value=ast.expr() as value) if not _is_none(value):
            yield ast.Return(ast.Constant(None)), f"`{_short(node)}` → `return None`"


def _names(target: ast.expr) -> frozenset[str]:
    return frozenset(node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _of_an_expression(node: ast.AST, *, tested: bool) -> Iterator[tuple[ast.AST, str]]:
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            for other in _COMPARISONS[type(operator)]:
                # What is tested is made true and false already.
                if not tested or other not in (ast.NotEq, ast.Eq, ast.Is, ast.IsNot, ast.In, ast.NotIn):
                    yield _shown(node, ast.Compare(left, [other()], [right]))
        case ast.BoolOp(op=operator, values=values):
            # Whoever notices these notices "or" in the place of "and", and an operand turned round.
            for index, value in enumerate(values):
                rest = values[:index] + values[index + 1 :]
                yield rest[0] if len(rest) == 1 else ast.BoolOp(operator, rest), f"without `{_short(value)}`"
        case ast.UnaryOp(op=ast.Not(), operand=operand) if not tested:
            yield _shown(node, operand)
        case ast.Constant(value=bool() as value):
            yield _shown(node, ast.Constant(not value))
        case ast.Constant(value=int() as value):
            yield _shown(node, ast.Constant(value + 1))
            yield _shown(node, ast.Constant(value - 1))
        case ast.Call(func=ast.Name(id=called), args=arguments, keywords=keywords) if called in _CALLS:
            other_name = ast.Name(_CALLS[called], ast.Load())
            kept = keywords if called in ("min", "max") else []
            yield ast.Call(other_name, arguments, kept), f"`{called}` → `{_CALLS[called]}`"
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            yield _shown(node, ast.BinOp(left, _OPERATORS[type(operator)](), right))
        case ast.IfExp(body=body, orelse=orelse):
            yield body, f"always `{_short(body)}`"
            yield orelse, f"always `{_short(orelse)}`"
        case _:
            yield from _of_a_display(node)


def _of_a_display(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    match node:
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            for index, element in enumerate(elements):
                rest = elements[:index] + elements[index + 1 :]
                if isinstance(node, ast.Set):
                    changed: ast.expr = ast.Set(rest or [ast.Starred(ast.Tuple([], ast.Load()), ast.Load())])
                else:
                    changed = type(node)(rest, ast.Load())
                yield changed, f"without `{_short(element)}`"
        case ast.Dict(keys=keys, values=values):
            for index, (key, value) in enumerate(zip(keys, values, strict=True)):
                others = keys[:index] + keys[index + 1 :], values[:index] + values[index + 1 :]
                yield ast.Dict(*others), f"without `{'**' + _short(value) if key is None else _short(key)}`"
        case _:
            return


def _shown(old: ast.AST, new: ast.expr) -> tuple[ast.expr, str]:
    return new, f"`{_short(old)}` → `{_short(new)}`"


def _short(node: ast.AST) -> str:
    text = ast.unparse(node).split("\n")[0]
    return text if len(text) <= 70 else f"{text[:67]}..."
