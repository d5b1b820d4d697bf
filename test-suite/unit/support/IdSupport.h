// SPDX-License-Identifier: GPL-2.0-or-later
/* Ids as tests write and read them. */

#ifndef SQUID_TEST_SUITE_UNIT_SUPPORT_IDSUPPORT_H
#define SQUID_TEST_SUITE_UNIT_SUPPORT_IDSUPPORT_H

#include "fs/cluster/base/Types.h"

#include <ostream>
#include <type_traits>

namespace ClusterFs {

/// how GoogleTest shows an id
template <class Tag, class Number>
void
PrintTo(const Id<Tag, Number> id, std::ostream *os)
{
    *os << id.value();
}

namespace Testing {

constexpr ClusterNo operator ""_c(const unsigned long long n) { return ClusterNo(static_cast<uint32_t>(n)); }
constexpr Sequence operator ""_seq(const unsigned long long n) { return Sequence(n); }

/// An argument of what tests call: an id, or its number.
template <class I>
class Plain
{
public:
    Plain(const I id): id_(id) {}
    template <class N, class = std::enable_if_t<std::is_integral<N>::value>>
    Plain(const N n): id_(static_cast<typename I::Value>(n)) {}

    operator I() const { return id_; }
    typename I::Value value() const { return id_.value(); }

private:
    I id_;
};

} // namespace Testing
} // namespace ClusterFs

#endif
