// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of messages: each row can be said, and read. */

#include "fs/cluster/base/Messages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

using namespace ClusterFs;

namespace {

/// a message with a number in each of its places, as many as the code must give it
template <Message M, size_t... N>
std::string
withNumbers(std::index_sequence<N...>)
{
    return messageText<M>((N + 1000)...);
}

/// \param visit is called with each row, and its text with 1000, 1001... in it
template <class Visit, size_t... M>
void
forEach(const Visit &visit, std::index_sequence<M...>)
{
    (visit(messages[M], withNumbers<static_cast<Message>(M)>(std::make_index_sequence<placesIn(messages[M].text)>())), ...);
}

template <class Visit>
void
forEach(const Visit &visit)
{
    forEach(visit, std::make_index_sequence<static_cast<size_t>(Message::count)>());
}

size_t
numbersIn(const std::string &text)
{
    size_t n = 0;
    while (text.find(std::to_string(1000 + n)) != text.npos)
        ++n;
    return n;
}

} // namespace

TEST(Messages, haveAPlaceForEachValue) {
    size_t most = 0;
    forEach([&](const MessageRow &row, const std::string &text) {
        EXPECT_EQ(text.find('%'), text.npos) << text;
        EXPECT_EQ(numbersIn(text), placesIn(row.text)) << text;
        most = std::max(most, placesIn(row.text));
    });
    EXPECT_EQ(most, 5U) << "a start after a crash says the most";
}

/// an administrator who looks for a line finds one row, and a reason is not taken for a line
TEST(Messages, haveTextsOfTheirOwn) {
    std::set<std::string> texts;
    for (const auto &row: messages) {
        EXPECT_TRUE(texts.insert(row.text).second) << row.text;
        EXPECT_EQ((std::string(row.text) + row.meaning).find_first_of("|\n"), std::string::npos) << row.text << ": the texts stand in tables";
        ASSERT_NE(*row.text, 0);
        EXPECT_NE(std::string(row.text).back(), '.') << row.text << ": a line ends without a point";
        const std::string meaning = row.meaning;
        ASSERT_FALSE(meaning.empty()) << row.text;
        EXPECT_NE(meaning.back(), '.') << row.text << ": a cell of a table ends without a point";
    }
}

TEST(Messages, haveSensibleLevels) {
    std::map<LogLevel, unsigned> count;
    for (const auto &row: messages) {
        const std::string text = row.text, meaning = row.meaning;
        ++count[row.level];
        for (const auto level: {LogLevel::fatal, LogLevel::error, LogLevel::warning})
            EXPECT_NE(text.find(levelText(level)), 0U) << text << ": the level stands in its own column";
        if (row.level == LogLevel::reason) {
            EXPECT_NE(text.find("cache_dir clusterfs"), 0U) << text << ": a reason does not begin a line";
        }
        if (row.level <= LogLevel::error) {
            EXPECT_NE(meaning.find("nothing to do"), 0U) << text << ": an error wants something done";
        }
        if (text.find("can't be written") != text.npos || text.find("failed") != text.npos) {
            EXPECT_LE(row.level, LogLevel::error) << text;
        }
    }
    for (const auto level: {LogLevel::fatal, LogLevel::error, LogLevel::warning, LogLevel::notice, LogLevel::reason})
        EXPECT_GT(count[level], 0U) << static_cast<unsigned>(level);
}

TEST(Messages, areSaidWithTheirLevel) {
    std::vector<std::pair<LogLevel, std::string>> said;
    const Log log = [&](const LogLevel level, const std::string &line) { said.emplace_back(level, line); };
    say<Message::checkpointFailed>(log, "I/O error");
    say<Message::logDamaged>(log, 3U, uint64_t(70));
    say<Message::backInService>(log, std::string("/dev/100%"));
    ASSERT_EQ(said.size(), 3U);
    EXPECT_EQ(said[0], std::make_pair(LogLevel::error, std::string("a checkpoint could not be written (I/O error): the next start will take longer")));
    EXPECT_EQ(said[1], std::make_pair(LogLevel::warning,
              std::string("3 of 70 blocks of the index log are damaged: the objects that they described are lost")));
    EXPECT_EQ(said[2], std::make_pair(LogLevel::notice, std::string("cache_dir clusterfs /dev/100% is in service again")));
    EXPECT_EQ(messageLine<Message::rejected>("/x", "why"), "FATAL: cache_dir clusterfs /x: why");
    EXPECT_EQ(messageLine<Message::checkpointFailed>("full").find("ERROR: a checkpoint"), 0U);
    EXPECT_EQ(messageLine<Message::exposed>("0644", "/x").find("WARNING: its mode 0644"), 0U);
    EXPECT_EQ(messageLine<Message::formatted>("/x").find("cache_dir"), 0U);
}
