// SPDX-License-Identifier: GPL-2.0-or-later
/* Hummingbird's calls as a store of the experiments. */

#include "HummingbirdStore.h"

#define CLUSTERFS_BARE_NAMES
#include "clusterfs/hummingbird.h"

#include <cstdlib>
#include <new>

namespace Papers {

HummingbirdStore::~HummingbirdStore()
{
    (void)clusterfs_hummingbird_end();
}

bool
HummingbirdStore::open(std::string &error)
{
    if (!LibraryStore::open(error))
        return false;
    // staging and read cache have limits of their own; what the daemons do before that is to make room in time
    clusterfs_hummingbird_thresholds thresholds{};
    thresholds.struct_size = sizeof(thresholds);
    double value = 0;
    if (clusterfs_statistic(store_, 0, "staging limit", &value) == 0)
        thresholds.files = static_cast<uint64_t>(value / 2);
    if (clusterfs_statistic(store_, 0, "read cache limit", &value) == 0)
        thresholds.memory = static_cast<uint64_t>(value);
    const int result = clusterfs_hummingbird_begin(store_, &thresholds);
    if (result == 0)
        return true;
    error = std::string("Hummingbird's calls get no store: ") + clusterfs_strerror(result);
    return false;
}

bool
HummingbirdStore::close(std::string &error)
{
    const int result = clusterfs_hummingbird_end();
    if (result == 0)
        return LibraryStore::close(error);
    error = std::string("Hummingbird's calls do not give the store back: ") + clusterfs_strerror(result);
    return false;
}

Outcome
HummingbirdStore::create(const Item &item, const Hint &hint)
{
    auto *const bytes = static_cast<char *>(malloc(item.size ? item.size : 1)); // NOLINT(cppcoreguidelines-no-malloc): the store frees it
    if (!bytes)
        throw std::bad_alloc();
    content().fill(item, 0, bytes, item.size);
    const auto name = NameOf(item.id);
    const int result = write_file(name.c_str(), bytes, item.size);
    if (result < 0) {
        free(bytes); // NOLINT(cppcoreguidelines-no-malloc)
        return OutcomeOf(result);
    }
    if (order().hints && hint.group != Hint::none && !hint.container)
        (void)collocate_files(NameOf(hint.group).c_str(), name.c_str()); // nothing is lost when the page is not there
    return Outcome::done;
}

Outcome
HummingbirdStore::read(const Item &item, const Hint &, uint32_t &version)
{
    const auto name = NameOf(item.id);
    void *bytes = nullptr;
    const int size = read_file(name.c_str(), &bytes);
    if (size < 0)
        return OutcomeOf(size);
    const auto outcome = check(item, bytes, static_cast<uint64_t>(size), version);
    return done_read_file(name.c_str(), bytes) == 0 ? outcome : Outcome::bad;
}

Outcome
HummingbirdStore::remove(const uint32_t id)
{
    return OutcomeOf(delete_file(NameOf(id).c_str()));
}

void
HummingbirdStore::idle()
{
    (void)pack_files_daemon();
    (void)free_main_memory_data_daemon();
    (void)free_disk_space_daemon();
}

} // namespace Papers
