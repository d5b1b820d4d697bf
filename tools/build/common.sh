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

# compiler cache: used when it is installed; who has none that can store something
# gets one in here
if [ -d /usr/lib/ccache ] && cacheDir=$(ccache --get-config cache_dir 2>/dev/null); then
    [ -w "$cacheDir" ] || [ -n "${CCACHE_DIR:-}" ] || export CCACHE_DIR=$buildDir/ccache
    PATH=/usr/lib/ccache:$PATH
fi
export PATH LC_ALL=C

say() {
    echo "== $*"
}

# helpIfAsked "$@": what stands at the head of the script, for --help and -h
helpIfAsked() {
    [ "${1:-}" = --help ] || [ "${1:-}" = -h ] || return 0
    sed -n '3,/^$/s/^# \{0,1\}//p' "$0"
    exit
}

die() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}

# prints the first folder on the way to the checkout that user proxy may not
# enter, as whom Squid runs; nothing if there is none
keepsSquidOut() {
    local folder= name
    local IFS=/
    for name in ${topDir#/}; do
        folder=$folder/$name
        if ! runuser -u proxy -- test -x "$folder"; then
            echo "$folder"
            return
        fi
    done
}

# goAsSquidCan SCRIPT ARGUMENTS...: starts the script anew where Squid's user can
# enter the checkout, unless he can already
goAsSquidCan() {
    local script=$1 blocked
    shift
    umask 022
    [ "$(id -u)" = 0 ] && id proxy >/dev/null 2>&1 || return 0
    chmod o+x "$topDir"
    blocked=$(keepsSquidOut)
    [ -n "$blocked" ] || return 0
    [ -z "${CLUSTERFS_NAMESPACE:-}" ] || die "user proxy, as whom Squid runs, may not enter $blocked; run: chmod o+x $blocked"
    say "$blocked keeps out user proxy, as whom Squid runs: going on in a mount namespace where it does not"
    exec "$topDir/tools/build/let-squid-in" "$topDir/$(basename "$script")" "$@"
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

# aptGet ARGUMENTS...: apt-get as root, with its output in build/packages.log
aptGet() {
    local asRoot=()
    [ "$(id -u)" = 0 ] || asRoot=(sudo)
    mkdir -p "$buildDir"
    quietly "$buildDir/packages.log" "${asRoot[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -q -y -o DPkg::Lock::Timeout=300 "$@"
}

# pythonWith MODULE...: prints the Python that has all of these. That of the PATH need
# not be Debian's, which has what Debian's packages bring.
pythonWith() {
    local python
    for python in python3 /usr/bin/python3; do
        if "$python" -c "import $(IFS=,; echo "$*")" 2>/dev/null; then
            echo "$python"
            return
        fi
    done
    die "no Python here has $*: run tools/build/install-packages test"
}

# configureOnce [TEXT]: makes $buildDir ready for make, unless it is. It is not where
# config.status lacks the text, since a library was not there when configure ran.
configureOnce() {
    grep -qs "${1:-}" "$buildDir/config.status" || configureAnew
}

configureAnew() {
    say "configuring"
    mkdir -p "$buildDir"
    (cd "$topDir" && quietly "$buildDir/bootstrap.log" ./bootstrap.sh)
    (cd "$buildDir" && quietly "$buildDir/configure.log" ../configure)
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
