"""The error tree, named by who must act. The number is the exit code of the command line.

::

    Nl2netError
    ├── UserError          2   the call or the configuration is wrong
    ├── DataError          2   an input file cannot be read (file, line, field, hint)
    ├── ModelError         3   the endpoint failed
    │   ├── EndpointError  3   unreachable, refused, bad key, server error
    │   ├── ReplyError     3   empty, truncated or unusable reply
    │   └── BudgetError    3   a token or cost cap was reached
    ├── RefusedCode        5   the validator or the scope check said no (rule, line, suggestion)
    ├── PrivacyError       5   the gate found a data value in a request; nothing was sent
    ├── ProgramFailed      1   the generated program failed after all repairs
    └── SandboxError       4
        ├── TimeLimit      4
        ├── MemoryLimit    4
        ├── OutputLimit    4
        ├── RecursionLimit 4
        ├── ProcessLimit   4
        └── Unavailable    5   no sandbox, or no emulator backend, can be had here

No message that goes to a model holds a data value; no message at all holds a secret.
"""

from __future__ import annotations

from pathlib import Path


class Nl2netError(Exception):
    """Base of every error that nl2net raises on purpose.

    Parameters
    ----------
    message : str
        What went wrong, for a person. Never holds a key or a password.
    hint : str
        The way out, as one sentence; empty when there is none.
    """

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UserError(Nl2netError):
    """The call, an option or a setting is wrong."""

    exit_code = 2


class DataError(Nl2netError):
    """An input file cannot be read.

    Parameters
    ----------
    message : str
        What was expected and what was found.
    path : Path or str, optional
        The file.
    line : int, optional
        Line in the file, from 1.
    field : str, optional
        Column, key or element in the file.
    hint : str
        The way out.

    Examples
    --------
    >>> str(DataError("expected a number", path="links.csv", line=3, field="bytes"))
    'links.csv, line 3, field bytes: expected a number'
    """

    exit_code = 2

    def __init__(
        self,
        message: str,
        *,
        path: Path | str | None = None,
        line: int | None = None,
        field: str | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.path = None if path is None else str(path)
        self.line = line
        self.field = field

    def __str__(self) -> str:
        where = [self.path or ""]
        if self.line is not None:
            where.append(f"line {self.line}")
        if self.field is not None:
            where.append(f"field {self.field}")
        prefix = ", ".join(part for part in where if part)
        return f"{prefix}: {self.message}" if prefix else self.message


class ModelError(Nl2netError):
    """The model endpoint failed."""

    exit_code = 3


class EndpointError(ModelError):
    """The endpoint is unreachable, refused the key, or answered with an error."""


class ReplyError(ModelError):
    """The reply is empty, was cut by the token limit, or holds no program."""


class BudgetError(ModelError):
    """A token or cost cap was reached before the answer was complete."""


class RefusedCode(Nl2netError):
    """The validator refused a program, or the scope check refused a question.

    Parameters
    ----------
    message : str
        What is not allowed.
    rule : str
        Stable name of the rule, such as ``import`` or ``dunder``.
    line : int, optional
        Line of the program, from 1.
    hint : str
        What to write instead.
    """

    exit_code = 5

    def __init__(self, message: str, *, rule: str, line: int | None = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.rule = rule
        self.line = line


class PrivacyError(Nl2netError):
    """The privacy gate found a data value in a request; the request was not sent."""

    exit_code = 5


class ProgramFailed(Nl2netError):
    """The generated program raised an error, and no repair is left."""

    exit_code = 1


class SandboxError(Nl2netError):
    """A limit of the sandbox was hit."""

    exit_code = 4


class TimeLimit(SandboxError):
    """CPU or wall-clock time ran out."""


class MemoryLimit(SandboxError):
    """The memory budget ran out."""


class OutputLimit(SandboxError):
    """The result is too large to hand back."""


class RecursionLimit(SandboxError):
    """The program recursed too deeply."""


class ProcessLimit(SandboxError):
    """The program tried to start a thread or a process."""


class Unavailable(SandboxError):
    """No sandbox of the required level, or no emulator backend, can be had on this machine."""

    exit_code = 5
