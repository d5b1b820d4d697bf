// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes JSON. */

#ifndef CLUSTERFS_BENCH_WEB_BASE_JSON_H
#define CLUSTERFS_BENCH_WEB_BASE_JSON_H

#include <cstdint>
#include <string>

namespace WebBench {

/// Appends JSON to a text in the order of the calls. The caller pairs begin and
/// end. Inside an array, keys are empty.
class Json
{
public:
    void beginObject(const std::string &key = "") { open(key, '{'); }
    void beginArray(const std::string &key = "") { open(key, '['); }
    void endObject() { close('}'); }
    void endArray() { close(']'); }

    void add(const std::string &key, const std::string &value);
    void add(const std::string &key, const char *value) { add(key, std::string(value)); }
    void add(const std::string &key, uint64_t value);
    void add(const std::string &key, double value); ///< null when it is no finite number
    void addNull(const std::string &key);

    const std::string &text() const { return text_; }

private:
    void begin(const std::string &key);
    void open(const std::string &key, char bracket);
    void close(char bracket);
    void quote(const std::string &);

    std::string text_;
    bool first_ = true; ///< of the innermost object or array
};

} // namespace WebBench

#endif
