# The backend `transformers` (read by packaging/test-backends.sh): a tiny Qwen2.5-Omni thinker, the class of M3-Agent-Memorization, watches;
# a tiny Qwen3, the class of M3-Agent-Control, answers. Their heads are made to write one sentence each.
# Downloads about 550 MB and takes 2.1 GB on disk without a GPU (3 GB and 5.6 GB with CUDA). On two cores that others used, too:
# 18 minutes to install, 4 to 9 for the rest.
python_line=$(install_backend transformers)
{
  profile_with language=transformers
  printf '\n[backends.transformers]\n%s\n' "$python_line"
} >"$M3DESK_CONFIG"
"$M3DESK_PYTHON" - "$work" <<'PY'
import sys
from pathlib import Path
from m3desk_torch.random_weights import RandomWeights

made = RandomWeights(2)
made.make("qwen2.5-omni-7b", Path(sys.argv[1], "tiny-thinker"), tiny=True, says=['"<face_1> jumps"]'])
made.make("qwen3-32b", Path(sys.argv[1], "tiny-control"), tiny=True, says=[" [1].", " jumps ", "[A"])
PY
printf 'model = "%s"\nlanguage_model = "%s"\n' "$work/tiny-thinker" "$work/tiny-control" >>"$M3DESK_CONFIG"

m3desk memorize "$clip" -m "$work/memory" --writer transformers
m3desk check -m "$work/memory"
m3desk search nodes -m "$work/memory" "jumps" | expect "the sentence of the model that watches" "jumps"
m3desk people list -m "$work/memory"
m3desk ask -m "$work/memory" --json "Who jumps?" | expect "the answer" '"model": "tiny-control transformers'
m3desk bench gpu --tiny qwen2.5-omni-7b qwen3-32b
rm -rf "$work/tiny-thinker" "$work/tiny-control"
