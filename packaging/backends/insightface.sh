# The backend `insightface` (read by packaging/test-backends.sh): a tiny recognition model of the form of buffalo_l's tells faces apart, by the
# insightface package in its own environment and, for the same memory, by ONNX Runtime alone.
# Downloads about 180 MB, 0.55 GB on disk; half a minute on two quiet cores to install, one to run.
install_backend insightface >/dev/null
(cd "$root" && "$M3DESK_PYTHON" -m tests.torch.tiny_vectors arcface "$work/pack/w600k_r50.onnx")
{
  profile_with face_vectors=insightface
  printf '\n[backends.insightface]\npack = "%s"\n' "$work/pack"
} >"$M3DESK_CONFIG"

m3desk memorize "$clip" -m "$work/memory"
m3desk check -m "$work/memory"
m3desk people list -m "$work/memory" | expect "the people" "Person"
m3desk ask -m "$work/memory" --json "What is said?" | expect "the answer" '"citations": \[$'
m3desk reembed sface -m "$work/memory" --switch
m3desk reembed insightface -m "$work/memory" --switch --json | expect "back to the package" '"model": "arcface-w600k_r50-'
m3desk check -m "$work/memory"
rm -rf "$work/pack"
