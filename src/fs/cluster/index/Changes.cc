// SPDX-License-Identifier: GPL-2.0-or-later
/* Noting changes. */

#include "fs/cluster/index/Changes.h"

ClusterFs::Changes::Changes(const uint32_t clusters):
    count_(clusters),
    now_((clusters + wordBits - 1) / wordBits),
    before_((clusters + wordBits - 1) / wordBits)
{
}

void
ClusterFs::Changes::gone(const ClusterNo n, const uint32_t offset)
{
    any_ = true;
    if (get(now_, n))
        return; // the cluster is named anew, without it
    if (gone_.size() < goneMost)
        gone_.push_back({n, offset});
    else
        cluster(n);
}

void
ClusterFs::Changes::updated(const HashedKey k, const ClusterNo n)
{
    any_ = true;
    if (get(now_, n))
        return;
    if (updated_.size() < updatedMost)
        updated_.push_back(k);
    else
        cluster(n);
}

void
ClusterFs::Changes::used(const HashedKey k)
{
    if (used_.size() < usedMost)
        used_.push_back(k);
}

void
ClusterFs::Changes::begin()
{
    for (size_t i = 0; i < now_.count(); ++i) {
        before_[i] = now_[i];
        now_[i] = 0;
    }
    goneBefore_.swap(gone_);
    updatedBefore_.swap(updated_);
    usedBefore_.swap(used_);
    collectsAll_ = all_;
    any_ = all_ = false;
}

void
ClusterFs::Changes::done()
{
    for (size_t i = 0; i < before_.count(); ++i)
        before_[i] = 0;
    goneBefore_.clear();
    updatedBefore_.clear();
    usedBefore_.clear();
    collectsAll_ = false;
}

void
ClusterFs::Changes::failed()
{
    for (size_t i = 0; i < before_.count(); ++i)
        now_[i] |= before_[i];
    all_ = all_ || collectsAll_;
    for (const auto &g: goneBefore_)
        gone(g.cluster, g.offset);
    if (updated_.size() + updatedBefore_.size() <= updatedMost)
        updated_.insert(updated_.end(), updatedBefore_.begin(), updatedBefore_.end());
    else
        all_ = true; // of which clusters they are is not known here
    for (const auto &k: usedBefore_)
        used(k);
    any_ = true;
    done();
}

ClusterFs::ClusterNo
ClusterFs::Changes::next(ClusterNo &from, unsigned &looks) const
{
    while (from < count_ && looks) {
        --looks;
        const auto word = before_[from / wordBits] >> (from % wordBits);
        if (word) {
            from += static_cast<ClusterNo>(__builtin_ctzll(word));
            return from++;
        }
        from = (from / wordBits + 1) * wordBits;
    }
    return noCluster;
}
