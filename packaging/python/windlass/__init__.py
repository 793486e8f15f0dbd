"""The windlass program, as a wheel brings it."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

__all__ = ["binary_path"]


def binary_path() -> str:
    """Path of the windlass program, for `cli_path` of the Claude Agent SDK.

    `WINDLASS_BINARY` names another program.

    Raises `FileNotFoundError` if the program is not where the wheel puts it.
    """
    chosen = os.environ.get("WINDLASS_BINARY")
    if chosen:
        return str(Path(chosen).absolute())
    name = "windlass" + (sysconfig.get_config_var("EXE") or "")
    # The interpreter's own folder, that of a user's packages, and one beside packages of `pip install --target`.
    folders = [
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", scheme=sysconfig.get_preferred_scheme("user")),
        Path(__file__).parent.parent / "bin",
        Path(sys.prefix) / "bin",
    ]
    for folder in folders:
        program = Path(folder) / name
        if program.is_file():
            return str(program)
    places = ", ".join(str(folder) for folder in folders)
    raise FileNotFoundError(f"there is no {name} in {places}: install the package windlass again, or set WINDLASS_BINARY")
