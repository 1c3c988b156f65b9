"""What the seccomp filter answers, per system call. Data only; the assembler is in ``filter``.

Numbers are those of the kernel headers (``asm/unistd_64.h`` and ``asm-generic/unistd.h``). A call that an architecture
does not have carries no number there. The aarch64 column was not run on such a machine.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import Final

AUDIT_ARCH: Final[Mapping[str, int]] = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

ALLOW: Final = [
    "read",
    "write",
    "writev",
    "close",
    "fstat",
    "lseek",
    "mmap",
    "mprotect",
    "munmap",
    "brk",
    "mremap",
    "madvise",
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "sigaltstack",
    "restart_syscall",
    "sched_yield",
    "sched_getaffinity",
    "nanosleep",
    "clock_nanosleep",
    "clock_gettime",
    "clock_getres",
    "gettimeofday",
    "times",
    "getrusage",
    "getrlimit",
    "getpid",
    "gettid",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "futex",
    "set_robust_list",
    "rseq",
    "membarrier",
    "getrandom",
    "exit",
    "exit_group",
]

# Python turns EACCES into a clean PermissionError.
NO_ACCESS: Final = [
    "open",
    "openat",
    "openat2",
    "stat",
    "lstat",
    "newfstatat",
    "statx",
    "access",
    "faccessat",
    "faccessat2",
]

# A library that wants a thread fails cleanly instead of dying.
TRY_AGAIN: Final = ("clone",)
NOT_THERE: Final = ("clone3",)

KILL: Final = [
    "execve",
    "execveat",
    "fork",
    "vfork",
    "socket",
    "socketpair",
    "connect",
    "bind",
    "sendto",
    "sendmsg",
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "kill",
    "tkill",
    "tgkill",
    "pidfd_open",
    "pidfd_getfd",
    "pidfd_send_signal",
    "mount",
    "unshare",
    "setns",
    "bpf",
    "keyctl",
    "add_key",
    "perf_event_open",
    "userfaultfd",
    "io_uring_setup",
    "memfd_create",
    "init_module",
    "finit_module",
    "kexec_load",
    "personality",
]

# Memory that is executable is refused here too: MDWE is missing before kernel 6.3.
PROTECTING: Final = ("mmap", "mprotect")
PROT_EXEC: Final = 4

X32_BIT: Final = 0x40000000

ERRNO: Final[Mapping[str, int]] = {
    **dict.fromkeys(NO_ACCESS, errno.EACCES),
    **dict.fromkeys(TRY_AGAIN, errno.EAGAIN),
    **dict.fromkeys(NOT_THERE, errno.ENOSYS),
}

X86_64: Final[Mapping[str, int]] = {
    "read": 0, "write": 1, "open": 2, "close": 3, "stat": 4, "fstat": 5, "lstat": 6, "lseek": 8, "mmap": 9,
    "mprotect": 10, "munmap": 11, "brk": 12, "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15,
    "writev": 20, "access": 21, "sched_yield": 24, "mremap": 25, "madvise": 28, "nanosleep": 35, "getpid": 39,
    "socket": 41, "connect": 42, "sendto": 44, "sendmsg": 46, "bind": 49, "socketpair": 53, "clone": 56, "fork": 57,
    "vfork": 58, "execve": 59, "exit": 60, "kill": 62, "gettimeofday": 96, "getrlimit": 97, "getrusage": 98,
    "times": 100, "ptrace": 101, "getuid": 102, "getgid": 104, "geteuid": 107, "getegid": 108, "sigaltstack": 131,
    "personality": 135, "mount": 165, "init_module": 175, "gettid": 186, "tkill": 200, "futex": 202,
    "sched_getaffinity": 204, "restart_syscall": 219, "clock_gettime": 228, "clock_getres": 229,
    "clock_nanosleep": 230, "exit_group": 231, "tgkill": 234, "kexec_load": 246, "add_key": 248, "keyctl": 250,
    "openat": 257, "newfstatat": 262, "faccessat": 269, "unshare": 272, "set_robust_list": 273,
    "perf_event_open": 298, "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311, "finit_module": 313,
    "getrandom": 318, "memfd_create": 319, "bpf": 321, "execveat": 322, "userfaultfd": 323, "membarrier": 324,
    "statx": 332, "rseq": 334, "pidfd_send_signal": 424, "io_uring_setup": 425, "pidfd_open": 434, "clone3": 435,
    "openat2": 437, "pidfd_getfd": 438, "faccessat2": 439,
}  # fmt: skip

AARCH64: Final[Mapping[str, int]] = {
    "faccessat": 48, "openat": 56, "close": 57, "lseek": 62, "read": 63, "write": 64, "writev": 66,
    "newfstatat": 79, "fstat": 80, "personality": 92, "exit": 93, "exit_group": 94, "unshare": 97, "futex": 98,
    "set_robust_list": 99, "nanosleep": 101, "kexec_load": 104, "init_module": 105, "clock_gettime": 113,
    "clock_getres": 114, "clock_nanosleep": 115, "ptrace": 117, "sched_getaffinity": 123, "sched_yield": 124,
    "restart_syscall": 128, "kill": 129, "tkill": 130, "tgkill": 131, "sigaltstack": 132, "rt_sigaction": 134,
    "rt_sigprocmask": 135, "rt_sigreturn": 139, "times": 153, "getrlimit": 163, "getrusage": 165,
    "gettimeofday": 169, "getpid": 172, "getuid": 174, "geteuid": 175, "getgid": 176, "getegid": 177, "gettid": 178,
    "socket": 198, "socketpair": 199, "bind": 200, "connect": 203, "sendto": 206, "sendmsg": 211, "brk": 214,
    "munmap": 215, "mremap": 216, "add_key": 217, "keyctl": 219, "clone": 220, "execve": 221, "mmap": 222,
    "mprotect": 226, "madvise": 233, "perf_event_open": 241, "setns": 268, "process_vm_readv": 270,
    "process_vm_writev": 271, "finit_module": 273, "getrandom": 278, "memfd_create": 279, "bpf": 280,
    "execveat": 281, "userfaultfd": 282, "membarrier": 283, "statx": 291, "rseq": 293, "mount": 40,
    "pidfd_send_signal": 424, "io_uring_setup": 425, "pidfd_open": 434, "clone3": 435, "openat2": 437,
    "pidfd_getfd": 438, "faccessat2": 439,
}  # fmt: skip

NUMBERS: Final[Mapping[str, Mapping[str, int]]] = {"x86_64": X86_64, "aarch64": AARCH64}
