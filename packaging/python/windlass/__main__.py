"""`python -m windlass`: starts the program."""

import os
import subprocess
import sys

from windlass import binary_path

if __name__ == "__main__":
    program = binary_path()
    if sys.platform == "win32":
        sys.exit(subprocess.run([program, *sys.argv[1:]], check=False).returncode)
    os.execv(program, [program, *sys.argv[1:]])
