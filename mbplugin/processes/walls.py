"""Walls: a sandbox around a process that handles an untrusted file.

The process sets it up itself before it reads the file, and it cannot be removed again: resource limits that cannot be
raised, no way to gain privileges, a filter of system calls (seccomp), and Landlock. The filter is a list of allowed
calls, so that calls added by later Linux versions are refused. If the system lacks one of these mechanisms, the
process continues with the others; :class:`Raised` states which ones are in force.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import math
import os
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mbplugin.processes.supervised import addresses, set_hard

#: AUDIT_ARCH values of the machines whose system calls are known here, and the columns of their numbers.
_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}


@dataclass(frozen=True)
class Walls:
    """The permissions of a sandboxed process.

    It can never start a program or a process, open a connection, send a signal to other processes, or change files
    outside ``writable``.

    Parameters
    ----------
    reads : bool
        Whether it may open files for reading and start threads; otherwise it can only compute.
    writable : str
        The only folder in which it may write files; empty if there is none.
    """

    reads: bool = True
    writable: str = ""


@dataclass(frozen=True)
class Raised:
    """The sandbox mechanisms in force in a process.

    Parameters
    ----------
    limits : bool
        The system enforces resource limits that the process cannot raise.
    privileges : bool
        The process has given up root privileges, except to read files if it may, and cannot gain any.
    filter : bool
        System calls are filtered (seccomp).
    landlock : int
        The version of Landlock; 0 if it is not available.
    """

    limits: bool = False
    privileges: bool = False
    filter: bool = False
    landlock: int = 0


def raise_walls(walls: Walls, written: int, cpu: int, memory: int) -> Raised:
    """Set up the sandbox of this single-threaded process, as far as the system supports it.

    Parameters
    ----------
    walls : Walls
    written : int
        Largest file that it may write, bytes.
    cpu, memory : int
        CPU seconds and bytes of address space, both in addition to those used; they are hard limits for a process
        that only computes, since it is used only once.
    """
    if sys.platform == "win32":
        return Raised()
    limits = _limited(walls, written, cpu, memory)
    machine = _MACHINES.get(os.uname().machine) if sys.platform == "linux" else None
    # on other machines, system calls have other numbers
    if machine is None or ctypes.sizeof(ctypes.c_void_p) != 8:
        return Raised(limits)
    call = _Calls(machine[1])
    privileges = _without_privileges(call, walls)
    landlock = _landlocked(call, walls)
    return Raised(limits, privileges, _filtered(call, machine[0], walls), landlock)


def _limited(walls: Walls, written: int, cpu: int, memory: int) -> bool:
    if sys.platform == "win32":
        return False
    import resource

    held = [set_hard(resource.RLIMIT_FSIZE, written), set_hard(resource.RLIMIT_CORE, 0)]
    if not walls.reads:
        used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        # the soft limit is reached first, and its signal shows why the process ended
        held.append(set_hard(resource.RLIMIT_CPU, math.ceil(used) + cpu + 2))
        if sys.platform == "linux":
            held.append(set_hard(resource.RLIMIT_AS, addresses() + memory))
        held.append(set_hard(resource.RLIMIT_NPROC, 0))
    return all(held)


class _Calls:
    """System calls by name.

    Parameters
    ----------
    column : int
        Column of this machine's numbers in the table.
    """

    def __init__(self, column: int) -> None:
        self.column = column
        libc: Any = ctypes.CDLL(None, use_errno=True)
        self._call = libc.syscall
        self._call.restype = ctypes.c_long

    def __call__(self, name: str, *args: Any) -> int:
        """Return the result of a system call; −1 if it failed."""
        whole = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
        answer: int = self._call(ctypes.c_long(self.numbers(name)[0]), *whole)
        return answer

    def numbers(self, names: str) -> list[int]:
        """Return the numbers of those of the named system calls that exist on this machine."""
        found = (_NUMBERS[name][self.column] for name in names.split())
        return [number for number in found if number >= 0]


#: Operations of prctl: no core dumps and no access by other processes of the user; no new privileges by execution.
_SET_DUMPABLE, _SET_NO_NEW_PRIVS = 4, 38
_CAPABILITIES_3 = 0x20080522
#: Capability to read files regardless of their permissions, which an engine run by root keeps.
_DAC_READ_SEARCH = 1 << 2


def _without_privileges(call: _Calls, walls: Walls) -> bool:
    """Give up root privileges, if there are any, and the possibility to gain new ones."""
    call("prctl", _SET_DUMPABLE, 0, 0, 0, 0)
    if call("prctl", _SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    kept = _DAC_READ_SEARCH & _capabilities() if walls.reads else 0
    header = ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITIES_3, 0), 8)
    # effective, permitted, inheritable; then the upper halves of each
    sets = ctypes.create_string_buffer(struct.pack("=6I", kept, kept, 0, 0, 0, 0), 24)
    return call("capset", header, sets) == 0


def _capabilities() -> int:
    """Return the permitted capabilities of this process; 0 if the system does not report them."""
    with contextlib.suppress(OSError), open("/proc/self/status", "rb") as file:  # noqa: PTH123
        for line in file:
            if line.startswith(b"CapPrm:"):
                return int(line.split()[1], 16)
    return 0


#: Landlock rights: to start programs, read files, list folders; and rights to change files, by the version with them.
_EXECUTE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 2, 1 << 3
_WRITE_FILE = 1 << 1
_CHANGES = {1: _WRITE_FILE | sum(1 << bit for bit in range(4, 13)), 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
#: Rights for the writable folder: write, truncate, create and remove files and folders.
_OF_FOLDER = _WRITE_FILE | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 13 | 1 << 14
#: TCP, abstract sockets and signals to other processes, and the Landlock versions that restrict them.
_NETWORK, _NETWORK_SINCE, _SCOPE, _SCOPE_SINCE = 3, 4, 3, 6


def _landlocked(call: _Calls, walls: Walls) -> int:
    """Restrict the file access of this process by Landlock; return its version, or 0 if it is not in force."""
    version = call("landlock_create_ruleset", None, 0, 1)
    if version < 1:
        return 0
    rights = _EXECUTE | sum(bits for since, bits in _CHANGES.items() if version >= since)
    if not walls.reads:
        rights |= _READ_FILE | _READ_DIR
    fields = [rights]
    fields += [_NETWORK] if version >= _NETWORK_SINCE else []
    fields += [_SCOPE] if version >= _SCOPE_SINCE else []
    attributes = ctypes.create_string_buffer(struct.pack(f"={len(fields)}Q", *fields), 8 * len(fields))
    rules = call("landlock_create_ruleset", attributes, 8 * len(fields), 0)
    if rules < 0:
        return 0
    try:
        if walls.writable:
            _permit(call, rules, walls.writable, _OF_FOLDER & rights)
            _permit(call, rules, os.devnull, _WRITE_FILE)
        return version if call("landlock_restrict_self", rules, 0) == 0 else 0
    finally:
        os.close(rules)


def _permit(call: _Calls, rules: int, path: str, rights: int) -> None:
    """Permit rights below a path."""
    # with O_PATH, the path need not be readable
    beneath = os.open(path, getattr(os, "O_PATH", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        call(
            "landlock_add_rule",
            rules,
            1,
            ctypes.create_string_buffer(struct.pack("=Qi", rights, beneath), 12),
            0,
        )
    finally:
        os.close(beneath)


# The filter. A test is the offset of a word in the call's data, a comparison, and the values to compare with.

_EQUAL, _SET, _CLEAR = "equal", "set", "clear"
Test = tuple[int, str, tuple[int, ...]]
Instruction = tuple[int, int, int, int]
_LOAD, _JUMP, _JUMP_EQUAL, _JUMP_SET, _RETURN = 0x20, 0x05, 0x15, 0x45, 0x06
_ALLOW, _KILL, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
#: Offsets of the number of the call and of the machine.
_NUMBER, _MACHINE = 0, 4
#: Flags of open: for writing, create, truncate, unnamed temporary file.
_OPEN_CHANGES = 0o3 | 0o100 | 0o1000 | 0o20000000
_CLONE_THREAD, _AT_EMPTY_PATH = 0x10000, 0x1000
_PROT_EXEC = 4
#: Operations of ioctl: test for a terminal, set and clear close-on-exec, readable bytes, window size.
_IOCTLS = (0x5401, 0x5451, 0x5450, 0x541B, 0x5413)
#: Operations of fcntl: duplicate, flags, locks.
_FCNTLS = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030)
#: Operations of prctl: names of threads and of memory, and queries of settings.
_PRCTLS = (3, 15, 16, 39, 0x53564D41)
#: Limits that a reused process sets for each file: CPU time, file descriptors and address space.
_LIMITS_OF_CALLS = (0, 7, 9)


def _filtered(call: _Calls, machine: int, walls: Walls) -> bool:
    """Install the filter of system calls; return True if it is in force."""
    program = [(_LOAD, 0, 0, _MACHINE), (_JUMP_EQUAL, 1, 0, machine), (_RETURN, 0, 0, _KILL)]
    program.append((_LOAD, 0, 0, _NUMBER))
    for names, alternatives, why in _rules(walls):
        block = _block(alternatives, why)
        for number in call.numbers(names):
            program += [(_JUMP_EQUAL, 0, len(block), number), *block]
    program.append((_RETURN, 0, 0, _REFUSE | errno.EPERM))
    code = b"".join(struct.pack("=HBBI", *instruction) for instruction in program)
    kept = ctypes.create_string_buffer(code, len(code))
    head = ctypes.create_string_buffer(struct.pack("@HP", len(program), ctypes.addressof(kept)), 16)
    # for all threads
    return call("seccomp", 1, 1, head) == 0


def _rules(walls: Walls) -> list[tuple[str, list[list[Test]], int]]:
    """Return the rules: system calls, alternative conditions under which they are allowed, and the error otherwise."""
    own: Test = (_argument(0), _EQUAL, (os.getpid(),))
    asks: list[Test] = [(_argument(2), _EQUAL, (0,)), (_argument(2) + 4, _EQUAL, (0,))]
    sets: list[Test] = [(_argument(0), _EQUAL, (0,)), (_argument(1), _EQUAL, _LIMITS_OF_CALLS)]
    rules: list[tuple[str, list[list[Test]], int]] = [
        (_COMPUTING, [[]], 0),
        ("kill tgkill", [[own]], errno.EPERM),
        ("ioctl", [[(_argument(1), _EQUAL, _IOCTLS)]], errno.EPERM),
        ("fcntl", [[(_argument(1), _EQUAL, _FCNTLS)]], errno.EPERM),
        ("prctl", [[(_argument(0), _EQUAL, _PRCTLS)]], errno.EPERM),
        ("prlimit64", [asks, sets] if walls.reads else [asks], errno.EPERM),
        # their arguments are in memory, which a filter cannot read; the C library falls back to the older calls
        ("openat2 clone3", [], errno.ENOSYS),
    ]
    if not walls.reads:
        inexecutable: Test = (_argument(2), _CLEAR, (_PROT_EXEC,))
        rules += [("mmap mprotect", [[inexecutable]], errno.EPERM), ("open openat", [], errno.EACCES)]
        # used by the C library to query a file descriptor
        rules.append(("newfstatat", [[(_argument(3), _SET, (_AT_EMPTY_PATH,))]], errno.EACCES))
        return [*rules, ("statx", [[(_argument(2), _SET, (_AT_EMPTY_PATH,))]], errno.EACCES)]
    thread: list[Test] = [(_argument(0), _SET, (_CLONE_THREAD,))]
    rules += [(_READING, [[]], 0), ("clone", [thread], errno.EPERM)]
    if walls.writable:
        return [*rules, (_WRITING, [[]], 0)]
    rules.append(("open", [[(_argument(1), _CLEAR, (_OPEN_CHANGES,))]], errno.EACCES))
    return [*rules, ("openat", [[(_argument(2), _CLEAR, (_OPEN_CHANGES,))]], errno.EACCES)]


def _argument(k: int) -> int:
    """Return the offset of the lower half of an argument; most arguments fit into it."""
    return 16 + 8 * k


def _block(alternatives: Sequence[Sequence[Test]], why: int) -> list[Instruction]:
    """Return the instructions that allow a call if every test of one alternative passes."""
    block: list[Instruction] = []
    for tests in alternatives:
        part = [instruction for test in tests for instruction in _test(*test)]
        part.append((_RETURN, 0, 0, _ALLOW))
        # a failed test jumps past this alternative
        block += [(c, t, f, len(part) - k - 1 if c == _JUMP else v) for k, (c, t, f, v) in enumerate(part)]
    return [*block, (_RETURN, 0, 0, _REFUSE | why)]


def _test(place: int, how: str, values: tuple[int, ...]) -> list[Instruction]:
    """Return the instructions of a test, which jump if it fails and otherwise fall through."""
    fail: Instruction = (_JUMP, 0, 0, 0)
    if how == _EQUAL:
        found = [(_JUMP_EQUAL, len(values) - k, 0, value) for k, value in enumerate(values)]
        return [(_LOAD, 0, 0, place), *found, fail]
    passed = (1, 0) if how == _SET else (0, 1)
    return [(_LOAD, 0, 0, place), (_JUMP_SET, *passed, values[0]), fail]


#: System calls for computing and answering; then for reading files and for threads; then for writing files.
_COMPUTING = (
    "read write readv writev close close_range fstat lseek munmap mremap brk madvise"
    " rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack restart_syscall getpid gettid getppid getuid geteuid"
    " getgid getegid clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time futex futex_waitv"
    " sched_yield sched_getaffinity getrandom exit exit_group getrusage times getitimer setitimer alarm rseq"
    " membarrier dup dup2 dup3 poll ppoll getcwd uname sysinfo getrlimit getcpu"
)
_READING = (
    "mmap mprotect pread64 preadv pwrite64 stat lstat newfstatat statx access faccessat faccessat2 readlink"
    " readlinkat getdents64 getdents statfs fstatfs chdir fchdir set_robust_list get_robust_list set_tid_address"
    " arch_prctl pipe pipe2 eventfd2 select pselect6 epoll_create1 epoll_ctl epoll_wait epoll_pwait flock fadvise64"
    " readahead mincore mlock munlock mbind get_mempolicy sched_getparam sched_getscheduler"
    " sched_get_priority_max sched_get_priority_min umask"
)
_WRITING = (
    "open openat creat unlink unlinkat rename renameat renameat2 mkdir mkdirat rmdir ftruncate fallocate fsync"
    " fdatasync"
)

#: System calls with their numbers on x86-64 and on 64-bit ARM; −1 if the machine does not have the call.
_TABLE = """
access:21:-1 alarm:37:-1 arch_prctl:158:-1 brk:12:214 capset:126:91 chdir:80:49 clock_getres:229:114
clock_gettime:228:113 clock_nanosleep:230:115 clone3:435:435 clone:56:220 close:3:57 close_range:436:436
creat:85:-1 dup2:33:-1 dup3:292:24 dup:32:23 epoll_create1:291:20 epoll_ctl:233:21 epoll_pwait:281:22
epoll_wait:232:-1 eventfd2:290:19 exit:60:93 exit_group:231:94 faccessat2:439:439 faccessat:269:48
fadvise64:221:223 fallocate:285:47 fchdir:81:50 fcntl:72:25 fdatasync:75:83 flock:73:32 fstat:5:80
fstatfs:138:44 fsync:74:82 ftruncate:77:46 futex:202:98 futex_waitv:449:449 get_mempolicy:239:236
get_robust_list:274:100 getcpu:309:168 getcwd:79:17 getdents64:217:61 getdents:78:-1 getegid:108:177
geteuid:107:175 getgid:104:176 getitimer:36:102 getpid:39:172 getppid:110:173 getrandom:318:278
getrlimit:97:163 getrusage:98:165 gettid:186:178 gettimeofday:96:169 getuid:102:174 ioctl:16:29 kill:62:129
landlock_add_rule:445:445 landlock_create_ruleset:444:444 landlock_restrict_self:446:446 lseek:8:62
lstat:6:-1 madvise:28:233 mbind:237:235 membarrier:324:283 mincore:27:232 mkdir:83:-1 mkdirat:258:34
mlock:149:228 mmap:9:222 mprotect:10:226 mremap:25:216 munlock:150:229 munmap:11:215 nanosleep:35:101
newfstatat:262:79 open:2:-1 openat2:437:437 openat:257:56 pipe2:293:59 pipe:22:-1 poll:7:-1 ppoll:271:73
prctl:157:167 pread64:17:67 preadv:295:69 prlimit64:302:261 pselect6:270:72 pwrite64:18:68 read:0:63
readahead:187:213 readlink:89:-1 readlinkat:267:78 readv:19:65 rename:82:-1 renameat2:316:276
renameat:264:38 restart_syscall:219:128 rmdir:84:-1 rseq:334:293 rt_sigaction:13:134 rt_sigprocmask:14:135
rt_sigreturn:15:139 sched_get_priority_max:146:125 sched_get_priority_min:147:126 sched_getaffinity:204:123
sched_getparam:143:121 sched_getscheduler:145:120 sched_yield:24:124 seccomp:317:277 select:23:-1
set_robust_list:273:99 set_tid_address:218:96 setitimer:38:103 sigaltstack:131:132 stat:4:-1 statfs:137:43
statx:332:291 sysinfo:99:179 tgkill:234:131 time:201:-1 times:100:153 umask:95:166 uname:63:160 unlink:87:-1
unlinkat:263:35 write:1:64 writev:20:66
"""
_NUMBERS = {
    name: (int(first), int(second)) for name, first, second in (one.split(":") for one in _TABLE.split())
}
