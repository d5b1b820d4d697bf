// SPDX-License-Identifier: GPL-2.0-or-later
/* How a worker comes to its channel. */

#include "fs/cluster/sharing/Greeting.h"

#include "fs/cluster/base/SystemError.h"
#include "fs/cluster/base/Version.h"
#include "fs/cluster/cache/SharedWindows.h"
#include "fs/cluster/catalog/IndexView.h"
#include "fs/cluster/catalog/Staging.h"
#include "fs/cluster/sharing/Channel.h"
#include "fs/cluster/sharing/Control.h"
#include "fs/cluster/sharing/Messages.h"
#include "fs/cluster/sharing/WorkerRows.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

namespace ClusterFs {
namespace {

constexpr int kind = SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC;
constexpr int backlog = 128;

/// \returns false when the path is too long
bool
addressOf(const std::string &path, sockaddr_un &address)
{
    address = sockaddr_un();
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path))
        return false;
    memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return true;
}

const sockaddr *
general(const sockaddr_un &address)
{
    return reinterpret_cast<const sockaddr *>(&address);
}

/// the message with room for descriptors beside it
struct Envelope {
    explicit Envelope(void *const data, const size_t bytes): part{data, bytes} {
        header.msg_iov = &part;
        header.msg_iovlen = 1;
    }

    iovec part;
    msghdr header = {};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * Greeting::maxDescriptors)] = {};
};

} // namespace
} // namespace ClusterFs

uint64_t
ClusterFs::programMark()
{
    // FNV-1a over all that both sides must agree on
    uint64_t hash = 0xcbf29ce484222325U;
    const auto add = [&hash](const uint64_t value) { hash = (hash ^ value) * 0x100000001b3U; };
    for (const auto c: projectVersion)
        add(static_cast<unsigned char>(c));
    for (const auto bytes: {Channel::toOwnerBytes, Channel::toWorkerBytes, sizeof(Control), sizeof(Messages::Note), sizeof(ObjectInfo),
             sizeof(Messages::Open), sizeof(Messages::OpenWriter), sizeof(Messages::Fetch), sizeof(Messages::Create), sizeof(Messages::NewHead),
             sizeof(Messages::Bytes), sizeof(Messages::Done), sizeof(WorkerRows),
             sizeof(IndexHead), sizeof(Record), sizeof(ClusterEntry), sizeof(Staged), sizeof(SharedWindowRow),
             size_t(SharedTables::count), static_cast<size_t>(Messages::Kind::replaced)})
        add(bytes);
    return hash;
}

ClusterFs::Descriptor
ClusterFs::listenForWorkers(const std::string &path, std::string &error)
{
    sockaddr_un address;
    if (!addressOf(path, address)) {
        error = path + ": the name of a socket has at most 107 bytes";
        return Descriptor();
    }
    Descriptor socket(::socket(AF_UNIX, kind, 0));
    if (!socket) {
        error = systemError("no socket for workers");
        return Descriptor();
    }
    // only one process has the device, so that whoever made this socket is dead
    struct stat status;
    if (lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode))
        unlink(path.c_str());
    // nobody can connect before it listens
    if (bind(socket.get(), general(address), sizeof(address)) != 0 || chmod(path.c_str(), 0600) != 0 ||
        listen(socket.get(), backlog) != 0) {
        error = systemError(path);
        return Descriptor();
    }
    return socket;
}

ClusterFs::Descriptor
ClusterFs::acceptWorker(const int listening, bool &refused)
{
    refused = false;
    Descriptor socket(accept4(listening, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket)
        return Descriptor();
    ucred peer;
    socklen_t size = sizeof(peer);
    if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || (peer.uid != geteuid() && peer.uid != 0)) {
        refused = true;
        return Descriptor();
    }
    return socket;
}

bool
ClusterFs::greet(const int socket, const std::vector<int> &descriptors, const uint32_t row)
{
    Greeting greeting;
    greeting.descriptors = static_cast<uint32_t>(descriptors.size());
    greeting.row = row;
    greeting.program = programMark();
    Envelope envelope(&greeting, sizeof(greeting));
    const auto bytes = sizeof(int) * descriptors.size();
    envelope.header.msg_control = envelope.control;
    envelope.header.msg_controllen = CMSG_SPACE(bytes);
    auto *const head = CMSG_FIRSTHDR(&envelope.header);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(bytes);
    memcpy(CMSG_DATA(head), descriptors.data(), bytes);
    return sendmsg(socket, &envelope.header, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof(greeting));
}

ClusterFs::Descriptor
ClusterFs::connectToOwner(const std::string &path)
{
    sockaddr_un address;
    if (!addressOf(path, address))
        return Descriptor();
    Descriptor socket(::socket(AF_UNIX, kind, 0));
    if (!socket || connect(socket.get(), general(address), sizeof(address)) != 0)
        return Descriptor();
    return socket;
}

ClusterFs::Greeted
ClusterFs::takeGreeting(const int socket, const size_t wanted, std::vector<Descriptor> &descriptors, uint32_t &row)
{
    Greeting greeting;
    Envelope envelope(&greeting, sizeof(greeting));
    envelope.header.msg_control = envelope.control;
    envelope.header.msg_controllen = sizeof(envelope.control);
    const auto bytes = recvmsg(socket, &envelope.header, MSG_CMSG_CLOEXEC);
    if (bytes < 0)
        return errno == EAGAIN || errno == EINTR ? Greeted::notYet : Greeted::gone;
    if (bytes == 0)
        return Greeted::gone;
    descriptors.clear();
    for (auto *head = CMSG_FIRSTHDR(&envelope.header); head; head = CMSG_NXTHDR(&envelope.header, head)) {
        if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t at = 0; CMSG_LEN(at + sizeof(int)) <= head->cmsg_len; at += sizeof(int)) {
            int fd;
            memcpy(&fd, CMSG_DATA(head) + at, sizeof(fd));
            descriptors.emplace_back(fd);
        }
    }
    if (bytes != static_cast<ssize_t>(sizeof(greeting)) || greeting.magic != Greeting::mark || greeting.program != programMark())
        return Greeted::stranger;
    row = greeting.row;
    // fewer come when this process has all the descriptors that it may have
    return descriptors.size() == wanted && greeting.descriptors == wanted ? Greeted::yes : Greeted::gone;
}

bool
ClusterFs::hungUp(const int socket)
{
    char any;
    const auto bytes = recv(socket, &any, sizeof(any), MSG_DONTWAIT | MSG_PEEK);
    return bytes >= 0 || (errno != EAGAIN && errno != EINTR);
}
