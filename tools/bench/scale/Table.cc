// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables of figures. */

#include "tools/bench/scale/Table.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace ScaleBench {

namespace {

/// a row, of which several figures may be in one cell
struct Row {
    const char *label;
    const char *wanted;
    const char *what; ///< was done
    std::vector<const char *> names; ///< of figures; "turns ..." stands for what is said of turns
};

const Row diskRows[] = {
    {"bytes written while nothing changes", "0", "start, checkpoints, stop", {"bytes written while nothing happens"}},
    {"bytes of a checkpoint for each byte that there was to say (28 an object, 48 a cluster)", "2", "start, checkpoints, stop",
     {"bytes of it for each byte that there was to say"}},
    {"bytes of a checkpoint for each object stored; deleted; with other times", "", "start, checkpoints, stop",
     {"bytes of it for each object stored", "bytes of a checkpoint for each object deleted", "bytes of a checkpoint for each object with other times"}},
    {"processor time of a checkpoint, % of the time between two", "1", "start, checkpoints, stop",
     {"processor time of a checkpoint, of the time between two"}},
    {"seconds of a stop", "2", "start, checkpoints, stop", {"seconds of a stop"}},
    {"the next start says that it was clean", "1", "start after the stop, crash", {"clean"}},
    {"longest turn: while objects are stored and read", "2", "start, checkpoints, stop", {"turns while objects are stored and read"}},
    {"while objects are deleted and updated", "2", "start, checkpoints, stop", {"turns while objects are deleted and updated"}},
    {"while a checkpoint is written", "2", "start, checkpoints, stop", {"turns while a checkpoint is written"}},
    {"in a start after a stop, its end included", "2", "start after the stop, crash", {"turns in a start"}},
    {"in a start after a crash, its end included", "2", "start after the crash", {"turns in a start"}},
    {"in the checkpoint after that", "2", "start after the crash", {"turns in the checkpoint after a crash"}},
    {"start after a crash: seconds to the first hit", "1", "start after the crash", {"seconds to the first hit"}},
    {"seconds to the whole index; processor seconds of that", "", "start after the crash", {"seconds to the whole index", "processor seconds of it"}},
    {"seconds to read as many bytes in sequence; times that", "; 1.2", "start after the crash",
     {"seconds to read as many bytes in sequence", "seconds to the whole index, of those"}},
    {"a damaged block of the index log: objects that it described; lost; lost of others; doubtful", "; ; 0; 0", "start with a damaged block",
     {"objects that they described", "objects lost", "of these, others than they described", "doubtful objects"}},
    {"index bytes of an object, the table of all clusters included", "", "start after the crash", {"index bytes of an object"}},
};

const Row fullRows[] = {
    {"index bytes of an object; resident", "40", "memory", {"index bytes of an object", "resident bytes of an object"}},
    {"longest turn: in a start after a crash that left objects in two places", "2", "start with two copies of some", {"turns in a start"}},
    {"in the checkpoint after that", "2", "start with two copies of some", {"turns in the checkpoint after a crash"}},
    {"while clusters are evicted", "2", "eviction", {"turns while clusters are evicted"}},
    {"bytes of a checkpoint for each byte that there was to say, while all is replaced; most", "2", "checkpoints while all is replaced",
     {"bytes of a checkpoint for each byte that there was to say", "the same, most"}},
};

/// a figure, found by its name behind a place in the text; empty when there is none
std::string
figure(const std::string &json, const std::string &name, const size_t from = 0)
{
    const auto at = json.find("\"" + name + "\":", from);
    if (at == std::string::npos)
        return "";
    char text[32];
    snprintf(text, sizeof(text), "%.3g", strtod(json.c_str() + at + name.size() + 3, nullptr));
    return text;
}

std::string
cell(const std::string &json, const Row &row)
{
    std::string text;
    for (const std::string name: row.names) {
        text += text.empty() ? "" : "; ";
        const auto at = json.find("\"" + name + "\":");
        if (name.compare(0, 6, "turns ") != 0)
            text += figure(json, name);
        else if (at != std::string::npos)
            text += figure(json, "longestProcessorMs", at) + " (" + figure(json, "longestMs", at) + "); " + figure(json, "processorAbove2ms", at) +
                    " (" + figure(json, "above2ms", at) + ") of " + figure(json, "calls", at);
    }
    return text;
}

template <size_t N>
std::string
table(const std::vector<Measured> &all, const Row (&rows)[N])
{
    std::vector<std::string> stores;
    for (const auto &m: all) {
        const bool belongs = std::any_of(rows, rows + N, [&](const Row &row) { return m.what == row.what; });
        if (belongs && std::find(stores.begin(), stores.end(), m.store) == stores.end())
            stores.push_back(m.store);
    }
    std::string text = "| what | wanted |";
    std::string line = "|---|---|";
    for (const auto &store: stores) {
        text += " " + store + " |";
        line += "---|";
    }
    text += "\n" + line + "\n";
    for (const auto &row: rows) {
        text += std::string("| ") + row.label + " | " + row.wanted + " |";
        for (const auto &store: stores) {
            const auto found = std::find_if(all.begin(), all.end(), [&](const Measured &m) { return m.store == store && m.what == row.what; });
            text += " " + (found == all.end() ? "" : cell(found->json, row)) + " |";
        }
        text += "\n";
    }
    return text;
}

} // namespace

std::string
tables(const std::vector<Measured> &all)
{
    return table(all, diskRows) + "\n" + table(all, fullRows);
}

} // namespace ScaleBench
