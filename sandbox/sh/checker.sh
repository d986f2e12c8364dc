# shellcheck shell=dash
# Runs one checker in the checker's container, in HOME, after two checks of the world that it is run on.
#
#   $1 the checker's text
#   exit code: the checker's own; 1 if a link leads out of the world; 126 if the world is too deep to walk; 137 if the
#   kernel killed something for memory
#
# A link to a place that can change while the checker runs fails it: through a link to /proc/self/cmdline,
# `grep -q x answer` reads its own `x`; through a link to /tmp, a checker reads what it wrote there itself. So every
# link of the world is followed as the kernel would follow it, but by its text alone, whether or not anything is there
# yet, and through all other links, those of the image included.
#
# A world that `find` cannot walk to its end fails the checker too: what lies deeper exists all the same. And so does a
# checker in which the kernel kills anything for memory, whatever its exit code: `! grep -q x huge` would pass.

exec 2>/dev/null
# The first link of the world. Without one the image, which is slow to walk, need not be walked for its links.
first=$(/bin/busybox find . -xdev -type l -print -quit) || { echo 'the world is too deep to be walked'; exit 126; }
# A random word between the records of the listing below, since a path may contain any character.
[ -z "$first" ] || mark=$(/bin/busybox od -A n -t x8 -N 8 /dev/urandom)
# Per link one record: mark, length of the target in bytes, a blank, then as stat prints it 'path' -> 'target'. The word
# `end` comes only when find has walked everything. The result is empty, or the link that leads out.
# shellcheck disable=SC2016 # the text in single quotes is an awk program
[ -z "$first" ] || stray=$({
    /bin/busybox find . / -xdev -type l -exec /bin/busybox stat -c "$mark%s %N" {} + && printf '%s' "${mark}end"
} | /bin/busybox awk -v RS="$mark" -v home="$PWD" '
    # An array whose keys are the places that can change; the bare reference creates the key.
    BEGIN { split("/proc /run /sys /tmp", names, " "); for (at in names) changing[names[at]] }
    # leads_out(path, rest): 1 if following `rest`, from the directory `path`, comes through a place that can change.
    # `path` is absolute without a slash at the end, so / is the empty string. at, name, links are local variables.
    function leads_out(path, rest,    at, name, links) {
        # One component of the path after the other.
        while (rest != "") {
            at = index(rest "/", "/"); name = substr(rest, 1, at - 1); rest = substr(rest, at + 1)
            if (name == "..") sub(/\/[^\/]*$/, "", path)
            else if (name != "" && name != ".") path = path "/" name
            # This component is a link: its target comes before the rest.
            if (path in target) {
                if (++links > 41) return 0  # a loop: the kernel gives up too
                rest = target[path] "/" rest
                # An absolute target starts at /, a relative one in the directory of the link.
                if (rest ~ /^\//) path = ""
                else sub(/\/[^\/]*$/, "", path)
            }
            # Everything below /dev can change, except /dev/null.
            if (path in changing || (substr(path, 1, 5) == "/dev/" && path != "/dev/null")) return 1
        }
        # A link to / or /dev itself: everything in them can be reached through it.
        return path == "" || path == "/dev"
    }
    $0 == "end" { whole = 1; next }
    # The first record is what comes before the first mark: nothing.
    NR > 1 {  # the length of the target, and what stat says: a path, an arrow and the target, each path quoted
        # The length tells where the target begins, whatever characters path and target have.
        at = index($0, " "); size = substr($0, 1, at - 1); from = length($0) - size - 1
        path = substr($0, at + 2, from - at - 8)
        # Links of the world are listed as ./path, those of the image as /path.
        target[substr(path, 1, 1) == "/" ? path : home substr(path, 2)] = substr($0, from, size)
    }
    # Only links of the world count; those of the image are there to be followed.
    END {
        for (link in target)
            if (index(link, home "/") == 1 && leads_out("", link)) { print link " -> " target[link]; break }
        exit !whole
    }') || { echo 'the world is too deep to be walked'; exit 126; }
[ -z "$stray" ] || { printf 'a link leads out of the world: %.200s\n' "$stray"; exit 1; }
# kills: how many processes of this container the kernel has killed for memory; cgroup version 2 or 1.
kills() {
    for counter in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
        [ ! -r "$counter" ] || while read -r key value; do [ "$key" != oom_kill ] || echo "$value"; done <"$counter"
    done
}
before=$(kills)
# Both streams are the check's output. In the checker $0 is `checker`.
/usr/bin/dash -c "$1" checker 2>&1
code=$?
[ "$(kills)" = "$before" ] || code=137
exit "$code"
