// SPDX-License-Identifier: GPL-2.0-or-later
/* What the stores that stand on libclusterfs share. */

#ifndef CLUSTERFS_TOOLS_BENCH_PAPERS_LIBRARYSTORE_H
#define CLUSTERFS_TOOLS_BENCH_PAPERS_LIBRARYSTORE_H

#include "clusterfs/clusterfs.h"

#include "Store.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace Papers {

/// A store of clusterfs.h, which each paper's calls are given by a class of their own. An object's name is its number as a text.
class LibraryStore : public Store
{
public:
    ~LibraryStore() override;

    /// formats the device and opens it
    virtual bool start(std::string &error);

    void idle() override {}
    bool sync(std::string &error) override;
    bool dropMemory(std::string &error) override;
    uint64_t memoryToCome() const override;
    Json describe() const override;

    clusterfs_store *store() const { return store_; } ///< nil while it is closed

    /// \returns a text that ends with NUL
    static std::string NameOf(uint32_t id) { return "object " + std::to_string(id); }

protected:
    /// \param device a block device or file
    /// \param bytes of a file that is to be made; 0 = all of the device
    LibraryStore(const StoreOrder &, const Content &, std::string device, uint64_t bytes);

    /// Divides the memory. \param locality MB \param rest bytes that something else takes \returns false with the reason in error
    bool plan(unsigned locality, uint64_t rest, std::string &error);
    /// makes an empty store as planned
    bool format(std::string &error);

    /// opens store_ as planned, and gives it to the calls
    virtual bool open(std::string &error);
    /// the contrary
    virtual bool close(std::string &error);

    const StoreOrder &order() const { return order_; }
    const Content &content() const { return content_; }

    /// whether memory that a call has lent has the bytes of an object
    Outcome check(const Item &, const void *bytes, uint64_t size, uint32_t &version) const;
    /// what became of a call
    static Outcome OutcomeOf(int64_t result);

    clusterfs_store *store_ = nullptr;

private:
    struct FreeOptions {
        void operator ()(clusterfs_options *const options) const { clusterfs_options_free(options); }
    };
    using Options = std::unique_ptr<clusterfs_options, FreeOptions>;

    Options makeOptions(std::string &error) const;
    double statistic(const char *name) const;

    const StoreOrder order_;
    const Content &content_;
    const std::string device_;
    const uint64_t bytes_;
    std::map<std::string, std::string> settings_; ///< options of the store by name
    std::map<std::string, double> before_; ///< counters of the store until it was closed
};

/// memory of the calling thread for an object's bytes
/// \param size of the object \returns as many bytes, which stay until the next call
char *scratch(size_t size);

} // namespace Papers

#endif
