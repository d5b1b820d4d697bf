// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers that name things, and are taken for no others. */

#include "test-suite/unit/support/IdSupport.h"

#include "fs/cluster/base/Bytes.h"
#include "fs/cluster/base/Memory.h"

#include <gtest/gtest.h>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <utility>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

template <class A, class B, class = void>
constexpr bool areCompared = false;
template <class A, class B>
constexpr bool areCompared<A, B, std::void_t<decltype(std::declval<A>() == std::declval<B>())>> = true;

/// whether one can be given, explicitly or not, where another one is wanted, or compared with it
template <class A, class B>
constexpr bool areMixed = std::is_constructible<A, B>::value || std::is_assignable<A &, B>::value || areCompared<A, B>;

/// the same of the first one and each of the others
template <class A, class... Others>
constexpr bool areApart = !(areMixed<A, Others> || ...) && !(areMixed<Others, A> || ...);

static_assert(areApart<ClusterNo, SlotNo, StageNo, Sequence>, "numbers of clusters name nothing else");
static_assert(areApart<SlotNo, StageNo, Sequence>, "places in the index are none in staging");
static_assert(areApart<StageNo, Sequence>, "places in staging count no writes");

/// a number becomes an id where somebody says so, and the other way round
template <class I>
constexpr bool isNoNumber = std::is_constructible<I, typename I::Value>::value && !std::is_convertible<typename I::Value, I>::value &&
                            !std::is_constructible<typename I::Value, I>::value && !areCompared<I, typename I::Value>;

static_assert(isNoNumber<ClusterNo> && isNoNumber<SlotNo> && isNoNumber<StageNo> && isNoNumber<Sequence>, "ids are no numbers");

/// memory that is mapped, zeroed or copied as a whole may hold them
template <class I>
constexpr bool costsNothing = sizeof(I) == sizeof(typename I::Value) && std::is_trivial<I>::value && std::is_standard_layout<I>::value;

static_assert(costsNothing<ClusterNo> && costsNothing<SlotNo> && costsNothing<StageNo> && costsNothing<Sequence>, "ids cost what numbers cost");

} // namespace

TEST(Id, hasAPlaceInAnOrder) {
    auto c = 5_c;
    EXPECT_EQ(c.value(), 5U);
    EXPECT_EQ(++c, 6_c);
    EXPECT_EQ(c++, 6_c);
    EXPECT_EQ(c, 7_c);
    EXPECT_EQ(c + 3, 10_c);
    EXPECT_EQ(c - 3, 4_c);
    c += 2;
    EXPECT_EQ(c - 4_c, 5U);
    EXPECT_EQ(ClusterNo(), 0_c) << "as memory that is filled with zeros";
    for (const auto &[a, b]: {std::pair(1_c, 2_c), std::pair(2_c, 1_c), std::pair(2_c, 2_c)}) {
        EXPECT_EQ(a == b, a.value() == b.value());
        EXPECT_EQ(a != b, a.value() != b.value());
        EXPECT_EQ(a < b, a.value() < b.value());
        EXPECT_EQ(a <= b, a.value() <= b.value());
        EXPECT_EQ(a > b, a.value() > b.value());
        EXPECT_EQ(a >= b, a.value() >= b.value());
    }
    EXPECT_LT(Sequence(~uint64_t(0) - 1), maxSequence);
    EXPECT_EQ((std::unordered_set<ClusterNo>{1_c, 2_c, 1_c}).size(), 2U);
}

TEST(Id, findsItsRecordInATable) {
    Table<uint32_t, SlotNo> table(10);
    table[SlotNo(3)] = 33;
    const auto &same = table;
    EXPECT_EQ(same[SlotNo(3)], 33U);
    EXPECT_EQ(same[SlotNo(4)], 0U);
    EXPECT_EQ(&same[SlotNo(9)] - &same[SlotNo(0)], 9);
}

TEST(Id, isOnTheMediaWhatItsNumberIs) {
    char buffer[12];
    ByteWriter w(buffer, sizeof(buffer));
    w.id(0x04030201_c);
    w.id(0x0c0b0a0908070605_seq);
    EXPECT_EQ(std::string(buffer, sizeof(buffer)), "\1\2\3\4\5\6\7\10\11\12\13\14");
    ByteReader r(buffer, sizeof(buffer));
    ClusterNo c;
    Sequence s;
    r.id(c);
    r.id(s);
    EXPECT_TRUE(r.good());
    EXPECT_EQ(c, 0x04030201_c);
    EXPECT_EQ(s, 0x0c0b0a0908070605_seq);
    r.id(c);
    EXPECT_FALSE(r.good());
    EXPECT_EQ(c, 0_c) << "there are zeros behind the end";
}
