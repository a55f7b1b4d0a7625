/* arc4random_buf() of glibc 2.36, which Debian's libexpat.a asks for: with this the wheel runs on
 * glibc 2.34, too. */
#include <stddef.h>
#include <sys/random.h>
#include <sys/types.h>

void arc4random_buf(void *bytes, size_t n);

void arc4random_buf(void *bytes, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = getrandom((char *)bytes + done, n - done, 0);
        if (got > 0)
            done += (size_t)got;
    }
}
