// SPDX-License-Identifier: GPL-2.0-or-later
/* One request at a time. */

#include "test-suite/unit/support/PartsSupport.h"

#include "fs/cluster/context/SingleIo.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

TEST(SingleIo, writesItsBufferAndSaysHowThatWent) {
    PartsDevice d;
    Parts p(d);
    SingleIo io(p.context, 8192);
    const auto at = d.superblock.geometry.clusterOffset(3_c);
    memset(io.data(), 'a', 4096);
    memset(io.data() + 4096, 'b', 4096);
    std::vector<Status> answers;
    const auto done = [&](const Status s) {
        EXPECT_FALSE(io.busy()) << "who is answered may go on";
        answers.push_back(s);
    };
    io.submit(IoOp::write, at, 4096, done);
    EXPECT_TRUE(io.busy());
    EXPECT_TRUE(answers.empty());
    ASSERT_TRUE(p.idle());
    EXPECT_EQ(answers, std::vector<Status>{Status::ok});
    EXPECT_EQ(std::string(d.media.data() + at, 4096), std::string(4096, 'a'));
    EXPECT_NE(d.media.data()[at + 4096], 'b') << "it was not asked for";
    d.device->script(IoOp::flush, 1, Fault::error);
    io.submit(IoOp::flush, 0, 0, done);
    EXPECT_TRUE(io.busy());
    ASSERT_TRUE(p.idle());
    EXPECT_EQ(answers, (std::vector<Status>{Status::ok, Status::ioError}));
}

TEST(SingleIo, hasOneRequest) {
    PartsDevice d;
    Parts p(d);
    SingleIo io(p.context, 4096);
    io.submit(IoOp::flush, 0, 0, [](Status) {});
    EXPECT_DEATH(io.submit(IoOp::flush, 0, 0, [](Status) {}), "busy_");
    EXPECT_TRUE(p.idle());
}

/// a device may answer when the engine is closed, and what has asked is gone
TEST(SingleIo, nobodyIsAnsweredWhoIsGone) {
    PartsDevice d;
    unsigned answers = 0;
    const auto at = d.superblock.geometry.clusterOffset(3_c);
    {
        Parts p(d);
        SingleIo io(p.context, 4096);
        memset(io.data(), 'a', 4096);
        io.submit(IoOp::write, at, 4096, [&](Status) { ++answers; });
        *p.context.alive = false;
    }
    while (!d.device->idle()) {
        d.device->poll();
        d.device->wait(1);
    }
    EXPECT_EQ(answers, 0U);
    EXPECT_EQ(std::string(d.media.data() + at, 4096), std::string(4096, 'a')) << "the buffer has stayed";
}
