// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "fs/cluster/squid/ObjectText.h"
#include "fs/cluster/squid/UrlChoice.h"

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
    return name + printable(text_);
}
