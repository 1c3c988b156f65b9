"""Checks of compiled files: the target's own checker where one runs offline, and the structure everywhere."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from nl2net.segmentation.compilers.structure import check_calico, check_cilium, check_terraform
from nl2net.segmentation.compilers.target import Compiled, Target

_KUBERNETES = "1.31"


@dataclass(frozen=True, slots=True)
class Check:
    """Outcome of one checker: ``ok`` is None when it could not run, and ``detail`` says why."""

    target: Target
    checker: str
    ok: bool | None
    detail: str = ""


def check_compiled(compiled: Compiled, folder: Path) -> list[Check]:
    """Run all checkers that fit.

    Parameters
    ----------
    compiled : Compiled
        The files.
    folder : Path
        Where they were written.
    """
    if compiled.target is Target.NFTABLES:
        return [_nft(folder / name) for name in compiled.files]
    if compiled.target is Target.KUBERNETES:
        return [_kubernetes(compiled)]
    if compiled.target in (Target.CILIUM, Target.CALICO):
        check = check_cilium if compiled.target is Target.CILIUM else check_calico
        return [_structure(compiled, yaml.safe_load, check)]
    return [_structure(compiled, json.loads, check_terraform)]


def _structure(
    compiled: Compiled, read: Callable[[str], Any], check: Callable[[Mapping[str, Any]], list[str]]
) -> Check:
    problems = [f"{name}: {problem}" for name, text in compiled.files.items() for problem in check(read(text))]
    return Check(compiled.target, "structure", not problems, "; ".join(problems[:5]))


def _nft(path: Path) -> Check:
    program = shutil.which("nft", path="/usr/sbin:/sbin:/usr/bin:/bin:/usr/local/sbin")
    if program is None:
        return Check(Target.NFTABLES, "nft -c", None, "the nft program is not installed")
    done = subprocess.run([program, "-c", "-f", str(path)], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode and "Operation not permitted" in done.stderr:
        unshare = shutil.which("unshare")
        if unshare:
            # A user and network namespace of its own is enough to check; nothing is loaded there.
            line = [unshare, "--user", "--map-root-user", "--net", program, "-c", "-f", str(path)]
            done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode and "not permitted" in done.stderr:
            return Check(Target.NFTABLES, "nft -c", None, "needs the right to open netfilter, or user namespaces")
    return Check(Target.NFTABLES, "nft -c", done.returncode == 0, done.stderr.strip()[:400])


def _kubernetes(compiled: Compiled) -> Check:
    try:
        import kubernetes_validate
    except ImportError:
        return Check(compiled.target, "kubernetes-validate", None, "pip install 'nl2net[k8s]'")
    problems = []
    for name, text in compiled.files.items():
        try:
            kubernetes_validate.validate(yaml.safe_load(text), _KUBERNETES, strict=True)
        except kubernetes_validate.ValidationError as error:
            problems.append(f"{name}: {error}")
    return Check(compiled.target, "kubernetes-validate", not problems, "; ".join(problems[:5]))
