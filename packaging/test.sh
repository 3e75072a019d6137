#!/usr/bin/env bash
# The same set-up as run.sh with the developers' tools, then every check: format, lint, types, imports, tests. Fails if one fails.
# usage: bash packaging/test.sh [PYTEST ARGUMENTS]     (M3DESK_VENV: where the Python environment goes, default .venv)
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

set_up "[dev]"
cd "$root"
export QT_QPA_PLATFORM=offscreen PYTHONDONTWRITEBYTECODE=1
bin=$venv/bin
failed=()
check() {
  say "$1"
  shift
  "$@" || failed+=("$1 ${2:-}")
}

check "Format" "$bin/ruff" format --check .
check "Lint" "$bin/ruff" check .
check "Types" "$bin/mypy"
check "Imports" "$bin/lint-imports"
check "Tests" "$bin/python" -m pytest "$@"

if [ ${#failed[@]} -gt 0 ]; then
  printf '\nfailed: %s\n' "${failed[*]##*/}" >&2
  exit 1
fi
