# Sets up what M3Desk needs on this machine; read by run.sh and test.sh, which call `set_up`. Repeating it is quick.
#
# What it installs, and how big it is (Debian 12, measured; a machine that has some of it needs less):
#   system packages, where apt is the package manager   70 MB to download, 274 MB on disk
#   a Python environment in .venv (M3DESK_VENV)         about 600 MB to download, 1.6 GB on disk
#   the embedded models, in the user's data folder      about 210 MB to download, 218 MB on disk

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=${M3DESK_VENV:-$root/.venv}

# python3-venv: Debian leaves it out of python3. Then what Qt's window, its fonts (CJK too) and PortAudio's sound load at run time.
system_packages=(
  python3 python3-venv ca-certificates
  libegl1 libgl1 libglib2.0-0 libdbus-1-3 libfontconfig1 libxkbcommon0 libxkbcommon-x11-0
  libxcb-cursor0 libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-shape0 libxcb-xinerama0 libxcb-xkb1
  libwayland-client0 libwayland-cursor0 libwayland-egl1 libgomp1 libstdc++6 libportaudio2 fonts-dejavu-core fonts-wqy-microhei
)

say() { printf '\n==> %s\n' "$*"; }
fail() { printf 'm3desk: %s\n' "$*" >&2; exit 1; }

# Print the first Python that fits (3.11 to 3.13, with venv), or nothing.
find_python() {
  local name
  for name in ${PYTHON:-} python3 python3.13 python3.12 python3.11; do
    if "$name" -c 'import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null; then
      command -v "$name"
      return
    fi
  done
}

# Print the system packages that are not here. Ubuntu 24.04 calls some of them NAMEt64.
missing_packages() {
  local name
  for name in "${system_packages[@]}"; do
    case $name in
      python3 | python3-venv) [ -z "$(find_python)" ] || continue ;;
      fonts-wqy-microhei) [ -z "$(fc-list :lang=zh 2>/dev/null)" ] || continue ;; # any font with Chinese will do
    esac
    # dpkg-query fails where it doesn't know one of the two names; only what it prints counts.
    { dpkg-query -W -f '${db:Status-Status}\n' "$name" "${name}t64" 2>/dev/null || true; } | grep -qx installed || printf '%s ' "$name"
  done
}

# Run apt-get, as root and without a word; while another program holds its locks, say so once and wait for it, up to apt_wait seconds.
# DPkg::Lock::Timeout alone waits for dpkg's lock only, not for that of the package lists.
apt_wait=600
apt_get() {
  local log patience=0 until=$((SECONDS + apt_wait)) holder
  log=$(mktemp)
  until "${as_root[@]}" env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=$patience "$@" >"$log" 2>&1; do
    if ! grep -q 'Could not get lock\|Unable to lock\|Unable to acquire' "$log" || [ $SECONDS -ge $until ]; then
      cat "$log" >&2
      rm -f "$log"
      return 1
    fi
    if [ $patience = 0 ]; then
      holder=$(sed -n 's/.*held by \(process [0-9]* ([^)]*)\).*/, \1/p' "$log" | head -n 1)
      say "Another program is using apt (its lock is held$holder): waiting for it, up to $((apt_wait / 60)) minutes"
      patience=$apt_wait
    fi
    sleep 3
  done
  grep '^[WE]:' "$log" >&2 || true
  rm -f "$log"
}

# Show what pip says as one line a larger package: its size, and how much there is so far.
show_downloads() {
  local line name kb total=0
  while IFS= read -r line; do
    if [[ $line =~ (Downloading|Using\ cached)\ ([^ ]+)\ \(([0-9]+)(\.([0-9]))?\ ([kM])B\) && ${BASH_REMATCH[2]} != *.metadata ]]; then
      name=${BASH_REMATCH[2]##*/}
      kb=${BASH_REMATCH[3]}
      [ "${BASH_REMATCH[6]}" = k ] || kb=$((kb * 1000 + ${BASH_REMATCH[5]:-0} * 100))
      total=$((total + kb))
      [ $kb -lt 1000 ] || printf '    %4d MB so far: %s, %d MB\n' $((total / 1000)) "${name%%-[0-9]*}" $((kb / 1000))
    elif [[ $line == 'Installing collected packages'* ]]; then
      printf '    %4d MB in all; unpacking them (a minute or two)\n' $((total / 1000))
    fi
  done
}

install_system_packages() {
  if ! command -v apt-get >/dev/null; then
    say "This is no Debian or Ubuntu: where the window does not open, install what the first lines of packaging/setup.sh list."
    return
  fi
  local missing as_root=() size
  missing=$(missing_packages)
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
      [ -n "$(find_python)" ] || fail "Python 3.11 to 3.13 with venv is missing, and there is no sudo. As root: apt-get install $missing"
      say "Left out, because there is no sudo (as root: apt-get install $missing)"
      return
    fi
    as_root=(sudo)
  fi
  say "System packages to install: $missing"
  apt_get update || fail "apt-get could not read the package lists."
  # shellcheck disable=SC2086  # one word a package
  size=$(LC_ALL=C apt-get install --assume-no --no-install-recommends $missing 2>/dev/null | grep -E '^(Need to get|After this)' || true)
  [ -z "$size" ] || printf '%s\n' "$size"
  # shellcheck disable=SC2086
  apt_get install -y --no-install-recommends $missing ||
    fail "apt-get could not install: $missing"
}

# Install M3Desk (with the extras in $1, such as [dev]) unless this very state of the sources is installed already.
install_m3desk() {
  local extras=${1:-} python stamp
  python=$(find_python)
  [ -n "$python" ] || fail "Python 3.11 to 3.13 with venv is needed (Debian, Ubuntu: apt-get install python3-venv; or set PYTHON)."
  if [ ! -x "$venv/bin/python" ]; then
    say "Python environment: $venv ($("$python" --version))"
    "$python" -m venv "$venv"
  fi
  stamp=$venv/.m3desk-installed$extras
  if [ -f "$stamp" ] && [ -z "$(cd "$root" && find m3desk ui plugins resources pyproject.toml -newer "$stamp" ! -path '*/__pycache__*' -print -quit)" ]; then
    return
  fi
  say "M3Desk and its libraries: about 600 MB to download the first time, 1.6 GB on disk"
  if ! (cd "$root" && "$venv/bin/python" -m pip install --progress-bar off --disable-pip-version-check ".$extras" 2>"$venv/pip-said" | show_downloads); then
    cat "$venv/pip-said" >&2
    fail "pip could not install M3Desk; its message stands above."
  fi
  rm -f "$venv"/.m3desk-installed*
  touch "$stamp" "$venv/.m3desk-installed"
}

set_up() {
  install_system_packages
  install_m3desk "${1:-}"
  say "Models of the embedded profile (without the language model: m3desk models pull --llm, 1.1 GB)"
  "$venv/bin/m3desk" models pull --yes
}
