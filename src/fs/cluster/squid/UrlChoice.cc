// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "fs/cluster/squid/UrlChoice.h"
#include "store/SwapMeta.h"

ClusterFs::UrlChoice::UrlChoice(const Kind kind, const std::string &text):
    kind_(kind),
    text_(text)
{
    if (text_.empty())
        error_ = "the text is empty";
    if (text_.empty() || kind_ != Kind::pattern)
        return;
    const auto result = regcomp(&expression_, text_.c_str(), REG_EXTENDED | REG_NOSUB);
    compiled_ = !result;
    if (compiled_)
        return;
    char why[256];
    regerror(result, &expression_, why, sizeof(why));
    error_ = "this is not a POSIX extended regular expression: " + std::string(why);
}

ClusterFs::UrlChoice::~UrlChoice()
{
    if (compiled_)
        regfree(&expression_);
}

bool
ClusterFs::UrlChoice::matches(const std::string &url) const
{
    switch (kind_) {
    case Kind::url:
        return url == text_;
    case Kind::prefix:
        return url.compare(0, text_.size(), text_) == 0;
    case Kind::pattern:
        return compiled_ && !regexec(&expression_, url.c_str(), 0, nullptr, 0);
    }
    return false;
}

std::string
ClusterFs::UrlChoice::text() const
{
    const auto name = kind_ == Kind::url ? "url=" : kind_ == Kind::prefix ? "prefix=" : "pattern=";
    return name + printableText(text_);
}

std::string
ClusterFs::printableText(const std::string &text)
{
    std::string result;
    for (const auto c: text) {
        char code[8];
        snprintf(code, sizeof(code), "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
        const auto plain = c >= 0x20 && c < 0x7f && c != '\\';
        result += plain ? std::string(1, c) : code;
    }
    return result;
}

bool
ClusterFs::findStoredUrl(const char * const object, const size_t size, std::string &url)
{
    int total = 0;
    auto at = Store::SwapMetaPrefixSize;
    if (size < at || object[0] != Store::SwapMetaMagic)
        return false;
    memcpy(&total, object + sizeof(Store::SwapMetaMagic), sizeof(total));
    if (total < 0 || static_cast<size_t>(total) > size)
        return false;

    const auto end = static_cast<size_t>(total);
    int length = 0;
    while (at < end && end - at >= 1 + sizeof(length)) {
        const auto type = object[at];
        memcpy(&length, object + at + 1, sizeof(length));
        at += 1 + sizeof(length);
        if (length < 0 || static_cast<size_t>(length) > end - at)
            return false;
        if (type == Store::STORE_META_URL) {
            url.assign(object + at, strnlen(object + at, static_cast<size_t>(length))); // it ends with a NUL
            return true;
        }
        at += static_cast<size_t>(length);
    }
    return false;
}
