/*
 * replay.c - runs a fuzz target on kept inputs, without a fuzzer: `fuzz_NAME FILE|FOLDER...`
 *
 * Prints each file's name before it runs, so the last line names the one that ended the process.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int replay_file(const char *path)
{
    puts(path);
    fflush(stdout);
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        perror(path);
        return -1;
    }
    struct stat st;
    size_t want = fstat(fileno(f), &st) == 0 ? (size_t)st.st_size : 0;
    /* Exactly as large as the input, so that a read past its end is seen. */
    uint8_t *data = malloc(want ? want : 1);
    size_t n = data != NULL ? fread(data, 1, want, f) : 0;
    fclose(f);
    int rc = -1;
    if (n == want) {
        LLVMFuzzerTestOneInput(data, n);
        rc = 0;
    }
    free(data);
    return rc;
}

static int skip_hidden(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

/* Returns the number of files replayed, -1 when one could not be read. */
static int replay_folder(const char *path)
{
    struct dirent **entries;
    int n = scandir(path, &entries, skip_hidden, alphasort);
    if (n < 0) {
        perror(path);
        return -1;
    }
    int done = 0;
    for (int i = 0; i < n; i++) {
        char file[4096];
        snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name);
        if (done >= 0)
            done = replay_file(file) == 0 ? done + 1 : -1;
        free(entries[i]);
    }
    free(entries);
    return done;
}

int main(int argc, char **argv)
{
    int done = 0;
    for (int i = 1; i < argc; i++) {
        struct stat st;
        int n = stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode) ? replay_folder(argv[i])
                : replay_file(argv[i]) == 0                    ? 1
                                                               : -1;
        if (n < 0)
            return 1;
        done += n;
    }
    printf("%d inputs replayed\n", done);
    return done > 0 ? 0 : 1;
}
