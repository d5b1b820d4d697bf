// SPDX-License-Identifier: GPL-2.0-or-later
/* One description of a result, printed as text or as JSON. */

#ifndef CLUSTERFS_TOOLS_CLI_OUTPUT_H
#define CLUSTERFS_TOOLS_CLI_OUTPUT_H

#include "tools/base/Json.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ClusterFs::Cli {

/// Prints named values to standard output. As text: as they come, a line each,
/// indented by depth, but the values of a list's item share a line. As JSON: in
/// the end, one object in one line, in which bytes beyond ASCII are \u0080 to \u00ff.
class Output
{
public:
    explicit Output(bool json);

    /// ends what is still open; prints JSON
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
    void close(); ///< the group, list or item that was opened last

private:
    struct Level {
        std::string name;
        Tools::Json json; ///< an object or a list
        bool item = false; ///< its values share a line
        bool empty = true; ///< nothing of it is printed
    };

    void openLevel(const char *name, bool list);
    void add(const std::string &name, Tools::Json);
    void raw(const char *name, const Tools::Json &, const std::string &text);
    void indent() const;

    bool json_;
    std::vector<Level> levels_;
};

} // namespace ClusterFs::Cli

#endif
