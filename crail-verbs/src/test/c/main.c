/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs-tests [--rdma]: runs all tests. Tests that need RDMA run only if there are devices. With
 * --rdma it is a failure if there are none.
 */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "device.h"
#include "test.h"

static jmp_buf next_test;

void test_failed(const char *file, int line, const char *what, int64_t expected, int64_t actual) {
  printf("FAILED %s:%d: %s: expected %lld but was %lld\n", file, line, what, (long long)expected,
         (long long)actual);
  longjmp(next_test, 1);
}

static int passes(const struct test *test) {
  printf("%s ", test->name);
  fflush(stdout);
  if (setjmp(next_test) != 0) {
    return 0;
  }
  test->run();
  printf("ok\n");
  return 1;
}

static int run(const struct test *tests) {
  int failures = 0;
  for (; tests->name != NULL; tests++) {
    failures += !passes(tests);
  }
  return failures;
}

int main(int count, char **arguments) {
  int failures = run(host_tests);
  struct ibv_device **list;
  int devices = device_list(&list);
  if (list != NULL) {
    ibv_free_device_list(list);
  }
  if (devices > 0) {
    failures += run(rdma_tests);
  } else if (count > 1 && strcmp(arguments[1], "--rdma") == 0) {
    printf("FAILED: there is no RDMA device\n");
    failures++;
  } else {
    printf("left to the machine of bin/rdma-vm: C tests with RDMA\n");
  }
  printf(failures == 0 ? "all passed\n" : "%d failed\n", failures);
  return failures == 0 ? 0 : 1;
}
