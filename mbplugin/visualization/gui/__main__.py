"""The process with the window: its own module, because a package cannot be run."""

from mbplugin.visualization.gui import main

if __name__ == "__main__":
    main()
