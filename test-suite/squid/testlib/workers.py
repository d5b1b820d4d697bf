# SPDX-License-Identifier: GPL-2.0-or-later
"""The end-to-end tests that hold with one worker only, and why: --workers skips them."""

REASONS = {
    "each worker has a memory cache of its own or Squid's shared one, of which this test expects the answer":
        ("test_memory_hits", "test_confirmed_once", "test_memory_and_disk", "test_purge_of_memory", "test_clear",
         "test_hits_of_cache_mem_do_not_count", "test_purge_of_a_url"),
    "Squid's workers do not join each other's downloads and revalidations":
        ("test_join_a_download", "test_many_join_a_download", "test_slow_disk_slows_the_origin", "test_joined_revalidation",
         "test_collapsed_revalidation", "test_accelerator", "test_who_joins_a_download_does_not_count", "test_collapsed_requests_count_once",
         "test_range_fetches_whole", "test_caches_behind_front_ends"),
    "Squid with workers does not store the first response that replaces an object in use":
        ("test_replace_while_reading", "test_changed_at_origin", "test_variants", "test_variants_in_two_dirs", "test_tiles"),
    "Squid's table of objects in use has one place for several URLs, so that some are not stored":
        ("test_hundred_clients", "test_unlisted_objects", "test_dies_under_load_and_returns", "test_pages_want_the_hash_of_the_host"),
    "answers of siblings come to any of Squid's workers, with any store, and digests have nothing of a cache_dir that workers share":
        ("test_hits_at_a_sibling", "test_a_sibling_vanishes", "test_digests_need_the_size_of_objects"),
    "each of Squid's processes reconfigures and rotates by itself, and opens ports and logs that others still have":
        ("test_reconfigure_under_load", "test_rotate_under_load"),
    "Squid asserts with ufs and several workers": ("test_beside_ufs",),
    "the owner hears of what clients of workers have had half a second later":
        ("test_once", "test_pages_opened", "test_lookups_of_a_request", "test_misses_take_the_time_of_the_origin",
         "test_each_cache_dir_counts_what_it_stores"),
    "workers do not say that the index of a cache_dir is still being loaded": ("test_rebuilding_ends",),
    "admission and shares are counted by each worker": ("test_admission_of_both", "test_one_that_comes_back"),
    "the processes are not those that this test looks for": ("test_killed_worker_comes_back", "test_storedir_page", "test_normal_client"),
}


def reason(test):
    """Why a test is only for one worker, or None."""
    return next((why for why, tests in REASONS.items() if test in tests), None)
