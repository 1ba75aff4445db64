/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The native methods of io.crail.verbs.Verbs. javac makes their prototypes, and Verbs.java
 * documents them.
 */
#include "io_crail_verbs_Verbs.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "affinity.h"
#include "cm.h"
#include "device.h"
#include "result.h"
#include "wait.h"

#define NATIVE(type, name) JNIEXPORT type JNICALL Java_io_crail_verbs_Verbs_##name
#define POINTER(handle) ((void *)(uintptr_t)(handle))
#define HANDLE(pointer) ((jlong)(uintptr_t)(pointer))
#define COUNT(array) ((jsize)(sizeof(array) / sizeof *(array)))

#define GID_BYTES 16

static void throw_verbs(JNIEnv *env, const char *call, int error) {
  char text[128];
  jclass type = (*env)->FindClass(env, "io/crail/verbs/VerbsException");
  if (type == NULL) {
    return;
  }
  jmethodID make = (*env)->GetMethodID(env, type, "<init>", "(Ljava/lang/String;ILjava/lang/String;)V");
  jstring where = make != NULL ? (*env)->NewStringUTF(env, call) : NULL;
  jstring what =
      where != NULL ? (*env)->NewStringUTF(env, error_text(error, text, sizeof text)) : NULL;
  jobject thrown = what != NULL ? (*env)->NewObject(env, type, make, where, abs(error), what) : NULL;
  if (thrown != NULL) {
    (*env)->Throw(env, thrown);
  }
}

/* Whether a result is one of success. If not, an exception is pending. */
static int succeeded(JNIEnv *env, const char *call, int result) {
  if (result < 0) {
    throw_verbs(env, call, result);
  }
  return result >= 0;
}

/* A pointer as a handle. If it is NULL, an exception is pending. */
static jlong made(JNIEnv *env, const char *call, const void *pointer) {
  if (pointer == NULL) {
    throw_verbs(env, call, last_error());
  }
  return HANDLE(pointer);
}

NATIVE(jint, abi)(JNIEnv *env, jclass type) {
  (void)env, (void)type;
  return io_crail_verbs_Verbs_ABI;
}

/* ---- Devices ---- */

NATIVE(jobjectArray, deviceNames)(JNIEnv *env, jclass type) {
  (void)type;
  struct ibv_device **list;
  int count = device_list(&list);
  if (!succeeded(env, "ibv_get_device_list", count)) {
    return NULL;
  }
  jclass string = (*env)->FindClass(env, "java/lang/String");
  jobjectArray names = string != NULL ? (*env)->NewObjectArray(env, count, string, NULL) : NULL;
  for (int i = 0; names != NULL && i < count; i++) {
    jstring name = (*env)->NewStringUTF(env, ibv_get_device_name(list[i]));
    if (name == NULL) {
      names = NULL;
    } else {
      (*env)->SetObjectArrayElement(env, names, i, name);
      (*env)->DeleteLocalRef(env, name);
    }
  }
  if (list != NULL) {
    ibv_free_device_list(list);
  }
  return names;
}

/* Opens a device by its Java name. If it returns NULL, an exception is pending. */
static struct ibv_context *open_device(JNIEnv *env, jstring name) {
  struct ibv_context *context = NULL;
  const char *text = (*env)->GetStringUTFChars(env, name, NULL);
  if (text != NULL) {
    succeeded(env, "ibv_open_device", device_open(text, &context));
    (*env)->ReleaseStringUTFChars(env, name, text);
  }
  return context;
}

static jlongArray long_array(JNIEnv *env, const jlong *values, jsize count) {
  jlongArray array = (*env)->NewLongArray(env, count);
  if (array != NULL) {
    (*env)->SetLongArrayRegion(env, array, 0, count, values);
  }
  return array;
}

NATIVE(jlongArray, deviceNumbers)(JNIEnv *env, jclass type, jstring name) {
  (void)type;
  struct ibv_context *context = open_device(env, name);
  if (context == NULL) {
    return NULL;
  }
  jlongArray array = NULL;
  struct ibv_device_attr device;
  errno = 0;
  if (succeeded(env, "ibv_query_device", result_of(ibv_query_device(context, &device)))) {
    uint64_t most = device.max_mr_size < INT64_MAX ? device.max_mr_size : INT64_MAX;
    const jlong numbers[] = {
        (jlong)be64toh(device.node_guid), device.max_qp,      device.max_qp_wr,
        device.max_sge,                   device.max_cq,      device.max_cqe,
        device.max_mr,                    (jlong)most, device.max_pd,
        device.max_qp_rd_atom,            device.max_qp_init_rd_atom,
        context->num_comp_vectors,        device.phys_port_cnt,
    };
    array = long_array(env, numbers, COUNT(numbers));
  }
  ibv_close_device(context);
  return array;
}

/* Whether a device can have a port of this number. If not, an exception is pending. */
static int is_port(JNIEnv *env, const char *call, jint port) {
  return succeeded(env, call, port < 0 || port > UINT8_MAX ? -EINVAL : 0);
}

NATIVE(jlongArray, portNumbers)(JNIEnv *env, jclass type, jstring name, jint number) {
  (void)type;
  if (!is_port(env, "ibv_query_port", number)) {
    return NULL;
  }
  struct ibv_context *context = open_device(env, name);
  if (context == NULL) {
    return NULL;
  }
  jlongArray array = NULL;
  struct ibv_port_attr port;
  errno = 0;
  if (succeeded(env, "ibv_query_port", result_of(ibv_query_port(context, (uint8_t)number, &port)))) {
    const jlong numbers[] = {
        port.state,      mtu_bytes(port.active_mtu), mtu_bytes(port.max_mtu), port.max_msg_sz,
        port.link_layer, port.gid_tbl_len,
    };
    array = long_array(env, numbers, COUNT(numbers));
  }
  ibv_close_device(context);
  return array;
}

/* An entry that cannot be read counts as empty. The kernel answers for each entry alone. */
static void read_gids(struct ibv_context *context, jint port, jint length, jbyte *table) {
  for (jint i = 0; i < length; i++) {
    union ibv_gid gid;
    if (ibv_query_gid(context, (uint8_t)port, i, &gid) == 0) {
      memcpy(table + i * GID_BYTES, gid.raw, GID_BYTES);
    }
  }
}

NATIVE(jbyteArray, gidTable)(JNIEnv *env, jclass type, jstring name, jint port, jint length) {
  (void)type;
  jbyteArray array = NULL;
  if (!is_port(env, "ibv_query_gid", port)) {
    return NULL;
  }
  if (length < 0 || length > INT_MAX / GID_BYTES) {
    throw_verbs(env, "ibv_query_gid", -EINVAL);
    return NULL;
  }
  struct ibv_context *context = open_device(env, name);
  if (context == NULL) {
    return NULL;
  }
  jbyte *table = calloc((size_t)length + 1, GID_BYTES);
  if (table == NULL) {
    throw_verbs(env, "ibv_query_gid", -ENOMEM);
  } else {
    read_gids(context, port, length, table);
    array = (*env)->NewByteArray(env, length * GID_BYTES);
    if (array != NULL) {
      (*env)->SetByteArrayRegion(env, array, 0, length * GID_BYTES, table);
    }
    free(table);
  }
  ibv_close_device(context);
  return array;
}

NATIVE(jlong, memlockLimitBytes)(JNIEnv *env, jclass type) {
  (void)env, (void)type;
  return memlock_limit();
}

/* ---- Memory ---- */

NATIVE(jlong, addressOf)(JNIEnv *env, jclass type, jobject buffer) {
  (void)type;
  return buffer != NULL ? HANDLE((*env)->GetDirectBufferAddress(env, buffer)) : 0;
}

NATIVE(jlong, regMr)
(JNIEnv *env, jclass type, jlong pd, jlong address, jlong length, jint access) {
  (void)type;
  if (length < 0) {
    throw_verbs(env, "ibv_reg_mr", -EINVAL);
    return 0;
  }
  errno = 0;
  return made(env, "ibv_reg_mr", ibv_reg_mr(POINTER(pd), POINTER(address), (size_t)length, access));
}

NATIVE(jint, lkey)(JNIEnv *env, jclass type, jlong mr) {
  (void)env, (void)type;
  return (jint)((struct ibv_mr *)POINTER(mr))->lkey;
}

NATIVE(jint, rkey)(JNIEnv *env, jclass type, jlong mr) {
  (void)env, (void)type;
  return (jint)((struct ibv_mr *)POINTER(mr))->rkey;
}

NATIVE(void, deregMr)(JNIEnv *env, jclass type, jlong mr) {
  (void)type;
  errno = 0;
  succeeded(env, "ibv_dereg_mr", result_of(ibv_dereg_mr(POINTER(mr))));
}

/* ---- Connection manager ---- */

NATIVE(jlong, createEventChannel)(JNIEnv *env, jclass type) {
  (void)type;
  struct rdma_event_channel *channel;
  int result = cm_create_channel(&channel);
  return succeeded(env, "rdma_create_event_channel", result) ? HANDLE(channel) : 0;
}

NATIVE(jint, eventDescriptor)(JNIEnv *env, jclass type, jlong channel) {
  (void)env, (void)type;
  struct rdma_event_channel *events = POINTER(channel);
  return events->fd;
}

NATIVE(void, destroyEventChannel)(JNIEnv *env, jclass type, jlong channel) {
  (void)env, (void)type;
  rdma_destroy_event_channel(POINTER(channel));
}

NATIVE(jlong, createId)(JNIEnv *env, jclass type, jlong channel) {
  (void)type;
  struct rdma_cm_id *id;
  int result = cm_create_id(POINTER(channel), RDMA_PS_TCP, &id);
  return succeeded(env, "rdma_create_id", result) ? HANDLE(id) : 0;
}

NATIVE(void, destroyId)(JNIEnv *env, jclass type, jlong id) {
  (void)type;
  errno = 0;
  succeeded(env, "rdma_destroy_id", result_of(rdma_destroy_id(POINTER(id))));
}

/* Reads an address of Java. Returns 0 or -errno. */
static int read_address(JNIEnv *env, union address *to, jbyteArray bytes, jint port, jint scope) {
  jbyte copy[sizeof(struct in6_addr)];
  jsize length = bytes != NULL ? (*env)->GetArrayLength(env, bytes) : 0;
  if (length > COUNT(copy)) {
    return -EAFNOSUPPORT;
  }
  if (length > 0) {
    (*env)->GetByteArrayRegion(env, bytes, 0, length, copy);
  }
  return address_make(to, copy, length, port, (uint32_t)scope);
}

NATIVE(void, bind)
(JNIEnv *env, jclass type, jlong id, jbyteArray bytes, jint port, jint scope) {
  (void)type;
  union address address;
  int result = read_address(env, &address, bytes, port, scope);
  errno = 0;
  succeeded(env, "rdma_bind_addr",
            result < 0 ? result : result_of(rdma_bind_addr(POINTER(id), &address.any)));
}

NATIVE(void, listen)(JNIEnv *env, jclass type, jlong id, jint backlog) {
  (void)type;
  errno = 0;
  succeeded(env, "rdma_listen", result_of(rdma_listen(POINTER(id), backlog)));
}

NATIVE(void, resolveAddress)
(JNIEnv *env, jclass type, jlong id, jbyteArray bytes, jint port, jint scope,
 jint timeout_millis) {
  (void)type;
  union address address;
  int result = timeout_millis < 0 ? -EINVAL : read_address(env, &address, bytes, port, scope);
  errno = 0;
  succeeded(env, "rdma_resolve_addr",
            result < 0
                ? result
                : result_of(rdma_resolve_addr(POINTER(id), NULL, &address.any, timeout_millis)));
}

NATIVE(void, resolveRoute)(JNIEnv *env, jclass type, jlong id, jint timeout_millis) {
  (void)type;
  succeeded(env, "rdma_resolve_route",
            timeout_millis < 0 ? -EINVAL : cm_resolve_route(POINTER(id), timeout_millis));
}

NATIVE(void, setAckTimeout)(JNIEnv *env, jclass type, jlong id, jint exponent) {
  (void)type;
  uint8_t value = (uint8_t)exponent;
  errno = 0;
  succeeded(env, "rdma_set_option",
            exponent < 0 || exponent > 31
                ? -EINVAL
                : result_of(rdma_set_option(POINTER(id), RDMA_OPTION_ID,
                                            RDMA_OPTION_ID_ACK_TIMEOUT, &value, sizeof value)));
}

NATIVE(void, setReuseAddress)(JNIEnv *env, jclass type, jlong id, jboolean reuse) {
  (void)type;
  int value = reuse == JNI_TRUE;
  errno = 0;
  succeeded(env, "rdma_set_option",
            result_of(rdma_set_option(POINTER(id), RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR,
                                      &value, sizeof value)));
}

/* Whether the numbers of a connection fit into the C structure and into a message. */
static int fits(jint responder, jint initiator, jint retries, jint rnr_retries, jint length,
                jint max_length) {
  return responder >= 0 && responder <= UINT8_MAX && initiator >= 0 && initiator <= UINT8_MAX &&
         retries >= 0 && retries <= 7 && rnr_retries >= 0 && rnr_retries <= 7 && length >= 0 &&
         length <= max_length;
}

static struct rdma_conn_param connection(jint responder, jint initiator, jint retries,
                                         jint rnr_retries, jlong data, jint length) {
  return (struct rdma_conn_param){
      .private_data = length > 0 ? POINTER(data) : NULL,
      .private_data_len = (uint8_t)length,
      .responder_resources = (uint8_t)responder,
      .initiator_depth = (uint8_t)initiator,
      .retry_count = (uint8_t)retries,
      .rnr_retry_count = (uint8_t)rnr_retries,
  };
}

NATIVE(void, connect)
(JNIEnv *env, jclass type, jlong id, jint responder, jint initiator, jint retries,
 jint rnr_retries, jlong data, jint length) {
  (void)type;
  struct rdma_conn_param param =
      connection(responder, initiator, retries, rnr_retries, data, length);
  int result = fits(responder, initiator, retries, rnr_retries, length,
                    io_crail_verbs_Verbs_MAX_CONNECT_DATA)
                   ? cm_connect(POINTER(id), &param)
                   : -EINVAL;
  succeeded(env, "rdma_connect", result);
}

NATIVE(void, accept)
(JNIEnv *env, jclass type, jlong id, jint responder, jint initiator, jint rnr_retries, jlong data,
 jint length) {
  (void)type;
  struct rdma_conn_param param = connection(responder, initiator, 0, rnr_retries, data, length);
  int result =
      fits(responder, initiator, 0, rnr_retries, length, io_crail_verbs_Verbs_MAX_ACCEPT_DATA)
          ? cm_accept(POINTER(id), &param)
          : -EINVAL;
  succeeded(env, "rdma_accept", result);
}

NATIVE(void, reject)(JNIEnv *env, jclass type, jlong id, jlong data, jint length) {
  (void)type;
  int fit = length >= 0 && length <= io_crail_verbs_Verbs_MAX_REJECT_DATA;
  succeeded(env, "rdma_reject",
            fit ? cm_reject(POINTER(id), POINTER(data), (uint8_t)length) : -EINVAL);
}

NATIVE(void, disconnect)(JNIEnv *env, jclass type, jlong id) {
  (void)type;
  succeeded(env, "rdma_disconnect", cm_disconnect(POINTER(id)));
}

NATIVE(jint, getCmEvent)
(JNIEnv *env, jclass type, jlong channel, jint timeout_millis, jlong event) {
  (void)type;
  struct crail_cm_event *to = POINTER(event);
  int result = timeout_millis < 0 ? -EINVAL : cm_next_event(POINTER(channel), timeout_millis, to);
  if (result == -ETIMEDOUT) {
    return result;
  }
  return succeeded(env, "rdma_get_cm_event", result) ? to->type : result;
}

/* Port, scope, address, as Verbs.java reads them; NULL for another kind of address. */
NATIVE(jbyteArray, address)(JNIEnv *env, jclass type, jlong id, jboolean peer) {
  (void)type;
  const union address *known =
      (const void *)(peer ? rdma_get_peer_addr(POINTER(id)) : rdma_get_local_addr(POINTER(id)));
  uint16_t port;
  uint32_t scope = 0;
  const void *bytes;
  jsize length;
  if (known->any.sa_family == AF_INET) {
    port = known->four.sin_port;
    bytes = &known->four.sin_addr;
    length = sizeof known->four.sin_addr;
  } else if (known->any.sa_family == AF_INET6) {
    port = known->six.sin6_port;
    scope = htonl(known->six.sin6_scope_id);
    bytes = &known->six.sin6_addr;
    length = sizeof known->six.sin6_addr;
  } else {
    return NULL;
  }
  const jsize head = sizeof port + sizeof scope;
  jbyteArray array = (*env)->NewByteArray(env, head + length);
  if (array != NULL) {
    (*env)->SetByteArrayRegion(env, array, 0, sizeof port, (const jbyte *)&port);
    (*env)->SetByteArrayRegion(env, array, sizeof port, sizeof scope, (const jbyte *)&scope);
    (*env)->SetByteArrayRegion(env, array, head, length, bytes);
  }
  return array;
}

NATIVE(jlong, context)(JNIEnv *env, jclass type, jlong id) {
  (void)env, (void)type;
  return HANDLE(((struct rdma_cm_id *)POINTER(id))->verbs);
}

NATIVE(jstring, deviceOf)(JNIEnv *env, jclass type, jlong id) {
  (void)type;
  const struct rdma_cm_id *known = POINTER(id);
  return known->verbs != NULL
             ? (*env)->NewStringUTF(env, ibv_get_device_name(known->verbs->device))
             : NULL;
}

NATIVE(jint, devicePortOf)(JNIEnv *env, jclass type, jlong id) {
  (void)env, (void)type;
  const struct rdma_cm_id *known = POINTER(id);
  return known->verbs != NULL ? known->port_num : 0;
}

NATIVE(jlong, entryOf)(JNIEnv *env, jclass type, jlong context) {
  (void)env, (void)type;
  return device_entry(POINTER(context));
}

NATIVE(jboolean, isPresent)(JNIEnv *env, jclass type, jlong context, jlong entry) {
  (void)env, (void)type;
  return device_present(POINTER(context), entry) ? JNI_TRUE : JNI_FALSE;
}

NATIVE(void, closeRemovedDevices)(JNIEnv *env, jclass type) {
  (void)env, (void)type;
  cm_close_removed_devices();
}

/* ---- Queues ---- */

NATIVE(jlong, allocPd)(JNIEnv *env, jclass type, jlong context) {
  (void)type;
  errno = 0;
  return made(env, "ibv_alloc_pd", ibv_alloc_pd(POINTER(context)));
}

NATIVE(void, deallocPd)(JNIEnv *env, jclass type, jlong pd) {
  (void)type;
  errno = 0;
  succeeded(env, "ibv_dealloc_pd", result_of(ibv_dealloc_pd(POINTER(pd))));
}

NATIVE(jlong, createCompChannel)(JNIEnv *env, jclass type, jlong context) {
  (void)type;
  struct ibv_comp_channel *channel;
  int result = cq_create_channel(POINTER(context), &channel);
  return succeeded(env, "ibv_create_comp_channel", result) ? HANDLE(channel) : 0;
}

NATIVE(jint, completionDescriptor)(JNIEnv *env, jclass type, jlong channel) {
  (void)env, (void)type;
  struct ibv_comp_channel *completions = POINTER(channel);
  return completions->fd;
}

NATIVE(void, destroyCompChannel)(JNIEnv *env, jclass type, jlong channel) {
  (void)type;
  errno = 0;
  succeeded(env, "ibv_destroy_comp_channel", result_of(ibv_destroy_comp_channel(POINTER(channel))));
}

NATIVE(jlong, createCq)
(JNIEnv *env, jclass type, jlong context, jint entries, jlong channel, jint vector) {
  (void)type;
  errno = 0;
  return made(env, "ibv_create_cq",
              ibv_create_cq(POINTER(context), entries, NULL, POINTER(channel), vector));
}

NATIVE(jint, cqEntries)(JNIEnv *env, jclass type, jlong cq) {
  (void)env, (void)type;
  return ((struct ibv_cq *)POINTER(cq))->cqe;
}

NATIVE(void, destroyCq)(JNIEnv *env, jclass type, jlong cq) {
  (void)type;
  errno = 0;
  succeeded(env, "ibv_destroy_cq", result_of(ibv_destroy_cq(POINTER(cq))));
}

NATIVE(jlong, createQp)
(JNIEnv *env, jclass type, jlong id, jlong pd, jlong send_cq, jlong recv_cq, jboolean signal_all,
 jlong caps) {
  (void)type;
  struct rdma_cm_id *owner = POINTER(id);
  struct ibv_qp_init_attr attributes = {
      .send_cq = POINTER(send_cq),
      .recv_cq = POINTER(recv_cq),
      .qp_type = IBV_QPT_RC,
      .sq_sig_all = signal_all == JNI_TRUE,
  };
  memcpy(&attributes.cap, POINTER(caps), sizeof attributes.cap);
  if (!succeeded(env, "rdma_create_qp", cm_create_qp(owner, POINTER(pd), &attributes))) {
    return 0;
  }
  memcpy(POINTER(caps), &attributes.cap, sizeof attributes.cap);
  return HANDLE(owner->qp);
}

NATIVE(jint, qpNumber)(JNIEnv *env, jclass type, jlong qp) {
  (void)env, (void)type;
  return (jint)((struct ibv_qp *)POINTER(qp))->qp_num;
}

NATIVE(jint, qpState)(JNIEnv *env, jclass type, jlong qp) {
  (void)type;
  struct ibv_qp_attr attributes;
  struct ibv_qp_init_attr initial;
  errno = 0;
  int result = result_of(ibv_query_qp(POINTER(qp), &attributes, IBV_QP_STATE, &initial));
  return succeeded(env, "ibv_query_qp", result) ? (jint)attributes.qp_state : result;
}

NATIVE(void, setQpError)(JNIEnv *env, jclass type, jlong qp) {
  (void)type;
  succeeded(env, "ibv_modify_qp", qp_set_state(POINTER(qp), IBV_QPS_ERR));
}

NATIVE(void, destroyQp)(JNIEnv *env, jclass type, jlong id) {
  (void)type;
  succeeded(env, "ibv_destroy_qp", cm_destroy_qp(POINTER(id)));
}

/* ---- Hot path: no state shared between queues, no allocation ---- */

NATIVE(jint, postSend)(JNIEnv *env, jclass type, jlong qp, jlong requests, jlong bad) {
  (void)env, (void)type;
  struct ibv_send_wr *refused = NULL;
  int result = ibv_post_send(POINTER(qp), POINTER(requests), &refused);
  if (result != 0 && bad != 0) {
    memcpy(POINTER(bad), &refused, sizeof refused);
  }
  return result_of(result);
}

NATIVE(jint, postRecv)(JNIEnv *env, jclass type, jlong qp, jlong requests, jlong bad) {
  (void)env, (void)type;
  struct ibv_recv_wr *refused = NULL;
  int result = ibv_post_recv(POINTER(qp), POINTER(requests), &refused);
  if (result != 0 && bad != 0) {
    memcpy(POINTER(bad), &refused, sizeof refused);
  }
  return result_of(result);
}

NATIVE(jint, pollCq)(JNIEnv *env, jclass type, jlong cq, jint max, jlong completions) {
  (void)env, (void)type;
  int count = ibv_poll_cq(POINTER(cq), max, POINTER(completions));
  return count >= 0 ? count : -EIO;
}

NATIVE(jint, reqNotify)(JNIEnv *env, jclass type, jlong cq, jboolean solicited_only) {
  (void)env, (void)type;
  return result_of(ibv_req_notify_cq(POINTER(cq), solicited_only == JNI_TRUE));
}

NATIVE(jlong, getCqEvent)(JNIEnv *env, jclass type, jlong channel, jint timeout_millis) {
  (void)env, (void)type;
  struct ibv_cq *cq;
  int result = timeout_millis < 0 ? -EINVAL : cq_next_event(POINTER(channel), timeout_millis, &cq);
  if (result < 0) {
    return result;
  }
  ibv_ack_cq_events(cq, 1);
  return HANDLE(cq);
}

/* ---- Waiting for several things at once ---- */

NATIVE(jint, createWakeup)(JNIEnv *env, jclass type) {
  (void)type;
  int fd = wakeup_create();
  return succeeded(env, "eventfd", fd) ? fd : -1;
}

NATIVE(void, wake)(JNIEnv *env, jclass type, jint wakeup) {
  (void)env, (void)type;
  wakeup_signal(wakeup);
}

NATIVE(void, destroyWakeup)(JNIEnv *env, jclass type, jint wakeup) {
  (void)env, (void)type;
  wakeup_destroy(wakeup);
}

NATIVE(jint, await)
(JNIEnv *env, jclass type, jlong event_channel, jlong comp_channel, jint wakeup,
 jint timeout_millis) {
  (void)env, (void)type;
  return timeout_millis < 0
             ? -EINVAL
             : cm_await(POINTER(event_channel), POINTER(comp_channel), wakeup, timeout_millis);
}

NATIVE(jint, awaitReadable)
(JNIEnv *env, jclass type, jintArray descriptors, jint timeout_millis) {
  (void)type;
  jint numbers[io_crail_verbs_Verbs_MAX_DESCRIPTORS];
  struct pollfd fds[io_crail_verbs_Verbs_MAX_DESCRIPTORS];
  jsize count = descriptors != NULL ? (*env)->GetArrayLength(env, descriptors) : 0;
  if (count == 0 || count > io_crail_verbs_Verbs_MAX_DESCRIPTORS || timeout_millis < 0) {
    return -EINVAL;
  }
  (*env)->GetIntArrayRegion(env, descriptors, 0, count, numbers);
  for (jsize i = 0; i < count; i++) {
    fds[i] = (struct pollfd){.fd = numbers[i], .events = POLLIN};
  }
  return poll_until(fds, (nfds_t)count, deadline_after(timeout_millis));
}

/* ---- Threads and texts ---- */

NATIVE(jint, setAffinity)(JNIEnv *env, jclass type, jlongArray mask) {
  (void)type;
  uint64_t words[AFFINITY_WORDS];
  jsize length = mask != NULL ? (*env)->GetArrayLength(env, mask) : 0;
  if (length == 0 || length > AFFINITY_WORDS) {
    return -EINVAL;
  }
  (*env)->GetLongArrayRegion(env, mask, 0, length, (jlong *)words);
  return affinity_set(words, length);
}

NATIVE(jlongArray, affinity)(JNIEnv *env, jclass type) {
  (void)type;
  uint64_t words[AFFINITY_WORDS];
  int count = affinity_get(words);
  return succeeded(env, "sched_getaffinity", count)
             ? long_array(env, (const jlong *)words, (jsize)count)
             : NULL;
}

NATIVE(void, yieldProcessor)(JNIEnv *env, jclass type) {
  (void)env, (void)type;
  sched_yield();
}

NATIVE(jstring, errorText)(JNIEnv *env, jclass type, jint error) {
  (void)type;
  char text[128];
  return (*env)->NewStringUTF(env, error_text(error, text, sizeof text));
}

NATIVE(jstring, completionText)(JNIEnv *env, jclass type, jint status) {
  (void)type;
  return (*env)->NewStringUTF(env, ibv_wc_status_str((enum ibv_wc_status)status));
}
