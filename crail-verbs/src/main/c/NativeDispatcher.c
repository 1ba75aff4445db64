/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The native methods of com.ibm.disni.verbs.impl.NativeDispatcher, as the jar of DiSNI 2.1 calls
 * them. A failed call throws java.io.IOException, even if the method does not declare it, since
 * every caller of it does. -1 means that there is no result, or none in time.
 */
#include <jni.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "io_crail_verbs_Verbs.h"
#include "result.h"

#define NATIVE(type, name) \
  JNIEXPORT type JNICALL Java_com_ibm_disni_verbs_impl_NativeDispatcher__1##name
#define POINTER(handle) ((void *)(uintptr_t)(handle))
#define HANDLE(pointer) ((jlong)(uintptr_t)(pointer))

enum {
  INTERFACE_VERSION = 32, /* the only one that the jar accepts */
  DEFAULT_SGES = 4,       /* its _createQP has no argument for it */
};

static void throw_io(JNIEnv *env, const char *call, int error) {
  char message[256];
  error_message(call, error, message, sizeof message);
  jclass type = (*env)->FindClass(env, "java/io/IOException");
  if (type != NULL) {
    (*env)->ThrowNew(env, type, message);
  }
}

/* Returns the result; throws an exception first if it is one of a failure. */
static jint check(JNIEnv *env, const char *call, int result) {
  if (result < 0) {
    throw_io(env, call, result);
  }
  return result;
}

/* Returns a pointer as a handle; throws an exception first if it is NULL. */
static jlong check_made(JNIEnv *env, const char *call, const void *made) {
  if (made == NULL) {
    throw_io(env, call, last_error());
    return -1;
  }
  return HANDLE(made);
}

/* ---- Connection manager ---- */

NATIVE(jlong, createEventChannel)(JNIEnv *env, jobject self) {
  (void)self;
  struct rdma_event_channel *channel;
  int result = cm_create_channel(&channel);
  return result < 0 ? check(env, "rdma_create_event_channel", result) : HANDLE(channel);
}

NATIVE(jint, destroyEventChannel)(JNIEnv *env, jobject self, jlong channel) {
  (void)env, (void)self;
  rdma_destroy_event_channel(POINTER(channel));
  return 0;
}

NATIVE(jlong, createId)(JNIEnv *env, jobject self, jlong channel, jshort port_space) {
  (void)self;
  struct rdma_cm_id *id;
  int result = cm_create_id(POINTER(channel), (uint16_t)port_space, &id);
  return result < 0 ? check(env, "rdma_create_id", result) : HANDLE(id);
}

NATIVE(jint, destroyCmId)(JNIEnv *env, jobject self, jlong id) {
  (void)self;
  errno = 0;
  return check(env, "rdma_destroy_id", result_of(rdma_destroy_id(POINTER(id))));
}

NATIVE(jint, destroyEp)(JNIEnv *env, jobject self, jlong id) {
  (void)self;
  int result = cm_destroy_qp(POINTER(id));
  if (result < 0) {
    return check(env, "ibv_destroy_qp", result); /* Only the id leads to it. */
  }
  errno = 0;
  return check(env, "rdma_destroy_id", result_of(rdma_destroy_id(POINTER(id))));
}

NATIVE(void, bindAddr)(JNIEnv *env, jobject self, jlong id, jlong address) {
  (void)self;
  errno = 0;
  check(env, "rdma_bind_addr", result_of(rdma_bind_addr(POINTER(id), POINTER(address))));
}

NATIVE(void, listen)(JNIEnv *env, jobject self, jlong id, jint backlog) {
  (void)self;
  errno = 0;
  check(env, "rdma_listen", result_of(rdma_listen(POINTER(id), backlog)));
}

NATIVE(void, resolveAddr)
(JNIEnv *env, jobject self, jlong id, jlong source, jlong destination, jint timeout_millis) {
  (void)self;
  errno = 0;
  check(env, "rdma_resolve_addr",
        result_of(rdma_resolve_addr(POINTER(id), POINTER(source), POINTER(destination),
                                    timeout_millis)));
}

NATIVE(void, resolveRoute)(JNIEnv *env, jobject self, jlong id, jint timeout_millis) {
  (void)self;
  check(env, "rdma_resolve_route", cm_resolve_route(POINTER(id), timeout_millis));
}

NATIVE(jint, getCmEvent)
(JNIEnv *env, jobject self, jlong channel, jlong listen_id, jlong id, jint timeout_millis) {
  (void)self;
  struct crail_cm_event event;
  int result = cm_next_event(POINTER(channel), timeout_millis, &event);
  if (result < 0) {
    if (result != -ETIMEDOUT) {
      throw_io(env, "rdma_get_cm_event", result);
    }
    return -1;
  }
  memcpy(POINTER(listen_id), &event.listen_id, sizeof event.listen_id);
  memcpy(POINTER(id), &event.id, sizeof event.id);
  return event.type;
}

NATIVE(jint, ackCmEvent)(JNIEnv *env, jobject self, jint event) {
  (void)env, (void)self, (void)event;
  return 0; /* taken and acknowledged together */
}

/* The Java interface has no number of reads, so the limit is that of the device. */
static struct rdma_conn_param connection(jint retries, jint rnr_retries) {
  return (struct rdma_conn_param){
      .responder_resources = RDMA_MAX_RESP_RES,
      .initiator_depth = RDMA_MAX_INIT_DEPTH,
      .retry_count = (uint8_t)retries,
      .rnr_retry_count = (uint8_t)rnr_retries,
  };
}

NATIVE(void, connect)
(JNIEnv *env, jobject self, jlong id, jint retries, jint rnr_retries, jlong data, jbyte length) {
  (void)self;
  struct rdma_conn_param param = connection(retries, rnr_retries);
  if (data != 0) {
    /* The argument is a signed byte, so a length above 127 arrives as a negative number. */
    if (length < 0 || length > io_crail_verbs_Verbs_MAX_CONNECT_DATA) {
      check(env, "rdma_connect", -EINVAL);
      return;
    }
    param.private_data = POINTER(data);
    param.private_data_len = (uint8_t)length;
  }
  check(env, "rdma_connect", cm_connect(POINTER(id), &param));
}

NATIVE(void, accept)(JNIEnv *env, jobject self, jlong id, jint retries, jint rnr_retries) {
  (void)self;
  struct rdma_conn_param param = connection(retries, rnr_retries);
  check(env, "rdma_accept", cm_accept(POINTER(id), &param));
}

NATIVE(jint, disconnect)(JNIEnv *env, jobject self, jlong id) {
  (void)self;
  return check(env, "rdma_disconnect", cm_disconnect(POINTER(id)));
}

/* DiSNI's Java code knows only IPv4 addresses. */
static jint copy_address(const struct sockaddr *from, jlong to) {
  if (from == NULL || from->sa_family != AF_INET) {
    return -1;
  }
  memcpy(POINTER(to), from, sizeof(struct sockaddr_in));
  return 0;
}

NATIVE(jint, getSrcAddr)(JNIEnv *env, jobject self, jlong id, jlong address) {
  (void)env, (void)self;
  return copy_address(rdma_get_local_addr(POINTER(id)), address);
}

NATIVE(jint, getDstAddr)(JNIEnv *env, jobject self, jlong id, jlong address) {
  (void)env, (void)self;
  return copy_address(rdma_get_peer_addr(POINTER(id)), address);
}

NATIVE(jlong, getContext)(JNIEnv *env, jobject self, jlong id) {
  (void)env, (void)self;
  const struct rdma_cm_id *known = POINTER(id);
  return known->verbs != NULL ? HANDLE(known->verbs) : -1;
}

/* ---- Device ---- */

NATIVE(jint, getContextFd)(JNIEnv *env, jobject self, jlong context) {
  (void)env, (void)self;
  return ((struct ibv_context *)POINTER(context))->cmd_fd;
}

NATIVE(jint, getContextNumCompVectors)(JNIEnv *env, jobject self, jlong context) {
  (void)env, (void)self;
  return ((struct ibv_context *)POINTER(context))->num_comp_vectors;
}

NATIVE(jint, queryOdpSupport)(JNIEnv *env, jobject self, jlong context) {
  (void)env, (void)self;
  struct ibv_device_attr_ex device;
  memset(&device, 0, sizeof device);
  if (ibv_query_device_ex(POINTER(context), NULL, &device) != 0 ||
      (device.odp_caps.general_caps & IBV_ODP_SUPPORT) == 0) {
    return -1;
  }
  return (jint)device.odp_caps.per_transport_caps.rc_odp_caps;
}

/* ---- Memory ---- */

NATIVE(jlong, allocPd)(JNIEnv *env, jobject self, jlong context) {
  (void)self;
  errno = 0;
  return check_made(env, "ibv_alloc_pd", ibv_alloc_pd(POINTER(context)));
}

NATIVE(jint, deallocPd)(JNIEnv *env, jobject self, jlong pd) {
  (void)self;
  errno = 0;
  return check(env, "ibv_dealloc_pd", result_of(ibv_dealloc_pd(POINTER(pd))));
}

NATIVE(jint, getPdHandle)(JNIEnv *env, jobject self, jlong pd) {
  (void)env, (void)self;
  return (jint)((struct ibv_pd *)POINTER(pd))->handle;
}

NATIVE(jlong, regMr)
(JNIEnv *env, jobject self, jlong pd, jlong address, jint length, jint access, jlong lkey,
 jlong rkey, jlong handle) {
  (void)self;
  if (length < 0) {
    return check(env, "ibv_reg_mr", -EINVAL);
  }
  errno = 0;
  struct ibv_mr *mr = ibv_reg_mr(POINTER(pd), POINTER(address), (size_t)length, access);
  if (mr != NULL) {
    memcpy(POINTER(lkey), &mr->lkey, sizeof mr->lkey);
    memcpy(POINTER(rkey), &mr->rkey, sizeof mr->rkey);
    memcpy(POINTER(handle), &mr->handle, sizeof mr->handle);
  }
  return check_made(env, "ibv_reg_mr", mr);
}

NATIVE(void, deregMr)(JNIEnv *env, jobject self, jlong mr) {
  (void)self;
  errno = 0;
  check(env, "ibv_dereg_mr", result_of(ibv_dereg_mr(POINTER(mr))));
}

NATIVE(jint, expPrefetchMr)(JNIEnv *env, jobject self, jlong mr, jlong address, jint length) {
  (void)self;
  struct ibv_mr *region = POINTER(mr);
  struct ibv_sge part = {
      .addr = (uint64_t)address, .length = (uint32_t)length, .lkey = region->lkey};
  errno = 0;
  return check(env, "ibv_advise_mr",
               result_of(ibv_advise_mr(region->pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
                                       IBV_ADVISE_MR_FLAG_FLUSH, &part, 1)));
}

/* ---- Queues ---- */

/*
 * DiSNI destroys a completion channel before its completion queue. The kernel refuses that. So the
 * channel is kept here, and destroyed with the last of its queues.
 */
struct orphan {
  struct ibv_comp_channel *channel;
  struct orphan *next;
};

static pthread_mutex_t orphans_lock = PTHREAD_MUTEX_INITIALIZER;
static struct orphan *orphans;

/* Called with the lock held. */
static int orphan_add(struct ibv_comp_channel *channel) {
  struct orphan *added = malloc(sizeof *added);
  if (added == NULL) {
    return -ENOMEM;
  }
  *added = (struct orphan){.channel = channel, .next = orphans};
  orphans = added;
  return 0;
}

/* Called with the lock held. */
static int orphan_destroy(const struct ibv_comp_channel *channel) {
  for (struct orphan **at = &orphans; *at != NULL; at = &(*at)->next) {
    struct orphan *found = *at;
    if (found->channel == channel) {
      int result = result_of(ibv_destroy_comp_channel(found->channel));
      if (result == -EBUSY) {
        return 0;
      }
      *at = found->next;
      free(found);
      return result;
    }
  }
  return 0;
}

NATIVE(jlong, createCompChannel)(JNIEnv *env, jobject self, jlong context) {
  (void)self;
  struct ibv_comp_channel *channel;
  int result = cq_create_channel(POINTER(context), &channel);
  return result < 0 ? check(env, "ibv_create_comp_channel", result) : HANDLE(channel);
}

NATIVE(jint, destroyCompChannel)(JNIEnv *env, jobject self, jlong channel) {
  (void)self;
  errno = 0;
  pthread_mutex_lock(&orphans_lock);
  int result = result_of(ibv_destroy_comp_channel(POINTER(channel)));
  if (result == -EBUSY) {
    result = orphan_add(POINTER(channel));
  }
  pthread_mutex_unlock(&orphans_lock);
  return check(env, "ibv_destroy_comp_channel", result);
}

NATIVE(jlong, createCQ)
(JNIEnv *env, jobject self, jlong context, jlong channel, jint entries, jint vector) {
  (void)self;
  errno = 0;
  return check_made(env, "ibv_create_cq",
                    ibv_create_cq(POINTER(context), entries, NULL, POINTER(channel), vector));
}

NATIVE(jint, destroyCQ)(JNIEnv *env, jobject self, jlong cq) {
  (void)self;
  struct ibv_comp_channel *channel = ((struct ibv_cq *)POINTER(cq))->channel;
  /* This waits until all events are acknowledged, so it must not hold the lock. If another
   * thread finds the channel busy meanwhile, the channel is an orphan before the lock is taken
   * below. */
  errno = 0;
  int result = result_of(ibv_destroy_cq(POINTER(cq)));
  if (result == 0 && channel != NULL) {
    pthread_mutex_lock(&orphans_lock);
    result = orphan_destroy(channel);
    pthread_mutex_unlock(&orphans_lock);
  }
  return check(env, "ibv_destroy_cq", result);
}

NATIVE(jint, getCqEvent)(JNIEnv *env, jobject self, jlong channel, jint timeout_millis) {
  (void)self;
  struct ibv_cq *cq;
  int result = cq_next_event(POINTER(channel), timeout_millis, &cq);
  if (result == -ETIMEDOUT) {
    return -1;
  }
  return check(env, "ibv_get_cq_event", result);
}

NATIVE(jint, ackCqEvent)(JNIEnv *env, jobject self, jlong cq, jint events) {
  (void)env, (void)self;
  ibv_ack_cq_events(POINTER(cq), (unsigned)events);
  return 0;
}

NATIVE(jint, reqNotifyCQ)(JNIEnv *env, jobject self, jlong cq, jint solicited_only) {
  (void)self;
  errno = 0;
  return check(env, "ibv_req_notify_cq", result_of(ibv_req_notify_cq(POINTER(cq), solicited_only)));
}

NATIVE(jint, pollCQ)(JNIEnv *env, jobject self, jlong cq, jint max, jlong completions) {
  (void)self;
  int count = ibv_poll_cq(POINTER(cq), max, POINTER(completions));
  return count >= 0 ? count : check(env, "ibv_poll_cq", -EIO);
}

NATIVE(jlong, createQP)
(JNIEnv *env, jobject self, jlong id, jlong pd, jlong send_cq, jlong recv_cq, jint type,
 jint max_send, jint max_recv, jint max_inline) {
  (void)self;
  struct rdma_cm_id *owner = POINTER(id);
  struct ibv_device_attr device;
  errno = 0;
  int result = owner->verbs != NULL ? result_of(ibv_query_device(owner->verbs, &device)) : -EINVAL;
  if (result < 0) {
    return check(env, "rdma_create_qp", result);
  }
  uint32_t sges = device.max_sge < DEFAULT_SGES ? (uint32_t)device.max_sge : DEFAULT_SGES;
  struct ibv_qp_init_attr attributes = {
      .send_cq = POINTER(send_cq),
      .recv_cq = POINTER(recv_cq),
      .cap = {.max_send_wr = (uint32_t)max_send,
              .max_recv_wr = (uint32_t)max_recv,
              .max_send_sge = sges,
              .max_recv_sge = sges,
              .max_inline_data = (uint32_t)max_inline},
      .qp_type = (enum ibv_qp_type)type,
  };
  result = cm_create_qp(owner, POINTER(pd), &attributes);
  return result < 0 ? check(env, "rdma_create_qp", result) : HANDLE(owner->qp);
}

NATIVE(jint, destroyQP)(JNIEnv *env, jobject self, jlong id) {
  (void)self;
  return check(env, "ibv_destroy_qp", cm_destroy_qp(POINTER(id)));
}

/* The jar always passes 0 for the attributes, so there is nothing to change. */
NATIVE(jint, modifyQP)(JNIEnv *env, jobject self, jlong qp, jlong attributes) {
  (void)self;
  const struct ibv_qp_attr *wanted = POINTER(attributes);
  return check(env, "ibv_modify_qp",
               wanted != NULL ? qp_set_state(POINTER(qp), wanted->qp_state) : -EINVAL);
}

NATIVE(jint, getQpNum)(JNIEnv *env, jobject self, jlong qp) {
  (void)env, (void)self;
  return (jint)((struct ibv_qp *)POINTER(qp))->qp_num;
}

NATIVE(void, postSend)(JNIEnv *env, jobject self, jlong qp, jlong requests) {
  (void)self;
  struct ibv_send_wr *bad;
  errno = 0;
  int result = ibv_post_send(POINTER(qp), POINTER(requests), &bad);
  if (result != 0) {
    throw_io(env, "ibv_post_send", result_of(result));
  }
}

NATIVE(void, postRecv)(JNIEnv *env, jobject self, jlong qp, jlong requests) {
  (void)self;
  struct ibv_recv_wr *bad;
  errno = 0;
  int result = ibv_post_recv(POINTER(qp), POINTER(requests), &bad);
  if (result != 0) {
    throw_io(env, "ibv_post_recv", result_of(result));
  }
}

/* ---- Layouts, as they are ---- */

NATIVE(jint, getSockAddrInSize)(JNIEnv *env, jobject self) {
  (void)env, (void)self;
  return (jint)sizeof(struct sockaddr_in);
}

NATIVE(jint, getIbvRecvWRSize)(JNIEnv *env, jobject self) {
  (void)env, (void)self;
  return (jint)sizeof(struct ibv_recv_wr);
}

NATIVE(jint, getIbvSendWRSize)(JNIEnv *env, jobject self) {
  (void)env, (void)self;
  return (jint)sizeof(struct ibv_send_wr);
}

NATIVE(jint, getIbvSgeSize)(JNIEnv *env, jobject self) {
  (void)env, (void)self;
  return (jint)sizeof(struct ibv_sge);
}

NATIVE(jint, getIbvWCSize)(JNIEnv *env, jobject self) {
  (void)env, (void)self;
  return (jint)sizeof(struct ibv_wc);
}

NATIVE(jint, getRemoteAddressOffset)(JNIEnv *env, jobject self) {
  (void)env, (void)self;
  return (jint)offsetof(struct ibv_send_wr, wr.rdma.remote_addr);
}

NATIVE(jint, getRKeyOffset)(JNIEnv *env, jobject self) {
  (void)env, (void)self;
  return (jint)offsetof(struct ibv_send_wr, wr.rdma.rkey);
}

NATIVE(jint, getVersion)(JNIEnv *env, jobject self) {
  (void)env, (void)self;
  return INTERFACE_VERSION;
}
