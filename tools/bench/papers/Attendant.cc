// SPDX-License-Identifier: GPL-2.0-or-later
/* Talk with the program that runs us. */

#include "Attendant.h"

#include <iostream>
#include <stdexcept>

namespace Papers {

void
Attendant::say(const std::string &text)
{
    if (!there_)
        return;
    std::cout << "@" << text << std::endl;
    std::string answer;
    if (!std::getline(std::cin, answer) || answer != "ok")
        throw std::runtime_error("--attended: no \"ok\" after \"@" + text + "\"" + (answer.empty() ? "" : ", but " + answer));
}

bool
Attendant::dropCaches()
{
    say("drop");
    return there_;
}

} // namespace Papers
