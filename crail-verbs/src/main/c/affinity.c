/* SPDX-License-Identifier: Apache-2.0 */
#include "affinity.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

int affinity_set(const uint64_t *mask, int words) {
  return sched_setaffinity(0, (size_t)words * sizeof *mask, (const cpu_set_t *)mask) == 0 ? 0
                                                                                          : -errno;
}

int affinity_get(uint64_t mask[AFFINITY_WORDS]) {
  size_t size = AFFINITY_WORDS * sizeof *mask;
  memset(mask, 0, size);
  if (sched_getaffinity(0, size, (cpu_set_t *)mask) != 0) {
    return -errno;
  }
  int words = AFFINITY_WORDS;
  while (words > 0 && mask[words - 1] == 0) {
    words--;
  }
  return words;
}
