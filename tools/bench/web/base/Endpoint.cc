// SPDX-License-Identifier: GPL-2.0-or-later
/* Where a server listens. */

#include "tools/bench/web/base/Endpoint.h"
#include "tools/base/Text.h"

#include <arpa/inet.h>
#include <sys/resource.h>

namespace WebBench {

using namespace Tools;

bool
Endpoint::parse(const std::string &value, std::string &error)
{
    const auto colon = value.rfind(':');
    uint64_t number = 0;
    auto host = value.substr(0, colon);
    if (host == "localhost")
        host = "127.0.0.1";
    in_addr parsed{};
    if (colon == std::string::npos || !parseWhole(value.substr(colon + 1), number) || number < 1 || number > 65535
            || inet_pton(AF_INET, host.c_str(), &parsed) != 1) {
        error = shown(value) + " is not of the form 127.0.0.1:3128 (an IPv4 address and a port)";
        return false;
    }
    address = ntohl(parsed.s_addr);
    port = static_cast<uint16_t>(number);
    return true;
}

std::string
Endpoint::text() const
{
    char host[INET_ADDRSTRLEN];
    const in_addr system{htonl(address)};
    inet_ntop(AF_INET, &system, host, sizeof(host));
    return std::string(host) + ":" + std::to_string(port);
}

uint64_t
raiseDescriptorLimit()
{
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
}

} // namespace WebBench
