"""The kernel backend: anonymous network namespaces in a worker process of its own."""
