# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by build-squid: making and updating patched Squid source trees (bash)

squidFlags() {
    grep '^--' "$topDir/tools/build/squid-flags"
    [ -z "${SQUID_CONFIGURE_FLAGS:-}" ] || printf '%s\n' $SQUID_CONFIGURE_FLAGS
}

# applies our series of patches to a tree
applyPatches() {
    local tree=$1 patches=$2 name
    grep -v '^#' "$patches/series" | while read -r name; do
        patch -d "$tree" -p1 --forward --no-backup-if-mismatch <"$patches/$name" >>"$tree.log" 2>&1 || {
            tail -n 20 "$tree.log" >&2
            die "$patches/$name does not apply to Squid in $tree: give a version that is in tools/build/known-squids (SQUID_SOURCE)"
        }
    done
}

# makes tree's copy of our module equal to ours; files that are equal already
# are not touched. Prints the names of the changed ones
copyModule() {
    local to=$1/src/fs/cluster list name
    mkdir -p "$to"
    list=$(cd "$moduleDir" && find . -name '*.cc' -o -name '*.h' -o -name '*.am' | sort)
    (cd "$to" && find . -name '*.cc' -o -name '*.h' -o -name '*.am' | sort) | comm -13 <(echo "$list") - |
        while read -r name; do rm "$to/$name"; echo "$name"; done
    for name in $list; do
        cmp -s "$moduleDir/$name" "$to/$name" && continue
        mkdir -p "$(dirname "$to/$name")"
        # a new timestamp, or make would miss a change to an older file
        cp "$moduleDir/$name" "$to/$name"
        echo "$name"
    done
}

# brings the module in a configured tree up to date, and its Makefile too when
# the lists of sources have changed
updateModule() {
    local fs=$1/src/fs
    copyModule "$1" >>"$1.log"
    if [ -n "$(find "$fs/cluster" -name '*.am' -newer "$fs/Makefile")" ]; then
        quietly "$1.log" remakeIn "$1"
    fi
}

remakeIn() {
    (cd "$1" && automake src/fs/Makefile && ./config.status src/fs/Makefile depfiles)
}

patchKey() {
    (cd "$topDir/squid-patches/$1" && cat series ./*.patch) | sha256sum
}

configureKey() {
    { squidFlags; cat "$topDir/tools/build/squid-headers.h"; echo "${CXX:-} ${CXXFLAGS:-} ${CFLAGS:-} ${LDFLAGS:-}"; c++ --version; } | sha256sum
}

# unpacks and patches, unless that was done with the same patches already (and,
# if SQUID_SOURCE is given, from the same source)
prepareTree() {
    local series=$1 tree=$2 source
    source=$(cat "$tree/.source" 2>/dev/null || true)
    if [ "$(cat "$tree/.patch-key" 2>/dev/null)" = "$(patchKey "$series")" ] &&
        [ "${SQUID_SOURCE:-$source}" = "$source" ]; then
        return
    fi
    source=${SQUID_SOURCE:-$source}
    SQUID_SOURCE=$source "$topDir/tools/build/fetch-squid" "$series" "$tree"
    say "patching Squid in $tree"
    : >"$tree.log"
    applyPatches "$tree" "$topDir/squid-patches/$series"
    copyModule "$tree" >"$tree.log"
    quietly "$tree.log" autoreconfIn "$tree"
    echo "$source" >"$tree/.source"
    patchKey "$series" >"$tree/.patch-key"
}

autoreconfIn() {
    (cd "$1" && autoreconf -fi)
}

configureTree() {
    local series=$1 tree=$2
    [ "$(cat "$tree/.configure-key" 2>/dev/null)" != "$(configureKey)" ] || return 0
    say "configuring Squid $series"
    rm -f "$tree/.installed"
    quietly "$tree.log" configureIn "$tree" "$buildDir/squid-$series"
    grep -q '^#define HAVE_FS_CLUSTER 1' "$tree/include/autoconf.h" ||
        die "Squid was configured without src/fs/cluster: $tree.log says why (SQUID_CONFIGURE_FLAGS is '${SQUID_CONFIGURE_FLAGS:-}')"
    precompileHeaders "$tree"
    configureKey >"$tree/.configure-key"
}

# reads the headers that most files of Squid include once for all: that halves the time
# of the build. All files include squid.h first; gcc takes the squid.h.gch beside it
# instead, unless the options of a file do not fit. A build without it is slow, not wrong.
precompileHeaders() {
    local tree=$1 compiled=$1/include/squid.h.gch log=$1.headers.log
    # globals.cc is made from globals.h, and has its guard: after that header it is empty
    rm -f "$compiled" "$tree/src/globals.o"
    quietly "$tree.log" make -C "$tree/src" globals.o
    if ! precompileIn "$tree/src/fs" >"$log" 2>&1; then
        say "Squid's headers cannot be compiled once for all, so the build takes longer: $log says why"
        rm -f "$compiled"
    fi
}

precompileIn() {
    make -C "$1" -f Makefile -f - PRECOMPILED="$topDir/tools/build/squid-headers.h" precompiled <<'END'
precompiled:
	$(CXXCOMPILE) -x c++-header -o $(top_srcdir)/include/squid.h.gch $(PRECOMPILED)
END
}

configureIn() {
    local tree=$1 prefix=$2 flags
    mapfile -t flags < <(squidFlags)
    cd "$tree"
    ./configure --prefix="$prefix" CFLAGS="${CFLAGS:--O2}" \
        CXXFLAGS="${CXXFLAGS:--O2 -Wno-error=deprecated-declarations}" "${flags[@]}"
}

# how many files of the module there are to compile
sourceCount() {
    find "$moduleDir" -name '*.cc' | wc -l
}

# make in a tree, with progress; ends the script with the errors if it fails
compile() {
    local label=$1 tree=$2 total=$3
    shift 3
    if ! make -C "$tree" -j"$jobs" "$@" </dev/null 2>&1 | tee "$tree.log" | progress "$label" "$total"; then
        grep -nE '(error|warning):|Error [0-9]' "$tree.log" | head -n 20 >&2
        tail -n 20 "$tree.log" >&2
        die "compiling $label failed (the whole output is in $tree.log)"
    fi
}

buildSeries() {
    local series=$1 tree=$buildDir/tree-$1 prefix=$buildDir/squid-$1
    mkdir -p "$buildDir"
    prepareTree "$series" "$tree"
    configureTree "$series" "$tree"
    updateModule "$tree"
    if [ -e "$tree/.installed" ]; then
        compile "Squid $series" "$tree/src/fs" "$(sourceCount)"
        compile "Squid $series" "$tree/src" 1 squid
    else
        say "compiling Squid $series (-j$jobs; the first time takes some minutes)"
        compile "Squid $series" "$tree" $((510 + $(sourceCount)))
        quietly "$tree.log" make -C "$tree" install
        touch "$tree/.installed"
    fi
    mkdir -p "$prefix/sbin"
    cmp -s "$tree/src/squid" "$prefix/sbin/squid" || install "$tree/src/squid" "$prefix/sbin/squid"
    say "Squid $("$prefix/sbin/squid" -v | sed -n '1s/.*Version //p') with clusterfs is in $prefix"
}

# what a tree was made from and how
treeKeys() {
    (cd "$1" && cat .source .patch-key .configure-key) 2>/dev/null || true
}

# Squid 7 once more, with the module (and only it) compiled for the sanitizers
buildSanitized() {
    local tree=$buildDir/tree-asan prefix=$buildDir/squid-asan flags
    flags="-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined"
    buildSeries 7
    if [ "$(treeKeys "$buildDir/tree-7")" != "$(treeKeys "$tree")" ]; then
        rm -rf "$tree"
        cp -a "$buildDir/tree-7" "$tree"
        rm -f "$tree/src/squid" "$tree/include/squid.h.gch" # compiled without the sanitizers
        find "$tree/src/fs/cluster" -name '*.o' -o -name '*.lo' | xargs rm
    fi
    updateModule "$tree"
    compile "Squid 7 with sanitizers" "$tree/src/fs" "$(sourceCount)" CXXFLAGS="$flags"
    compile "Squid 7 with sanitizers" "$tree/src" 1 squid CXXFLAGS="$flags" \
        LDFLAGS="-fsanitize=address,undefined $(sanitizerDefaults "$tree")"
    # the rest of the installation is that of Squid 7
    mkdir -p "$prefix/sbin"
    ln -sfn ../squid-7/etc ../squid-7/libexec ../squid-7/share "$prefix/"
    cmp -s "$tree/src/squid" "$prefix/sbin/squid" || install "$tree/src/squid" "$prefix/sbin/squid"
    say "Squid 7 with clusterfs under AddressSanitizer and UBSan is in $prefix"
}

# prints an object file with sanitizer options for Squid, whose own code leaks
# at exit and pairs its allocators freely
sanitizerDefaults() {
    local object=$1/sanitizer-defaults.o
    [ -e "$object" ] || echo 'extern "C" const char *__asan_default_options() { return "detect_leaks=0:alloc_dealloc_mismatch=0"; }' |
        g++ -c -x c++ -o "$object" -
    echo "$object"
}
