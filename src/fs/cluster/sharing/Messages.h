// SPDX-License-Identifier: GPL-2.0-or-later
/* What workers and owner tell each other. */

#ifndef SQUID_SRC_FS_CLUSTER_SHARING_MESSAGES_H
#define SQUID_SRC_FS_CLUSTER_SHARING_MESSAGES_H

#include "fs/cluster/api/Request.h"
#include "fs/cluster/base/Types.h"

#include <cstdint>
#include <type_traits>

/* Both sides are the same program, or they do not talk: the greeting has the version. So a message is a plain structure,
 * as the compiler lays it out. It has no bool: one that the other side has given another value than 0 or 1 may not even be
 * looked at. Bytes of an object, or a new head, follow it in the same record.
 *
 * The worker chooses the numbers of its readers, writers and requests, and gives none of them twice. */

namespace ClusterFs {
namespace Messages {

/// The kind of a record, and the message that it has. The first ones go to the owner.
enum class Kind : uint32_t {
    note = 1, ///< Note: see Engine::note()
    touch, ///< Named: see Engine::touch()
    haveRead, ///< Named: see Engine::noteRead()
    unadmitted, ///< Named: see Engine::noteUnadmitted()
    remove, ///< Remove: see Engine::remove()
    updateInfo, ///< Described: see Engine::updateInfo()
    open, ///< Open: opens a reader, and wants its first bytes
    openWriter, ///< OpenWriter: the same, of an object that is being written by this worker, or was until now
    fetch, ///< Fetch: wants further bytes of a reader
    closeReader, ///< Numbered
    create, ///< Create: opens a writer
    append, ///< Numbered, bytes: see Writer::append()
    finish, ///< Numbered: see Writer::finish()
    dropWriter, ///< Numbered
    replaceHead, ///< NewHead, head: see Engine::replaceHead()
    rename, ///< NewHead, head: see Engine::rename()
    ask, ///< Ask, question: opens a reader of the answer, and wants its first bytes
    figures, ///< some Figures: see Services::add()

    bytes, ///< Bytes, bytes: some of those that open or fetch wanted
    lost, ///< Done: a writer has failed; there is none of this number any more
    congested, ///< Numbered: see Writer::congested()
    relieved, ///< Numbered: the end of that
    finished, ///< Done: the answer to finish
    replaced ///< Done: the answer to replaceHead and to rename
};

struct Note {
    Key key;
    uint64_t client;
    uint64_t url;
    uint64_t site;
    uint64_t referer;
    uint64_t refererSite;
    RequestKind kind;
    uint8_t sheet; ///< 0 or 1

    static Note Of(const Request &r) { return {r.key, r.client, r.url, r.site, r.referer, r.refererSite, r.kind, r.sheet}; }
    Request request() const { return {key, client, url, site, referer, refererSite, kind, sheet == 1}; }
};
struct Named {
    Key key;
};
struct Remove {
    Key key;
    uint64_t removal; ///< its number, see WorkerRows::removals
};
struct Described {
    Key key;
    ObjectInfo info;
    uint64_t removals; ///< the number of the last removal before that
};
struct Numbered {
    uint64_t number;
};
struct Open {
    uint64_t number; ///< of the reader
    Key key;
    uint64_t bytes; ///< that are wanted of its beginning
};
struct OpenWriter {
    Open reader;
    uint64_t writer;
};
struct Ask {
    uint64_t number; ///< of the reader
    uint64_t bytes; ///< that are wanted of its beginning
};
struct Fetch {
    uint64_t number;
    uint64_t offset;
    uint64_t bytes; ///< that are wanted
};
struct Create {
    uint64_t number; ///< of the writer
    Key key;
    ObjectInfo info;
    int64_t expectedSize; ///< -1 = unknown
    uint64_t removals; ///< the number of the last removal before that
};
struct NewHead {
    uint64_t number; ///< of the request
    Key key;
    Key newKey; ///< of rename
    ObjectInfo info; ///< of replaceHead
    uint64_t removals; ///< the number of the last removal before that
    uint32_t oldHeadSize;
};

struct Bytes {
    uint64_t number;
    uint64_t offset; ///< of the first one in the object
    uint64_t size; ///< stored bytes of the object
    Status status; ///< when it is not ok, no bytes come; answering open, there is no reader of this number then
    uint8_t last; ///< 0 or 1: nothing more comes of what open or fetch wanted
    uint8_t closed; ///< 0 or 1: these were the last bytes of the object, from its first on; there is no reader of this number any more
};
struct Done {
    uint64_t number;
    Status status;
};

/// a channel carries it
template <class Message>
constexpr bool plain = std::is_trivially_copyable<Message>::value;
static_assert(plain<Note> && plain<Named> && plain<Remove> && plain<Described> && plain<Numbered> && plain<Open> && plain<OpenWriter> &&
    plain<Ask> && plain<Fetch> && plain<Create> && plain<NewHead> && plain<Bytes> && plain<Done>, "messages are copied byte by byte");

} // namespace Messages
} // namespace ClusterFs

#endif
