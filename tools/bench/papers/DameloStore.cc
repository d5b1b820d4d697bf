// SPDX-License-Identifier: GPL-2.0-or-later
/* Damelo's class as a store of the experiments. */

#include "DameloStore.h"

namespace Papers {

DameloStore::~DameloStore()
{
    store_ = nullptr; // it is the class's
}

bool
DameloStore::start(std::string &error)
{
    for (const auto &option: order().options) {
        if (option.first != "cluster-size") {
            error = "--option " + option.first + ": Damelo's class has no such parameter; here is cluster-size, its size of a frame";
            return false;
        }
    }
    return plan(0, 0, error) && format(error) && open(error);
}

bool
DameloStore::open(std::string &error)
{
    clusterfs::damelo::Status status = 0;
    damelo_ = std::make_unique<clusterfs::damelo::Damelo>(order().path.c_str(), static_cast<int>(std::max(1U, order().groups)),
              static_cast<int>(order().memory >> 20), status);
    store_ = damelo_->store();
    if (status == 0)
        return true;
    error = order().path + ": Damelo's class opens no store with " + std::to_string(order().memory >> 20) + " MB: " + clusterfs_strerror(status);
    return false;
}

bool
DameloStore::close(std::string &error)
{
    store_ = nullptr;
    damelo_.reset();
    (void)error;
    return true;
}

/// \returns a number from 1 on
int
DameloStore::groupOf(const Hint &hint) const
{
    return order().hints && hint.group != Hint::none ? static_cast<int>(hint.group) + 1 : 1;
}

Outcome
DameloStore::create(const Item &item, const Hint &hint)
{
    auto *const bytes = scratch(item.size);
    content().fill(item, 0, bytes, item.size);
    return OutcomeOf(damelo_->create(NameOf(item.id).c_str(), groupOf(hint), bytes, static_cast<int>(item.size)));
}

Outcome
DameloStore::read(const Item &item, const Hint &hint, uint32_t &version)
{
    const auto name = NameOf(item.id);
    char *bytes = nullptr;
    int size = 0;
    const auto status = damelo_->read(name.c_str(), groupOf(hint), bytes, size);
    if (status != 0)
        return OutcomeOf(status);
    const auto outcome = check(item, bytes, static_cast<uint64_t>(size), version);
    return damelo_->release(name.c_str(), groupOf(hint)) == 0 ? outcome : Outcome::bad;
}

Outcome
DameloStore::remove(const uint32_t id)
{
    return OutcomeOf(damelo_->remove(NameOf(id).c_str(), 1)); // any valid group does
}

void
DameloStore::prefer(const std::vector<bool> &wanted)
{
    if (!order().hints)
        return;
    for (size_t group = 0; group < wanted.size(); ++group)
        (void)(wanted[group] ? damelo_->love(static_cast<int>(group) + 1) : damelo_->hate(static_cast<int>(group) + 1));
}

} // namespace Papers
