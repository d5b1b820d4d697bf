// SPDX-License-Identifier: GPL-2.0-or-later
/* bench-scale: the engine with as many objects as large disks hold. */

#include "tools/base/CommandLine.h"
#include "tools/bench/scale/Measures.h"

#include <algorithm>
#include <fstream>
#include <iostream>

using namespace ScaleBench;

namespace {

int
fail(const std::string &what)
{
    std::cerr << "bench-scale: " << what << std::endl;
    return 1;
}

int
measure(Plan plan, const uint64_t terabytes, const bool quick, const std::string &out)
{
    plan.terabytes = {1, 8, 64};
    if (terabytes)
        plan.terabytes = {terabytes};
    if (quick) {
        plan.terabytes.resize(1);
        plan.objects = 100000;
        plan.interval = 10;
        plan.copies = 2000;
        plan.pieces = 3;
    }
    plan.fewer = quick ? plan.objects : plan.objects / 10;
    plan.copies = std::min(plan.copies, plan.fewer / 2);
    const auto text = measureAll(plan);
    if (!out.empty() && !(std::ofstream(out) << text))
        return fail(out + ": it can't be written");
    return 0;
}

} // namespace

int
main(int argc, char **argv)
{
    Tools::CommandLine line("bench-scale: measures the engine with as many objects as large disks hold. A sparse file keeps\n"
                            "the index log and the directories; objects' bytes are made again when they are read.");
    Plan plan;
    plan.folder = ".";
    plan.objects = 100000000;
    plan.rate = 1000;
    plan.interval = 300;
    plan.copies = 200000;
    plan.pieces = 20;
    uint64_t terabytes = 0;
    uint64_t bytes = 300;
    bool quick = false;
    std::string out;
    std::string path;
    line.text("folder", plan.folder, "FOLDER", "folder for the image, which takes 20 GB in the end");
    line.whole("terabytes", terabytes, 0, 1024, "TB of the disk; 0: first 1, then 8, then 64");
    line.whole("objects", plan.objects, 1, 1000000000, "objects on the disk");
    line.flag("quick", quick, "run everything with a hundred thousand objects; the figures mean nothing");
    line.text("out", out, "FILE", "write all figures to it as JSON; ./bench report FOLDER makes tables of such files");
    line.section("Instead");
    line.text("load", path, "IMAGE", "store that many objects in this formatted cache, and die without closing");
    line.bytes("bytes", bytes, 0, uint64_t(1) << 30, "bytes of each object");
    try {
        if (!line.read(Tools::wordsOf(argc, argv)))
            return 0;
        if (path.empty())
            return measure(plan, terabytes, quick, out);
        return fail(load(path, plan.objects, bytes));
    } catch (const std::exception &e) {
        return fail(e.what());
    }
}
