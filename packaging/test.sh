#!/usr/bin/env bash
# The same set-up as run.sh with the developers' tools, then every check: format, lint, types, imports, tests. Fails if one fails.
# usage: bash packaging/test.sh [--quick] [PYTEST ARGUMENTS]     (M3DESK_VENV: where the Python environment goes, default .venv)
#   --quick   for while you work: without the tests marked `slow` and those on ../shared/data, and without installing again when only the
#             code has changed
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

quick=()
workers=logical # one process a core
if [ "${1:-}" = --quick ]; then
  shift
  quick=(-m "not slow and not data")
  workers=$((2 * $(getconf _NPROCESSORS_ONLN) + 1)) # many quick tests wait for threads, not for the processor
  export PYTHONPATH=$root:$root/ui:$root/plugins # the code as it is in this checkout, whatever is installed
fi
if [ ${#quick[@]} = 0 ] || [ ! -f "$venv/.m3desk-installed[dev]" ] || [ "$root/pyproject.toml" -nt "$venv/.m3desk-installed[dev]" ]; then
  set_up "[dev]"
fi
cd "$root"
export QT_QPA_PLATFORM=offscreen PYTHONPYCACHEPREFIX=$venv/bytecode # compiled once, outside of the checkout
bin=$venv/bin
failed=()
check() {
  local what=$1
  say "$what"
  shift
  "$@" || failed+=("$what")
}

check "Format" "$bin/ruff" format --check .
check "Lint" "$bin/ruff" check .
check "Types" "$bin/mypy"
check "Imports" "$bin/lint-imports"
# Where Xvfb is installed the window's tests have a virtual screen each (tests/ui/conftest.py), else they draw into memory.
check "Tests" "$bin/python" -m pytest -n "$workers" --dist worksteal --durations=15 "${quick[@]}" "$@"

if [ ${#failed[@]} -gt 0 ]; then
  printf '\nfailed:%s\n' "$(printf ' %s,' "${failed[@]}" | sed 's/,$//')" >&2
  exit 1
fi
