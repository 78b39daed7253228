"""Joint reactions; calling the package is calling :func:`mbplugin.joint_reactions.run.reactions`."""

from mbplugin.callable_room import make_callable

PUBLIC_FUNCTION = "mbplugin.joint_reactions.run.reactions"
make_callable(__name__)
