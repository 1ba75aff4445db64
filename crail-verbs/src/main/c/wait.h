/* SPDX-License-Identifier: Apache-2.0 */
/* Waits with a deadline, on file descriptors. All return 0 or more, or a negative error number. */
#ifndef CRAIL_WAIT_H
#define CRAIL_WAIT_H

#include <poll.h>
#include <stdint.h>

/* A point of the monotonic clock, in nanoseconds; NEVER has no end. */
#define NEVER INT64_MAX

int64_t now_nanos(void);

/* Negative time: NEVER. */
int64_t deadline_after(int timeout_millis);

/* The time until then as poll takes it, rounded up; -1 for NEVER. */
int millis_until(int64_t deadline, int64_t now);

/* How many descriptors are ready; 0 when the deadline has passed. Signals do not end it. */
int poll_until(struct pollfd *fds, nfds_t count, int64_t deadline);

/*
 * Waits until one descriptor can be read, for callers who have tried it: -ETIMEDOUT when the deadline
 * has passed, ready or not.
 */
int readable_until(int fd, int64_t deadline);

int set_nonblocking(int fd);

/* An eventfd that ends waits: many calls of wakeup_signal may count as one. */
int wakeup_create(void);
int wakeup_signal(int fd);
int wakeup_drain(int fd);
void wakeup_destroy(int fd);

#endif
