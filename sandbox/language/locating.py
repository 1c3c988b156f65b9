"""Where in the masked source did a program fail? The line and the text of the failing expression."""

from __future__ import annotations

from itertools import islice
from types import TracebackType

PROGRAM = "<program>"


def program_frame(error: BaseException) -> TracebackType | None:
    """The innermost entry of a traceback that lies in the program."""
    found = None
    entry = error.__traceback__
    while entry is not None:
        if entry.tb_frame.f_code.co_filename == PROGRAM:
            found = entry
        entry = entry.tb_next
    return found


def error_line(error: BaseException) -> int | None:
    """Line of the program where an error came from."""
    entry = program_frame(error)
    return None if entry is None else entry.tb_lineno


def locate(error: BaseException, masked_source: str) -> tuple[int | None, str]:
    """Line and text of the failing expression, in the masked program.

    Parameters
    ----------
    error : BaseException
        What ``run_restricted`` raised.
    masked_source : str
        The program before binding; the result is a part of it and of nothing else.

    Returns
    -------
    line : int or None
        From 1; ``None`` when the error did not come from the program.
    expression : str
        One line of text: the expression, or the whole line where Python keeps no columns.

    Examples
    --------
    >>> from nl2net.model import Library
    >>> from nl2net.sandbox.language import run_restricted
    >>> source = "def answer(graph):\\n    return 1 + graph['NODE_1']\\n"
    >>> try:
    ...     run_restricted(source, ({"a": 1},), library=Library.NETWORKX, bindings={"NODE_1": "secret"})
    ... except KeyError as error:
    ...     locate(error, source)
    (2, "graph['NODE_1']")
    """
    entry = program_frame(error)
    if entry is None:
        return None, ""
    lines = masked_source.splitlines()
    code = entry.tb_frame.f_code
    line, end_line, column, end_column = next(islice(code.co_positions(), entry.tb_lasti // 2, None), (None,) * 4)
    line = line or entry.tb_lineno
    if not 1 <= line <= len(lines):
        return line, ""
    text = lines[line - 1]
    if column is None or end_column is None or end_line is None:
        return line, text.strip()
    # Columns count bytes of UTF-8.
    if end_line != line:
        return line, text.encode()[column:].decode(errors="ignore").strip() or text.strip()
    part = text.encode()[column:end_column].decode(errors="ignore").strip()
    return line, part or text.strip()
