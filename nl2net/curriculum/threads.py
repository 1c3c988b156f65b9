"""One thread for the matrix products: they are small, and threads that wait for each other cost more than they give."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext


def one_thread() -> AbstractContextManager[object]:
    """Holds the linear algebra of this process to one thread; does nothing without threadpoolctl (extra ``train``).

    A sum over several threads may also be rounded in another order: a resumed run would not give the same bytes.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return nullcontext()
    limits: AbstractContextManager[object] = threadpool_limits(1)
    return limits
