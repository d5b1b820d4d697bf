# SPDX-License-Identifier: GPL-2.0-or-later
"""The proxies that a user would pick instead of Squid, from Debian's packages, and the example of the library, as reverse
proxies."""

import os
import time

from squidkit.processes import effective_user, give_to_squid

from .errors import BenchError
from .load import program
from .processes import checked, command_line, tool
from .proxy import Proxy


class Other(Proxy):
    """Installed on this machine; its version goes into the report."""
    reverse = True
    version_option = "-v"

    @classmethod
    def problem(cls):
        """Why it cannot be run; None where it can."""
        absent = [name for name in cls.programs if not tool(name)]
        if absent:
            return f"{', '.join(absent)} not installed: apt-get install {cls.package}, or leave it out of --with"
        return None

    def version(self):
        """What the program says about itself."""
        return checked(self.programs[0], self.version_option).strip().splitlines()[0]

    def user(self):
        """Whom it drops its rights to."""
        user = effective_user()
        return user.pw_name if user else "root"


class Varnish(Other):
    """Varnish with file storage: the cache is a mapped file, memory is the page cache. A restart empties it."""
    restarts = False
    programs = ("varnishd", "gcc")
    package = "varnish gcc"
    version_option = "-V"
    VCL = """vcl 4.1;
backend default {{ .host = "127.0.0.1"; .port = "{port}"; .max_connections = 1000; }}
"""

    def configure(self):
        (self.folder / "bench.vcl").write_text(self.VCL.format(port=self.place.origin_port))

    def _storage(self):
        return f"file,{self.storage.path}/varnish.bin,{self.place.cache_mb}M"

    def command(self):
        return [tool("varnishd"), "-F", "-j", "none", "-n", str(self.folder / "work"), "-a",
                f"127.0.0.1:{self.port}", "-f", str(self.folder / "bench.vcl"), "-s", self._storage(),
                "-s", "Transient=malloc,8M", "-p", "vsl_space=8M", "-p", "thread_pool_min=50", "-p", "nuke_limit=1000"]

    def settings(self):
        return super().settings() + ["-s " + self._storage().replace(str(self.folder), ""), "Transient 8 MB",
                                     "vsl_space=8M thread_pool_min=50 nuke_limit=1000, else defaults"]


class Nginx(Other):
    """nginx with proxy_cache. Its cache manager deletes at most 2,000 files a second, and nothing slows down those who store
    more: the file system would become full. It would, too, while the cache loader has not counted the files that are there,
    which it does a minute after each start."""
    fill_rate = 1750
    LOADER_AFTER = 2  # seconds until the master has started all its processes
    programs = ("nginx",)
    package = "nginx-light"
    CONFIG = """daemon off;
user {user};
worker_processes auto;
worker_rlimit_nofile 16384;
pid {dir}/nginx.pid;
error_log {dir}/error.log;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    aio threads;
    keepalive_requests 1000000;
    client_body_temp_path {dir}/body;
    proxy_temp_path {dir}/temp;
    fastcgi_temp_path {dir}/fastcgi;
    uwsgi_temp_path {dir}/uwsgi;
    scgi_temp_path {dir}/scgi;
    proxy_cache_path {cache} levels=1:2 keys_zone=bench:{zone_mb}m max_size={cache_mb}m inactive=365d use_temp_path=off;
    upstream origin {{ server 127.0.0.1:{origin}; keepalive 128; }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://origin;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $http_host;
            proxy_cache bench;
            proxy_cache_key $http_host$request_uri;
            proxy_cache_lock on;
        }}
    }}
}}
"""

    def _text(self):
        # an object takes an eighth of a KB of the zone
        zone_mb = max(4, self.place.cache_mb // 64)
        return self.CONFIG.format(user=self.user(), dir=self.folder, cache=self.storage.path / "nginx", zone_mb=zone_mb,
                                  cache_mb=self.place.cache_mb, origin=self.place.origin_port, port=self.port)

    def configure(self):
        (self.folder / "nginx.conf").write_text(self._text())

    def start(self, wait=True):
        self._begin = time.monotonic()
        return super().start(wait)

    def ready(self):
        return time.monotonic() - self._begin > self.LOADER_AFTER and \
            not any("cache loader" in command_line(pid) for pid in self.cgroup.processes())

    def command(self):
        return [tool("nginx"), "-p", str(self.folder), "-c", str(self.folder / "nginx.conf")]

    def settings(self):
        chosen = ("worker_processes", "sendfile", "aio", "proxy_cache_path", "proxy_cache_lock", "keepalive 128")
        lines = [line.strip().replace(str(self.folder), "") for line in self._text().splitlines()]
        return super().settings() + [line for line in lines if any(word in line for word in chosen)]


class TrafficServer(Other):
    """Traffic Server on the bare device. It writes its directory every minute, and a restart goes back to that."""
    restarts = False
    programs = ("traffic_server",)
    package = "trafficserver"
    version_option = "-V"
    RECORDS = """
CONFIG proxy.config.admin.user_id STRING {user}
CONFIG proxy.config.http.server_ports STRING {port}:ip-in=127.0.0.1
CONFIG proxy.config.cache.ram_cache.size INT {ram}
CONFIG proxy.config.http.cache.required_headers INT 0
CONFIG proxy.config.url_remap.remap_required INT 1
CONFIG proxy.config.url_remap.pristine_host_hdr INT 1
CONFIG proxy.config.diags.debug.enabled INT 0
CONFIG proxy.config.log.logging_enabled INT 0
CONFIG proxy.config.http.insert_age_in_response INT 0
CONFIG proxy.config.hostdb.host_file.path STRING NULL
CONFIG proxy.config.cache.min_average_object_size INT 8000
"""
    FOLDERS = ("etc", "run", "log", "cache", "data")

    def _ram_mb(self):
        # The directory takes 10 bytes for each 8,000 of the cache. The rest that it needs beside is found by trying: with less,
        # it is killed at the memory limit. Of large objects, fragments of 1 MB are on their way to readers. Where much is in
        # memory, it answers more at a time.
        beside = 64 if self.place.workload == "large" else max(40, self.place.memory_mb // 5)
        return max(4, self.place.memory_mb - self.place.cache_mb // 400 - beside)

    def configure(self):
        for name in self.FOLDERS:
            (self.folder / name).mkdir(exist_ok=True)
            give_to_squid(self.folder / name)
        etc = self.folder / "etc"
        (etc / "records.config").write_text(self.RECORDS.format(user=self.user(), port=self.port, ram=self._ram_mb() << 20))
        (etc / "storage.config").write_text(f"{self.storage.path} {self.place.cache_mb}M\n")
        (etc / "remap.config").write_text(f"map / http://127.0.0.1:{self.place.origin_port}/\n")
        (etc / "ip_allow.yaml").write_text("ip_allow:\n  - apply: in\n    ip_addrs: 127.0.0.0/8\n    action: allow\n"
                                           "    methods: ALL\n")
        layout = {"prefix": "", "exec_prefix": "", "sysconfdir": "etc", "runtimedir": "run", "localstatedir": "run",
                  "logdir": "log", "cachedir": "cache", "datadir": "data"}
        (self.folder / "runroot.yaml").write_text(
            "".join(f"{name}: {self.folder / path}\n" for name, path in layout.items()) +
            f"bindir: {os.path.dirname(tool('traffic_server'))}\n")

    def command(self):
        return [tool("traffic_server"), f"--run-root={self.folder / 'runroot.yaml'}"]

    def settings(self):
        return super().settings() + [f"ram_cache.size {self._ram_mb()} MB", f"storage.config: {self.place.cache_mb} MB",
                                     "cache.min_average_object_size 8000, else defaults"]

    def answers(self):
        # it listens before its cache is there
        return super().answers() and "cache enabled" in self._diagnostics()

    def _diagnostics(self):
        path = self.folder / "log" / "diags.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def log(self):
        return super().log() + self._diagnostics()[-2000:]


class LibraryProxy(Other):
    """The example of the library: a thread for each connection, no Squid."""
    EXAMPLE = "example-proxy"

    @classmethod
    def problem(cls):
        return None  # it is built with the other programs of the benchmark

    def version(self):
        return "examples/library/proxy.cc"

    def configure(self):
        """All is on the command line."""

    def command(self):
        return [program(self.EXAMPLE), str(self.storage.path), str(self.place.cache_mb), str(self.port),
                f"127.0.0.1:{self.place.origin_port}", *self.place.engine_options()]

    def settings(self):
        return super().settings() + self.place.engine_options()


CLASSES = {"ats": TrafficServer, "varnish": Varnish, "nginx": Nginx, "library": LibraryProxy}


def check(names):
    """A BenchError where one of these proxies cannot be run."""
    problems = [problem for name in names if (problem := CLASSES[name].problem())]
    if problems:
        raise BenchError("; ".join(problems))
