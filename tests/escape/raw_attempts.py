"""Raw hostile Python: what a program does when the language stops nothing.

Each is the body of ``answer(graph)`` and returns a text that starts with REACHED when it got what it wants. Targets are
inert: marker files, a loopback port, signal 0, own memory.
"""

from __future__ import annotations

import textwrap

_LIBC = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"


def _numbered(number: int, arguments: str) -> str:
    """A system call by its number on x86_64; reached when the kernel does not refuse it."""
    call = f"libc.syscall({number}, {arguments})" if arguments else f"libc.syscall({number})"
    return _LIBC + f"import os\nPARENT = os.getppid()\nif {call} >= 0:\n    return 'REACHED'"


# Calls that no library needs; the filter names few of them, so the rest must fall to its default.
NUMBERED: dict[str, str] = {
    "open by handle": _numbered(304, "0, b'\\0' * 64, 0"),
    "name to handle": _numbered(303, "-100, b'/etc/passwd', b'\\0' * 200, b'\\0' * 8, 0"),
    "watch files": _numbered(294, "0"),
    "watch all files": _numbered(300, "0, 0"),
    "asynchronous file access": _numbered(206, "1, b'\\0' * 8"),
    "semaphores": _numbered(64, "0, 1, 0o1600"),
    "posix message queue": _numbered(240, "b'x', 0o102, 0o600, 0"),
    "timer descriptor": _numbered(283, "1, 0"),
    "event descriptor": _numbered(290, "0, 0"),
    "epoll": _numbered(291, "0"),
    "a second filter": _numbered(317, "1, 0, b'\\0' * 16"),
    "another ruleset": _numbered(444, "b'\\1' + b'\\0' * 7, 8, 0"),
    "protection keys": _numbered(329, "0, 4096, 7, -1"),
    "lock memory": _numbered(151, "1"),
    "process madvise": _numbered(440, "-1, 0, 0, 9, 0"),
    "limits of the parent": _numbered(302, "PARENT, 7, 0, b'\\0' * 16"),
    "scheduler of the parent": _numbered(144, "PARENT, 0, b'\\0' * 8"),
    "affinity": _numbered(203, "0, 8, b'\\1' + b'\\0' * 7"),
    "queue a signal": _numbered(129, "PARENT, 0, b'\\0' * 128"),
    "group of the parent": _numbered(121, "PARENT"),
    "session": _numbered(124, "PARENT"),
    "new session": _numbered(112, ""),
    "system state": _numbered(99, "b'\\0' * 128"),
    "kernel log": _numbered(103, "10, 0, 0"),
    "clock": _numbered(227, "0, b'\\0' * 16"),
    "pipe": _numbered(293, "b'\\0' * 8, 0"),
    "copy of a descriptor": _numbered(32, "3"),
    "owner of the pipe": _numbered(72, "3, 8, PARENT"),
    "size of the pipe": _numbered(72, "3, 1031, 1 << 20"),
    "control of the pipe": _numbered(16, "3, 0x5452, b'\\1\\0\\0\\0'"),
    "splice": _numbered(275, "3, 0, 3, 0, 1, 0"),
    "file from a path tree": _numbered(428, "-100, b'/', 1"),
    "new file system": _numbered(430, "b'tmpfs', 0"),
    "secret memory": _numbered(447, "0"),
}

ATTEMPTS: dict[str, str] = NUMBERED | {
    "read a file": "return 'REACHED' + open(SECRET_PATH).read()",
    "read passwd": "return 'REACHED' + open('/etc/passwd').read()",
    "read own memory map": "return 'REACHED' + open('/proc/self/maps').read()[:99]",
    "read own environment": "return 'REACHED' + open('/proc/self/environ').read()",
    "read the parent's environment": "import os\nreturn 'REACHED' + open(f'/proc/{os.getppid()}/environ').read()",
    "list a folder": "import os\nreturn 'REACHED' + str(os.listdir('/'))",
    "stat a file": "import os\nos.stat('/etc/passwd')\nreturn 'REACHED'",
    "access a file": "import os\nreturn 'REACHED' if os.access('/etc/passwd', 4) else 0",
    "write a file": "open(WRITE_PATH, 'w').write('x')\nreturn 'REACHED'",
    "make a folder": "import os\nos.mkdir(WRITE_PATH)\nreturn 'REACHED'",
    "make a link": "import os\nos.symlink('/etc/passwd', WRITE_PATH)\nreturn 'REACHED'",
    "remove a file": "import os\nos.unlink(SECRET_PATH)\nreturn 'REACHED'",
    "change mode": "import os\nos.chmod(SECRET_PATH, 0o600)\nreturn 'REACHED'",
    "change folder": "import os\nos.chdir('/')\nreturn 'REACHED'",
    "working folder": "import os\nreturn 'REACHED' + os.getcwd()",
    "openat2 by number": _LIBC
    + "if libc.syscall(437, -100, b'/etc/passwd', b'\\0' * 24, 24) >= 0:\n    return 'REACHED'",
    "tcp socket": "import socket\nsocket.socket()\nreturn 'REACHED'",
    "udp socket": "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', PORT))\nreturn 'REACHED'",  # noqa: E501
    "connect": "import socket\nsocket.create_connection(('127.0.0.1', PORT), 1)\nreturn 'REACHED'",
    "unix socket": "import socket\nsocket.socket(socket.AF_UNIX)\nreturn 'REACHED'",
    "socket pair": "import socket\nsocket.socketpair()\nreturn 'REACHED'",
    "netlink": "import socket\nsocket.socket(16, 3, 0)\nreturn 'REACHED'",
    "io_uring": _LIBC + "if libc.syscall(425, 8, b'\\0' * 120) >= 0:\n    return 'REACHED'",
    "fork": "import os\nif os.fork() == 0:\n    os._exit(0)\nreturn 'REACHED'",
    "vfork by number": _LIBC + "if libc.syscall(57) >= 0:\n    return 'REACHED'",
    "thread": "import threading\nt = threading.Thread(target=print)\nt.start()\nt.join()\nreturn 'REACHED'",
    "start a program": "import subprocess\nsubprocess.run(['/usr/bin/touch', MARK_PATH], check=True)\nreturn 'REACHED'",
    "replace itself": "import os\nos.execv('/usr/bin/touch', ['touch', MARK_PATH])",
    "shell": "import os\nif os.system('touch ' + MARK_PATH) == 0:\n    return 'REACHED'",
    "signal the parent": "import os\nos.kill(os.getppid(), 0)\nreturn 'REACHED'",
    "signal own group": "import os\nos.killpg(0, 0)\nreturn 'REACHED'",
    "signal everybody": "import os\nos.kill(-1, 0)\nreturn 'REACHED'",
    "pidfd": "import os\nos.pidfd_open(os.getppid())\nreturn 'REACHED'",
    "ptrace the parent": _LIBC + "import os\nif libc.ptrace(0x4206, os.getppid(), 0, 0) == 0:\n    return 'REACHED'",
    "read the parent's memory": _LIBC
    + "import os\nb = ctypes.create_string_buffer(8)\n"
    + "v = (ctypes.c_size_t * 2)(ctypes.addressof(b), 8)\n"
    + "if libc.process_vm_readv(os.getppid(), v, 1, v, 1, 0) >= 0:\n    return 'REACHED'",
    "become root": "import os\nos.setuid(0)\nreturn 'REACHED'",
    "new namespace": _LIBC + "if libc.unshare(0x10000000) == 0:\n    return 'REACHED'",
    "mount": _LIBC + "if libc.mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0:\n    return 'REACHED'",
    "chroot": "import os\nos.chroot('/tmp')\nreturn 'REACHED'",
    "keyring": _LIBC + "if libc.syscall(250, 0, -3, 1) >= 0:\n    return 'REACHED'",
    "shared memory": _LIBC + "if libc.shmget(0, 4096, 0o1600) >= 0:\n    return 'REACHED'",
    "message queue": _LIBC + "if libc.msgget(0, 0o1600) >= 0:\n    return 'REACHED'",
    "file in memory": "import os\nos.memfd_create('x')\nreturn 'REACHED'",
    "host name": "import os\nreturn 'REACHED' + os.uname().nodename",
    "raise a limit": "import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))\nreturn 'REACHED'",
    "change priority": "import os\nos.nice(1)\nreturn 'REACHED'",
    "bpf": _LIBC + "if libc.syscall(321, 0, b'\\0' * 64, 64) >= 0:\n    return 'REACHED'",
    "userfaultfd": _LIBC + "if libc.syscall(323, 1) >= 0:\n    return 'REACHED'",
    "performance events": _LIBC + "if libc.syscall(298, b'\\0' * 112, 0, -1, -1, 0) >= 0:\n    return 'REACHED'",
    "executable memory": "import mmap\nmmap.mmap(-1, 4096, prot=7)\nreturn 'REACHED'",
    "x32 call": _LIBC + "if libc.syscall(0x40000027) >= 0:\n    return 'REACHED'",
    "undo the filter": _LIBC + "if libc.prctl(22, 0, 0) == 0:\n    return 'REACHED'",
    "dumpable again": _LIBC + "if libc.prctl(4, 1, 0, 0, 0) == 0:\n    return 'REACHED'",
    "take memory": "import mmap\nx = mmap.mmap(-1, 1 << 30)\nreturn 'REACHED' + str(len(x))",
    "other descriptors": (
        "import os\nfor n in range(4, 64):\n    try:\n        os.write(n, b'x')\n        return 'REACHED'\n"
        "    except OSError:\n        pass"
    ),
    "planted variable": "import os\nif 'ESCAPE_CANARY' in os.environ:\n    return 'REACHED'",
    "variable by C": _LIBC
    + "libc.getenv.restype = ctypes.c_char_p\nif libc.getenv(b'ESCAPE_CANARY'):\n    return 'REACHED'",
    "name of a descriptor": "import os\nreturn 'REACHED' + os.readlink('/proc/self/fd/3')",
    "read the pipe back": "import os\nreturn 'REACHED' + os.read(3, 1).decode()",
}


def program(body: str) -> str:
    """The attempt as a program; modules are loaded before the seal by the worker where they exist."""
    return "def answer(graph):\n" + textwrap.indent(body + "\nreturn 'stopped'", "    ")
