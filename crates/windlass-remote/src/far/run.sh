# One program, on the far side, with all it starts. The input stays open as long as the program is wanted: when it ends, the
# tree is ended, whether the host said so, was killed, or was lost. What is said to the host stands on the error stream
# behind a word that no program knows.
#
# MARK: that word. FOLDER: where it starts. TAG: what marks the tree. SEARCH: its PATH. BYTES: of its input. MERGE, REPORT: 0 or 1.
# PROGRAM: its name or path. The arguments are its environment, and the words after it; `@` stands where it belongs.

exec 3<&0 4>&2 </dev/null 2>/dev/null
say() { printf '%s %s\n' "$MARK" "$*" >&4; }
trap : HUP INT TERM PIPE

cd "$FOLDER" || { say folder; exit 0; }
[ -d /proc/self ] || { say tools; exit 0; }
command -v setsid >/dev/null || { say tools; exit 0; }
base=${TMPDIR:-/tmp}
case $base in
    /*[!A-Za-z0-9/._+-]*) base=/tmp ;;
    /*) ;;
    *) base=/tmp ;;
esac
place=$(mktemp -d "$base/windlass.XXXXXXXX") || { say place; exit 0; }
trap 'rm -rf "$place"' EXIT

found=
case $PROGRAM in
    */*) if [ -f "$PROGRAM" ] && [ -x "$PROGRAM" ]; then found=$PROGRAM; fi ;;
    *)
        set -f
        IFS=:
        for folder in $SEARCH; do
            if [ -f "${folder:-.}/$PROGRAM" ] && [ -x "${folder:-.}/$PROGRAM" ]; then
                found=${folder:-.}/$PROGRAM
                break
            fi
        done
        unset IFS
        set +f
        ;;
esac
[ -n "$found" ] || { say program; exit 0; }
number=$#
while [ "$number" -gt 0 ]; do
    # Each word goes to the end; the placeholder becomes the program.
    if [ "$1" = "$NL@$NL" ]; then set -- "$@" "$found"; else set -- "$@" "$1"; fi
    shift
    number=$((number - 1))
done

: >"$place/in"
if [ "$BYTES" -gt 0 ]; then
    { [ "$BYTES" -lt 65536 ] || dd bs=65536 count=$((BYTES / 65536)) iflag=fullblock
      [ $((BYTES % 65536)) = 0 ] || dd bs=$((BYTES % 65536)) count=1 iflag=fullblock; } <&3 >"$place/in"
fi
if [ "$REPORT" = 1 ]; then
    report="unset BASH_ENV
trap -- 'builtin pwd -P 2>/dev/null >>$place/at' EXIT"
    printf '%s\n' "$report" >"$place/env"
    : >"$place/at"
    set -- "BASH_ENV=$place/env" "$@"
fi

# The numbers of what lives of the tree: what is in its session, and what carries its mark.
tree() {
    {
        sed -n "s/^\([0-9]*\) (.*) [^ZX] [0-9]* [0-9]* $leader .*/\1/p" /proc/[0-9]*/stat
        # Not with -F: that of BusyBox ends a line at a NUL then.
        grep -l -a "WINDLASS_CALL=$TAG" /proc/[0-9]*/environ | sed 's/[^0-9]//g'
    } 2>/dev/null | sort -u
}

# Asks all of it to end, waits half a second, and ends it.
stop() {
    turn=0
    alive=$(tree)
    kill -TERM $alive
    while [ -n "$alive" ] && [ "$turn" -lt 100 ]; do
        sleep 0.02
        [ "$turn" -lt 20 ] || kill -KILL $alive
        alive=$(tree)
        turn=$((turn + 1))
    done
}

# Reads to the end of the input, and ends the tree then. It has nothing of the output.
(
    read -r word <&3
    while [ ! -s "$place/leader" ]; do
        [ ! -e "$place/over" ] || exit 0
        sleep 0.02
    done
    read -r leader <"$place/leader"
    stop
) >/dev/null 4>&- &
watcher=$!

if [ "$MERGE" = 1 ]; then exec 5>&1; else exec 5>&4; fi
# In a session of its own, whose number is that of its leader: not in the background, where signals would be ignored. Its time
# begins as late as it can be said.
setsid /bin/sh -c 'printf "%s\n" "$$" >"$0" && printf "%s begun\n" "$1" >&4 && shift && exec env -i "$@" 4>&-' \
    "$place/leader" "$MARK" "WINDLASS_CALL=$TAG" "$@" <"$place/in" 2>&5 3<&- 5>&-
code=$?
: >"$place/over"
exec 5>&-
leader=0
read -r leader <"$place/leader"

# What it left may still write for a moment, as the filter at the end of a process substitution does.
turn=0 left=0
alive=$(tree)
while [ -n "$alive" ] && [ "$turn" -lt 12 ]; do
    sleep 0.02
    alive=$(tree)
    turn=$((turn + 1))
done
if [ -n "$alive" ]; then
    for process in $alive; do left=$((left + 1)); done
    stop
fi
kill -KILL "$watcher"
say "end $code $left"
if [ "$REPORT" = 1 ]; then cat "$place/at" >&4; fi
exit 0
