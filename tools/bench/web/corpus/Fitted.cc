// SPDX-License-Identifier: GPL-2.0-or-later
/* What recorded page loads look like, in figures. */

#include "tools/bench/web/corpus/Fitted.h"

#include <algorithm>

namespace WebBench::Fitted {

namespace {

/// embedded objects of a kind
struct Row {
    Kind kind;
    double share; ///< of all embedded objects
    double position; ///< mean place in the page
    double shared; ///< the share that was seen on an earlier page of the session
    Quantiles size;
};

const std::array<Row, 6> &
rows()
{
    static const std::array<Row, 6> table{{
        {Kind::image, .6829, .54, .22, Quantiles({19, 35, 43, 92, 1150, 3776, 8907, 21459, 36579, 105632, 332407, 1799083})},
        {Kind::js, .1927, .41, .77, Quantiles({1, 19, 175, 442, 1629, 8034, 34289, 56889, 87887, 195659, 243834, 261389})},
        {Kind::css, .0582, .21, .68, Quantiles({1, 121, 451, 750, 1602, 5647, 26831, 76848, 98888, 243662, 298178, 298178})},
        {Kind::html, .0474, .65, .26, Quantiles({1, 11, 20, 77, 571, 2213, 13312, 26655, 37089, 69174, 76342, 84711})},
        {Kind::other, .0156, .58, .37, Quantiles({1, 1, 2, 35, 169, 5622, 28107, 81385, 278947, 590219, 1781760, 1781760})},
        {Kind::font, .0032, .73, .17, Quantiles({17456, 18156, 22604, 22748, 26170, 34860, 76976, 80484, 87897, 101321, 102112, 102112})},
    }};
    return table;
}

const Row &
rowOf(const Kind kind)
{
    const auto wanted = kind == Kind::binary ? Kind::other : kind;
    return *std::find_if(rows().begin(), rows().end(), [=](const Row &row) { return row.kind == wanted; });
}

} // namespace

const Quantiles &
members()
{
    static const Quantiles result({1, 1, 4, 5, 18, 37, 65, 110, 159, 252, 422, 422});
    return result;
}

const Quantiles &
pageSize()
{
    static const Quantiles result({65, 1010, 2958, 4586, 10440, 22749, 52037, 85168, 101295, 121668, 328733, 328733});
    return result;
}

const Quantiles &
memberSize(const Kind kind)
{
    return rowOf(kind).size;
}

Kind
drawKind(Tools::Random &random)
{
    double rest = random.real();
    for (const auto &row: rows()) {
        rest -= row.share;
        if (rest < 0)
            return row.kind;
    }
    return Kind::image; // the shares are rounded
}

double
meanMemberSize()
{
    double sum = 0;
    for (const auto &row: rows())
        sum += row.share * row.size.mean();
    return sum;
}

double
position(const Kind kind)
{
    return rowOf(kind).position;
}

double
sharedShare(const Kind kind, const double amongAll)
{
    double recorded = 0;
    for (const auto &row: rows())
        recorded += row.share * row.shared;
    const double share = rowOf(kind).shared / recorded * amongAll;
    if (share <= 1 && amongAll < 1)
        return share;
    return 1;
}

} // namespace WebBench::Fitted
