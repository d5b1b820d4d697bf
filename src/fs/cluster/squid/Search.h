// SPDX-License-Identifier: GPL-2.0-or-later
/* What Store::Root().search() finds in our index. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_SEARCH_H
#define SQUID_SRC_FS_CLUSTER_SQUID_SEARCH_H

#include "fs/cluster/base/Types.h"
#include "StoreSearch.h"

namespace ClusterFs {

/// Walks the objects of all our cache_dirs that can list them, leaving out
/// those that store_table has an entry for. Objects that come or go meanwhile
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
    /// The entry is the search's own: in no table, attached to nothing, and
    /// only to be looked at, until the following next().
    StoreEntry *currentItem() override { return found_ ? &entry_ : nullptr; }

private:
    /// The core calls next() as long as it is true, for a digest up to millions
    /// of times in one event. After so many objects we say "not yet".
    static constexpr unsigned maxLooks = 2000;

    bool findNext();
    void fill(int dirIndex, const ObjectInfo &);

    StoreEntry entry_;
    Key key_; ///< what entry_.key points to
    size_t dir_ = 0; ///< the cache_dir being walked, counting all kinds
    uint64_t cursor_ = 0; ///< in that cache_dir
    bool found_ = false; ///< entry_ is valid
    unsigned looks_ = maxLooks; ///< left until the caller must do something else
    bool done_ = false;
};

} // namespace ClusterFs

#endif
