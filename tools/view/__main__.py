# SPDX-License-Identifier: GPL-2.0-or-later
"""python3 FOLDER COMMAND WORD...: what the clusterfs tool calls, once it has checked the words (tools/cli/View.cc)."""

import importlib
import os
import signal
import sys


def main():
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[0] = os.path.dirname(folder)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the terminal gets back its state
    command = importlib.import_module(f"{os.path.basename(folder)}.{sys.argv[1]}")
    try:
        return command.main(sys.argv[2:])
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # somebody has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        print(f"clusterfs: {sys.argv[1]}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
