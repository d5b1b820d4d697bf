// SPDX-License-Identifier: GPL-2.0-or-later
/* What heads of HTTP requests and responses have in common. */

#include "tools/bench/web/http/HttpHead.h"
#include "tools/base/Text.h"

#include <cstring>

namespace WebBench {

using namespace Tools;

size_t
headLength(const std::string_view text, size_t from)
{
    from = from > 3 ? from - 3 : 0; // the end may have begun there
    if (from >= text.size())
        return 0;
    const void *const end = memmem(text.data() + from, text.size() - from, "\r\n\r\n", 4);
    return end ? static_cast<size_t>(static_cast<const char *>(end) - text.data()) + 4 : 0;
}

std::string_view
cutLine(std::string_view &head)
{
    auto end = head.find('\n');
    if (end == std::string_view::npos)
        end = head.size();
    auto line = head.substr(0, end);
    if (!line.empty() && line.back() == '\r')
        line.remove_suffix(1);
    head.remove_prefix(end < head.size() ? end + 1 : end);
    return line;
}

bool
Header::cutFrom(std::string_view &head, bool &bad)
{
    const auto line = cutLine(head);
    if (line.empty())
        return false;
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) {
        bad = true;
        return false;
    }
    name = line.substr(0, colon);
    value = line.substr(colon + 1);
    while (!value.empty() && (value.front() == ' ' || value.front() == '\t'))
        value.remove_prefix(1);
    while (!value.empty() && (value.back() == ' ' || value.back() == '\t'))
        value.remove_suffix(1);
    return true;
}

bool
Header::is(const std::string_view lowerName) const
{
    return equalNoCase(name, lowerName);
}

} // namespace WebBench
