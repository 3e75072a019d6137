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
