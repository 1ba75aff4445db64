/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that need no device: texts, addresses, times, wake-ups, and the ways in which RDMA can be
 * missing.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "affinity.h"
#include "cm.h"
#include "device.h"
#include "io_crail_verbs_Verbs.h"
#include "result.h"
#include "test.h"
#include "wait.h"

#define MILLI INT64_C(1000000)

static void failures_name_call_text_and_number(void) {
  char message[128];
  error_message("rdma_resolve_addr", -EHOSTUNREACH, message, sizeof message);
  CHECK_EQUAL(0, strcmp("rdma_resolve_addr: No route to host (errno 113)", message));
  error_message("ibv_post_send", ENOMEM, message, sizeof message);
  CHECK_EQUAL(0, strcmp("ibv_post_send: Cannot allocate memory (errno 12)", message));
  error_message("ibv_post_send", 12345, message, sizeof message);
  CHECK_EQUAL(0, strcmp("ibv_post_send: Unknown error 12345 (errno 12345)", message));
}

static void a_long_message_is_cut(void) {
  char message[16];
  error_message("rdma_resolve_addr", -EHOSTUNREACH, message, sizeof message);
  CHECK_EQUAL(sizeof message - 1, strlen(message));
}

static void both_ways_to_fail_are_understood(void) {
  errno = ECONNREFUSED;
  CHECK_EQUAL(0, result_of(0));
  CHECK_EQUAL(-ECONNREFUSED, result_of(-1));
  CHECK_EQUAL(-EBUSY, result_of(EBUSY));
  CHECK_EQUAL(-EBUSY, result_of(-EBUSY));
  errno = 0;
  CHECK_EQUAL(-EIO, result_of(-1));
}

static void addresses_of_both_kinds(void) {
  union address address;
  const uint8_t four[] = {10, 9, 0, 2};
  const uint8_t six[16] = {0xfe, 0x80, [15] = 7};
  CHECK_EQUAL(0, address_make(&address, four, 4, 9060, 0));
  CHECK_EQUAL(AF_INET, address.any.sa_family);
  CHECK_EQUAL(htons(9060), address.four.sin_port);
  CHECK_EQUAL(0, memcmp(four, &address.four.sin_addr, 4));
  CHECK_EQUAL(0, address_make(&address, six, 16, 65535, 3));
  CHECK_EQUAL(AF_INET6, address.any.sa_family);
  CHECK_EQUAL(htons(65535), address.six.sin6_port);
  CHECK_EQUAL(3, address.six.sin6_scope_id);
  CHECK_EQUAL(0, memcmp(six, &address.six.sin6_addr, 16));
}

static void bad_addresses_and_ports_are_refused(void) {
  union address address;
  const uint8_t bytes[16] = {0};
  CHECK_EQUAL(-EAFNOSUPPORT, address_make(&address, bytes, 5, 1, 0));
  CHECK_EQUAL(-EAFNOSUPPORT, address_make(&address, bytes, 0, 1, 0));
  CHECK_EQUAL(-EINVAL, address_make(&address, bytes, 4, -1, 0));
  CHECK_EQUAL(-EINVAL, address_make(&address, bytes, 4, 65536, 0));
}

static void times_are_rounded_up_and_bounded(void) {
  CHECK_EQUAL(-1, millis_until(NEVER, 5));
  CHECK_EQUAL(0, millis_until(5, 5));
  CHECK_EQUAL(0, millis_until(5, 6));
  CHECK_EQUAL(1, millis_until(1, 0));
  CHECK_EQUAL(1, millis_until(MILLI, 0));
  CHECK_EQUAL(2, millis_until(MILLI + 1, 0));
  CHECK_EQUAL(INT32_MAX, millis_until(NEVER - 1, 0));
  CHECK_EQUAL(NEVER, deadline_after(-1));
}

static void ignore_signal(int number) { (void)number; }

/* Sends signals all the time, as a profiler of a JVM does. */
static void with_signals(void (*body)(void)) {
  struct sigaction ignoring = {.sa_handler = ignore_signal};
  struct sigaction before;
  struct itimerval often = {{0, 3000}, {0, 3000}};
  struct itimerval never = {{0, 0}, {0, 0}};
  sigaction(SIGALRM, &ignoring, &before);
  setitimer(ITIMER_REAL, &often, NULL);
  body();
  setitimer(ITIMER_REAL, &never, NULL);
  sigaction(SIGALRM, &before, NULL);
}

static void wait_for_nothing(void) {
  int64_t began = now_nanos();
  CHECK_EQUAL(0, cm_await(NULL, NULL, -1, 60));
  CHECK(now_nanos() - began >= 60 * MILLI);
}

static void a_wait_lasts_as_long_as_it_was_told(void) { wait_for_nothing(); }

static void a_signal_does_not_end_a_wait(void) { with_signals(wait_for_nothing); }

static void no_time_means_no_wait(void) {
  int fds[2];
  CHECK_EQUAL(0, pipe(fds));
  CHECK_EQUAL(-ETIMEDOUT, readable_until(fds[0], deadline_after(0)));
  CHECK_EQUAL(1, write(fds[1], "x", 1));
  CHECK_EQUAL(0, readable_until(fds[0], deadline_after(1000)));
  close(fds[0]);
  close(fds[1]);
}

static void a_closed_descriptor_is_an_error(void) {
  int fd = wakeup_create();
  wakeup_destroy(fd);
  CHECK_EQUAL(-EBADF, cm_await(NULL, NULL, fd, 1000));
  CHECK_EQUAL(-EBADF, readable_until(fd, deadline_after(1000)));
}

static void *wake_soon(void *fd) {
  usleep(20000);
  wakeup_signal(*(int *)fd);
  return NULL;
}

static void another_thread_ends_a_wait(void) {
  pthread_t thread;
  int fd = wakeup_create();
  CHECK(fd >= 0);
  int64_t began = now_nanos();
  CHECK_EQUAL(0, pthread_create(&thread, NULL, wake_soon, &fd));
  int ready = cm_await(NULL, NULL, fd, 60000);
  pthread_join(thread, NULL);
  CHECK_EQUAL(io_crail_verbs_Verbs_READY_WAKEUP, ready);
  CHECK(now_nanos() - began < 30000 * MILLI);
  wakeup_destroy(fd);
}

static void a_wakeup_stays_until_it_is_taken_once(void) {
  int fd = wakeup_create();
  CHECK_EQUAL(0, wakeup_signal(fd));
  CHECK_EQUAL(0, wakeup_signal(fd));
  CHECK_EQUAL(io_crail_verbs_Verbs_READY_WAKEUP, cm_await(NULL, NULL, fd, 1000));
  CHECK_EQUAL(0, cm_await(NULL, NULL, fd, 0));
  wakeup_destroy(fd);
}

static void sizes_of_packets(void) {
  CHECK_EQUAL(256, mtu_bytes(IBV_MTU_256));
  CHECK_EQUAL(1024, mtu_bytes(IBV_MTU_1024));
  CHECK_EQUAL(4096, mtu_bytes(IBV_MTU_4096));
  CHECK_EQUAL(0, mtu_bytes((enum ibv_mtu)0));
}

static void an_unknown_device_is_not_there(void) {
  struct ibv_context *context;
  CHECK_EQUAL(-ENODEV, device_open("no such device", &context));
}

/* What the library last passed to the kernel. Most machines have fewer processors than that. */
static uint64_t asked[AFFINITY_WORDS];
static size_t asked_size;

/* Replaces the C library's function, and then does the same. */
int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *mask) {
  asked_size = size;
  memset(asked, 0, sizeof asked);
  memcpy(asked, mask, size);
  return (int)syscall(SYS_sched_setaffinity, pid, size, mask);
}

static void processors_beyond_the_first_64(void) {
  uint64_t before[AFFINITY_WORDS];
  int words = affinity_get(before);
  uint64_t last[AFFINITY_WORDS] = {0};
  for (int processor = 64; processor < 64 * AFFINITY_WORDS; processor += 1009) {
    int word = processor / 64;
    last[word] = UINT64_C(1) << (processor % 64);
    int there = word < words && (before[word] & last[word]) != 0;
    CHECK_EQUAL(there ? 0 : -EINVAL, affinity_set(last, word + 1));
    CHECK_EQUAL((word + 1) * 8, (int)asked_size);
    CHECK_EQUAL(0, memcmp(last, asked, sizeof asked));
    last[word] = 0;
  }
  CHECK_EQUAL(0, affinity_set(before, words));
}

static void processors_of_a_thread(void) {
  uint64_t before[AFFINITY_WORDS];
  uint64_t none[2] = {0, 0};
  int words = affinity_get(before);
  CHECK(words > 0);
  CHECK_EQUAL(-EINVAL, affinity_set(none, 2));
  int first = 0;
  while (before[first] == 0) {
    first++;
  }
  uint64_t one[AFFINITY_WORDS] = {0};
  one[first] = before[first] & -before[first];
  CHECK_EQUAL(0, affinity_set(one, first + 1));
  uint64_t now[AFFINITY_WORDS];
  CHECK_EQUAL(first + 1, affinity_get(now));
  CHECK_EQUAL(one[first], now[first]);
  CHECK_EQUAL(0, affinity_set(before, words));
}

static void there_is_a_limit_of_locked_memory(void) {
  struct rlimit limit;
  CHECK_EQUAL(0, getrlimit(RLIMIT_MEMLOCK, &limit));
  int64_t known = memlock_limit();
  CHECK(known == NO_LIMIT || known == (int64_t)limit.rlim_cur);
}

static void without_a_device_there_is_no_event_channel(void) {
  struct ibv_device **list;
  int devices = device_list(&list);
  if (list != NULL) {
    ibv_free_device_list(list);
  }
  CHECK(devices >= 0);
  if (devices == 0) {
    struct rdma_event_channel *channel;
    int result = cm_create_channel(&channel);
    CHECK(result == -ENODEV || result == -ENOENT);
  }
}

static void who_takes_the_place_of_an_entry_is_another(void) {
  struct ibv_device device = {.dev_path = "/proc/self"};
  struct ibv_context context = {.device = &device};
  int64_t entry = device_entry(&context);
  CHECK(entry > 0);
  CHECK(device_present(&context, entry));
  CHECK(!device_present(&context, entry + 1));
  strcpy(device.dev_path, "/proc/self/none");
  CHECK(device_entry(&context) <= 0);
  CHECK(!device_present(&context, entry));
  CHECK(device_present(&context, UNSEEN_ENTRY));
}

static void libibverbs_destroys_what_the_kernel_has_destroyed(void) {
  const bool *allowed = dlsym(RTLD_DEFAULT, "verbs_allow_disassociate_destroy");
  CHECK(allowed != NULL);
  device_let_destroy_removed();
  CHECK(*allowed);
  /* The environment is not changed, since other threads may read it. */
  CHECK(getenv("RDMAV_ALLOW_DISASSOC_DESTROY") == NULL);
}

static void a_queue_pair_needs_both_completion_queues(void) {
  struct ibv_context context = {.cmd_fd = -1};
  struct rdma_cm_id id = {.verbs = &context};
  struct ibv_qp_init_attr attributes = {.qp_type = IBV_QPT_RC};
  CHECK_EQUAL(-EINVAL, cm_create_qp(&id, NULL, &attributes));
  attributes.send_cq = (struct ibv_cq *)&id;
  CHECK_EQUAL(-EINVAL, cm_create_qp(&id, NULL, &attributes));
  CHECK_EQUAL(0, cm_destroy_qp(&id));
}

static int refuses_to_destroy;

/* Replaces the function of libibverbs, which is called unless the test wants a failure. */
int ibv_destroy_qp(struct ibv_qp *qp) {
  int (*destroy)(struct ibv_qp *) = dlsym(RTLD_NEXT, "ibv_destroy_qp");
  return refuses_to_destroy ? EBUSY : destroy(qp);
}

static void a_queue_pair_that_is_not_destroyed_is_not_forgotten(void) {
  struct ibv_qp qp = {.qp_num = 7};
  struct rdma_cm_id id = {.qp = &qp};
  refuses_to_destroy = 1;
  int result = cm_destroy_qp(&id);
  refuses_to_destroy = 0;
  CHECK_EQUAL(-EBUSY, result);
  CHECK(id.qp == &qp);
}

const struct test host_tests[] = {
    TEST(a_queue_pair_needs_both_completion_queues),
    TEST(a_queue_pair_that_is_not_destroyed_is_not_forgotten),
    TEST(failures_name_call_text_and_number),
    TEST(a_long_message_is_cut),
    TEST(both_ways_to_fail_are_understood),
    TEST(addresses_of_both_kinds),
    TEST(bad_addresses_and_ports_are_refused),
    TEST(times_are_rounded_up_and_bounded),
    TEST(a_wait_lasts_as_long_as_it_was_told),
    TEST(a_signal_does_not_end_a_wait),
    TEST(no_time_means_no_wait),
    TEST(a_closed_descriptor_is_an_error),
    TEST(another_thread_ends_a_wait),
    TEST(a_wakeup_stays_until_it_is_taken_once),
    TEST(sizes_of_packets),
    TEST(an_unknown_device_is_not_there),
    TEST(who_takes_the_place_of_an_entry_is_another),
    TEST(libibverbs_destroys_what_the_kernel_has_destroyed),
    TEST(processors_of_a_thread),
    TEST(processors_beyond_the_first_64),
    TEST(there_is_a_limit_of_locked_memory),
    TEST(without_a_device_there_is_no_event_channel),
    TEST_END,
};
