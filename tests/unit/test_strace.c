/* formats/strace.c: small logs, whole and damaged, and what becomes of them. */
#include "formats/format.h"
#include "tests/unit/rows.h"
#include "tests/unit/summed.h"
#include <string.h>

#define RW "PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0"

static const struct summed_file files[] = {
    {"mmap and munmap, in whole pages",
     "mmap(NULL, 5000, " RW ") = 0x10000\nmunmap(0x10000, 1)        = 0\n",
     " alloc 8192 n 1 peak 8192 end 4096 moments 2 events 2\n[anonymous memory] 8192/8192/4096\n"},
    {"the middle of a mapping",
     "mmap(NULL, 12288, " RW ") = 0x10000\nmunmap(0x11000, 4096) = 0\nmunmap(0x10000, 12288) = 0\n",
     " alloc 12288 n 1 peak 12288 end 0 moments 3 events 3\n[anonymous memory] 12288/12288/0\n"},
    {"what lay there before is gone",
     "mmap(NULL, 8192, " RW ") = 0x10000\nmmap(0x11000, 4096, PROT_READ, MAP_PRIVATE|MAP_FIXED, "
     "3</usr/lib/libx.so>, 0) = 0x11000\n",
     " alloc 12288 n 2 peak 8192 end 8192 moments 2 events 2\n[anonymous memory] "
     "8192/8192/4096\n[file libx.so] 4096/0/4096\n"},
    {"damaged addresses and sizes",
     "mmap(NULL, 4096, " RW ") = 0x10000\nmmap(NULL, 4096, " RW ") = 0x2z0000\n"
     "mmap(NULL, 4096, " RW ") = 0x2-0000\nmmap(NULL, 4#96, " RW ") = 0x30000\n"
     "munmap(0x1?0000, 4096) = 0\nmunmap(0x1x0000, 4096) = 0\n",
     " alloc 4096 n 1 peak 4096 end 4096 moments 1 events 1\n"
     "[anonymous memory] 4096/4096/4096\nnote skipped 5\n"},
    {"damaged beginnings of lines",
     "7 1.0 mmap(NULL, 4096, " RW ") = 0x10000\n7 1.x munmap(0x10000, 4096) = 0\n"
     "7, 1.0 munmap(0x10000, 4096) = 0\n7 1#0 <... mmap resumed>) = 0x50000\n"
     "7 1.# +++ exited with 0 +++\n-7 1.0 munmap(0x10000, 4096) = 0\n12 lines of a program\n",
     " alloc 4096 n 1 peak 4096 end 4096 moments 1 ns 0\n"
     "[anonymous memory] 4096/4096/4096\nnote skipped 5\n"},
    {"calls behind what a program prints without an end of line",
     "mmap(NULL, 4096, " RW ") = 0x10000\nreading...mmap(NULL, 4096, " RW ") = 0x20000\n"
     "50%[pid 7] munmap(0x10000, 4096) = 0\n1 of (2)brk(NULL) = 0x30000\n"
     "mmap(size) is a call, mmap(N\nwrite(2, \"mmap(NULL, 1) = 2\", 16) = 16\n",
     " alloc 4096 n 1 peak 4096 end 4096 moments 1 events 1\n"
     "[anonymous memory] 4096/4096/4096\nnote skipped 3\n"},
    {"calls that a program printed into, also when another thread goes on",
     "mmap(NULL, 4096, " RW "ready\n) = 0x10000\n[pid 7] mmap(NULL, 8192, " RW "one\ntwo (2)\n"
     " <unfinished ...>\n[pid 8] munmap(0x10000, 4096done\n12 items\n) = 0\n"
     "[pid 7] <... mmap resumed>) = 0x20000\n[pid 7] munmap(0x20000, 81923 of 4\n) = 0\n",
     " alloc 12288 n 2 peak 8192 end 8192 moments 3 events 3\n"
     "[anonymous memory] 12288/8192/8192\nnote skipped 1\n"},
    {"ends of calls and of threads behind what a program printed",
     "7 mmap(NULL, 4096, " RW ") = 0x10000\n7 mmap(NULL, 8192, " RW "<unfinished ...>\n"
     "ready: 7 <... mmap resumed>) = 0x20000\n7 write(1, \"x\", 1 <unfinished ...>\n"
     "one 7 <... write resumed>) = 1\nbye 7 +++ exited with 0 +++\n",
     " alloc 4096 n 1 peak 4096 end 4096 moments 1 events 1\n"
     "[anonymous memory] 4096/4096/4096\nnote skipped 2\n"},
    {"calls that a program printed into, whose rest is not there",
     "mmap(NULL, 4096, " RW ") = 0x10000\nmmap(NULL, 8192, " RW "abc\ndef) = 0x20000\n"
     "munmap(0x10000, 4096) = 0\nmmap(NULL, 4096, " RW ") = 0x10000\nbrk(NULLbye\n",
     " alloc 8192 n 2 peak 4096 end 4096 moments 3 events 3\n"
     "[anonymous memory] 8192/4096/4096\nnote skipped 2\n"},
    {"calls that a program printed what looks like one into",
     "[pid 7] mmap(NULL, 4096, " RW "Net(\n  (fc): Linear(1)\n)\n) = 0x10000\n"
     "[pid 8] mmap(NULL, 8192, " RW "), 5\n, 6\n) = 0x20000\nNet(\n"
     "[pid 7] munmap(0x10000, 4096Net(\n)\n <unfinished ...>\n[pid 7] <... munmap resumed>) = 0\n",
     " alloc 12288 n 2 peak 12288 end 8192 moments 3 events 3\n"
     "[anonymous memory] 12288/12288/8192\n"},
    {"sizes that a program printed digits behind, and a result that it printed",
     "[pid 7] mmap(NULL, 122880, " RW ") = 0x10000\n[pid 7] munmap(0x10000, 40960.5\n) = 0\n"
     "[pid 7] munmap(0x10000, 0x10000.5\n) = 0\n[pid 7] munmap(0x10000, 4096012\n) = 0\n"
     "[pid 7] munmap(0x10000, 40960step 1\n) = 0\n[pid 7] munmap(0x1a000, 81920.5\n) = 0\n"
     "[pid 7] munmap(0x1a000, 8192.5\n) = 0\n[pid 7] munmap(0x24000, 40960[1] (2)\n) = 0\n[pid 7] "
     "mmap(NULL, 4096, " RW "a = 0\n) = 0x40000\n",
     " alloc 122880 n 1 peak 122880 end 32768 moments 4 events 4\n"
     "[anonymous memory] 122880/122880/32768\nnote skipped 5\n"},
    {"what a program printed before strace said that it follows another",
     "[pid 7] mmap(NULL, 4096, " RW ") = 0x10000\nloss: 5strace: Process 8 attached\n"
     "[pid 8] mmap(NULL, 8192, " RW ") = 0x20000\n",
     " alloc 12288 n 2 peak 12288 end 12288 moments 2 events 2\n"
     "[anonymous memory] 12288/12288/12288\n"},
    {"stacks that a program printed into, and of calls behind what it printed",
     "[pid 7] mmap(NULL, 4096, " RW ") = 0x10000\nstep 1\nNet(\n"
     " > /usr/lib/libc.so.6(mmap+0x13) [0x13]\n)\n > /tmp/app(work+0x5) [0x15]\n"
     "[pid 7] mmap(NULL, 8192, " RW ") = 0x20000\n5%[pid 8] mmap(NULL, 4096, " RW ") = 0x30000\n"
     " > /tmp/app(other+0x5) [0x25]\n[pid 8] mmap(NULL, 4096, " RW "done\n"
     " > /tmp/app(other+0x5) [0x25]\n) = 0x40000\n > /tmp/app(third+0x5) [0x35]\n",
     " alloc 16384 n 3 peak 16384 end 16384 moments 3 events 3\nwork 4096/4096/4096\n"
     "[anonymous memory] 8192/8192/8192\nthird 4096/4096/4096\nnote skipped 1\n"},
    {"stacks of calls that are not read, and that a program printed into",
     "[pid 7] mmap(NULL, 4096, " RW ") = 0x10000\n > /tmp/app(work+0x5) [0x15]\n"
     "write(1, \"done\\n\", 5done\n) = 5\n > /tmp/app(print+0x5) [0x25]\n"
     "[pid 7] mmap(NULL, 8192, " RW ") = 0x20000\n > /tmp/app(work+0x5) [0x15]\n"
     "write(1, \"Net(\\n)\", 6Net(\n))   = 6\n > /tmp/app(print+0x5) [0x25]\n"
     "[pid 8] mmap(NULL, 4096, " RW ") = 0x30000\n > /tmp/app(work+0x5) [0x15]\n"
     "read(0, done\n, \"x\", 1) = 1\n > /tmp/app(ask+0x5) [0x35]\n",
     " alloc 16384 n 3 peak 16384 end 16384 moments 3 events 3\nwork 16384/16384/16384\n"},
    {"a number that a program printed, which is of no thread, where others are not followed",
     "mmap(NULL, 4096, " RW
     ") = 0x10000\nclone(child_stack=0x7f0, flags=CLONE_VM|CLONE_THREAD) = 9\n"
     "write(1, \"5 items\\n12 layer(x)\\n\", 275 items\n12 layer(x)\n) = 27\n",
     " alloc 4096 n 1 peak 4096 end 4096 moments 1 events 1\n[anonymous memory] 4096/4096/4096\n"
     "note untraced 1\n"},
    {"times since the line before, of calls that are not read, and that a program printed into",
     "     0.000000 mmap(NULL, 4096, " RW ") = 0x10000\n     5.000000 write(1, \"done\\n\", 5done\n"
     ") = 5\n     1.000000 munmap(0x10000, 4096) = 0\n",
     " alloc 4096 n 1 peak 4096 end 0 moments 2 ns 6000000000\n[anonymous memory] 4096/4096/0\n"},
    {"times since the line before, of a call that reads what is typed",
     "     0.000000 mmap(NULL, 4096, " RW ") = 0x10000\n     5.000000 read(0, hello\n"
     "\"hello\\n\", 1024) = 6\n     1.000000 munmap(0x10000, 4096) = 0\n",
     " alloc 4096 n 1 peak 4096 end 0 moments 2 ns 6000000000\n[anonymous memory] 4096/4096/0\n"},
    {"times that a program printed, in front of what is no call",
     "23:00:00 mmap(NULL, 4096, " RW ") = 0x10000\n03:00:01 epoch(1) begins\n"
     "23:00:02 munmap(0x10000, 4096) = 0\n",
     " alloc 4096 n 1 peak 4096 end 0 moments 2 ns 2000000000\n[anonymous memory] 4096/4096/0\n"},
    {"a process that a program printed into the making of",
     "mmap(NULL, 4096, " RW ") = 0x10000\nclone(child_stack=NULL, flags=SIGCHLDhello\n"
     "strace: Process 8 attached\nchild\n, child_tidptr=0x0) = 8\n"
     "[pid 8] mmap(NULL, 8192, " RW ") = 0x20000\n[pid 8] munmap(0x10000, 4096) = 0\n"
     "[pid 8] +++ exited with 0 +++\nmmap(NULL, 4096, " RW ") = 0x20000\n",
     " alloc 16384 n 3 peak 12288 end 8192 moments 4 events 4\n"
     "[anonymous memory] 16384/12288/8192\n"},
    {"what a program prints before any call, and behind, is of no thread and has no time",
     "Starting\n3 workers\n0.5 loss\n7 10:00:00.5 execve(\"./a\", [], 0x7f) = 0\n"
     "7 10:00:01.5 mmap(NULL, 4096, " RW ") = 0x10000\n23:59:59 ready\n9 lives\n"
     "7 10:00:02.5 mmap(NULL, 4096, " RW ") = 0x20000\n7 10:00:03.5 exit_group(0) = ?\n"
     "7 10:00:03.5 +++ exited with 0 +++\nbye\n",
     " alloc 8192 n 2 peak 8192 end 8192 moments 2 ns 3000000000\n"
     "[anonymous memory] 8192/8192/8192\n"},
    {"without -o: no numbers while there is one, what strace says at once is in calls",
     "mmap(NULL, 4096, " RW ") = 0x10000\nclone(child_stack=NULL, flags=SIGCHLDstrace: Process 8 "
     "attached\n, child_tidptr=0x0) = 8\nstrace: Process 9 attached\n[pid 7] wait4(-1, "
     "strace: Process 10 attached\n <unfinished ...>\n[pid 8] munmap(0x10000, 4096) = 0\n"
     "[pid 8] mmap(NULL, 8192, " RW ") = 0x20000\n[pid 8] +++ exited with 0 +++\n"
     "<... wait4 resumed>NULL, 0, NULL) = 8\nmunmap(0x10000, 4096) = 0\n"
     "mmap(NULL, 4096, " RW ") = 0x20000\n[????????????????] +++ exited with 0 +++\n",
     " alloc 16384 n 3 peak 12288 end 4096 moments 4 events 5\n"
     "[anonymous memory] 16384/12288/4096\n"},
    {"without -o: what made a process returned before strace said that it attached it",
     "mmap(NULL, 4096, " RW ") = 0x10000\nclone(child_stack=NULL, flags=SIGCHLD, "
     "child_tidptr=0x0) = 8\nmmap(NULL, 4096, " RW ") = 0x30000\nstrace: Process 8 attached\n"
     "[pid 7] wait4(-1,  <unfinished ...>\n[pid 8] mmap(NULL, 8192, " RW ") = 0x20000\n"
     "[pid 8] munmap(0x10000, 4096) = 0\n[pid 8] +++ exited with 0 +++\n"
     "<... wait4 resumed>NULL, 0, NULL) = 8\n--- SIGCHLD {si_signo=SIGCHLD, si_pid=8} ---\n"
     "munmap(0x10000, 4096) = 0\n",
     " alloc 16384 n 3 peak 16384 end 4096 moments 5 events 5\n"
     "[anonymous memory] 16384/16384/4096\n"},
    {"without -o, of a strace that was run by its path",
     "mmap(NULL, 4096, " RW ") = 0x10000\nclone(child_stack=NULL, flags=SIGCHLD/usr/bin/strace: "
     "Process 8 attached\n, child_tidptr=0x0) = 8\n../a/strace: Process 9 attached\n"
     "[pid 8] mmap(NULL, 8192, " RW ") = 0x20000\n[pid 8] +++ exited with 0 +++\n"
     "wait4(-1, NULL, 0, NULL) = 8\n",
     " alloc 12288 n 2 peak 12288 end 4096 moments 2 events 2\n"
     "[anonymous memory] 12288/12288/4096\n"},
    {"without -o, of a strace that does not say what it attaches (-q)",
     "mmap(NULL, 4096, " RW ") = 0x10000\nclone(child_stack=NULL, flags=SIGCHLD) = 8\n"
     "[pid  8] mmap(NULL, 8192, " RW ") = 0x20000\n[pid  8] munmap(0x10000, 4096) = 0\n"
     "[pid  7] mmap(NULL, 4096, " RW ") = 0x40000\n[pid  7] execve(\"./a\", [], 0x7f) = 0\n"
     "[pid  7] mmap(NULL, 4096, " RW
     ") = 0x50000\n[pid  8] execve(\"./b\", [\"./b\"], 0x7f) = 0\n[pid  8] mmap(NULL, 4096, " RW
     ") = 0x10000\n[pid  8] +++ exited with 0 +++\n"
     "[pid  7] wait4(-1, NULL, 0, NULL) = 8\n",
     " alloc 24576 n 5 peak 16384 end 4096 moments 4 events 6\n"
     "[anonymous memory] 24576/16384/4096\n"},
    {"numbers with names (-Y), no times behind the line before where others are of the day (-C)",
     "7<my app> 10:00:00.5 mmap(NULL, 4096, " RW ") = 0x10000\n7<my app> 10:00:01.5 "
     "clone(child_stack=NULL, flags=SIGCHLD) = 8<a>b>\n[pid 8<a>b>] 10:00:01.5 mmap(NULL, 8192, " RW
     ") = 0x10000\n8<a>b> 10:00:02.5 +++ exited with 0 +++\n% time     seconds  usecs/call\n"
     " 60.00    0.000100          10        10           mmap\n",
     " alloc 12288 n 2 peak 12288 end 4096 moments 3 ns 2000000000\n"
     "[anonymous memory] 12288/12288/4096\n"},
    {"flags that are numbers (-X raw, -e raw=all)",
     "mmap(0, 0x2000, 0x3, 0x22, 0xffffffff, 0) = 0x10000\n"
     "mmap(NULL, 4096, 0x3, 0x20022, -1, 0) = 0x20000\nmmap(NULL, 4096, 0, 0x22, -1, 0) = 0x30000\n"
     "mprotect(0x30000, 0x1000, 0x3) = 0\nmprotect(0x10000, 4096, 0) = 0\n"
     "mmap(0, 4096, 0x1, 0x1, 3, 0) = 0x40000\nmremap(0x20000, 4096, 4096, 0x5) = 0x50000\n",
     " alloc 24576 n 5 peak 20480 end 20480 moments 6 events 7\n[anonymous memory] "
     "12288/8192/8192\n[thread stacks] 8192/8192/8192\n[files] 4096/4096/4096\n"},
    {"what a call makes, by flags that are numbers, or are not there",
     "1 mmap(NULL, 4096, " RW ") = 0x10000\n1 clone(child_stack=0x1, flags=0x3d0f00) = 2\n"
     "1 clone3(0x7f01, 88) = 3\n1 clone(0x3d0f00, 0x7f) = 4\n2 munmap(0x10000, 1024) = 0\n"
     "3 mmap(NULL, 4096, " RW ") = 0x10000\n4 munmap(0x10000, 4096) = 0\n"
     "1 clone(child_stack=NULL, flags=0x1200011) = 5\n5 mmap(NULL, 4096, " RW ") = 0x10000\n"
     "1 mmap(NULL, 4096, " RW ") = 0x10000\n",
     " alloc 16384 n 4 peak 8192 end 8192 moments 6 events 6\n"
     "[anonymous memory] 16384/8192/8192\n"},
    {"numbers of processes in base 16 (-e raw=all), with names where there is a time (-Y -T)",
     "1 mmap(0, 0x1000, 0x3, 0x22, 0xffffffff, 0) = 0x10000\n1 clone3(0x7f01, 0x58) = 0x2\n"
     "2 munmap(0x10000, 4096) = 0\n1 clone(0x1200011, 0, 0, 0, 0) = 0x3<my app> <0.000057>\n"
     "3 mmap(0, 0x1000, 0x3, 0x22, 0xffffffff, 0) = 0x10000\n"
     "1 mmap(0, 0x1000, 0x3, 0x22, 0xffffffff, 0) = 0x10000\n"
     "1 --- SIGCHLD {si_signo=17, si_code=0x1, si_pid=3} ---\n"
     "1 --- SIGCHLD {si_signo=17, si_code=0x5, si_pid=1} ---\n",
     " alloc 12288 n 3 peak 8192 end 4096 moments 4 events 4\n"
     "[anonymous memory] 12288/8192/4096\n"},
    {"calls that made no process",
     "1 mmap(NULL, 4096, " RW ") = 0x10000\n1 fork() = -1 EAGAIN (no more)\n"
     "1 clone(child_stack=NULL, flags=SIGCHLD) = ? ERESTARTNOINTR (To be restarted)\n",
     " alloc 4096 n 1 peak 4096 end 4096 moments 1 events 1\n[anonymous memory] 4096/4096/4096\n"},
    {"children whose end only their parents are told (-qqq)",
     "1 mmap(NULL, 4096, " RW ") = 0x10000\n1 clone(child_stack=NULL, flags=SIGCHLD) = 2\n"
     "2 clone(child_stack=0x1, flags=CLONE_VM|CLONE_THREAD) = 3\n"
     "3 mmap(NULL, 8192, " RW ") = 0x20000\n"
     "1 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_STOPPED, si_pid=2} ---\n"
     "1 vfork() = 4\n1 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_KILLED, si_pid=4} ---\n"
     "1 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=2} ---\n1 exit_group(0) = ?\n",
     " alloc 12288 n 2 peak 12288 end 4096 moments 2 events 2\n"
     "[anonymous memory] 12288/12288/4096\n"},
    {"children of whose ends one signal tells (-qqq)",
     "1 mmap(NULL, 4096, " RW ") = 0x10000\n1 clone(child_stack=NULL, flags=SIGCHLD) = 2\n"
     "1 fork() = 3\n2 mmap(NULL, 8192, " RW ") = 0x20000\n3 mmap(NULL, 8192, " RW ") = 0x20000\n"
     "1 wait4(-1, [{WIFSTOPPED(s) && WSTOPSIG(s) == SIGSTOP}], WSTOPPED, NULL) = 3\n"
     "1 wait4(-1, NULL, WNOHANG, NULL) = 0\n1 mmap(NULL, 4096, " RW ") = 0x30000\n"
     "1 wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 2<a>\n"
     "1 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=3} ---\n"
     "1 wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 3\n",
     " alloc 24576 n 4 peak 24576 end 8192 moments 4 events 4\n"
     "[anonymous memory] 24576/24576/8192\n"},
    {"what is reserved is none",
     "mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x10000\n"
     "mprotect(0x10000, 8192, PROT_READ|PROT_WRITE) = 0\nmprotect(0x11000, 4096, PROT_NONE) = 0\n"
     "mprotect(0x90000, 4096, PROT_READ) = 0\n",
     " alloc 8192 n 1 peak 8192 end 4096 moments 2 events 4\n[anonymous memory] 8192/8192/4096\n"},
    {"mremap",
     "mmap(NULL, 4096, " RW ") = 0x10000\nmremap(0x10000, 4096, 8192, MREMAP_MAYMOVE) = "
     "0x20000\n",
     " alloc 12288 n 2 peak 8192 end 8192 moments 2 events 2\n[anonymous memory] "
     "12288/8192/8192\n"},
    {"mremap of what is reserved",
     "mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x10000\n"
     "mprotect(0x10000, 4096, " RW ") = 0\nmremap(0x10000, 65536, 32768, 0) = 0x10000\n"
     "mremap(0x12000, 8192, 16384, MREMAP_MAYMOVE) = 0x90000\n"
     "mprotect(0x93000, 8192, PROT_READ) = 0\n",
     " alloc 8192 n 2 peak 8192 end 8192 moments 2 events 5\n[anonymous memory] "
     "8192/8192/8192\n"},
    {"mremap leaves what it is for",
     "mmap(NULL, 8192, PROT_READ, MAP_SHARED, 3</tmp/data>, 0) = 0x10000\n"
     "mremap(0x10000, 8192, 12288, 0) = 0x10000\n"
     "mremap(0x10000, 12288, 16384, MREMAP_MAYMOVE) = 0x20000\n"
     "mremap(0x20000, 16384, 4096, 0) = 0x20000\n",
     " alloc 28672 n 4 peak 16384 end 4096 moments 4 events 4\n[file data] "
     "28672/16384/4096\n"},
    {"mremap of another call path",
     "mmap(NULL, 8192, " RW ") = 0x10000\n > /app(f+0x1) [0x1]\nmremap(0x10000, 8192, 12288, "
     "MREMAP_MAYMOVE) = 0x20000\n > /app(g+0x1) [0x1]\n",
     " alloc 20480 n 3 peak 12288 end 12288 moments 2 events 2\nf 16384/8192/8192\n"
     "g 4096/4096/4096\n"},
    {"mremap of what is older, or once more",
     "mremap(0x10000, 8192, 4096, 0) = 0x10000\nmremap(0x10000, 0, 4096, MREMAP_MAYMOVE) = "
     "0x20000\n",
     " alloc 8192 n 2 peak 8192 end 8192 moments 2 events 2\n[anonymous memory] "
     "8192/8192/8192\nnote before_trace 1\n"},
    {"brk",
     "brk(NULL) = 0x1000\nbrk(0x3000) = 0x3000\nbrk(0x9000) = 0x3000\nbrk(0x2000) = 0x2000\n",
     " alloc 8192 n 1 peak 8192 end 4096 moments 2 events 4\n[heap] 8192/8192/4096\n"},
    {"calls that fail",
     "mmap(NULL, 4096, " RW ") = -1 ENOMEM (Cannot allocate memory)\nmmap(0x1, 1, X) = ?\n",
     " alloc 0 n 0 peak 0 end 0 moments 0 ns 0\nnote out_of_memory 1\nnote no_allocations 1\n"},
    {"stacks",
     "mmap(NULL, 4096, " RW ") = 0x10000\n > /usr/lib/libc.so.6(__mmap+0x13) [0x1019b3]\n"
     " > /home/you/a b(pool(int)+0x27) [0x1250]\n > /home/you/app() [0x126e]\n"
     " > /home/you/app(run(int)+0x5) /home/you/run.c:12 [0x12b0]\n"
     " > /home/you/app(main+0x15) [0x12c0]\n",
     " alloc 4096 n 1 peak 4096 end 4096 moments 1 events 1\nmain;run;[app+0x126e];pool "
     "4096/4096/4096\n"},
    {"times of day, over midnight",
     "23:59:59.5 mmap(NULL, 4096, " RW ") = 0x10000 <0.000012>\n00:00:00.5 getpid() = 3\n",
     " alloc 4096 n 1 peak 4096 end 4096 moments 1 ns 1000000000\n[anonymous memory] "
     "4096/4096/4096\n"},
    {"times since the line before",
     "     0.000000 brk(NULL) = 0x1000\n     0.250000 brk(0x2000) = 0x2000\n     0.250000 "
     "getpid() = 3\n",
     " alloc 4096 n 1 peak 4096 end 4096 moments 1 ns 500000000\n[heap] 4096/4096/4096\n"},
    {"the same, with sums at the end (-r -C)",
     "7      0.000000 brk(NULL) = 0x1000\n7      0.250000 brk(0x2000) = 0x2000\n7      0.250000 "
     "+++ exited with 0 +++\n% time     seconds  usecs/call     calls    errors syscall\n"
     "------ ----------- ----------- --------- --------- ----------------\n 60.00    0.000100"
     "          10        10         4 brk\n  0.00    0.000000           0         1           "
     "execve\n------ ----------- ----------- --------- --------- ----------------\n"
     "100.00    0.000100           9        11         4 total\n",
     " alloc 4096 n 1 peak 4096 end 4096 moments 1 ns 500000000\n[heap] 4096/4096/4096\n"},
    {"a call that another one interrupts",
     "7 1795382665.5 mmap(NULL, 4096, " RW " <unfinished ...>\n8 1795382665.6 brk(NULL) = "
     "0x1000\n7 1795382665.7 <... mmap resumed>) = 0x10000\n8 1795382665.8 <... futex resumed>) = "
     "0\n",
     " alloc 4096 n 1 peak 4096 end 4096 moments 1 ns 300000000\n[anonymous memory] "
     "4096/4096/4096\n"},
    {"addresses that another thread gets before munmap returns",
     "7 brk(NULL) = 0x1000\n7 clone(CLONE_VM) = 8\n7 mmap(NULL, 8192, " RW
     ") = 0x10000\n7 munmap(0x10000, 8192 <unfinished ...>\n8 mmap(NULL, 4096, " RW
     ") = 0x10000\n7 <... munmap resumed>) = 0\n",
     " alloc 12288 n 2 peak 8192 end 4096 moments 3 events 4\n[anonymous memory] "
     "12288/8192/4096\n"},
    {"addresses that another thread gets before mremap returns",
     "1 mmap(NULL, 8192, " RW ") = 0x10000\n1 mremap(0x10000, 8192, 16384, MREMAP_MAYMOVE "
     "<unfinished ...>\n2 mremap(0x70000, 4096, 8192, MREMAP_MAYMOVE <unfinished ...>\n"
     "3 mmap(NULL, 12288, " RW ") = 0xf000\n2 <... mremap resumed>) = 0x90000\n"
     "1 <... mremap resumed>) = 0x20000\n3 munmap(0xf000, 12288) = 0\n"
     "1 munmap(0x20000, 16384) = 0\n",
     " alloc 45056 n 4 peak 36864 end 8192 moments 6 events 6\n"
     "[anonymous memory] 45056/36864/8192\nnote before_trace 1\n"},
    {"the end of a mapping that shrinks",
     "7 mmap(NULL, 8192, " RW ") = 0x10000\n7 mremap(0x10000, 8192, 4000, 0 <unfinished ...>\n"
     "8 mmap(NULL, 4096, " RW ") = 0x11000\n7 <... mremap resumed>) = 0x10000\n",
     " alloc 12288 n 2 peak 8192 end 8192 moments 3 events 4\n[anonymous memory] "
     "12288/8192/8192\n"},
    {"a munmap that fails, begun or not",
     "7 mmap(NULL, 8192, " RW ") = 0x10000\n7 munmap(0x10000, 4096 <unfinished ...>\n"
     "7 <... munmap resumed>) = -1 ENOMEM (Cannot allocate memory)\n7 munmap(0x11001, 4096 "
     "<unfinished ...>\n7 <... munmap resumed>) = -1 EINVAL (Invalid argument)\n",
     " alloc 8192 n 1 peak 8192 end 4096 moments 2 events 2\n[anonymous memory] "
     "8192/8192/4096\nnote skipped 1\nnote out_of_memory 1\n"},
    {"another thread runs another program",
     "7 mmap(NULL, 8192, " RW ") = 0x10000\n7 clone(CLONE_VM) = 8\n7 pause( <unfinished ...>\n"
     "8 execve(\"./b\", [\"./b\"], 0x7f /* 3 vars */ <pid changed to 7 ...>\n7 +++ superseded by "
     "execve in pid 8 +++\n7 <... execve resumed>) = 0\n7 mmap(NULL, 4096, " RW ") = 0x10000\n",
     " alloc 12288 n 2 peak 8192 end 4096 moments 2 events 2\n[anonymous memory] "
     "12288/8192/4096\n"},
    {"another thread runs another program, as strace from 6.0 on says",
     "7 mmap(NULL, 8192, " RW ") = 0x10000\n7 clone(flags=CLONE_VM|CLONE_THREAD) = 8\n"
     "7 futex(0x1 <unfinished ...>\n8 mmap(NULL, 8192, " RW ") = 0x20000\n"
     "8 execve(\"./b\", [\"./b\"], 0x7f <unfinished ...>\n7 <... futex resumed>) = ?\n"
     "7 +++ superseded by execve in pid 8 +++\n7 <... execve resumed>) = 0\n"
     "7 mmap(NULL, 4096, " RW ") = 0x10000\n7 +++ exited with 0 +++\n",
     " alloc 20480 n 3 peak 16384 end 4096 moments 3 events 3\n[anonymous memory] "
     "20480/16384/4096\n"},
    {"another thread runs another program, and strace does not say so (-qqq)",
     "7 mmap(NULL, 8192, " RW ") = 0x10000\n7 clone(flags=CLONE_VM|CLONE_THREAD) = 8\n"
     "7 clone(flags=CLONE_VM|CLONE_THREAD) = 9\n9 pause( <unfinished ...>\n"
     "8 execve(\"./b\", [\"./b\"], 0x7f <unfinished ...>\n7 <... execve resumed>) = 0\n"
     "7 mmap(NULL, 4096, " RW ") = 0x10000\n7 execve(\"./c\", [\"./c\"], 0x7f) = 0\n"
     "7 mmap(NULL, 4096, " RW ") = 0x10000\n7 exit_group(0) = ?\n",
     " alloc 16384 n 3 peak 8192 end 4096 moments 2 events 3\n[anonymous memory] "
     "16384/8192/4096\n"},
    {"children for whom nobody waits: that they end is what they call (-qqq)",
     "1 mmap(NULL, 4096, " RW ") = 0x10000\n1 clone(child_stack=NULL, flags=SIGCHLD) = 2\n"
     "2 mmap(NULL, 8192, " RW ") = 0x20000\n2 clone(flags=CLONE_VM|CLONE_THREAD) = 3\n"
     "2 exit(0) = ?\n3 mmap(NULL, 8192, " RW ") = 0x40000\n3 exit_group(0 <unfinished ...>\n"
     "1 mmap(NULL, 8192, " RW ") = 0x20000\n3 <... exit_group resumed>) = ?\n1 exit_group(0) = ?\n",
     " alloc 28672 n 4 peak 20480 end 12288 moments 4 events 4\n[anonymous memory] "
     "28672/20480/12288\n"},
    {"a vfork'd child that ends leaves all to its parent",
     "1 mmap(NULL, 4096, " RW ") = 0x10000\n1 vfork( <unfinished ...>\n2 exit_group(1) = ?\n"
     "1 <... vfork resumed>) = 2\n1 mmap(NULL, 4096, " RW ") = 0x20000\n1 exit_group(0) = ?\n",
     " alloc 8192 n 2 peak 8192 end 8192 moments 2 events 2\n[anonymous memory] 8192/8192/8192\n"},
    {"a child whose program runs before vfork returns keeps its own memory",
     "1 mmap(NULL, 4096, " RW ") = 0x10000\n1 vfork( <unfinished ...>\n"
     "2 execve(\"./b\", [], 0x7f) = 0\n2 mmap(NULL, 8192, " RW ") = 0x10000\n"
     "1 <... vfork resumed>) = 2\n1 munmap(0x10000, 4096) = 0\n2 munmap(0x10000, 8192) = 0\n"
     "2 exit_group(0) = ?\n1 mmap(NULL, 4096, " RW ") = 0x20000\n1 exit_group(0) = ?\n",
     " alloc 16384 n 3 peak 12288 end 4096 moments 5 events 5\n[anonymous memory] "
     "16384/12288/4096\n"},
    {"without -o, -qqq: the number by which a call returns is that of the lines without one",
     "mmap(NULL, 4096, " RW ") = 0x10000\nclone(child_stack=NULL, flags=SIGCHLD <unfinished ...>\n"
     "[pid 8] mmap(NULL, 8192, " RW ") = 0x20000\n[pid 7] <... clone resumed>) = 8\n"
     "[pid 7] wait4(8,  <unfinished ...>\n[pid 8] munmap(0x20000, 4096) = 0\n"
     "[pid 8] exit_group(0) = ?\n<... wait4 resumed>NULL, 0, NULL) = 8\n"
     "clone(child_stack=NULL, flags=SIGCHLD) = 9\n[pid 9] mmap(NULL, 8192, " RW ") = 0x20000\n"
     "[pid 9] kill(9, SIGKILL) = 0\nmmap(NULL, 4096, " RW ") = 0x20000\nexit_group(0) = ?\n",
     " alloc 24576 n 4 peak 12288 end 8192 moments 4 events 5\n[anonymous memory] "
     "24576/12288/8192\n"},
    {"without -o: a child that goes on when its parent has ended",
     "mmap(NULL, 4096, " RW ") = 0x10000\nclone(child_stack=NULL, flags=SIGCHLD) = 8\n"
     "exit_group(0) = ?\n+++ exited with 0 +++\nstrace: Process 8 attached\n"
     "mmap(NULL, 8192, " RW ") = 0x20000\nexit_group(0) = ?\n+++ exited with 0 +++\n"
     "% time     seconds  usecs/call     calls    errors syscall\n"
     "------ ----------- ----------- --------- --------- ----------------\n"
     "100.00    0.000000           0        41         1 total\n",
     " alloc 12288 n 2 peak 8192 end 8192 moments 2 events 2\n[anonymous memory] "
     "12288/8192/8192\n"},
    {"without -o, of a process that strace attaches to (-p, -D)",
     "strace: Process 7 attached\nmmap(NULL, 4096, " RW ") = 0x10000\n"
     "clone(child_stack=NULL, flags=SIGCHLD) = 8\nwait4(8, strace: Process 8 attached\n"
     " <unfinished ...>\n[pid 8] mmap(NULL, 8192, " RW ") = 0x20000\n"
     "[pid 8] +++ exited with 0 +++\n<... wait4 resumed>NULL, 0, NULL) = 8\n"
     "mmap(NULL, 4096, " RW ") = 0x20000\n+++ exited with 0 +++\n",
     " alloc 16384 n 3 peak 12288 end 8192 moments 3 events 3\n[anonymous memory] "
     "16384/12288/8192\nnote ran_before 1\n"},
    {"without -o, of one that strace attaches to before it runs a program (-D)",
     "strace: Process 7 attached\nexecve(\"./a\", [\"a\"], 0x1 /* 9 vars */) = 0\n"
     "mmap(NULL, 4096, " RW ") = 0x10000\n",
     " alloc 4096 n 1 peak 4096 end 4096 moments 1 events 1\n[anonymous memory] 4096/4096/4096\n"},
    {"without -o, the same where the beginning of a program is not traced",
     "strace: Process 7 attached\nbrk(NULL) = 0x20000\nmmap(NULL, 4096, " RW ") = 0x10000\n",
     " alloc 4096 n 1 peak 4096 end 4096 moments 1 events 2\n[anonymous memory] 4096/4096/4096\n"},
    {"calls that nobody knows, as their threads had ended",
     "7 mmap(NULL, 4096, " RW ") = 0x10000\n7 ?\?\?() = ?\n8 ?\?\?( <unfinished ...>\n"
     "8 <... ??? resumed>) = ?\n8 +++ exited with 0 +++\n",
     " alloc 4096 n 1 peak 4096 end 4096 moments 1 events 1\n[anonymous memory] 4096/4096/4096\n"},
    {"another thread runs another program, of which only that line tells (-e trace=%memory)",
     "7 mmap(NULL, 8192, " RW ") = 0x10000\n8 mmap(NULL, 8192, " RW ") = 0x20000\n"
     "7 +++ superseded by execve in pid 8 +++\n7 mmap(NULL, 4096, " RW ") = 0x10000\n",
     " alloc 20480 n 3 peak 16384 end 4096 moments 3 events 3\n[anonymous memory] "
     "20480/16384/4096\n"},
    {"threads that strace does not follow (without -f)",
     "mmap(NULL, 8192, " RW ") = 0x10000\nclone(flags=CLONE_VM|CLONE_THREAD) = 8\n"
     "clone(flags=CLONE_VM|CLONE_VFORK) = 9\nfork() = 10\nexit_group(0) = ?\n",
     " alloc 8192 n 1 peak 8192 end 8192 moments 1 events 1\n[anonymous memory] 8192/8192/8192\n"
     "note untraced 1\n"},
    {"the kernel chooses a place where something is: what unmapped that is not in the log",
     "mmap(NULL, 8192, " RW ") = 0x10000\nmmap(0x10000, 4096, " RW ") = 0x10000\n"
     "mmap(NULL, 4096, " RW ") = 0x11000\n",
     " alloc 16384 n 3 peak 8192 end 8192 moments 2 events 3\n[anonymous memory] "
     "16384/8192/8192\nnote untraced 1\n"},
    {"the same of what may be other processes (-e trace=%memory)",
     "7 mmap(NULL, 8192, " RW ") = 0x10000\n8 mmap(NULL, 8192, " RW ") = 0x20000\n"
     "9 mmap(NULL, 8192, " RW ") = 0x20000\n",
     " alloc 24576 n 3 peak 16384 end 16384 moments 2 events 3\n[anonymous memory] "
     "24576/16384/16384\nnote processes 2\n"},
    {"places and numbers of calls (-i -n)",
     "7 1.5 [   9] [00007f0123456789] mmap(NULL, 4096, " RW ") = 0x10000\n",
     " alloc 4096 n 1 peak 4096 end 4096 moments 1 ns 0\n[anonymous memory] 4096/4096/4096\n"},
    {"a child that ends",
     "7 fork() = 8\n8 mmap(NULL, 4096, " RW ") = 0x10000\n8 munmap(0x20000, 4096) = 0\n8 +++ "
     "exited with 0 +++\n7 mmap(NULL, 4096, " RW ") = 0x10000\n7 +++ exited with 0 +++\n",
     " alloc 8192 n 2 peak 4096 end 4096 moments 3 events 3\n[anonymous memory] "
     "8192/4096/4096\n"},
    {"two logs, one behind the other (strace -A)",
     "7 execve(\"./a\", [\"./a\"], 0x7f /* 3 vars */) = 0\n7 mmap(NULL, 8192, " RW ") = 0x10000\n"
     "7 +++ exited with 0 +++\n9 execve(\"./b\", [\"./b\"], 0x7f /* 3 vars */) = 0\n"
     "9 mmap(NULL, 4096, " RW ") = 0x20000\n9 +++ exited with 0 +++\n",
     " alloc 12288 n 2 peak 8192 end 4096 moments 2 events 2\n[anonymous memory] "
     "12288/8192/4096\nnote appended 2\n"},
    {"a process of which nobody knows that it ended",
     "7 mmap(NULL, 8192, " RW ") = 0x10000\n7 fork() = 8\n8 mmap(NULL, 4096, " RW ") = 0x20000\n"
     "9 exit_group(0) = ?\n7 +++ exited with 0 +++\n",
     " alloc 12288 n 2 peak 12288 end 12288 moments 2 events 2\n[anonymous memory] "
     "12288/12288/12288\n"},
    {"damaged numbers of processes",
     "7 mmap(NULL, 8192, " RW
     ") = 0x10000\n7 fork() = 8\n7 fork() = 1x\nx8 execve(\"./b\", [], 0x7f) "
     "= 0\n7,8 madvise(0x10000 <unfinished ...>\nx7 brk(x) brk(0x10000) = 7\n"
     "8 +++ exited with 0 +++\n7 +++ exited with 0 +++\n",
     " alloc 8192 n 1 peak 8192 end 8192 moments 1 events 1\n[anonymous memory] "
     "8192/8192/8192\nnote skipped 4\n"},
    {"what is older", "munmap(0x20000, 4096) = 0\n",
     " alloc 0 n 0 peak 0 end 0 moments 0 events 1\nnote before_trace 1\nnote no_allocations 1\n"},
    {"a line that makes no sense", "brk(NULL) = 0x1000\nmunmap(huh) = 0\n",
     " alloc 0 n 0 peak 0 end 0 moments 0 events 1\nnote skipped 1\nnote no_allocations 1\n"},
    {"nothing of memory", "getpid() = 3\n", "error at -1: no call in it maps memory\n"},
    {"cut", "brk(NULL) = 0x1000\nbrk(0x2000) = 0x20",
     "error at 37: its last line does not end: the file was cut off, or lacks only its last "
     "newline\n"},
    {"cut, --partial", "brk(NULL) = 0x1000\nbrk(0x2000) = 0x2000\nbrk(0x30",
     " alloc 4096 n 1 peak 4096 end 4096 moments 1 events 2\n[heap] 4096/4096/4096\nnote cut 1\n"},
};

static void test_files(void **state)
{
    summed_test(*state, &mt_reader_strace);
}

static const struct looks {
    const char *name, *text;
    int score;
} looks[] = {
    {"calls that map memory", "execve(\"./a\", [\"./a\"], 0x7f) = 0\nbrk(NULL) = 0x1000\n", 91},
    {"with numbers and times", "[pid  7] 11:59:59 mmap(NULL, 1, X <unfinished ...>\n", 91},
    {"other calls", "1 2.5 getpid() = 3\n1 2.5 read(3, \"a = b\", 5) = 5\n1 2.5 getpid() = 3\n",
     45},
    {"a line of one", "getpid() = 3\n", 0},
    {"several of memory among more lines of the program",
     "brk(NULL) = 0x1000\nbrk(NULL) = 0x1000\nbrk(NULL) = 0x1000\nbrk(NULL) = 0x1000\n"
     "a\nb\nc\nd\ne\nf\ng\n",
     20},
    {"some of memory among more lines of the program",
     "brk(NULL) = 0x1000\nbrk(NULL) = 0x1000\nbrk(NULL) = 0x1000\na\nb\nc\nd\n", 0},
    {"calls of a library", "malloc(128) = 0x10\n1 a->free(0x10) = <void>\n", 0},
    {"text", "hello (you)\nhow are you?\n", 0},
    {"nothing", "", 0},
};

static void test_looks(void **state)
{
    const struct looks *l = *state;
    assert_int_equal(mt_reader_strace.probe(l->text, strlen(l->text)), l->score);
}

int main(void)
{
    struct row_tests t = {0};
    ROWS_ADD(&t, test_files, files);
    ROWS_ADD(&t, test_looks, looks);
    return ROWS_RUN(&t, "strace");
}
