// SPDX-License-Identifier: GPL-2.0-or-later
/* From the text of a request to the ids and kinds that the tracker works with. */

#include "fs/cluster/learning/RequestText.h"

#include <initializer_list>

namespace {

using namespace ClusterFs;

char
lower(const char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// whether two texts are equal but for case; b is in lower case
bool
same(const std::string_view a, const std::string_view b)
{
    if (a.size() != b.size())
        return false;
    for (size_t i = 0; i < a.size(); ++i) {
        if (lower(a[i]) != b[i])
            return false;
    }
    return true;
}

bool
isOneOf(const std::string_view text, const std::initializer_list<std::string_view> words)
{
    for (const auto &word: words) {
        if (same(text, word))
            return true;
    }
    return false;
}

bool
contains(const std::string_view text, const std::string_view word)
{
    for (size_t i = 0; i + word.size() <= text.size(); ++i) {
        if (same(text.substr(i, word.size()), word))
            return true;
    }
    return false;
}

/// A 64-bit hash of bytes. Ids don't leave the process: the machine's byte order will do.
class TextHash
{
public:
    /// \param start a hash of bytes in front of these
    explicit TextHash(const uint64_t start): state_(start) {}

    void add(const char c) {
        word_ |= static_cast<uint64_t>(static_cast<unsigned char>(c)) << (8 * (count_ % 8));
        if (++count_ % 8 == 0)
            mixWord();
    }
    void add(std::string_view text) {
        while (count_ % 8 == 0 && text.size() >= sizeof(word_)) {
            memcpy(&word_, text.data(), sizeof(word_));
            mixWord();
            count_ += sizeof(word_);
            text.remove_prefix(sizeof(word_));
        }
        for (const auto c: text)
            add(c);
    }
    /// \returns the hash of all that was added so far; never 0
    uint64_t result() const {
        auto all = *this;
        all.mixWord();
        auto h = (all.state_ ^ count_) * 0x9fb21c651e98df25ULL;
        h = (h ^ h >> 32) * 0xd6e8feb86659fd93ULL;
        h ^= h >> 32;
        return h ? h : 1;
    }

private:
    void mixWord() {
        state_ = (state_ ^ word_) * 0xa0761d6478bd642fULL;
        state_ ^= state_ >> 31;
        word_ = 0;
    }

    uint64_t state_;
    uint64_t word_ = 0; ///< bytes that are not mixed in yet
    uint64_t count_ = 0; ///< of bytes
};

constexpr uint64_t hashStart = 0x636c757374657266ULL;

/// an absolute URL, taken apart
struct Url {
    std::string_view scheme;
    std::string_view host; ///< without a default port
    std::string_view path; ///< and query, without the leading / of the path
    bool valid = false;

    explicit Url(std::string_view text) {
        text = text.substr(0, text.find('#'));
        const auto colon = text.find("://");
        if (colon == text.npos || !colon || text.substr(0, colon).find_first_of("/?") != text.npos)
            return;
        scheme = text.substr(0, colon);
        text.remove_prefix(colon + 3);
        const auto hostEnd = text.find_first_of("/?");
        host = text.substr(0, hostEnd);
        if (hostEnd != text.npos)
            path = text.substr(hostEnd + (text[hostEnd] == '/' ? 1 : 0));
        if (const auto at = host.rfind('@'); at != host.npos)
            host.remove_prefix(at + 1);
        dropPort(same(scheme, "http") ? ":80" : same(scheme, "https") ? ":443" : ":");
        valid = !host.empty() && host.front() != ':';
    }

    /// \returns 0 for an invalid one
    uint64_t siteId() const {
        if (!valid)
            return 0;
        TextHash hash(hashStart);
        for (const auto c: scheme)
            hash.add(lower(c));
        hash.add(':');
        for (const auto c: host)
            hash.add(lower(c));
        return hash.result();
    }

    /// \param site the value of siteId()
    uint64_t id(const uint64_t site) const {
        if (path.empty() || !valid)
            return site;
        TextHash hash(site);
        hash.add(path);
        return hash.result();
    }

    /// the text behind the last dot of the path's last part; empty when there is no dot
    std::string_view extension() const {
        const auto whole = path.substr(0, path.find('?'));
        const auto slash = whole.rfind('/');
        const auto name = slash == whole.npos ? whole : whole.substr(slash + 1);
        const auto dot = name.rfind('.');
        return dot == name.npos ? std::string_view() : name.substr(dot + 1);
    }

    /// whether the path names a folder, or nothing at all
    bool isFolder() const {
        const auto whole = path.substr(0, path.find('?'));
        return whole.empty() || whole.back() == '/';
    }

private:
    void dropPort(const std::string_view port) {
        if (host.size() > port.size() && host.substr(host.size() - port.size()) == port)
            host.remove_suffix(port.size());
    }
};

/// the purpose of a request
struct Purpose {
    RequestKind kind = RequestKind::unknown;
    bool sheet = false;
};

constexpr Purpose aPage = { RequestKind::page, false };
constexpr Purpose aMember = { RequestKind::member, false };
constexpr Purpose aSheet = { RequestKind::member, true };

/// as modern browsers say it (Sec-Fetch-Dest, Sec-Fetch-Mode)
Purpose
purposeByFetch(const std::string_view destination, const std::string_view mode)
{
    if (same(destination, "document") || (destination.empty() && same(mode, "navigate")))
        return aPage;
    // frames are fetched because of a page, and have members themselves
    if (isOneOf(destination, {"style", "script", "xslt", "iframe", "frame", "fencedframe", "worker", "sharedworker"}))
        return aSheet;
    return aMember;
}

/// guessed from the end of the URL's path, and the types that the client accepts
Purpose
purposeByType(const Url &url, const std::string_view accept)
{
    const auto extension = url.extension();
    if (isOneOf(extension, {"css", "js", "mjs", "xsl"}))
        return aSheet;
    if (isOneOf(extension, {"png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "ico", "bmp", "apng", "woff", "woff2",
                            "ttf", "otf", "eot", "json", "map", "mp3", "mp4", "webm", "ogg", "m4a", "m4s", "ts",
                            "vtt", "swf"}))
        return aMember;
    if (contains(accept, "text/html")) {
        if (url.isFolder() || extension.empty() || isOneOf(extension, {"html", "htm", "xhtml", "shtml", "php", "asp",
                "aspx", "jsp", "cgi", "pl", "do"}))
            return aPage;
        return Purpose();
    }
    if (contains(accept, "text/css"))
        return aSheet;
    if (accept.size() > 6 && same(accept.substr(0, 6), "image/"))
        return aMember;
    const auto takesAll = accept.empty() || contains(accept, "*/*");
    if (takesAll && (url.isFolder() || isOneOf(extension, {"html", "htm", "xhtml", "shtml"})))
        return aPage;
    return Purpose();
}

} // namespace

void
ClusterFs::describe(const RequestText &text, Request &request)
{
    const Url url(text.url);
    request.site = url.siteId();
    request.url = url.id(request.site);

    const Url referer(text.referer);
    request.refererSite = referer.siteId();
    request.referer = referer.path.empty() ? 0 : referer.id(request.refererSite);

    const auto fetch = !text.destination.empty() || !text.mode.empty();
    const auto purpose = fetch ? purposeByFetch(text.destination, text.mode) : purposeByType(url, text.accept);
    request.kind = purpose.kind;
    request.sheet = purpose.sheet;
}

uint64_t
ClusterFs::urlId(const std::string_view url)
{
    const Url parts(url);
    return parts.id(parts.siteId());
}

uint64_t
ClusterFs::siteId(const std::string_view url)
{
    return Url(url).siteId();
}

uint64_t
ClusterFs::bytesId(const void *bytes, const size_t count)
{
    TextHash hash(hashStart);
    hash.add(std::string_view(static_cast<const char *>(bytes), count));
    return hash.result();
}
