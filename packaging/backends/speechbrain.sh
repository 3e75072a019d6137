# The backend `speechbrain` (read by packaging/test-backends.sh): a tiny ECAPA-TDNN tells voices apart; then the voices are embedded with CAM++,
# and with ECAPA again.
# Downloads about 270 MB, 1.0 GB on disk without a GPU (3 GB and 5 GB with CUDA); a minute on two quiet cores to install, one to run.
install_backend speechbrain >/dev/null
(cd "$root" && "$M3DESK_PYTHON" -m tests.torch.tiny_vectors ecapa "$work/ecapa/embedding_model.ckpt" "$(backend_python speechbrain)")
{
  profile_with voice_vectors=ecapa
  printf '\n[backends.speechbrain]\nmodel = "%s"\n' "$work/ecapa"
} >"$M3DESK_CONFIG"

m3desk memorize "$clip" -m "$work/memory"
m3desk check -m "$work/memory"
m3desk people list -m "$work/memory" | expect "the people" "Person"
m3desk ask -m "$work/memory" --json "What is said?" | expect "the answer" '"citations": \[$'
m3desk reembed campplus -m "$work/memory" --switch
m3desk reembed ecapa -m "$work/memory" --switch --json | expect "back to ECAPA" '"model": "ecapa-'
m3desk check -m "$work/memory"
rm -rf "$work/ecapa"
