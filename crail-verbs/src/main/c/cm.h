/* SPDX-License-Identifier: Apache-2.0 */
/* The connection manager and completion channels, with waits that end. 0 or -errno. */
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

/* length is 4 or 16. */
int address_make(union address *address, const void *bytes, int length, int port, uint32_t scope);

int cm_create_channel(struct rdma_event_channel **channel);
int cm_create_id(struct rdma_event_channel *channel, int port_space, struct rdma_cm_id **id);
int cm_resolve_route(struct rdma_cm_id *id, int timeout_millis);

/*
 * The queue pair has to be there. Responder resources and initiator depth are cut to what the
 * device can do.
 */
int cm_connect(struct rdma_cm_id *id, struct rdma_conn_param *param);
int cm_accept(struct rdma_cm_id *id, struct rdma_conn_param *param);
int cm_reject(struct rdma_cm_id *id, const void *data, uint8_t length);
int cm_disconnect(struct rdma_cm_id *id);

/* Takes an event, copies and acknowledges it; -ETIMEDOUT when there is none in time. */
int cm_next_event(struct rdma_event_channel *channel, int timeout_millis,
                  struct crail_cm_event *event);

/* Has librdmacm notice which devices are gone, which it does by itself only when a new one comes. */
void cm_close_removed_devices(void);

/* Both completion queues have to be there. */
int cm_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attributes);

/* Nothing where there is none; after a failure it is still there. */
int cm_destroy_qp(struct rdma_cm_id *id);

int cq_create_channel(struct ibv_context *context, struct ibv_comp_channel **channel);

/* Takes an event of a completion channel, which is not acknowledged; -ETIMEDOUT as above. */
int cq_next_event(struct ibv_comp_channel *channel, int timeout_millis, struct ibv_cq **cq);

/*
 * Waits until one of these can be taken: an event channel (or NULL), a completion channel (or NULL),
 * a wake-up (or -1), which is taken. Returns READY_ bits of Verbs.java, 0 when the time is over.
 */
int cm_await(const struct rdma_event_channel *events, const struct ibv_comp_channel *completions,
             int wakeup, int timeout_millis);

int qp_set_state(struct ibv_qp *qp, enum ibv_qp_state state);

#endif
