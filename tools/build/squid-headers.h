// SPDX-License-Identifier: GPL-2.0-or-later
// Headers that most files of Squid include. squid-tree.sh compiles them once for
// each tree, since reading them takes more than half of the time of a build.
#include "squid.h"

#include "acl/FilledChecklist.h"
#include "comm/Connection.h"
#include "debug/Stream.h"
#include "HttpReply.h"
#include "HttpRequest.h"
#include "sbuf/Stream.h"
#include "SquidConfig.h"
#include "Store.h"

#include <algorithm>
#include <functional>
#include <iostream>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
