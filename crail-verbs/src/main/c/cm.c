/* SPDX-License-Identifier: Apache-2.0 */
#include "cm.h"

#include <string.h>

#include "device.h"
#include "io_crail_verbs_Verbs.h"
#include "result.h"
#include "wait.h"

int address_make(union address *address, const void *bytes, int length, int port,
                 uint32_t scope) {
  if (port < 0 || port > 65535) {
    return -EINVAL;
  }
  memset(address, 0, sizeof *address);
  if (length == sizeof address->four.sin_addr) {
    address->four.sin_family = AF_INET;
    address->four.sin_port = htons((uint16_t)port);
    memcpy(&address->four.sin_addr, bytes, (size_t)length);
    return 0;
  }
  if (length == sizeof address->six.sin6_addr) {
    address->six.sin6_family = AF_INET6;
    address->six.sin6_port = htons((uint16_t)port);
    address->six.sin6_scope_id = scope;
    memcpy(&address->six.sin6_addr, bytes, (size_t)length);
    return 0;
  }
  return -EAFNOSUPPORT;
}

int cm_create_channel(struct rdma_event_channel **channel) {
  errno = 0;
  *channel = rdma_create_event_channel();
  if (*channel == NULL) {
    return last_error();
  }
  device_let_destroy_removed(); /* librdmacm has read the devices. */
  int result = set_nonblocking((*channel)->fd);
  if (result < 0) {
    rdma_destroy_event_channel(*channel);
  }
  return result;
}

int cm_create_id(struct rdma_event_channel *channel, int port_space, struct rdma_cm_id **id) {
  errno = 0;
  return result_of(rdma_create_id(channel, id, NULL, (enum rdma_port_space)port_space));
}

/* librdmacm uses the device of an id without checking that the id has one. */
static int has_device(const struct rdma_cm_id *id) { return id->verbs != NULL; }

int cm_resolve_route(struct rdma_cm_id *id, int timeout_millis) {
  errno = 0;
  return has_device(id) ? result_of(rdma_resolve_route(id, timeout_millis)) : -EINVAL;
}

/* librdmacm refuses numbers that the device cannot do, except the number that means the most. */
static int cut_reads(struct rdma_cm_id *id, struct rdma_conn_param *param) {
  struct ibv_device_attr device;
  int result = result_of(ibv_query_device(id->verbs, &device));
  if (result == 0) {
    if (param->responder_resources > device.max_qp_rd_atom) {
      param->responder_resources = RDMA_MAX_RESP_RES;
    }
    if (param->initiator_depth > device.max_qp_init_rd_atom) {
      param->initiator_depth = RDMA_MAX_INIT_DEPTH;
    }
  }
  return result;
}

static int start(struct rdma_cm_id *id, struct rdma_conn_param *param,
                 int (*call)(struct rdma_cm_id *, struct rdma_conn_param *)) {
  if (!has_device(id) || id->qp == NULL) {
    return -EINVAL;
  }
  errno = 0;
  int result = cut_reads(id, param);
  return result < 0 ? result : result_of(call(id, param));
}

int cm_connect(struct rdma_cm_id *id, struct rdma_conn_param *param) {
  return start(id, param, rdma_connect);
}

int cm_accept(struct rdma_cm_id *id, struct rdma_conn_param *param) {
  return start(id, param, rdma_accept);
}

int cm_reject(struct rdma_cm_id *id, const void *data, uint8_t length) {
  errno = 0;
  return result_of(rdma_reject(id, data, length));
}

int cm_disconnect(struct rdma_cm_id *id) {
  errno = 0;
  return has_device(id) ? result_of(rdma_disconnect(id)) : -EINVAL;
}

static void copy_event(const struct rdma_cm_event *from, struct crail_cm_event *to) {
  const struct rdma_conn_param *param = &from->param.conn;
  memset(to, 0, sizeof *to);
  to->type = (int32_t)from->event;
  to->status = from->status;
  to->id = from->id != NULL ? (int64_t)(intptr_t)from->id : -1;
  to->listen_id = from->listen_id != NULL ? (int64_t)(intptr_t)from->listen_id : -1;
  if (from->event == RDMA_CM_EVENT_MULTICAST_JOIN || from->event == RDMA_CM_EVENT_MULTICAST_ERROR) {
    return; /* The other member of the union is valid. */
  }
  to->qp_number = param->qp_num;
  to->responder_resources = param->responder_resources;
  to->initiator_depth = param->initiator_depth;
  to->retries = param->retry_count;
  to->rnr_retries = param->rnr_retry_count;
  if (param->private_data != NULL) {
    to->private_length = param->private_data_len;
    memcpy(to->private_data, param->private_data, param->private_data_len);
  }
}

int cm_next_event(struct rdma_event_channel *channel, int timeout_millis,
                  struct crail_cm_event *event) {
  int64_t deadline = deadline_after(timeout_millis);
  for (;;) {
    struct rdma_cm_event *raw;
    errno = 0;
    if (rdma_get_cm_event(channel, &raw) == 0) {
      copy_event(raw, event);
      /* Acknowledged at once, since destroying an id waits for this. */
      return result_of(rdma_ack_cm_event(raw));
    }
    if (errno != EAGAIN && errno != EINTR) {
      return last_error();
    }
    int result = readable_until(channel->fd, deadline);
    if (result < 0) {
      return result;
    }
  }
}

void cm_close_removed_devices(void) {
  struct ibv_context **contexts = rdma_get_devices(NULL);
  if (contexts != NULL) {
    rdma_free_devices(contexts);
  }
}

int cm_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attributes) {
  if (!has_device(id) || attributes->send_cq == NULL || attributes->recv_cq == NULL) {
    return -EINVAL; /* librdmacm would make queues that cm_destroy_qp does not know. */
  }
  errno = 0;
  return result_of(rdma_create_qp(id, pd, attributes));
}

int cm_destroy_qp(struct rdma_cm_id *id) {
  if (id->qp == NULL) {
    return 0;
  }
  /* The same as rdma_destroy_qp, which returns no error and forgets the queue pair after one. */
  errno = 0;
  int result = result_of(ibv_destroy_qp(id->qp));
  if (result == 0) {
    id->qp = NULL;
  }
  return result;
}

int cq_create_channel(struct ibv_context *context, struct ibv_comp_channel **channel) {
  errno = 0;
  *channel = ibv_create_comp_channel(context);
  if (*channel == NULL) {
    return last_error();
  }
  int result = set_nonblocking((*channel)->fd);
  if (result < 0) {
    ibv_destroy_comp_channel(*channel);
  }
  return result;
}

int cq_next_event(struct ibv_comp_channel *channel, int timeout_millis, struct ibv_cq **cq) {
  int64_t deadline = deadline_after(timeout_millis);
  for (;;) {
    void *unused;
    errno = 0;
    if (ibv_get_cq_event(channel, cq, &unused) == 0) {
      return 0;
    }
    if (errno != EAGAIN && errno != EINTR) {
      return last_error();
    }
    int result = readable_until(channel->fd, deadline);
    if (result < 0) {
      return result;
    }
  }
}

int cm_await(const struct rdma_event_channel *events, const struct ibv_comp_channel *completions,
             int wakeup, int timeout_millis) {
  /* poll ignores negative descriptors. */
  struct pollfd fds[] = {
      {.fd = events != NULL ? events->fd : -1, .events = POLLIN},
      {.fd = completions != NULL ? completions->fd : -1, .events = POLLIN},
      {.fd = wakeup, .events = POLLIN},
  };
  const int bits[] = {io_crail_verbs_Verbs_READY_CM, io_crail_verbs_Verbs_READY_CQ,
                      io_crail_verbs_Verbs_READY_WAKEUP};
  int result = poll_until(fds, 3, deadline_after(timeout_millis));
  if (result <= 0) {
    return result;
  }
  int ready = 0;
  for (int i = 0; i < 3; i++) {
    if (fds[i].revents & POLLNVAL) {
      return -EBADF;
    }
    ready |= fds[i].revents != 0 ? bits[i] : 0;
  }
  if (ready & io_crail_verbs_Verbs_READY_WAKEUP) {
    result = wakeup_drain(wakeup);
  }
  return result < 0 ? result : ready;
}

int qp_set_state(struct ibv_qp *qp, enum ibv_qp_state state) {
  struct ibv_qp_attr attributes = {.qp_state = state};
  errno = 0;
  return result_of(ibv_modify_qp(qp, &attributes, IBV_QP_STATE));
}
