# The backend `server` (read by packaging/test-backends.sh): llama.cpp's own server, a process of its own on loopback with a key, with a tiny
# vision model (Llama with SmolVLM's projector; its head is made to write one sentence); it watches the clip, writes knowledge and answers.
# Downloads nothing beside M3Desk's own dependencies; a minute or two on two quiet cores.
"$M3DESK_PYTHON" "$root/tests/plugins/servers/tiny_gguf.py" "$work/tiny-gguf"
export M3DESK_SERVER_KEY=test-key
mkfifo "$work/server-input"
"$M3DESK_PYTHON" "$root/tests/plugins/servers/llama_process.py" "$work/tiny-gguf/model.gguf" "$work/tiny-gguf/mmproj.gguf" "$M3DESK_SERVER_KEY" \
  <"$work/server-input" >"$work/server-address" &
exec 9>"$work/server-input" # it ends when this closes, also if this script ends
for _ in $(seq 600); do [ -s "$work/server-address" ] && break || sleep 0.2; done
{
  profile_with language=server
  printf '\n[backends.server]\nurl = "%s/v1"\n' "$(cat "$work/server-address")"
} >"$M3DESK_CONFIG"

m3desk memorize "$clip" -m "$work/memory" --writer server
m3desk check -m "$work/memory"
m3desk people list -m "$work/memory"
# Two words that were said: only a question that the memory may answer is given to the model.
question="Why $(m3desk export -m "$work/memory" -o - --format srt | grep -v -e '-->' | sed 's/^[^:]*://' | grep -oE '[a-z]{5,}' | head -n 2 | xargs)?"
m3desk ask -m "$work/memory" --json "$question" | expect "the answer" '"model": "model.gguf (127.0.0.1'
m3desk ask -m "$work/memory" --json --mode parity "$question" | expect "the answer in parity mode" '"model": "model.gguf (127.0.0.1'

exec 9>&-
m3desk ask -m "$work/memory" "$question" 2>&1 | expect "the answer without the server" "no server answers"
unset M3DESK_SERVER_KEY
rm -rf "$work/tiny-gguf" "$work/server-input" "$work/server-address"
