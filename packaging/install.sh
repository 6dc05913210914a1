#!/bin/sh
# Installs klawbot from the files of a release, or updates it, after it has compared
# their checksum. Everything is in main, so that half a script does nothing.
set -eu

usage() {
  cat <<'TEXT'
Usage: sh install.sh [--from DIRECTORY|URL] [--to DIRECTORY]

  --from   where the files of the release are: the archive for this machine and
           SHA256SUMS (default: the directory of this script)
  --to     where the program goes (default: /usr/local/bin)
TEXT
}

fail() { echo "install.sh: $*" >&2; exit 1; }

# fetch NAME FILE gets a file of the release.
fetch() {
  case $from in
    http://*|https://*)
      if command -v curl >/dev/null 2>&1; then
        curl -fsSL --retry 3 -o "$2" "$from/$1" || fail "can't download $from/$1. Check the address and the network."
      elif command -v wget >/dev/null 2>&1; then
        wget -qO "$2" "$from/$1" || fail "can't download $from/$1. Check the address and the network."
      else
        fail "curl and wget are missing. Install one (Debian: apt-get install curl), or download the files and use --from DIRECTORY."
      fi ;;
    *)
      [ -f "$from/$1" ] || fail "$from has no $1. Download it from the release, or name another place: --from DIRECTORY|URL."
      cp "$from/$1" "$2" ;;
  esac
}

# sum FILE prints its SHA-256.
sum() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif command -v openssl >/dev/null 2>&1; then
    openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1
  else
    fail "sha256sum and openssl are missing, so nothing can be checked. Install one (Debian: apt-get install coreutils)."
  fi
}

main() {
  from=$(dirname "$0")
  to=/usr/local/bin
  while [ $# -gt 0 ]; do
    case $1 in
      --from) [ $# -gt 1 ] || { usage >&2; exit 2; }; from=${2%/}; shift 2 ;;
      --to) [ $# -gt 1 ] || { usage >&2; exit 2; }; to=${2%/}; shift 2 ;;
      -h|--help) usage; exit 0 ;;
      *) usage >&2; exit 2 ;;
    esac
  done

  system=$(uname -s)
  machine=$(uname -m)
  [ "$system" = Linux ] || fail "there is no archive for $system. Build klawbot from source: see README.md."
  case $machine in
    x86_64|amd64) arch=amd64 ;;
    aarch64|arm64) arch=arm64 ;;
    *) fail "there is no archive for $machine. Build klawbot from source: see README.md." ;;
  esac
  mkdir -p "$to" 2>/dev/null || true
  [ -d "$to" ] && [ -w "$to" ] || fail "can't write to $to. Run it with sudo, or choose a directory of yours: --to ~/.local/bin"

  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM
  fetch SHA256SUMS "$work/SHA256SUMS"
  line=$(grep -- "-linux-$arch\.tar\.gz\$" "$work/SHA256SUMS" | tail -n 1) || fail "$from has no archive for $arch in SHA256SUMS."
  want=${line%% *}
  archive=${line##* }
  archive=${archive#\*}
  case $archive in */*) fail "SHA256SUMS names a strange file: $archive" ;; esac
  fetch "$archive" "$work/archive"
  have=$(sum "$work/archive")
  [ "$have" = "$want" ] || fail "the checksum of $archive is wrong: it is damaged or not the published file. Nothing was installed. Download it again."
  tar -xzf "$work/archive" -C "$work"
  program=$work/${archive%.tar.gz}/klawbot
  new=$("$program" version 2>"$work/error") || fail "klawbot doesn't start on this system: $(head -n 1 "$work/error") (It needs glibc 2.34 or newer.)"

  old=
  if [ -x "$to/klawbot" ]; then
    old=$("$to/klawbot" version 2>/dev/null) || old="a version that doesn't start"
  fi
  # Renamed into place, so that a running bot keeps its file.
  cp "$program" "$to/.klawbot.new"
  chmod 755 "$to/.klawbot.new"
  mv -f "$to/.klawbot.new" "$to/klawbot"
  if [ -z "$old" ]; then
    echo "$new is installed as $to/klawbot."
    case ":$PATH:" in
      *":$to:"*) echo "Next: klawbot chat, or klawbot init for Telegram." ;;
      *) echo "$to isn't in PATH. Next: $to/klawbot chat, or $to/klawbot init for Telegram." ;;
    esac
  elif [ "$old" = "$new" ]; then
    echo "$new was already installed; it is there again."
  else
    echo "Updated: $old is now $new. Restart the bot if it runs."
  fi
}

main "$@"
