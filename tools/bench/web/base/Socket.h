// SPDX-License-Identifier: GPL-2.0-or-later
/* TCP sockets over IPv4. */

#ifndef CLUSTERFS_BENCH_WEB_BASE_SOCKET_H
#define CLUSTERFS_BENCH_WEB_BASE_SOCKET_H

#include <cstdint>
#include <string>

namespace WebBench {

/// Owns a file descriptor.
class Descriptor
{
public:
    Descriptor() = default;
    explicit Descriptor(const int fd): fd_(fd) {}
    Descriptor(Descriptor &&other) noexcept: fd_(other.fd_) { other.fd_ = -1; }
    Descriptor &operator=(Descriptor &&) noexcept;
    ~Descriptor() { close(); }

    void close();
    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }

private:
    int fd_ = -1;
};

/// where a server listens
struct Endpoint {
    uint32_t address = 0; ///< IPv4, host byte order; 0 is any
    uint16_t port = 0;

    /// Reads "127.0.0.1:3128" or "localhost:3128". \returns false with the reason in error
    bool parse(const std::string &, std::string &error);
    std::string text() const;
};

/// Opens a socket that listens, shared with others on the same port when
/// several threads of one program open it. Port 0 takes any free one.
/// \param place gets the port in use
/// \returns nothing, with the reason in error
Descriptor listenAt(Endpoint &place, bool shared, std::string &error);

/// Begins to connect without waiting: the socket becomes writable when that is
/// done, see connectionError().
/// \param source the address to come from, host byte order; 0 leaves it to the system
/// \returns nothing, with the reason in error
Descriptor beginConnect(const Endpoint &to, uint32_t source, std::string &error);

/// \returns 0 or the error number that ended the attempt to connect
int connectionError(int fd);

/// Takes the next connection from a listening socket. Its descriptor is invalid when there is none.
Descriptor acceptFrom(int fd);

/// Raises the limit of open descriptors as far as it goes. \returns the limit
uint64_t raiseDescriptorLimit();

} // namespace WebBench

#endif
