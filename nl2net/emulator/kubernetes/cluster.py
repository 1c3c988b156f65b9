"""NetworkPolicies of any cluster that a kubeconfig names, by the official client: a real one or the loopback server."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nl2net.emulator.kubernetes.policy import NetworkPolicy, read_policy
from nl2net.errors import DataError, Unavailable


class PolicyClient:
    """Reads and writes the policies of one namespace, and can put back what was there before.

    Parameters
    ----------
    kubeconfig : Path
        As for kubectl.
    namespace : str
        The only namespace that is touched.

    Raises
    ------
    Unavailable
        The package ``kubernetes`` is missing.
    """

    def __init__(self, kubeconfig: Path, *, namespace: str = "default") -> None:
        try:
            from kubernetes import client, config
        except ImportError:
            hint = "pip install 'nl2net[k8s]'"
            raise Unavailable("the Kubernetes client is not installed", hint=hint) from None
        self._client = client
        self._namespace = namespace
        self._connection = config.new_client_from_config(str(kubeconfig))
        self._api = client.NetworkingV1Api(self._connection)

    def policies(self) -> dict[str, NetworkPolicy]:
        """Policies in force by name."""
        listed = self._api.list_namespaced_network_policy(self._namespace)
        found: dict[str, NetworkPolicy] = {}
        for item in self._connection.sanitize_for_serialization(listed)["items"]:
            plain = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", **_essential(item)}
            policy = read_policy(plain)
            found[policy.name] = policy
        return found

    def put(self, manifest: Mapping[str, Any]) -> None:
        """Create or replace a policy.

        Raises
        ------
        DataError
            The manifest is malformed, or the server refuses it.
        """
        policy = read_policy(manifest)
        body = {**manifest, "metadata": {**manifest["metadata"], "namespace": self._namespace}}
        try:
            if policy.name in self.policies():
                self._api.replace_namespaced_network_policy(policy.name, self._namespace, body)
            else:
                self._api.create_namespaced_network_policy(self._namespace, body)
        except self._client.ApiException as error:
            raise DataError(f"policy {policy.name!r} is refused: {error.status} {error.reason}") from None

    def delete(self, name: str) -> None:
        """Delete a policy; one that is not there is fine."""
        try:
            self._api.delete_namespaced_network_policy(name, self._namespace)
        except self._client.ApiException as error:
            if error.status != 404:
                raise DataError(f"policy {name!r} cannot be deleted: {error.status} {error.reason}") from None

    def restore(self, wanted: Mapping[str, NetworkPolicy]) -> None:
        """Make the policies those of an earlier `policies`."""
        for name, policy in self.policies().items():
            if name not in wanted:
                self.delete(name)
            elif policy != wanted[name]:
                self.put(wanted[name].manifest)
        for name in sorted(set(wanted) - set(self.policies())):
            self.put(wanted[name].manifest)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _essential(item: Mapping[str, Any]) -> dict[str, Any]:
    kept = {k: v for k, v in item["metadata"].items() if k in {"name", "namespace", "labels", "annotations"}}
    return {"metadata": kept, "spec": item["spec"]}
