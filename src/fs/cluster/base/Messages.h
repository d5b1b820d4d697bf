// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of messages. */

#ifndef SQUID_SRC_FS_CLUSTER_BASE_MESSAGES_H
#define SQUID_SRC_FS_CLUSTER_BASE_MESSAGES_H

#include "fs/cluster/base/Types.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>

namespace ClusterFs {

/// names of the rows, in their order
enum class Message : uint8_t {
    // squid.conf
    rejected, sizeStays, optionStays, optionChanged,
    sizeNotWhole, sizeTooSmall, optionTwice, optionUnknown, optionEmpty, flagWithValue, bytesWanted, notWhole, noSuchChoice,
    notPowerOfTwo, littleMemory, memoryTooSmall, sameLine,
    // squid -z
    notMade, isOurs, formatted, partUnused, deviceShorter,
    // a start
    notUsed, backInService, exposed, noChecks, sizeFormatted, clusterSizeStays, notDirect, notAsynchronous,
    noSuperblock, superblockDamaged, superblockUnread, versionUnknown, deviceTooSmall, blocksTooLarge, blocksUnsuited, noMemory,
    inUse, tooManyDeletes, notAnswered,
    memoryUsedUp,
    // while it runs
    memoryShort,
    // finding the index again
    indexComplete, indexAfterCrash, logDamaged, logBeyondRepair, logUnusable,
    // a device that fails
    superblockUnwritten, checkpointFailed, journalFull, clusterRetired, clustersRetired, placesBad, writesFailed, deviceGone,
    // the end
    notStoppedCleanly,
    // defects
    pollFailed, sizeWrong,
    count ///< of rows
};

/// What the module writes to cache.log, or the reason in such a line. Code and documents have the text from here.
struct MessageRow {
    Message id;
    LogLevel level;
    const char *text; ///< with a % for each value
    const char *meaning; ///< for the administrator: what it means, and what to do
};

/// All messages. The engine's lines get "cache_dir clusterfs PATH: " in front.
inline constexpr MessageRow messages[] = {
    {Message::rejected, LogLevel::fatal, "cache_dir clusterfs %: %",
     "Squid does not take this line of squid.conf, and ends: the reason says what is wrong in it"},
    {Message::sizeStays, LogLevel::warning, "cache_dir '%' size cannot be changed dynamically, value left unchanged (% MB)",
     "the size of a device is decided when it is formatted: format it anew, or put the old size back"},
    {Message::optionStays, LogLevel::warning, "cache_dir '%' % cannot be changed dynamically, value left unchanged (%)",
     "the option is not live: restart Squid, or format the device anew, as the table of options says"},
    {Message::optionChanged, LogLevel::notice, "cache_dir '%' % now %",
     "nothing to do: squid -k reconfigure has changed the option"},

    {Message::sizeNotWhole, LogLevel::reason, "size '%' is not a whole number of MB", "correct the size behind the path"},
    {Message::sizeTooSmall, LogLevel::reason, "a size of % MB is too small: at least % MB are needed", "write a larger size, or none"},
    {Message::optionTwice, LogLevel::reason, "option '%' is given twice", "remove one of them"},
    {Message::optionUnknown, LogLevel::reason, "unknown option '%'", "correct its name: the table of options has all of them"},
    {Message::optionEmpty, LogLevel::reason, "option '%' needs a value", "write it as NAME=VALUE"},
    {Message::flagWithValue, LogLevel::reason, "option '%' takes no value, or 0 or 1", "write its name alone"},
    {Message::bytesWanted, LogLevel::reason, "option '%' needs a number of bytes, or -1 for no limit", "correct the number"},
    {Message::notWhole, LogLevel::reason, "%=% is not a whole number from % to %", "choose a number within the bounds"},
    {Message::noSuchChoice, LogLevel::reason, "%=% is none of: %", "choose one of these values"},
    {Message::notPowerOfTwo, LogLevel::reason, "cluster-size=% is not a power of two", "choose a power of two, such as 512, 1024 or 2048"},
    {Message::littleMemory, LogLevel::reason, "%=% MB is too little for clusters of % KB: raise it to %",
     "several clusters have to fit into this memory"},
    {Message::memoryTooSmall, LogLevel::reason,
     "memory=% MB is less than staging=%, locality=% and % MB for the read cache together: raise it to %, or lower those two",
     "memory has to hold all of them, and the index on top"},
    {Message::sameLine, LogLevel::reason, "there is more than one cache_dir line with this path", "remove all of them but one"},

    {Message::notMade, LogLevel::error, "cache_dir clusterfs was not made, and Squid does without it: %",
     "squid -z has left the device as it was, and says why: mend that, then run it again"},
    {Message::isOurs, LogLevel::notice, "cache_dir clusterfs % holds a cache already and was left as it is",
     "nothing to do; to empty it, run `clusterfs format --force`"},
    {Message::formatted, LogLevel::notice, "cache_dir clusterfs % was formatted", "nothing to do: it is empty, and Squid can use it"},
    {Message::partUnused, LogLevel::warning, "cache_dir clusterfs % is configured with % MB, but has % MB; the rest stays unused",
     "to use all of the device, leave out the size, stop Squid, and run `clusterfs grow`"},
    {Message::deviceShorter, LogLevel::warning, "cache_dir clusterfs % is configured with % MB, but has % MB",
     "the whole device is used; put its size into squid.conf, or none"},

    {Message::notUsed, LogLevel::error, "cache_dir clusterfs is not used: %",
     "Squid runs without this cache_dir: mend what the reason says (for No such file, Permission denied or Input/output error repair or "
     "replace the device), then run squid -k reconfigure"},
    {Message::backInService, LogLevel::notice, "cache_dir clusterfs % is in service again",
     "nothing to do: squid -k reconfigure has found its device"},
    {Message::exposed, LogLevel::warning, "its mode % lets other users read what is cached: chmod 0600 %",
     "nobody else should see what people have looked at: run this chmod"},
    {Message::noChecks, LogLevel::notice, "cache_dir clusterfs %: -S adds nothing here because each read is checked",
     "nothing to do; squid -S is for other cache_dirs"},
    {Message::sizeFormatted, LogLevel::warning, "cache_dir clusterfs % is configured with % MB, but uses % of % MB. "
     "While Squid is stopped, clusterfs grow lets it use more",
     "put the size that it uses into squid.conf, or none; or stop Squid and run `clusterfs grow`"},
    {Message::clusterSizeStays, LogLevel::warning, "formatted with cluster-size=%, which stays in force until it is formatted anew "
     "(configured: %)",
     "put this cluster-size into squid.conf, or format the device anew to change it"},
    {Message::notDirect, LogLevel::warning, "%: O_DIRECT is not supported here, so all I/O goes through the page cache, and takes memory "
     "twice; use a block device, or a file on ext4 or XFS",
     "the file is on a file system that can't do without the kernel's own cache: Squid works, but needs more memory"},
    {Message::notAsynchronous, LogLevel::warning, "%: asynchronous I/O is not available, each request holds up the whole process: %",
     "Squid serves nobody while the disk works: raise `fs.aio-max-nr` (sysctl), which other programs have used up, and restart Squid"},
    {Message::noSuperblock, LogLevel::reason, "no clusterfs superblock",
     "the device was never formatted: run squid -z; if it refuses, it says what is on the device"},
    {Message::superblockDamaged, LogLevel::reason, "the superblock's checksum is wrong",
     "both copies are damaged, and nothing can be saved. squid -z does not touch what was a cache, so run "
     "`clusterfs format --force --owner=proxy PATH`, then squid -k reconfigure"},
    {Message::superblockUnread, LogLevel::reason, "a superblock can't be read", "check the disk and its cable, or replace it"},
    {Message::versionUnknown, LogLevel::reason, "format version % is not one of the versions % to % that this program knows",
     "another version of clusterfs has formatted the device: use that one, or format the device anew"},
    {Message::deviceTooSmall, LogLevel::reason, "formatted for % bytes, but the device has only %",
     "the device, or file, has become shorter: give it its size back, or format it anew"},
    {Message::blocksTooLarge, LogLevel::reason, "the device must be written in blocks of % bytes, but clusterfs writes % bytes at a time: "
     "use a device, or a file system, with smaller blocks",
     "this device cannot be used"},
    {Message::blocksUnsuited, LogLevel::reason, "clusters of % bytes do not suit a device with blocks of % bytes",
     "the device was formatted where blocks were smaller: format it anew with a larger cluster-size"},
    {Message::noMemory, LogLevel::reason, "there is not enough memory for an index of % objects, % MB: raise the limit of the process",
     "the process may not have so much address space: see `ulimit -v`, or LimitAS= of the systemd unit"},
    {Message::inUse, LogLevel::reason, "%: locked by another process (another Squid, or a clusterfs tool); stop that first",
     "one process at a time can have the device open"},
    {Message::tooManyDeletes, LogLevel::reason, "%: Squid has deleted more objects since its start than it remembers, and they may be on the "
     "device; empty it with clusterfs format --force, and restart Squid",
     "the device was away for long, and would bring deleted objects back"},
    {Message::notAnswered, LogLevel::reason, "%: the device has not answered all of its requests yet; try squid -k reconfigure later",
     "to close the device now would hold up Squid"},
    {Message::memoryUsedUp, LogLevel::warning,
     "memory=% MB is too little: the index takes % MB, and staging, locality and the least for the read cache % MB",
     "clusterfs takes more than that under load, and most hits need a disk read: raise memory, or use less of the device"},
    {Message::memoryShort, LogLevel::warning, "% of % MB of memory are left: the read cache gives way, from % to % MB",
     "the machine, or the control group of Squid, is nearly out of memory, and the kernel would end a process. The read cache grows again "
     "when there is room; this line comes once. Give memory=, cache_mem or something else less"},

    {Message::indexComplete, LogLevel::notice, "index is complete: % objects, % reads, % ms%",
     "nothing to do: the start is over"},
    {Message::indexAfterCrash, LogLevel::notice, "index is complete: % objects, % reads, % ms, after a crash%; lost beside what was in "
     "memory: %",
     "nothing to do: Squid fetches the lost objects anew. A power cut never costs blocks of the index log: if it did, the disk is "
     "going bad, or ignores flushes"},
    {Message::logDamaged, LogLevel::warning, "% of % blocks of the index log are damaged: the objects that they described are lost",
     "nothing to do: Squid fetches them anew. The disk may be going bad"},
    {Message::logBeyondRepair, LogLevel::warning, "% of % blocks of the index log are damaged: scanning all clusters; objects found by the "
     "scan are revalidated before use",
     "nothing to do: hits go on during the scan. The disk may be going bad"},
    {Message::logUnusable, LogLevel::warning, "there is no usable index log: scanning all clusters; objects found by the scan are "
     "revalidated before use",
     "nothing to do: this comes once after an upgrade from a version that had no index log"},

    {Message::superblockUnwritten, LogLevel::error, "the superblock can't be written: nothing will be stored, hits go on",
     "replace the disk, run squid -z, and restart Squid"},
    {Message::checkpointFailed, LogLevel::error, "a checkpoint could not be written (%): the next start will take longer",
     "clusterfs tries again; until one succeeds, a start takes longer. Check the disk if it comes again"},
    {Message::journalFull, LogLevel::error, "the journal is full and can't be written: objects deleted from now on may come back after a "
     "crash; check the device",
     "the disk has taken no writes of the journal for long: check it, or replace it"},
    {Message::clusterRetired, LogLevel::warning, "cluster % gave % read errors and is put out of use",
     "a place on the disk is bad: Squid fetches what lay there anew. Replace the disk if there are more and more"},
    {Message::clustersRetired, LogLevel::warning, "cluster % gave % read errors and is put out of use; these are % since the start",
     "many places on the disk are bad, and not all of them are told: replace the disk"},
    {Message::placesBad, LogLevel::error, "% % in a row failed: places on the device are bad; it stays in service, replace it soon",
     "Squid fetches what lay there anew and stores it elsewhere; replace the disk soon"},
    {Message::writesFailed, LogLevel::error, "% writes in a row failed: nothing is stored any more, hits go on, and what is deleted from now "
     "on may come back with the next start; replace the disk and restart",
     "replace the disk, run squid -z, and restart Squid"},
    {Message::deviceGone, LogLevel::error, "too many requests failed, and the superblocks can't be read either: the device is out of service "
     "until the next start",
     "Squid goes on without it: repair or replace the device, then run squid -k reconfigure"},

    {Message::notStoppedCleanly, LogLevel::warning, "cache_dir clusterfs % was not stopped cleanly: %. The next start will recover it",
     "the disk did not write the last checkpoint in time: nothing to do, unless it comes each time"},

    {Message::pollFailed, LogLevel::error, "Squid BUG: clusterfs caught an exception while polling (% so far): %",
     "a defect: please report it. The line comes with the 1st, 2nd, 4th, 8th... of them"},
    {Message::sizeWrong, LogLevel::error, "Squid BUG: stored % bytes of %; forgetting %",
     "a defect: please report it. The object is a miss"},
};

/// \returns whether each name has its row
constexpr bool
messagesInOrder()
{
    size_t n = 0;
    for (const auto &row: messages) {
        if (static_cast<size_t>(row.id) != n++)
            return false;
    }
    return n == static_cast<size_t>(Message::count);
}
static_assert(messagesInOrder(), "each message has a row, in the order of the names");

constexpr const MessageRow &
rowOf(const Message m)
{
    return messages[static_cast<size_t>(m)];
}

/// how many values a text has places for
constexpr size_t
placesIn(const char *text)
{
    size_t n = 0;
    for (; *text; ++text)
        n += *text == '%';
    return n;
}

/// what stands in front of a line of that level in cache.log: "ERROR: ", say
const char *levelText(LogLevel);

/// the text with the values in their places
std::string filled(const char *text, std::initializer_list<std::string> values);

/// a value as a message has it
template <class Value>
std::string
valueText(const Value &value)
{
    if constexpr (std::is_arithmetic_v<Value>)
        return std::to_string(value);
    else
        return value;
}

/// \returns the text of a message with the values in their places
template <Message M, class... Values>
std::string
messageText(const Values &...values)
{
    static_assert(placesIn(rowOf(M).text) == sizeof...(Values), "a value for each place in the text");
    return filled(rowOf(M).text, {valueText(values)...});
}

/// \returns the same with the level in front, as a line of cache.log
template <Message M, class... Values>
std::string
messageLine(const Values &...values)
{
    return levelText(rowOf(M).level) + messageText<M>(values...);
}

/// writes a message to the log
template <Message M, class... Values>
void
say(const Log &log, const Values &...values)
{
    static_assert(rowOf(M).level != LogLevel::reason, "a reason is a part of another message");
    log(rowOf(M).level, messageText<M>(values...));
}

} // namespace ClusterFs

#endif
