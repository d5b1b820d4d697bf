# SPDX-License-Identifier: GPL-2.0-or-later
# Shared by the scripts in this folder, which source it (bash)

set -euo pipefail

# the checkout, and where everything that is built or downloaded goes
topDir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
buildDir=$topDir/build
moduleDir=$topDir/src/fs/cluster
jobs=${JOBS:-$(nproc)}

# called by make or not, the makes in here are on their own
unset MAKEFLAGS MFLAGS MAKELEVEL

# compiler cache: used when it is installed and can store something
if [ -d /usr/lib/ccache ] && cacheDir=$(ccache --get-config cache_dir 2>/dev/null) &&
    mkdir -p "$cacheDir" 2>/dev/null && [ -w "$cacheDir" ]; then
    PATH=/usr/lib/ccache:$PATH
fi
export PATH LC_ALL=C

say() {
    echo "== $*"
}

die() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}

# quietly LOG COMMAND...: runs the command with its output in LOG; shows the
# end of that when the command fails
quietly() {
    local log=$1
    shift
    if ! "$@" >"$log" 2>&1 </dev/null; then
        tail -n 40 "$log" >&2
        die "this failed: $* (the whole output is in $log)"
    fi
}

# progress LABEL TOTAL: reads a build's output, says now and then how far it is
progress() {
    local line count=0 start=$SECONDS last=$SECONDS
    while IFS= read -r line; do
        case $line in
            *"libtool: compile"*) ;;
            *" -c "*)
                count=$((count + 1))
                if [ $((SECONDS - last)) -ge 20 ]; then
                    echo "   $1: $count of about $2 files compiled, $((SECONDS - start)) s"
                    last=$SECONDS
                fi ;;
        esac
    done
}
