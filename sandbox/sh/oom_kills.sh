# shellcheck shell=dash
# Prints `alive`, then the cgroup's count of OOM kills as a line `oom_kill N`, where the kernel has that counter.

echo alive
# cgroup version 2, version 1; of the two at most one file is there.
exec /bin/busybox grep -sh '^oom_kill ' /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control
