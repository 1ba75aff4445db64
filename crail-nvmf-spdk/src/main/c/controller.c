/* SPDX-License-Identifier: Apache-2.0 */
#include "controller.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <spdk/env.h>
#include <spdk/nvme.h>

#include "io_crail_nvmf_spdk_SpdkLayout.h"

#define JAVA(name) io_crail_nvmf_spdk_SpdkLayout_##name
#define SAME(c, java) _Static_assert((long)(c) == (long)(java), #c " is not " #java)

SAME(sizeof(struct crail_submission), JAVA(SUBMISSION_SIZE));
SAME(offsetof(struct crail_submission, command), JAVA(SUBMISSION_COMMAND));
SAME(offsetof(struct crail_submission, address), JAVA(SUBMISSION_ADDRESS));
SAME(offsetof(struct crail_submission, length), JAVA(SUBMISSION_LENGTH));
SAME(offsetof(struct crail_submission, slot), JAVA(SUBMISSION_SLOT));
SAME(sizeof(struct crail_completion), JAVA(COMPLETION_SIZE));
SAME(offsetof(struct crail_completion, slot), JAVA(COMPLETION_SLOT));
SAME(offsetof(struct crail_completion, status), JAVA(COMPLETION_STATUS));
SAME(offsetof(struct crail_completion, result), JAVA(COMPLETION_RESULT));
SAME(sizeof(struct spdk_nvme_ctrlr_data), JAVA(IDENTIFY_DATA));
SAME(sizeof(struct spdk_nvme_ns_data), JAVA(IDENTIFY_DATA));
_Static_assert(sizeof(struct spdk_nvme_cmd) == sizeof(((struct crail_submission *)0)->command),
               "a command has 64 bytes");

#define POLL_PAUSE_MICROS 100
#define DESTROY_MICROS 30000000
#define DISCONNECT_MICROS 5000000
/* Long enough for none; users of the queue have deadlines of their own. */
#define NO_TIMEOUT_MICROS 1000000000

struct slot {
  struct controller *owner;
  uint32_t number;
};

struct controller {
  struct spdk_nvme_ctrlr_opts options;
  struct spdk_nvme_transport_id target;
  struct controller *next;
  struct spdk_nvme_ctrlr *ctrlr;
  struct spdk_nvme_qpair *queue;
  struct crail_submission *submissions;
  struct crail_completion *completions;
  struct slot *slots;
  void *places;
  size_t places_length;
  uint32_t depth;
  uint32_t completed;
  int error;
  bool silent;
  bool quiet;
  bool stopped;
};

/* The controllers that SPDK knows of. */
static pthread_mutex_t living_lock = PTHREAD_MUTEX_INITIALIZER;
static struct controller *living;

static bool is_used(const struct spdk_nvme_transport_id *target) {
  for (const struct controller *each = living; each != NULL; each = each->next) {
    if (spdk_nvme_transport_id_compare(&each->target, target) == 0) {
      return true;
    }
  }
  return false;
}

/*
 * SPDK has one controller in a process for each target, and all who connect would share it, and its
 * end. It distinguishes targets by their text, so zeros before the port make another one: about 26 in
 * all for each target.
 */
static int enter(struct controller *controller) {
  struct spdk_nvme_transport_id *target = &controller->target;
  pthread_mutex_lock(&living_lock);
  while (is_used(target)) {
    size_t length = strlen(target->trsvcid);
    if (length + 2 > sizeof target->trsvcid) {
      pthread_mutex_unlock(&living_lock);
      return -EUSERS;
    }
    memmove(target->trsvcid + 1, target->trsvcid, length + 1);
    target->trsvcid[0] = '0';
  }
  controller->next = living;
  living = controller;
  pthread_mutex_unlock(&living_lock);
  return 0;
}

static void leave(struct controller *controller) {
  pthread_mutex_lock(&living_lock);
  struct controller **at = &living;
  while (*at != NULL && *at != controller) {
    at = &(*at)->next;
  }
  if (*at != NULL) {
    *at = controller->next;
  }
  pthread_mutex_unlock(&living_lock);
}

static void attached(void *context, const struct spdk_nvme_transport_id *target,
                     struct spdk_nvme_ctrlr *ctrlr, const struct spdk_nvme_ctrlr_opts *options) {
  (void)target, (void)options;
  /* SPDK gives the options back, which stand at the beginning. */
  struct controller *controller = context;
  controller->ctrlr = ctrlr;
}

_Static_assert(offsetof(struct controller, options) == 0, "the options stand at the beginning");

static void timed_out(void *argument, struct spdk_nvme_ctrlr *ctrlr, struct spdk_nvme_qpair *queue,
                      uint16_t id) {
  (void)ctrlr, (void)id;
  struct controller *controller = argument;
  if (queue == NULL) {
    controller->silent = true;
  }
}

static int choose(struct controller *controller, const struct controller_wish *wish) {
  struct spdk_nvme_ctrlr_opts *options = &controller->options;
  spdk_nvme_ctrlr_get_default_ctrlr_opts(options, sizeof *options);
  if (strlen(wish->host) >= sizeof options->hostnqn) {
    return -ENAMETOOLONG;
  }
  strcpy(options->hostnqn, wish->host);
  memcpy(options->extended_host_id, wish->host_id, sizeof options->extended_host_id);
  options->keep_alive_timeout_ms = wish->keep_alive_millis;
  options->admin_timeout_ms = wish->timeout_millis;
  options->fabrics_connect_timeout_us = (uint64_t)wish->timeout_millis * 1000;
  options->num_io_queues = 1;
  options->io_queue_size = wish->depth + 1;
  options->io_queue_requests = 2 * (wish->depth + 1);
  options->header_digest = wish->header_digest;
  options->data_digest = wish->data_digest;
  options->disable_error_logging = true;
  return spdk_nvme_transport_id_parse(&controller->target, wish->target);
}

static int probe(struct controller *controller, uint32_t keep_alive_millis) {
  struct spdk_nvme_probe_ctx *context =
      spdk_nvme_connect_async(&controller->target, &controller->options, attached);
  if (context == NULL) {
    return -ENOTCONN;
  }
  while (spdk_nvme_probe_poll_async(context) == -EAGAIN) {
    usleep(POLL_PAUSE_MICROS);
  }
  if (controller->ctrlr == NULL) {
    return -ENOTCONN;
  }
  spdk_nvme_ctrlr_register_timeout_callback(controller->ctrlr, NO_TIMEOUT_MICROS,
                                            (uint64_t)keep_alive_millis * 1000 / 2, timed_out,
                                            controller);
  return 0;
}

static void has_answered(void *argument, const struct spdk_nvme_cpl *completion) {
  (void)completion;
  struct controller *controller = argument;
  controller->quiet = true;
}

/*
 * Asks the target for no events: a poll of the admin queue that finds one waits for more answers of
 * the target. One that refuses has refused SPDK's own wish for events too, and then reports none.
 */
static int refuse_events(struct controller *controller, uint32_t timeout_millis) {
  uint64_t end = spdk_get_ticks() + timeout_millis * spdk_get_ticks_hz() / 1000;
  int result = spdk_nvme_ctrlr_cmd_set_feature(controller->ctrlr,
                                               SPDK_NVME_FEAT_ASYNC_EVENT_CONFIGURATION, 0, 0, NULL,
                                               0, has_answered, controller);
  while (result == 0 && !controller->quiet) {
    if (spdk_get_ticks() > end) {
      return -ETIMEDOUT;
    }
    usleep(POLL_PAUSE_MICROS);
    result = controller_poll_admin(controller);
  }
  return result;
}

int controller_connect(const struct controller_wish *wish, struct controller **made) {
  struct controller *controller = calloc(1, sizeof *controller);
  if (controller == NULL) {
    return -ENOMEM;
  }
  int result = choose(controller, wish);
  if (result == 0) {
    result = enter(controller);
    if (result == 0) {
      result = probe(controller, wish->keep_alive_millis);
      if (result < 0) {
        leave(controller);
      }
    }
  }
  if (result < 0) {
    free(controller);
    return result;
  }
  result = refuse_events(controller, wish->timeout_millis);
  if (result < 0) {
    controller_destroy(controller);
    return result;
  }
  struct spdk_nvme_io_qpair_opts options;
  spdk_nvme_ctrlr_get_default_io_qpair_opts(controller->ctrlr, &options, sizeof options);
  controller->depth = options.io_queue_size - 1;
  if (controller->depth > wish->depth) {
    controller->depth = wish->depth;
  }
  *made = controller;
  return 0;
}

uint32_t controller_depth(const struct controller *controller) { return controller->depth; }

uint32_t controller_keep_alive(const struct controller *controller) {
  return spdk_nvme_ctrlr_get_opts(controller->ctrlr)->keep_alive_timeout_ms;
}

uint32_t controller_max_transfer(const struct controller *controller) {
  return spdk_nvme_ctrlr_get_max_xfer_size(controller->ctrlr);
}

const void *controller_data(const struct controller *controller) {
  return spdk_nvme_ctrlr_get_data(controller->ctrlr);
}

uint32_t controller_next_namespace(const struct controller *controller, uint32_t after) {
  return after == 0 ? spdk_nvme_ctrlr_get_first_active_ns(controller->ctrlr)
                    : spdk_nvme_ctrlr_get_next_active_ns(controller->ctrlr, after);
}

const void *controller_namespace_data(const struct controller *controller, uint32_t number) {
  struct spdk_nvme_ns *found = spdk_nvme_ctrlr_get_ns(controller->ctrlr, number);
  return found == NULL || !spdk_nvme_ns_is_active(found) ? NULL : spdk_nvme_ns_get_data(found);
}

/* SPDK limits the time of each step of a connect. */
static int await_connection(struct controller *controller) {
  while (!spdk_nvme_qpair_is_connected(controller->queue)) {
    int result = spdk_nvme_qpair_process_completions(controller->queue, 0);
    if (result < 0) {
      return result;
    }
    usleep(POLL_PAUSE_MICROS);
  }
  return 0;
}

int controller_open(struct controller *controller, void *rings, uint32_t depth, void *places,
                    size_t places_length) {
  if (depth == 0 || depth > controller->depth || controller->queue != NULL) {
    return -EINVAL;
  }
  controller->slots = calloc(depth, sizeof *controller->slots);
  if (controller->slots == NULL) {
    return -ENOMEM;
  }
  for (uint32_t i = 0; i < depth; i++) {
    controller->slots[i] = (struct slot){.owner = controller, .number = i};
  }
  controller->depth = depth;
  controller->submissions = rings;
  controller->completions = (struct crail_completion *)(controller->submissions + depth);
  if (places != NULL) {
    int result = spdk_mem_register(places, places_length);
    if (result < 0) {
      return result;
    }
    controller->places = places;
    controller->places_length = places_length;
  }
  struct spdk_nvme_io_qpair_opts options;
  spdk_nvme_ctrlr_get_default_io_qpair_opts(controller->ctrlr, &options, sizeof options);
  /* Where a disconnect would block otherwise. */
  options.async_mode = places != NULL;
  controller->queue =
      spdk_nvme_ctrlr_alloc_io_qpair(controller->ctrlr, &options, sizeof options);
  return controller->queue == NULL ? -ENOTCONN : await_connection(controller);
}

/* Whether SPDK has ended a request itself, as it does when the queue is lost. */
static bool is_aborted(const struct spdk_nvme_cpl *completion) {
  return completion->status.sct == SPDK_NVME_SCT_GENERIC
         && (completion->status.sc == SPDK_NVME_SC_ABORTED_SQ_DELETION
             || completion->status.sc == SPDK_NVME_SC_ABORTED_BY_REQUEST);
}

static void done(void *argument, const struct spdk_nvme_cpl *completion) {
  const struct slot *slot = argument;
  struct controller *controller = slot->owner;
  if (controller->stopped) {
    return;
  }
  if (is_aborted(completion)) {
    controller->error = -ENXIO;
    return;
  }
  struct crail_completion *out = &controller->completions[controller->completed++];
  out->slot = slot->number;
  out->status = completion->status_raw >> 1;
  out->result = completion->cdw0 | (uint64_t)completion->cdw1 << 32;
}

static int submit(struct controller *controller, const struct crail_submission *submission) {
  struct spdk_nvme_cmd command;
  if (submission->slot >= controller->depth) {
    return -EINVAL;
  }
  memcpy(&command, submission->command, sizeof command);
  return spdk_nvme_ctrlr_cmd_io_raw(controller->ctrlr, controller->queue, &command,
                                    (void *)(uintptr_t)submission->address, submission->length, done,
                                    &controller->slots[submission->slot]);
}

int controller_poll(struct controller *controller, uint32_t submissions) {
  if (controller->queue == NULL || controller->stopped || submissions > controller->depth) {
    return -EINVAL;
  }
  controller->completed = 0;
  for (uint32_t i = 0; i < submissions && controller->error == 0; i++) {
    controller->error = submit(controller, &controller->submissions[i]);
  }
  if (controller->error == 0) {
    int result = spdk_nvme_qpair_process_completions(controller->queue, 0);
    if (result < 0) {
      controller->error = result;
    }
  }
  return controller->completed > 0 ? (int)controller->completed : controller->error;
}

int controller_poll_admin(struct controller *controller) {
  int result = spdk_nvme_ctrlr_process_admin_completions(controller->ctrlr);
  if (controller->silent) {
    /* Over TCP SPDK looks at the time before it reads what has come meanwhile. */
    controller->silent = false;
    if (result == 0) {
      return -ETIMEDOUT;
    }
  }
  return result < 0 ? result : 0;
}

static void free_queue(struct controller *controller) {
  if (controller->queue != NULL) {
    spdk_nvme_ctrlr_free_io_qpair(controller->queue);
    controller->queue = NULL;
  }
}

void controller_stop(struct controller *controller) {
  controller->stopped = true;
  if (controller->places == NULL) {
    free_queue(controller);
  } else if (controller->queue != NULL) {
    spdk_nvme_ctrlr_disconnect_io_qpair(controller->queue);
  }
}

/* SPDK leaks what belongs to a queue that is freed before its disconnect has ended. */
static void await_disconnect(struct controller *controller) {
  for (int waited = 0; controller->queue != NULL && waited < DISCONNECT_MICROS;
       waited += POLL_PAUSE_MICROS) {
    if (spdk_nvme_qpair_process_completions(controller->queue, 0) < 0) {
      return;
    }
    usleep(POLL_PAUSE_MICROS);
  }
}

void controller_destroy(struct controller *controller) {
  struct spdk_nvme_detach_ctx *context = NULL;
  controller_stop(controller);
  await_disconnect(controller);
  free_queue(controller);
  if (controller->places != NULL) {
    spdk_mem_unregister(controller->places, controller->places_length);
  }
  /* Otherwise the end waits for a target that may not answer. */
  spdk_nvme_ctrlr_fail(controller->ctrlr);
  int result = spdk_nvme_detach_async(controller->ctrlr, &context);
  for (int waited = 0; result == 0 && context != NULL; waited += POLL_PAUSE_MICROS) {
    if (spdk_nvme_detach_poll_async(context) != -EAGAIN) {
      break;
    }
    if (waited >= DESTROY_MICROS) {
      /* SPDK still knows it, so it is left where it is. */
      return;
    }
    usleep(POLL_PAUSE_MICROS);
  }
  leave(controller);
  free(controller->slots);
  free(controller);
}
