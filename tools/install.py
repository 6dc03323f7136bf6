"""Make `.venv` from the hash-locked requirements, once; `tools/setup.sh` finds the Python that runs this.

The environment has two layers: `site` (site.txt and this project) and `test` (test.txt on top). A stamp in it names
what each finished layer was made from. The stamp goes away before anything changes and comes back when all is done, so
an install that was cut short leaves none, and the next call starts from an empty folder: what a killed pip leaves
behind can look installed and not be.

Only the standard library is used, because nothing else is there yet.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import subprocess
import sys
import tomllib
import venv
from collections.abc import Generator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "stamp.json"
LAYERS = ("site", "test")


def lock_file(layer: str) -> Path:
    """Return the hash-locked requirements of a layer."""
    return ROOT / "requirements" / f"{layer}.txt"


def wanted(layer: str) -> str:
    """Return a hash of all that a layer is made from.

    Of pyproject.toml only what an install reads counts: a new lint rule is no reason to install again. The folder
    counts because the scripts of an environment hold its absolute path.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    parts = [
        str(ROOT),
        sys.version,
        sys.base_prefix,
        json.dumps([project["project"], project["build-system"], project["tool"]["setuptools"]]),
        lock_file(layer).read_text("utf-8"),
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def finished() -> dict[str, str]:
    """Return the hash of each layer that was finished."""
    return json.loads(STAMP.read_text("utf-8")) if STAMP.is_file() else {}


def missing(layer: str) -> list[str]:
    """Return the layers to install for this one: those that are not there or were made from something else."""
    done = finished()
    layers = LAYERS[: LAYERS.index(layer) + 1]
    stale = [name for name in layers if done.get(name) != wanted(name)]
    return list(layers) if LAYERS[0] in stale else stale  # the lowest empties the folder, so all follow it


@contextlib.contextmanager
def alone() -> Generator[int]:
    """Wait until no other set-up works on this checkout; give the descriptor that holds the lock.

    This file is the lock, because it is always there and nothing has to clean it up.
    """
    with Path(__file__).open("rb+") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another set-up in this checkout")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle.fileno()


def pip_install(lock: int, *arguments: str) -> None:
    """Run pip, which inherits the lock: if it outlives a killed parent, the next set-up waits for it."""
    # Wheels only: to build one would run build requirements that no lock names. No byte code: compiling all of jax and
    # its neighbors takes longer than fetching them, and Python compiles what it imports.
    options = ["-qq", "--no-input", "--disable-pip-version-check", "--no-compile"]
    command = [str(VENV / "bin" / "python"), "-I", "-m", "pip", "install", *options, *arguments]
    subprocess.run(command, cwd=ROOT, check=True, stdin=subprocess.DEVNULL, pass_fds=[lock])


def add(layer: str, lock: int) -> None:
    """Install a layer on top of those below it; the lowest starts from an empty folder."""
    path = lock_file(layer)
    count = path.read_text("utf-8").count("==")
    say(f"installing {count} packages of requirements/{path.name}, which takes a minute or so")
    if layer == LAYERS[0]:
        venv.create(VENV, clear=True, with_pip=True, symlinks=True)
    pip_install(lock, "--only-binary=:all:", "--require-hashes", f"--requirement={path}")
    if layer == LAYERS[0]:
        # The build backend came with the lock, so this fetches nothing.
        pip_install(lock, "--no-index", "--no-deps", "--no-build-isolation", "--editable=.")


def install(layer: str) -> None:
    """Bring `.venv` to hold a layer and those below it; do nothing if it does."""
    if not missing(layer):
        return
    with alone() as lock:
        todo = missing(layer)  # again, because another set-up may just have ended
        done = {} if LAYERS[0] in todo else finished()
        STAMP.unlink(missing_ok=True)
        for name in todo:
            add(name, lock)
        done |= {name: wanted(name) for name in todo}
        partial = STAMP.with_suffix(".partial")
        partial.write_text(json.dumps(done), "utf-8")
        partial.replace(STAMP)


def say(text: str) -> None:
    """Print one line about the set-up."""
    print(f"setup: {text}", flush=True)


def main() -> int:
    """Install the layer that the command line names."""
    if sys.argv[1:] not in [[layer] for layer in LAYERS]:
        print(f"usage: tools/setup.sh {'|'.join(LAYERS)}", file=sys.stderr)
        return 2
    try:
        install(sys.argv[1])
    except subprocess.CalledProcessError as error:
        print(f"error: pip stopped with exit code {error.returncode}, see above", file=sys.stderr)
        print("  next  see that pip can reach its package index, then run the same command again", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
