// SPDX-License-Identifier: GPL-2.0-or-later
/* The modelled disk: bytes, timing, faults, log and counters together. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_DEVICE_DISK_H
#define CLUSTERFS_TOOLS_DISKMODEL_DEVICE_DISK_H

#include "tools/diskmodel/device/Faults.h"
#include "tools/diskmodel/device/Store.h"
#include "tools/diskmodel/device/Traffic.h"
#include "tools/diskmodel/device/WriteLog.h"
#include "tools/diskmodel/model/Model.h"

namespace DiskModel {

/// takes the answers; each request gets one, then its handle is forgotten
class Answers
{
public:
    virtual ~Answers() = default;
    virtual void read(void *handle, const char *data, uint64_t size) = 0;
    virtual void written(void *handle, uint64_t size) = 0;
    virtual void done(void *handle) = 0; ///< a flush or a discard
    virtual void failed(void *handle, int error) = 0;
};

/// A disk that answers requests when its model says so. Ranges must lie on it.
class Disk
{
public:
    /// \param log where to record writes, or nil; all of these must outlive the disk
    /// \throws BadRequest when the model's parameters make no disk
    Disk(Store &, WriteLog *log, Answers &, const Parameters &);
    ~Disk();

    uint64_t size() const { return store_.size(); }

    void read(void *handle, uint64_t offset, uint64_t size);
    void write(void *handle, uint64_t offset, uint64_t size, const char *data);
    void flush(void *handle);
    void discard(void *handle, uint64_t offset, uint64_t size);

    /// answers what is due; to be called at nextEvent() and after requests
    void advance();
    Nanos nextEvent() const;
    Nanos spin() const; ///< how long before an event not to sleep

    /// Changes the model or its parameters, also in the midst of requests: those
    /// that the old model has not decided on are answered at once. No data are
    /// lost; what was in the drive's caches is forgotten. \throws BadRequest
    void configure(const std::string &settings);

    /// power fails: from now on all requests fail and nothing is stored
    void cut();
    void revive(); ///< power is back, with all that was stored
    void mark(uint64_t number); ///< puts a mark into the log
    void reset(); ///< the counters
    Faults &faults() { return faults_; }
    std::string stats() const; ///< JSON, a value a line

private:
    Request &begin(void *handle, Op, uint64_t offset, uint64_t size);
    void submit(Request &);
    void finish(Request &, Nanos now);
    void answerRead(Request &);
    void answerDone(Request &);
    void fail(Request &, int error);
    void release(Request &);
    uint64_t log(LogKind, uint64_t offset, uint64_t size, const char *data = nullptr);
    void strike(Request &);
    void storeWrite(Request &, const char *data);

    Store &store_;
    WriteLog *const log_;
    Answers &answers_;
    Parameters parameters_;
    Completions completions_;
    MediaCounters media_;
    Traffic traffic_;
    Faults faults_;
    std::unique_ptr<Model> model_;
    std::vector<std::unique_ptr<Request>> requests_; ///< all that were ever needed at once
    std::vector<Request *> unused_;
    std::vector<char> scratch_; ///< for corrupted data
    bool cut_ = false;
    bool complained_ = false; ///< of a full store
};

} // namespace DiskModel

#endif
