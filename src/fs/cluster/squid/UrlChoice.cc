// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "fs/cluster/squid/ObjectText.h"
#include "fs/cluster/squid/UrlChoice.h"

namespace {

std::string
nameOf(const ClusterFs::UrlChoice::Kind kind)
{
    using Kind = ClusterFs::UrlChoice::Kind;
    return kind == Kind::url ? "url" : kind == Kind::prefix ? "prefix" : "pattern";
}

} // namespace

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
ClusterFs::UrlChoice::spelled() const
{
    return nameOf(kind_) + ('=' + text_);
}

std::unique_ptr<ClusterFs::UrlChoice>
ClusterFs::UrlChoice::Parse(const std::string &spelled)
{
    const auto end = spelled.find('=');
    for (const auto kind: {Kind::url, Kind::prefix, Kind::pattern}) {
        if (end != std::string::npos && spelled.substr(0, end) == nameOf(kind))
            return std::make_unique<UrlChoice>(kind, spelled.substr(end + 1));
    }
    return nullptr;
}

std::string
ClusterFs::UrlChoice::text() const
{
    return nameOf(kind_) + ('=' + printable(text_));
}
