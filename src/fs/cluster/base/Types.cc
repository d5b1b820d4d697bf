// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of the shared words. */

#include "fs/cluster/base/Types.h"

const char *
ClusterFs::statusText(const Status s)
{
    switch (s) {
    case Status::ok:
        return "ok";
    case Status::notFound:
        return "not found";
    case Status::busy:
        return "busy";
    case Status::full:
        return "full";
    case Status::ioError:
        return "I/O error";
    case Status::corrupt:
        return "corrupt";
    case Status::notOurs:
        return "not a clusterfs device";
    case Status::unsupported:
        return "unsupported";
    case Status::offline:
        return "offline";
    case Status::pending:
        return "pending";
    case Status::aborted:
        return "aborted";
    }
    return "unknown";
}

std::string
ClusterFs::Key::hex() const
{
    static const char digits[] = "0123456789ABCDEF";
    std::string text;
    text.reserve(2 * bytes.size());
    for (const auto b: bytes) {
        text += digits[b >> 4];
        text += digits[b & 15];
    }
    return text;
}
