// SPDX-License-Identifier: GPL-2.0-or-later
/* What can be said to a running disk. */

#include "tools/diskmodel/device/Control.h"

#include "tools/base/Numbers.h"

#include <sstream>

namespace DiskModel {

using namespace Tools;

bool
Control::obey(const std::string &lines)
{
    result_ = "ok";
    try {
        if (lines.size() > maxBytes)
            throw BadRequest("more than " + sizeText(maxBytes) + " of commands at once");
        std::istringstream stream(lines);
        std::string line;
        while (std::getline(stream, line)) {
            if (!line.empty())
                obeyOne(line);
        }
    } catch (const BadRequest &error) {
        result_ = error.what();
        return false;
    }
    return true;
}

void
Control::obeyOne(const std::string &line)
{
    const auto blank = line.find(' ');
    const auto verb = line.substr(0, blank);
    const auto rest = blank == std::string::npos ? "" : line.substr(blank + 1);
    if (verb == "set")
        disk_.configure(rest);
    else if (verb == "fault")
        disk_.faults().add(rest);
    else if (verb == "mark")
        disk_.mark(wholeFrom("mark", rest, 0, UINT64_MAX));
    else if (!rest.empty())
        throw BadRequest("'" + line + "' is not a command; there are: set fault mark clear cut revive reset");
    else if (verb == "clear")
        disk_.faults().clear();
    else if (verb == "cut")
        disk_.cut();
    else if (verb == "revive")
        disk_.revive();
    else if (verb == "reset")
        disk_.reset();
    else
        throw BadRequest("'" + line + "' is not a command; there are: set fault mark clear cut revive reset");
}

const char *
Control::Help()
{
    return "  set name=value,...     change the model (model=hdd) or its parameters\n"
           "  reset                  begin to count anew\n"
           "  fault OP KIND ...      OP: read, write, flush. KIND: error (value=errno), corrupt,\n"
           "                         short (reads: value=bytes), torn (writes: value=bytes), lost,\n"
           "                         delay (value=ms). Then any of offset= length= count=\n"
           "                         probability= value=; sizes may end in K, M, G\n"
           "  clear                  no faults any more\n"
           "  cut                    power fails: all requests fail, nothing is stored\n"
           "  revive                 power is back, all that was stored is there\n"
           "  mark N                 put a mark into the write log\n";
}

} // namespace DiskModel
