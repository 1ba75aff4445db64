/* SPDX-License-Identifier: Apache-2.0 */
#include "environment.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <spdk/env.h>
#include <spdk/log.h>
#include <spdk/nvme.h>
#include <spdk/version.h>

_Static_assert(SPDK_VERSION >= SPDK_VERSION_NUM(25, 9, 0), "SPDK 25.09 or newer is needed");

/* How long the set-up of a TCP connection may take, at most. */
#define TCP_CONNECT_MILLIS 10000

struct request {
  int memory_mib;
  bool no_huge;
};

static struct sigaction found;
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static bool started;
static bool runs;
static char problem[640];
static __thread char words[512];
static __thread int connect_status;

int __wrap_rte_eal_cleanup(void);

/*
 * The linker puts this in the place of DPDK's own, which SPDK calls while the process exits, when
 * threads of the JVM may still be in SPDK. The memory that they use stays until there are none.
 */
int __wrap_rte_eal_cleanup(void) { return 0; }

/* Before all constructors of DPDK, whose priorities are higher. */
__attribute__((constructor(101))) static void remember_signals(void) {
  sigaction(SIGBUS, NULL, &found);
}

void environment_give_back_signals(void) { sigaction(SIGBUS, &found, NULL); }

void environment_forget_words(void) {
  words[0] = '\0';
  connect_status = 0;
}

const char *environment_words(void) { return words; }

int environment_connect_status(void) { return connect_status; }

/* SPDK reports nowhere else what a target has answered to a connect. */
static void hear_status(const char *said) {
  static const char answer[] = "Connect command completed with error: ";
  const char *at = strstr(said, answer);
  unsigned type;
  unsigned code;
  if (at == NULL || sscanf(at + sizeof answer - 1, "sct %u, sc %u", &type, &code) != 2) {
    return;
  }
  bool by_spdk = type == SPDK_NVME_SCT_GENERIC && (code == SPDK_NVME_SC_ABORTED_SQ_DELETION
                                                   || code == SPDK_NVME_SC_ABORTED_BY_REQUEST);
  connect_status = by_spdk ? 0 : (int)(type << 8 | code);
}

/*
 * The callers of SPDK report failures, so the lines only give the reason. They come without the names
 * in brackets before them, which the caller knows, and one after the other, since the first may only
 * name a consequence.
 */
static void hear(int level, const char *file, const int line, const char *function,
                 const char *format, va_list arguments) {
  (void)file, (void)line, (void)function;
  char said[512];
  if (level > SPDK_LOG_ERROR) {
    return;
  }
  vsnprintf(said, sizeof said, format, arguments);
  hear_status(said);
  const char *from = said;
  while (*from == '[' && strstr(from, "] ") != NULL) {
    from = strstr(from, "] ") + 2;
  }
  size_t have = strlen(words);
  size_t length = strcspn(from, "\n");
  if (length > 0 && have + 3 < sizeof words) {
    snprintf(words + have, sizeof words - have, "%s%.*s", have > 0 ? "; " : "", (int)length, from);
  }
}

static int start(const struct request *request) {
  cpu_set_t cpus;
  int cpu = 0;
  CPU_ZERO(&cpus);
  if (sched_getaffinity(0, sizeof cpus, &cpus) == 0) {
    while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &cpus)) {
      cpu++;
    }
  }
  char map[32];
  snprintf(map, sizeof map, "0@%d", cpu);
  struct spdk_env_opts options;
  memset(&options, 0, sizeof options);
  options.opts_size = sizeof options;
  spdk_env_opts_init(&options);
  options.name = "crail";
  options.shm_id = -1;
  options.mem_size = request->memory_mib;
  options.no_pci = true;
  options.no_huge = request->no_huge;
  options.iova_mode = "va";
  options.core_mask = NULL;
  options.lcore_map = map;
  /* DPDK takes SIGBUS whenever it maps more huge pages; so it maps all of them now. */
  static char extra[] = "--log-level=lib.eal:4 --legacy-mem";
  options.env_context = extra;
  int result = spdk_env_init(&options);
  if (result == 0) {
    struct spdk_nvme_transport_opts transport;
    spdk_nvme_transport_get_opts(&transport, sizeof transport);
    transport.tcp_connect_timeout_ms = TCP_CONNECT_MILLIS;
    spdk_nvme_transport_set_opts(&transport, sizeof transport);
  }
  return result;
}

/* What SPDK has said is known in the thread that started it only. */
static void explain(const struct request *request, int error) {
  runs = error == 0;
  if (!runs) {
    snprintf(problem, sizeof problem, "SPDK does not start with %d MiB of %s pages (error %d)%s%s",
             request->memory_mib, request->no_huge ? "usual" : "huge", error < 0 ? -error : error,
             words[0] == '\0' ? "" : ": ", words);
  }
}

/* In a thread of its own, since DPDK pins the thread in which it starts to a processor. */
static void *run(void *argument) {
  const struct request *request = argument;
  explain(request, start(request));
  return NULL;
}

const char *environment_start(int memory_mib, bool no_huge) {
  pthread_mutex_lock(&starting);
  if (!started) {
    started = true;
    spdk_log_open(hear);
    struct request request = {.memory_mib = memory_mib, .no_huge = no_huge};
    pthread_t thread;
    int error = pthread_create(&thread, NULL, run, &request);
    if (error == 0) {
      pthread_join(thread, NULL);
    } else {
      explain(&request, error);
    }
  }
  pthread_mutex_unlock(&starting);
  return runs ? NULL : problem;
}
