// SPDX-License-Identifier: GPL-2.0-or-later
/* A text for another process. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_TEXTREADER_H
#define SQUID_SRC_FS_CLUSTER_SQUID_TEXTREADER_H

#include "fs/cluster/api/Reader.h"
#include "fs/cluster/squid/EventWork.h"
#include "fs/cluster/squid/PageText.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace ClusterFs {

/// Makes a text while it is read, from its beginning to its end: what was copied is forgotten.
class TextReader final : public Reader, private EventWork
{
public:
    /// \param answered is called after an answer to fetch()
    TextReader(std::unique_ptr<PageText> text, std::function<void()> answered): text_(std::move(text)), answered_(std::move(answered)) {}
    ~TextReader() override { cancel(); }

    /* Reader */
    uint64_t size() const override { return begin_ + made_.size(); }
    int64_t copy(uint64_t offset, char *to, size_t size) override;
    void fetch(uint64_t offset, std::function<void(Status)> done) override;

private:
    void go() override;

    const std::unique_ptr<PageText> text_;
    const std::function<void()> answered_;
    std::string made_; ///< of the text
    uint64_t begin_ = 0; ///< offset of that in the text
    std::function<void(Status)> done_; ///< who waits
};

} // namespace ClusterFs

#endif
