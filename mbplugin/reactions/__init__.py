"""Joint reactions; calling the package is calling :func:`mbplugin.reactions.run.reactions`."""

from mbplugin.callable_room import make_callable

PUBLIC_FUNCTION = "mbplugin.reactions.run.reactions"
make_callable(__name__)
