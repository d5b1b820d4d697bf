// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes one JSON object. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_BASE_JSONTEXT_H
#define CLUSTERFS_TOOLS_DISKMODEL_BASE_JSONTEXT_H

#include <cstdint>
#include <string>

namespace DiskModel {

/// A JSON object that grows by named values.
class JsonText
{
public:
    /// \param separator what stands between the values: ", " or, for people, ",\n "
    explicit JsonText(const char *separator = ", "): separator_(separator) {}

    void add(const char *name, const std::string &value); ///< a text
    void add(const char *name, const char *value) { add(name, std::string(value)); }
    void add(const char *name, uint64_t value);
    void add(const char *name, double value); ///< twelve digits
    void add(const char *name, bool value);
    void add(const char *name, const JsonText &value); ///< an object inside

    std::string text() const { return "{" + body_ + "}"; }

private:
    void raw(const char *name, const std::string &json);

    const char *separator_;
    std::string body_;
};

} // namespace DiskModel

#endif
