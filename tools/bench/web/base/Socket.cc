// SPDX-License-Identifier: GPL-2.0-or-later
/* TCP sockets over IPv4. */

#include "tools/bench/web/base/Socket.h"
#include "tools/base/Text.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace WebBench {

using namespace Tools;

namespace {

sockaddr_in
toSystem(const Endpoint &place)
{
    sockaddr_in result{};
    result.sin_family = AF_INET;
    result.sin_addr.s_addr = htonl(place.address);
    result.sin_port = htons(place.port);
    return result;
}

void
enable(const int fd, const int level, const int option)
{
    const int on = 1;
    setsockopt(fd, level, option, &on, sizeof(on)); // what depends on it fails later, with a reason
}

int
bindTo(const int fd, const Endpoint &place)
{
    const auto address = toSystem(place);
    return bind(fd, reinterpret_cast<const sockaddr *>(&address), sizeof(address));
}

} // namespace

Descriptor &
Descriptor::operator=(Descriptor &&other) noexcept
{
    if (this != &other) {
        close();
        fd_ = other.fd_;
        other.fd_ = -1;
    }
    return *this;
}

void
Descriptor::close()
{
    if (fd_ >= 0)
        ::close(fd_);
    fd_ = -1;
}

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
    const auto system = toSystem(*this);
    inet_ntop(AF_INET, &system.sin_addr, host, sizeof(host));
    return std::string(host) + ":" + std::to_string(port);
}

Descriptor
listenAt(Endpoint &place, const bool shared, std::string &error)
{
    Descriptor result(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (result) {
        enable(result.get(), SOL_SOCKET, SO_REUSEADDR);
        if (shared)
            enable(result.get(), SOL_SOCKET, SO_REUSEPORT);
    }
    if (!result || bindTo(result.get(), place) != 0 || listen(result.get(), 1024) != 0) {
        error = "cannot listen at " + place.text() + ": " + strerror(errno);
        return Descriptor();
    }
    sockaddr_in actual{};
    socklen_t size = sizeof(actual);
    if (getsockname(result.get(), reinterpret_cast<sockaddr *>(&actual), &size) == 0)
        place.port = ntohs(actual.sin_port);
    return result;
}

Descriptor
beginConnect(const Endpoint &to, const uint32_t source, std::string &error)
{
    Descriptor result(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!result) {
        error = std::string("cannot make a socket: ") + strerror(errno);
        return result;
    }
    enable(result.get(), IPPROTO_TCP, TCP_NODELAY);
    if (source) {
        // the port is chosen when the target is known, so that ports do not run out
        enable(result.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT);
        const Endpoint from{source, 0};
        if (bindTo(result.get(), from) != 0) {
            error = "cannot come from " + from.text() + ": " + strerror(errno);
            return Descriptor();
        }
    }
    const auto address = toSystem(to);
    if (connect(result.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) != 0 && errno != EINPROGRESS) {
        error = "cannot connect to " + to.text() + ": " + strerror(errno);
        return Descriptor();
    }
    return result;
}

int
connectionError(const int fd)
{
    int code = 0;
    socklen_t size = sizeof(code);
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size) == 0 ? code : errno;
}

Descriptor
acceptFrom(const int fd)
{
    Descriptor result(accept4(fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (result)
        enable(result.get(), IPPROTO_TCP, TCP_NODELAY);
    return result;
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
