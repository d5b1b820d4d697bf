// SPDX-License-Identifier: GPL-2.0-or-later
/* How a worker comes to its channel: the socket, who is let in, what is greeted. */

#include "test-suite/unit/support/SocketFolder.h"

#include "fs/cluster/sharing/Bell.h"
#include "fs/cluster/sharing/Greeting.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

/// a folder with a socket in it
class GreetingTest: public testing::Test
{
protected:
    void listen() {
        listening = listenForWorkers(path, error);
        ASSERT_TRUE(listening) << error;
    }

    /// both ends of a connection
    void meet() {
        listen();
        worker = connectToOwner(path);
        ASSERT_TRUE(worker);
        bool refused = true;
        owner = acceptWorker(listening.get(), refused);
        ASSERT_TRUE(owner);
        EXPECT_FALSE(refused);
    }

    SocketFolder folder;
    const std::string path = folder.socket();
    std::string error;
    Descriptor listening;
    Descriptor worker;
    Descriptor owner;
    std::vector<Descriptor> received;
    uint32_t row = 0;
};

} // namespace

TEST_F(GreetingTest, bringsDescriptors)
{
    meet();
    EXPECT_EQ(takeGreeting(worker.get(), 2, received, row), Greeted::notYet);
    const auto one = Bell::Make();
    const auto two = Bell::Make();
    two.ring();
    ASSERT_TRUE(greet(owner.get(), {one.fd(), two.fd()}, 7));
    ASSERT_EQ(takeGreeting(worker.get(), 2, received, row), Greeted::yes);
    EXPECT_EQ(row, 7U);
    ASSERT_EQ(received.size(), 2U);
    uint64_t times = 0;
    EXPECT_EQ(read(received[0].get(), &times, sizeof(times)), -1) << "the first one was not rung";
    EXPECT_EQ(read(received[1].get(), &times, sizeof(times)), static_cast<ssize_t>(sizeof(times)));
    EXPECT_TRUE(fcntl(received[0].get(), F_GETFD) & FD_CLOEXEC);
    EXPECT_FALSE(hungUp(worker.get()));
    owner.reset();
    EXPECT_TRUE(hungUp(worker.get()));
}

TEST_F(GreetingTest, nobodyElseMayConnect)
{
    listen();
    struct stat status;
    ASSERT_EQ(lstat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST_F(GreetingTest, anotherUserIsRefused)
{
    if (geteuid() != 0)
        GTEST_SKIP() << "only root can be somebody else";
    listen();
    ASSERT_EQ(chmod(folder.path().c_str(), 0777), 0);
    ASSERT_EQ(chmod(path.c_str(), 0777), 0); // as a careless administrator might
    const auto child = fork();
    ASSERT_GE(child, 0);
    if (!child) {
        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(2);
        const auto socket = connectToOwner(path);
        if (!socket)
            _exit(3);
        char any;
        fcntl(socket.get(), F_SETFL, 0);
        _exit(recv(socket.get(), &any, 1, 0) == 0 ? 0 : 1); // waits until it is closed
    }
    Descriptor found;
    bool refused = false;
    while (!found && !refused)
        found = acceptWorker(listening.get(), refused);
    EXPECT_TRUE(refused);
    EXPECT_FALSE(found);
    found.reset();
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(GreetingTest, aDeadOwnersSocketIsReplaced)
{
    listen();
    listening.reset(); // and its name stays
    EXPECT_FALSE(connectToOwner(path));
    listen();
    EXPECT_TRUE(connectToOwner(path));
}

TEST_F(GreetingTest, aFileOfThatNameStays)
{
    std::ofstream(path) << "precious";
    listening = listenForWorkers(path, error);
    EXPECT_FALSE(listening);
    EXPECT_NE(error.find(path), std::string::npos) << error;
    std::string content;
    std::ifstream(path) >> content;
    EXPECT_EQ(content, "precious");
}

TEST_F(GreetingTest, aLongNameIsRefused)
{
    const auto name = "/tmp/" + std::string(200, 'x');
    EXPECT_FALSE(listenForWorkers(name, error));
    EXPECT_NE(error.find("107"), std::string::npos) << error;
    EXPECT_FALSE(connectToOwner(name));
}

TEST_F(GreetingTest, anotherProgramIsAStranger)
{
    meet();
    Greeting greeting;
    greeting.program = programMark() + 1;
    ASSERT_GT(send(owner.get(), &greeting, sizeof(greeting), 0), 0);
    EXPECT_EQ(takeGreeting(worker.get(), 0, received, row), Greeted::stranger);
    ASSERT_GT(send(owner.get(), "hello", 5, 0), 0);
    EXPECT_EQ(takeGreeting(worker.get(), 0, received, row), Greeted::stranger);
}

TEST_F(GreetingTest, tooFewDescriptorsAreNoGreeting)
{
    meet();
    const auto one = Bell::Make();
    ASSERT_TRUE(greet(owner.get(), {one.fd()}, 7));
    EXPECT_EQ(takeGreeting(worker.get(), 2, received, row), Greeted::gone);
}

TEST_F(GreetingTest, anOwnerThatDiesHasNotGreeted)
{
    meet();
    owner.reset();
    EXPECT_EQ(takeGreeting(worker.get(), 2, received, row), Greeted::gone);
}

TEST_F(GreetingTest, aWorkerThatTalksIsNotLeftConnected)
{
    meet();
    ASSERT_GT(send(worker.get(), "hello", 5, 0), 0);
    EXPECT_TRUE(hungUp(owner.get()));
}
