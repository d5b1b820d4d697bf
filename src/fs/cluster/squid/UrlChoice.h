// SPDX-License-Identifier: GPL-2.0-or-later
/* Which URLs a purge removes. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_URLCHOICE_H
#define SQUID_SRC_FS_CLUSTER_SQUID_URLCHOICE_H

#include <regex.h>

#include <memory>
#include <string>

namespace ClusterFs {

/// One URL, all URLs with a prefix, or all that a POSIX extended regular expression matches somewhere.
/// Case matters. The URL of an object is the one in its swap metadata: what a store_id_program made of it, if there is one.
class UrlChoice
{
public:
    enum class Kind { url, prefix, pattern };

    UrlChoice(Kind, const std::string &text);
    ~UrlChoice();
    UrlChoice(UrlChoice &&) = delete; // no copying or moving of any kind

    /// \returns why this chooses nothing: the text is empty, or no regular expression; else an empty text
    const std::string &error() const { return error_; }

    bool matches(const std::string &url) const;

    /// the choice as Parse() takes it
    std::string spelled() const;
    /// \returns nil when the text was not made by spelled()
    static std::unique_ptr<UrlChoice> Parse(const std::string &);

    /// the choice as a person would write it, such as prefix=http://a.example/; all of it printable
    std::string text() const;

private:
    const Kind kind_;
    const std::string text_;
    std::string error_;
    regex_t expression_ = regex_t();
    bool compiled_ = false; ///< expression_ has to be freed
};

} // namespace ClusterFs

#endif
