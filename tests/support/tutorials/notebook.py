"""What do the cells of a notebook show, run from top to bottom in this process, and what is stored of it?

There is no kernel: a cell is statements, and the value of a last expression is shown as text and, if it has a
picture of itself, as that.
"""

import ast
import io
import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

Cell = dict[str, Any]
Output = dict[str, Any]


def read_notebook(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def write_notebook(path: Path, notebook: dict[str, Any]) -> None:
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


def code_cells(notebook: dict[str, Any]) -> list[Cell]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def stored_text(cell: Cell) -> str:
    """What a cell is stored to have shown, as text."""
    return "".join(_texts(cell["outputs"]))


def shown_text(outputs: list[Output]) -> str:
    """What a cell shows, as text."""
    return "".join(_texts(outputs))


def run_cells(notebook: dict[str, Any]) -> Iterator[tuple[Cell, list[Output]]]:
    """Each code cell, and its outputs now."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(code_cells(notebook), 1):
        yield cell, _run("".join(cell["source"]), names, number)


def _run(source: str, names: dict[str, Any], number: int) -> list[Output]:
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    value = None
    with redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, f"cell {number}", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
    outputs = [_stream(printed.getvalue())] if printed.getvalue() else []
    return outputs if value is None else [*outputs, _result(value, number)]


def _stream(text: str) -> Output:
    return {"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)}


def _result(value: object, number: int) -> Output:
    data = {"text/plain": repr(value).splitlines(keepends=True)}
    picture = getattr(value, "_repr_html_", None)
    if picture is not None and (html := picture()) is not None:
        data["text/html"] = html.splitlines(keepends=True)
    return {"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"}


def _texts(outputs: list[Output]) -> Iterator[str]:
    for output in outputs:
        yield "".join(output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"])
        yield "\n"
