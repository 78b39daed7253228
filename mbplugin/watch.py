"""Entry point of ``python -m mbplugin.watch SCRIPT``; :func:`mbplugin.watch` itself is in ``watching``."""

import sys

from mbplugin.watching.run import watch

if __name__ == "__main__":
    from mbplugin.watching.script import main

    sys.exit(main())

# importing this module must not put it in the place of the function of the package
sys.modules[__name__] = watch  # type: ignore[assignment]
