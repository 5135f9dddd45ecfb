# Shared by the scripts beside it: where things are, progress lines, and running as root.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
venv="$root/.venv"
build="$root/build"
logs="$build/logs"
# Where `jumar toolchain install` puts the Ascend toolchain.
toolchain="${XDG_DATA_HOME:-$HOME/.local/share}/jumar/toolchain"
mkdir -p "$logs"
# Paths below the tree are hashed relative to it, so that clones in different folders share the compiler cache.
export CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=true

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
fail() { printf '%s\n' "$*" >&2; exit 1; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else fail "this step needs root: run as root or install sudo ($*)"
  fi
}

# step NAME COMMAND...: runs the command with its output in build/logs/NAME.log, shows the elapsed seconds on a
# terminal, and prints the end of the log when it fails.
step() {
  local name="$1"; shift
  local log="$logs/$name.log" start=$SECONDS
  "$@" >"$log" 2>&1 </dev/null &
  local pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    [ -t 1 ] && printf '\r  %-12s %4ds' "$name" "$((SECONDS - start))"
    sleep 0.5
  done
  if wait "$pid"; then
    [ -t 1 ] && printf '\r'
    printf '  %-12s %4ds  done\n' "$name" "$((SECONDS - start))"
  else
    printf '\n'
    tail -n 60 "$log" >&2
    fail "step '$name' failed; the whole log is $log"
  fi
}
