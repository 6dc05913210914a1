# Runs the lines ./l/1 to ./l/$1, each in a shell of its own, and writes to file
# descriptor 9 what programs they start: the number of the line, the number of
# words, and the words, each ended by a NUL. No program really runs: those with
# usual names are functions here, and of others nobody finds any.
PATH=/nonexistent
log() { printf '%s\0' "$line" "$#" "$@" >&9; }
ls() { log ls "$@"; }
rm() { log rm "$@"; }
cat() { log cat "$@"; }
sh() { log sh "$@"; }
id() { log id "$@"; }
x() { log x "$@"; }
e() { log e "$@"; }
no() { log no "$@"; return 1; }
echo() { log echo "$@"; }
true() { log true "$@"; }
false() { log false "$@"; return 1; }
command_not_found_handle() { log "$@"; return 127; }
line=1
while [ "$line" -le "$1" ]; do
  printf 'LINE %s\n' "$line" >&2
  (. "./l/$line") </dev/null >/dev/null
  line=$((line + 1))
done
