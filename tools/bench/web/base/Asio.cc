// SPDX-License-Identifier: GPL-2.0-or-later
/* Boost.Asio, compiled once. */

#include "tools/bench/web/base/Asio.h"

#include <boost/asio/impl/src.hpp>
#include <sys/socket.h>

namespace WebBench {

void
enable(const tcp::socket::native_handle_type socket, const int level, const int option)
{
    const int on = 1;
    setsockopt(socket, level, option, &on, sizeof(on));
}

} // namespace WebBench
