# SPDX-License-Identifier: GPL-2.0-or-later
"""The engine of clusterfs for Python: a cache of objects with names, on disks, partitions or files.

    import clusterfs
    clusterfs.format("cache", 64 << 20)
    with clusterfs.Store(["cache"], {"read-cache": 64}) as store:
        store["https://example.org/"] = b"a page"
        print(store["https://example.org/"])

A name is bytes or a str, which is encoded as UTF-8. A store is a cache: it forgets objects when it needs room. What a read gives
back is exactly what was stored under that name. Any number of threads may use a store; calls let other threads run while they
wait. clusterfs(3) and the header clusterfs.h explain each call, of which these are a thin layer. Needs libclusterfs.so.0 and cffi."""

import os
import weakref

import cffi

from ._declarations import DECLARATIONS

__all__ = ["Error", "NotFound", "format", "version", "Store", "Object", "Writer", "Queue", "Answer", "Accelerator", "File"]

_ffi = cffi.FFI()
_ffi.cdef("struct stat;\n" + DECLARATIONS)
_lib = _ffi.dlopen(os.environ.get("CLUSTERFS_LIBRARY", "libclusterfs.so.0"))
_FORCE = 1  # CLUSTERFS_FORMAT_FORCE
_NO_CACHE = 1  # CLUSTERFS_NO_CACHE
_CHORES = {name.removeprefix("CLUSTERFS_").replace("_", " ").lower(): getattr(_lib, name)
           for name in _ffi.typeof("enum clusterfs_chore").relements}
_REASON = 1024  # bytes of a reason
_PIECE = 1 << 20  # bytes that are read at once of a large object

#: what a failed call has in Error.code, by name: ARGUMENT, NOT_FOUND ...
ERRORS = {name.removeprefix("CLUSTERFS_"): getattr(_lib, name)
          for name in _ffi.typeof("enum clusterfs_error").relements}


class Error(Exception):
    """A call failed. code: one of ERRORS."""

    def __init__(self, code, text=""):
        super().__init__(text or _ffi.string(_lib.clusterfs_strerror(code)).decode())
        self.code = abs(code)


class NotFound(Error, KeyError):
    """There is no such object."""

    def __str__(self):
        return self.args[0]


def _checked(result, reason=None):
    """A result that is no error."""
    if result >= 0:
        return result
    text = _ffi.string(reason).decode("utf-8", "replace") if reason is not None else ""
    if -result == ERRORS["FILE"]:
        raise OSError(_ffi.errno, os.strerror(_ffi.errno))
    raise (NotFound if -result == ERRORS["NOT_FOUND"] else Error)(result, text)


def _found(result):
    """False for "not found"."""
    return result != -ERRORS["NOT_FOUND"] and _checked(result) >= 0


def _buffer(data):
    """What is there, without a copy: bytes, bytearray, memoryview, array ..."""
    return _ffi.from_buffer(data)


def _name(name):
    return _buffer(name.encode() if isinstance(name, str) else name)


def _options(values):
    made = _ffi.new("clusterfs_options **")
    _checked(_lib.clusterfs_options_new(made))
    options = _ffi.gc(made[0], _lib.clusterfs_options_free)
    for name, value in (values or {}).items():
        reason = _ffi.new("char[]", _REASON)
        _checked(_lib.clusterfs_options_set(options, name.encode(), str(value).encode(), reason, _REASON), reason)
    return options


def version():
    """The version of the library."""
    return _ffi.string(_lib.clusterfs_version()).decode()


def format(path, size=0, options=None, force=False):  # pylint: disable=redefined-builtin
    """Makes an empty store on a device; a file that does not exist is made, of that many bytes. Anything but zeros on it
    is refused, unless force is given. Returns whether it was made: else it is a store already, and stays as it is."""
    reason = _ffi.new("char[]", _REASON)
    flags = _FORCE if force else 0
    return _checked(_lib.clusterfs_format(os.fsencode(path), _options(options), size, flags, reason, _REASON), reason) == 0


class Store:
    """An open store on one device or several: paths that format() has made, always the same ones. options: names and values
    of cache_dir. To be closed by close() or at the end of a with; else the next one finds it as after a crash."""

    def __init__(self, paths, options=None):
        paths = [os.fsencode(paths)] if isinstance(paths, (str, bytes, os.PathLike)) else [os.fsencode(path) for path in paths]
        kept = [_ffi.new("char[]", path) for path in paths]
        reason, made = _ffi.new("char[]", _REASON), _ffi.new("clusterfs_store **")
        _checked(_lib.clusterfs_open(_ffi.new("const char *[]", kept), len(kept), _options(options), made, reason, _REASON), reason)
        self._handle = made[0]
        self.users = weakref.WeakSet()  # what has to be closed before

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Closes its queues and accelerators, writes what is in memory, and waits for that. No other thread may be in a call
        of this store. Twice is fine."""
        for user in list(self.users):
            user.close()
        handle, self._handle = self._handle, _ffi.NULL
        _checked(_lib.clusterfs_close(handle))

    @property
    def handle(self):
        """For calls of the library. Closed, it is nil, which they refuse."""
        return self._handle

    @property
    def devices(self):
        return _lib.clusterfs_devices(self._handle)

    # one object

    def write(self, name, data, group=0, cached=True):
        """Stores an object in place of an older one. group: see assign(). cached=False: it is not kept in memory."""
        name, data = _name(name), _buffer(data)
        attributes = _attributes(group, cached=cached)
        _checked(_lib.clusterfs_write(self._handle, name, len(name), data, len(data), attributes))

    def create(self, name, size=-1, group=0):
        """A Writer for an object whose bytes come in pieces. size: how many, if that is known."""
        name, made = _name(name), _ffi.new("clusterfs_writer **")
        _checked(_lib.clusterfs_create(self._handle, name, len(name), _attributes(group, size), made))
        return Writer(self, made[0])

    def read(self, name):
        """The Object of that name. Raises NotFound."""
        name, made = _name(name), _ffi.new("clusterfs_object **")
        _checked(_lib.clusterfs_read(self._handle, name, len(name), made))
        return Object(made[0])

    def get(self, name, default=None):
        """All bytes of an object, or the default when there is none."""
        try:
            with self.read(name) as found:
                return bytes(found)
        except NotFound:
            return default

    def remove(self, name):
        """Returns whether there was such an object."""
        name = _name(name)
        try:
            return _checked(_lib.clusterfs_remove(self._handle, name, len(name))) == 0
        except NotFound:
            return False

    def length(self, name):
        """The bytes of an object; None when there is none. Looks into the index only."""
        name = _name(name)
        try:
            return _checked(_lib.clusterfs_length(self._handle, name, len(name)))
        except NotFound:
            return None

    def __getitem__(self, name):
        with self.read(name) as found:
            return bytes(found)

    def __setitem__(self, name, data):
        self.write(name, data)

    def __delitem__(self, name):
        if not self.remove(name):
            raise NotFound(-ERRORS["NOT_FOUND"])

    def __contains__(self, name):
        return self.length(name) is not None

    # all of them

    def sync(self):
        """Waits until everything that was stored or removed before survives a power cut."""
        _checked(_lib.clusterfs_sync(self._handle))

    def run(self, chore, size=0):
        """Housekeeping now, on each device: "pack" or "pack from head" until at most size bytes are not packed, "free memory" until at most
        size bytes are in memory, "free disk" until size bytes are free, "checkpoint"."""
        _checked(_lib.clusterfs_run(self._handle, _CHORES[chore], size))

    def items(self):
        """Names (bytes) and sizes of all objects, in no order. Takes long: each object's beginning is read."""
        made = _ffi.new("clusterfs_walk **")
        _checked(_lib.clusterfs_walk_new(self._handle, made))
        return self._walk(made[0])

    def ripe(self):
        """The same of those that are on the disk; those that would be evicted first come first."""
        made = _ffi.new("clusterfs_walk **")
        _checked(_lib.clusterfs_walk_ripe(self._handle, made))
        return self._walk(made[0])

    def hot(self):
        """The same from those on that were stored or used last."""
        made = _ffi.new("clusterfs_walk **")
        _checked(_lib.clusterfs_walk_hot(self._handle, made))
        return self._walk(made[0])

    def members(self, group):
        """The same of a group's objects that are stored, in the order in which they came into it."""
        made = _ffi.new("clusterfs_walk **")
        _checked(_lib.clusterfs_walk_group(self._handle, group, made))
        return self._walk(made[0])

    @staticmethod
    def _walk(handle):
        name, size = _ffi.new("clusterfs_name *"), _ffi.new("uint64_t *")
        walk = _ffi.gc(handle, _lib.clusterfs_walk_free)
        while _checked(_lib.clusterfs_walk_next(walk, name, size)):
            yield bytes(_ffi.buffer(name.bytes, name.size)) if name.size else b"", size[0]

    def __iter__(self):
        return (name for name, _ in self.items())

    # what belongs together

    def collocate(self, leader, members):
        """The members will be read together with the leader."""
        leader, kept = _name(leader), [_name(member) for member in members]
        names = _ffi.new("clusterfs_name[]", [(member, len(member)) for member in kept])
        _checked(_lib.clusterfs_collocate(self._handle, leader, len(leader), names, len(kept)))

    def assign(self, group, name):
        """Puts an object into the group of that number, 1 or higher."""
        name = _name(name)
        _checked(_lib.clusterfs_assign(self._handle, group, name, len(name)))

    def unassign(self, name):
        """Takes an object out of its group. Returns whether it had one."""
        name = _name(name)
        return _found(_lib.clusterfs_unassign(self._handle, name, len(name)))

    def group(self, name):
        """The number of an object's group, or None."""
        name, number = _name(name), _ffi.new("uint64_t *")
        return number[0] if _found(_lib.clusterfs_group(self._handle, name, len(name), number)) else None

    def dissolve(self, group):
        """Forgets a group, but none of its objects. Returns whether there was one."""
        return _found(_lib.clusterfs_dissolve(self._handle, group))

    def love(self, group):
        """The members of a group are wanted: they leave memory in the order of their use."""
        _checked(_lib.clusterfs_love(self._handle, group))

    def hate(self, group):
        """The members of a group are not wanted soon: they are the first to leave memory, each time that they were used."""
        _checked(_lib.clusterfs_hate(self._handle, group))

    def unmark(self, group):
        """Ends love() and hate()."""
        _checked(_lib.clusterfs_unmark(self._handle, group))

    def persist(self, group, seconds):
        """What is stored in a group from now on survives a power cut after so many seconds; None = it need not, 0 = as the option says."""
        _checked(_lib.clusterfs_persist(self._handle, group, 0xffffffff if seconds is None else seconds))

    def note(self, client, name, page=None):
        """Tells of a client's request, so that the store learns what is read together. Returns False while the store is too busy for it."""
        name, page = _name(name), _ffi.NULL if page is None else _name(page)
        result = _lib.clusterfs_note(self._handle, client, name, len(name), page, len(page) if page else 0)
        return -result != ERRORS["BUSY"] and _checked(result) == 0

    def note_http(self, client, name, url, referer=None, accept=None, fetch_dest=None, fetch_mode=None):
        """The same for an HTTP proxy or server: the request's URL and some of its headers, which tell more. Call this or note(), not both."""
        name = _name(name)
        texts = {"url": url, "referer": referer, "accept": accept, "fetch_dest": fetch_dest, "fetch_mode": fetch_mode}
        kept = {key: _ffi.new("char[]", text.encode()) for key, text in texts.items() if text is not None}
        http = _ffi.new("clusterfs_http *", {"struct_size": _ffi.sizeof("clusterfs_http"), **kept})
        result = _lib.clusterfs_note_http(self._handle, client, name, len(name), http)
        return -result != ERRORS["BUSY"] and _checked(result) == 0

    # looking inside

    def statistic(self, name, device=0):
        value = _ffi.new("double *")
        _checked(_lib.clusterfs_statistic(self._handle, device, name.encode(), value))
        return value[0]

    def report(self, device=0):
        return _text(_lib.clusterfs_report, self._handle, device)

    def messages(self, device=0):
        return _text(_lib.clusterfs_messages, self._handle, device)


def _attributes(group, size=-1, cached=True):
    attributes = _ffi.new("clusterfs_attributes *")
    attributes.struct_size = _ffi.sizeof("clusterfs_attributes")
    attributes.group, attributes.expected_size, attributes.flags = group, size, 0 if cached else _NO_CACHE
    return attributes


def _text(call, handle, device):
    size = 65536
    while True:
        room = _ffi.new("char[]", size)
        needed = _checked(call(handle, device, room, size))
        if needed < size:
            return _ffi.buffer(room, needed)[:].decode()
        size = 2 * needed


class _Owned:
    """A handle that ends with its Python object, or before that by close(), or at the end of a with."""

    def __init__(self, handle, end):
        self._handle = _ffi.gc(handle, end)

    def close(self):
        """Gives it back now. Twice is fine."""
        handle, self._handle = self._handle, _ffi.NULL
        if handle:
            _ffi.release(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Writer(_Owned):
    """An object on its way in. Nobody can read it before commit(), which the end of a with calls unless something was raised."""

    def __init__(self, store, handle):
        self._store = store  # stays open as long as this one is there
        super().__init__(handle, _lib.clusterfs_abort)

    def write(self, data):
        data = _buffer(data)
        _checked(_lib.clusterfs_append(self._handle, data, len(data)))

    def commit(self):
        handle, self._handle = self._handle, _ffi.NULL
        if handle:
            _ffi.gc(handle, None)  # the call ends it
        _checked(_lib.clusterfs_commit(handle))

    def abort(self):
        self.close()

    def __exit__(self, kind, *_):
        if kind is None:
            self.commit()
        else:
            self.abort()


class Object(_Owned):
    """An object that was found. It does not change, whatever happens to its name meanwhile."""

    def __init__(self, handle):
        super().__init__(handle, _lib.clusterfs_release)
        self._size = _lib.clusterfs_size(handle)

    def __len__(self):
        return self._size

    def __bytes__(self):
        return self.read(0, self._size)

    def read(self, offset, size):
        """Copies bytes; fewer at the end."""
        room = bytearray(max(0, min(size, self._size - offset)))
        return bytes(room[:self.read_into(offset, room)])

    def read_into(self, offset, room):
        """Fills a writable buffer. Returns how many bytes it has got."""
        room = _ffi.from_buffer(room, require_writable=True)
        done = 0
        while done < len(room):
            got = _checked(_lib.clusterfs_read_bytes(self._handle, offset + done, room + done, min(_PIECE, len(room) - done)))
            if not got:
                break
            done += got
        return done

    release = _Owned.close  # its name in C


class Answer:
    """What came of a request of a Queue. result: an Object of a read, None of others. Raises what the call would have raised."""

    def __init__(self, tag, code, found):
        self.tag, self._code, self._found = tag, code, found

    @property
    def result(self):
        _checked(self._code)
        return self._found


class Queue(_Owned):
    """Calls that do not wait. limit: of requests that are not answered, or whose answers are not fetched. Requests raise Error with
    the code of BUSY when it is reached. A tag is any object, which comes back with the answer. For one thread at a time."""

    _READ, _WRITE, _REMOVE, _SYNC = 1, 2, 3, 4

    def __init__(self, store, limit=64):
        made = _ffi.new("clusterfs_queue **")
        _checked(_lib.clusterfs_queue_new(store.handle, limit, made))
        super().__init__(made[0], _lib.clusterfs_queue_free)
        store.users.add(self)
        self._next = 0
        self._open = {}  # by number: (tag, what is to stay until the answer)

    def _submit(self, operation, tag, name=b"", data=b"", group=0):
        name, data = _name(name), _buffer(data)
        request, attributes = _ffi.new("clusterfs_request *"), _attributes(group)
        request.struct_size = _ffi.sizeof("clusterfs_request")
        request.operation, request.tag = operation, self._next
        request.name, request.name_size, request.data, request.size = name, len(name), data, len(data)
        request.attributes = attributes
        _checked(_lib.clusterfs_submit(self._handle, request))
        self._open[self._next] = tag, data
        self._next += 1

    def read(self, name, tag=None):
        self._submit(self._READ, tag, name)

    def write(self, name, data, tag=None, group=0):
        """data stays as it is until the answer has come."""
        self._submit(self._WRITE, tag, name, data, group)

    def remove(self, name, tag=None):
        self._submit(self._REMOVE, tag, name)

    def sync(self, tag=None):
        self._submit(self._SYNC, tag)

    def __len__(self):
        """Requests without an answer that was fetched."""
        return len(self._open)

    def wait(self, seconds=None, most=64):
        """A list of answers in the order in which they came; empty when none came in time, or nothing is under way."""
        room = _ffi.new("clusterfs_answer[]", most)
        milliseconds = -1 if seconds is None else max(0, round(seconds * 1000))
        count = _checked(_lib.clusterfs_wait(self._handle, room, most, milliseconds))
        answers = []
        for answer in room[0:count]:
            tag, _ = self._open.pop(answer.tag)
            answers.append(Answer(tag, answer.result, Object(answer.object) if answer.object else None))
        return answers

    def fileno(self):
        """Readable while answers wait: for select, poll and asyncio."""
        return _checked(_lib.clusterfs_queue_fd(self._handle))

    def close(self):
        """Waits until all requests are answered."""
        super().close()
        self._open.clear()


class Accelerator(_Owned):
    """A store in front of a folder whose file system is slow, see accelerator.h. largest: bytes of a file that is copied. settled: seconds
    after a file's last change from which on it is copied. trusted: seconds for which the folder is not looked at again for the same
    path. paths: how many are remembered for that."""

    def __init__(self, store, folder, largest=256 << 20, settled=60, trusted=0, paths=100000):
        settings, made = _ffi.new("clusterfs_accelerator_settings *"), _ffi.new("clusterfs_accelerator **")
        settings.struct_size = _ffi.sizeof("clusterfs_accelerator_settings")
        settings.largest, settings.settled, settings.trusted, settings.paths = largest, settled, trusted, paths
        _checked(_lib.clusterfs_accelerator_new(store.handle, os.fsencode(folder), settings, made))
        super().__init__(made[0], _lib.clusterfs_accelerator_free)
        self._store = store  # stays open as long as this one is there
        self._files = weakref.WeakSet()
        store.users.add(self)

    def open(self, path, client=0):
        """A File, by its path in the folder. Raises OSError when the folder has none."""
        made = _ffi.new("clusterfs_file **")
        _checked(_lib.clusterfs_file_open(self._handle, os.fsencode(path), client, made))
        file = File(self, made[0])
        self._files.add(file)
        return file

    def counts(self):
        """What it has done, by name."""
        counts = _ffi.new("clusterfs_accelerator_counts *")
        _checked(_lib.clusterfs_accelerator_count(self._handle, counts, _ffi.sizeof("clusterfs_accelerator_counts")))
        return {name: getattr(counts, name) for name, _ in _ffi.typeof("clusterfs_accelerator_counts").fields}

    def close(self):
        """Closes its files, too."""
        for file in list(self._files):
            file.close()
        super().close()


class File(_Owned):
    """A file that was opened for reading."""

    def __init__(self, accelerator, handle):
        self._accelerator = accelerator  # stays open as long as this one is there
        super().__init__(handle, _lib.clusterfs_file_close)

    @property
    def stored(self):
        """Whether the store had it."""
        return _lib.clusterfs_file_stored(self._handle) == 1

    def read(self, offset=0, size=-1):
        """Copies bytes; all to the end when there is no size."""
        pieces = []
        while size:
            room = bytearray(_PIECE if size < 0 else min(_PIECE, size))
            got = _checked(_lib.clusterfs_file_read(self._handle, offset, _ffi.from_buffer(room), len(room)))
            if not got:
                break
            pieces.append(bytes(room[:got]))
            offset, size = offset + got, size - got if size > 0 else size
        return b"".join(pieces)
