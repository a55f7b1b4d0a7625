/* formats/ltrace.c: small logs, whole and damaged, and what becomes of them. */
#include "formats/format.h"
#include "tests/unit/rows.h"
#include "tests/unit/summed.h"
#include <string.h>

static const struct summed_file files[] = {
    {"malloc and free", "malloc(8) = 0x10\nmalloc(4) = 0x20\nfree(0x10) = <void>\n",
     " alloc 12 n 2 peak 12 end 4 outside 12/12/4 moments 3 events 3\n"},
    {"who calls", "app->calloc(3, 8)    = 0x10\nlibx.so.1->malloc(4) = 0x20\n",
     " alloc 28 n 2 peak 28 end 28 moments 2 events 2\n[app] 24/24/24\n[libx.so.1] 4/4/4\n"},
    {"the family",
     "memalign(64, 1) = 0x10\naligned_alloc(64, 2) = 0x20\nvalloc(4) = 0x30\nreallocarray(0, 2, 4) "
     "= 0x40\n_Znwm(16, 7, 7) = 0x50\noperator new[](unsigned long)(32, 7) = 0x60\n",
     " alloc 63 n 6 peak 63 end 63 outside 63/63/63 moments 6 events 6\n"},
    {"realloc, one that fails, one that frees",
     "realloc(nil, 8) = 0x10\nrealloc(0x10, 16) = 0x20\nrealloc(0x20, 99) = 0\nmalloc(2) = "
     "0x30\nrealloc(0x30, 0) = nil\n",
     " alloc 26 n 3 peak 18 end 16 outside 26/18/16 moments 4 events 5\n"},
    {"what a call calls itself",
     "7 _Znwm(8, 1 <unfinished ...>\n7 malloc(8) = 0x10\n7 <... _Znwm resumed> ) = 0x10\n7 "
     "_ZdlPv(0x10 <unfinished ...>\n7 free(0x10) = <void>\n7 <... _ZdlPv resumed> ) = 0\n",
     " alloc 8 n 1 peak 8 end 0 outside 8/8/0 moments 2 events 2\n"},
    {"what another thread does meanwhile",
     "7 malloc(8 <unfinished ...>\n8 malloc(4) = 0x20\n7 <... malloc resumed> ) = 0x10\n7 "
     "free(0x10 <unfinished ...>\n8 malloc(2) = 0x10\n7 <... free resumed> ) = <void>\n",
     " alloc 14 n 3 peak 12 end 6 outside 14/12/6 moments 4 events 4\n"},
    {"what realloc gives back before it returns",
     "7 malloc(8) = 0x10\n7 realloc(0x10, 16 <unfinished ...>\n8 malloc(4) = 0x10\n7 <... realloc "
     "resumed> ) = 0x20\n",
     " alloc 28 n 3 peak 20 end 20 outside 28/20/20 moments 3 events 3\n"},
    {"damaged sizes",
     "7 malloc(8) = 0x10\n7 malloc(1,8) = 0x20\n7 malloc(1#8) = 0x30\n7 calloc(2, 3.) = 0x40\n"
     "7 _Znwm(2, 1, 0) = 0x50\n",
     " alloc 10 n 2 peak 10 end 10 outside 10/10/10 moments 2 events 2\nnote skipped 3\n"},
    {"damaged times",
     "7 1.0 a->malloc(8) = 0x10\n7 1.x a->malloc(4) = 0x20\n7# 1.0 a->free(0x10)\n",
     " alloc 8 n 1 peak 8 end 8 moments 1 ns 0\n[a] 8/8/8\nnote skipped 2\n"},
    {"damaged addresses",
     "7 malloc(8) = 0x10\n7 malloc(8) = 0x1x0\n7 malloc(8) = 0x2-0\n7 free(0x1z)\n",
     " alloc 8 n 1 peak 8 end 8 outside 8/8/8 moments 1 events 1\nnote skipped 3\n"},
    {"a realloc that fails, or leaves it there, late",
     "7 malloc(8) = 0x10\n7 realloc(0x10, 99 <unfinished ...>\n8 malloc(4) = 0x20\n7 <... realloc "
     "resumed> ) = 0\n7 realloc(0x10, 16 <unfinished ...>\n7 <... realloc resumed> ) = 0x10\n",
     " alloc 28 n 3 peak 20 end 20 outside 28/20/20 moments 3 events 4\n"},
    {"the end of a call is missing",
     "7 malloc(8 <unfinished ...>\n7 malloc(4) = 0x20\n7 malloc(2 <unfinished ...>\n7 <... malloc "
     "resumed> ) = 0x30\n7 puts(\"x\") = 2\n8 malloc(1) = 0x40\n",
     " alloc 1 n 1 peak 1 end 1 outside 1/1/1 moments 1 events 1\nnote skipped 2\n"},
    {"a thread that ends in a call, and another of its number",
     "7 malloc(8 <unfinished ...>\n7 malloc(4) = 0x20\n7 +++ killed by SIGKILL +++\n7 malloc(1) = "
     "0x40\n",
     " alloc 1 n 1 peak 1 end 1 outside 1/1/1 moments 1 events 1\nnote skipped 1\nnote processes "
     "2\n"},
    {"a thread that goes on when another has ended",
     "7 malloc(1) = 0x10\n8 malloc(2) = 0x20\n8 +++ exited (status 0) +++\n7 free(0x10) = <void>\n"
     "8 malloc(4) = 0x40\n8 +++ exited (status 0) +++\n7 +++ exited (status 0) +++\n",
     " alloc 7 n 3 peak 6 end 6 outside 7/6/6 moments 4 events 4\n"},
    {"two logs, one behind the other",
     "7 malloc(1) = 0x10\n7 +++ exited (status 0) +++\n7 malloc(2) = 0x20\n7 malloc(2) = 0x30\n"
     "7 +++ exited (status 0) +++\n",
     " alloc 5 n 3 peak 5 end 5 outside 5/5/5 moments 3 events 3\nnote processes 2\n"},
    {"times",
     "7 1795382665.5 malloc(8) = 0x10\n7 1795382665.75 puts(\"free(0x10) = <void>\") = 3\n",
     " alloc 8 n 1 peak 8 end 8 outside 8/8/8 moments 1 ns 250000000\n"},
    {"blocks whose place is not in the log", "malloc(1) = 0x10\nstrdup(\"hello\") = 0x20\n",
     " alloc 1 n 1 peak 1 end 1 outside 1/1/1 moments 1 events 1\nnote skipped 1\n"},
    {"a line that another process's end breaks",
     "7 malloc(8 <no return ...>\n8 +++ exited (status 0) +++\n7 <... malloc resumed> ) = 0x10\n7 "
     "free(0x10 <no return ...>\n9 +++ exited (status 0) +++\n7 <... free resumed> ) = <void>\n",
     " alloc 8 n 1 peak 8 end 0 outside 8/8/0 moments 2 events 2\n"},
    {"calls that another thread printed into, whose sizes may end in digits that are printed",
     "7 malloc(8) = 0x10\n7 malloc(4\n)     = 0x20\n7 malloc(42 done\n) = 0x30\n"
     "7 malloc(12 bytes) = 0x40\n7 malloc(9, ok\n) = 0x50\n7 malloc(31 x <unfinished ...>\n"
     "7 <... malloc resumed> ) = 0x60\n7 malloc(2 <unfinished ...>\n7 <... malloc resumed> 3\n"
     ") = 0x70\n7 free(0x10\n) = <void>\n7 free(0x204\n) = <void>\n",
     " alloc 8 n 1 peak 8 end 0 outside 8/8/0 moments 2 events 2\nnote skipped 7\n"},
    {"calls behind what another thread printed",
     "[pid 7] a->malloc(8) = 0x10\n(0)[pid 7] a->malloc(4) = 0x20\nready...malloc(2) = 0x30\n"
     "[pid 7] a->malloc(1 <unfinished ...>\n12%[pid 7] <... malloc resumed> ) = 0x40\n"
     "xmalloc(9) = 0x50\n[pid 7] puts(\"malloc(8) = 0x10\") = 17\nf(x) = 3\n",
     " alloc 8 n 1 peak 8 end 8 moments 1 events 1\n[a] 8/8/8\nnote skipped 3\n"},
    {"the same of names that are demangled (-C)",
     "a->operator new(unsigned long)(8) = 0x10\nhi operator new(unsigned long)(4) = 0x20\n"
     "hi operator delete[](void*)(0x10 <unfinished ...>\n"
     "50%operator new[](unsigned long, std::nothrow_t const&)(8, 0x1) = 0x30\n"
     "new operator (8) = 0x40\nmy_operator new_(8) = 0x40\n",
     " alloc 8 n 1 peak 8 end 8 moments 1 events 1\n[a] 8/8/8\nnote skipped 3\n"},
    {"an operator new that throws",
     "7 _Znam(0x4000000000000000, 1 <unfinished ...>\n7 malloc(8) = 0x10\n7 _Znam(99, 1 "
     "<unfinished ...>\n7 __cxa_begin_catch(0x99) = 0x98\n7 malloc(4) = 0x20\n",
     " alloc 12 n 2 peak 12 end 12 outside 12/12/12 moments 2 events 2\nnote skipped 1\n"},
    {"a call in a call that does not return",
     "7 _Znwm(8, 1 <unfinished ...>\n7 malloc(8 <unfinished ...>\n7 <... _Znwm resumed> ) = 0x10\n"
     "7 malloc(4) = 0x20\n",
     " alloc 12 n 2 peak 12 end 12 outside 12/12/12 moments 2 events 2\n"},
    {"the first thread, which ends last, has no call before others end",
     "9 malloc(1) = 0x10\n9 +++ exited (status 0) +++\n8 malloc(2) = 0x20\n8 +++ exited (status 0) "
     "+++\n7 free(0x10) = <void>\n7 +++ exited (status 0) +++\n",
     " alloc 3 n 2 peak 3 end 2 outside 3/3/2 moments 3 events 3\n"},
    {"a child that goes on when its parent has ended",
     "7 malloc(1) = 0x10\n8 malloc(2) = 0x20\n7 +++ exited (status 0) +++\n8 free(0x10) = <void>\n"
     "8 malloc(4) = 0x30\n8 +++ exited (status 0) +++\n",
     " alloc 7 n 3 peak 6 end 6 outside 7/6/6 moments 4 events 4\nnote processes 2\n"},
    {"a child that is not followed", "malloc(1) = 0x10\n--- SIGCHLD (Child exited) ---\n",
     " alloc 1 n 1 peak 1 end 1 outside 1/1/1 moments 1 events 1\n"},
    {"children", "7 malloc(1) = 0x10\n8 free(0x10) = <void>\n7 --- SIGCHLD (Child exited) ---\n",
     " alloc 1 n 1 peak 1 end 0 outside 1/1/0 moments 2 events 2\nnote processes 2\n"},
    {"children that the program forks, without signals (-b)",
     "7 malloc(1) = 0x10\n7 fork() = 8\n8 <... fork resumed> ) = 0\n8 free(0x10) = <void>\n",
     " alloc 1 n 1 peak 1 end 0 outside 1/1/0 moments 2 events 2\nnote processes 2\n"},
    {"another program in its place", "malloc(1) = 0x10\n--- Called exec() ---\nmalloc(2) = 0x20\n",
     " alloc 3 n 2 peak 3 end 3 outside 3/3/3 moments 2 events 2\nnote processes 2\n"},
    {"sizes that cannot be true",
     "malloc(-1) = 0x10\nfree(0) = <void>\ncalloc(93871973752336, 630) = 0x20\n",
     " alloc 0 n 0 peak 0 end 0 moments 0 events 1\nnote skipped 2\nnote no_allocations 1\n"},
    {"what is older", "free(0x10) = <void>\n",
     " alloc 0 n 0 peak 0 end 0 moments 0 events 1\nnote before_trace 1\nnote no_allocations 1\n"},
    {"nothing that allocates", "puts(\"x\") = 2\n", "error at -1: no call in it allocates\n"},
    {"cut", "malloc(8) = 0x10\nmalloc(4) = 0x2",
     "error at 32: its last line does not end: the file was cut off, or lacks only its last "
     "newline\n"},
    {"cut, --partial", "malloc(8) = 0x10\nmalloc(4) = 0x2",
     " alloc 8 n 1 peak 8 end 8 outside 8/8/8 moments 1 events 1\nnote cut 1\n"},
};

static void test_files(void **state)
{
    summed_test(*state, &mt_reader_ltrace);
}

static const struct looks {
    const char *name, *text;
    int score;
} looks[] = {
    {"a call that allocates", "malloc(8) = 0x10\n", 92},
    {"with all before it",
     "puts(\"x\") = 2\n[pid 7] 11:59:59.5 [0x401136] a->free(0x10)   = <void>\n", 92},
    {"the rest of one", "7 1.5 malloc(8 <unfinished ...>\n7 1.6 <... malloc resumed> ) = 0x10\n",
     92},
    {"the rest of other calls", "7 <... mmap resumed>) = 0x10\n7 <... malloc resumed> )\n", 0},
    {"other calls", "puts(\"x\") = 2\n", 0},
    {"system calls", "mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, 3, 0) = 0x10\n", 0},
    {"a part of one", "malloc(8) = 0x", 0},
    {"text", "malloc(8) = what?\nfree(beer) = good\n", 0},
    {"nothing", "", 0},
};

static void test_looks(void **state)
{
    const struct looks *l = *state;
    assert_int_equal(mt_reader_ltrace.probe(l->text, strlen(l->text)), l->score);
}

int main(void)
{
    struct row_tests t = {0};
    ROWS_ADD(&t, test_files, files);
    ROWS_ADD(&t, test_looks, looks);
    return ROWS_RUN(&t, "ltrace");
}
