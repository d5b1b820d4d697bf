// SPDX-License-Identifier: GPL-2.0-or-later
/* Browsers for the tests of the tracker. */

#ifndef SQUID_TEST_SUITE_UNIT_LEARNING_TRACKERSUPPORT_H
#define SQUID_TEST_SUITE_UNIT_LEARNING_TRACKERSUPPORT_H

#include "fs/cluster/learning/RequestText.h"
#include "fs/cluster/learning/Tracker.h"

#include <gtest/gtest.h>

#include <string>
#include <unordered_map>
#include <vector>

namespace ClusterFs {
namespace Testing {

constexpr uint64_t second = 1000000;

using Names = std::vector<std::string>;

/// the key of an object of this URL; its first bytes are as good as random
inline Key
keyOf(const std::string &url)
{
    Key key;
    const uint64_t halves[] = { urlId("http://key/" + url), urlId("http://yek/" + url) };
    memcpy(key.bytes.data(), halves, sizeof(halves));
    return key;
}

/// a tracker and its clock; a request takes 10 ms
struct World {
    explicit World(const uint64_t bytes = 4 << 20): tracker(bytes) {}

    void wait(const uint64_t micros) { now += micros; }

    /// a request with the headers of a modern browser
    void fetch(const uint64_t client, const std::string &url, const std::string &referer, const char *destination) {
        RequestText text;
        text.url = url;
        text.referer = referer;
        text.destination = destination;
        Request r;
        describe(text, r);
        note(client, url, r);
    }
    void open(const uint64_t client, const std::string &url) { fetch(client, url, "", "document"); }
    void image(const uint64_t client, const std::string &url, const std::string &referer) { fetch(client, url, referer, "image"); }

    /// a request without any headers
    void plain(const uint64_t client, const std::string &url, const RequestKind kind = RequestKind::unknown) {
        Request r;
        r.url = urlId(url);
        r.site = siteId(url);
        r.kind = kind;
        note(client, url, r);
    }

    void note(const uint64_t client, const std::string &url, Request &r) {
        r.client = client;
        r.key = keyOf(url);
        tracker.note(r, now);
        now += 10000;
        remember(url);
    }

    /// a visit of a page, then a minute of peace
    void visit(const uint64_t client, const std::string &page, const Names &members) {
        open(client, page);
        for (const auto &m: members)
            image(client, m, page);
        wait(60 * second);
    }

    /// the URLs of an object's group
    Names group(const std::string &url, const size_t most = 1000) const {
        std::vector<Key> keys;
        tracker.groupOf(keyOf(url), keys, most);
        Names names;
        for (const auto &k: keys)
            names.push_back(nameOf(k));
        return names;
    }

    void remember(const std::string &url) { known[keyOf(url)] = url; }
    std::string nameOf(const Key &k) const {
        const auto found = known.find(k);
        return found == known.end() ? "?" : found->second;
    }

    Tracker tracker;
    uint64_t now = 1000 * second;
    std::unordered_map<Key, std::string, KeyHash> known; ///< URLs that were asked for
};

/// N names that begin alike
inline Names
series(const std::string &start, const int count)
{
    Names names;
    for (int i = 0; i < count; ++i)
        names.push_back(start + std::to_string(i));
    return names;
}

} // namespace Testing
} // namespace ClusterFs

#endif
