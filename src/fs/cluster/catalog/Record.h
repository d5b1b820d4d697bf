// SPDX-License-Identifier: GPL-2.0-or-later
/* The record of an object in the index, 36 bytes. */

#ifndef SQUID_SRC_FS_CLUSTER_CATALOG_RECORD_H
#define SQUID_SRC_FS_CLUSTER_CATALOG_RECORD_H

#include "fs/cluster/base/Types.h"
#include "fs/cluster/layout/Cluster.h"

namespace ClusterFs {

/// Value of Record::cluster for an object in staging; Record::place is its slot there.
constexpr ClusterNo stagedCluster{0xfffffffeU};

/// An object's entry in the index. It has only plain numbers, because it lives in
/// memory that several processes may map. Times are packed so that no second is
/// lost where HTTP needs it: see setInfo().
struct Record {
    uint32_t tag; ///< of the key; together with the bucket it stands for the key
    uint32_t next; ///< slot of the next record of the bucket, or lastFlag and the bucket's number
    SlotNo sibling; ///< the next record of the same cluster
    ClusterNo cluster;
    uint32_t place; ///< offset in units of extentAlignment (21 bits), heat (11 bits); or the staging slot
    uint32_t size; ///< stored bytes; of a large object, the number of its first part, see firstPart()
    uint32_t timestamp; ///< seconds since 1970, 0 = unknown
    uint32_t packedLow; ///< see packed(); two halves, or the record would be padded to 40 bytes
    uint32_t packedHigh;

    static constexpr uint32_t lastFlag = 0x80000000U;
    static constexpr unsigned offsetBits = 21;
    static constexpr unsigned heatBits = 11;
    static constexpr uint32_t maxHeat = (1U << heatBits) - 1;

    /// a flag of the index beside those of ObjectFlag: the record is unlinked and waits for release()
    enum : uint8_t { flagDead = 0x80 };

    /// the times but for the timestamp, and the flags in the low 8 bits; as in IndexObject::packed
    uint64_t packed() const { return (uint64_t(packedHigh) << 32) | packedLow; }
    void setPacked(const uint64_t v) {
        packedLow = static_cast<uint32_t>(v);
        packedHigh = static_cast<uint32_t>(v >> 32);
    }

    uint8_t flags() const { return static_cast<uint8_t>(packed() & 0xff); }
    void setFlags(const uint8_t f) { setPacked((packed() & ~uint64_t(0xff)) | f); }
    bool dead() const { return flags() & flagDead; }
    bool parted() const { return flags() & flagParted; }
    bool staged() const { return cluster == stagedCluster; }

    /// of a staged object: its slot in staging
    StageNo stage() const { return StageNo(place); }
    void setStage(const StageNo s) {
        cluster = stagedCluster;
        place = s.value();
    }

    /// of a large object: its first part
    ClusterNo firstPart() const { return ClusterNo(size); }
    void setFirstPart(const ClusterNo c) {
        setFlags(flags() | flagParted);
        size = c.value();
    }

    /// of an object on the device: its extent's offset in the cluster, bytes
    uint32_t offset() const { return (place & ((1U << offsetBits) - 1)) * extentAlignment; }
    uint32_t heat() const { return place >> offsetBits; }
    void setPlace(const uint32_t offset, const uint32_t heat) {
        place = offset / extentAlignment | (heat > maxHeat ? maxHeat : heat) << offsetBits;
    }
    void setHeat(const uint32_t heat) { setPlace(offset(), heat); }

    /// Packs times and flags. Expiry up to 388 days after the timestamp is exact; beyond, it is
    /// moved towards the timestamp, which only makes Squid revalidate sooner. Modification up to 68 years
    /// before the timestamp is exact, and unknown beyond: another date would be taken for a validator.
    void setInfo(const ObjectInfo &);

    /// \returns times and flags; ObjectInfo::size is left 0
    ObjectInfo info() const;
};

static_assert(sizeof(Record) == 36, "an index record takes 36 bytes");

} // namespace ClusterFs

#endif
