/* SPDX-License-Identifier: Apache-2.0 */
#include "wait.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define NANOS_PER_SECOND INT64_C(1000000000)
#define NANOS_PER_MILLI INT64_C(1000000)

int64_t now_nanos(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * NANOS_PER_SECOND + now.tv_nsec;
}

int64_t deadline_after(int timeout_millis) {
  return timeout_millis < 0 ? NEVER : now_nanos() + timeout_millis * NANOS_PER_MILLI;
}

int millis_until(int64_t deadline, int64_t now) {
  if (deadline == NEVER) {
    return -1;
  }
  if (deadline <= now) {
    return 0;
  }
  int64_t millis = (deadline - now - 1) / NANOS_PER_MILLI + 1;
  return millis > INT_MAX ? INT_MAX : (int)millis;
}

int poll_until(struct pollfd *fds, nfds_t count, int64_t deadline) {
  for (;;) {
    int64_t now = deadline == NEVER ? 0 : now_nanos();
    int ready = poll(fds, count, millis_until(deadline, now));
    if (ready > 0) {
      return ready;
    }
    if (ready < 0 && errno != EINTR) {
      return -errno;
    }
    if (deadline != NEVER && now_nanos() >= deadline) {
      return 0;
    }
  }
}

int readable_until(int fd, int64_t deadline) {
  /* Also ends the loop of a caller whose descriptor is always ready but never has anything. */
  if (deadline != NEVER && now_nanos() >= deadline) {
    return -ETIMEDOUT;
  }
  struct pollfd wanted = {.fd = fd, .events = POLLIN};
  int ready = poll_until(&wanted, 1, deadline);
  if (ready <= 0) {
    return ready == 0 ? -ETIMEDOUT : ready;
  }
  /* Hang-ups and errors show in the read that follows. */
  return wanted.revents & POLLNVAL ? -EBADF : 0;
}

int set_nonblocking(int fd) {
  int flags = fcntl(fd, F_GETFL);
  return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ? -errno : 0;
}

int wakeup_create(void) {
  int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

int wakeup_signal(int fd) {
  uint64_t one = 1;
  /* EAGAIN: the counter is full, so the waiting thread is woken anyway. */
  return write(fd, &one, sizeof one) == sizeof one || errno == EAGAIN ? 0 : -errno;
}

int wakeup_drain(int fd) {
  uint64_t count;
  return read(fd, &count, sizeof count) == sizeof count || errno == EAGAIN ? 0 : -errno;
}

void wakeup_destroy(int fd) { close(fd); }
