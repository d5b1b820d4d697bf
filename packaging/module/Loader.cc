// SPDX-License-Identifier: GPL-2.0-or-later
/* What LD_PRELOAD brings into a Squid that was built without clusterfs: it loads the module before squid.conf is read.
 *
 * It needs nothing of Squid, since Squid's helpers inherit LD_PRELOAD; in them it does nothing. */

#include <cstdio>
#include <dlfcn.h>
#include <sstream>
#include <string>
#include <unistd.h>

namespace {

/// StoreFileSystem::FsAdd(StoreFileSystem &), which only a Squid has
const char SignOfSquid[] = "_ZN15StoreFileSystem5FsAddERS_";

/// a constructor that only a Squid has that was built with clusterfs
const char SignOfClusterfs[] = "_ZN9ClusterFs7SwapDirC1Ev";

/// Debug::Start(int, int) and Debug::Finish(), what debugs() is made of. The first name says that the function returns
/// a std::ostringstream, so a Squid that has these names has these functions.
const char DebugStart[] = "_ZN5Debug5StartB5cxx11Eii";
const char DebugFinish[] = "_ZN5Debug6FinishEv";

/// Squid keeps early messages until it has opened cache.log. A Squid without these functions writes nothing there.
void
tellCacheLog(const std::string &text)
{
    const auto start = reinterpret_cast<std::ostringstream &(*)(int, int)>(dlsym(RTLD_DEFAULT, DebugStart));
    const auto finish = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, DebugFinish));
    if (!start || !finish)
        return;
    constexpr int section = 47; // stores
    constexpr int important = 1; // DBG_IMPORTANT: in cache.log, and not on the terminal a second time
    start(section, important) << text;
    finish();
}

/// Where the administrator sees it: the terminal, or the journal, and cache.log. Squid's own line in cache.log follows,
/// that it does not support a cache_dir of this type; Squid goes on without the cache_dir.
void
complain(const std::string &program, const std::string &why)
{
    const auto text = "ERROR: cache_dir clusterfs is not used: its module does not fit " + program + ": " + why;
    fprintf(stderr, "squid-clusterfs: %s\n", text.c_str());
    tellCacheLog(text);
}

std::string
programPath()
{
    char path[4096];
    const auto length = readlink("/proc/self/exe", path, sizeof(path));
    return length > 0 ? std::string(path, static_cast<size_t>(length)) : std::string();
}

/// beside this library, and named like the program, since each build of Squid has a module of its own
std::string
modulePath(const std::string &program)
{
    Dl_info self;
    if (!dladdr(SignOfSquid, &self) || !self.dli_fname)
        return std::string();
    const std::string library(self.dli_fname);
    return library.substr(0, library.rfind('/') + 1) + program.substr(program.rfind('/') + 1) + ".so";
}

__attribute__((constructor)) void
load()
{
    if (!dlsym(RTLD_DEFAULT, SignOfSquid) || dlsym(RTLD_DEFAULT, SignOfClusterfs))
        return;

    const auto program = programPath();
    const auto path = modulePath(program);
    const auto module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!module) {
        complain(program, dlerror());
        return;
    }
    typedef const char *Register();
    const auto enroll = reinterpret_cast<Register*>(dlsym(module, "clusterfs_register"));
    const auto why = enroll ? enroll() : "there is no clusterfs_register() in it";
    if (why)
        complain(program, why);
}

} // namespace
