#!/bin/sh
# Runs the reference solution of a scenario, one file for each command, in one shell.
cd /home/operator || exit 1
for sekft_command in /solution/commands/*; do
    # shellcheck source=/dev/null
    . "$sekft_command"
done
