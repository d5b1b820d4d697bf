// SPDX-License-Identifier: GPL-2.0-or-later
/* The options of commands that make an empty cache. */

#include "Formatting.h"
#include "Image.h"

#include "fs/cluster/api/Options.h"
#include "fs/cluster/device/DeviceCheck.h"

#include <sstream>

namespace ClusterFs::Cli {
namespace {

/// what the table says of an option, in lines that suit the help
std::string
helpOf(const Option &option)
{
    constexpr size_t width = 52;
    std::istringstream words(option.brief + std::string("; from ") + std::to_string(option.least) + " to " + std::to_string(option.most) +
                             " (default: " + option.defaultValue() + ")");
    std::string text;
    size_t used = 0;
    for (std::string word; words >> word; used += 1 + word.size()) {
        const bool fits = used + word.size() < width;
        text += (text.empty() ? "" : fits ? " " : "\n") + word;
        used = fits ? used : 0;
    }
    return text;
}

} // namespace
} // namespace ClusterFs::Cli

ClusterFs::Cli::FormatOptions::FormatOptions(Line &line)
{
    line.text("size", size_, "MB", "make a file of that size, if there is none; of an existing\ndevice or file, use only that much");
    for (const auto &option: options()) {
        if (option.effect == Option::Effect::format)
            line.text(option.name, values_[&option], option.unit, helpOf(option));
    }
}

void
ClusterFs::Cli::FormatOptions::fill(const Line &line, FormatOrder &order) const
{
    std::string error;
    order.path = line.path();
    order.log = complaints(order.path);
    order.sizeName = "--size=MB";
    for (const auto &[option, value]: values_) {
        if (!value.empty() && !option->take(order.config, value, error))
            throw BadRequest("--" + error + " (" + option->unit + ")");
    }
    if (!order.config.validate(error))
        throw BadRequest(error);
    if (!size_.empty())
        order.bytes = Tools::wholeFrom("--size", size_, smallestDevice >> 20, uint64_t(1) << 40) << 20;
}

const struct passwd *
ClusterFs::Cli::userNamed(const std::string &name)
{
    const auto *const user = getpwnam(name.c_str());
    if (!user)
        throw BadRequest("--owner=" + name + ": there is no such user");
    return user;
}
