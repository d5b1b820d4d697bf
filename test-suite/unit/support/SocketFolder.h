// SPDX-License-Identifier: GPL-2.0-or-later
/* A place for the socket of an owner. */

#ifndef SQUID_TEST_SUITE_UNIT_SUPPORT_SOCKETFOLDER_H
#define SQUID_TEST_SUITE_UNIT_SUPPORT_SOCKETFOLDER_H

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <string>

namespace ClusterFs {
namespace Testing {

/// A folder in /tmp that goes away with the socket in it: the name of a socket is short, as that of a Folder may not be.
class SocketFolder
{
public:
    SocketFolder() { EXPECT_NE(mkdtemp(&path_[0]), nullptr); }
    ~SocketFolder() {
        unlink(socket().c_str());
        rmdir(path_.c_str());
    }
    SocketFolder(const SocketFolder &) = delete;
    SocketFolder &operator =(const SocketFolder &) = delete;

    const std::string &path() const { return path_; }
    std::string socket() const { return path_ + "/owner"; }

private:
    std::string path_ = "/tmp/clusterfs-socket-XXXXXX";
};

} // namespace Testing
} // namespace ClusterFs

#endif
