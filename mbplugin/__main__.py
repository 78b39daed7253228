"""``python -m mbplugin`` is the console script."""

from mbplugin.processes.isolation import forget_working_folder

if __name__ == "__main__":
    # before anything else is imported: python -m looks in the working folder first
    forget_working_folder()

    from mbplugin.cli import main

    main()
