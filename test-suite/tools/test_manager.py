# SPDX-License-Identifier: GPL-2.0-or-later
"""find, purge and clear of a running Squid, as they talk to its cache manager. A server of ours plays the manager;
test-suite/squid/test_live.py has a real one."""

import http.server
import json
import threading
import urllib.parse

import pytest

JOB = "job: purge prefix=http://a/\nobjects removed: {removed}\nclusters unread: {unread}\nstate: {state}\nbegun: {begun}\nseconds: 2\n"


class Manager:
    """Answers each question with the next of the given answers: a status, or the text of a page."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []
        manager = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # pylint: disable=invalid-name
                manager.asked.append((self.path, self.headers.get("Authorization")))
                answer = manager.answers.pop(0)
                self.send_response(answer if isinstance(answer, int) else 200)
                self.end_headers()
                if not isinstance(answer, int):
                    self.wfile.write(answer.encode())

            def log_message(self, *_):
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def job(state, removed=7, unread=0, begun=1):
    return JOB.format(state=state, removed=removed, unread=unread, begun=begun)


def test_waits_for_the_end(test):
    with Manager(job("running", 1), job("running", 3), job("done", 7)) as squid:
        out = test.tool("purge", squid.address, "--prefix=http://a/?b=1&c 2", "--json").out
    found = json.loads(out)
    assert found["objects_removed"] == 7 and found["state"] == "done" and found["job"] == "purge prefix=http://a/", out
    path, _, query = squid.asked[0][0].partition("?")
    name, _, value = query.partition("=")
    assert path == "/squid-internal-mgr/clusterfs_purge" and name == "prefix"
    assert urllib.parse.unquote(value) == "http://a/?b=1&c 2"
    assert not set(value) & set("=&# 0123456789") - set("0123456789abcdef") and "%31" in value, value
    assert [path for path, _ in squid.asked[1:]] == ["/squid-internal-mgr/clusterfs_job"] * 2


@pytest.mark.parametrize("answers, code", [
    ([job("done", unread=1)], 1), ([job("failed")], 1), ([job("stopped")], 1),
    ([job("done") + "not searched: cache_dir /x, which is offline\n"], 1),
    ([job("running"), job("running", begun=2)], 1), ([job("running"), 404], 1), (["error: another one is running\n"], 2)])
def test_not_all_done(test, answers, code):
    with Manager(*answers) as squid:
        test.tool("purge", squid.address, "--pattern=x", code=code)
        assert not squid.answers


def test_variants(test):
    with Manager(job("done"), job("done")) as squid:
        test.tool("purge", squid.address, "--url=http://a/")
        test.tool("purge", squid.address, "--url=http://a/", "--variants")
    assert [path.partition("?")[2].partition("=")[0] for path, _ in squid.asked] == ["url", "all"]


def test_passwords(test, monkeypatch, tmp_path):
    """From a file or the environment; no option of its own, which ps would show."""
    file = tmp_path / "password"
    file.write_text("of the file\nsecond line\n")
    monkeypatch.delenv("CLUSTERFS_PASSWORD", raising=False)
    with Manager(*[job("done")] * 3) as squid:
        test.tool("clear", squid.address, "--dir=/x")
        monkeypatch.setenv("CLUSTERFS_PASSWORD", "open:sesame")
        test.tool("clear", squid.address, "--dir=/x")
        test.tool("clear", squid.address, "--dir=/x", f"--password-file={file}")
        assert [sent for _, sent in squid.asked] == [
            None, "Basic Y2x1c3RlcmZzOm9wZW46c2VzYW1l", "Basic Y2x1c3RlcmZzOm9mIHRoZSBmaWxl"]
        test.refused("clear", squid.address, "--dir=/x", f"--password-file={tmp_path / 'none'}", says="no password can be read from it")
        assert len(squid.asked) == 3


def test_find(test):
    there = "url: http://a/\nkey: 0123\nin memory: no\n"
    place = "cache_dir: /dev/sdb\nsize: 30123\ntimestamp: 1700000000\nexpires: -1\nlast modified: -1\nflags: -\n"
    with Manager(there + place, there + place, there) as squid:
        found = json.loads(test.tool("find", squid.address, "--url=http://a/", "--json").out)
        assert found == {"url": "http://a/", "key": "0123", "in_memory": "no", "found": [
            {"cache_dir": "/dev/sdb", "size": 30123, "timestamp": 1700000000, "expires": -1, "last_modified": -1, "flags": "-"}]}
        text = test.tool("find", squid.address, "--url=http://a/").out
        assert "cache_dir=/dev/sdb size=30123" in text, text
        assert "cache" not in test.tool("find", squid.address, "--url=http://a/", code=1).out


@pytest.mark.parametrize("status, says", [
    (401, "the password is wrong or missing"), (403, "see http_access"), (404, "Squid has no such page"), (500, "status 500")])
def test_refusals(test, status, says):
    with Manager(status) as squid:
        test.refused("clear", squid.address, "--dir=/x", says=says)


def test_wrong_words(test):
    image = test.image()
    for words, says in (
            (("find", "http://", "--url=a"), "is no address of a running Squid"),
            (("find", "http://host:99999", "--url=a"), "is no address of a running Squid"),
            (("find", "http://user@host", "--url=a"), "is no address of a running Squid"),
            (("find", image.path, "--url=a"), "is no address of a running Squid"),
            (("find", "http://host"), "give --url=URL"),
            (("clear", "http://host"), "give --dir=PATH"),
            (("purge", "http://host", "--url=a", "--dry-run"), "--dry-run is for a cache that no Squid has open"),
            (("purge", "http://host", "--prefix=a", "--variants"), "--variants goes with --url"),
            (("purge", image.path, "--url=a", "--json"), "for a running Squid"),
            (("find", "http://127.0.0.1:1", "--url=a"), "cannot connect: Connection refused"),
            (("find", "http://nobody.invalid", "--url=a"), "http://nobody.invalid: cannot connect: ")):
        test.refused(*words, says=says)


def test_another_server(test):
    with Manager("error: no\n") as squid:
        squid.server.RequestHandlerClass.do_GET = lambda handler: handler.wfile.write(b"hello\r\n\r\n")
        test.refused("find", squid.address, "--url=a", says="this is no answer of a Squid")
