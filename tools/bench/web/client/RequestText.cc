// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests as browsers write them. */

#include "tools/bench/web/client/RequestText.h"
#include "tools/bench/web/corpus/Target.h"

namespace WebBench {

// No Accept-Encoding: the bodies don't compress, and proxies would treat it in different ways.

RequestText::RequestText(const std::string &origin, const std::string &domain, const bool reverse, const Referer referer):
    origin_(origin),
    domain_(domain),
    reverse_(reverse),
    referer_(referer)
{
}

std::string
RequestText::host(const Item &item) const
{
    return domain_.empty() ? origin_ : std::string(siteOf(item.path)) + "." + domain_;
}

void
RequestText::write(const Item &item, std::string &text) const
{
    const auto &kind = infoOf(item.kind);
    const auto host = this->host(item);
    text.assign("GET ");
    if (!reverse_)
        text.append("http://").append(host);
    text.append(item.path).append(" HTTP/1.1\r\nHost: ").append(host);
    text.append("\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) bench-client\r\nAccept: ");
    text.append(item.role == Item::Role::bare ? "*/*" : kind.accept);
    if (item.role == Item::Role::document) {
        text.append("\r\nUpgrade-Insecure-Requests: 1\r\nSec-Fetch-Dest: document\r\nSec-Fetch-Mode: navigate\r\n"
                    "Sec-Fetch-Site: none\r\nSec-Fetch-User: ?1");
    } else if (item.role == Item::Role::embedded && !kind.destination.empty()) {
        text.append("\r\nSec-Fetch-Dest: ").append(kind.destination);
        text.append("\r\nSec-Fetch-Mode: ").append(kind.mode).append("\r\nSec-Fetch-Site: same-origin");
    }
    if (!item.referer.empty() && referer_ != Referer::none)
        text.append("\r\nReferer: http://").append(host).append(referer_ == Referer::full ? item.referer : "/");
    text.append("\r\nConnection: keep-alive\r\n\r\n");
}

} // namespace WebBench
