#!/usr/bin/env bash
# Install what is missing, then open M3Desk on VIDEO, or on its start page; without a display do the same work in the terminal.
# usage: bash packaging/run.sh [VIDEO]     (M3DESK_VENV: where the Python environment goes, default .venv)
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

video=${1:-}
[ -z "$video" ] || [ -f "$video" ] || fail "There is no file $video. Check the path and its spelling."
[ -z "$video" ] || video=$(cd "$(dirname "$video")" && pwd)/$(basename "$video")

set_up
python=$venv/bin/python m3desk=$venv/bin/m3desk

problem=$("$python" -c 'from m3desk.machine import display_problem; print(display_problem() or "")')
if [ -z "$problem" ]; then
  say "Opening M3Desk. Next time: ${m3desk} ${video:+play \"$video\"}"
  if [ -n "$video" ]; then exec "$m3desk" play "$video"; else exec "$m3desk" open; fi
fi

say "No window can be opened here ($problem), so the same work is done in the terminal."
if [ -n "$video" ]; then
  memory=$("$python" -c 'import sys; from m3desk.app import default_memory; print(default_memory(sys.argv[1]))' "$video")
else
  "$m3desk" models pull demo --yes
  video=$("$python" -c 'from m3desk.models import weights; print(next(weights("demo").glob("*.mp4")))')
  memory=$("$python" -c 'from m3desk.paths import data_dir; print(data_dir() / "memories" / "demo.m3desk")')
  mkdir -p "$(dirname "$memory")"
fi
question="What is said in this video?"

say "Memorizing $video into $memory"
"$m3desk" memorize "$video" -m "$memory"
say "People"
"$m3desk" people list -m "$memory"
say "Memories"
"$m3desk" memories list -m "$memory"
say "A question: $question"
"$m3desk" ask -m "$memory" "$question"
say "Ask more:  $m3desk ask -m '$memory' \"your question\""
[ -f "$("$python" -c 'from m3desk.paths import models_dir; print(models_dir() / "qwen2.5-coder-1.5b" / "model.gguf")')" ] ||
  echo "    Answers in sentences, and knowledge, need the language model (1.1 GB):  $m3desk models pull --llm"
echo "    On a machine with a screen:  $m3desk open '$memory'"
