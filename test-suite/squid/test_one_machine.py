# SPDX-License-Identifier: GPL-2.0-or-later
"""Two caches and a front end on one machine, with the files of examples/one-machine."""

import re

import pytest

from common import TOP
from squidkit.processes import effective_user, run

FOLDER = TOP / "examples" / "one-machine"


def squid(t, name, file, *more, replaced=()):
    """A Squid whose squid.conf is the example's, but for ports, folders and who may ask."""
    made = t.squid(folder=name)
    text = (FOLDER / file).read_text(encoding="utf-8")
    for old, new in [(r"http_port \S+", f"http_port 127.0.0.1:{made.port}"), (r"(pid_filename) \S+", rf"\1 {made.dir}/squid.pid"),
                     (r"(cache_log) \S*/", rf"\1 {made.dir}/"), (r"stdio:\S*/", f"stdio:{made.dir}/"), (r"(coredump_dir) \S+", rf"\1 {made.dir}"), *replaced]:
        text, count = re.subn(old, new, text)
        assert count == 1, (file, old)
    more = (*more, "dns_nameservers 127.0.0.1", "cachemgr_passwd none all", "shutdown_lifetime 0 seconds")
    made.lines = ["cache_dir"] if "cache_dir" in text else []
    made.conf.write_text(text.replace("${service_name}-cache.log", "cache.log") + "\n".join(more) + "\n", encoding="utf-8")
    if user := effective_user():
        with open(made.conf, "a", encoding="utf-8") as file:
            file.write(f"cache_effective_user {user.pw_name}\n")
    return made


@pytest.mark.stores("clusterfs")
def test_two_caches_and_a_front_end(t):
    """Each URL is in one of the two caches. One is stopped by its name, the other goes on, and then it is back."""
    origin = (f"cache_peer 127.0.0.1 parent {t.origin.port} 0 no-query no-digest originserver name=origin", "never_direct allow all")
    caches = [squid(t, name, "cache.conf", *origin, replaced=[(r"cache_dir clusterfs \S+", f"cache_dir clusterfs {t.dir}/{name}.img 64")])
              for name in ("one", "two")]
    for cache in caches:
        cache.create().start()
    front = squid(t, "front", "front.conf", replaced=[(r"parent 3129", f"parent {caches[0].port}"), (r"parent 3130", f"parent {caches[1].port}"),
                                                      (r"src 10.0.0.0/8", "src 127.0.0.1")]).start()
    urls = [f"http://site{n % 20}.test/object{n}?size={3000 + n}" for n in range(60)]
    for url in urls + urls:
        front.client.get(url).check()
    assert {t.origin.count(url) for url in urls} == {1}
    held = [[url for url in urls if cache.client.cached(url) is not None] for cache in caches]
    assert held[0] and held[1] and sorted(held[0] + held[1]) == sorted(urls)

    done = run(caches[0].binary, "-n", caches[0].name, "-f", caches[0].conf, "-k", "shutdown")
    assert done.returncode == 0, done.stdout
    assert caches[0].process.wait(60) == 0
    caches[0].process = None
    for url in urls:
        front.client.get(url).check()
    assert {url for url in urls if t.origin.count(url) == 1} >= set(held[1])
    caches[0].start()
    assert not [url for url in held[0] if caches[0].client.cached(url) is None]
