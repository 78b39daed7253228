"""Stops of a moving robot; calling the package is calling :func:`mbplugin.estop.run.estop`."""

from mbplugin.callable_room import make_callable

PUBLIC_FUNCTION = "mbplugin.estop.run.estop"
make_callable(__name__)
