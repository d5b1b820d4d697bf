// SPDX-License-Identifier: GPL-2.0-or-later
/* Talk with the program that runs us: it sets limits and reads the disk's counters. */

#ifndef CLUSTERFS_TOOLS_BENCH_PAPERS_ATTENDANT_H
#define CLUSTERFS_TOOLS_BENCH_PAPERS_ATTENDANT_H

#include <cstdint>
#include <string>

namespace Papers {

/// Each message is a line on standard output, answered by a line "ok" on
/// standard input. Without an attendant, nothing is said. An attendant that
/// goes away ends the program (std::runtime_error).
class Attendant
{
public:
    explicit Attendant(const bool there): there_(there) {}

    /// all tables are in memory; that much more will be needed at most
    void ready(uint64_t bytesToCome) { say("ready " + std::to_string(bytesToCome)); }
    /// a phase is about to begin, or has ended and all of it is on the disk
    void begin(const std::string &phase) { say("begin " + phase); }
    void end(const std::string &phase) { say("end " + phase); }
    /// asks for empty caches of the file system. \returns whether somebody was there to do it
    bool dropCaches();

private:
    void say(const std::string &);

    bool there_;
};

} // namespace Papers

#endif
