"""One compiler per enforcement target."""

from __future__ import annotations

from nl2net.segmentation.compilers.aws import compile_aws
from nl2net.segmentation.compilers.azure import compile_azure
from nl2net.segmentation.compilers.calico import compile_calico
from nl2net.segmentation.compilers.check import Check, check_compiled
from nl2net.segmentation.compilers.cilium import compile_cilium
from nl2net.segmentation.compilers.kubernetes import compile_kubernetes
from nl2net.segmentation.compilers.nftables import compile_nftables
from nl2net.segmentation.compilers.target import Compiled, Inventory, Target, Workload
from nl2net.segmentation.policy.rules import Policy

__all__ = ["Check", "Compiled", "Inventory", "Target", "Workload", "check_compiled", "compile_policy"]

_COMPILERS = {
    Target.KUBERNETES: compile_kubernetes,
    Target.CILIUM: compile_cilium,
    Target.CALICO: compile_calico,
    Target.AWS: compile_aws,
    Target.AZURE: compile_azure,
    Target.NFTABLES: compile_nftables,
}


def compile_policy(policy: Policy, inventory: Inventory, target: Target) -> Compiled:
    """Compile a policy for one target."""
    return _COMPILERS[target](policy, inventory)
