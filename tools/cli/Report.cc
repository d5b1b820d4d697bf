// SPDX-License-Identifier: GPL-2.0-or-later
/* clusterfs report. */

#include "Manager.h"
#include "Survey.h"
#include "View.h"

#include <sstream>

namespace ClusterFs::Cli {
namespace {

/// -o FILE, as other programs have it, is --output=FILE
Words
inLongForm(const Words &words)
{
    Words result;
    for (size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "-o" && i + 1 < words.size())
            result.push_back("--output=" + words[++i]);
        else
            result.push_back(words[i]);
    }
    return result;
}

int
runReport(const Words &words)
{
    Line line("report");
    std::string output, passwordFile;
    double seconds = 30;
    line.text("output", output, "FILE", "the page, instead of standard output; the short form is -o FILE");
    line.real("seconds", seconds, 1, 3600, "how long a running Squid is watched");
    declarePassword(line, passwordFile);
    if (!line.read(inLongForm(words)))
        return exitFine;
    Words given = {"--output=" + output};
    if (Manager::IsAddress(line.path())) {
        std::ostringstream text;
        text << seconds;
        given.insert(given.end(), {"--seconds=" + text.str(), "--password-file=" + passwordFile, "--url=" + line.path()});
        return runView("report", given);
    }
    if (line.given("seconds") || line.given("password-file"))
        throw BadRequest("--seconds and --password-file are for a running Squid, http://HOST:PORT");
    OpenedIndex opened;
    if (!openIndex(line.path(), false, opened))
        return exitCannot;
    return runView("report", given, Tools::jsonText(survey(line.path(), opened)));
}

} // namespace

extern const Command reportCommand = {
    "report", &runReport,
    "PATH|URL [--output=FILE] [--seconds=N] [--password-file=FILE]",
    "Writes a page for a browser about a device that no Squid uses: a map of its clusters, and the\n"
    "sizes of its objects and groups. Of a running Squid, http://HOST:PORT, the page has the rates and\n"
    "times of the next seconds, and the map. The page needs no network."
};

} // namespace ClusterFs::Cli
