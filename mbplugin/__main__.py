"""``python -m mbplugin`` is the console script."""

from mbplugin.cli import main

if __name__ == "__main__":
    main()
