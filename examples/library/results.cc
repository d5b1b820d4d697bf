// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A cache of computed results: the number of primes below each N, which takes the longer the larger N is.
 *
 *     results STORE N...     prints the number of primes below each N, and whether it was computed or found
 *
 * Two threads share the work and the store. STORE is a file or a disk; a file that does not exist is made, with 64 MB.
 * To build: c++ -std=c++17 results.cc $(pkg-config --cflags --libs clusterfs) -o results
 */

#include <clusterfs/clusterfs.hpp>

#include <cstdlib>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

std::string
computed(const unsigned long below)
{
    std::vector<bool> composite(below < 2 ? 2 : below);
    unsigned long primes = 0;
    for (unsigned long n = 2; n < below; ++n) {
        if (composite[n])
            continue;
        ++primes;
        for (unsigned long multiple = n * n; multiple < below; multiple += n)
            composite[multiple] = true;
    }
    return std::to_string(primes);
}

/// the result from the store, or computed and stored
std::string
result(clusterfs::Store &store, const std::string &n, bool &found)
{
    const auto name = "primes below " + n; // the name says all that the result depends on
    const auto object = store.read(name);
    found = object.has_value();
    if (found)
        return object->str();
    auto fresh = computed(std::strtoul(n.c_str(), nullptr, 10));
    try {
        store.write(name, fresh);
    } catch (const clusterfs::Error &e) {
        std::cerr << "not stored: " << e.what() << "\n"; // a cache that does not take it costs time, no more
    }
    return fresh;
}

int
run(const std::string &path, const std::vector<std::string> &wanted)
{
    clusterfs::Store::format(path, 64 << 20); // leaves alone what is a store already
    clusterfs::Store store({path});
    std::mutex output;
    const auto share = [&](const size_t first) {
        for (size_t i = first; i < wanted.size(); i += 2) {
            bool found = false;
            const auto text = result(store, wanted[i], found);
            const std::lock_guard<std::mutex> lock(output);
            std::cout << wanted[i] << ": " << text << (found ? " (found)" : " (computed)") << std::endl;
        }
    };
    std::thread other(share, 1);
    share(0);
    other.join();
    store.close();
    return 0;
}

} // namespace

int
main(int argc, char **argv)
{
    if (argc < 3) {
        std::cerr << "usage: results STORE N...\n";
        return 2;
    }
    try {
        return run(argv[1], std::vector<std::string>(argv + 2, argv + argc));
    } catch (const clusterfs::Error &e) {
        std::cerr << e.what() << "\n";
        return 1;
    }
}
