// SPDX-License-Identifier: GPL-2.0-or-later
/* Which object is in which file. */

#include "FileTable.h"

namespace Papers {

static constexpr uint32_t numbersLeast = 1 << 14; // as Squid's FileMap starts

FileNumbers::FileNumbers():
    taken_(numbersLeast)
{
}

uint32_t
FileNumbers::take()
{
    if (used_ == taken_.size())
        taken_.resize(taken_.size() * 2);
    while (taken_[next_])
        next_ = (next_ + 1) % static_cast<uint32_t>(taken_.size());
    const auto number = next_;
    taken_[number] = true;
    ++used_;
    next_ = (next_ + 1) % static_cast<uint32_t>(taken_.size());
    return number;
}

void
FileNumbers::give(const uint32_t number)
{
    taken_[number] = false;
    --used_;
}

FileTable::FileTable(const uint32_t objects):
    entries_(objects),
    recency_(objects)
{
}

void
FileTable::begin(const uint32_t id, const uint32_t bytes)
{
    auto &e = entries_[id];
    e.state = State::creating;
    e.number = numbers_.take();
    e.bytes = bytes;
    bytes_ += bytes;
    ++files_;
}

void
FileTable::complete(const uint32_t id)
{
    entries_[id].state = State::present;
    recency_.add(id);
}

void
FileTable::leave(const uint32_t id)
{
    entries_[id].state = State::leaving;
    recency_.remove(id);
}

void
FileTable::forget(const uint32_t id)
{
    auto &e = entries_[id];
    e.state = State::absent;
    numbers_.give(e.number);
    bytes_ -= e.bytes;
    --files_;
}

void
FileTable::touch(const uint32_t id)
{
    recency_.remove(id);
    recency_.add(id);
}

uint32_t
FileTable::victim() const
{
    auto id = recency_.oldest();
    while (id != Tools::Recency::none && entries_[id].pins)
        id = recency_.newer(id);
    return id;
}

} // namespace Papers
