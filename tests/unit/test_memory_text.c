/* Memory that programs print, among whatever else they print. */
#include "tests/unit/process_log.h"
#include "tests/unit/rows.h"

#include <string.h>

static const struct text_file texts[] = {
    {"two names in a line are two figures, from then on",
     "Initial RSS: 1 KiB\nPython RSS: 5 KiB, Process RSS: 7 KiB, Max RSS: 8 KiB, Peak RSS: 9 KiB\n"
     "Process RSS: 6 KiB\nFinal RSS: 2 KiB\n",
     "samples 4 from 0\nprocess 1024..2048 until 4 peak 8192\n"
     "process_rss of process 7168 at 2\npeak_rss_2 of process 9216 at 2\n"
     "peak_rss of process 8192 at 2\nprocess_rss of process 6144 at 3\nnote names 2\n"},
    {"thousands with commas, and what stands right behind a unit",
     "step 1,234: RSS: 999.5 KiB.\nstep 1,235 (RSS: 1,020.5 KiB)\nRSS: 2KiB/4KiB, GPU 1,002 KiB\n",
     "samples 3 from 0\nprocess 1023488..2048 until 3 peak 1044992\n"
     "gpu of process 1026048 at 3\nsteps 1234 1235\n"},
    {"steps of so many, and what cannot be",
     "Epoch 1/3:\nRSS: 5 MB\nEpoch 2/3: RSS: -5 MB\nRSS: 6 MB\nepoch 3/3x RSS: 7 MB\n",
     "samples 5 from 0\nprocess 5242880..7340032 until 5 peak 7340032\nsteps 1 2\n"
     "note unread 1\nnote units 3\n"},
    {"what stands behind the process's memory: what it became, its peak",
     "RSS: 1 KiB -> 5 KiB\nRSS: 2 KiB (peak 7 KiB)\nRSS 2 KiB, GPU 1 KiB, peak 9 KiB\n",
     "samples 3 from 0\nprocess 1024..2048 until 2 peak 7168\npeak_rss of process 7168 at 2\n"
     "gpu of process 1024 at 3\n"},
    {"how much more there is, or may be, is no level",
     "RSS limit: 9 KiB\nRSS delta: 8 KiB, RSS: 2 KiB\ncpu memory usage increased from 1 KiB to 3 "
     "KiB\n"
     "peak_rss_growth=7KiB\nRSS deltas: 4 KiB\n",
     "samples 5 from 0\nprocess 2048..4096 until 5 peak 4096\nrss_limit of process 9216 at 1\n"
     "rss_delta of process 8192 at 2\npeak_rss_growth of process 7168 at 4\n"},
    {"words of that which are about something else, or when the rss was what it is",
     "memory limit approaching rss: 1 KiB\n[diff] RSS: 2 KiB\nRSS after growth: 3 KiB\n"
     "process memory usage before change: 4 KiB\nchange in process rss: 9 KiB\ndelta max rss: 9 "
     "KiB\n"
     "delta rss: 9 KiB\n",
     "samples 7 from 0\nprocess 1024..4096 until 4 peak 4096\n"
     "change_in_process_rss of process 9216 at 5\ndelta_max_rss of process 9216 at 6\n"
     "delta_rss of process 9216 at 7\n"},
    {"words of what was added, is allowed, or is an average or the least",
     "RSS grew by 1 KiB to 5 KiB\nRSS increased by 9 KiB\nmin RSS: 1 KiB, RSS: 6 KiB\n"
     "RSS grew to 7 KiB\nRSS budget 90 KiB, RSS 4 KiB, max allowed RSS 99 KiB\n"
     "avg RSS 1 KiB, mean RSS 2 KiB\nsystem memory usage: 80 KiB\n",
     "samples 7 from 0\nprocess 5120..4096 until 5 peak 7168\n"
     "rss_grew_by of process 1024 at 1\nrss_increased_by of process 9216 at 2\n"
     "min_rss of process 1024 at 3\nrss_budget of process 92160 at 5\n"
     "max_allowed_rss of process 101376 at 5\navg_rss of process 1024 at 6\n"
     "mean_rss of process 2048 at 6\nsystem_memory_usage of process 81920 at 7\n"},
    {"when the rss was what it is, in more words",
     "RSS after loading the target: 1 KiB\nRSS once caches were freed: 2 KiB\n",
     "samples 2 from 0\nprocess 1024..2048 until 2 peak 2048\n"},
    {"memory usage of others than the process",
     "python memory usage: 4 KiB\ntotal memory usage: 9 KiB\nKV cache memory usage: 8 KiB\n"
     "input memory usage of program: 5 KiB\nvirtual memory usage=7 KiB, process memory usage=3 "
     "KiB\n",
     "samples 5 from 0\nprocess 4096..3072 until 5 peak 5120\n"
     "total_memory_usage of process 9216 at 2\nkv_cache_memory_usage of process 8192 at 3\n"
     "virtual_memory_usage of process 7168 at 5\n"},
    {"memory usage of nobody knows what",
     "RSS: 4 KiB\nmemory usage: 2 KiB\nMemory usage of dataframe is 9 KiB\n"
     "Peak memory usage (for query): 9 KiB\nmemory: usage 9KiB, limit 9KiB\nRSS: 5 KiB\n"
     "Peak memory usage: 6 KiB\nmemory usage: 45%\n",
     "samples 7 from 0\nprocess 4096..5120 until 6 peak 6144\nmemory_usage of process 2048 at 2\n"
     "memory_usage_of_dataframe_is of process 9216 at 3\n"
     "peak_memory_usage_for_query of process 9216 at 4\nmemory_usage of process 9216 at 5\n"
     "peak_rss of process 6144 at 7\n"},
    {"peaks of nobody says what, but when",
     "RSS: 4 KiB\nPeak memory usage during training: 9 KiB\nmax memory usage so far was 8 KiB\n"
     "Peak memory usage of query: 99 KiB\nGPU peak memory usage after it: 99 KiB\nRSS: 5 KiB\n",
     "samples 6 from 0\nprocess 4096..5120 until 6 peak 9216\npeak_rss of process 9216 at 2\n"
     "peak_rss of process 8192 at 3\npeak_memory_usage_of_query of process 101376 at 4\n"
     "gpu_peak_memory_usage_after_it of process 101376 at 5\n"},
    {"a number that says when between a name and its size",
     "RSS after step 3: 1 KiB\nPeak RSS in epoch 2/9 = 9 KiB\nRSS (step 4) 3 KiB\n"
     "RSS after moving to GPU 0: 4 KiB\nRSS after 30 steps: 6 KiB\nprocess memory usage at step "
     "5: 5 KiB\n"
     "RSS limit at step 6: 99 KiB\nRSS after step 7, 98 KiB\nGPU RSS at step 8: 97 KiB\nRSS 10:00 "
     "96 KiB\nmemory usage at step 9: 95 KiB\n",
     "samples 6 from 0\nprocess 1024..5120 until 6 peak 9216\npeak_rss of process 9216 at 2\n"
     "steps 3 4 5 6 7 8 9\nnote unread 2\n"},
    {"an rss and a size that may be it",
     "RSS: 1 KiB\n| RSS | 9 KiB |\nRSS\t9 KiB\n9 KiB RSS\n{\"rss\": \"9 KiB\"}\nRSS range 1 - 9 "
     "KiB\n"
     "RSS after layer 12 of 24: 9 KiB\nRSS after layer 13 of 24: 9 KiB\n| processRss | 9 KiB |\n"
     "RSS: 2 KiB\n",
     "samples 2 from 0\nprocess 1024..2048 until 2 peak 2048\nnote unread 8\n"},
    {"a number of no known unit that an rss stands right in front of, or that is large",
     "RSS: 1 KiB\nru_maxrss: 9437184\npmem(rss=9437184, vms=9)\n{\"rss\":9437184}\nmax resident "
     "set size 9437\nRSS after the evaluation: 9G\nRSS after loading 9437184\nRSS of 9 layers\n"
     "peak rss=9%\nRSS: 2 KiB\n",
     "samples 2 from 0\nprocess 1024..2048 until 2 peak 2048\nnote unread 6\n"},
    {"what an rss was at most or became, perhaps",
     "RSS: 1 KiB\nRSS: 1 KiB (max 9 KiB)\nRSS: 1 KiB, max so far 9 KiB\nRSS 1 KiB => 9 KiB\n"
     "RSS: 1 KiB, 9 KiB\nmean RSS 1 KiB, max 9 KiB\nRSS grew by 8 KiB, now 9 KiB\nRSS cur/peak: 1 "
     "KiB / 9 KiB\nRSS min/avg/max: 1/2/9 KiB\nRSS: 2 KiB\n",
     "samples 8 from 0\nprocess 1024..2048 until 8 peak 2048\nmean_rss of process 1024 at "
     "6\nrss_grew_by of process 8192 at 7\nnote unread 8\n"},
    {"what stands behind an rss and is something else",
     "RSS: 1 KiB (peak 3 KiB)\nRSS 1 KiB [peak 4 KiB]\nRSS 1 KiB, 9 KiB free\nRSS: 1 KiB, loaded "
     "9 KiB\nGPU RSS 1 KiB, max 9 KiB\nRSS of 1 KiB (9 KiB/s)\nRSS: 2 KiB\n",
     "samples 7 from 0\nprocess 1024..2048 until 7 peak 4096\npeak_rss of process 3072 at 1\n"
     "peak_rss of process 4096 at 2\ngpu_rss of process 1024 at 5\n"},
    {"an rss behind a size that has another name",
     "RSS: 1 KiB\nmemory: 9 KiB (RSS)\nserver memory 9KiB resident\nGPU memory: 9 KiB (RSS)\n"
     "memory 9 KiB rss 1 KiB\nRSS: 2 KiB\n",
     "samples 6 from 0\nprocess 1024..2048 until 6 peak 2048\nmemory of process 9216 at "
     "2\nserver_memory of process 9216 at 3\ngpu_memory of process 9216 at 4\nmemory of process "
     "9216 at 5\nnote unread 2\n"},
    {"what the kernel says of a process that it killed, and time of macOS",
     "RSS: 1 KiB\nOut of memory: Killed process 4711 (python) total-vm:9kB, anon-rss:9kB, "
     "file-rss:0kB, shmem-rss:0kB\n          9437184  maximum resident set size\nRSS: 2 KiB\n",
     "samples 3 from 0\nprocess 1024..2048 until 3 peak 2048\nanon of process 9216 at 2\nfile "
     "of process 0 at 2\nshmem of process 0 at 2\nnote unread 2\nnote units 3\n"},
    {"other words for a change, a limit or a guess",
     "RSS: 1 KiB\nRSS dropped by 9 KiB\n\xce\x94RSS=9KiB\nd_rss: 9 KiB\nrss reduced by 9 KiB\nRSS "
     "saved: 9 KiB\nrss_inc=9KiB\npredicted rss 9 KiB\nRLIMIT RSS 9 KiB\nRSS after cache was "
     "released: 2 KiB\nCheckpoint saved: RSS 3 KiB\nRSS dropped to 4 KiB\nHBM peak memory usage: "
     "9 KiB\nRSS used by python: 3 KiB\nRSS used by: 2 KiB\n",
     "samples 15 from 0\nprocess 1024..2048 until 15 peak 4096\nrss_dropped_by of process 9216 at "
     "2\nrss_2 of process 9216 at 3\nd_rss of process 9216 at 4\nrss_reduced_by of process 9216 at "
     "5\nrss_saved of process 9216 at 6\nrss_inc of process 9216 at 7\npredicted_rss of process "
     "9216 at 8\nrlimit_rss of process 9216 at 9\nhbm_peak_memory_usage of process 9216 at 13\n"},
    {"what grep writes in front of the kernel's lines",
     "/proc/10/status:VmHWM:\t  9 kB\n/proc/10/status:VmRSS:\t  1 kB\n/proc/4711/status:VmRSS:\t  "
     "5 "
     "kB\n/proc/10/status:VmRSS:\t  2 kB\n/proc/4711/status:VmRSS:\t  4 kB\n",
     "samples 5 from 0\nprocess:10 1024..2048 until 4 peak 9216\nprocess:4711 5120..4096 until 5 "
     "peak 5120\npeak_rss of process:10 9216 at 1\nnote units 5\n"},
    {"tables whose heading names an rss, and summaries of jobs",
     "RSS: 1 KiB\nRSS: 2 KiB\nJobID      MaxRSS      State\n----- ----------- ------\n7.0     "
     "9437184K     DONE\n"
     "s\th:m:s\tmax_rss\n1\t0:0:1\t9\n    Max Memory :    9 MB\nit,rss\n1,9\nno rss here, but\n7 "
     "words\n",
     "samples 3 from 0\nprocess 1024..2048 until 2 peak 2048\nmax_memory of process 9437184 at "
     "3\nnote unread 4\nnote units 1\n"},
    {"an rss of something else is a metric, whatever it is of",
     "RSS: 1 KiB\ntorch RSS: 9 KiB\ndevice RSS: 8 KiB\nsystem rss: 7 KiB\nRSS: 2 KiB\n",
     "samples 5 from 0\nprocess 1024..2048 until 5 peak 2048\ntorch_rss of process 9216 at 2\n"
     "device_rss of process 8192 at 3\nsystem_rss of process 7168 at 4\n"},
    {"the peak as time says it without -v",
     "RSS: 1 KiB\nRSS: 2 KiB\n0.01user 0.02system 0:00.05elapsed 90%CPU (0avgtext+0avgdata "
     "9maxresident)k\n0inputs+0outputs (0major+1000minor)pagefaults 0swaps\n",
     "samples 3 from 0\nprocess 1024..2048 until 2 peak 9216\npeak_rss of process 9216 at 3\n"},
    {"an rss and a size that is of something else",
     "RSS: 1 KiB\nacross 9 KiB\nGPU memory 9 KiB, rss unknown\nRSS limit at step "
     "4: "
     "9 KiB\nGPU RSS in epoch 2: 9 KiB\nRSS feed of 9 items, 0x9 KiB, 9 kilometers\n"
     "RSS leaks 9 KiB/h, read 9 KiB/s\nRSS: 2 KiB\n",
     "samples 4 from 0\nprocess 1024..2048 until 4 peak 2048\ngpu_memory of process 9216 at "
     "2\nsteps 4\n"},
    {"words with letters of an rss that mean something else, and those that mean it",
     "RSS: 1 KiB\npresident: 9 KiB\nhRSS 9 KiB\nrss feed size 9 KiB\nresidential proxies: 9 KiB\n"
     "9 KiB of RSS feeds, rssi 9 KiB\nru_maxrss: 8 KiB\nprocessRss=2 KiB\nrss_mem 3 KiB\n"
     "peakRss: 7 KiB\nrssNow 2 KiB\nresident_size: 3 KiB\n",
     "samples 7 from 0\nprocess 1024..3072 until 7 peak 8192\npeak_rss of process 8192 at 2\n"
     "peak_rss of process 7168 at 5\n"},
    {"names that end in their unit",
     "rss_kib=3\npeak_rss_kib: 9 rss_kib=4\nRSS in KiB: 5\nrss_kib=8 KiB\nrss_delta_kib=99\n"
     "rss_b=98\nrss_kib=1G\ngpu_rss_kib=7\nrss_kib=5\n",
     "samples 7 from 0\nprocess 3072..5120 until 7 peak 9216\npeak_rss of process 9216 at 2\n"
     "rss_delta of process 101376 at 5\ngpu_rss of process 7168 at 6\nnote unread 2\n"},
    {"a device that says when, and other words for the rss; signs behind more words",
     "After import torch: resident memory: 1 KiB\nresident set after moving to GPU: 2 KiB\n"
     "Model on cuda: VmHWM: 9 KiB\nRSS used: ~3 KiB\nPeak RSS after training: '8 KiB'\n"
     "GPU resident memory: 99 KiB\nsystem CPU RSS: 98 KiB\nGPU memory usage (RSS): 97 KiB\n"
     "resident memory on cuda: 96 KiB\nRSS of a limit (95 KiB)\n",
     "samples 9 from 0\nprocess 1024..3072 until 4 peak 9216\npeak_rss of process 9216 at 3\n"
     "peak_rss of process 8192 at 5\ngpu_resident_memory of process 101376 at 6\n"
     "system_cpu_rss of process 100352 at 7\ngpu_memory_usage_rss of process 99328 at 8\n"
     "resident_memory_on_cuda of process 98304 at 9\nnote unread 1\n"},
    {"a name behind many words, or in a long one",
     "RSS: 4 KiB\nafter the checkpoint with the states of all optimizers and schedulers came in: "
     "RSS: 9 KiB\n"
     "metrics/of/the/host/process/memory/and/the/threads/current/in/bytes/rss=5KiB\n",
     "samples 3 from 0\nprocess 4096..5120 until 3 peak 9216\n"},
    {"many words behind a name",
     "RSS: 4 KiB\nPeak RSS of the training process after all of the epochs have been completed: 9 "
     "KiB\nRSS: 5 KiB\n",
     "samples 3 from 0\nprocess 4096..5120 until 3 peak 9216\npeak_rss of process 9216 at 2\n"},
    {"lines of the kernel's, with tabs",
     "start\nVmHWM:\t       9 kB\nVmRSS:\t       4 kB\nRssAnon:\t       3 kB\nVmRSS:\t       5 "
     "kB\n",
     "samples 4 from 0\nprocess 4096..5120 until 4 peak 9216\npeak_rss of process 9216 at 1\n"
     "anon of process 3072 at 3\nnote units 4\n"},
    {"a device that says when the rss was so, or whose it is",
     "After import torch: RSS: 1 KiB\nRSS after moving to GPU: 2 KiB\ntorch.cuda.init() RSS 3 KiB\n"
     "model.to('cuda'): RSS 4 KiB\nModel on the cuda device: peak RSS 5 KiB\nRSS (with cuda) 3 "
     "KiB\n"
     "GPU RSS 9 KiB\nafter it: GPU memory RSS 9 KiB\nRSS on cuda 9 KiB\ngpu_rss 9 KiB\n",
     "samples 10 from 0\nprocess 1024..3072 until 6 peak 5120\n"
     "peak_rss of process 5120 at 5\ngpu_rss of process 9216 at 7\n"
     "after_it_gpu_memory_rss of process 9216 at 8\nrss_on_cuda of process 9216 at 9\n"
     "gpu_rss of process 9216 at 10\n"},
    {"the peak as the kernel calls it, and in other words",
     "VmRSS: 3 KiB VmHWM: 5 KiB\nVmRSS: 2 KiB\nVmHWM: 6 KiB\n",
     "samples 3 from 0\n"
     "process 3072..2048 until 2 peak 6144\npeak_rss of process 5120 at 1\n"
     "peak_rss of process 6144 at 3\n"},
    {"the peak in other words",
     "RSS 3 KiB, HWM 5 KiB\nRSS --> 4 KiB\nhighest RSS 7 KiB\n"
     "RSS 2 KiB --> 4 KiB\nhigh-water RSS 8 KiB, RSS 2 KiB\nGPU HWM 9 KiB\n",
     "samples 6 from 0\nprocess 3072..2048 until 5 peak 8192\npeak_rss of process 5120 at 1\n"
     "peak_rss of process 7168 at 3\npeak_rss of process 8192 at 5\n"
     "gpu_hwm of process 9216 at 6\n"},
    {"signs around a size",
     "RSS: 5 KiB\n{'loss': 0.5, 'peak_rss': '9.5 KiB', 'rss': '4KiB'}\nRSS (6 KiB), RSS ~7 KiB\n"
     "RSS (3): 8 KiB\nRSS [1 KiB]\n",
     "samples 5 from 0\nprocess 5120..1024 until 5 peak 9728\npeak_rss of process 9728 at 2\n"},
    {"a peak in words", "RSS is 5 KiB; Peak was 9 KiB\nRSS 4 KiB\n",
     "samples 2 from 0\nprocess 5120..4096 until 2 peak 9216\npeak_rss of process 9216 at 1\n"},
    {"what tracemalloc has is none of the process",
     "Current memory usage is 5.5MB; Peak was 9MB\nRSS 4 KiB\n"
     "Current memory usage: 5 KiB, Peak: 9 KiB\n",
     "samples 3 from 0\nprocess unchanged peak 4096\n"
     "current_memory_usage_is of process 5500000 at 1\npeak_memory_usage of process 9000000 at 1\n"
     "current_memory_usage of process 5120 at 3\npeak_memory_usage of process 9216 at 3\n"},
    {"parts of the rss are none",
     "VmRSS: 9 KiB\nRssAnon: 5 KiB\nRssFile: 3 KiB\nRssShmem: 1 KiB\n"
     "anon-rss:4kib, file-rss:2kib\n",
     "samples 5 from 0\nprocess unchanged peak 9216\nanon of process 5120 at 2\n"
     "file of process 3072 at 3\nshmem of process 1024 at 4\nanon of process 4096 at 5\n"
     "file of process 2048 at 5\n"},
    {"the memory usage of a device that is named before it, and the rss of children",
     "[GPU 0] Memory usage: 7 KiB, RSS: 3 KiB\nRSS: 4 KiB\nchildren rss: 9 KiB\n"
     "cuda:0 memory usage: 8 KiB\n",
     "samples 4 from 0\nprocess 3072..4096 until 2 peak 4096\n"
     "memory_usage of process 7168 at 1\nchildren_rss of process 9216 at 3\n"
     "memory_usage of process 8192 at 4\n"},
    {"bars of progress, colours, brackets around steps",
     "\r[step 1] rss \033[1m1 KiB\033[0m\r[step 2] rss 2 KiB\r\n\033[32m[step 3/9] rss 3 KiB\n"
     " step     4/  9 | rss 4 KiB\n",
     "samples 4 from 0\nprocess 1024..4096 until 4 peak 4096\nsteps 1 2 3 4\n"},
    {"lines of one rank", "rank 1 rapid 2 RSS 5 KiB\nrank 1 rapid 3 RSS 9 KiB\nranks 5 RSS 6 KiB\n",
     "samples 3 from 0\nprocess 5120..6144 until 3 peak 9216\n"},
    {"before and after",
     "RSS before: 1 KiB after: 5 KiB\nRSS 2 KiB after 7 KiB\n"
     "RSS before training: 1 KiB, after training: 6 KiB, after training dataset 9 KiB\n"
     "RSS was 2 KiB, now 7 KiB\n",
     "samples 4 from 0\nprocess 1024..7168 until 4 peak 7168\nnote unread 1\n"},
    {"a second size that may be an rss, too",
     "RSS: 3 KiB\nRSS: main 1 KiB, worker 9 KiB\nRSS 1 KiB before, 9 KiB after\n"
     "RSS 1 KiB (parent), 9 KiB (child)\nbefore: RSS 1 KiB; after: 9 KiB\n",
     "samples 5 from 0\nprocess 3072..1024 until 2 peak 3072\nnote unread 4\n"},
    {"the memory usage of the process, which has torch, and that of a device",
     "After import torch: process memory usage: 3 KiB\nCPU memory usage after moving to GPU: 4 "
     "KiB\ntorch memory usage: 9 KiB\nmemory usage on gpu: 9 KiB\n",
     "samples 4 from 0\nprocess 3072..4096 until 2 peak 4096\ntorch_memory_usage of process 9216 "
     "at 3\nmemory_usage_on_gpu of process 9216 at 4\n"},
    {"a second size that is none",
     "RSS: 3 KiB\nRSS 1 KiB before upload of 9 KiB\nRSS 1 KiB, dataset 9 KiB, 9 KiB free\n",
     "samples 3 from 0\nprocess 3072..1024 until 2 peak 3072\n"},
    {"the rss of a process that has torch",
     "torch process RSS: 3 KiB\nPyTorch process RSS: 4 KiB\ntorch RSS: 9 KiB\n",
     "samples 3 from 0\nprocess 3072..4096 until 2 peak 4096\ntorch_rss of process 9216 at 3\n"},
    {"before and after, with the name of both",
     "RSS: 1 KiB\nrss_before=1KiB rss_after=5KiB\nMemory before: RSS 1 KiB, after: RSS 6 KiB\n"
     "final RSS 7 KiB | initial RSS 2 KiB\nPeak RSS at start 8 KiB, peak RSS at end 9 KiB\n"
     "python rss 3 KiB, process rss 4 KiB\n",
     "samples 6 from 0\nprocess 1024..3072 until 6 peak 9216\ninitial_rss of process 2048 at "
     "4\npeak_rss of process 8192 at 5\npeak_rss of process 9216 at 5\nprocess_rss of process 4096 "
     "at 6\nnote names 2\n"},
    {"what an rss was at first, in each line",
     "rss_now=2KiB rss_start=1KiB\nrss_now=3KiB rss_start=1KiB\nrss_start=1KiB rss_now=4KiB\n",
     "samples 3 from 0\nprocess 2048..4096 until 3 peak 4096\nrss_start of process 1024 at 1\n"
     "rss_start of process 1024 at 2\nrss_start of process 1024 at 3\nnote names 1\n"},
    {"the process's memory in no unit is lost, where other lines have one",
     "RSS: 1,5 KiB\nRSS: 2G\nRSS: 3 KiB, RSS feed: 3\nRSS: 4 KiB\nRSS: 1,020,5 KiB\nRSS: 7\n",
     "samples 2 from 0\nprocess 3072..4096 until 2 peak 4096\nnote unread 4\n"},
    {"a comma of fractions", "RSS (MB): 1.5\nRSS (MB): 2,5\nRSS (MB): 2.000,5\nRSS (MB): 3\n",
     "samples 2 from 0\nprocess 1572864..3145728 until 2 peak 3145728\nnote unread 2\nnote units "
     "2\n"},
    {"time -v: how long it took is damaged",
     "\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:04.G7\n"
     "\tMaximum resident set size (kbytes): 100\n",
     "(null) 0 from 0\nprocess unchanged peak 102400\nnote skipped 1\n"},
    {"the name that was there first is the rss",
     "RSS: 5 KiB\nOwn RSS: 7 KiB | RSS: 6 KiB\nOwn RSS: 8 KiB | RSS: 6 KiB\n",
     "samples 3 from 0\nprocess 5120..6144 until 2 peak 6144\nown_rss of process 7168 at 2\n"
     "own_rss of process 8192 at 3\nnote names 1\n"},
    {"names in different lines are one figure at different times",
     "RSS before: 5 KiB\nRSS after: 7 KiB\n",
     "samples 2 from 0\nprocess 5120..7168 until 2 peak 7168\n"},
};

static const struct head {
    const char *name, *text;
    bool taken;
} heads[] = {
    {"the rss, twice", "RSS: 5 KiB\nRSS: 6 KiB\n", true},
    {"the rss, and a peak of nobody says what", "RSS: 5 KiB\nPeak memory usage: 6 KiB\n", true},
    {"lines of the kernel's", "start\nVmRSS:\t    512 kB\nVmRSS:\t    768 kB\n", true},
    {"the memory usage of the process", "process memory usage: 5 KiB\nCPU memory usage: 6 KiB\n",
     true},
    {"pandas' info()", "memory usage: 228.9 MB\nmemory usage: 114.4 MB\n", false},
    {"peaks of queries", "Peak memory usage: 5 MiB.\nPeak memory usage (for query): 9 MiB.\n",
     false},
    {"kernel logs", "memory: usage 9kB, limit 9kB\nmemory: usage 8kB, limit 8kB\n", false},
};

static void test_head(void **state)
{
    const struct head *h = *state;
    const int found = mt_reader_memory_text.probe(h->text, strlen(h->text));
    assert_int_equal(found > 0, h->taken);
}

int main(void)
{
    struct row_tests t = {.n = 0};
    ROWS_ADD(&t, test_text_file, texts);
    ROWS_ADD(&t, test_head, heads);
    return ROWS_RUN(&t, "memory-text");
}
