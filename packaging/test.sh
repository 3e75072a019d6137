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
  local what=$1
  say "$what"
  shift
  "$@" || failed+=("$what")
}

check "Format" "$bin/ruff" format --check .
check "Lint" "$bin/ruff" check .
check "Types" "$bin/mypy"
check "Imports" "$bin/lint-imports"
# Without a screen the tests draw into memory; where Xvfb is installed, the window's are also run as on a real display.
if command -v xvfb-run >/dev/null; then
  check "Window tests on Xvfb" env QT_QPA_PLATFORM=xcb xvfb-run -a -s "-screen 0 1600x1000x24" "$bin/python" -m pytest tests/ui
fi
check "Tests" "$bin/python" -m pytest "$@"

if [ ${#failed[@]} -gt 0 ]; then
  printf '\nfailed:%s\n' "$(printf ' %s,' "${failed[@]}" | sed 's/,$//')" >&2
  exit 1
fi
