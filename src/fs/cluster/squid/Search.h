// SPDX-License-Identifier: GPL-2.0-or-later
/* Our part of Store::Root().search(). */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_SEARCH_H
#define SQUID_SRC_FS_CLUSTER_SQUID_SEARCH_H

#include "fs/cluster/base/Types.h"
#include "StoreSearch.h"

namespace ClusterFs {

/// Walks the objects of all our cache_dirs that can list them (list=on), and leaves
/// out those that have an entry in store_table. Objects that come or go meanwhile
/// may be missed.
class Search: public StoreSearch
{
public:
    /// for Store::AddSearch(); \returns nil while the core validates its index
    static StoreSearch *Make();

    /* StoreSearch API */
    void next(void (callback)(void *cbdata), void *cbdata) override;
    bool next() override; ///< false means "not yet" unless isDone()
    bool error() const override { return false; }
    bool isDone() const override { return done_; }
    /// The search owns the entry. It is in no table and attached to nothing; callers
    /// may only look at it, until they call next().
    StoreEntry *currentItem() override { return found_ ? &entry_ : nullptr; }

private:
    /// The core calls next() while it returns true, for a digest up to millions of
    /// times in one event. After so many records we say "not yet".
    static constexpr unsigned maxLooks = 2000;

    bool findNext();
    void fill(int dirIndex, const ObjectInfo &);

    StoreEntry entry_;
    Key key_; ///< entry_.key points to it
    size_t dir_ = 0; ///< index of the cache_dir that is being walked
    uint64_t cursor_ = 0; ///< in that cache_dir, see Engine::next()
    bool found_ = false; ///< entry_ is valid
    unsigned looks_ = maxLooks; ///< records that may be looked at until next() says "not yet"
    bool done_ = false; ///< all cache_dirs are walked
};

} // namespace ClusterFs

#endif
