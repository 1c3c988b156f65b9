"""Lines that try to leave the node they run in, each with the sign that it got out.

The first column names the attack, the second is the line; ``{folder}`` is a folder of this machine that anyone may
write, with a readable file ``secret``, ``{port}`` and ``{pid}`` a listener and a process of this machine. What is told
after the last bar is how success shows: ``token`` in the output, a ``mark`` file, a ``touch`` of a listener, or the
word ``REACHED`` in the output. Lines with ``*`` succeed in a plain shell, which a test checks: they have teeth.
"""

from __future__ import annotations

from dataclasses import dataclass

_SOCKET = "use Socket; socket(S, PF_UNIX, SOCK_STREAM, 0); connect(S, {0}) and print qq(REACHED)"
_UNIX = _SOCKET.format("sockaddr_un(qq({folder}/socket))")
_ABSTRACT = _SOCKET.format("pack(qq(Sa*), 1, qq(\\0escape-probe-{port}))")
# Searches the session keyring for a key and reads it; the numbers are those of x86-64.
_KEY = (
    "$type = qq(user); $name = qq(nl2net-canary); $text = q(x) x 64; "
    "$key = syscall(250, 10, -3, $type, $name, 0); syscall(250, 11, $key, $text, 64); print $text"
)

_TABLE = f"""
read a file|cat {{folder}}/secret|token*
read through the root of process 1|cat /proc/1/root{{folder}}/secret|token
read through dots|cd /; cat ../../../..{{folder}}/secret|token*
find it|find / -xdev -name secret -path '*escape*' -exec cat {{{{}}}} + 2>/dev/null|token
read an environment|cat /proc/[0-9]*/environ|token*
read the old root|cat /.old{{folder}}/secret /oldroot{{folder}}/secret|token
mount the disk|mkdir /tmp/m; for d in /dev/[svn]*[a-z0-9]; do mount $d /tmp/m; done; cat /tmp/m{{folder}}/secret|token
read a session key|perl -e '{_KEY}'|token*
write a file|touch {{folder}}/mark|mark*
write through the working folder of process 1|touch /proc/1/cwd/../../../../../..{{folder}}/mark|mark
write after a remount|mount -o remount,rw /; mount -o remount,rw,bind /usr; touch /usr/mark && echo REACHED|word
bind the folder|mkdir -p /tmp/b; mount --bind {{folder}} /tmp/b && touch /tmp/b/mark|mark
leave by chroot|chroot /proc/1/root touch {{folder}}/mark|mark
become somebody else|su -c 'touch {{folder}}/mark'; sudo -n touch {{folder}}/mark|mark
set-uid programs|mount | grep -E ' on /usr ' | grep -v nosuid && echo REACHED|word
more capabilities in a new user namespace|unshare -Urm sh -c 'mount -t tmpfs none /mnt && echo REACHED'|word*
enter the namespaces of process 1|nsenter -t 1 -m -n -p touch {{folder}}/mark|mark
enter a process of this machine|nsenter -t {{pid}} -m -n touch {{folder}}/mark|mark
stop a process of this machine|kill -0 {{pid}} && echo REACHED|word*
look at a process of this machine|ls /proc/{{pid}}/fd && echo REACHED|word*
trace a process of this machine|perl -e 'print qq(REACHED) if syscall(101, 16902, {{pid}}, 0, 0) == 0'|word*
inherit a descriptor|ls -l /proc/self/fd | grep -E 'socket|net:|epoll' && echo REACHED|word
a port of this machine|timeout 2 bash -c 'echo > /dev/tcp/127.0.0.1/{{port}}' && echo REACHED|touch*
an abstract socket of this machine|perl -e '{_ABSTRACT}'|touch*
a socket in a folder of this machine|perl -e '{_UNIX}'|touch*
the kernel's name for a crash program|echo '/tmp/x' > /proc/sys/kernel/core_pattern && echo REACHED|word
the emergency keys|echo s > /proc/sysrq-trigger && echo REACHED|word
another program for the kernel to call|echo /tmp/x > /proc/sys/kernel/modprobe && echo REACHED|word
a kernel module|modprobe dummy && echo REACHED; insmod /tmp/x.ko && echo REACHED|word
the memory of this machine|head -c 1 /dev/mem && echo REACHED; head -c 1 /proc/kcore && echo REACHED|word
a disk of one's own|mknod /tmp/disk b 254 0 && head -c 1 /tmp/disk && echo REACHED|word
the log of the kernel|head -c 1 /dev/kmsg && echo REACHED|word
another name for this machine|hostname caught; hostname | grep -q caught && echo REACHED|word
the clock|date -s '2001-01-01' && echo REACHED|word
a control group|mkdir /tmp/g && mount -t cgroup2 none /tmp/g && echo REACHED|word
the switches of the whole kernel|sysctl -w vm.swappiness=11 fs.file-max=1000 && echo REACHED|word
interfaces of this machine|ls -d /sys/class/net/* && echo REACHED|word*
"""


@dataclass(frozen=True)
class Attack:
    """One line, how its success shows, and whether it succeeds in a plain shell."""

    name: str
    line: str
    sign: str
    teeth: bool


def attacks(values: dict[str, str]) -> list[Attack]:
    """All attacks with the values of this run."""
    found = []
    for row in _TABLE.strip().splitlines():
        name, _, rest = row.partition("|")
        line, _, sign = rest.rpartition("|")
        found.append(Attack(name, line.format(**values), sign.rstrip("*"), sign.endswith("*")))
    return found
