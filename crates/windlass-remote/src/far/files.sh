# Files, on the far side: one shell that answers requests until its input ends. POSIX sh with the stat, dd, mv, ln and
# readlink of GNU or BusyBox, and /proc.
#
# No link is followed that was not followed when a path was judged: `reach` goes into the folder and looks where it then
# stands; from there on names are used relative to the folder that is held. What stands under a name is compared with what
# was opened. A request that fails answers with a code and a sentence of the system.

export LC_ALL=C
unset CDPATH
exec 2>/dev/null
trap : HUP PIPE
U=$(umask)
NL='
'
OFF=0

fail() { printf '%s' "$2"; exit $(($1 + OFF)); }

# From the words of the system to a code.
sysfail() {
    case $1 in
        *'File exists'*) fail 11 "$1" ;;
        *'Is a directory'*) fail 12 "$1" ;;
        *'Not a directory'*) fail 13 "$1" ;;
        *'Permission denied'* | *'not permitted'*) fail 16 "$1" ;;
        *'Read-only file system'*) fail 17 "$1" ;;
        *'No space left'* | *'quota exceeded'*) fail 18 "$1" ;;
        *'levels of symbolic links'*) fail 19 "$1" ;;
        *'No such file'*) fail 10 "$1" ;;
    esac
    fail 20 "$1"
}

# Why a folder cannot be entered.
unreached() {
    if [ -d "$1" ]; then fail 16 ''; fi
    if [ -L "$1" ]; then fail 15 ''; fi
    if [ -e "$1" ]; then fail 13 ''; fi
    above=$1
    while above=${above%/*} && [ -n "$above" ]; do
        if [ -d "$above" ]; then
            [ -x "$above" ] || fail 16 ''
            break
        fi
        [ ! -e "$above" ] || fail 13 ''
    done
    fail 10 ''
}

# Whether the shell stands in exactly this folder, by the kernel's own word.
stands() {
    here=$(pwd -P; printf x)
    [ "$here" = "$1$NL"x ]
}

# Enters a folder without following a link: reach FOLDER MAKE
reach() {
    if cd -P "$1" 2>/dev/null; then
        stands "$1" || fail 15 ''
        return 0
    fi
    [ "$2" = 1 ] || unreached "$1"
    cd /
    at= rest=${1#/}
    while [ -n "$rest" ]; do
        part=${rest%%/*}
        case $rest in */*) rest=${rest#*/} ;; *) rest= ;; esac
        [ -n "$part" ] || continue
        [ ! -L "./$part" ] || fail 15 ''
        if [ ! -d "./$part" ]; then
            [ ! -e "./$part" ] || fail 13 ''
            made=$(mkdir "./$part" 2>&1) || [ -d "./$part" ] || sysfail "$made"
        fi
        cd -P "./$part" 2>/dev/null || fail 16 ''
        at=$at/$part
        stands "$at" || fail 15 ''
    done
}

# What stands under a name of the folder that is held must be a regular file.
regular() {
    [ ! -L "./$1" ] || fail 15 ''
    [ ! -d "./$1" ] || fail 12 ''
    [ -f "./$1" ] && return 0
    [ -e "./$1" ] && fail 14 ''
    [ -x . ] || fail 16 ''
    fail 10 ''
}

# resolve PATH: what is there, where it really is, and what the path had become after each link.
resolve() {
    cur= rest=$1 hops=0 gone=0 told=
    while :; do
        while case $rest in /*) true ;; *) false ;; esac; do rest=${rest#/}; done
        [ -n "$rest" ] || break
        part=${rest%%/*}
        case $rest in */*) rest=${rest#*/} ;; *) rest= ;; esac
        case $part in
            .) continue ;;
            ..)
                [ "$gone" = 0 ] || fail 10 ''
                [ -d "${cur:-/}" ] || fail 13 ''
                cur=${cur%/*}
                continue
                ;;
        esac
        next=$cur/$part
        if [ "$gone" = 1 ]; then
            cur=$next
        elif [ -L "$next" ]; then
            hops=$((hops + 1))
            [ "$hops" -le 40 ] || fail 19 ''
            target=$(readlink -n "$next" && printf x) || fail 20 ''
            target=${target%x}
            case $target in /*) base= ;; *) base=$cur/ ;; esac
            if [ -n "$rest" ]; then target=$target/$rest; fi
            printf '%s\0' "$base$target"
            case $target in /*) cur= ;; esac
            rest=$target
        elif [ -e "$next" ]; then
            cur=$next
        else
            [ ! -d "${cur:-/}" ] || [ -x "${cur:-/}" ] || fail 16 ''
            gone=1 cur=$next
        fi
    done
    cur=${cur:-/}
    if [ -d "$cur" ]; then what=d; elif [ -f "$cur" ]; then what=f; elif [ -e "$cur" ]; then what=s; else what=m; fi
    printf '%s\0%s' "$cur" "$what"
}

# entries FOLDER MOST: a letter and the name of each.
entries() {
    reach "$1" 0
    [ -r . ] || fail 16 ''
    left=$2
    for name in .[!.]* ..?* *; do
        [ "$left" -gt 0 ] || break
        if [ -L "./$name" ]; then what=l
        elif [ -d "./$name" ]; then what=d
        elif [ -f "./$name" ]; then what=f
        elif [ -e "./$name" ]; then what=s
        else continue
        fi
        printf '%s%s\0' "$what" "$name"
        left=$((left - 1))
    done
}

# Runs in the shell itself, which then holds the file as its descriptor 9: grab FOLDER NAME
grab() {
    ( reach "$1" 0; regular "$2" ) || return $?
    cd -P "$1" 2>/dev/null || { cd /; return 15; }
    if ! stands "$1"; then cd /; return 15; fi
    if ! refused=$( : <"./$2" ) 2>/dev/null; then cd /; return 16; fi
    turn=0
    while :; do
        if [ -L "./$2" ] || [ "$turn" -gt 100 ]; then cd /; return 15; fi
        command exec 9<"./$2" || { cd /; return 16; }
        # Not by a link: the name itself must be what is open now. If another file stands there, it was replaced meanwhile.
        named=$(stat -c '%d:%i' "./$2" 2>/dev/null)
        opened=$(stat -L -c '%d:%i' /proc/self/fd/9 2>/dev/null)
        if [ -n "$opened" ] && [ "$named" = "$opened" ]; then break; fi
        exec 9<&-
        turn=$((turn + 1))
    done
    about=$(stat -L -c '%F|%s %Y %a %h' /proc/self/fd/9 2>/dev/null)
    cd /
    case $about in 'regular file|'* | 'regular empty file|'*) ;; *) exec 9<&-; return 14 ;; esac
    printf '%s\n' "${about#*|}"
}

# more BYTES: the next bytes of the file that is held.
more() { dd bs="$1" count=1 <&9 2>/dev/null; }

# So many bytes of the input, and not one more.
receive() {
    blocks=$(($1 / 65536)) rest=$(($1 % 65536))
    [ "$blocks" = 0 ] || dd bs=65536 count="$blocks" iflag=fullblock || return 1
    [ "$rest" = 0 ] || dd bs="$rest" count=1 iflag=fullblock
}

# expect NAME DIGEST: fails unless the file with this name has this content. The file is held as descriptor 7, and locked where
# there is flock, so that another windlass that replaces it waits.
expect() {
    turn=0
    while :; do
        [ ! -L "./$1" ] || fail 15 ''
        [ -f "./$1" ] && [ "$turn" -le 1000 ] || fail 22 ''
        command exec 7<"./$1" || fail 16 ''
        tried=0
        # A lock that cannot be had is no reason to change nothing: the content is compared all the same.
        until ! command -v flock >/dev/null || flock -xn 7 || [ "$tried" -ge 20 ]; do
            tried=$((tried + 1))
            sleep 0.05 || sleep 1
        done
        named=$(stat -c '%d:%i' "./$1")
        [ -n "$named" ] && [ "$named" = "$(stat -L -c '%d:%i' /proc/self/fd/7)" ] && break
        exec 7<&-
        turn=$((turn + 1))
    done
    found=$(sha256sum <&7) || fail 20 'there is no program sha256sum'
    [ "${found%% *}" = "$2" ] || fail 22 ''
}

# put FOLDER NAME BYTES MAKE NEW MODE TEMPORARY DIGEST: the bytes follow the request. DIGEST is that of the content that is
# replaced, or nothing.
put() {
    reach "$1" "$4"
    mode=$(printf '%o' $((0666 & ~0$U))) owner=
    if [ -L "./$2" ]; then fail 15 ''
    elif [ -d "./$2" ]; then fail 12 ''
    elif [ -f "./$2" ]; then
        [ "$5" = 0 ] || fail 11 ''
        [ -w "./$2" ] || fail 16 ''
        mode=$(stat -c %a "./$2") owner=$(stat -c %u:%g "./$2")
    elif [ -e "./$2" ]; then fail 14 ''
    elif [ -n "$8" ]; then fail 22 ''
    fi
    mode=${6:-$mode}
    new=./$7
    trap 'rm -f "$new"' EXIT
    umask 077
    set -C
    said=$( { receive "$3" >"$new"; } 2>&1 ) || sysfail "$said"
    [ "$(stat -c %s "$new")" = "$3" ] || fail 21 ''
    if [ -n "$owner" ]; then chown "$owner" "$new" 2>/dev/null; fi
    said=$(chmod "$mode" "$new" 2>&1) || sysfail "$said"
    sync "$new" 2>/dev/null
    if [ "$5" = 1 ]; then
        said=$(ln -T "$new" "./$2" 2>&1) || sysfail "$said"
    else
        [ ! -L "./$2" ] || fail 15 ''
        [ ! -d "./$2" ] || fail 12 ''
        [ -z "$8" ] || expect "$2" "$8"
        said=$(mv -f -T "$new" "./$2" 2>&1) || sysfail "$said"
        exec 7<&-
    fi
    sync . 2>/dev/null
    :
}

# discard FOLDER NAME DIGEST: the digest as for put.
discard() {
    reach "$1" 0
    [ -z "$3" ] || [ -e "./$2" ] || [ -L "./$2" ] || fail 22 ''
    regular "$2"
    [ -w "./$2" ] || fail 16 ''
    [ -z "$3" ] || expect "$2" "$3"
    said=$(rm -f "./$2" 2>&1) || sysfail "$said"
    sync . 2>/dev/null
    :
}

# move FOLDER NAME FOLDER NAME MAKE: under both names for a moment, never under none, and nothing is replaced.
move() {
    reach "$1" 0
    regular "$2"
    OFF=40
    reach "$3" "$5"
    [ ! -L "./$4" ] || fail 15 ''
    [ ! -e "./$4" ] || fail 11 ''
    exec 8<.
    OFF=0
    reach "$1" 0
    regular "$2"
    [ -w "./$2" ] || fail 16 ''
    OFF=40
    said=$(ln -T "./$2" "/proc/self/fd/8/$4" 2>&1) || sysfail "$said"
    OFF=0
    said=$(rm -f "./$2" 2>&1) || sysfail "$said"
    sync . /proc/self/fd/8/ 2>/dev/null
    :
}

# clear FOLDER NAME PARENTS: as discard, but what is not there is fine, and folders that are empty then go too.
clear() {
    [ -d "$1" ] || [ -L "$1" ] || { ( reach "$1" 0 ); code=$?; [ "$code" = 10 ] && exit 0; exit "$code"; }
    reach "$1" 0
    if [ -e "./$2" ] || [ -L "./$2" ]; then
        regular "$2"
        said=$(rm -f "./$2" 2>&1) || sysfail "$said"
        sync . 2>/dev/null
    fi
    at=$1 left=$3
    while [ "$left" -gt 0 ] && [ -n "$at" ]; do
        cd -P "${at%/*}/" 2>/dev/null && stands "$(d=${at%/*}; printf '%s' "${d:-/}")" || break
        rmdir "./${at##*/}" 2>/dev/null || break
        at=${at%/*} left=$((left - 1))
    done
    :
}

# absent FOLDER: how many folders of this path do not exist.
absent() {
    at=$1 missing=0
    while [ -n "$at" ] && [ ! -e "$at" ] && [ ! -L "$at" ]; do at=${at%/*} missing=$((missing + 1)); done
    printf '%s' "$missing"
}

# reads_utf8 [VARIABLE…]: a bash with these locale variables reads three bytes of UTF-8 as one character.
reads_utf8() {
    env -i "PATH=$PATH" "$@" bash --noprofile --norc -c 'x=$(printf "\346\227\245"); [ ${#x} = 1 ]' >/dev/null 2>&1
}

# Finds the UTF-8 locale of programs, the first that works beside the language of the account, else without a language.
find_locale() {
    ctype=
    command -v bash >/dev/null 2>&1 || return 0
    for language in ${LANG:+"LANG=$LANG"} ''; do
        for name in "${LC_CTYPE-}" "${LANG-}" C.UTF-8 en_US.UTF-8 UTF-8; do
            case $name in
                *.[Uu][Tt][Ff]8 | *.[Uu][Tt][Ff]-8 | UTF-8)
                    if reads_utf8 "LC_CTYPE=$name" ${language:+"$language"}; then
                        ctype=$name LANG=${language#LANG=}
                        return 0
                    fi
                    ;;
            esac
        done
    done
    ctype=C
}

# What the programs here are like, and what a program would find.
about() {
    [ -r /proc/self/stat ] || fail 20 'there is no /proc'
    probe=$(stat -L -c '%d:%i' /proc/self/fd/0 2>/dev/null) || fail 20 'there is no stat of GNU or BusyBox'
    for needed in dd mv ln readlink chmod mkdir rm grep sed env setsid mktemp sha256sum; do
        command -v "$needed" >/dev/null 2>&1 || fail 20 "there is no program $needed"
    done
    printf '%s\0' "HOME=$HOME" "PATH=$PATH"
    start=$(pwd -P; printf x)
    printf '%s\0' "PWD=${start%"$NL"x}"
    find_locale
    if [ -n "$ctype" ]; then printf '%s\0' "LC_CTYPE=$ctype"; fi
    for name in USER LOGNAME SHELL LANG TMPDIR TZ; do
        eval "value=\${$name-}"
        if [ -n "$value" ]; then printf '%s\0' "$name=$value"; fi
    done
}

printf '%s 0\n' "$MARK"
while IFS= read -r request; do
    eval "$request"
    code=$?
    printf '\n%s %s\n' "$MARK" "$code"
    case $request in
        # What follows a request that failed half-way must never be read as another one.
        '( put '*) [ "$code" = 0 ] || exit ;;
    esac
done
