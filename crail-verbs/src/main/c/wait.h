/* SPDX-License-Identifier: Apache-2.0 */
/* Waits with a deadline, on file descriptors. All return 0 or more, or a negative error number. */
#ifndef CRAIL_WAIT_H
#define CRAIL_WAIT_H

#include <poll.h>
#include <stdint.h>

/* A time of the monotonic clock in nanoseconds; NEVER means no deadline. */
#define NEVER INT64_MAX

int64_t now_nanos(void);

/* A negative time means NEVER. */
int64_t deadline_after(int timeout_millis);

/* The time until a deadline as an argument of poll, rounded up; -1 for NEVER. */
int millis_until(int64_t deadline, int64_t now);

/*
 * Returns how many descriptors are ready; 0 when the deadline has passed. Signals do not end the
 * wait.
 */
int poll_until(struct pollfd *fds, nfds_t count, int64_t deadline);

/*
 * Waits until a descriptor can be read, for callers that have already tried. Returns -ETIMEDOUT
 * when the deadline has passed, even if the descriptor is ready.
 */
int readable_until(int fd, int64_t deadline);

int set_nonblocking(int fd);

/* An eventfd that ends waits. Many calls of wakeup_signal may count as one. */
int wakeup_create(void);
int wakeup_signal(int fd);
int wakeup_drain(int fd);
void wakeup_destroy(int fd);

#endif
