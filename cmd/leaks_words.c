/* memtool leaks: what its verdicts mean, in its help. */
#include "cmd/by.h"
#include "cmd/leaks.h"

static const struct mt_glossary_entry verdicts[] = {
    {"leak", "allocated in three or more steps, still growing, and older than other blocks of the "
             "site ever get"},
    {"candidate", "may or may not be a leak: too few steps, one ever larger block, optimizer "
                  "state, blocks whose frees may be unrecorded"},
    {"state", "allocated before the recording, in the warm-up, or once and constant since: "
              "parameters, optimizer state"},
    {"last step", "allocated in the last step: gradients, results"},
    {"cache", "alive no longer than freed blocks of its site lived"},
    {0}};
static const struct mt_glossary_entry trends[] = {
    {"rises", "from each run to the next; through all parts of the later half of a recording"},
    {"rose", "at some, and never fell"},
    {"rises with dips",
     "it falls at times, but each quarter of the dumps holds more than the one before"},
    {"came", "nothing at first, then it came, and stayed as it is"},
    {"constant", "the same at all of them"},
    {"up and down", "it rises and falls"},
    {"fell", "at some, and never rose"},
    {0}};
static const struct mt_glossary_entry of_processes_words[] = {
    {"grows", "the least of each part of the window rises, with 95 % confidence, and goes on"},
    {"grows (malloc in use)", "the program has that in blocks of malloc (record --malloc)"},
    {"held by the allocator", "the program's blocks do not grow: malloc keeps what was freed"},
    {"grows outside malloc", "that is in neither: mapped memory, stacks, files"},
    {"flat", "it grows by 1 % of the level at most, 512 KiB, or a tenth of what comes and goes"},
    {"falls", "by more than that"},
    {"cannot tell", "neither is shown: it goes up and down, or grows ever less"},
    {"too short to tell", "fewer than six samples, six steps or three seconds after the warm-up"},
    {"jump", "a sudden rise that is never given back"},
    {"spike", "a short rise that is given back"},
    {0}};
const struct mt_glossary mt_leaks_words[] = {
    {"Verdicts", verdicts, NULL},
    {"Verdicts on processes", of_processes_words, NULL},
    {"Trends, of several runs and of heap logs", trends, NULL},
    MT_WORDS_OF_BY(mt_by_of_blocks),
    {0}};
