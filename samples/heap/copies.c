/* What it copies, and says of itself: samples/README.md. gcc -O1 -g -fno-builtin copies.c */
#include <stdlib.h>
#include <string.h>
#include <valgrind/dhat.h>

__attribute__((noinline)) static void copies(char *to, const char *from, int n)
{
    for (int i = 0; i < n; i++)
        memcpy(to, from, 1000);
}

__attribute__((noinline)) static void moves(char *to)
{
    for (int i = 0; i < 7; i++)
        memmove(to, to + 10, 300);
    strcpy(to, "hello");
}

__attribute__((noinline)) static void events(void)
{
    for (int i = 0; i < 5; i++)
        DHAT_AD_HOC_EVENT(3);
}

int main(void)
{
    char *a = calloc(1, 2000), *b = calloc(1, 2000);
    copies(a, b, 50);
    moves(a);
    events();
    DHAT_AD_HOC_EVENT(100);
    free(a);
    free(b);
    return 0;
}
