"""What a process that works on a stranger's file must not be able to do: plain Python that tries each.

Every function tries one thing, in a process of its own, and returns only where it was done; ``CALLS`` goes round
Python and asks the system directly.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def tried(name: str, *args: str) -> str:
    """Return ``done``, or how the system refused it."""
    try:
        TRIES[name](*args)
    except (OSError, ValueError, RuntimeError) as error:
        return f"refused: {type(error).__name__} {getattr(error, 'errno', '')}"
    return "done"


def call(number: int, *args: object) -> int:
    """Return what a system call returns, or raise what it fails with."""
    answer = libc.syscall(
        ctypes.c_long(number), *(ctypes.c_long(a) if isinstance(a, int) else a for a in args)
    )
    if answer < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return int(answer)


def shell(mark: str) -> None:
    if os.system(f"touch {mark}") != 0 or not Path(mark).exists():
        raise OSError("no shell")


def program(mark: str) -> None:
    subprocess.run(["touch", mark], check=True)


def replaced(mark: str) -> None:
    os.execv("/bin/sh", ["sh", "-c", f"touch {mark}"])


def forked(mark: str) -> None:
    if (child := os.fork()) == 0:
        os._exit(0)
    os.waitpid(child, 0)


def spawned(mark: str) -> None:
    os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", f"touch {mark}"], {}), 0)


def connected(port: str) -> None:
    with socket.socket() as stream:
        stream.connect(("127.0.0.1", int(port)))


def paired(mark: str) -> None:
    for one in socket.socketpair():
        one.close()


def written(mark: str) -> None:
    Path(mark).write_text("x")


def appended(mark: str) -> None:
    os.close(os.open(mark, os.O_APPEND | os.O_CREAT | os.O_WRONLY))


def emptied(file: str) -> None:
    os.close(os.open(file, os.O_RDONLY | os.O_TRUNC))


def nameless(mark: str) -> None:
    os.close(os.open(Path(mark).parent, os.O_TMPFILE | os.O_RDWR))


def removed(file: str) -> None:
    Path(file).unlink()


def renamed(file: str) -> None:
    os.rename(file, f"{file}.other")  # noqa: PTH104


def linked(mark: str) -> None:
    os.symlink("/etc/hostname", mark)  # noqa: PTH211


def hard_linked(file: str) -> None:
    os.link(file, f"{file}.link")


def folder(mark: str) -> None:
    os.mkdir(mark)  # noqa: PTH102


def opened_up(file: str) -> None:
    os.chmod(file, 0o777)  # noqa: PTH101


def cut(file: str) -> None:
    os.truncate(file, 0)


def dated(file: str) -> None:
    os.utime(file, (0, 0))


def killed(pid: str) -> None:
    os.kill(int(pid), signal.SIGTERM)


def asked_whether_alive(pid: str) -> None:
    os.kill(int(pid), 0)


def raised_size(mark: str) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    if resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 1 << 20:
        raise OSError("not raised")


def raised_processes(mark: str) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, 1 << 20))


def of_the_parent(pid: str) -> None:
    """Lower the limit of another process."""
    soft, hard = resource.prlimit(int(pid), resource.RLIMIT_CORE)
    resource.prlimit(int(pid), resource.RLIMIT_CORE, (soft, hard))


def environment(pid: str) -> None:
    if b"=" not in Path(f"/proc/{pid}/environ").read_bytes():
        raise OSError("nothing there")


def memory(pid: str) -> None:
    with open(f"/proc/{pid}/mem", "rb"):  # noqa: PTH123
        pass


def traced(pid: str) -> None:
    ctypes.set_errno(0)
    if libc.ptrace(16, int(pid), None, None) != 0:
        raise OSError(ctypes.get_errno(), "refused")
    libc.ptrace(17, int(pid), None, None)


def read(file: str) -> None:
    Path(file).read_bytes()


def listed(file: str) -> None:
    os.listdir(Path(file).parent)  # noqa: PTH208


def thread(mark: str) -> None:
    one = threading.Thread(target=int)
    one.start()
    one.join()


def executable_memory(mark: str) -> None:
    mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC).close()


def in_memory(mark: str) -> None:
    os.close(os.memfd_create("x"))


def keys(mark: str) -> None:
    # the session keyring, which may be there or not
    call({"x86_64": 250}.get(os.uname().machine, 219), 0, -3, 1)


def ring(mark: str) -> None:
    os.close(call(425, 8, ctypes.create_string_buffer(120)))


def program_of_the_kernel(mark: str) -> None:
    os.close(
        call(
            {"x86_64": 321}.get(os.uname().machine, 280),
            0,
            ctypes.create_string_buffer(b"\2\0\0\0\4\0\0\0\4\0\0\0\1" + bytes(60)),
            72,
        )
    )


def namespaces(mark: str) -> None:
    call({"x86_64": 272}.get(os.uname().machine, 97), 0x10000000)


def root_folder(mark: str) -> None:
    os.chroot("/")


def mounted(mark: str) -> None:
    if libc.mount(b"none", str(Path(mark).parent).encode(), b"tmpfs", 0, None) != 0:
        raise OSError(ctypes.get_errno(), "refused")
    libc.umount2(str(Path(mark).parent).encode(), 2)


def opened_new_way(mark: str) -> None:
    how = ctypes.create_string_buffer(
        (os.O_WRONLY | os.O_CREAT).to_bytes(8, "little") + (0o600).to_bytes(8, "little") + bytes(8)
    )
    os.close(call(437, -100, mark.encode(), how, 24))


def forked_new_way(mark: str) -> None:
    arguments = ctypes.create_string_buffer(88)
    ctypes.memmove(ctypes.addressof(arguments) + 32, (17).to_bytes(8, "little"), 8)
    if (child := call(435, arguments, 88)) == 0:
        os._exit(0)
    os.waitpid(child, 0)


#: By what they need to be told: a file to be made, a file that is there, a process, a port.
TO_BE_MADE: tuple[Callable[[str], None], ...] = (
    *(shell, program, replaced, forked, spawned, paired, written, appended, nameless, linked, folder),
    *(raised_size, raised_processes, in_memory, ring, program_of_the_kernel, namespaces),
    *(root_folder, mounted, opened_new_way, forked_new_way),
)
THERE: tuple[Callable[[str], None], ...] = (emptied, removed, renamed, hard_linked, opened_up, cut, dated)
OF_A_PROCESS: tuple[Callable[[str], None], ...] = (
    *(killed, asked_whether_alive, of_the_parent, environment, memory, traced),
)
TO_A_PORT: tuple[Callable[[str], None], ...] = (connected,)
#: What an engine needs, and a process that only computes does not.
OF_ENGINES: tuple[Callable[[str], None], ...] = (read, listed, thread, executable_memory)
TRIES = {one.__name__: one for one in (*TO_BE_MADE, *THERE, *OF_A_PROCESS, *TO_A_PORT, *OF_ENGINES)}


def descriptors() -> list[int]:
    """Return the open descriptors of this process."""
    found = []
    for one in range(256):
        try:
            os.fstat(one)
        except OSError:
            continue
        found.append(one)
    return found


def folder_is_empty() -> bool:
    """Return whether nothing is in the working folder, and nothing can be made there."""
    with open("here", "w") as file:  # noqa: PTH123
        file.write("x")
    return os.listdir() == []  # noqa: PTH208


def names_of_variables() -> list[str]:
    """Return the names of the environment of this process, as Python and as C have them."""
    names = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, "environ")
    of_c = []
    k = 0
    while names[k]:
        of_c.append(names[k].decode().partition("=")[0])
        k += 1
    return sorted({*os.environ, *of_c})


def hostile_answer(mark: str) -> object:
    """Return what makes a folder where it is unpickled."""
    return _Acts(mark)


class _Acts:
    def __init__(self, mark: str) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (self.mark,)


def loud() -> None:
    """Announce more bytes than may come."""
    os.write(max(descriptors()), (1 << 60).to_bytes(8, "little"))
    sys.stdin.buffer.read()
