// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether the module was compiled for the Squid that it is in. */

#include "squid.h"
#include "fs/cluster/squid/IoState.h"
#include "fs/cluster/squid/SwapDir.h"
#include "globals.h"
#include "mgr/Action.h"
#include "packaging/module/Fit.h"
#include "SquidConfig.h"

#include <cstring>
#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>
#include <set>
#include <sstream>

namespace ClusterFs {

/// Stands for the pages that the module has, which derive from Mgr::Action in their source files. There is no object of it.
class FitAction: public Mgr::Action
{
public:
    bool aggregatable() const override; // with its body below: so the table is made here
};

bool
FitAction::aggregatable() const
{
    return false;
}

} // namespace ClusterFs

// The tables of virtual functions of our classes: what the headers make of those of Squid. By their linker names,
// since C++ has no others.
extern "C" {
    extern void * const OurSwapDir[] __asm__("_ZTVN9ClusterFs7SwapDirE");
    extern void * const OurIoState[] __asm__("_ZTVN9ClusterFs7IoStateE");
    extern void * const OurAction[] __asm__("_ZTVN9ClusterFs9FitActionE");
    extern void * const SquidDisk[] __asm__("_ZTVN5Store4DiskE");
    extern void * const SquidIoState[] __asm__("_ZTV12StoreIOState");
    extern void * const SquidAction[] __asm__("_ZTVN3Mgr6ActionE");
}

namespace {

/// how a string of options starts that Debian's configure keeps for squid -v
const char OptionsStart[] = " '--build=";

/// bytes of what a symbol names; 0 when that is not known
size_t
sizeAt(const void * const address)
{
    Dl_info info;
    void *symbol = nullptr;
    if (!dladdr1(address, &info, &symbol, RTLD_DL_SYMENT) || !symbol || info.dli_saddr != address)
        return 0;
    return static_cast<const ElfW(Sym)*>(symbol)->st_size;
}

/// What a function is called in its class, without parameters; "~" for a destructor. A table has other
/// things, too, where a class has several bases: "type", and nothing for a number.
std::string
methodAt(void * const address)
{
    Dl_info info;
    if (!dladdr(address, &info) || !info.dli_sname || info.dli_saddr != address)
        return std::string();
    int status = 0;
    char * const text = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
    std::string name(status == 0 ? text : info.dli_sname);
    free(text);
    if (!name.compare(0, 12, "typeinfo for"))
        return "type";
    name = name.substr(0, name.find('('));
    const auto colon = name.rfind(':');
    if (colon != std::string::npos)
        name.erase(0, colon + 1);
    return name.substr(0, 1) == "~" ? "~" : name;
}

/// Whether a function of ours overrides one of theirs, by its name in the classes that ours may derive it from.
/// The names count that the linker has for one and the same function: the compiler merges functions alike.
bool
overrides(void * const ours, void * const theirs)
{
    Dl_info info;
    if (!dladdr(ours, &info) || !info.dli_sname)
        return false;
    const std::string name(info.dli_sname);
    for (const std::string ourClass: {"9ClusterFs7SwapDir", "9ClusterFs7IoState", "9ClusterFs9FitAction"}) {
        const auto place = name.find(ourClass);
        if (place == std::string::npos)
            continue;
        for (const auto theirClass: {"5Store4Disk", "5Store10Controlled", "5Store7Storage", "12StoreIOState", "3Mgr6Action"}) {
            auto wanted = name;
            wanted.replace(place, ourClass.size(), theirClass);
            if (dlsym(RTLD_DEFAULT, wanted.c_str()) == theirs)
                return true;
        }
    }
    return false;
}

/// Compares the functions that the program has in a class with those that our class, which adds none, has.
bool
sameOrder(const char * const className, void * const * const theirs, void * const * const ours, std::string &why)
{
    const auto size = sizeAt(theirs);
    if (!size || size != sizeAt(ours)) {
        why = std::string("its class ") + className + " has another number of virtual functions";
        return false;
    }
    for (size_t i = 2; i < size / sizeof(*theirs); ++i) { // behind an offset and the type
        if (theirs[i] == ours[i])
            continue; // we do not override it, and the linker found it by the name that the header has
        if (!theirs[i])
            continue; // a destructor that is never called, since there are no objects of just this class
        const auto method = methodAt(theirs[i]);
        if (method == "__cxa_pure_virtual" || method == methodAt(ours[i]) || overrides(ours[i], theirs[i]))
            continue;
        why = std::string("its class ") + className + " has a virtual function " + method + " where the module has " + methodAt(ours[i]);
        return false;
    }
    return true;
}

/// The switches among options of configure. The others are folders and flags of the machine that they were given on.
std::set<std::string>
switchesIn(const std::string &options)
{
    std::set<std::string> found;
    std::istringstream words(options);
    std::string word;
    while (getline(words, word, '\'')) {
        const auto isSwitch = !word.compare(0, 8, "--enable") || !word.compare(0, 9, "--disable") || !word.compare(0, 6, "--with");
        // names the system that built; and what configure prints
        if (isSwitch && word.compare(0, 19, "--enable-build-info") && word != "--disable-silent-rules" &&
                word != "--disable-maintainer-mode" && word != "--disable-dependency-tracking")
            found.insert(word);
    }
    return found;
}

/// Looks for the options in the constants of the program.
int
findOptions(dl_phdr_info * const program, size_t, void * const result)
{
    for (size_t i = 0; i < program->dlpi_phnum; ++i) {
        const auto &segment = program->dlpi_phdr[i];
        if (segment.p_type != PT_LOAD || (segment.p_flags & (PF_W | PF_X)))
            continue;
        const auto start = reinterpret_cast<const char*>(program->dlpi_addr + segment.p_vaddr);
        const auto found = memmem(start, segment.p_memsz, OptionsStart, sizeof(OptionsStart) - 1);
        if (found) {
            const auto text = static_cast<const char*>(found);
            static_cast<std::string*>(result)->assign(text, strnlen(text, static_cast<size_t>(start + segment.p_memsz - text)));
        }
    }
    return 1; // the program is the first, and none of the others is asked
}

bool
sameOptions(std::string &why)
{
    std::string theirs;
    dl_iterate_phdr(&findOptions, &theirs);
    const auto have = switchesIn(theirs);
    const auto want = switchesIn(SQUID_CONFIGURE_OPTIONS);
    std::string difference;
    for (const auto &option: want)
        difference += have.count(option) ? "" : " without " + option;
    for (const auto &option: have)
        difference += want.count(option) ? "" : " with " + option;
    if (difference.empty())
        return true;
    why = "it was configured" + difference;
    return false;
}

bool
sameSymbols(std::string &why)
{
    for (unsigned i = 0; i < ClusterFs::KnownSymbolCount; ++i) {
        const auto &known = ClusterFs::KnownSymbols[i];
        const auto address = dlsym(RTLD_DEFAULT, known.name);
        const auto size = address ? sizeAt(address) : 0;
        // what starts at the same address, such as C1 and C2, may have been found instead
        if (size != known.size) {
            why = std::string("its ") + known.name + " has " + std::to_string(size) + " bytes instead of " + std::to_string(known.size);
            return false;
        }
    }
    return true;
}

} // namespace

bool
ClusterFs::fits(std::string &why)
{
    if (strcmp(version_string, VERSION) != 0) {
        why = std::string("it is version ") + version_string + ", and the module is for " + VERSION;
        return false;
    }
    if (sizeAt(&::Config) != sizeof(::Config)) {
        why = "its configuration has another size";
        return false;
    }
    return sameOptions(why) &&
           sameOrder("Store::Disk", SquidDisk, OurSwapDir, why) &&
           sameOrder("StoreIOState", SquidIoState, OurIoState, why) &&
           sameOrder("Mgr::Action", SquidAction, OurAction, why) &&
           sameSymbols(why);
}
