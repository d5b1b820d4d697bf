// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "AccessLogEntry.h"
#include "base/CodeContext.h"
#include "fs/cluster/learning/RequestText.h"
#include "fs/cluster/squid/ClientRequest.h"
#include "fs/cluster/squid/ClientWaits.h"
#include "HttpRequest.h"
#include "MasterXaction.h"

#include <utility>

namespace {

/// an id of the client: its address and its browser, because many people may share an address
uint64_t
ClientId(const HttpRequest &request)
{
    struct in6_addr address;
#if FOLLOW_X_FORWARDED_FOR
    request.indirect_client_addr.getInAddr(address);
#else
    request.client_addr.getInAddr(address);
#endif
    const auto agent = request.header.getStr(Http::HdrType::USER_AGENT);
    return ClusterFs::bytesId(address.s6_addr, sizeof(address.s6_addr)) ^
           (agent ? ClusterFs::bytesId(agent, strlen(agent)) : 0);
}

/// the client request of a code context; nil when there is none, or one that is no GET or Squid's own
const AccessLogEntry *
GetOf(const CodeContext * const context)
{
    const auto ale = dynamic_cast<const AccessLogEntry*>(context);
    const auto get = ale && ale->request && ale->request->method == Http::METHOD_GET && !ale->request->flags.internal;
    return get ? ale : nullptr;
}

/// a header field that may be absent
std::string_view
ViewOf(const char * const text)
{
    return text ? std::string_view(text) : std::string_view();
}

} // namespace

uint64_t
ClusterFs::requestNumber()
{
    const auto context = CodeContext::Current();
    const auto ale = dynamic_cast<const AccessLogEntry*>(context.getRaw());
    return ale && ale->request && ale->request->masterXaction ? ale->request->masterXaction->id.value : 0;
}

bool
ClusterFs::isUndecided()
{
    return requestNumber() && dynamic_cast<const AccessLogEntry&>(*CodeContext::Current()).cache.code.oldType == LOG_TAG_NONE;
}

bool
ClusterFs::isPurge()
{
    const auto context = CodeContext::Current();
    const auto ale = dynamic_cast<const AccessLogEntry*>(context.getRaw());
    return ale && ale->request && ale->request->method == Http::METHOD_PURGE;
}

bool
ClusterFs::wantsHit()
{
    static uint64_t asked = 0; // the last request for which this was asked before it was decided
    const auto number = requestNumber();
    if (isUndecided())
        asked = number;
    return number && number == asked && !isPurge() &&
           !dynamic_cast<const AccessLogEntry&>(*CodeContext::Current()).request->flags.noCache;
}

bool
ClusterFs::isNewRequest()
{
    static uint64_t last = 0; // Squid asks the cache_dirs one after the other, and nothing else meanwhile
    if (!isUndecided()) // or else it asks for a variant, or because the response has come
        return false;
    const auto number = requestNumber();
    return std::exchange(last, number) != number;
}

bool
ClusterFs::describeRequest(const Key &key, Request &out)
{
    const auto context = CodeContext::Current();
    const auto ale = GetOf(context.getRaw());
    if (!ale)
        return false;
    const auto &request = *ale->request;

    const auto &header = request.header;
    const auto &url = request.effectiveRequestUri();
    const auto accept = header.getStrOrList(Http::HdrType::ACCEPT);
    const auto destination = header.getByName("Sec-Fetch-Dest");
    const auto mode = header.getByName("Sec-Fetch-Mode");
    RequestText text;
    text.url = {url.rawContent(), url.length()};
    text.referer = ViewOf(header.getStr(Http::HdrType::REFERER));
    text.accept = ViewOf(accept.termedBuf());
    text.destination = ViewOf(destination.termedBuf());
    text.mode = ViewOf(mode.termedBuf());
    out.key = key;
    out.client = ClientId(request);
    describe(text, out);
    return true;
}

CodeContext::Pointer
ClusterFs::clientRequest()
{
    const auto context = CodeContext::Current();
    return GetOf(context.getRaw()) ? context : nullptr;
}

ClusterFs::Answer
ClusterFs::answerTo(const CodeContext &request)
{
    const auto &tags = dynamic_cast<const AccessLogEntry&>(request).cache.code;
    if (tags.collapsingHistory.collapsed())
        return Answer::other;
    switch (tags.oldType) {
    case LOG_TCP_HIT:
    case LOG_TCP_IMS_HIT:
    case LOG_TCP_INM_HIT:
    case LOG_TCP_NEGATIVE_HIT:
    case LOG_TCP_MEM_HIT: // the object has become whole in memory since this client opened it on the disk
    case LOG_TCP_OFFLINE_HIT:
        return Answer::hit;
    case LOG_TCP_MISS:
    case LOG_TCP_CLIENT_REFRESH_MISS:
    case LOG_TCP_SWAPFAIL_MISS:
        return Answer::miss;
    default:
        return Answer::other;
    }
}

std::optional<uint64_t>
ClusterFs::waited(const CodeContext &request)
{
    timeval now;
    gettimeofday(&now, nullptr);
    return microsBetween(dynamic_cast<const AccessLogEntry&>(request).cache.start_time, now);
}
