// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "anyp/Uri.h"
#include "base/TextException.h"
#include "comm/Connection.h"
#include "fs/cluster/squid/Clear.h"
#include "fs/cluster/squid/Convert.h"
#include "fs/cluster/squid/LivePages.h"
#include "fs/cluster/squid/Purge.h"
#include "fs/cluster/squid/SwapDir.h"
#include "globals.h"
#include "hash.h"
#include "http/RequestMethod.h"
#include "ipc/RequestId.h"
#include "ipc/UdsOp.h"
#include "mgr/Action.h"
#include "mgr/Command.h"
#include "mgr/Filler.h"
#include "mgr/Registration.h"
#include "mgr/Request.h"
#include "Store.h"
#include "store_key_md5.h"
#include "tools.h"

#include <map>
#include <sstream>

namespace ClusterFs {
namespace {

/// what is wrong with a request for a page
struct BadQuery {
    std::string why;
};

using Query = std::map<std::string, std::string>;

int
hexDigit(const char c)
{
    const auto lower = static_cast<char>(tolower(static_cast<unsigned char>(c)));
    return isdigit(static_cast<unsigned char>(c)) ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// \throws BadQuery when the text is not percent-encoded, or has a NUL
std::string
decoded(const std::string &text)
{
    std::string result;
    for (size_t i = 0; i < text.size(); ++i) {
        auto c = text[i];
        if (c == '%') {
            const auto high = i + 2 < text.size() ? hexDigit(text[i + 1]) : -1;
            const auto low = high < 0 ? -1 : hexDigit(text[i + 2]);
            if (low < 0)
                throw BadQuery{"'" + printableText(text) + "' is not percent-encoded: write % as %25"};
            c = static_cast<char>(high * 16 + low);
            i += 2;
        }
        if (!c)
            throw BadQuery{"a value has the character NUL"};
        result += c;
    }
    return result;
}

/// the parameters of a page's URL
Query
queryOf(const std::string &uri)
{
    Query query;
    const auto mark = uri.find('?');
    if (mark == std::string::npos)
        return query;
    std::istringstream all(uri.substr(mark + 1, uri.find('#', mark) - mark - 1));
    for (std::string part; std::getline(all, part, '&'); ) {
        const auto equals = part.find('=');
        if (equals != std::string::npos) // Squid has refused others
            query[part.substr(0, equals)] = decoded(part.substr(equals + 1));
    }
    return query;
}

/// the value of the only parameter that there may be
const std::string &
onlyValue(const Query &query, const std::string &name)
{
    if (query.size() != 1 || query.begin()->first != name || query.begin()->second.empty())
        throw BadQuery{"give " + name + "=VALUE, percent-encoded, and nothing else"};
    return query.begin()->second;
}

/// a URL in the form in which Squid names its objects, if it is one; a store_id_program may name them otherwise
std::string
canonical(const std::string &url)
{
    AnyP::Uri uri;
    if (!uri.parse(HttpRequestMethod(Http::METHOD_GET), SBuf(url.c_str())))
        return url;
    auto absolute = uri.absolute();
    return std::string(absolute.rawContent(), absolute.length());
}

Key
keyOf(const std::string &url, const Http::MethodType method)
{
    return ClusterFs::keyOf(storeKeyPublic(url.c_str(), HttpRequestMethod(method)));
}

std::string
flagNames(const uint8_t flags)
{
    // as clusterfs dump has them
    static const struct {
        uint8_t flag;
        const char *name;
    } names[] = {
        {flagRevalidateAlways, "revalidate-always"},
        {flagRevalidateStale, "revalidate-stale"},
        {flagNegative, "negative"},
        {flagBadLength, "bad-length"},
        {flagDoubtful, "doubtful"},
        {flagParted, "parted"},
    };
    std::string text;
    for (const auto &n: names) {
        if (flags & n.flag)
            text += (text.empty() ? "" : ",") + std::string(n.name);
    }
    return text.empty() ? "-" : text;
}

std::string
find(const Query &query)
{
    const auto url = canonical(onlyValue(query, "url"));
    const auto key = keyOf(url, Http::METHOD_GET);
    const auto e = static_cast<const StoreEntry *>(hash_lookup(store_table, squidKey(key)));
    std::ostringstream os;
    os << "url: " << printableText(url) << "\n"
       "key: " << key.hex() << "\n"
       "in memory: " << (e && e->mem_status == IN_MEMORY ? "yes" : "no") << "\n";
    SwapDir::ForEach([&](const SwapDir &dir) {
        ObjectInfo info;
        if (!dir.peekObject(key, info))
            return;
        os << "cache_dir: " << dir.path << "\n"
           "size: " << info.size << "\n"
           "timestamp: " << info.timestamp << "\n"
           "expires: " << info.expires << "\n"
           "last modified: " << info.lastModified << "\n"
           "flags: " << flagNames(info.flags) << "\n";
    });
    return os.str();
}

/// the job that runs now or ran last
std::string
job(const Query &)
{
    const auto latest = LiveJob::Latest();
    return latest ? latest->report() : "job: none\n";
}

/// starts a job
std::string
start(std::unique_ptr<LiveJob> wanted)
{
    const auto error = LiveJob::Start(std::move(wanted));
    if (!error.empty())
        throw BadQuery{error};
    return job(Query());
}

std::string
purge(const Query &query)
{
    if (query.count("stop")) {
        if (const auto latest = LiveJob::Latest())
            latest->stop();
        return job(query);
    }
    if (query.count("url")) {
        const auto url = canonical(onlyValue(query, "url"));
        uint64_t removed = 0;
        for (const auto method: {Http::METHOD_GET, Http::METHOD_HEAD}) // as Squid's PURGE
            removed += Purge::Remove(keyOf(url, method));
        return "job: purge " + UrlChoice(UrlChoice::Kind::url, url).text() + "\nobjects removed: " + std::to_string(removed) + "\nstate: done\n";
    }
    static const std::map<std::string, UrlChoice::Kind> kinds = {
        {"all", UrlChoice::Kind::url}, {"prefix", UrlChoice::Kind::prefix}, {"pattern", UrlChoice::Kind::pattern}
    };
    const auto kind = query.size() == 1 ? kinds.find(query.begin()->first) : kinds.end();
    if (kind == kinds.end())
        throw BadQuery{"give one of url=URL, all=URL, prefix=TEXT, pattern=REGEX and stop=yes, percent-encoded"};
    const auto text = query.begin()->second;
    auto choice = std::make_unique<UrlChoice>(kind->second, kind->second == UrlChoice::Kind::url ? canonical(text) : text);
    if (!choice->error().empty())
        throw BadQuery{choice->text() + ": " + choice->error()};
    return start(std::make_unique<Purge>(std::move(choice)));
}

std::string
clear(const Query &query)
{
    const auto &path = onlyValue(query, "dir");
    SwapDir *chosen = nullptr;
    std::string paths;
    SwapDir::ForEach([&](SwapDir &dir) {
        paths += std::string(paths.empty() ? "" : ", ") + dir.path;
        if (path == dir.path)
            chosen = &dir;
    });
    if (!chosen)
        throw BadQuery{"there is no cache_dir clusterfs " + printableText(path) + "; there are: " + paths};
    if (!chosen->serving())
        throw BadQuery{"cache_dir " + path + " is " + chosen->stateText() + ", or is being cleared already"};
    return start(std::make_unique<Clear>(*chosen));
}

/// a page
struct Page {
    const char *name;
    const char *title;
    std::string (*write)(const Query &); ///< \returns the text, \throws BadQuery
    bool changes; ///< needs a password
};

const Page pages[] = {
    {"clusterfs_find", "Whether the Clustered Store has a URL", &find, false},
    {"clusterfs_job", "Progress of a Purge or Clear of the Clustered Store", &job, false},
    {"clusterfs_purge", "Remove URLs from Memory and the Clustered Store", &purge, true},
    {"clusterfs_clear", "Remove all Objects of a Clustered Store", &clear, true},
};

/// writes one of the pages
class LiveAction: public Mgr::Action
{
public:
    explicit LiveAction(const Mgr::CommandPointer &command): Mgr::Action(command) {}

    static Mgr::ActionPointer Create(const Mgr::CommandPointer &command) { return new LiveAction(command); }

    /* Mgr::Action API */
    bool aggregatable() const override { return false; }
    void respond(const Mgr::Request &) override;

protected:
    void dump(StoreEntry *) override;
};

/// sends the page from this process, when Squid has several; as Mgr::FunAction does
void
LiveAction::respond(const Mgr::Request &request)
{
    Ipc::ImportFdIntoComm(request.conn, SOCK_STREAM, IPPROTO_TCP, Ipc::fdnHttpSocket);
    Must(Comm::IsConnOpen(request.conn));
    Must(request.requestId != 0);
    AsyncJob::Start(new Mgr::Filler(this, request.conn, request.requestId));
}

void
LiveAction::dump(StoreEntry * const entry)
{
    auto ours = false;
    SwapDir::ForEach([&ours](const SwapDir &dir) {
        ours = ours || dir.active();
    });
    if (!ours)
        return; // a disker or the coordinator
    std::string text;
    try {
        for (const auto &page: pages) {
            if (!strcmp(page.name, name()))
                text = page.write(queryOf(command().params.httpUri.termedBuf()));
        }
    } catch (const BadQuery &bad) {
        text = "error: " + bad.why + "\n";
    }
    entry->append(text.data(), static_cast<int>(text.size()));
}

} // namespace
} // namespace ClusterFs

void
ClusterFs::registerLivePages()
{
    for (const auto &page: pages)
        Mgr::RegisterAction(page.name, page.title, &LiveAction::Create, page.changes ? 1 : 0, 1);
}
