"""The backends of a sweep: the cores of this machine, or a cluster of dask or ray."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any, get_args

from mbplugin.errors import BadUsage, MissingDependency, UnknownName, suggestion
from mbplugin.model.enumerations import Backend
from mbplugin.processes.isolated_starts import interrupts_held, isolated_starts

BACKENDS: tuple[Backend, ...] = get_args(Backend)
#: Where the processes of a cluster that is made here listen: on this machine alone.
LOOPBACK = "127.0.0.1"
#: The module that a cluster needs.
_MODULE = {"dask": "distributed", "ray": "ray"}


def joblib_with(backend: str) -> Any:
    """Return joblib, once everything that a backend needs is found.

    Raises
    ------
    UnknownName
        No such backend.
    MissingDependency
        joblib, dask or ray is not installed.
    """
    if backend not in BACKENDS:
        raise UnknownName(f"there is no backend {backend!r}", remedy=suggestion(backend, BACKENDS))
    if backend in _MODULE and find_spec(_MODULE[backend]) is None:
        raise MissingDependency.of(f"the backend {backend}", backend, backend)
    try:
        import joblib
    except ImportError:
        raise MissingDependency.of("a sweep", "joblib", "sweep") from None
    return joblib


@contextlib.contextmanager
def working(joblib: Any, backend: str, jobs: int) -> Iterator[None]:
    """Let joblib's work go to a backend; that of a cluster is connected already."""
    if backend == "dask":
        _require_client()
    elif backend == "ray":
        from ray.util.joblib import register_ray

        register_ray()
    elif jobs == 1:
        backend = "sequential"
    with isolated_starts(), joblib.parallel_config(backend, n_jobs=jobs):
        yield


def finished(joblib: Any, backend: str, work: Sequence[Any]) -> Iterator[Any]:
    """Yield what joblib's jobs return, as they end."""
    if not work:
        return
    if backend != "ray":
        _start_trackers()
        # here the others start: elsewhere, for numba looks for settings where it stands
        with isolated_starts(move=True), interrupts_held():
            results = joblib.Parallel(return_as="generator_unordered")(work)
        yield from results
        return
    # joblib returns from ray all results at once: rounds let somebody watch
    size = 4 * joblib.effective_n_jobs()
    for k in range(0, len(work), size):
        yield from joblib.Parallel()(work[k : k + size])


def end_workers() -> None:
    """End the processes that loky keeps for more work, at once: left to themselves they take seconds, in silence."""
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor(reuse=True).shutdown(wait=True, kill_workers=True)


def _start_trackers() -> None:
    """Start the processes that clear up after others: their start lets Ctrl-C through to what starts next."""
    # Windows clears up by itself
    if sys.platform == "win32":
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()
    with contextlib.suppress(ImportError):
        from joblib.externals.loky.backend.resource_tracker import ensure_running

        ensure_running()


def _require_client() -> None:
    from distributed import get_client

    try:
        get_client()
    except ValueError:
        raise BadUsage("no dask client is connected", remedy="make a distributed.Client(…) before") from None


@contextlib.contextmanager
def connected(backend: str, address: str | None, jobs: int) -> Iterator[None]:
    """Be connected to the cluster at an address, or to one made of this machine's cores.

    Raises
    ------
    BadUsage
        An address and no cluster, or nothing answers there.
    """
    if backend not in _MODULE:
        if address is not None:
            raise BadUsage(f"backend {backend!r} has no address", expected="dask or ray")
        yield
        return
    with isolated_starts(), _dask(address, jobs) if backend == "dask" else _ray(address, jobs):
        yield


@contextlib.contextmanager
def _dask(address: str | None, jobs: int) -> Iterator[None]:
    from distributed import Client, LocalCluster

    count = jobs if jobs > 0 else None
    with contextlib.ExitStack() as stack:
        if address is None:
            options = {
                "n_workers": count,
                "threads_per_worker": 1,
                "dashboard_address": None,
                "host": LOOPBACK,
            }
            with isolated_starts(move=True):
                cluster = LocalCluster(**options)  # type: ignore[no-untyped-call]
            address = stack.enter_context(cluster).scheduler_address
        try:
            stack.enter_context(Client(address, timeout=20))  # type: ignore[no-untyped-call]
        except (OSError, ValueError):
            raise BadUsage("no dask scheduler answers", where=str(address)) from None
        yield


@contextlib.contextmanager
def _ray(address: str | None, jobs: int) -> Iterator[None]:
    import ray

    count = jobs if jobs > 0 and address is None else None
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.WARNING}
    quiet |= {} if address else {"include_dashboard": False, "_node_ip_address": LOOPBACK}
    with contextlib.nullcontext() if address else _ray_on_loopback():
        try:
            # ray lets its processes look for modules where this one stands
            with isolated_starts(move=True):
                ray.init(address=address or "local", num_cpus=count, **quiet)
        except (ConnectionError, ValueError, RuntimeError):
            raise BadUsage("no ray cluster answers", where=str(address)) from None
        try:
            if address is None:
                _require_loopback(ray)
            yield
        finally:
            ray.shutdown()


@contextlib.contextmanager
def _ray_on_loopback() -> Iterator[None]:
    """Let ray take the loopback address where it is stated, as it does by itself on Windows and macOS.

    On Linux it puts the address of the machine in its place, and its servers listen on every interface.
    """
    from ray._private import ray_constants

    constants: Any = ray_constants
    before = getattr(constants, "ENABLE_RAY_CLUSTER", None)
    constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        constants.ENABLE_RAY_CLUSTER = before


def _require_loopback(ray: Any) -> None:
    """Refuse a cluster of this machine that others can reach."""
    addresses = {node["NodeManagerAddress"] for node in ray.nodes()}
    if addresses != {LOOPBACK}:
        raise BadUsage(
            f"the installed ray {ray.__version__} listens at {', '.join(sorted(addresses))}",
            expected=f"a cluster that listens at {LOOPBACK} alone",
            remedy="start a cluster as its documentation says, and pass its --address",
        )
