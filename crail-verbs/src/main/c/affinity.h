/* SPDX-License-Identifier: Apache-2.0 */
/* The processors of the calling thread, as bits of 64-bit words. Returns 0 or more, or -errno. */
#ifndef CRAIL_AFFINITY_H
#define CRAIL_AFFINITY_H

#include <stdint.h>

/* Room for more processors than any kernel is built for. */
#define AFFINITY_WORDS 256

int affinity_set(const uint64_t *mask, int words);

/* Returns the number of words up to the last one that is not 0. */
int affinity_get(uint64_t mask[AFFINITY_WORDS]);

#endif
