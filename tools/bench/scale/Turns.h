// SPDX-License-Identifier: GPL-2.0-or-later
/* How long calls of the engine kept the event loop. */

#ifndef CLUSTERFS_BENCH_SCALE_TURNS_H
#define CLUSTERFS_BENCH_SCALE_TURNS_H

#include "tools/base/Clock.h"

#include <cstdint>
#include <string>

namespace ScaleBench {

/// Measures calls by the clock on the wall, and by that of the thread's processor time, which
/// does not count what other programs did in between.
class Turns
{
public:
    static constexpr uint64_t wanted = 2000000; ///< nanoseconds that none should exceed

    /// what calls took, by one of the clocks
    struct Times {
        uint64_t longest = 0; ///< nanoseconds
        std::string which; ///< the name of the longest call
        uint64_t tooLong = 0; ///< calls that took more than wanted

        void add(const uint64_t nanos, const char *const name) {
            tooLong += nanos > wanted;
            if (nanos > longest) {
                longest = nanos;
                which = name;
            }
        }

        void add(const Times &more) {
            tooLong += more.tooLong;
            if (more.longest > longest) {
                longest = more.longest;
                which = more.which;
            }
        }
    };

    /// adds those of another time
    void add(const Turns &more) {
        calls += more.calls;
        processorNanos += more.processorNanos;
        wall.add(more.wall);
        processor.add(more.processor);
    }

    /// \returns what the call returns
    template <class Call>
    auto measure(const char *const name, Call call) {
        const Measuring measuring(*this, name);
        return call();
    }

    uint64_t calls = 0;
    uint64_t processorNanos = 0; ///< of all of them
    Times wall;
    Times processor;

private:
    class Measuring
    {
    public:
        Measuring(Turns &turns, const char *const name): turns_(turns), name_(name) {}
        ~Measuring() {
            const auto took = static_cast<uint64_t>(Tools::now(CLOCK_THREAD_CPUTIME_ID) - processor_);
            turns_.processor.add(took, name_);
            turns_.wall.add(static_cast<uint64_t>(Tools::now() - wall_), name_);
            turns_.processorNanos += took;
            ++turns_.calls;
        }

    private:
        Turns &turns_;
        const char *const name_;
        const Tools::Nanos wall_ = Tools::now();
        const Tools::Nanos processor_ = Tools::now(CLOCK_THREAD_CPUTIME_ID);
    };
};

} // namespace ScaleBench

#endif
