// SPDX-License-Identifier: GPL-2.0-or-later
/* Learns which objects are fetched together. */

#ifndef SQUID_SRC_FS_CLUSTER_LEARNING_TRACKER_H
#define SQUID_SRC_FS_CLUSTER_LEARNING_TRACKER_H

#include "fs/cluster/api/Request.h"
#include "fs/cluster/api/TrackerStats.h"
#include "fs/cluster/learning/Clients.h"
#include "fs/cluster/learning/GroupArchive.h"
#include "fs/cluster/learning/NumberedGroups.h"

#include <vector>

namespace ClusterFs {

/// Watches requests and answers which group an object belongs to: a page with the
/// objects that it embeds, the objects that pages of a site share, or objects that
/// follow each other without any document. These are the locality sets of
/// Hummingbird (section 2.1), learned instead of told by the proxy.
///
/// A request belongs to the page that its Referer names; if the Referer has only a
/// site, to the client's most recent page of that site; without a Referer, to the
/// page that the client is loading. Nothing is allocated after the constructor, and
/// the same calls give the same answers. One thread makes all calls.
class Tracker
{
public:
    /// \param bytes memory limit for everything; fewer than 64 KB count as 64 KB
    /// \param seed a number that clients can't know, so that they can't choose URLs
    /// that make look-ups slow
    /// \throws std::bad_alloc when the address space is exhausted
    explicit Tracker(uint64_t bytes, uint64_t seed = 0);

    /// Notes a request. Its look-up, its hit and its store are all noted, so the
    /// same request may come two or three times within moments.
    /// \param micros now, of a clock that never steps
    /// \returns the name of the page that it opened, 0 when it opened none
    uint64_t note(const Request &, uint64_t micros);

    /// Replaces out with the keys of the group that an object belongs to,
    /// leader first, then in the order in which they first were fetched, those
    /// that came in more than one visit before the others; empty when it has none,
    /// or is alone in it. The leader may be missing, when it is not in the store.
    /// An object of several pages is in the group of one: its home. One that three
    /// pages or more share is in the group of their site's shared objects. Of a numbered group, those that are near the object.
    /// \param most keys in out
    void groupOf(const Key &object, std::vector<Key> &out, size_t most) const;

    /// Replaces out with the keys of the objects that a page's last visit wanted, its document
    /// first, whatever group they are at home in. An object may come twice.
    /// \param page a name that note() returned
    /// \param most keys in out
    void wantedBy(uint64_t page, std::vector<Key> &out, size_t most) const { groups_.listWanted(page, out, most); }

    /// Appends the keys of objects that an object's group wants, and other groups, too; none of a numbered group.
    /// \param most keys in out
    void sharedOf(const Key &object, std::vector<Key> &out, const size_t most) const {
        if (!numbered_.groupOf(object))
            groups_.listShared(object, out, most);
    }

    /// \returns the number of the group that groupOf() would list, 0 when there is none
    uint64_t groupNumber(const Key &object) const;

    /// whether an object is at home in the group that a site's pages share
    bool isShared(const Key &object) const { return !numbered_.groupOf(object) && table_.isShared(table_.find(object)); }

    /// Whether an object was fetched last as a guest: with another group than its
    /// home, with which it most likely lies on the device.
    /// \param company receives the members of that other group, even those that are at home elsewhere
    /// \param most keys in company
    bool isGuest(const Key &object, std::vector<Key> &company, size_t most) const {
        return !numbered_.groupOf(object) && groups_.isGuest(object, company, most);
    }

    /// Whether an object is wanted with others than its neighbours on the device: as a guest, or as an
    /// object that many pages share.
    /// \param company receives the keys of those others
    /// \param most keys in company
    bool companyOf(const Key &, std::vector<Key> &company, size_t most) const;

    /// Hummingbird's collocate_files() (section 3.3): from now on the members are
    /// at home with the leader, whatever is learned, until room is needed for
    /// others. Keys beyond Groups::maxMembers are ignored.
    void collocate(const Key &leader, const std::vector<Key> &members);

    /// The groups that the caller numbers. An object that is in one of them is in no other group.
    NumberedGroups &numbered() { return numbered_; }
    const NumberedGroups &numbered() const { return numbered_; }

    /// Appends records of groups for the next run: of those that have two objects or more in the
    /// store. One call takes less than a millisecond.
    /// \param at where to go on, 0 = at the beginning; receives where to go on next
    /// \param kept whether an object is in the store
    /// \param bytes that all records in out may have
    /// \returns all: there are no more; some: call again; full: the next group has no room
    SavedGroups::Saved save(uint32_t &at, const std::function<bool(const Key &)> &kept, size_t bytes, std::vector<SavedGroups::GroupRecord> &out);

    /// Takes back a record of an earlier run. It changes nothing that this run has learned, and
    /// nothing is forgotten for it.
    /// \returns false when there is no room for any more
    bool restore(const SavedGroups::GroupRecord &);

    TrackerStats stats() const;

private:
    uint64_t openPage(const Request &, uint32_t object, uint32_t client, uint64_t micros);
    uint32_t pageByReferer(const Request &, uint32_t client, uint64_t micros);
    uint32_t pageOfSheet(uint32_t sheet, uint32_t client, uint64_t micros) const;
    uint32_t pageByOrigin(const Request &, uint32_t client);
    void follow(uint32_t object, uint32_t client, uint64_t micros);
    void chain(uint32_t before, uint32_t object, uint32_t client, uint64_t micros);
    void enter(uint32_t client, uint32_t group, uint64_t micros);

    GroupTable table_;
    Groups groups_;
    GroupArchive archive_;
    Clients clients_;
    NumberedGroups numbered_;
};

} // namespace ClusterFs

#endif
