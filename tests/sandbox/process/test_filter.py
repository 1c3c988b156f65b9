"""The seccomp filter, row by row of its table, for both architectures."""

from __future__ import annotations

import errno

import pytest

from nl2net.sandbox.process import syscalls
from nl2net.sandbox.process.filter import ALLOW, ERRNO, KILL_PROCESS, answer, assemble, pack

MACHINES = sorted(syscalls.NUMBERS)


def expected(name: str) -> int:
    if name in syscalls.KILL:
        return KILL_PROCESS
    if name in syscalls.ERRNO:
        return ERRNO | syscalls.ERRNO[name]
    return ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_every_row(machine: str) -> None:
    program, arch = assemble(machine), syscalls.AUDIT_ARCH[machine]
    for name, number in syscalls.NUMBERS[machine].items():
        assert answer(program, arch=arch, number=number) == expected(name), name


@pytest.mark.parametrize("machine", MACHINES)
def test_everything_else_is_refused(machine: str) -> None:
    program, arch = assemble(machine), syscalls.AUDIT_ARCH[machine]
    known = set(syscalls.NUMBERS[machine].values())
    answers = {answer(program, arch=arch, number=number) for number in range(600) if number not in known}
    assert answers == {ERRNO | errno.EPERM}


@pytest.mark.parametrize("machine", MACHINES)
def test_other_architectures_and_x32_are_killed(machine: str) -> None:
    program = assemble(machine)
    for number in (0, 39, syscalls.X32_BIT, syscalls.X32_BIT | 39):
        assert answer(program, arch=0x40000003, number=number) == KILL_PROCESS
    arch = syscalls.AUDIT_ARCH[machine]
    assert answer(program, arch=arch, number=syscalls.X32_BIT | 39) == KILL_PROCESS


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", syscalls.PROTECTING)
def test_executable_memory_is_refused(machine: str, name: str) -> None:
    program, arch, number = assemble(machine), syscalls.AUDIT_ARCH[machine], syscalls.NUMBERS[machine][name]
    assert [answer(program, arch=arch, number=number, third_argument=bits) for bits in (3, 5, 7)] == [
        ALLOW,
        ERRNO | errno.EPERM,
        ERRNO | errno.EPERM,
    ]


def test_each_call_has_one_answer_and_the_program_is_small() -> None:
    rows = [*syscalls.ALLOW, *syscalls.NO_ACCESS, *syscalls.TRY_AGAIN, *syscalls.NOT_THERE, *syscalls.KILL]
    assert len(rows) == len(set(rows))
    for machine in MACHINES:
        assert set(syscalls.NUMBERS[machine]) <= set(rows)
        assert len(pack(assemble(machine))) < 8 * 4096
    assert set(syscalls.X86_64) == set(rows)
