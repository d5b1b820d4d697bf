// SPDX-License-Identifier: GPL-2.0-or-later
/* URLs that say all about their objects. */

#include "tools/bench/web/corpus/Target.h"
#include "tools/base/Random.h"
#include "tools/base/Text.h"

#include <algorithm>

namespace WebBench {

using namespace Tools;

bool
Target::parse(const std::string_view path)
{
    const auto dot = path.rfind('.');
    if (path.empty() || path[0] != '/' || dot == std::string_view::npos || !kindOfExtension(path.substr(dot + 1), kind))
        return false;
    const auto stem = path.substr(0, dot);
    const auto versionDash = stem.rfind('-');
    if (versionDash == std::string_view::npos || versionDash == 0)
        return false;
    const auto sizeDash = stem.rfind('-', versionDash - 1);
    const auto version = stem.substr(versionDash + 1);
    uint64_t number = 0;
    if (sizeDash == std::string_view::npos || version.empty() || version[0] != 'v' || !parseWhole(version.substr(1), number)
            || !parseWhole(stem.substr(sizeDash + 1, versionDash - sizeDash - 1), size) || size > largestObject)
        return false;
    seed = hashText(path);
    return true;
}

std::string_view
siteOf(const std::string_view path)
{
    const auto begin = std::min<size_t>(1, path.size());
    const auto end = path.find('/', begin);
    return path.substr(begin, end == path.npos ? 0 : end - begin);
}

std::string
makePath(const std::string_view folder, const std::string_view name, const Kind kind, const uint64_t size, const uint32_t version)
{
    std::string path;
    path.reserve(folder.size() + name.size() + 32);
    path.append(folder).append(1, '/').append(name).append(1, '-').append(std::to_string(size)).append("-v");
    return path.append(std::to_string(version)).append(1, '.').append(infoOf(kind).extension);
}

} // namespace WebBench
