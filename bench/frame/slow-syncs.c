/* Adds the time in BENCH_SYNC_DELAY_US to each fsync and fdatasync of the process it is preloaded into. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

static int delayed(const char *name, int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  int result = real(fd);
  int error = errno;
  const char *delay = getenv("BENCH_SYNC_DELAY_US");
  long us = delay ? atol(delay) : 0;
  struct timespec pause = {us / 1000000, us % 1000000 * 1000};
  nanosleep(&pause, 0);
  errno = error;
  return result;
}

int fsync(int fd) { return delayed("fsync", fd); }
int fdatasync(int fd) { return delayed("fdatasync", fd); }
