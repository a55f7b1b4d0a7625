/* Whose figures are that programs print: of one process, or of which of several. */
#include "tests/unit/process_log.h"
#include "tests/unit/rows.h"

static const struct text_file texts[] = {
    {"what stands between texts of the kernel, whose they are",
     "== 7\nName:\tpy\nPid:\t7\nVmRSS:\t   5 kB\n== 9\nName:\tpy\nPid:\t9\nVmRSS:\t   1 kB\n"
     "== 7\nName:\tpy\nPid:\t7\nVmRSS:\t   6 kB\n== 9\nName:\tpy\nPid:\t9\nVmRSS:\t   1 kB\n",
     "samples 4 from 0\nprocess:7 5120..6144 until 3 peak 6144\n"
     "process:9 unchanged peak 1024\nnote units 4\n"},
    {"numbers before lines of the kernel's may be PIDs",
     "== 711\nVmRSS:\t   5 kB\n== 712\nVmRSS:\t   1 kB\n== 711\nVmRSS:\t   6 kB\n== 712\n"
     "VmRSS:\t   1 kB\n",
     "samples 4 from 0\nprocess 5120..1024 until 4 peak 6144\nnote owners 1\nnote units 4\n"},
    {"but not what counts",
     "step 711\nVmRSS:\t   5 kB\nstep 712\nVmRSS:\t   1 kB\nstep 713\nVmRSS:\t   6 kB\n",
     "samples 6 from 0\nprocess 5120..6144 until 6 peak 6144\nsteps 711 712 713\nnote "
     "units 3\n"},
    {"and of rollups, by where their memory lies",
     "== 7\n100-7ffea000 ---p 00000000 00:00 0  [rollup]\nRss:      5 kB\n"
     "== 9\n100-7ffeb000 ---p 00000000 00:00 0  [rollup]\nRss:      1 kB\n"
     "== 7\n90-7ffea000 ---p 00000000 00:00 0  [rollup]\nRss:      6 kB\n",
     "samples 3 from 0\nprocess:1 5120..6144 until 3 peak 6144\n"
     "process:2 unchanged peak 1024\nnote units 3\n"},
    {"lines of several ranks",
     "[rank0]: RSS 5 KiB\n[rank1]: RSS 9 KiB, gpu 3 KiB\n[Rank 1] RSS 8 KiB\n"
     "RSS 2 KiB (rank 0)\n",
     "samples 4 from 0\nprocess:rank0 5120..2048 until 4 peak 5120\n"
     "process:rank1 9216..8192 until 3 peak 9216\ngpu of process:rank1 3072 at 2\n"},
    {"lines of several processes", "pid=3 RSS 5 KiB\npid: 4 RSS 9 KiB\npid: 4 RSS 8 KiB\n",
     "samples 3 from 0\nprocess:3 unchanged peak 5120\nprocess:4 9216..8192 until 3 peak 9216\n"},
    {"what another began has no figure that stands in front of it",
     "RSS 5 KiB\nRSS 9 KiB, spawned worker pid 7\nRSS 6 KiB, spawned worker pid 8\n",
     "samples 3 from 0\nprocess 5120..6144 until 3 peak 9216\n"},
    {"devices of one process are no processes",
     "RSS 5 KiB\n[GPU 0] allocated: 2 KiB\n[GPU 1] allocated: 3 KiB\n",
     "samples 3 from 0\nprocess unchanged peak 5120\nallocated of process 2048 at 2\n"
     "allocated of process 3072 at 3\n"},
    {"tags of mpirun",
     "[1,0]<stdout>: RSS 5 KiB\n[1,1]<stdout>:RSS 7 KiB\n[1,0]<stderr>:RSS 6 KiB\n[1,1]<s\n",
     "samples 3 from 0\nprocess:rank0 5120..6144 until 3 peak 6144\n"
     "process:rank1 unchanged peak 7168\n"},
    {"numbers in front of lines that tell ranks apart",
     "0: begins\n1: begins\n1: loads\n0: loads\n1: RSS 5 KiB\n0: RSS 6 KiB\n1: RSS 7 KiB\n",
     "samples 3 from 0\nprocess:rank1 5120..7168 until 3 peak 7168\n"
     "process:rank0 unchanged peak 6144\n"},
    {"numbers in front of lines that count",
     "0: RSS 5 KiB\n1: RSS 6 KiB\n1: RSS 7 KiB\n2: RSS 6 KiB\n",
     "samples 4 from 0\nprocess 5120..6144 until 4 peak 7168\n"},
    {"PIDs in brackets", "[4711] RSS 5 KiB\n[4712] RSS 6 KiB\n[4711] RSS 7 KiB\n[4712] RSS 7 KiB\n",
     "samples 4 from 0\nprocess:4711 5120..7168 until 3 peak 7168\n"
     "process:4712 6144..7168 until 4 peak 7168\n"},
    {"PIDs in front of what grep finds",
     "4711: VmRSS:\t  5 KiB\n4719: VmRSS:\t  6 KiB\n4711: VmRSS:\t  5 KiB\n4719: VmRSS:\t  6 KiB\n",
     "samples 4 from 0\nprocess:4711 unchanged peak 5120\nprocess:4719 unchanged peak 6144\n"},
    {"PIDs with nothing behind them but the rss",
     "4711 VmRSS: 5 KiB\n4719 VmRSS: 6 KiB\n4711 VmRSS: 5 KiB\n4719 VmRSS: 6 KiB\n",
     "samples 4 from 0\nprocess:4711 unchanged peak 5120\nprocess:4719 unchanged peak 6144\n"},
    {"numbers behind what date writes may be PIDs",
     "Sun Nov  1 10:00:01 CET 2026 4711 RSS 5 KiB\nSun Nov  1 10:00:01 CET 2026 4719 RSS 6 KiB\n"
     "Sun Nov  1 10:00:02 CET 2026 4711 RSS 5 KiB\nSun Nov  1 10:00:02 CET 2026 4719 RSS 6 KiB\n",
     "samples 4 from 0\nprocess 5120..6144 until 4 peak 6144\nnote owners 1\n"},
    {"names that Python gives processes, and words in JSON",
     "[INFO/Process-1] RSS 5 KiB\n[INFO/Process-2] RSS 6 KiB\n[INFO/MainProcess] RSS 7 KiB\n"
     "a Process-2 b RSS 8 KiB\nx {\"pid\": 7, \"rss\": 9 KiB\n",
     "samples 5 from 0\nprocess:process1 unchanged peak 5120\nprocess:process2 6144..8192 until 4 "
     "peak 8192\nprocess:main unchanged peak 7168\nprocess:7 unchanged peak 9216\n"},
    {"names in front of lines",
     "[pod/t-0/py] RSS 5 KiB\n[pod/t-1/py] RSS 6 KiB\nNov  2 10:00:01 h py[700]: RSS 7 KiB\n",
     "samples 3 from 0\nprocess:t-0 unchanged peak 5120\nprocess:t-1 unchanged peak 6144\n"
     "process:700 unchanged peak 7168\n"},
    {"names of containers, in turns",
     "t-1  | RSS 5 KiB\nt-2  | RSS 6 KiB\nt-1  | RSS 5 KiB\nt-2  | RSS 6 KiB\n",
     "samples 4 from 0\nprocess:t-1 unchanged peak 5120\nprocess:t-2 unchanged peak 6144\n"},
    {"threads and layers are no containers",
     "Thread-1  | RSS 5 KiB\nThread-2  | RSS 6 KiB\nThread-1  | RSS 5 KiB\nlayer-2  | RSS 6 KiB\n"
     "Thread-2  | RSS 5 KiB\nlayer-2  | RSS 6 KiB\n",
     "samples 6 from 0\nprocess 5120..6144 until 6 peak 6144\n"},
    {"steps in a table are no containers",
     "it-1  | RSS 5 KiB\nit-2  | RSS 6 KiB\nit-3  | RSS 5 KiB\nit-4  | RSS 6 KiB\n",
     "samples 4 from 0\nprocess 5120..6144 until 4 peak 6144\n"},
    {"small numbers behind a date are no PIDs",
     "2026-11-27T10:00:00 INFO epoch[1]: RSS 5 KiB\n2026-11-27T10:00:01 INFO epoch[2]: RSS 6 KiB\n",
     "samples 2 from 0\nprocess 5120..6144 until 2 peak 6144\n"},
    {"PIDs between date and level",
     "2026-11-27 10:00:00,1 4711 INFO RSS 5 KiB\n2026-11-27 10:00:00,2 4712 INFO RSS 6 KiB\n"
     "2026-11-27 10:00:01,1 4711 INFO RSS 5 KiB\n2026-11-27 10:00:01,2 4712 INFO RSS 6 KiB\n",
     "samples 4 from 0\nprocess:4711 unchanged peak 5120\nprocess:4712 unchanged peak 6144\n"},
    {"PIDs between date and level, in brackets",
     "[2026-11-27 10:00:00 +0000] [4711] [INFO] RSS 5 KiB\n"
     "[2026-11-27 10:00:00 +0000] [4712] [INFO] RSS 6 KiB\n"
     "[2026-11-27 10:00:01 +0000] [4711] [INFO] RSS 5 KiB\n"
     "[2026-11-27 10:00:01 +0000] [4712] [INFO] RSS 6 KiB\n",
     "samples 4 from 0\nprocess:4711 unchanged peak 5120\nprocess:4712 unchanged peak 6144\n"},
    {"numbers of lines and rates behind a date are no PIDs",
     "2026-11-27 10:00:00 1045 INFO a RSS 5 KiB\n2026-11-27 10:00:00 1204 INFO b RSS 6 KiB\n"
     "2026-11-27 10:00:00 1045 INFO a RSS 5 KiB\n2026-11-27 10:00:00 1204 INFO b RSS 6 KiB\n"
     "2026-11-27 10:00:00 4711 a/s RSS 5 KiB\n",
     "samples 5 from 0\nprocess 5120..5120 until 5 peak 6144\n"},
    {"small numbers behind a date may be PIDs",
     "2026-11-27 10:00:00 7 RSS 5 KiB\n2026-11-27 10:00:00 45 RSS 6 KiB\n"
     "2026-11-27 10:00:00 7 RSS 5 KiB\n2026-11-27 10:00:00 45 RSS 6 KiB\n",
     "samples 4 from 0\nprocess 5120..6144 until 4 peak 6144\nnote owners 1\n"},
    {"only one of those that may be PIDs has figures",
     "2026-11-27 10:00:00 7 begins\n2026-11-27 10:00:00 45 RSS 6 KiB\n"
     "2026-11-27 10:00:00 7 goes on\n2026-11-27 10:00:00 45 RSS 7 KiB\n",
     "samples 2 from 0\nprocess 6144..7168 until 2 peak 7168\n"},
    {"PIDs of Spring, behind the level",
     "2026-11-27T10:00:00.1Z  INFO 4711 --- [main] RSS 5 KiB\n"
     "2026-11-27T10:00:00.2Z  INFO 4719 --- [main] RSS 6 KiB\n"
     "2026-11-27T10:00:01.1Z  INFO 4711 --- [main] RSS 5 KiB\n"
     "2026-11-27T10:00:01.2Z  INFO 4719 --- [main] RSS 6 KiB\n",
     "samples 4 from 0\nprocess:4711 unchanged peak 5120\nprocess:4719 unchanged peak 6144\n"},
    {"parts that a program takes in turns may be ranks",
     "0: a RSS 5 KiB\n1: a RSS 6 KiB\n0: a RSS 5 KiB\n1: a RSS 6 KiB\n0: a RSS 5 KiB\n"
     "1: a RSS 6 KiB\n",
     "samples 6 from 0\nprocess 5120..6144 until 6 peak 6144\nnote owners 1\n"},
    {"what srun begins are ranks, in turns, too",
     "srun: job 7 queued\n0: a RSS 5 KiB\n1: a RSS 6 KiB\n0: a RSS 5 KiB\n1: a RSS 6 KiB\n",
     "samples 4 from 0\nprocess:rank0 unchanged peak 5120\nprocess:rank1 unchanged peak 6144\n"},
    {"a rank of a LoRA is none of a process",
     "lora rank=8 alpha=16 RSS 5 KiB\nlora rank=16 alpha=16 RSS 6 KiB\n[rank4] lora RSS 7 KiB\n"
     "[rank5] lora RSS 8 KiB\n",
     "samples 4 from 0\nprocess 5120..6144 until 2 peak 6144\nprocess:rank4 unchanged peak 7168\n"
     "process:rank5 unchanged peak 8192\n"},
    {"a word within brackets",
     "[2026-11-27 10:00:00 TP0] RSS 5 KiB\n[2026-11-27 10:00:00 TP1] RSS 6 KiB\n",
     "samples 2 from 0\nprocess:tp0 unchanged peak 5120\nprocess:tp1 unchanged peak 6144\n"},
    {"what is seldom the same behind a date is no PID",
     "2026-11-27 10:00:00 1250 INFO RSS 5 KiB\n2026-11-27 10:00:00 1311 INFO RSS 6 KiB\n"
     "2026-11-27 10:00:00 1250 INFO RSS 5 KiB\n2026-11-27 10:00:00 1311 INFO RSS 6 KiB\n"
     "2026-11-27 10:00:00 1207 INFO RSS 5 KiB\n",
     "samples 5 from 0\nprocess 5120..5120 until 5 peak 6144\n"},
    {"what took so long is no PID",
     "2026-11-27 10:00:00 25 ms RSS 5 KiB\n2026-11-27 10:00:00 28 ms RSS 6 KiB\n"
     "2026-11-27 10:00:00 25 ms RSS 5 KiB\n2026-11-27 10:00:00 28 ms RSS 6 KiB\n",
     "samples 4 from 0\nprocess 5120..6144 until 4 peak 6144\n"},
    {"round numbers behind a date may be PIDs",
     "2026-11-27 10:00:00 4710 INFO RSS 5 KiB\n2026-11-27 10:00:00 4720 INFO RSS 6 KiB\n"
     "2026-11-27 10:00:00 4710 INFO RSS 5 KiB\n2026-11-27 10:00:00 4720 INFO RSS 6 KiB\n",
     "samples 4 from 0\nprocess 5120..6144 until 4 peak 6144\nnote owners 1\n"},
    {"sizes in brackets",
     "[1024] RSS 5 KiB\n[1536] RSS 6 KiB\n[1024] RSS 7 KiB\n[1536] RSS 6 KiB\n",
     "samples 4 from 0\nprocess 5120..6144 until 4 peak 7168\n"},
    {"epochs of two runs may be ranks",
     "[0] RSS 5 KiB\n[0] RSS 6 KiB\n[1] RSS 5 KiB\n[1] RSS 6 KiB\n"
     "[0] RSS 5 KiB\n[0] RSS 6 KiB\n[1] RSS 5 KiB\n[1] RSS 6 KiB\n",
     "samples 8 from 0\nprocess 5120..6144 until 8 peak 6144\nnote owners 1\n"},
    {"workers that have lines of their own",
     "worker 1 started, RSS 5 KiB\nworker 2 started, RSS 6 KiB\nworker 1 RSS 7 KiB\n"
     "worker 2 RSS 8 KiB\nworker 2 done, RSS 7 KiB\n",
     "samples 5 from 0\nprocess:worker1 5120..7168 until 3 peak 7168\n"
     "process:worker2 6144..7168 until 5 peak 8192\n"},
    {"what looks like names in front of lines",
     "[pod/t-0 RSS 5 KiB\nt-1 | RSS 6 KiB\nNov 10:00 h py[7]: RSS 7 KiB\nstep 3: py[8]: RSS 8 "
     "KiB\n",
     "samples 4 from 0\nprocess 5120..8192 until 4 peak 8192\nsteps 3\n"},
    {"workers that somebody tells of", "worker 1 done, RSS 5 KiB\nworker 2 is done, RSS 6 KiB\n",
     "samples 2 from 0\nprocess 5120..6144 until 2 peak 6144\nnote owners 1\n"},
    {"a worker that somebody tells of", "worker 1 done, RSS 5 KiB\nworker 1 is done, RSS 6 KiB\n",
     "samples 2 from 0\nprocess 5120..6144 until 2 peak 6144\n"},
    {"clients that one process may tell of",
     "client 1: done; RSS 5 KiB\nclient 2: done; RSS 6 KiB\nclient 3: done; RSS 7 KiB\n",
     "samples 3 from 0\nprocess 5120..7168 until 3 peak 7168\nnote owners 1\n"},
    {"clients that are there again",
     "client 1: RSS 5 KiB\nclient 2: RSS 6 KiB\nclient 1: RSS 7 KiB\n",
     "samples 3 from 0\nprocess:client1 5120..7168 until 3 peak 7168\n"
     "process:client2 unchanged peak 6144\n"},
    {"a line of several owners",
     "worker 0 rss 1 KiB worker 1 rss 7 KiB\nworker 0 rss 2 KiB worker 1 rss 8 KiB\n"
     "rss rank0: 3 KiB, rank1: 9 KiB\nRSS: rank 0 4 KiB | rank 1 5 KiB\n",
     "samples 4 from 0\nprocess:worker0 1024..2048 until 2 peak 2048\n"
     "process:worker1 7168..8192 until 2 peak 8192\nprocess:rank0 3072..4096 until 4 peak 4096\n"
     "process:rank1 9216..5120 until 4 peak 9216\n"},
    {"owners behind what is theirs, or in words that memtool does not know",
     "RSS 1 KiB (rank 0), RSS 7 KiB (rank 1)\n"
     "train rss 3 KiB | loader rss 1 KiB\ntrain rss 4 KiB | loader rss 1 KiB\n",
     "samples 2 from 0\nprocess 3072..4096 until 2 peak 4096\nloader_rss of process 1024 at 1\n"
     "loader_rss of process 1024 at 2\nnote processes 2\nnote names 1\n"},
    {"ranks whose steps come one behind the other, and begin again",
     "[rank0] step 1 RSS 1 KiB\n[rank0] step 2 RSS 2 KiB\n[rank0] step 1 RSS 3 KiB\n"
     "[rank1] step 1 RSS 4 KiB\n[rank1] step 2 RSS 5 KiB\n[rank1] step 1 RSS 6 KiB\n",
     "samples 6 from 0\nprocess:rank0 1024..3072 until 3 peak 3072\n"
     "process:rank1 4096..6144 until 6 peak 6144\nsteps 1 2 3\nnote steps_renumbered 2\n"},
    {"steps that begin again, of two lines each",
     "step 1 a\nstep 1 RSS 1 KiB\nstep 2 a\nstep 2 RSS 2 KiB\nstep 1 a\nstep 1 RSS 3 KiB\n",
     "samples 6 from 0\nprocess 1024..3072 until 6 peak 3072\nsteps 1 2 3\nnote steps_renumbered "
     "1\n"},
};

int main(void)
{
    struct row_tests t = {.n = 0};
    ROWS_ADD(&t, test_text_file, texts);
    return ROWS_RUN(&t, "memory-text: owners");
}
