// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers that name things of one kind. */

#ifndef SQUID_SRC_FS_CLUSTER_BASE_ID_H
#define SQUID_SRC_FS_CLUSTER_BASE_ID_H

#include <cstddef>
#include <functional>

namespace ClusterFs {

/// A number that names a thing, such as a cluster. The compiler takes it for no number of another kind. It costs no more
/// memory and time than the number. Ids have an order, and an id plus a number is the id that lies so far behind it.
/// \param Tag tells kinds apart
template <class Tag, class Number>
class Id
{
public:
    using Value = Number;

    Id() = default; ///< not initialized, like a plain number: in a Table, which is filled with zeros, the id is 0
    explicit constexpr Id(const Number n): number_(n) {}

    constexpr Number value() const { return number_; }

    Id &operator ++() {
        ++number_;
        return *this;
    }
    Id operator ++(int) { return Id(number_++); }
    Id &operator +=(const Number n) { return *this = *this + n; }

    friend constexpr bool operator ==(const Id a, const Id b) { return a.number_ == b.number_; }
    friend constexpr bool operator !=(const Id a, const Id b) { return a.number_ != b.number_; }
    friend constexpr bool operator <(const Id a, const Id b) { return a.number_ < b.number_; }
    friend constexpr bool operator <=(const Id a, const Id b) { return a.number_ <= b.number_; }
    friend constexpr bool operator >(const Id a, const Id b) { return a.number_ > b.number_; }
    friend constexpr bool operator >=(const Id a, const Id b) { return a.number_ >= b.number_; }

    /// the id that comes n behind, or before, another one
    friend constexpr Id operator +(const Id a, const Number n) { return Id(static_cast<Number>(a.number_ + n)); }
    friend constexpr Id operator -(const Id a, const Number n) { return Id(static_cast<Number>(a.number_ - n)); }
    /// how far a lies behind b; a must not be the lower one
    friend constexpr Number operator -(const Id a, const Id b) { return static_cast<Number>(a.number_ - b.number_); }

private:
    Number number_;
};

} // namespace ClusterFs

template <class Tag, class Number>
struct std::hash<ClusterFs::Id<Tag, Number>> {
    size_t operator ()(const ClusterFs::Id<Tag, Number> id) const { return std::hash<Number>()(id.value()); }
};

#endif
