// SPDX-License-Identifier: GPL-2.0-or-later
/* Kinds of objects, and how browsers ask for them. */

#include "tools/replay/Kind.h"
#include "tools/base/Text.h"

namespace Replay {

using namespace Tools;

namespace {

const std::array<KindInfo, kindCount> kinds{{
    {"html", "html", 'h', "text/html", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "iframe", "navigate"},
    {"css", "css", 'c', "text/css", "text/css,*/*;q=0.1", "style", "no-cors"},
    {"js", "js", 'j', "text/javascript", "*/*", "script", "no-cors"},
    {"image", "png", 'i', "image/png", "image/avif,image/webp,*/*", "image", "no-cors"},
    {"font", "woff2", 'f', "font/woff2", "*/*", "font", "cors"},
    {"other", "json", 'o', "application/json", "*/*", "empty", "cors"},
    {"binary", "bin", 'b', "application/octet-stream", "*/*", "", ""},
}};

struct Extension {
    std::string_view name;
    Kind kind;
};

/// what real sites call their files
constexpr Extension known[] = {
    {"html", Kind::html}, {"htm", Kind::html}, {"php", Kind::html}, {"asp", Kind::html}, {"aspx", Kind::html},
    {"jsp", Kind::html}, {"css", Kind::css}, {"js", Kind::js}, {"mjs", Kind::js}, {"png", Kind::image},
    {"gif", Kind::image}, {"jpg", Kind::image}, {"jpeg", Kind::image}, {"webp", Kind::image}, {"svg", Kind::image},
    {"ico", Kind::image}, {"avif", Kind::image}, {"bmp", Kind::image}, {"xbm", Kind::image}, {"woff", Kind::font},
    {"woff2", Kind::font}, {"ttf", Kind::font}, {"otf", Kind::font}, {"eot", Kind::font}, {"json", Kind::other},
    {"xml", Kind::other}, {"txt", Kind::other}, {"zip", Kind::binary}, {"gz", Kind::binary}, {"exe", Kind::binary},
    {"deb", Kind::binary}, {"rpm", Kind::binary}, {"iso", Kind::binary}, {"pdf", Kind::binary}, {"mp4", Kind::binary},
};

} // namespace

const KindInfo &
infoOf(const Kind kind)
{
    return kinds[static_cast<unsigned>(kind)];
}

bool
kindNamed(const std::string_view name, Kind &kind)
{
    for (unsigned k = 0; k < kindCount; ++k) {
        if (kinds[k].name == name) {
            kind = static_cast<Kind>(k);
            return true;
        }
    }
    return false;
}

bool
kindOfExtension(const std::string_view extension, Kind &kind)
{
    for (unsigned k = 0; k < kindCount; ++k) {
        if (kinds[k].extension == extension) {
            kind = static_cast<Kind>(k);
            return true;
        }
    }
    return false;
}

Kind
guessKind(std::string_view url)
{
    url = url.substr(0, url.find_first_of("?#;"));
    const auto slash = url.rfind('/');
    const auto name = slash == std::string_view::npos ? url : url.substr(slash + 1);
    const auto dot = name.rfind('.');
    if (dot == std::string_view::npos)
        return Kind::html; // mostly the page of a folder
    for (const auto &extension: known) {
        if (equalNoCase(extension.name, name.substr(dot + 1)))
            return extension.kind;
    }
    return Kind::other;
}

} // namespace Replay
