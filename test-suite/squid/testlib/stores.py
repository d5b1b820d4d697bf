# SPDX-License-Identifier: GPL-2.0-or-later
"""How each store type is configured, and in what it is known to differ."""

import pathlib

ALL = ("clusterfs", "ufs", "aufs", "rock")
OTHERS = ("ufs", "aufs", "rock")

# Small clusters, so that tests fill and pack many; staging for the largest objects of the tests,
# because origin and clients are faster than a disk.
CLUSTERFS_DEFAULTS = {"cluster-size": "256", "staging": "64", "read-cache": "16"}
CLUSTER_BYTES = 256 * 1024
# What is packed, deleted or changed reaches the disk within a second.
LIVELY = "persist=1 delete-time=1 checkpoint=1"


def cache_dir(store, path, megabytes, options=""):
    """A cache_dir line. For clusterfs, CLUSTERFS_DEFAULTS are added for what options do not say."""
    if store in ("ufs", "aufs"):
        return f"cache_dir {store} {path} {megabytes} 16 16 {options}".rstrip()
    if store == "clusterfs":
        given = {option.partition("=")[0] for option in options.split()}
        more = " ".join(f"{k}={v}" for k, v in CLUSTERFS_DEFAULTS.items() if k not in given)
        return f"cache_dir clusterfs {path} {megabytes} {more} {options}".rstrip()
    return f"cache_dir {store} {path} {megabytes} {options}".rstrip()


def place(store, folder, name="cache"):
    """The path of a store's cache_dir: a file for clusterfs, a folder for the others."""
    return pathlib.Path(folder) / (f"{name}.img" if store == "clusterfs" else name)


def run_mode(store):
    """How Squid is started: rock in one process, the others as a master with its kid."""
    return "-N" if store == "rock" else "--foreground"


# What the others are known for. A test that fails for such a reason is a known difference.
ROCK_INDEX = {"rock": "two URLs may have one place in its index, so objects push each other out"}
ROCK_PURGE = {"rock": "an object that was purged comes back by a restart"}
ROCK_UPDATE = {"rock": "an object whose headers were updated may be lost by a restart"}
ROCK_BUSY = {"rock": "an object that is being read or written cannot be replaced or joined, and is not cached then"}
UFS_304 = {s: "new headers of a 304 are not stored on disk" for s in ("ufs", "aufs")}
LONG_METADATA = {s: "an object whose metadata exceeds 4 KB is stored and fails at each read" for s in OTHERS}
AUFS_CUT = {"aufs": "a client that reads from a file whose writing ends early gets a short body that looks whole"}
