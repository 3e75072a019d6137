# The backend `llama-vision` (read by packaging/test-backends.sh): llama.cpp in this process with a tiny vision model (Llama with SmolVLM's
# projector; its head is made to write one sentence) watches the clip, and answers as the backend `llama-cpp`.
# Downloads nothing beside M3Desk's own dependencies; ten minutes on two cores shared with much other work (load 19).
"$M3DESK_PYTHON" "$root/tests/plugins/servers/tiny_gguf.py" "$work/tiny-gguf"
{
  profile_with watcher=llama-vision
  printf '\n[backends.llama-vision]\nmodel = "%s"\nmmproj = "%s"\n' "$work/tiny-gguf/model.gguf" "$work/tiny-gguf/mmproj.gguf"
  printf '\n[backends.llama-cpp]\nmodel = "%s"\n' "$work/tiny-gguf/model.gguf"
} >"$M3DESK_CONFIG"

m3desk memorize "$clip" -m "$work/memory"
m3desk check -m "$work/memory"
m3desk search nodes -m "$work/memory" "jumps" | expect "the sentence of the model that watches" "Jumps"
m3desk people list -m "$work/memory"
m3desk ask -m "$work/memory" --json "Who jumps?" | expect "the answer" '"model": "tiny-gguf xllamacpp'
rm -rf "$work/tiny-gguf"
