// SPDX-License-Identifier: GPL-2.0-or-later
/* Learns which objects are fetched together. */

#ifndef SQUID_SRC_FS_CLUSTER_LEARNING_TRACKER_H
#define SQUID_SRC_FS_CLUSTER_LEARNING_TRACKER_H

#include "fs/cluster/api/Request.h"
#include "fs/cluster/api/TrackerStats.h"
#include "fs/cluster/learning/Clients.h"
#include "fs/cluster/learning/GroupArchive.h"

#include <vector>

namespace ClusterFs {

/// Watches requests and answers which group an object belongs to: a page with
/// what it embeds, what the pages of a site share, or what follows each other
/// without any document.
///
/// A request is of the page that its Referer names; of the client's most recent
/// page of a site, when the Referer has just the site; without a Referer, of the
/// page that the client is loading. Nothing is allocated after the constructor,
/// and the same calls give the same answers.
class Tracker
{
public:
    /// \param bytes memory limit for everything; below 64 KB it is taken for that
    /// \param seed any number that clients can't know: keeps them from choosing
    /// URLs that make look-ups slow
    /// \throws std::bad_alloc when the address space is exhausted
    explicit Tracker(uint64_t bytes, uint64_t seed = 0);

    /// One request; called for lookups, hits and stores, so the same request
    /// may come two or three times within moments.
    /// \param micros of a clock that never steps
    /// \returns the page that it opened, 0 when it opened none
    uint64_t note(const Request &, uint64_t micros);

    /// Replaces out with the keys of the group that an object belongs to,
    /// container first, then in the order in which they first were fetched, those
    /// that came in more than one visit before the others; empty when it has none,
    /// or is alone in it. The container may be missing, when it is not in the store.
    /// An object of several pages is in the group of one: its home. One that three
    /// pages or more share is in the group of their site's shared objects.
    /// \param most keys at most
    void groupOf(const Key &object, std::vector<Key> &out, size_t most) const { groups_.list(object, out, most); }

    /// Replaces out with the keys of what a page's last visit has wanted, its document
    /// first, whatever group they are in. An object may come twice.
    /// \param page what note() has returned
    /// \param most keys at most
    void wantedBy(uint64_t page, std::vector<Key> &out, size_t most) const { groups_.listWanted(page, out, most); }

    /// \returns the number of the group that groupOf() would list, 0 when there is none
    uint64_t groupNumber(const Key &object) const { return groups_.numberFor(object); }

    /// whether an object belongs to no page in particular, since many share it
    bool isShared(const Key &object) const { return table_.isShared(table_.find(object)); }

    /// Whether an object was fetched last as a guest: with another group than the
    /// one that it is at home in, and most likely lies on the device with.
    /// \param company receives the members of that group, guests included
    /// \param most keys at most
    bool isGuest(const Key &object, std::vector<Key> &company, size_t most) const {
        return groups_.isGuest(object, company, most);
    }

    /// Whether an object is wanted with others than those that it is at home with, and most likely
    /// lies on the device with: as a guest, or as what many pages share.
    /// \param company receives the keys of those others
    /// \param most keys at most
    bool companyOf(const Key &, std::vector<Key> &company, size_t most) const;

    /// Hummingbird's call: from now on the members are at home with the leader,
    /// whatever is learned, until room is needed for others. Keys beyond
    /// Groups::maxMembers are ignored.
    void collocate(const Key &leader, const std::vector<Key> &members);

    /// Damelo's call: puts an object into the group that its caller numbers so,
    /// as collocate() does.
    void assign(uint64_t group, const Key &object);

    /// replaces out with the members of a numbered group, as groupOf() would list them
    void membersOf(uint64_t group, std::vector<Key> &out, size_t most) const { table_.list(table_.find(NameOf(group)), out, most); }

    /// \returns what groupNumber() says of the members of a numbered group
    static uint64_t NameOf(uint64_t group);

    /// Appends what is known of groups, for the next run: those with two objects or more
    /// that are still there.
    /// \param at where to go on, 0 = at the beginning
    /// \param kept whether an object is still there
    /// \param bytes that all the records may have
    SavedGroups::Saved save(uint32_t &at, const std::function<bool(const Key &)> &kept, const size_t bytes,
                           std::vector<SavedGroups::GroupRecord> &out) const { return archive_.save(at, kept, bytes, out); }

    /// Takes back what an earlier run has saved. What was learned since counts more, and
    /// nothing is forgotten for it.
    /// \returns false when there is no room for any more
    bool restore(const SavedGroups::GroupRecord &record) { return archive_.restore(record); }

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
};

} // namespace ClusterFs

#endif
