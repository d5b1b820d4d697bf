// SPDX-License-Identifier: GPL-2.0-or-later
/* The program squid-clusterfs: Debian's own Squid, with "cache_dir clusterfs". All arguments are Squid's.
 *
 * Squid starts its kids by the name that it was called by itself, which leads here again: the linker would
 * ignore LD_PRELOAD, since they are started while the effective user is not the real one. */

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

namespace {

/// in the order of Debian's alternatives
const char * const Programs[] = {"squid-openssl", "squid-gnutls"};

/// Where we are installed, with Squid and the loader: PREFIX of PREFIX/sbin/squid-clusterfs. It is /usr, or a folder
/// that packages were unpacked into.
std::string
prefix()
{
    char path[4096];
    const auto length = readlink("/proc/self/exe", path, sizeof(path));
    std::string self(path, length > 0 ? static_cast<size_t>(length) : 0);
    for (int i = 0; i < 2; ++i)
        self.erase(self.find_last_of('/') == std::string::npos ? 0 : self.find_last_of('/'));
    return self;
}

} // namespace

int
main(int, char **argv)
{
    // A kid of a Squid that root has started. It becomes Squid's user by itself.
    if (geteuid() == 0 && getuid() != 0 && setresuid(0, 0, 0) != 0) {
        perror("squid-clusterfs: setresuid");
        return 1;
    }
    // helpers inherit it, too: what else is to be loaded stays, once
    const auto loader = prefix() + "/lib/squid-clusterfs/load.so";
    const auto others = getenv("LD_PRELOAD");
    if (!others || !strstr(others, loader.c_str()))
        setenv("LD_PRELOAD", (others && *others ? loader + ':' + others : loader).c_str(), 1);
    std::string path;
    for (const auto program: Programs) {
        path = prefix() + "/sbin/" + program;
        execv(path.c_str(), argv);
    }
    fprintf(stderr, "squid-clusterfs: ERROR: cannot start %s: %s; install squid-openssl or squid\n", path.c_str(), strerror(errno));
    return 1;
}
