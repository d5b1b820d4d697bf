// SPDX-License-Identifier: GPL-2.0-or-later
/* What a model says of a load, without a machine in between. */

#include "tools/diskmodel/predict/Prediction.h"

#include "tools/base/Numbers.h"

#include <algorithm>

namespace DiskModel {

using namespace Tools;

Prediction::Prediction(const Parameters &parameters, const uint64_t size, const Load &load):
    parameters_(parameters),
    size_(size),
    load_(load),
    model_(Model::Make(parameters, size, completions_, media_)),
    random_(load.seed)
{
    if (load.block > size)
        throw BadRequest("a request of " + sizeText(load.block) + " does not fit on " + sizeText(size));
}

uint64_t
Prediction::nextOffset()
{
    const auto blocks = size_ / load_.block;
    const auto block = load_.sequential ? submitted_ % blocks :
                       std::uniform_int_distribution<uint64_t>(0, blocks - 1)(random_);
    return block * load_.block;
}

void
Prediction::submit(Request &request, const Nanos at)
{
    request = Request();
    request.op = load_.writes ? Op::write : Op::read;
    request.offset = nextOffset();
    request.size = load_.block;
    request.arrival = at;
    ++submitted_;
    model_->submit(request);
}

void
Prediction::run()
{
    std::vector<Request> requests(load_.depth);
    for (auto &request: requests)
        submit(request, 0);
    while (answered_ < load_.requests) {
        const auto event = std::min(model_->nextEvent(), completions_.next());
        if (event == never)
            return; // a model that has lost a request; answered_ tells
        time_ = std::max(time_, event);
        model_->advance(time_);
        while (completions_.next() <= time_) {
            auto &request = completions_.pop();
            const auto response = time_ - request.arrival;
            responses_ += response;
            slowest_ = std::max(slowest_, response);
            ++answered_;
            // an endless speed would leave the clock where it is
            submit(request, parameters_.kind == Kind::fast ? time_ + 1 : time_);
        }
    }
}

Json
Prediction::json() const
{
    const double time = std::max(toSeconds(time_), 1e-9);
    const auto answered = static_cast<double>(answered_);
    Json text;
    text["model"] = parameters_.model;
    text["requests"] = answered_;
    text["seconds"] = toSeconds(time_);
    text["requestsPerSecond"] = answered / time;
    text["megabytesPerSecond"] = answered * static_cast<double>(load_.block) / time / 1e6;
    text["responseMeanMillis"] = toSeconds(responses_) * 1000 / std::max(answered, 1.0);
    text["responseMaxMillis"] = toSeconds(slowest_) * 1000;
    text["positionings"] = media_.readPositionings + media_.writePositionings;
    text["positioningSeconds"] = toSeconds(media_.positioning);
    text["transferSeconds"] = toSeconds(media_.transfer);
    text["cacheHits"] = media_.cacheHits;
    text["streamedReads"] = media_.streamed;
    text["parameters"] = parameters_.json();
    return text;
}

} // namespace DiskModel
