// SPDX-License-Identifier: GPL-2.0-or-later
/* A disk that takes no time. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_MODEL_FASTMODEL_H
#define CLUSTERFS_TOOLS_DISKMODEL_MODEL_FASTMODEL_H

#include "tools/diskmodel/model/Model.h"

namespace DiskModel {

/// Each request is done when it arrives: for filling and ageing a store, and
/// to see what the plumbing costs.
class FastModel : public Model
{
public:
    explicit FastModel(Completions &completions): completions_(completions) {}

    void submit(Request &request) override { completions_.add(request, request.arrival); }

private:
    Completions &completions_;
};

} // namespace DiskModel

#endif
