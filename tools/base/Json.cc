// SPDX-License-Identifier: GPL-2.0-or-later
/* JSON as the programs write it. */

#include "tools/base/Json.h"

namespace Tools {

std::string
jsonText(const Json &json, const int indent)
{
    return json.dump(indent, ' ', true, Json::error_handler_t::replace);
}

std::string
bytesText(const std::string &bytes)
{
    std::string text;
    for (const char c: bytes) {
        const auto code = static_cast<unsigned char>(c);
        if (code < 0x80) {
            text += c;
        } else { // in UTF-8
            text += static_cast<char>(0xc0 | code >> 6);
            text += static_cast<char>(0x80 | (code & 0x3f));
        }
    }
    return text;
}

} // namespace Tools
