# SPDX-License-Identifier: GPL-2.0-or-later
"""Caches and front ends on machines of their own, as network namespaces, with the configurations of examples/cluster. A machine that
vanishes refuses nothing: its packets are lost, as after a power cut, or with its cable."""

import itertools
import threading
import time

import pytest

from squidkit.client import BROKEN, Client
from squidkit.origin import Origin
from squidkit.processes import wait_for
from test_cluster import client_of, needs_haproxy
from test_siblings import WAYS, Siblings, needs_way
from testlib.cluster import CarpFront, Cluster, HaproxyFront
from testlib.machines import Lan

pytestmark = [pytest.mark.stores("clusterfs"), pytest.mark.needs("network namespaces")]
FRONTS = pytest.mark.parametrize("front", [CarpFront, pytest.param(HaproxyFront, marks=needs_haproxy)])
#: seconds after which a client gives up. Squid and HAProxy would wait for a vanished machine for longer by default
PATIENCE = 6
#: shorter times than the example's, which are long enough for a network that pauses
QUICK = {CarpFront: [], HaproxyFront: [("srvtcpka-idle 5s", "srvtcpka-idle 1s"), ("srvtcpka-intvl 2s", "srvtcpka-intvl 1s"), ("srvtcpka-cnt 5", "srvtcpka-cnt 2")]}


@pytest.fixture
def lan(t):
    """A testlib.machines.Lan, with the test's origin server and clients on it."""
    made = t.closing(Lan())
    t.origin = t.closing(Origin(host=made.address))
    return made


def client_at(front, keep_alive=False):
    return Client(front.client.port, keep_alive, PATIENCE, host=front.client.host)


class Asking(threading.Thread):
    """A client that asks for urls, again and again, until done() holds after one of them. It counts the right answers, and knows how many
    seconds the slowest took. request: what Client.request() takes."""

    def __init__(self, client, urls, done=lambda: True, **request):
        super().__init__()
        self._client, self._urls, self._done, self._request = client, urls, done, request
        self.right, self.slowest = 0, 0
        self._broken, self._failure = [], None
        self.start()

    def run(self):
        try:
            for url in itertools.cycle(self._urls):
                self._ask(url)
                if self._done():
                    return
        except BaseException as failure:  # pylint: disable=broad-exception-caught -- finish() raises it
            self._failure = failure

    def _ask(self, url):
        began = time.monotonic()
        try:
            reply = self._client.request(url, **self._request)
        except BROKEN as error:
            self._broken.append((url, None, repr(error)))
            return
        if reply.status == 200:
            reply.check_prefix()
        if reply.status == 200 and reply.complete:
            reply.check()
            self.right += 1
            self.slowest = max(self.slowest, time.monotonic() - began)
        else:
            self._broken.append((url, reply.status, reply.error))

    def finish(self):
        """Waits for its end. [(URL, status, error)] of what it could not get; all else was right."""
        self.join()
        if self._failure:
            raise self._failure
        return self._broken


@FRONTS
def test_a_machine_vanishes(t, lan, front):
    """One of three caches loses power under load. Clients get all of its URLs elsewhere, and no wrong byte; only what was under way there
    may fail. Where the answer had not begun, another cache is asked, but no POST is sent twice. The machine comes back with what it had."""
    cluster = Cluster(t, 3, front, QUICK[front], net=lan)
    urls = [f"http://site{n % 50}.test/object{n}?size={3000 + n}" for n in range(150)]
    cluster.fetch(urls)
    owners = {url: held[0] for url, held in cluster.holders(urls).items()}
    lost = [url for url in urls if owners[url] == "cache2"]
    cluster.caches[1].wait_packed()

    site = lost[0].rpartition("/")[0]
    unanswered, begun, posted = (f"{site}/{name}?size=300000&gate={name}&gateat={at}" for name, at in (("unanswered", -1), ("begun", 200000), ("posted", -1)))
    held = {url: Asking(client_at(end), [url]) for end, url in zip(cluster.fronts, (unanswered, begun))}
    held[posted] = Asking(client_at(cluster.fronts[0]), [posted], method="POST", body=b"an order")
    for name in ("unanswered", "begun", "posted"):
        t.origin.gate(name).wait_reached()
    idle = [client_at(end, keep_alive=True) for end in cluster.fronts]
    for client in idle:
        client.get(lost[0]).check()
    elsewhere = lambda: all(t.origin.count(url) > 1 for url in lost)
    load = [Asking(client_at(end, keep_alive), urls, elsewhere) for end in cluster.fronts for keep_alive in (False, True)]
    wait_for(lambda: all(asking.right > 20 for asking in load), "load")

    lan.unplug("cache2")
    cluster.caches[1].kill()
    began = time.monotonic()
    for client in idle:
        client.get(lost[0]).check()
    first = time.monotonic() - began
    # a Squid never asks whether the other end is still there
    told = front is HaproxyFront or all([lan.close_connections(f"front{n}", "cache2") for n in (1, 2)])
    broken = [one for asking in load for one in asking.finish()]
    print(f"      {front.__name__}: {first:.2f} s until clients with connections had both good answers, {time.monotonic() - began:.2f} s until all lost URLs "
          f"were elsewhere; {len(broken)} of {sum(asking.right for asking in load)} requests failed, the slowest took {max(asking.slowest for asking in load):.2f} s")
    assert len(broken) <= len(load) and {owners[url] for url, _, _ in broken} <= {"cache2"}, broken
    if told:
        wait_for(lambda: t.origin.count(unanswered) == 2, "the unanswered request at another cache")
    for name in ("unanswered", "begun", "posted"):
        t.origin.gate(name).open()
    assert bool(held[unanswered].finish()) != told
    assert held[begun].finish() and held[posted].finish()
    assert t.origin.count(posted, "POST") == 1
    cluster.fetch([*urls, unanswered, begun])
    asked = cluster.asked(urls)
    assert {url for url in urls if asked[url] != 1} == set(lost), asked

    lan.plug("cache2")
    cluster.caches[1].start()
    cluster.wait_back(1, lost)
    cluster.fetch(urls)
    assert {url for url, count in cluster.asked(urls).items() if count != 1} == set(lost)


@FRONTS
def test_the_clients_of_machines(t, lan, front):
    """The caches see the address that a client has connected from, whatever it says, and not the front end's."""
    cluster = Cluster(t, 2, front, net=lan)
    assert [client_of(cluster, n, "10.1.2.3", address) for n, address in enumerate(lan.clients)] == [[address] for address in lan.clients]


@pytest.mark.parametrize("way", WAYS)
def test_a_sibling_vanishes(t, lan, way):
    """The origin gives what the sibling had, and no byte is wrong. A question without an answer fails no request. By digest, none is asked, so
    the one on the idle connection waits until its client gives up. The sibling is asked again when it is back."""
    needs_way(t, way)
    both = Siblings(t, way, net=lan)
    urls = t.urls("object", 40)
    for url in urls:
        both.squids[0].client.get(url).check()
    second = both.start_second(len(urls) if way == "Cache digests" else 0)
    client = client_at(second)

    def from_sibling(url):
        return both.logged(1, client.get(url).check())[0] in ("SIBLING_HIT", "CD_SIBLING_HIT")

    # an answer that comes late is not waited for
    assert any([from_sibling(url) for url in urls[:10]])
    lan.unplug("cache0")
    times, given_up = [], 0
    for url in urls[10:20]:
        began = time.monotonic()
        try:
            assert not from_sibling(url)
        except BROKEN:
            given_up += 1
        times.append(time.monotonic() - began)
    assert given_up <= (way == "Cache digests")
    assert not any([from_sibling(url) for url in urls[10:20]])
    assert {t.origin.count(url) for url in urls[10:20]} == {2}
    print(f"      {way}: {sum(times):.2f} s for {len(times)} misses, the slowest took {max(times):.2f} s; {given_up} failed")
    lan.plug("cache0")
    back = iter(urls[20:] * 100)
    wait_for(lambda: from_sibling(next(back)), "the sibling is asked again", pause=0.2)
