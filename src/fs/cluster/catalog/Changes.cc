// SPDX-License-Identifier: GPL-2.0-or-later
/* Noting changes. */

#include "fs/cluster/catalog/Changes.h"

#include <cstring>

ClusterFs::Changes::Changes(const uint32_t clusters):
    count_(clusters),
    bits_{Bits(clusters), Bits(clusters)}
{
}

void
ClusterFs::Changes::Bits::clear()
{
    for (size_t page = 0; page < pages_.size(); ++page) {
        if (!pages_[page])
            continue;
        const auto at = page * pageWords;
        memset(&words_[at], 0, (end(page) - at) * sizeof(uint64_t));
        pages_[page] = 0;
    }
}

void
ClusterFs::Changes::Bits::add(const Bits &more)
{
    for (size_t page = 0; page < pages_.size(); ++page) {
        if (!more.pages_[page])
            continue;
        for (auto i = page * pageWords; i < more.end(page); ++i)
            words_[i] |= more.words_[i];
        pages_[page] = 1;
    }
}

void
ClusterFs::Changes::gone(const ClusterNo n, const uint32_t offset)
{
    any_ = true;
    if (now().get(n))
        return; // the cluster is named anew, without it
    if (gone_.size() < maxGone)
        gone_.push_back({n, offset});
    else
        cluster(n);
}

void
ClusterFs::Changes::updated(const HashedKey k, const ClusterNo n)
{
    any_ = true;
    if (now().get(n))
        return;
    if (updated_.size() < maxUpdated)
        updated_.push_back(k);
    else
        cluster(n);
}

void
ClusterFs::Changes::used(const HashedKey k)
{
    if (used_.size() < maxUsed)
        used_.push_back(k);
}

void
ClusterFs::Changes::begin()
{
    now_ = 1 - now_; // the other map was cleared by done()
    goneBefore_.swap(gone_);
    updatedBefore_.swap(updated_);
    usedBefore_.swap(used_);
    collectsAll_ = all_;
    any_ = all_ = false;
}

void
ClusterFs::Changes::done()
{
    before().clear();
    goneBefore_.clear();
    updatedBefore_.clear();
    usedBefore_.clear();
    collectsAll_ = false;
}

void
ClusterFs::Changes::failed()
{
    now().add(before());
    all_ = all_ || collectsAll_;
    for (const auto &g: goneBefore_)
        gone(g.cluster, g.offset);
    if (updated_.size() + updatedBefore_.size() <= maxUpdated)
        updated_.insert(updated_.end(), updatedBefore_.begin(), updatedBefore_.end());
    else
        all_ = true; // the clusters of these objects are not known here
    for (const auto &k: usedBefore_)
        used(k);
    any_ = true;
    done();
}

ClusterFs::ClusterNo
ClusterFs::Changes::next(ClusterNo &from, unsigned &looks) const
{
    auto at = from.value();
    auto found = noCluster;
    while (found == noCluster && at < count_ && looks) {
        --looks;
        const auto word = before().page(at) ? before().from(at) : 0;
        if (word) {
            found = ClusterNo(at + static_cast<uint32_t>(__builtin_ctzll(word)));
            at = found.value() + 1;
        } else {
            const auto unit = before().page(at) ? Bits::wordBits : Bits::pageBits;
            at = (at / unit + 1) * unit;
        }
    }
    from = ClusterNo(at);
    return found;
}
