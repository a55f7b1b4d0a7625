/* formats/rows*.c and lib/input/csv.c: small texts, whole and damaged, and what becomes of them. */
#include "formats/format.h"
#include "lib/input/csv.h"
#include "tests/unit/rows.h"
#include "tests/unit/summed.h"
#include <string.h>

/* ---- events ---- */

#define EVENTS "time,op,address,size,stack\n"
#define LEFT   "note columns_left_out "

static const struct summed_file csvs[] = {
    {"allocated, freed",
     EVENTS "1.5,alloc,0x10,100,main;f\n2,free,0x10,,\n2.25,alloc,16,50,main;g\n",
     " alloc 150 n 2 peak 100 end 50 moments 3 ns 750000000\nmain;f 100/100/0\nmain;g 50/0/50\n"},
    {"moved; moved nowhere; moved from nowhere",
     "op,address,old_address,size,stack\nalloc,0x10,,100,f\nrealloc,0x20,0x10,200,g\n"
     "realloc,0,0x20,300,h\nrealloc,0x30,0x0,5,k\nrealloc,0,0x20,0,h\n",
     " alloc 305 n 3 peak 205 end 5 moments 4 events 5\nf 100/0/0\ng 200/200/0\nk 5/5/5\n"},
    {"without times, further figures",
     "op,address,size,stack\nmalloc,1,10,f\nCALLOC,2,20,f\nfree,1,,\n",
     " alloc 30 n 2 peak 30 end 20 moments 3 events 3\nf 30/30/20\nevents 3\n"},
    {"without addresses", "op,size,stack\n+,10,f\n+,20,g\n-,10,f\n-,5,f\n",
     " alloc 30 n 2 peak 30 end 20 moments 3 events 4\nf 10/10/0\ng 20/20/20\n"
     "note before_trace 1\n"},
    {"without stacks", "op,address,size\nalloc,1,10\n",
     " alloc 10 n 1 peak 10 end 10 outside 10/10/10 moments 1 events 1\n"},
    {"tabs between, a mark in front, capitals, blanks, line ends, a fraction that is none",
     "\xef\xbb\xbfTime_ms\tOp\t size \tStack\r\n1\talloc\t10.0\tf;g\r\n\r\n3\talloc\t5\tf;g\r\n",
     " alloc 15 n 2 peak 15 end 15 moments 2 ns 2000000\nf;g 15/15/15\n"},
    {"quotes, doubled, with commas and line ends",
     "op,size,stack\nalloc,\"10\",\"f<a, b>;g \"\"x\"\"\"\nalloc,5,\"f;\r\ng\"\n",
     " alloc 15 n 2 peak 15 end 15 moments 2 events 2\nf;\"x\" 10/10/10\nf;g 5/5/5\n"},
    {"a size whose fraction is lost", "op,size,stack\nalloc,6.,f\n",
     "error at 14: its size is not a whole number from 0 to 2^60\n"},
    {"a size of less than nothing", "op,size,stack\nalloc,-0,f\n",
     "error at 14: its size is not a whole number from 0 to 2^60\n"},
    {"other columns; one that comes twice",
     "thread,op,size,stack,size,cpu,bytes\n1,alloc,10,f,20,2,3\n",
     " alloc 10 n 1 peak 10 end 10 moments 1 events 1\nf 10/10/10\n" LEFT "4\n"},
    {"earlier times", EVENTS "5,alloc,1,1,f\n4,alloc,2,1,f\n7,alloc,3,1,f\n6,alloc,4,1,f\n",
     " alloc 4 n 4 peak 4 end 4 moments 2 ns 2000000000\nf 4/4/4\nnote clock 2\n"},
    {"times as Python writes them",
     "time,op,size,stack\n0,alloc,1,f\n1.5e-05,alloc,1,f\n"
     "0.000016,alloc,1,f\n1E-9,alloc,1,f\n",
     " alloc 4 n 4 peak 4 end 4 moments 3 ns 16000\nf 4/4/4\nnote clock 1\n"},
    {"no events", EVENTS, " alloc 0 n 0 peak 0 end 0 moments 0 ns 0\nnote no_allocations 1\n"},
    {"an op that is none", EVENTS "1,alloc,1,1,f\n2,steal,1,1,f\n",
     "error at 41: its op is not alloc, free or realloc\n"},
    {"an op that is none, --partial", EVENTS "1,alloc,1,1,f\n2,steal,1,1,f\n",
     " alloc 1 n 1 peak 1 end 1 moments 1 ns 0\nf 1/1/1\nnote cut 1\n"},
    {"no size", EVENTS "1,alloc,1,,f\n",
     "error at 27: its size is not a whole number from 0 to 2^60\n"},
    {"a size below 0", EVENTS "1,alloc,1,-1,f\n",
     "error at 27: its size is not a whole number from 0 to 2^60\n"},
    {"a size that is no whole one", EVENTS "1,alloc,1,1.5,f\n",
     "error at 27: its size is not a whole number from 0 to 2^60\n"},
    {"no address", EVENTS "1,alloc,,1,f\n",
     "error at 27: its address is neither a number nor one that begins with 0x\n"},
    {"an address without 0x", EVENTS "1,alloc,7f10,1,f\n",
     "error at 27: its address is neither a number nor one that begins with 0x\n"},
    {"no time", EVENTS ",alloc,1,1,f\n", "error at 27: its time is not a number\n"},
    {"a time of day", EVENTS "12:30,alloc,1,1,f\n", "error at 27: its time is not a number\n"},
    {"an rss with an exponent", "op,size,stack,rss\nalloc,1,f,1000\nalloc,1,f,9.5e6\n",
     "error at 33: its rss is not a whole number from 0 to 2^60\n"},
    {"an rss below 0", "op,size,stack,rss\nalloc,1,f,-7\n",
     "error at 18: its rss is not a whole number from 0 to 2^60\n"},
    {"an rss that is none", "op,size,stack,rss\nalloc,1,f,xyz\n",
     "error at 18: its rss is not a whole number from 0 to 2^60\n"},
    {"an rss here and there", "op,size,stack,rss\nalloc,1,f,\nalloc,1,f,9.0\n",
     " alloc 2 n 2 peak 2 end 2 moments 2 events 2\nf 2/2/2\n"},
    {"a realloc of nothing", EVENTS "1,realloc,1,1,f\n",
     "error at 27: a realloc without the old_address that it frees\n"},
    {"too many values", EVENTS "1,alloc,1,1,f,g\n",
     "error at 27: it does not have as many values as the first line has names\n"},
    {"too few values", EVENTS "1,alloc,1,1\n",
     "error at 27: it does not have as many values as the first line has names\n"},
    {"a quote within a value", EVENTS "1,alloc,1,1,f \"g\"\n",
     "error at 27: a quote inside of a field that does not begin with one\n"},
    {"something behind a quote", EVENTS "1,alloc,1,1,\"f\" g\n",
     "error at 27: something follows a field's closing quote\n"},
    {"a quote that is not closed", EVENTS "1,alloc,1,1,\"f\n2,alloc,1,1,f\n",
     "error at 27: ends early, or a quote is not closed\n"},
    {"cut", EVENTS "1,alloc,1,1,f\n2,alloc,1,1",
     "error at 52: ends early: its last line has no end\n"},
    {"cut in the first line", "time,op,size,sta",
     "error at -1: its columns are not those of events, sums or a series\n"},
    {"columns of nothing", "time,stack\n1,f\n",
     "error at -1: its columns are not those of events, sums or a series\n"},
    /* sums */
    {"sums: what is alive, if nothing is said",
     "stack,bytes,blocks\nmain;f,100,2\nmain;f,1,1\n,5,1\n",
     " alloc ? n ? peak ? end 106 outside 0/0/5 no time 0\nmain;f 0/0/101\n"
     "note values_unsaid 1\n"},
    {"sums, --values allocated", "stack,bytes,blocks\nmain;f,100,2\n",
     " alloc 100 n 2 peak ? end ? no time 0\nmain;f 100/0/0\n"},
    {"sums of all kinds",
     "stack,alloc_b,alloc_n,at_peak_b,at_peak_n,at_end_b,at_end_n\nf,100,10,50,5,20,2\ng,1,1,1,1,1,"
     "1\n",
     " alloc 101 n 11 peak 51 end 21 no time 0\nf 100/50/20\ng 1/1/1\n"},
    {"a figure that is missing once is not known", "stack,alloc_b,at_end_b\nf,100,20\ng,1,\n",
     " alloc 101 n ? peak ? end ? no time 0\nf 100/0/0\ng 1/0/0\n"},
    {"temporary ones, further figures", "stack,alloc_b,temporary_b,temporary_n\nf,100,20,3\n",
     " alloc 100 n ? peak ? end ? no time 0\nf 100/0/0\nevents 1\ntemporary_b  20\ntemporary_n  "
     "3\n"},
    {"no sums", "stack,at_end_b\n", " alloc ? n ? peak ? end 0 no time 0\nnote no_allocations 1\n"},
    {"bytes beside what they would be", "stack,bytes,blocks,at_end_b\nf,10,2,20\ng,,,7\n",
     " alloc ? n ? peak ? end 27 no time 0\nf 0/0/20\ng 0/0/7\n" LEFT "2\n"},
    {"bytes beside others", "stack,alloc_b,bytes\nf,100,20\n",
     " alloc 100 n ? peak ? end 20 no time 0\nf 100/0/20\nnote values_unsaid 1\n"},
    {"bytes beside what they would be, --values allocated",
     "stack,bytes,alloc_b,at_end_b\nf,9,100,20\n",
     " alloc 100 n ? peak ? end 20 no time 0\nf 100/0/20\n" LEFT "1\n"},
    {"bytes beside others, --values allocated", "stack,bytes,blocks,at_end_b\nf,100,5,20\n",
     " alloc 100 n 5 peak ? end 20 no time 0\nf 100/0/20\n"},
    {"blocks beside what they would be, --values allocated",
     "stack,bytes,blocks,alloc_n\nf,100,5,4\n",
     " alloc 100 n 4 peak ? end ? no time 0\nf 100/0/0\n" LEFT "1\n"},
    {"bytes whose blocks have their name, --values allocated", "stack,bytes,alloc_n\nf,100,4\n",
     " alloc 100 n 4 peak ? end ? no time 0\nf 100/0/0\n"},
    {"blocks without bytes", "stack,alloc_b,blocks\nf,100,4\n",
     " alloc 100 n ? peak ? end ? no time 0\nf 100/0/0\n" LEFT "1\n"},
    {"a sum that is no number", "stack,at_end_b\nf,1\ng,x\n",
     "error at 19: a figure is not a whole number from 0 to 2^60\n"},
    /* series */
    {"a series", "time,bytes\n1,100\n2,300\n4,200\n",
     " alloc ? n ? peak 300 end 200 outside 0/300/200 moments 3 ns 3000000000\nnote moments 3\n"},
    {"a series of stacks", "time,stack,bytes,blocks\n1,f,100,1\n1,g,50,1\n2,g,500,2\n2,,5,1\n",
     " alloc ? n ? peak 505 end 505 outside 0/5/5 moments 2 ns 1000000000\ng 0/500/500\nnote "
     "moments 2\n"},
    {"a series, the newest first", "time,bytes,stack\n3,300,f\n2,200,f\n1,400,f\n",
     " alloc ? n ? peak 400 end 300 moments 3 ns 2000000000\nf 0/400/300\nnote moments 3\n"},
    {"a series by stack", "time,bytes,stack\n1,100,f\n2,200,f\n1,50,g\n2,60,g\n",
     " alloc ? n ? peak 260 end 260 moments 2 ns 1000000000\nf 0/200/200\ng 0/60/60\n"
     "note moments 2\n"},
    {"a series without stacks has a moment for each row", "time,bytes\n2,30\n1,10\n1,20\n1,15\n",
     " alloc ? n ? peak 30 end 30 outside 0/30/30 moments 4 ns 1000000000\nnote moments 4\n"},
    {"events of two processes with blocks at one address",
     "pid,op,address,size\n7,alloc,1,10\n8,alloc,1,20\n",
     " alloc 30 n 2 peak 20 end 20 outside 30/20/20 moments 2 events 2\n"
     "note replaced 1\nnote processes 2\n" LEFT "1\n"},
    {"events of two processes that do not meet",
     "Rank,op,address,size\n0,alloc,1,10\n0,free,1,\n1,alloc,1,20\n",
     " alloc 30 n 2 peak 20 end 20 outside 30/20/20 moments 3 events 3\n" LEFT "1\n"},
    {"events of a process that frees its copy of what another has",
     "pid,op,address,size\n7,alloc,1,10\n7,alloc,2,5\n8,alloc,9,1\n8,free,9,\n8,free,1,\n",
     " alloc 16 n 3 peak 16 end 5 outside 16/16/5 moments 5 events 5\nnote processes 2\n" LEFT
     "1\n"},
    {"events of two processes, of which one frees what is older",
     "pid,op,address,size\n7,alloc,1,10\n8,alloc,2,5\n8,free,9,\n8,free,2,\n",
     " alloc 15 n 2 peak 15 end 10 outside 15/15/10 moments 3 events 4\nnote before_trace 1\n" LEFT
     "1\n"},
    {"events of a process that moves its copy of what another has",
     "pid,op,address,old_address,size\n7,alloc,1,,10\n8,alloc,2,,5\n7,realloc,3,2,6\n",
     " alloc 21 n 3 peak 16 end 16 outside 21/16/16 moments 3 events 3\nnote processes 2\n" LEFT
     "1\n"},
    {"events of one process that has a rank, too",
     "pid,rank,op,address,size\n7,0,alloc,1,10\n7,0,alloc,1,20\n",
     " alloc 30 n 2 peak 20 end 20 outside 30/20/20 moments 2 events 2\n"
     "note replaced 1\n" LEFT "2\n"},
    {"a series of two processes, blanks around names", "time, pid, bytes\n1,7,100\n1,8,300\n",
     " alloc ? n ? peak 300 end 300 outside 0/300/300 moments 2 ns 0\n"
     "note processes 2\nnote moments 2\n" LEFT "1\n"},
    {"a series of two processes", "time,pid,bytes\n1,7,100\n1,8,300\n",
     " alloc ? n ? peak 300 end 300 outside 0/300/300 moments 2 ns 0\n"
     "note processes 2\nnote moments 2\n" LEFT "1\n"},
    {"sums of two processes", "pid,stack,bytes\n7,f,100\n8,f,300\n",
     " alloc ? n ? peak ? end 400 no time 0\nf 0/0/400\n" LEFT "1\nnote values_unsaid 1\n"},
    {"a series of nothing", "time,bytes\n", "error at -1: a series without rows\n"},
    {"a series, cut, --partial", "time,bytes\n1,100\n2,30",
     " alloc ? n ? peak 100 end 100 outside 0/100/100 moments 1 ns 0\nnote cut 1\nnote moments "
     "1\n"},
};

static void test_csv_rows(void **state)
{
    summed_test(*state, &mt_reader_csv);
}

/* ---- as JSON ---- */

static const struct summed_file jsons[] = {
    {"allocated, freed; texts and numbers",
     "{\"time\": 1, \"op\": \"alloc\", \"address\": \"0x10\", \"size\": 100, \"stack\": "
     "\"main;f\"}\n"
     "{\"op\":\"free\",\"time\":1.25,\"address\":16}\n"
     "{\"time\":1.5e0,\"op\":\"alloc\",\"address\":17,\"size\":\"5\",\"stack\":null}",
     " alloc 105 n 2 peak 100 end 5 outside 5/0/5 moments 3 ns 500000000\nmain;f 100/100/0\n"},
    {"stacks that are lists",
     "{\"stack\":[\"main "
     "(a.c:1)\",\"f\",{\"name\":\"g\",\"file\":\"b.c\",\"line\":2,\"object\":\"l.so\",\"x\":[1]},"
     "{\"name\":\"h\",\"file\":\"a.py\",\"line\":7},\"\"],\"at_end_b\":5}\n",
     " alloc ? n ? peak ? end 5 no time 0\nmain;f;g;a.py:7 h 0/0/5\n"},
    {"names with escapes; other keys",
     "{\"stack\":\"m\\u0061in;f "
     "\\\"x\\\"\",\"at_end_b\":5,\"thread\":1,\"at\":{\"cpu\":[2]}}\n{\"stack\":\"g\",\"at_end_b\":"
     "1,\"gpu\":0}",
     " alloc ? n ? peak ? end 6 no time 0\nmain;\"x\" 0/0/5\ng 0/0/1\n" LEFT "3\n"},
    {"a series of two processes",
     "{\"time_ns\":5,\"bytes\":10,\"pid\":7}\n{\"pid\":8,\"time_ns\":7,\"bytes\":8}\n",
     " alloc ? n ? peak 10 end 8 outside 0/10/8 moments 2 ns 2\nnote processes 2\n"
     "note moments 2\n" LEFT "1\n"},
    {"a series", "{\"time_ns\":5,\"bytes\":10}\n{\"time_ns\":7,\"bytes\":8}\n",
     " alloc ? n ? peak 10 end 8 outside 0/10/8 moments 2 ns 2\nnote moments 2\n"},
    {"a row that does not fit",
     "{\"op\":\"alloc\",\"size\":1,\"stack\":\"f\"}\n{\"op\":\"alloc\",\"stack\":\"f\"}",
     "error at 36: its size is not a whole number from 0 to 2^60\n"},
    {"a row that does not fit, --partial",
     "{\"op\":\"alloc\",\"size\":1,\"stack\":\"f\"}\n{\"op\":\"alloc\",\"stack\":\"f\"}",
     " alloc 1 n 1 peak 1 end 1 moments 1 events 1\nf 1/1/1\nnote cut 1\n"},
    {"a value that is a list", "{\"op\":\"alloc\",\"size\":[1],\"stack\":\"f\"}",
     "error at 0: a value is a list or an object\n"},
    {"a function that is a number", "{\"op\":\"alloc\",\"size\":1,\"stack\":[1]}",
     "error at 0: a function of its stack is neither a text nor an object\n"},
    {"no object", "{\"op\":\"alloc\",\"size\":1,\"stack\":\"f\"}\n[1]",
     "error at 36: this is no JSON of that kind: an object is missing\n"},
    {"cut", "{\"op\":\"alloc\",\"size\":1,\"stack\":\"f\"}\n{\"op\":\"all",
     "error at 46: ends early: the file was cut off\n"},
    {"cut, --partial", "{\"op\":\"alloc\",\"size\":1,\"stack\":\"f\"}\n{\"op\":\"all",
     " alloc 1 n 1 peak 1 end 1 moments 1 events 1\nf 1/1/1\nnote cut 1\n"},
    {"cut in the first row", "{\"op\":\"alloc\",\"size\":1,",
     "error at 23: ends early: the file was cut off\n"},
    {"keys of nothing", "{\"a\":1}\n",
     "error at -1: its columns are not those of events, sums or a series\n"},
    {"a free first",
     "{\"op\":\"free\",\"address\":5}\n"
     "{\"op\":\"alloc\",\"address\":1,\"size\":10,\"stack\":\"f\"}\n",
     " alloc 10 n 1 peak 10 end 10 moments 1 events 2\nf 10/10/10\nnote before_trace 1\n"},
    {"a free first, without an address or a size", "{\"op\":\"free\",\"stack\":\"f\"}\n",
     "error at 0: its size is not a whole number from 0 to 2^60\n"},
    {"a series whose stacks come later",
     "{\"time\":0,\"bytes\":0}\n{\"time\":1,\"bytes\":5}\n"
     "{\"time\":1,\"bytes\":100,\"stack\":\"f\"}\n{\"time\":1,\"bytes\":50,\"stack\":\"g\"}\n",
     " alloc ? n ? peak 155 end 155 outside 0/5/5 moments 2 ns 1000000000\nf 0/100/100\n"
     "g 0/50/50\nnote moments 2\n"},
    {"a time that comes later",
     "{\"op\":\"alloc\",\"size\":1,\"stack\":\"f\"}\n"
     "{\"op\":\"alloc\",\"size\":1,\"stack\":\"f\",\"time\":5}\n",
     "error at 36: it has a time, which rows before it lack: all have one or none\n"},
    {"a time that comes later, --partial",
     "{\"op\":\"alloc\",\"size\":1,\"stack\":\"f\"}\n"
     "{\"op\":\"alloc\",\"size\":1,\"stack\":\"f\",\"time\":5}\n",
     " alloc 1 n 1 peak 1 end 1 moments 1 events 1\nf 1/1/1\nnote cut 1\n"},
    {"an address that comes later",
     "{\"op\":\"alloc\",\"size\":1,\"stack\":\"f\"}\n"
     "{\"op\":\"alloc\",\"size\":1,\"stack\":\"f\",\"address\":5}\n",
     "error at 36: it has an address, which rows before it lack: all have one or none\n"},
    {"values that are null are none",
     "{\"op\":\"alloc\",\"size\":1,\"stack\":\"f\"}\n"
     "{\"op\":\"alloc\",\"size\":1,\"stack\":\"f\",\"address\":null,\"time\":null}\n",
     " alloc 2 n 2 peak 2 end 2 moments 2 events 2\nf 2/2/2\n"},
    {"an op in a series",
     "{\"time\":1,\"bytes\":1}\n"
     "{\"time\":1,\"op\":\"alloc\",\"size\":1,\"stack\":\"f\"}\n",
     "error at 21: its columns are of another kind of rows than those before it\n"},
    {"a time in sums", "{\"stack\":\"f\",\"bytes\":1}\n{\"stack\":\"f\",\"bytes\":1,\"time\":2}\n",
     "error at 24: its columns are of another kind of rows than those before it\n"},
    {"a figure that comes later",
     "{\"stack\":\"f\",\"at_end_b\":1}\n{\"stack\":\"f\",\"at_end_b\":2,\"alloc_b\":9}\n",
     " alloc ? n ? peak ? end 3 no time 0\nf 0/0/3\n" LEFT "1\n"},
    {"bytes that come later, beside what they would be",
     "{\"stack\":\"f\",\"at_end_b\":1}\n{\"stack\":\"f\",\"at_end_b\":2,\"bytes\":9}\n",
     " alloc ? n ? peak ? end 3 no time 0\nf 0/0/3\n" LEFT "1\n"},
    {"what bytes are comes later",
     "{\"stack\":\"f\",\"bytes\":1}\n{\"stack\":\"f\",\"bytes\":9,\"at_end_b\":2}\n",
     "error at 24: it names the figure that bytes or blocks of rows before it are\n"},
    {"columns that are left out come later",
     "{\"op\":\"alloc\",\"size\":1,\"stack\":\"f\"}\n"
     "{\"op\":\"alloc\",\"size\":1,\"stack\":\"f\",\"bytes\":5}\n",
     " alloc 2 n 2 peak 2 end 2 moments 2 events 2\nf 2/2/2\n" LEFT "1\n"},
};

static void test_json_rows(void **state)
{
    summed_test(*state, &mt_reader_jsonl);
}

static void test_cuts(void **state)
{
    static const char csv[] = "op,size,stack\nalloc,12,\"f;\ng\"\nfree,12,\"f;\ng\"\n";
    static const char json[] = "{\"op\":\"alloc\",\"size\":1,\"stack\":\"f\"}\n"
                               "{\"op\":\"free\",\"size\":1,\"stack\":[\"f\"]}\n";
    static const size_t csv_whole[] = {14, 30}, json_whole[] = {0, 35, 36, 72};
    (void)state;
    summed_test_cuts(csv, &mt_reader_csv, csv_whole, 2);
    summed_test_cuts(json, &mt_reader_jsonl, json_whole, 4);
}

/* ---- records ---- */

static const struct records {
    const char *name, *text, *want; /* want: values in [], a record in each line */
} records[] = {
    {"plain", "a,b\nc,\n,\n", "[a][b]\n[c][]\n[][]\n"},
    {"empty lines are none", "\na\r\n\r\nb\n", "[a]\n[b]\n"},
    {"an empty value in quotes is one", "\"\"\n", "[]\n"},
    {"quotes", "\"a,b\",\"c\"\"d\"\"\"\n\"x\ny\",z\n", "[a,b][c\"d\"]\n[x\ny][z]\n"},
    {"line ends in quotes", "\"a\r\n\r\nb\"\r\nc\n", "[a\n\nb]\n[c]\n"},
    {"not closed", "\"a\nb\n", "wrong cut\n"},
    {"no end", "a,b", "[a][b] cut\n"},
    {"wrong, then right", "a\"b\"\n\"a\"b\nc\n", "wrong\nwrong\n[c]\n"},
};

static void test_records(void **state)
{
    const struct records *t = *state;
    struct mt_csv csv = {.separator = ','};
    struct mt_err err = MT_ERR_INIT;
    struct mt_buf out = {0};
    bool any = true;
    assert_int_equal(mt_stream_open_memory(t->text, strlen(t->text), &csv.lines.in, &err), MT_OK);
    while (mt_csv_next(&csv, &any, &err) == MT_OK && any) {
        for (size_t i = 0; i < csv.fields.n && !csv.wrong; i++)
            mt_buf_addf(&out, "[%.*s]", (int)csv.fields.v[i].n, csv.fields.v[i].s);
        mt_buf_addf(&out, "%s%s\n", csv.wrong ? "wrong" : "", csv.cut ? " cut" : "");
    }
    assert_int_equal(err.code, MT_OK);
    assert_string_equal(out.s, t->want);
    mt_buf_free(&out);
    mt_csv_free(&csv);
    mt_stream_close(csv.lines.in);
}

/* ---- what is taken for rows ---- */

static const struct looks {
    const char *name, *text;
    int csv, jsonl;
} looks[] = {
    {"events", "time,op,size,stack\n", 91, 0},
    {"tabs", "op\tsize\taddress\n", 91, 0},
    {"sums", "\"stack\",\"bytes\"\n", 91, 0},
    {"a series", "Time , Bytes", 91, 0},
    {"columns of nothing", "time,stack\n", 25, 0},
    {"other columns", "name,value\n", 0, 0},
    {"JSON", "\n {\"op\":\"alloc\",\"size\":1,\"x\":{},\"stack\":[]}\n", 0, 91},
    {"other JSON", "{\"a\":1}\n", 0, 0},
    {"JSON, a free of an address", "{\"op\":\"free\",\"address\":1}\n", 0, 91},
    {"JSON, a free of a stack", "{\"stack\":[],\"op\":\"-\"}\n", 0, 91},
    {"JSON, no free", "{\"op\":\"read\",\"address\":1}\n", 0, 0},
    {"JSON, cut", "{\"op\":\"alloc\",\"size\":1,\"stack\":\"f", 0, 91},
    {"nothing", "", 0, 0},
};

static void test_looks(void **state)
{
    const struct looks *l = *state;
    assert_int_equal(mt_reader_csv.probe(l->text, strlen(l->text)), l->csv);
    assert_int_equal(mt_reader_jsonl.probe(l->text, strlen(l->text)), l->jsonl);
}

int main(void)
{
    struct row_tests t = {0};
    ROWS_ADD(&t, test_csv_rows, csvs);
    ROWS_ADD(&t, test_json_rows, jsons);
    ROWS_ADD(&t, test_records, records);
    ROWS_ADD(&t, test_looks, looks);
    t.v[t.n++] = (struct CMUnitTest)cmocka_unit_test(test_cuts);
    return ROWS_RUN(&t, "rows");
}
