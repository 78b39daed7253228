"""Rules, findings and the lint run; calling the package is calling :func:`mbplugin.linter.run.lint`."""

from mbplugin.callable_room import make_callable

PUBLIC_FUNCTION = "mbplugin.linter.run.lint"
make_callable(__name__)
