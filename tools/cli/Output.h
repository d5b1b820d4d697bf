// SPDX-License-Identifier: GPL-2.0-or-later
/* One description of a result, printed as text or as JSON. */

#ifndef CLUSTERFS_TOOLS_CLI_OUTPUT_H
#define CLUSTERFS_TOOLS_CLI_OUTPUT_H

#include <cstdint>
#include <string>
#include <vector>

namespace ClusterFs::Cli {

/// text whose control characters and bytes beyond ASCII are written as \xNN
std::string printable(const std::string &);

/// a JSON string with its quotes; bytes beyond ASCII become \u0080 to \u00ff
std::string quoted(const std::string &);

/// Prints named values to standard output as they come. As text: a line each,
/// indented by depth, but the values of a list's item share a line. As JSON:
/// one object in one line.
class Output
{
public:
    explicit Output(bool json);

    /// ends what is still open
    void finish();

    void put(const char *name, const std::string &value);
    void put(const char *name, const char *value) { put(name, std::string(value)); }
    void put(const char *name, uint64_t value);
    /// times: -1 means unknown
    void putTime(const char *name, int64_t value);
    void putFlag(const char *name, bool value);
    void putNothing(const char *name); ///< null, or a dash

    void open(const char *name) { openLevel(name, false); } ///< a group of values
    void openList(const char *name) { openLevel(name, true); } ///< of items
    void openItem();
    void item(const std::string &text); ///< an item that is a text
    void close(); ///< the group, list or item that was opened last

private:
    struct Level {
        bool list = false;
        bool item = false; ///< its values share a line
        bool empty = true;
    };

    void openLevel(const char *name, bool list);
    void lead(const char *name);
    void raw(const char *name, const std::string &json, const std::string &text);
    void indent() const;

    bool json_;
    std::vector<Level> levels_;
};

} // namespace ClusterFs::Cli

#endif
