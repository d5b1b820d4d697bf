// SPDX-License-Identifier: GPL-2.0-or-later
/* What decides when a request is done. */

#include "tools/diskmodel/model/Model.h"

#include "tools/diskmodel/model/FastModel.h"
#include "tools/diskmodel/model/HddModel.h"
#include "tools/diskmodel/model/SsdModel.h"

std::unique_ptr<DiskModel::Model>
DiskModel::Model::Make(const Parameters &parameters, const uint64_t size, Completions &completions,
                       MediaCounters &counters)
{
    switch (parameters.kind) {
    case Kind::hdd:
        return std::make_unique<HddModel>(parameters, size, completions, counters);
    case Kind::ssd:
        return std::make_unique<SsdModel>(parameters, completions, counters);
    case Kind::fast:
        break;
    }
    return std::make_unique<FastModel>(completions);
}
