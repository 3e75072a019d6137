#!/usr/bin/env bash
# Tries each backend for real, with tiny models of the classes that it runs: 20 s of a film are memorized through the whole pipeline,
# `check` must accept the memory, and a question is answered through it. Not part of test.sh: each part installs its libraries.
# usage: bash packaging/test-backends.sh [NAME…]        (default: every part in packaging/backends/)
#   M3DESK_PYTHON            a Python that has M3Desk already (default: set up as run.sh does)
#   M3DESK_BACKEND_PYTHON    a Python that has a backend's libraries already (default: m3desk backends install NAME)
#   M3DESK_BACKENDS          a folder where backends are installed already, or are to stay (default: a temporary one)
#   M3DESK_INDEX             the package index besides the usual one, for PyTorch without CUDA (none: without one)
#   M3DESK_FILM              the film (default: the speech in ../shared/data)
# Sizes and times of each part stand in its first lines.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

if [ -z "${M3DESK_PYTHON:-}" ]; then
  set_up
  M3DESK_PYTHON=$venv/bin/python
fi
export M3DESK_PYTHON
m3desk() { "$M3DESK_PYTHON" -m m3desk "$@"; }

film=${M3DESK_FILM:-$root/../shared/data/video/obama/obama_speech.mp4}
[ -f "$film" ] || fail "The film $film is not here: set M3DESK_FILM to one in which somebody is seen and speaks."

# The weights of the embedded models are shared with the user's own; settings, memories and backends are not.
M3DESK_MODELS=${M3DESK_MODELS:-$("$M3DESK_PYTHON" -c 'from m3desk import paths; print(paths.models_dir())')}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export M3DESK_MODELS M3DESK_DATA=$work/data M3DESK_CONFIG=$work/config.toml

clip=$work/clip.mp4
"$M3DESK_PYTHON" "$root/packaging/backends/cut.py" "$film" "$clip" 20

# Print the lines of a profile "tiny" that is the embedded one but for the ports given (port=backend …).
profile_with() {
  "$M3DESK_PYTHON" - "$@" <<'PY'
import sys
from m3desk.backends import EMBEDDED
print('profile = "tiny"\n[profiles.tiny]')
for port, name in {**EMBEDDED, **dict(word.split("=") for word in sys.argv[1:])}.items():
    print(f'{port} = "{name}"')
PY
}

# install NAME: its environment by M3Desk's own command; prints the settings that name the user's environment instead, if there is one.
install_backend() {
  if [ -n "${M3DESK_BACKEND_PYTHON:-}" ]; then
    printf 'python = "%s"\n' "$M3DESK_BACKEND_PYTHON"
  else
    m3desk backends install "$1" --yes ${M3DESK_INDEX:+--index "$M3DESK_INDEX"} >&2
  fi
}

# backend_python NAME: print the interpreter of a backend that is installed.
backend_python() {
  "$M3DESK_PYTHON" -c 'import sys; from m3desk.children import environments; print(environments.python(sys.argv[1]))' "$1"
}

# expect WHAT PATTERN: read standard input, show it, and fail unless it holds PATTERN.
expect() {
  local told
  told=$(cat)
  printf '%s\n' "$told"
  grep -q -- "$2" <<<"$told" || fail "$1: “$2” is not in it."
}

parts=("$@")
[ ${#parts[@]} -gt 0 ] || mapfile -t parts < <(cd "$root/packaging/backends" && ls -- *.sh | sed 's/\.sh$//')
for part in "${parts[@]}"; do
  [ -f "$root/packaging/backends/$part.sh" ] || fail "There is no part $part."
  say "Backend $part"
  rm -rf "$work/memory" "$M3DESK_CONFIG"
  began=$SECONDS
  . "$root/packaging/backends/$part.sh"
  say "Backend $part: as it should be ($((SECONDS - began)) s)"
done
