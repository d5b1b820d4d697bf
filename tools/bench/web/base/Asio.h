// SPDX-License-Identifier: GPL-2.0-or-later
/* Boost.Asio as both programs use it. All that need Asio or Beast include this
 * first, so that Asio is compiled once, in Asio.cc. */

#ifndef CLUSTERFS_BENCH_WEB_BASE_ASIO_H
#define CLUSTERFS_BENCH_WEB_BASE_ASIO_H

#define BOOST_ASIO_SEPARATE_COMPILATION

#include "tools/base/Clock.h"
#include "tools/bench/web/base/Endpoint.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

namespace WebBench {

using namespace Tools;
namespace asio = boost::asio;
using boost::system::error_code;
using asio::ip::tcp;

inline tcp::endpoint
toAsio(const Endpoint &place)
{
    return {asio::ip::address_v4(place.address), place.port};
}

/// \param time by now()
inline asio::steady_timer::time_point
toAsio(const Nanos time)
{
    return asio::steady_timer::time_point(std::chrono::nanoseconds(time));
}

/// for 1 as the value of an option of SOL_SOCKET or IPPROTO_IP that Asio has no name for;
/// what depends on it fails later, with a reason
void enable(tcp::socket::native_handle_type, int level, int option);

} // namespace WebBench

#endif
