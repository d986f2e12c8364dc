# shellcheck shell=dash
# Starts the channel (channel.sh) in /run/op as the operator. The host runs this once per session, and once more each
# time that the operator has killed the channel.

# pid1_setup.sh writes `init` last: once it is there, so is `channel`.
until [ -e init ]; do :; done
# This copy of dash may be executed and not read, so /proc shows the operator nothing of the process.
exec /usr/libexec/dash channel
