/* Threads that allocate and free all the time, and a process that forks meanwhile: `stress MS`.
 * Children allocate, too, and every other one becomes `true`. Exit 0 if all went well. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int stop;

static void *work(void *of)
{
    unsigned seed = (unsigned)(size_t)of;
    while (!stop) {
        void *p[64];
        for (int i = 0; i < 64; i++)
            p[i] = malloc(rand_r(&seed) % 9000 + 1);
        for (int i = 0; i < 64; i++)
            free(p[i]);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct timespec begun, now;
    pthread_t threads[4];
    long ms = argc > 1 ? atol(argv[1]) : 1000;
    int bad = 0, how;
    for (size_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    clock_gettime(CLOCK_MONOTONIC, &begun);
    for (int n = 0;; n++) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        if ((now.tv_sec - begun.tv_sec) * 1000 + (now.tv_nsec - begun.tv_nsec) / 1000000 > ms)
            break;
        pid_t pid = fork();
        if (pid == 0) {
            free(memset(malloc(100000), 1, 100000));
            if (n % 2)
                execlp("true", "true", (char *)NULL);
            _exit(0);
        }
        bad |= waitpid(pid, &how, 0) != pid || how != 0;
    }
    stop = 1;
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return bad;
}
