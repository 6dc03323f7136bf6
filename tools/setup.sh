#!/bin/sh
# Find a Python, then let tools/install.py make the environment in .venv.
#
#   tools/setup.sh site     what `make site` needs
#   tools/setup.sh test     the same, and what tests and checks need
#   tools/setup.sh --find   only print the Python that would be used
#
# TRACK_PYTHON names a Python and ends the search.
set -eu
cd "$(dirname "$0")/.."

# What a candidate must be able to do is asked of it, because a name proves nothing: pyenv's shims are on PATH and exit
# 127, Debian's python3 comes without ensurepip, and one built by hand may lack ssl or ctypes. A free-threaded build has
# no wheels to install. The base executable is printed, so that an active .venv is not made anew by itself.
probe='
import ctypes, ensurepip, ssl, sys, sysconfig, venv, zlib
usable = sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED")
print("%d.%d" % sys.version_info[:2] if usable else "unusable", getattr(sys, "_base_executable", sys.executable))
'

# Print "VERSION PATH" if the candidate works; say nothing otherwise. A half-made .venv takes itself for its base, and an
# environment that is made from itself is a loop of links.
ask() { "$1" -I -c "$probe" 2>/dev/null </dev/null | grep -v '/\.venv/bin/' || true; }

candidates() {
    for name in python3.13 python3.12 python3.14 python3 python; do
        command -v "$name" || true
    done
    pyenv_root=$(pyenv root 2>/dev/null) || pyenv_root=${PYENV_ROOT:-${HOME:-}/.pyenv}
    for path in "$pyenv_root"/versions/*/bin/python; do
        echo "$path"
    done
    for version in 3.13 3.12 3.14; do
        # Only what is there: a download is the reader's decision.
        UV_PYTHON_DOWNLOADS=never uv python find "$version" 2>/dev/null || true
    done
}

# The Python of this environment if there is one, else the best candidate: 3.13, on which everything is tested, first.
search() {
    answers=$(
        ask .venv/bin/python | grep -E '^3\.1[234] ' && exit
        candidates | while IFS= read -r candidate; do ask "$candidate"; done
    )
    for version in 3.13 3.12 3.14; do
        found=$(printf '%s\n' "$answers" | sed -n "s/^$version //p" | head -n 1)
        [ -z "$found" ] || { printf '%s\n' "$found"; return; }
    done
    echo "error: no Python 3.12 to 3.14 that can make an environment was found on PATH, under pyenv or through uv;" \
        "install one (\`apt-get install python3 python3-venv\` on Debian 13, else \`pyenv install 3.13\` or" \
        "\`uv python install 3.13\`), or name one in TRACK_PYTHON" >&2
    exit 3
}

chosen() {
    answer=$(ask "$TRACK_PYTHON")
    case $answer in
        "3.12 "* | "3.13 "* | "3.14 "*) printf '%s\n' "${answer#* }" ;;
        *)
            echo "error: TRACK_PYTHON is $TRACK_PYTHON, which is no Python 3.12 to 3.14 that can make an environment:" >&2
            "$TRACK_PYTHON" -I -c "$probe" >&2 || true # its answer, or why it has none
            exit 3
            ;;
    esac
}

if [ -n "${TRACK_PYTHON:-}" ]; then python=$(chosen); else python=$(search); fi
if [ "${1:-}" = --find ]; then
    printf '%s\n' "$python"
else
    exec "$python" -I tools/install.py "$@"
fi
