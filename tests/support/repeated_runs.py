"""Run structured cases here and print what each said and wrote: ``repeated_runs.py SEED FOLDER NUMBER …``."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main(seed: int, place: Path, numbers: list[int]) -> None:
    """Print one JSON object per case: its exit code, stdout, stderr and the digests of the files it left.

    Every run works in a folder of the same name, because names of folders stand in messages.
    """
    sys.path[:0] = [str(HERE), str(HERE.parents[1])]
    from tests.fuzz.structured.case import case
    from tests.fuzz.structured.judge import outcome

    for number in numbers:
        made = case(seed, number)
        folder = place / str(number)
        folder.mkdir(parents=True)
        made.write(folder)
        os.chdir(folder)
        found = outcome(made.arguments)
        files = {
            str(file.relative_to(folder)): hashlib.sha256(timeless(file.read_bytes())).hexdigest()
            for file in sorted(folder.rglob("*"))
            if file.is_file()
        }
        said = {
            "number": number,
            "words": made.arguments,
            "code": repr(found.code),
            "out": timeless(found.out.encode()).decode(),
            "err": found.err,
        }
        print(json.dumps({**said, "files": files}), flush=True)


def timeless(content: bytes) -> bytes:
    """Return a document without the seconds that its computation took: what a clock says is never the same."""
    return re.sub(rb'"seconds": [\d.e+-]+', b'"seconds": 0', content)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), [int(number) for number in sys.argv[3:]])
