"""Entry point of ``python -m mbplugin``, which does the same as the console script."""

from mbplugin.processes import forget_working_folder

if __name__ == "__main__":
    # before any other import: python -m searches the working folder first
    forget_working_folder()

    from mbplugin.cli import main

    main()
