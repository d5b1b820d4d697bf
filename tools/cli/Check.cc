// SPDX-License-Identifier: GPL-2.0-or-later
/* clusterfs check. */

#include "Commands.h"
#include "Objects.h"
#include "Regions.h"

#include <algorithm>
#include <unordered_set>

namespace ClusterFs::Cli {
namespace {

constexpr uint64_t problemsShown = 10000;

/// something that is not as it should be
struct Problem {
    const char *what; ///< which kind of thing
    std::string text;
    ClusterNo cluster = noCluster;
    int64_t offset = -1; ///< in the cluster, bytes
    std::string key;
};

/// one check: prints problems as they are found, then the numbers
class Checker
{
public:
    Checker(Image &image, Output &out): image_(image), out_(out) {}
    /// \returns an exit code
    int run();

private:
    void found(const Problem &);
    void checkCopies();
    void checkRegions(const Superblock &);
    bool checkClusters(IndexView &);
    void checkCluster(IndexView &, ClusterNo);
    void checkObject(IndexView &, const FoundObject &);
    void checkLeftovers(const IndexView &, const FoundCluster &);
    void checkAll();
    void conclude();

    Image &image_;
    Output &out_;
    uint64_t problems_ = 0;
    std::string start_; ///< what a start would do
    RecoveryStats recovery_;
    uint64_t clusters_ = 0; ///< looked at, packed
    uint64_t parts_ = 0; ///< looked at
    uint64_t objects_ = 0; ///< looked at
    uint64_t damagedObjects_ = 0;
    uint64_t bytes_ = 0; ///< of the objects
    Superblock superblock_;
    bool usable_ = false; ///< superblock_ is valid
};

void
Checker::found(const Problem &p)
{
    if (++problems_ > problemsShown)
        return;
    out_.openItem();
    out_.put("what", p.what);
    if (p.cluster != noCluster)
        out_.put("cluster", uint64_t(p.cluster.value()));
    if (p.offset >= 0)
        out_.put("offset", static_cast<uint64_t>(p.offset));
    if (!p.key.empty())
        out_.put("key", p.key);
    out_.put("text", p.text);
    out_.close();
}

void
Checker::checkCopies()
{
    for (unsigned n = 0; n < 2; ++n) {
        const auto &copy = image_.copy(n);
        if (copy.status != Status::ok)
            found({"superblock", "copy at byte " + std::to_string(n * superblockSpacing) + ": " + copy.reason, noCluster, -1, ""});
    }
}

void
Checker::checkRegions(const Superblock &s)
{
    const auto log = summarizeLog(image_, s);
    if (!log.problem.empty())
        found({"log", log.problem, noCluster, -1, ""});
    for (const auto follows: {s.checkpoint, s.checkpoint + 1}) {
        const auto journal = summarizeJournal(image_, s, follows);
        if (!journal.problem.empty())
            found({"journal", journal.problem, noCluster, -1, ""});
    }
}

void
Checker::checkObject(IndexView &view, const FoundObject &object)
{
    ++objects_;
    bytes_ += object.info.size;
    const auto key = object.named ? object.key.hex() : std::string();
    if (object.status != Status::ok)
        found({"object", "its extent is damaged", object.cluster, object.offset, key});
    std::vector<ClusterNo> damaged;
    view.examineParts(object, damaged);
    for (const auto part: damaged)
        found({"part", "this part of the object is damaged", part, -1, key});
    if (object.status != Status::ok || !damaged.empty())
        ++damagedObjects_;
    for (auto n = object.firstPart; n != noCluster; n = view.catalog().clusters()[n].nextPart)
        ++parts_;
}

/// Extents that the index does not use: deleted or replaced objects. Their
/// damage does no harm, but says something of the disk.
void
Checker::checkLeftovers(const IndexView &view, const FoundCluster &cluster)
{
    std::unordered_set<uint32_t> used;
    for (const auto &object: cluster.objects)
        used.insert(object.offset);
    const auto &c = view.catalog().clusters()[cluster.number];
    for (const auto &e: cluster.directory.entries) {
        if (used.count(e.offset))
            continue;
        ExtentHeader expected;
        expected.size = e.size;
        expected.sequence = c.sequence;
        expected.key = e.key;
        if (checkExtent(cluster.bytes + e.offset, c.end - e.offset, expected, superblock_.uuid, cluster.number, e.offset) != Status::ok)
            found({"leftover", "the extent of an object that is not used any more is damaged", cluster.number, e.offset, e.key.hex()});
    }
}

void
Checker::checkCluster(IndexView &view, const ClusterNo n)
{
    ++clusters_;
    FoundCluster cluster;
    view.examine(n, cluster);
    if (cluster.read != Status::ok) {
        found({"cluster", "it can't be read", n, -1, ""});
    } else if (cluster.directoryStatus != Status::ok) {
        found({"directory", "the cluster's front is damaged; a scan would not find its " +
               std::to_string(cluster.objects.size()) + " objects", n, -1, ""});
    } else {
        checkLeftovers(view, cluster);
    }
    // first all extents: parts are read into the same memory
    for (const auto &object: cluster.objects)
        checkObject(view, object);
}

bool
Checker::checkClusters(IndexView &view)
{
    std::string error;
    if (!view.load(error)) {
        found({"index", error, noCluster, -1, ""});
        return false;
    }
    recovery_ = view.stats();
    for (ClusterNo n{0}; view.catalog().clusters().has(n); ++n) {
        if (view.holdsObjects(n))
            checkCluster(view, n);
    }
    return true;
}

void
Checker::checkAll()
{
    checkCopies();
    std::string error;
    if (image_.choose(superblock_, error) != Status::ok) {
        start_ = "refused: " + error;
        if (!problems_) // both copies are whole, but do not suit the device
            found({"device", error, noCluster, -1, ""});
        return;
    }
    usable_ = true;
    checkRegions(superblock_);
    IndexView view(image_, superblock_, [](LogLevel, const std::string &) {});
    if (!checkClusters(view)) {
        start_ = "does not come to an end";
        return;
    }
    start_ = superblock_.clean ? "after a clean stop" : "after a crash";
    if (recovery_.scanned)
        start_ += ", by a scan of all " + std::to_string(superblock_.geometry.clusterCount) + " clusters; what it finds is revalidated before use";
    else if (superblock_.checkpoint)
        start_ += ", from checkpoint " + std::to_string(superblock_.checkpoint);
    else
        start_ += ", without a checkpoint";
}

void
Checker::conclude()
{
    out_.put("problem_count", problems_);
    out_.put("start", start_);
    if (!usable_)
        return;
    out_.putFlag("clean", superblock_.clean);
    out_.putFlag("scan", recovery_.scanned);
    out_.put("objects", recovery_.objects);
    out_.put("object_bytes", bytes_);
    out_.put("damaged_objects", damagedObjects_);
    out_.put("packed_clusters", clusters_);
    out_.put("part_clusters", parts_);
    out_.put("deletes_replayed", recovery_.deletes);
    out_.put("records_overruled", recovery_.dropped);
    out_.put("clusters_read_at_start", recovery_.clustersRead);
    out_.put("clusters_announced", recovery_.clustersAnnounced);
    out_.put("clusters_written", recovery_.clustersWritten);
    out_.put("clusters_torn", recovery_.clustersTorn);
    out_.put("objects_lost", recovery_.objectsLost);
    out_.put("journal_blocks_lost", recovery_.journalBlocksLost);
    out_.put("log_blocks_lost", recovery_.blocksLost);
}

int
Checker::run()
{
    out_.put("path", image_.path());
    const auto exposure = exposureOf(image_.path());
    if (!exposure.empty())
        out_.put("warning", exposure);
    out_.openList("problems");
    checkAll();
    out_.close();
    conclude();
    out_.put("result", problems_ ? "damaged" : "clean");
    return problems_ ? exitProblems : exitFine;
}

int
runCheck(const Words &words)
{
    bool json = false;
    Line line("check");
    line.flag("json", json, "print one JSON object");
    if (!line.read(words))
        return exitFine;
    const auto image = openOurs(line.path(), false);
    if (!image)
        return exitCannot;
    Output out(json);
    const auto result = Checker(*image, out).run();
    out.finish();
    return result;
}

} // namespace

extern const Command checkCommand = {
    "check", &runCheck,
    "PATH [--json]",
    "Reads superblocks, index log, journals, and all clusters in use. Compares every\n"
    "checksum, and says what a start would do. Changes nothing.\n"
    "Ends with 0 when nothing is damaged, 1 when something is, 2 when it could not check."
};

} // namespace ClusterFs::Cli
