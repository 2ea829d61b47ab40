"""The walls around a learner's process: what Linux offers without any further program.

After reading this file you can say which wall stops what: Landlock the files, seccomp the system
calls (sockets, new processes, signals, changed file modes ...), namespaces the network and the
sight of other processes, a user of its own whatever that user may not touch. Every function
raises OSError where the system refuses; ``sandbox.py`` then tries the next best set. All of it is
called in the fork server, which loads this file without the kit. Read next: ``zygote.py``.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
from collections.abc import Iterable

__all__ = [
    "drop_capabilities",
    "forbid_calls",
    "forbidden_calls",
    "landlock_version",
    "new_namespaces",
    "only_read",
    "other_user",
    "own_process_namespace",
]

# <linux/prctl.h>
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 4, 22, 24
PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 38, 2
# <linux/sched.h>
NEW_UTS, NEW_IPC, NEW_USER, NEW_PID, NEW_NET = (
    0x04000000,
    0x08000000,
    0x10000000,
    0x20000000,
    1 << 30,
)
CLONE_THREAD = 0x00010000
# <linux/landlock.h>; the numbers of the calls are the same on all processors
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446
READ_FILE, WRITE_FILE, READ_DIR, TRUNCATE, IOCTL = 1 << 2, 1 << 1, 1 << 3, 1 << 14, 1 << 15
CAPSET = {"x86_64": 126, "aarch64": 91}

# What a function of an exercise never needs, and a wall of files or networks does not stop.
FORBIDDEN = """
    socket connect bind listen accept accept4 sendto sendmsg sendmmsg
    execve execveat fork vfork ptrace process_vm_readv process_vm_writev process_madvise kcmp
    kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_open pidfd_send_signal pidfd_getfd
    unshare setns mount umount2 pivot_root chroot move_mount open_tree fsopen fsmount fsconfig
    mount_setattr swapon swapoff quotactl quotactl_fd sethostname setdomainname
    open_by_handle_at name_to_handle_at memfd_secret fanotify_init
    chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes utimensat futimesat
    setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat
    mknod mknodat link linkat symlink symlinkat rename renameat renameat2 unlink unlinkat
    mkdir mkdirat rmdir creat truncate
    shmget shmat msgget semget mq_open add_key request_key keyctl
    bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register
    init_module finit_module delete_module kexec_load kexec_file_load reboot syslog acct
    sync syncfs settimeofday clock_settime clock_adjtime adjtimex personality iopl ioperm
    setpriority ioprio_set sched_setscheduler sched_setparam sched_setattr sched_setaffinity
    migrate_pages move_pages set_mempolicy mbind setuid setgid setreuid setregid setresuid
    setresgid setgroups setfsuid setfsgid capset landlock_create_ruleset
""".split()  # noqa: SIM905 - one word per call is easier to read
# Calls younger than many a libseccomp, which cannot name them. Some change files by their path
# (fchmodat2, setxattrat, file_setattr); the numbers are the same on all processors. A program that
# asks for one is told, as by an older kernel, that there is no such call.
YOUNG = range(450, 650)
# Signals to other processes by way of an open file, leases; flags of a file that is open to read.
FCNTL = (8, 10, 15, 1024, 1026)  # F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY
IOCTLS = (0x8901, 0x8902, 0x40086602, 0x40046602, 0x401C5820, 0x5412)
# FIOSETOWN, SIOCSPGRP, FS_IOC_SETFLAGS (two sizes), FS_IOC_FSSETXATTR, TIOCSTI


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _prctl(option: int, *values: int) -> None:
    arguments = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    _checked(_libc().prctl(option, *arguments), "prctl")


def other_user(user: int) -> None:
    """Become a user who owns nothing: for a grader that was started by root."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def new_namespaces() -> None:
    """Leave the network, the other processes and the shared memory behind, for good.

    The process namespace holds from the next fork on.
    """
    user, group = os.getuid(), os.getgid()
    _prctl(PR_SET_DUMPABLE, 1)  # else, after a change of user, its own /proc is not its own
    flags = NEW_USER | NEW_PID | NEW_NET | NEW_IPC | NEW_UTS
    _checked(_libc().unshare(flags), "unshare")
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="utf-8") as file:
            file.write(text)


def own_process_namespace(home: int) -> int:
    """Fork into a fresh process namespace; its death kills whatever was started in it.

    Parameters
    ----------
    home : int
        An open file of this process's own namespace, to come back to.
    """
    libc = _libc()
    _checked(libc.unshare(NEW_PID), "unshare")
    process = -1
    try:
        process = os.fork()
    finally:
        if process:
            _checked(libc.setns(home, NEW_PID), "setns")
    return process


def drop_capabilities() -> None:
    """Give up root's powers, also those over the own namespace, for good."""
    number = CAPSET[os.uname().machine]
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _checked(_libc().syscall(number, header, nothing), "capset")
    _prctl(PR_SET_NO_NEW_PRIVS, 1)
    _prctl(PR_SET_DUMPABLE, 0)


def landlock_version() -> int:
    """Return which Landlock this kernel has, 0 for none."""
    version = _libc().syscall(LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    return max(int(version), 0)


def only_read(files: Iterable[str], folders: Iterable[str]) -> None:
    """Let this process and its children open these files and no others, from now on.

    Parameters
    ----------
    files : paths that may be read, with all that is below them
    folders : paths that may be listed only
    """
    version = landlock_version()
    if not version:
        raise OSError("This kernel has no Landlock.")
    handled = (1 << 13) - 1
    handled |= (1 << 13) * (version >= 2) | TRUNCATE * (version >= 3) | IOCTL * (version >= 5)
    rules = (ctypes.c_uint64 * 3)(handled, 3 * (version >= 4), 3 * (version >= 6))
    size = 8 if version < 4 else 16 if version < 6 else 24
    libc = _libc()
    descriptor = libc.syscall(LANDLOCK_CREATE, rules, ctypes.c_size_t(size), ctypes.c_uint32(0))
    ruleset = _checked(descriptor, "landlock_create_ruleset")
    allowed = [(path, READ_FILE | READ_DIR) for path in files]
    allowed += [(path, READ_DIR) for path in folders]
    allowed += [("/dev/null", READ_FILE | WRITE_FILE), ("/dev/urandom", READ_FILE)]
    for path, rights in allowed:
        with contextlib.suppress(FileNotFoundError, PermissionError):
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            if not os.path.isdir(path):
                rights &= ~READ_DIR
            rule = rights.to_bytes(8, "little") + place.to_bytes(4, "little")
            added = libc.syscall(LANDLOCK_ADD, ruleset, 1, rule, ctypes.c_uint32(0))
            os.close(place)
            _checked(added, "landlock_add_rule")
    _prctl(PR_SET_NO_NEW_PRIVS, 1)
    _checked(libc.syscall(LANDLOCK_RESTRICT, ruleset, ctypes.c_uint32(0)), "landlock_restrict_self")
    os.close(ruleset)


class _Compare(ctypes.Structure):
    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operation", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def forbidden_calls() -> bytes:
    """Return the filter of system calls as the kernel reads it, made by libseccomp."""
    allow, refuse, unknown = 0x7FFF0000, 0x00050000 | 1, 0x00050000 | 38  # EPERM, ENOSYS
    not_equal, masked_equal = 1, 7
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError as error:
        raise OSError("libseccomp.so.2 is not installed.") from error
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(allow)))

    # A binary tree instead of a list: the kernel walks the filter for each call there is.
    library.seccomp_attr_set(context, ctypes.c_int(8), ctypes.c_uint32(2))

    def rule(call: str | int, action: int, *compare: _Compare) -> None:
        number = call
        if isinstance(call, str):
            number = library.seccomp_syscall_resolve_name(call.encode())
            if number < 0 or number in YOUNG:  # not on this processor, or refused below
                return
        array = (_Compare * max(len(compare), 1))(*compare)
        action_, count = ctypes.c_uint32(action), ctypes.c_uint(len(compare))
        status = library.seccomp_rule_add_array(context, action_, number, count, array)
        if status < 0:
            raise OSError(-status, f"seccomp rule for {call}: {os.strerror(-status)}")

    for name in FORBIDDEN:
        rule(name, refuse)
    for young in YOUNG:
        rule(young, unknown)
    for call, commands in (("fcntl", FCNTL), ("ioctl", IOCTLS)):
        for command in commands:  # the kernel reads 32 bits of it
            rule(call, refuse, _Compare(1, masked_equal, 0xFFFFFFFF, command))
    # Threads yes, processes no. clone3 hides its flags from the filter; libc can do without it.
    rule("clone", refuse, _Compare(0, masked_equal, CLONE_THREAD, 0))
    rule("clone3", unknown)
    rule("prlimit64", refuse, _Compare(0, not_equal, 0, 0))  # another process's limits
    reading, writing = os.pipe()
    try:
        result = library.seccomp_export_bpf(context, writing)
        if result < 0:
            raise OSError(-result, f"seccomp_export_bpf: {os.strerror(-result)}")
        return os.read(reading, 2**16)
    finally:
        os.close(reading)
        os.close(writing)
        library.seccomp_release(context)


def forbid_calls(program: bytes) -> None:
    """Put the filter over this process, for good."""
    filter_program = _Program(len(program) // 8, program)
    _prctl(PR_SET_NO_NEW_PRIVS, 1)
    _prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(filter_program))


def die_with_parent() -> None:
    """Be killed when the process that started this one ends."""
    _prctl(PR_SET_PDEATHSIG, 9)
