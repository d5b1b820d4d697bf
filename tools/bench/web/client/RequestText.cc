// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests as browsers write them. */

#include "tools/bench/web/client/RequestText.h"

namespace WebBench {

// No Accept-Encoding: the bodies don't compress, and proxies would treat it in different ways.

RequestText::RequestText(const std::string &origin, const bool reverse, const Referer referer):
    site_("http://" + origin),
    target_("GET " + (reverse ? std::string() : site_)),
    host_(" HTTP/1.1\r\nHost: " + origin + "\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) bench-client\r\nAccept: "),
    referer_(referer)
{
}

void
RequestText::write(const Item &item, std::string &text) const
{
    const auto &kind = infoOf(item.kind);
    text.assign(target_).append(item.path).append(host_);
    text.append(item.role == Item::Role::bare ? "*/*" : kind.accept);
    if (item.role == Item::Role::document) {
        text.append("\r\nUpgrade-Insecure-Requests: 1\r\nSec-Fetch-Dest: document\r\nSec-Fetch-Mode: navigate\r\n"
                    "Sec-Fetch-Site: none\r\nSec-Fetch-User: ?1");
    } else if (item.role == Item::Role::embedded && !kind.destination.empty()) {
        text.append("\r\nSec-Fetch-Dest: ").append(kind.destination);
        text.append("\r\nSec-Fetch-Mode: ").append(kind.mode).append("\r\nSec-Fetch-Site: same-origin");
    }
    if (!item.referer.empty() && referer_ != Referer::none)
        text.append("\r\nReferer: ").append(site_).append(referer_ == Referer::full ? item.referer : "/");
    text.append("\r\nConnection: keep-alive\r\n\r\n");
}

} // namespace WebBench
