"""Arguments for bubblewrap, for programs that cannot be forked warm: the shell lines of emulated nodes."""

from __future__ import annotations

from collections.abc import Sequence


def bubblewrap_arguments(
    command: Sequence[str],
    *,
    read_only: Sequence[str] = ("/usr", "/bin", "/lib", "/lib64", "/sbin"),
    writable: Sequence[str] = (),
    share_network: bool = False,
) -> list[str]:
    """The command line that runs ``command`` without network, files or environment beyond those named.

    Parameters
    ----------
    command : sequence of str
        Program and arguments; never a shell string.
    read_only, writable : sequence of str
        Absolute paths to show; those that do not exist are left out by bubblewrap.
    share_network : bool
        Keep the network namespace of the caller, such as that of an emulated node.

    Examples
    --------
    >>> bubblewrap_arguments(["ip", "addr"], read_only=["/usr"])[-3:]
    ['--', 'ip', 'addr']
    """
    if not command:
        raise ValueError("an empty command")
    arguments = [
        "bwrap",
        "--unshare-user-try",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
    ]
    if not share_network:
        arguments.append("--unshare-net")
    arguments += [
        "--die-with-parent",
        "--new-session",
        "--clearenv",
        "--setenv",
        "PATH",
        "/usr/bin:/bin:/usr/sbin:/sbin",
    ]
    arguments += ["--cap-drop", "ALL", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]  # noqa: S108 - inside
    for path in read_only:
        arguments += ["--ro-bind-try", path, path]
    for path in writable:
        arguments += ["--bind", path, path]
    return [*arguments, "--chdir", "/", "--", *command]
