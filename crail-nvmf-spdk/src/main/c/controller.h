/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A controller of SPDK with one queue for I/O. One thread at a time uses it; connect and destroy
 * block. Results are 0 or positive, or negative error numbers.
 */
#ifndef CRAIL_CONTROLLER_H
#define CRAIL_CONTROLLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A request as Java lays it out; SpdkLayout has the same. */
struct crail_submission {
  uint8_t command[64];
  uint64_t address;
  uint32_t length;
  uint32_t slot;
};

/* The end of a request as Java reads it. */
struct crail_completion {
  uint32_t slot;
  uint32_t status;
  uint64_t result;
};

struct controller;

struct controller_wish {
  const char *target; /* a transport id in SPDK's form */
  const char *host;
  uint8_t host_id[16];
  uint32_t keep_alive_millis;
  uint32_t timeout_millis;
  uint32_t depth;
  bool header_digest;
  bool data_digest;
};

/* Connects the admin queue, starts and identifies the controller. Blocks. */
int controller_connect(const struct controller_wish *wish, struct controller **made);

/* Most commands in flight, as far as the target allows. */
uint32_t controller_depth(const struct controller *controller);

/* The keep-alive time that the target counts, in milliseconds; 0 when it counts none. */
uint32_t controller_keep_alive(const struct controller *controller);

/* Most bytes of a command's data. */
uint32_t controller_max_transfer(const struct controller *controller);

/* The answer to an identify of the controller, 4096 bytes. */
const void *controller_data(const struct controller *controller);

/* The number of the next active namespace after one, or 0. */
uint32_t controller_next_namespace(const struct controller *controller, uint32_t after);

/* The answer to an identify of an active namespace, 4096 bytes, or NULL. */
const void *controller_namespace_data(const struct controller *controller, uint32_t number);

/*
 * Opens the queue for I/O. Blocks. The memory belongs to the caller, and stays until the controller
 * is destroyed: room for depth submissions, then for depth completions. Places are memory that a
 * device may use, or NULL when the data of requests need none. They begin and end on pages.
 */
int controller_open(struct controller *controller, void *rings, uint32_t depth, void *places,
                    size_t places_length);

/*
 * Sends the first requests of the ring, and collects completions. Returns their count. An error is
 * returned when none are left: then the queue is lost.
 */
int controller_poll(struct controller *controller, uint32_t submissions);

/* Serves the admin queue; -ETIMEDOUT when the target does not answer a keep-alive. */
int controller_poll_admin(struct controller *controller);

/*
 * Disconnects the queue, without waiting for the target: nothing leaves any more, and no completion
 * is reported. Memory of users is not touched any more when this returns. Places may be, until the
 * controller is destroyed.
 */
void controller_stop(struct controller *controller);

/* Ends and frees the controller. Blocks. */
void controller_destroy(struct controller *controller);

#endif
