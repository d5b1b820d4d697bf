// SPDX-License-Identifier: GPL-2.0-or-later
/* What recorded page loads look like, in figures. */

#ifndef CLUSTERFS_BENCH_WEB_CORPUS_FITTED_H
#define CLUSTERFS_BENCH_WEB_CORPUS_FITTED_H

#include "tools/base/Random.h"
#include "tools/bench/web/corpus/Quantiles.h"
#include "tools/replay/Kind.h"

#include <cstdint>

/// Figures of 334 page loads in two public sets of recordings: 16 browsing
/// sessions of 2012 (HTTP/2 test set of Herve Ruellan) and single loads of 200
/// popular sites of 2013 (Alexa). Taken were the pages that begin with HTML, of
/// each object its first response with status 200 and a body, below 2 MB:
/// 17,296 objects. A page has 51.8 of them (median 38) and 765 KB (median 558).
namespace WebBench::Fitted {

using namespace Replay;

/// how many objects a page embeds
const Quantiles &members();

/// the size of a page's own HTML
const Quantiles &pageSize();

/// the size of an embedded object; binary has none and gets that of other
const Quantiles &memberSize(Kind);

/// the kind of an embedded object, by its share
Kind drawKind(Tools::Random &);

/// the mean size of an embedded object
double meanMemberSize();

/// Where in a page (0 the head, 1 the end) objects of a kind are, on average.
double position(Kind);

/// which share of the embedded objects of a kind is also on other pages of the
/// site, when among all objects it is that share (0..1)
double sharedShare(Kind, double amongAll);

/// what amongAll is in the recorded sessions
constexpr double recordedSharedShare = 0.38;

/// Which share of the images is asked for by style sheets. Not from the traces,
/// whose Referers name pages only: an assumption.
constexpr double imagesOfStyleSheets = 0.2;

} // namespace WebBench::Fitted

#endif
