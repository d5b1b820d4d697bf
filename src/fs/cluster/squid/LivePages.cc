// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "anyp/Uri.h"
#include "base/TextException.h"
#include "comm/Connection.h"
#include "fs/cluster/squid/Convert.h"
#include "fs/cluster/squid/ForWorkers.h"
#include "fs/cluster/squid/LiveJob.h"
#include "fs/cluster/squid/LivePages.h"
#include "fs/cluster/squid/Metrics.h"
#include "fs/cluster/squid/ObjectText.h"
#include "fs/cluster/squid/PageStream.h"
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

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
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
                throw BadQuery{"'" + printable(text) + "' is not percent-encoded: write % as %25"};
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

std::unique_ptr<PageText>
find(const Query &query)
{
    const auto url = canonical(onlyValue(query, "url"));
    const auto key = keyOf(url, Http::METHOD_GET);
    const auto e = static_cast<const StoreEntry *>(hash_lookup(store_table, squidKey(key)));
    std::ostringstream os;
    os << "url: " << printable(url) << "\n"
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
           "flags: " << flagText(info.flags) << "\n";
    });
    return fixedText(os.str());
}

/// the cache_dir whose process was asked last to do something that goes on; nil when this process does it
SwapDir *asked = nullptr;

/// the job that runs now or ran last
std::unique_ptr<PageText>
job(const Query &)
{
    return asked ? asked->ask(Question::job) : fixedText(LiveJob::Report());
}

std::unique_ptr<PageText>
purge(const Query &query)
{
    if (query.count("stop"))
        return asked ? asked->ask(Question::stop) : fixedText(LiveJob::Stop());
    if (query.count("url")) {
        const auto url = canonical(onlyValue(query, "url"));
        uint64_t removed = 0;
        for (const auto method: {Http::METHOD_GET, Http::METHOD_HEAD}) // as Squid's PURGE
            removed += Purge::Remove(keyOf(url, method));
        return fixedText("job: purge " + UrlChoice(UrlChoice::Kind::url, url).text() + "\nobjects removed: " + std::to_string(removed) +
                     "\nstate: done\n");
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
    const auto error = LiveJob::Start(std::make_unique<Purge>(std::move(choice)));
    if (!error.empty())
        throw BadQuery{error};
    asked = nullptr;
    return job(query);
}

/// the cache_dir of a parameter dir=PATH, which may be left out where there is one only
SwapDir &
dirOf(const Query &query)
{
    const auto wanted = query.empty() ? std::string() : onlyValue(query, "dir");
    SwapDir *chosen = nullptr;
    unsigned count = 0;
    std::string paths;
    SwapDir::ForEach([&](SwapDir &dir) {
        ++count;
        paths += std::string(paths.empty() ? "" : ", ") + dir.path;
        if (query.empty() || wanted == dir.path)
            chosen = &dir;
    });
    if (query.empty() && count != 1)
        throw BadQuery{"there are several cache_dirs clusterfs: give one of " + paths + " by dir=PATH (the clusterfs tool: --dir)"};
    if (!chosen)
        throw BadQuery{"there is no cache_dir clusterfs " + printable(wanted) + "; there are: " + paths};
    return *chosen;
}

std::unique_ptr<PageText>
clear(const Query &query)
{
    (void)onlyValue(query, "dir"); // a clear has to name its victim
    if (const auto latest = LiveJob::Latest(); latest && !latest->over())
        throw BadQuery{LiveJob::busy};
    asked = &dirOf(query);
    return asked->ask(Question::clear);
}

std::unique_ptr<PageText>
map(const Query &query)
{
    return dirOf(query).ask(Question::map);
}

std::unique_ptr<PageText>
list(const Query &query)
{
    return dirOf(query).ask(Question::list);
}

/// the page for Prometheus, which comes from the processes of all cache_dirs
class AllMetrics final : public PageText
{
public:
    AllMetrics() {
        SwapDir::ForEach([this](SwapDir &dir) { parts_.push_back({dir.path, dir.ask(Question::metrics), ""}); });
    }

private:
    double work(std::string &text) override {
        for (auto &part: parts_) {
            if (!part.source->over())
                return part.source->go(part.text);
        }
        std::vector<std::string> pages;
        for (const auto &part: parts_) // one without an answer has a state all the same
            pages.push_back(part.text.compare(0, 1, "#") == 0 ? part.text : metricsText({{part.path, {}}}));
        text += mergedMetrics(pages);
        end();
        return 0;
    }

    struct Part {
        std::string path;
        std::unique_ptr<PageText> source;
        std::string text;
    };
    std::vector<Part> parts_; ///< of each cache_dir
};

std::unique_ptr<PageText>
metrics(const Query &)
{
    return std::make_unique<AllMetrics>();
}

/// a page
struct Page {
    const char *name;
    const char *title;
    std::unique_ptr<PageText> (*begin)(const Query &); ///< \throws BadQuery
    bool secret; ///< needs a password: it changes something, or shows the URLs of all users
};

const Page pages[] = {
    {"clusterfs_find", "Whether the Clustered Store has a URL", &find, false},
    {"clusterfs_list", "Objects of the Clustered Store", &list, true},
    {"clusterfs_map", "Map of the Clustered Store", &map, false},
    {"clusterfs_job", "Progress of a Purge or Clear of the Clustered Store", &job, false},
    {"clusterfs_purge", "Remove URLs from Memory and the Clustered Store", &purge, true},
    {"clusterfs_clear", "Remove all Objects of a Clustered Store", &clear, true},
    {"clusterfs_metrics", "Clustered Store Statistics for Prometheus", &metrics, false},
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

/// Whether this process answers: of several workers it is the first one, since the owners of cache_dirs do not know what Squid's other
/// caches have.
bool
answers()
{
    auto shared = false;
    auto home = false;
    SwapDir::ForEach([&](const SwapDir &dir) {
        shared = shared || dir.disker >= 0;
        home = home || dir.isHome();
    });
    return shared ? IamWorkerProcess() && KidIdentifier == 1 : home;
}

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
    const auto page = std::find_if(std::begin(pages), std::end(pages), [this](const Page &p) { return !strcmp(p.name, name()); });
    std::unique_ptr<PageText> text;
    try {
        text = answers() ? page->begin(queryOf(command().params.httpUri.termedBuf())) : fixedText("");
    } catch (const BadQuery &bad) {
        text = refusal(bad.why);
    }
    PageStream::Start(entry, std::move(text));
}

} // namespace
} // namespace ClusterFs

void
ClusterFs::registerLivePages()
{
    for (const auto &page: pages)
        Mgr::RegisterAction(page.name, page.title, &LiveAction::Create, page.secret, false);
}
