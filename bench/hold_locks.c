/* hold_locks FILES PROCESSES LOCK: each process opens FILES descriptions of one file, takes a shared lock (flock) on
 * each where LOCK is 1, prints how many it holds, and waits to be killed. Compiled by bench/locks.py. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

int main(int count, char **words) {
    if (count != 4) return 2;
    for (int left = atoi(words[2]); left > 0; left--)
        if (fork() == 0) {
            int held = 0;
            for (int file = 0; file < atoi(words[1]); file++) {
                int descriptor = open("locked", O_RDWR | O_CREAT, 0600);
                if (descriptor < 0) break;
                held += atoi(words[3]) == 0 || flock(descriptor, LOCK_SH) == 0;
            }
            dprintf(1, "%d\n", held);
            sleep(600);
            _exit(0);
        }
    return 0;
}
