// SPDX-License-Identifier: GPL-2.0-or-later
/* Which object is in which file, and in what order they were used. */

#ifndef CLUSTERFS_TOOLS_BENCH_PAPERS_FILETABLE_H
#define CLUSTERFS_TOOLS_BENCH_PAPERS_FILETABLE_H

#include "tools/base/Lru.h"

#include <cstdint>
#include <vector>

namespace Papers {

/// File numbers as Squid's ufs gives them out: the next free one after the last,
/// from the start again at the end, twice as many when all are taken.
class FileNumbers
{
public:
    FileNumbers();
    uint32_t take();
    void give(uint32_t number);

private:
    std::vector<bool> taken_;
    uint32_t used_ = 0;
    uint32_t next_ = 0;
};

/// One entry for each possible object, all in memory from the start, and a list
/// of those that are there, used last first. Not locked.
class FileTable
{
public:
    explicit FileTable(uint32_t objects);

    enum class State : uint8_t {
        absent,
        creating,
        present,
        leaving ///< its file is being deleted
    };
    struct Entry {
        uint32_t number = 0; ///< of the file
        uint32_t bytes = 0; ///< of file system space
        uint16_t pins = 0; ///< threads that are about to open the file
        State state = State::absent;
    };

    Entry &operator [](const uint32_t id) { return entries_[id]; }
    const Entry &operator [](const uint32_t id) const { return entries_[id]; }
    uint32_t count() const { return static_cast<uint32_t>(entries_.size()); }

    void begin(uint32_t id, uint32_t bytes); ///< absent -> creating, with a file number
    void complete(uint32_t id); ///< creating -> present
    void leave(uint32_t id); ///< present -> leaving
    void forget(uint32_t id); ///< creating or leaving -> absent; gives the file number back
    void touch(uint32_t id); ///< was used now

    /// the present object used least recently that nobody is about to open, or Tools::Recency::none
    uint32_t victim() const;

    uint64_t bytes() const { return bytes_; } ///< of file system space, those that come or go included
    uint32_t files() const { return files_; }

private:
    std::vector<Entry> entries_;
    FileNumbers numbers_;
    Tools::Recency recency_; ///< of the present ones
    uint64_t bytes_ = 0;
    uint32_t files_ = 0;
};

} // namespace Papers

#endif
