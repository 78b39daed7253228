"""Run structured cases here and print what each said and wrote: ``repeated_runs.py SEED FOLDER NUMBER …``."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main(seed: int, place: Path, numbers: list[int]) -> None:
    """Print one JSON object per case: its exit code, stdout, stderr and the digests of the files it left.

    Every run works in a folder of the same name, because names of folders stand in messages.
    """
    sys.path[:0] = [str(HERE), str(HERE.parents[1])]
    import os

    from tests.fuzz.structured.case import case
    from tests.fuzz.structured.judge import outcome

    for number in numbers:
        made = case(seed, number)
        folder = place / str(number)
        folder.mkdir(parents=True)
        made.write(folder)
        os.chdir(folder)
        words = tuple(word for word in made.arguments)
        found = outcome(words)
        files = {
            str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
            for file in sorted(folder.rglob("*"))
            if file.is_file()
        }
        said = {
            "number": number,
            "words": words,
            "code": repr(found.code),
            "out": found.out,
            "err": found.err,
        }
        print(json.dumps({**said, "files": files}), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), [int(number) for number in sys.argv[3:]])
