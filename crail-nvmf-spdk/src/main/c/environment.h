/* SPDX-License-Identifier: Apache-2.0 */
/* SPDK's environment in this process. */
#ifndef CRAIL_ENVIRONMENT_H
#define CRAIL_ENVIRONMENT_H

#include <stdbool.h>

/*
 * Starts the environment, unless it is there; only the first call's arguments count, since there is
 * one in a process, and it stays. Blocks. Returns why it did not start, in words, or NULL. Thread-safe.
 */
const char *environment_start(int memory_mib, bool no_huge);

/*
 * Gives the handler of SIGBUS back to who had it before this library was loaded. DPDK puts its own
 * in that place while it is loaded, and a JVM needs the signal itself: it turns a bad access to a
 * mapped file into an error of Java.
 */
void environment_give_back_signals(void);

/* Forgets what SPDK has said in this thread. */
void environment_forget_words(void);

/* The first errors that SPDK has reported in this thread since, or an empty text. */
const char *environment_words(void);

/* The status with which a target has refused a connect of this thread since, or 0. */
int environment_connect_status(void);

#endif
