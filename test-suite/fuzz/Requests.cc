// SPDX-License-Identifier: GPL-2.0-or-later
/* Texts of requests as clients send them, one request a line, its parts separated by tabs:
 * URL, Referer, Sec-Fetch-Dest, Sec-Fetch-Mode, Accept, User-Agent. */

#include "test-suite/fuzz/Target.h"

#include "fs/cluster/learning/RequestText.h"
#include "fs/cluster/learning/Tracker.h"

#include <cctype>
#include <set>

using namespace ClusterFs;

namespace Fuzz {
namespace {

constexpr uint64_t trackerBytes = 64 * 1024;
constexpr size_t maxRequests = 200;

/// the same in memory of its own, so that AddressSanitizer sees each access beyond it
struct Field {
    explicit Field(const std::string &text): bytes(text.begin(), text.end()) {}
    std::string_view view() const { return {bytes.data(), bytes.size()}; }
    const std::vector<char> bytes;
};

std::vector<std::string>
split(const std::string &text, const char separator)
{
    std::vector<std::string> parts;
    for (size_t at = 0; at <= text.size();) {
        const auto end = std::min(text.find(separator, at), text.size());
        parts.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

/// other texts for the same URL
void
checkUrl(const std::string &url)
{
    const auto id = urlId(Field(url).view());
    const auto site = siteId(Field(url).view());
    require((id == 0) == (site == 0), "a URL has a site");
    require(urlId(url + "#part") == id, "a fragment makes no difference");
    const auto host = url.find("://");
    if (host == url.npos)
        return;
    const auto hostEnd = std::min(url.find_first_of("/?#", host + 3), url.size());
    auto other = url;
    for (size_t i = 0; i < hostEnd; ++i) {
        const auto c = static_cast<unsigned char>(url[i]);
        if (c < 0x80)
            other[i] = static_cast<char>(isupper(c) ? tolower(c) : toupper(c));
    }
    require(urlId(other) == id && siteId(other) == site, "the case of scheme and host makes no difference");
    require(urlId(url.substr(0, hostEnd) + "/") == site, "a site's root is its id");
}

Request
checkRequest(const std::vector<std::string> &parts)
{
    const Field url(parts[0]), referer(parts[1]), destination(parts[2]), mode(parts[3]), accept(parts[4]);
    RequestText text;
    text.url = url.view();
    text.referer = referer.view();
    text.destination = destination.view();
    text.mode = mode.view();
    text.accept = accept.view();
    Request r;
    describe(text, r);
    require(r.url == urlId(text.url) && r.site == siteId(text.url), "a request has the ids of its URL");
    require(r.refererSite == siteId(text.referer), "a request has the site of its Referer");
    require(r.referer == 0 || r.referer == urlId(text.referer), "a request has its Referer or none");
    require(!r.sheet || r.kind == RequestKind::member, "a style sheet is a member");
    require(r.key == Key() && r.client == 0, "what is not in the text stays");
    return r;
}

void
checkGroup(const Tracker &tracker, const Key &key)
{
    std::vector<Key> group;
    for (const size_t most: {size_t(1), size_t(Groups::maxMembers)}) {
        tracker.groupOf(key, group, most);
        require(group.size() <= most, "a group has as many as were asked for");
        std::set<std::string> different;
        for (const auto &member: group)
            different.insert(member.hex());
        require(different.size() == group.size(), "nothing is in a group twice");
    }
    tracker.isGuest(key, group, Groups::maxMembers);
}

void
run(Input in)
{
    const auto bytes = takeRest(in);
    Tracker tracker(trackerBytes);
    uint64_t now = 1;
    auto lines = split(std::string(bytes.begin(), bytes.end()), '\n');
    lines.resize(std::min(lines.size(), maxRequests));
    std::vector<Key> keys;
    for (const auto &line: lines) {
        auto parts = split(line, '\t');
        parts.resize(6);
        checkUrl(parts[0]);
        checkUrl(parts[1]);
        auto request = checkRequest(parts);
        request.client = bytesId(parts[5].data(), parts[5].size());
        require(request.client != 0, "bytes always have an id");
        // what is no URL has an object, too: only the proxy knows its key
        const uint64_t halves[] = {bytesId(line.data(), parts[0].size()), request.url};
        memcpy(request.key.bytes.data(), halves, sizeof(halves));
        keys.push_back(request.key);
        tracker.note(request, now);
        now += 1 + uint64_t(line.size()) * 100000;
    }
    for (const auto &key: keys)
        checkGroup(tracker, key);
    require(tracker.stats().bytes <= trackerBytes, "the tracker keeps to its memory");
}

std::vector<std::string>
seeds()
{
    const std::string page = "http://a/page\t\tdocument\tnavigate\ttext/html,*/*;q=0.8\tme\n";
    const std::string members = "http://a/x.css\thttp://a/page\tstyle\tno-cors\ttext/css\tme\n"
                                "http://b:81/f.woff2\thttp://a/x.css\tfont\tcors\t*/*\tme\n"
                                "http://a/i.png?q=1#f\thttp://a/\timage\tno-cors\timage/*\tme\n";
    return {page + members, page + members + page + members + "http://a/other\t\tdocument\tnavigate\t\tyou\n" + members,
            "http://a/1\nhttp://a/2\nhttp://a/1\nhttp://a/2\n", "HTTPS://User:Word@Host:443/Path?q=1#part\thttp://[::1]:80",
            "about:blank\tnonsense", "://\thttp://", "http://a/x.js\t\t\t\ttext/html", "http://a?b/c.png\thttp://:80/\tIFRAME\tNavigate"};
}

const Target target("requests", run, seeds);

} // namespace
} // namespace Fuzz
