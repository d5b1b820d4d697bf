// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables of the states that may follow each other. */

#ifndef SQUID_SRC_FS_CLUSTER_BASE_STATES_H
#define SQUID_SRC_FS_CLUSTER_BASE_STATES_H

namespace ClusterFs {

/// a state as a member of a set of states
template <class State>
constexpr unsigned
bit(const State s)
{
    return 1U << static_cast<unsigned>(s);
}

/// whether a state may follow another one
/// \param followers for each state, in the order of its enum: the set of those that may follow it
template <class State>
constexpr bool
mayFollow(const unsigned *const followers, const State from, const State to)
{
    return followers[static_cast<unsigned>(from)] & bit(to);
}

} // namespace ClusterFs

#endif
