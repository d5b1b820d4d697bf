// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of any length on an engine whose keys have 16 bytes. */

#include "lib/Name.h"

#include <openssl/evp.h>

#include <cstring>
#include <memory>
#include <new>

namespace ClusterFs::Library {
namespace {
constexpr char mark[4] = {'c', 'f', 'n', 1}; ///< 1 is the version of labels
} // namespace

Key
digestOf(const void *const name, const size_t size)
{
    struct Free {
        void operator ()(EVP_MD *const md) const { EVP_MD_free(md); }
    };
    // to look it up by name for each digest takes longer than the digest
    static const std::unique_ptr<EVP_MD, Free> md5(EVP_MD_fetch(nullptr, "MD5", nullptr));
    Key key;
    unsigned bytes = 0;
    if (!md5 || !EVP_Digest(size ? name : "", size, key.bytes.data(), &bytes, md5.get(), nullptr) || bytes != key.bytes.size())
        throw std::bad_alloc();
    return key;
}

std::string
Label::Of(const std::string &name)
{
    std::string label(mark, sizeof(mark));
    label.reserve(frontBytes + name.size());
    for (unsigned i = 0; i < 4; ++i)
        label += static_cast<char>(name.size() >> (8 * i));
    return label + name;
}

bool
Label::NameSize(const char *const front, uint32_t &size)
{
    size = 0;
    for (unsigned i = 0; i < 4; ++i)
        size |= static_cast<uint32_t>(static_cast<unsigned char>(front[4 + i])) << (8 * i);
    return memcmp(front, mark, sizeof(mark)) == 0;
}

} // namespace ClusterFs::Library
