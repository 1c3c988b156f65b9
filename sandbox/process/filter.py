"""Assemble the seccomp filter as a classic BPF program; pure, so that every row of the table can be tested."""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterator

from nl2net.sandbox.process import syscalls

_LOAD_WORD = 0x20  # BPF_LD | BPF_W | BPF_ABS
_JUMP_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_JUMP_AT_LEAST = 0x35  # BPF_JMP | BPF_JGE | BPF_K
_JUMP_BITS = 0x45  # BPF_JMP | BPF_JSET | BPF_K
_RETURN = 0x06  # BPF_RET | BPF_K

KILL_PROCESS = 0x80000000
ALLOW = 0x7FFF0000
ERRNO = 0x00050000

_OFFSET_NUMBER = 0
_OFFSET_ARCH = 4
_OFFSET_THIRD_ARGUMENT = 32  # low half of args[2] on a little-endian machine

Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, operand


def _rules(machine: str) -> Iterator[tuple[int, int]]:
    numbers = syscalls.NUMBERS[machine]
    for name in syscalls.ALLOW:
        if name in numbers and name not in syscalls.PROTECTING:
            yield numbers[name], ALLOW
    for name, code in syscalls.ERRNO.items():
        if name in numbers:
            yield numbers[name], ERRNO | code
    for name in syscalls.KILL:
        if name in numbers:
            yield numbers[name], KILL_PROCESS


def assemble(machine: str) -> list[Instruction]:
    """The filter for one machine type.

    Parameters
    ----------
    machine : str
        ``x86_64`` or ``aarch64``, as ``os.uname().machine`` gives it.

    Raises
    ------
    KeyError
        There is no table for this machine.

    Notes
    -----
    A call with the wrong architecture or an x32 number kills the process before its number is looked at: the numbers
    mean other calls there.
    """
    program: list[Instruction] = [
        (_LOAD_WORD, 0, 0, _OFFSET_ARCH),
        (_JUMP_EQUAL, 1, 0, syscalls.AUDIT_ARCH[machine]),
        (_RETURN, 0, 0, KILL_PROCESS),
        (_LOAD_WORD, 0, 0, _OFFSET_NUMBER),
        (_JUMP_AT_LEAST, 0, 1, syscalls.X32_BIT),
        (_RETURN, 0, 0, KILL_PROCESS),
    ]
    rules = list(_rules(machine))
    actions = list(dict.fromkeys(action for _, action in rules))
    first_return = len(rules) + len(syscalls.PROTECTING) + 1
    for index, (number, action) in enumerate(rules):
        program.append((_JUMP_EQUAL, first_return + actions.index(action) - index - 1, 0, number))
    argument_check = first_return + len(actions)
    for index, name in enumerate(syscalls.PROTECTING, start=len(rules)):
        program.append((_JUMP_EQUAL, argument_check - index - 1, 0, syscalls.NUMBERS[machine][name]))
    program.append((_RETURN, 0, 0, ERRNO | errno.EPERM))
    program.extend((_RETURN, 0, 0, action) for action in actions)
    program += [
        (_LOAD_WORD, 0, 0, _OFFSET_THIRD_ARGUMENT),
        (_JUMP_BITS, 0, 1, syscalls.PROT_EXEC),
        (_RETURN, 0, 0, ERRNO | errno.EPERM),
        (_RETURN, 0, 0, ALLOW),
    ]
    return program


def pack(program: list[Instruction]) -> bytes:
    """The program as the array of ``struct sock_filter`` that the kernel reads."""
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def answer(program: list[Instruction], *, arch: int, number: int, third_argument: int = 0) -> int:
    """What the filter returns for one call, computed here: the tests and ``doctor`` compare it with the table.

    Examples
    --------
    >>> hex(answer(assemble("x86_64"), arch=0xC000003E, number=59))  # execve
    '0x80000000'
    """
    data = {_OFFSET_ARCH: arch, _OFFSET_NUMBER: number, _OFFSET_THIRD_ARGUMENT: third_argument}
    position, accumulator = 0, 0
    while True:
        code, if_true, if_false, operand = program[position]
        position += 1
        if code == _RETURN:
            return operand
        if code == _LOAD_WORD:
            accumulator = data[operand]
            continue
        hit = {
            _JUMP_EQUAL: accumulator == operand,
            _JUMP_AT_LEAST: accumulator >= operand,
            _JUMP_BITS: bool(accumulator & operand),
        }[code]
        position += if_true if hit else if_false
