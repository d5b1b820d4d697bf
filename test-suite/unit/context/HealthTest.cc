// SPDX-License-Identifier: GPL-2.0-or-later
/* When a device that fails is given up. */

#include "fs/cluster/context/StoreContext.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace ClusterFs;

TEST(Health, aBadPlaceIsNotADeadDisk) {
    std::vector<std::string> said;
    const Log log = [&](LogLevel, const std::string &text) { said.push_back(text); };
    Health health;
    const auto fail = [&](const unsigned reads) {
        for (unsigned i = 0; i < reads; ++i)
            health.readDone(Status::ioError);
    };
    fail(Health::maxReadErrors - 1);
    health.readDone(Status::ok);
    fail(Health::maxReadErrors - 1);
    EXPECT_FALSE(health.suspect) << "one that worked in between";
    for (int i = 0; i < 3; ++i) {
        fail(Health::maxReadErrors);
        EXPECT_TRUE(health.suspect);
        EXPECT_EQ(health.level, Health::Level::good);
        health.probed(true, log);
        EXPECT_FALSE(health.suspect);
        EXPECT_EQ(health.level, Health::Level::good);
    }
    EXPECT_EQ(said.size(), 1U) << "once is enough";
    fail(Health::maxReadErrors);
    health.probed(false, log);
    EXPECT_EQ(health.level, Health::Level::gone);
    ASSERT_EQ(said.size(), 2U);
    EXPECT_NE(said.back().find("out of service"), std::string::npos) << said.back();
    fail(Health::maxReadErrors);
    EXPECT_FALSE(health.suspect) << "nothing is left to be found out";
}

/// what our own queue refused never reached the disk
TEST(Health, aFullQueueIsNoFault) {
    const Log log = [](LogLevel, const std::string &text) { ADD_FAILURE() << text; };
    Health health;
    for (unsigned i = 0; i < 2 * Health::maxReadErrors; ++i) {
        health.readDone(Status::busy);
        health.writeDone(Status::busy, log);
        health.writeDone(Status::busy, log, true);
    }
    EXPECT_FALSE(health.suspect);
    EXPECT_FALSE(health.writesSuspect);
    EXPECT_EQ(health.level, Health::Level::good);
    // nor a success
    for (unsigned i = 0; i < Health::maxReadErrors; ++i) {
        health.readDone(Status::ioError);
        health.readDone(Status::busy);
    }
    EXPECT_TRUE(health.suspect);
    for (unsigned i = 0; i < Health::maxWriteErrors; ++i) {
        health.writeDone(Status::ioError, log);
        health.writeDone(Status::busy, log);
    }
    EXPECT_TRUE(health.writesSuspect);
}

TEST(Health, aBadPlaceForWritesIsNotABadDisk) {
    std::vector<std::string> said;
    const Log log = [&](LogLevel, const std::string &text) { said.push_back(text); };
    Health health;
    const auto fail = [&](const unsigned writes) {
        for (unsigned i = 0; i < writes; ++i)
            health.writeDone(Status::ioError, log);
    };
    fail(Health::maxWriteErrors - 1);
    health.writeDone(Status::ok, log);
    fail(Health::maxWriteErrors - 1);
    EXPECT_FALSE(health.writesSuspect) << "one that worked in between";
    fail(1);
    EXPECT_TRUE(health.writesSuspect);
    health.writeProbed(true, log);
    EXPECT_FALSE(health.writesSuspect);
    fail(Health::maxWriteErrors);
    EXPECT_TRUE(health.writesSuspect) << "asked again";
    health.writeProbed(true, log);
    EXPECT_EQ(health.level, Health::Level::good);
    EXPECT_EQ(said.size(), 1U) << "once is enough";
    fail(Health::maxWriteErrorsAnywhere - 2 * Health::maxWriteErrors - 1);
    EXPECT_EQ(health.level, Health::Level::good);
    fail(1);
    EXPECT_EQ(health.level, Health::Level::noWrites) << "no cluster takes anything, whatever that block says";
    EXPECT_EQ(said.size(), 2U);
    health.writeProbed(false, log);
    EXPECT_EQ(said.size(), 2U) << "known already";
}

/// a backing store that is full takes what it has room for already: the journal, and that other place
TEST(Health, aDiskThatTakesNoClustersTakesNothing) {
    std::vector<std::string> said;
    const Log log = [&](LogLevel, const std::string &text) { said.push_back(text); };
    Health health;
    const auto fail = [&](const unsigned clusters) {
        for (unsigned i = 0; i < clusters; ++i) {
            health.writeDone(Status::ioError, log, true);
            health.writeDone(Status::ok, log);
        }
    };
    fail(Health::maxWriteErrorsAnywhere - 1);
    EXPECT_EQ(health.level, Health::Level::good);
    health.writeDone(Status::ok, log, true);
    fail(Health::maxWriteErrorsAnywhere - 1);
    EXPECT_EQ(health.level, Health::Level::good) << "one was written in between";
    EXPECT_FALSE(health.writesSuspect);
    fail(1);
    EXPECT_EQ(health.level, Health::Level::noWrites);
    ASSERT_EQ(said.size(), 1U);
    EXPECT_NE(said[0].find("64 writes in a row failed: nothing is stored"), std::string::npos) << said[0];
}

TEST(Health, aDiskThatTakesNoWritesIsAskedWhetherItCanBeRead) {
    std::vector<std::string> said;
    const Log log = [&](LogLevel, const std::string &text) { said.push_back(text); };
    for (const bool answers: {true, false}) {
        Health health;
        said.clear();
        for (unsigned i = 0; i < Health::maxWriteErrors; ++i)
            health.writeDone(Status::ioError, log);
        EXPECT_EQ(health.level, Health::Level::good);
        health.writeProbed(false, log);
        EXPECT_EQ(health.level, Health::Level::noWrites);
        EXPECT_TRUE(health.suspect);
        for (unsigned i = 0; i < Health::maxWriteErrors; ++i)
            health.writeDone(Status::ioError, log); // what was under way
        EXPECT_FALSE(health.writesSuspect) << "that is known";
        health.probed(answers, log);
        EXPECT_FALSE(health.suspect);
        EXPECT_EQ(health.level, answers ? Health::Level::noWrites : Health::Level::gone);
        EXPECT_EQ(said.size(), answers ? 1U : 2U) << "no read has failed: not a word of bad places";
    }
}
