"""Stops of a moving robot; calling the package is calling :func:`mbplugin.stopping.run.estop`."""

from mbplugin.callable_room import make_callable

PUBLIC_FUNCTION = "mbplugin.stopping.run.estop"
make_callable(__name__)
