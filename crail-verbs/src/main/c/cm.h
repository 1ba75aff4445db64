/* SPDX-License-Identifier: Apache-2.0 */
/* The connection manager and completion channels, with waits that end. All return 0 or -errno. */
#ifndef CRAIL_CM_H
#define CRAIL_CM_H

#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdint.h>

#include "layout.h"

/* An address of either kind. */
union address {
  struct sockaddr any;
  struct sockaddr_in four;
  struct sockaddr_in6 six;
};

/* The length is 4 or 16. */
int address_make(union address *address, const void *bytes, int length, int port, uint32_t scope);

int cm_create_channel(struct rdma_event_channel **channel);
int cm_create_id(struct rdma_event_channel *channel, int port_space, struct rdma_cm_id **id);
int cm_resolve_route(struct rdma_cm_id *id, int timeout_millis);

/*
 * The id must have its queue pair. Responder resources and initiator depth are cut to what the
 * device can do.
 */
int cm_connect(struct rdma_cm_id *id, struct rdma_conn_param *param);
int cm_accept(struct rdma_cm_id *id, struct rdma_conn_param *param);
int cm_reject(struct rdma_cm_id *id, const void *data, uint8_t length);
int cm_disconnect(struct rdma_cm_id *id);

/* Takes an event, copies and acknowledges it. Returns -ETIMEDOUT when there is none in time. */
int cm_next_event(struct rdma_event_channel *channel, int timeout_millis,
                  struct crail_cm_event *event);

/*
 * Lets librdmacm notice which devices are gone. By itself it does so only when a new device comes.
 */
void cm_close_removed_devices(void);

/* Both completion queues must exist. */
int cm_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attributes);

/* Does nothing without a queue pair. After a failure the queue pair still exists. */
int cm_destroy_qp(struct rdma_cm_id *id);

int cq_create_channel(struct ibv_context *context, struct ibv_comp_channel **channel);

/* Takes an event of a completion channel without acknowledging it. Returns -ETIMEDOUT as above. */
int cq_next_event(struct ibv_comp_channel *channel, int timeout_millis, struct ibv_cq **cq);

/*
 * Waits until one of these has an event: an event channel (or NULL), a completion channel (or
 * NULL), a wake-up (or -1). Only the wake-up is taken. Returns READY_ bits of Verbs.java, or 0 when
 * the time is over.
 */
int cm_await(const struct rdma_event_channel *events, const struct ibv_comp_channel *completions,
             int wakeup, int timeout_millis);

int qp_set_state(struct ibv_qp *qp, enum ibv_qp_state state);

#endif
