// SPDX-License-Identifier: GPL-2.0-or-later
/* Pages for the tests of the engine: numbered, with numbered objects. */

#ifndef SQUID_TEST_SUITE_UNIT_SUPPORT_PAGESUPPORT_H
#define SQUID_TEST_SUITE_UNIT_SUPPORT_PAGESUPPORT_H

#include "test-suite/unit/support/EngineSupport.h"

namespace ClusterFs {
namespace Testing {

/// the nth object of a page; the first is its document
inline uint64_t
objectOf(const uint64_t page, const uint64_t n)
{
    return page * 1000 + n;
}

/// a browser's request for it
inline Request
requestFor(const uint64_t page, const uint64_t n, const uint64_t client)
{
    Request r;
    r.key = keyOf(objectOf(page, n));
    r.client = client;
    r.url = mix(objectOf(page, n));
    r.site = mix(page);
    r.referer = n ? mix(objectOf(page, 0)) : 0;
    r.refererSite = n ? r.site : 0;
    r.kind = n ? RequestKind::member : RequestKind::page;
    return r;
}

} // namespace Testing
} // namespace ClusterFs

#endif
