# The backend `vllm` (read by packaging/test-backends.sh): a tiny Qwen3 with random weights, the class of M3-Agent-Control, writes knowledge
# and answers, also in parity mode; grammars make its replies well formed. Its server starts three times.
# Downloads about 920 MB and takes 3.2 GB on disk without a GPU (4.3 GB and 8.6 GB with CUDA); a start takes about 40 s on two quiet cores.
python_line=$(install_backend vllm)
vllm_python=${M3DESK_BACKEND_PYTHON:-$(backend_python vllm)}
"$vllm_python" "$root/packaging/backends/tiny_qwen3.py" "$work/tiny-control"
{
  profile_with language=vllm
  printf '\n[backends.vllm]\nmodel = "%s"\n%s\n' "$work/tiny-control" "$python_line"
} >"$M3DESK_CONFIG"

m3desk memorize "$clip" -m "$work/memory"
m3desk check -m "$work/memory"
m3desk people list -m "$work/memory"
# Two words that were said: only a question that the memory may answer is given to the model.
question="Why $(m3desk export -m "$work/memory" -o - --format srt | grep -v -e '-->' | sed 's/^[^:]*://' | grep -oE '[a-z]{5,}' | head -n 2 | xargs)?"
m3desk ask -m "$work/memory" --json "$question" | expect "the answer" '"model": "tiny-control (vLLM)'
m3desk ask -m "$work/memory" --json --mode parity "$question" | expect "the answer in parity mode" '"model": "tiny-control (vLLM)'
rm -rf "$work/tiny-control"

# Watching: a tiny Qwen2.5-Omni thinker, the class of M3-Agent-Memorization, sees and hears the clip; its head is made to write one sentence.
# vLLM's CPU build comes without torchvision, which this needs: there it is left out, unless M3DESK_BACKEND_PYTHON names a Python that has it.
if "$vllm_python" -c "import torchvision" 2>/dev/null; then
  "$vllm_python" - "$root/plugins/m3desk_torch/child" "$work/tiny-thinker" <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
import random_models
random_models.save("qwen2.5-omni-7b", sys.argv[2], says=['"<face_1> jumps"]'])
PY
  {
    profile_with
    printf '\n[backends.vllm]\nmodel = "%s"\npictures = 6\n%s\n' "$work/tiny-thinker" "$python_line"
  } >"$M3DESK_CONFIG"
  rm -rf "$work/memory"
  m3desk memorize "$clip" -m "$work/memory" --writer vllm
  m3desk check -m "$work/memory"
  m3desk search nodes -m "$work/memory" "jumps" | expect "the sentence of the model that watches" "jumps"
  rm -rf "$work/tiny-thinker"
else
  say "Watching through vLLM is left out: torchvision is not in its environment"
fi
