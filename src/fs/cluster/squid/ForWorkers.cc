// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "fs/cluster/squid/Clear.h"
#include "fs/cluster/squid/ForWorkers.h"
#include "fs/cluster/squid/FoundText.h"
#include "fs/cluster/squid/ListText.h"
#include "fs/cluster/squid/MapText.h"
#include "fs/cluster/squid/Metrics.h"
#include "fs/cluster/squid/ObjectText.h"
#include "fs/cluster/squid/SwapDir.h"
#include "fs/cluster/squid/TextReader.h"

namespace ClusterFs {
namespace {

std::unique_ptr<PageText>
answerList(SwapDir &dir)
{
    if (!dir.serving())
        return refusal("cache_dir " + std::string(dir.path) + " is " + dir.stateText() + ", or is being cleared");
    if (ListText::Running())
        return refusal("another list is running: wait for its end");
    return std::make_unique<ListText>(dir);
}

std::unique_ptr<PageText>
answerMap(const SwapDir &dir)
{
    if (!dir.started())
        return refusal("cache_dir " + std::string(dir.path) + " is " + dir.stateText());
    return std::make_unique<MapText>(dir);
}

std::unique_ptr<PageText>
answerSearch(SwapDir &dir, const std::string &spelled)
{
    auto choice = UrlChoice::Parse(spelled);
    if (!choice || !choice->error().empty())
        return refusal("'" + printable(spelled) + "' chooses no URLs");
    if (!dir.serving())
        return refusal("cache_dir " + std::string(dir.path) + " is " + dir.stateText());
    if (FoundText::Running())
        return refusal("another search is running: wait for its end");
    return std::make_unique<FoundText>(dir, std::move(choice));
}

std::unique_ptr<PageText>
answerClear(SwapDir &dir)
{
    if (!dir.serving())
        return refusal("cache_dir " + std::string(dir.path) + " is " + dir.stateText() + ", or is being cleared already");
    const auto error = LiveJob::Start(std::make_unique<Clear>(dir));
    return error.empty() ? fixedText(LiveJob::Report()) : refusal(error);
}

} // namespace
} // namespace ClusterFs

std::unique_ptr<ClusterFs::PageText>
ClusterFs::answerTo(SwapDir &dir, const std::string &question)
{
    const auto space = std::min(question.find(' '), question.size());
    const auto word = question.substr(0, space);
    if (word == Question::list)
        return answerList(dir);
    if (word == Question::map)
        return answerMap(dir);
    if (word == Question::search)
        return answerSearch(dir, space < question.size() ? question.substr(space + 1) : std::string());
    if (word == Question::clear)
        return answerClear(dir);
    if (word == Question::job)
        return fixedText(LiveJob::Report());
    if (word == Question::stop)
        return fixedText(LiveJob::Stop());
    if (word == Question::metrics)
        return fixedText(metricsText({{dir.path, dir.snapshot()}}));
    return refusal("nobody knows the question '" + printable(word) + "'");
}

std::unique_ptr<ClusterFs::Reader>
ClusterFs::ForWorkers::answer(const std::string &question)
{
    return std::make_unique<TextReader>(answerTo(dir_, question), answered_);
}

void
ClusterFs::ForWorkers::add(const Figure &figure)
{
    switch (static_cast<FigureKind>(figure.kind)) {
    case FigureKind::hit:
        dir_.noteHit(figure.value);
        break;
    case FigureKind::miss:
        dir_.noteMiss(figure.value);
        break;
    case FigureKind::page:
        countOpenedPages(figure.value);
        break;
    }
}
