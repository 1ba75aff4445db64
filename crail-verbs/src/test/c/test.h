/* SPDX-License-Identifier: Apache-2.0 */
/* A runner of tests. Each test is a function that ends at its first failed check. */
#ifndef CRAIL_TEST_H
#define CRAIL_TEST_H

#include <stdint.h>

struct test {
  const char *name;
  void (*run)(void);
};

#define TEST(function) \
  { #function, function }
#define TEST_END \
  { NULL, NULL }

extern const struct test host_tests[];
/* These need devices with the addresses of bin/rdma-vm. */
extern const struct test rdma_tests[];

_Noreturn void test_failed(const char *file, int line, const char *what, int64_t expected,
                           int64_t actual);

#define CHECK(condition)                                \
  do {                                                  \
    if (!(condition)) {                                 \
      test_failed(__FILE__, __LINE__, #condition, 1, 0); \
    }                                                   \
  } while (0)

#define CHECK_EQUAL(expected, actual)                                    \
  do {                                                                   \
    int64_t wanted_value = (int64_t)(expected);                          \
    int64_t actual_value = (int64_t)(actual);                            \
    if (wanted_value != actual_value) {                                  \
      test_failed(__FILE__, __LINE__, #actual, wanted_value, actual_value); \
    }                                                                    \
  } while (0)

#endif
