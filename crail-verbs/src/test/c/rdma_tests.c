/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that need devices: from 10.9.0.1 to 10.9.0.2, and from fd00:9::1 to fd00:9::2, of
 * bin/rdma-vm.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "device.h"
#include "io_crail_verbs_Verbs.h"
#include "result.h"
#include "test.h"
#include "wait.h"

#define MILLI INT64_C(1000000)
#define PATIENCE 20000 /* ms; emulation is slow */
#define BUFFER 65536
#define REQUESTS 16
#define INLINE 64

static const uint8_t server_four[] = {10, 9, 0, 2};
static const uint8_t server_six[16] = {0xfd, 0, 0, 9, [15] = 2};
static const uint8_t nobody[] = {10, 9, 0, 99};
static const uint8_t any_four[4];
static const uint8_t any_six[16];

/* One end of a connection, with its own event channel. */
struct end {
  struct rdma_event_channel *channel;
  struct rdma_cm_id *id;
  struct ibv_pd *pd;
  struct ibv_comp_channel *completions;
  struct ibv_cq *cq;
  struct ibv_mr *mr;
  uint8_t *buffer;
};

static void open_channel(struct end *end) {
  memset(end, 0, sizeof *end);
  CHECK_EQUAL(0, cm_create_channel(&end->channel));
  const bool *allowed = dlsym(RTLD_DEFAULT, "verbs_allow_disassociate_destroy");
  CHECK(allowed != NULL && *allowed);
}

static void open_id(struct end *end) {
  open_channel(end);
  CHECK_EQUAL(0, cm_create_id(end->channel, RDMA_PS_TCP, &end->id));
}

/* Creates queue pair and memory of an end whose device is known. */
static void open_queues(struct end *end) {
  struct ibv_context *context = end->id->verbs;
  end->pd = ibv_alloc_pd(context);
  CHECK(end->pd != NULL);
  CHECK_EQUAL(0, cq_create_channel(context, &end->completions));
  end->cq = ibv_create_cq(context, 4 * REQUESTS, NULL, end->completions, 0);
  CHECK(end->cq != NULL);
  end->buffer = calloc(1, BUFFER);
  end->mr = ibv_reg_mr(end->pd, end->buffer, BUFFER,
                       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
  CHECK(end->mr != NULL);
  struct ibv_qp_init_attr attributes = {
      .send_cq = end->cq,
      .recv_cq = end->cq,
      .qp_type = IBV_QPT_RC,
      .cap = {REQUESTS, REQUESTS, 2, 2, INLINE},
  };
  CHECK_EQUAL(0, cm_create_qp(end->id, end->pd, &attributes));
  CHECK(attributes.cap.max_send_wr >= REQUESTS && attributes.cap.max_inline_data >= INLINE);
}

static void close_end(struct end *end) {
  if (end->id != NULL) {
    cm_destroy_qp(end->id);
    CHECK_EQUAL(0, result_of(rdma_destroy_id(end->id)));
  }
  if (end->cq != NULL) {
    CHECK_EQUAL(0, result_of(ibv_destroy_cq(end->cq)));
    CHECK_EQUAL(0, result_of(ibv_destroy_comp_channel(end->completions)));
    CHECK_EQUAL(0, result_of(ibv_dereg_mr(end->mr)));
    CHECK_EQUAL(0, result_of(ibv_dealloc_pd(end->pd)));
    free(end->buffer);
  }
  if (end->channel != NULL) {
    rdma_destroy_event_channel(end->channel);
  }
}

static struct crail_cm_event expect(struct end *end, enum rdma_cm_event_type type) {
  struct crail_cm_event event;
  CHECK_EQUAL(0, cm_next_event(end->channel, PATIENCE, &event));
  CHECK_EQUAL(type, event.type);
  return event;
}

static int bind_to(struct end *end, const uint8_t *bytes, int length, int port) {
  union address address;
  int result = address_make(&address, bytes, length, port, 0);
  errno = 0;
  return result < 0 ? result : result_of(rdma_bind_addr(end->id, &address.any));
}

static int port_of(const struct end *end) { return ntohs(rdma_get_src_port(end->id)); }

static void open_listener(struct end *end, const uint8_t *bytes, int length) {
  open_id(end);
  CHECK_EQUAL(0, bind_to(end, bytes, length, 0));
  CHECK_EQUAL(0, result_of(rdma_listen(end->id, 8)));
  CHECK(port_of(end) != 0);
}

/* Prepares a client up to the point where it can connect. */
static void open_client(struct end *end, const uint8_t *bytes, int length, int port) {
  union address address;
  open_id(end);
  CHECK_EQUAL(0, address_make(&address, bytes, length, port, 0));
  CHECK_EQUAL(0, result_of(rdma_resolve_addr(end->id, NULL, &address.any, 5000)));
  expect(end, RDMA_CM_EVENT_ADDR_RESOLVED);
  CHECK_EQUAL(0, cm_resolve_route(end->id, 5000));
  expect(end, RDMA_CM_EVENT_ROUTE_RESOLVED);
  open_queues(end);
}

static struct rdma_conn_param parameters(const char *text) {
  return (struct rdma_conn_param){
      .private_data = text,
      .private_data_len = text != NULL ? (uint8_t)strlen(text) : 0,
      .responder_resources = 4,
      .initiator_depth = 4,
      .retry_count = 7,
      .rnr_retry_count = 7,
  };
}

/* The three ends of an established connection. */
struct connection {
  struct end listener;
  struct end client;
  struct end server;
};

/* Connects. Both sides send private data. */
static void connect_ends(struct connection *ends, const uint8_t *bytes, int length) {
  memset(ends, 0, sizeof *ends);
  open_listener(&ends->listener, bytes, length);
  open_client(&ends->client, bytes, length, port_of(&ends->listener));
  struct rdma_conn_param param = parameters("from client");
  CHECK_EQUAL(0, cm_connect(ends->client.id, &param));

  struct crail_cm_event event = expect(&ends->listener, RDMA_CM_EVENT_CONNECT_REQUEST);
  CHECK_EQUAL((intptr_t)ends->listener.id, event.listen_id);
  CHECK_EQUAL(0, memcmp("from client", event.private_data, 12));
  CHECK(event.private_length >= 11 && event.private_length <= CRAIL_PRIVATE_DATA_MAX);
  CHECK_EQUAL(4, event.responder_resources);
  CHECK_EQUAL(4, event.initiator_depth);
  ends->server.id = (struct rdma_cm_id *)(intptr_t)event.id;
  open_queues(&ends->server);
  param = parameters("from server");
  CHECK_EQUAL(0, cm_accept(ends->server.id, &param));

  event = expect(&ends->client, RDMA_CM_EVENT_ESTABLISHED);
  CHECK_EQUAL((intptr_t)ends->client.id, event.id);
  CHECK_EQUAL(-1, event.listen_id);
  CHECK_EQUAL(0, event.status);
  CHECK_EQUAL(0, memcmp("from server", event.private_data, 12));
  event = expect(&ends->listener, RDMA_CM_EVENT_ESTABLISHED);
  CHECK_EQUAL((intptr_t)ends->server.id, event.id);
}

static void close_ends(struct connection *ends) {
  close_end(&ends->client);
  close_end(&ends->server);
  close_end(&ends->listener);
}

/* Polls for one completion. */
static struct ibv_wc completion(struct end *end) {
  int64_t deadline = deadline_after(PATIENCE);
  struct ibv_wc done;
  for (;;) {
    int count = ibv_poll_cq(end->cq, 1, &done);
    CHECK(count >= 0);
    if (count == 1) {
      return done;
    }
    CHECK(now_nanos() < deadline);
  }
}

static struct ibv_sge part_of(const struct end *end, int offset, int length) {
  return (struct ibv_sge){(uintptr_t)end->buffer + (uintptr_t)offset, (uint32_t)length,
                          end->mr->lkey};
}

static int post_receive(struct end *end, uint64_t id, int offset, int length) {
  struct ibv_sge part = part_of(end, offset, length);
  struct ibv_recv_wr request = {.wr_id = id, .sg_list = &part, .num_sge = 1};
  struct ibv_recv_wr *bad;
  return result_of(ibv_post_recv(end->id->qp, &request, &bad));
}

/* Posts one request; remote may be NULL. */
static int post(struct end *end, enum ibv_wr_opcode opcode, unsigned flags, int length,
                const struct end *remote, uint32_t rkey) {
  struct ibv_sge part = part_of(end, 0, length);
  struct ibv_send_wr request = {
      .wr_id = 7,
      .sg_list = &part,
      .num_sge = 1,
      .opcode = opcode,
      .send_flags = IBV_SEND_SIGNALED | flags,
  };
  if (remote != NULL) {
    request.wr.rdma.remote_addr = (uintptr_t)remote->buffer;
    request.wr.rdma.rkey = rkey;
  }
  struct ibv_send_wr *bad;
  return result_of(ibv_post_send(end->id->qp, &request, &bad));
}

static void ports_and_addresses_that_cannot_be_bound(void) {
  struct end first, second;
  open_listener(&first, server_four, 4);
  open_id(&second);
  CHECK_EQUAL(-EADDRINUSE, bind_to(&second, server_four, 4, port_of(&first)));
  CHECK(bind_to(&second, nobody, 4, 0) < 0);
  close_end(&second);
  close_end(&first);
}

static void a_listener_on_all_addresses(void) {
  struct end four, six;
  open_listener(&four, any_four, 4);
  open_listener(&six, any_six, 16);
  CHECK(four.id->verbs == NULL);
  close_end(&six);
  close_end(&four);
}

static void an_id_without_a_device_is_refused(void) {
  struct end end;
  struct rdma_conn_param param = parameters(NULL);
  struct ibv_qp_init_attr attributes = {.qp_type = IBV_QPT_RC};
  open_id(&end);
  CHECK_EQUAL(-EINVAL, cm_resolve_route(end.id, 100));
  CHECK_EQUAL(-EINVAL, cm_connect(end.id, &param));
  CHECK_EQUAL(-EINVAL, cm_accept(end.id, &param));
  CHECK_EQUAL(-EINVAL, cm_disconnect(end.id));
  CHECK_EQUAL(-EINVAL, cm_create_qp(end.id, NULL, &attributes));
  cm_destroy_qp(end.id);
  close_end(&end);
}

static void waiting_for_events_ends_in_time(void) {
  struct end end;
  struct crail_cm_event event;
  open_id(&end);
  int64_t began = now_nanos();
  CHECK_EQUAL(-ETIMEDOUT, cm_next_event(end.channel, 100, &event));
  CHECK(now_nanos() - began >= 100 * MILLI);
  CHECK_EQUAL(-ETIMEDOUT, cm_next_event(end.channel, 0, &event));
  close_end(&end);
}

static void an_address_that_nobody_has_ends_the_wait(void) {
  struct end end;
  union address address;
  open_id(&end);
  CHECK_EQUAL(0, address_make(&address, nobody, 4, 1, 0));
  CHECK_EQUAL(0, result_of(rdma_resolve_addr(end.id, NULL, &address.any, 300)));
  struct crail_cm_event event = expect(&end, RDMA_CM_EVENT_ADDR_ERROR);
  CHECK(event.status < 0);
  CHECK_EQUAL((intptr_t)end.id, event.id);
  CHECK_EQUAL(-1, event.listen_id);
  close_end(&end);
}

static void a_port_where_nobody_listens_ends_the_wait(void) {
  struct end listener, end;
  open_listener(&listener, server_four, 4);
  int port = port_of(&listener);
  close_end(&listener);
  open_client(&end, server_four, 4, port);
  struct rdma_conn_param param = parameters(NULL);
  CHECK_EQUAL(0, cm_connect(end.id, &param));
  struct crail_cm_event event = expect(&end, RDMA_CM_EVENT_REJECTED);
  CHECK_EQUAL(8, event.status); /* invalid service id */
  close_end(&end);
}

static void a_refusal_says_why(void) {
  struct end listener, end;
  open_listener(&listener, server_four, 4);
  open_client(&end, server_four, 4, port_of(&listener));
  struct rdma_conn_param param = parameters(NULL);
  CHECK_EQUAL(0, cm_connect(end.id, &param));
  struct crail_cm_event event = expect(&listener, RDMA_CM_EVENT_CONNECT_REQUEST);
  struct rdma_cm_id *refused = (struct rdma_cm_id *)(intptr_t)event.id;
  CHECK_EQUAL(0, cm_reject(refused, "too many", 9));
  CHECK_EQUAL(0, result_of(rdma_destroy_id(refused)));
  event = expect(&end, RDMA_CM_EVENT_REJECTED);
  CHECK_EQUAL(28, event.status); /* consumer reject */
  CHECK_EQUAL(0, memcmp("too many", event.private_data, 9));
  close_end(&end);
  close_end(&listener);
}

static void a_listener_that_vanishes_ends_the_wait(void) {
  struct end listener, end;
  open_listener(&listener, server_four, 4);
  open_client(&end, server_four, 4, port_of(&listener));
  struct rdma_conn_param param = parameters(NULL);
  CHECK_EQUAL(0, cm_connect(end.id, &param));
  struct crail_cm_event event = expect(&listener, RDMA_CM_EVENT_CONNECT_REQUEST);
  CHECK_EQUAL(0, result_of(rdma_destroy_id((struct rdma_cm_id *)(intptr_t)event.id)));
  close_end(&listener);
  expect(&end, RDMA_CM_EVENT_REJECTED);
  close_end(&end);
}

static void an_event_wakes_who_waits_for_several_things(void) {
  struct connection ends;
  int wakeup = wakeup_create();
  connect_ends(&ends, server_four, 4);
  CHECK_EQUAL(0, cm_await(ends.client.channel, ends.client.completions, wakeup, 20));
  CHECK_EQUAL(0, cm_disconnect(ends.server.id));
  CHECK_EQUAL(io_crail_verbs_Verbs_READY_CM,
              cm_await(ends.client.channel, ends.client.completions, wakeup, PATIENCE));
  expect(&ends.client, RDMA_CM_EVENT_DISCONNECTED);
  CHECK_EQUAL(0, cm_disconnect(ends.client.id));
  expect(&ends.listener, RDMA_CM_EVENT_DISCONNECTED);
  close_ends(&ends);
  wakeup_destroy(wakeup);
}

static void messages_arrive_and_raise_events(const uint8_t *bytes, int length) {
  struct connection ends;
  connect_ends(&ends, bytes, length);
  struct ibv_cq *cq = NULL;
  CHECK_EQUAL(-ETIMEDOUT, cq_next_event(ends.server.completions, 20, &cq));
  CHECK_EQUAL(0, ibv_req_notify_cq(ends.server.cq, 0));
  CHECK_EQUAL(0, post_receive(&ends.server, 1, 0, 1024));
  CHECK_EQUAL(0, post_receive(&ends.server, 2, 1024, BUFFER - 1024));

  /* Inline memory may change at once. */
  memcpy(ends.client.buffer, "small", 6);
  CHECK_EQUAL(0, post(&ends.client, IBV_WR_SEND, IBV_SEND_INLINE, 6, NULL, 0));
  memset(ends.client.buffer, 'y', 40000);
  CHECK_EQUAL(0, post(&ends.client, IBV_WR_SEND, 0, 40000, NULL, 0));

  CHECK_EQUAL(io_crail_verbs_Verbs_READY_CQ,
              cm_await(ends.listener.channel, ends.server.completions, -1, PATIENCE));
  CHECK_EQUAL(0, cq_next_event(ends.server.completions, 0, &cq));
  CHECK_EQUAL((intptr_t)ends.server.cq, (intptr_t)cq);
  ibv_ack_cq_events(cq, 1);
  struct ibv_wc done = completion(&ends.server);
  CHECK_EQUAL(IBV_WC_SUCCESS, done.status);
  CHECK_EQUAL(IBV_WC_RECV, done.opcode);
  CHECK_EQUAL(1, done.wr_id);
  CHECK_EQUAL(6, done.byte_len);
  CHECK_EQUAL(ends.server.id->qp->qp_num, done.qp_num);
  CHECK_EQUAL(0, memcmp("small", ends.server.buffer, 6));
  done = completion(&ends.server);
  CHECK_EQUAL(IBV_WC_SUCCESS, done.status);
  CHECK_EQUAL(40000, done.byte_len);
  CHECK_EQUAL(0, memcmp(ends.client.buffer, ends.server.buffer + 1024, 40000));
  CHECK_EQUAL(IBV_WC_SUCCESS, completion(&ends.client).status);
  CHECK_EQUAL(IBV_WC_SUCCESS, completion(&ends.client).status);
  close_ends(&ends);
}

static void messages_over_four(void) { messages_arrive_and_raise_events(server_four, 4); }

static void messages_over_six(void) { messages_arrive_and_raise_events(server_six, 16); }

static void reads_and_writes_of_remote_memory(void) {
  struct connection ends;
  connect_ends(&ends, server_four, 4);
  memset(ends.client.buffer, 'w', BUFFER);
  CHECK_EQUAL(0, post(&ends.client, IBV_WR_RDMA_WRITE, 0, BUFFER, &ends.server,
                      ends.server.mr->rkey));
  struct ibv_wc done = completion(&ends.client);
  CHECK_EQUAL(IBV_WC_SUCCESS, done.status);
  CHECK_EQUAL(IBV_WC_RDMA_WRITE, done.opcode);
  CHECK_EQUAL(0, memcmp(ends.client.buffer, ends.server.buffer, BUFFER));
  memset(ends.server.buffer, 'r', BUFFER);
  CHECK_EQUAL(0,
              post(&ends.client, IBV_WR_RDMA_READ, 0, BUFFER, &ends.server, ends.server.mr->rkey));
  done = completion(&ends.client);
  CHECK_EQUAL(IBV_WC_SUCCESS, done.status);
  CHECK_EQUAL(IBV_WC_RDMA_READ, done.opcode);
  CHECK_EQUAL(BUFFER, done.byte_len);
  CHECK_EQUAL(0, memcmp(ends.client.buffer, ends.server.buffer, BUFFER));
  close_ends(&ends);
}

static void a_wrong_key_is_refused_and_nothing_is_written(void) {
  struct connection ends;
  connect_ends(&ends, server_four, 4);
  memset(ends.client.buffer, 'w', 64);
  CHECK_EQUAL(0, post(&ends.client, IBV_WR_RDMA_WRITE, 0, 64, &ends.server,
                      ends.server.mr->rkey + 0x100));
  struct ibv_wc done = completion(&ends.client);
  CHECK_EQUAL(IBV_WC_REM_ACCESS_ERR, done.status);
  CHECK_EQUAL(7, done.wr_id);
  CHECK_EQUAL(ends.client.id->qp->qp_num, done.qp_num);
  CHECK_EQUAL(0, ends.server.buffer[0]);
  /* The queue pair is lost, so a new request is flushed. */
  CHECK_EQUAL(0, post(&ends.client, IBV_WR_SEND, 0, 64, NULL, 0));
  CHECK_EQUAL(IBV_WC_WR_FLUSH_ERR, completion(&ends.client).status);
  close_ends(&ends);
}

static void the_error_state_flushes_everything(void) {
  struct connection ends;
  connect_ends(&ends, server_four, 4);
  CHECK_EQUAL(0, post_receive(&ends.server, 11, 0, 64));
  CHECK_EQUAL(0, post_receive(&ends.server, 12, 64, 64));
  CHECK_EQUAL(0, qp_set_state(ends.server.id->qp, IBV_QPS_ERR));
  for (uint64_t id = 11; id <= 12; id++) {
    struct ibv_wc done = completion(&ends.server);
    CHECK_EQUAL(IBV_WC_WR_FLUSH_ERR, done.status);
    CHECK_EQUAL(id, done.wr_id);
  }
  struct ibv_qp_attr attributes;
  struct ibv_qp_init_attr initial;
  CHECK_EQUAL(0, ibv_query_qp(ends.server.id->qp, &attributes, IBV_QP_STATE, &initial));
  CHECK_EQUAL(IBV_QPS_ERR, attributes.qp_state);
  close_ends(&ends);
}

static void a_full_queue_names_the_first_request_that_was_refused(void) {
  struct connection ends;
  connect_ends(&ends, server_four, 4);
  enum { MANY = 64 * REQUESTS };
  struct ibv_recv_wr *requests = calloc(MANY, sizeof *requests);
  struct ibv_sge part = part_of(&ends.server, 0, 64);
  for (int i = 0; i < MANY; i++) {
    requests[i] = (struct ibv_recv_wr){
        .next = i + 1 < MANY ? &requests[i + 1] : NULL, .sg_list = &part, .num_sge = 1};
  }
  struct ibv_recv_wr *bad = NULL;
  CHECK_EQUAL(-ENOMEM, result_of(ibv_post_recv(ends.server.id->qp, requests, &bad)));
  CHECK(bad >= requests + REQUESTS && bad < requests + MANY);
  free(requests);
  close_ends(&ends);
}

static void a_queue_pair_that_is_too_large_is_refused(void) {
  struct end listener, end;
  open_listener(&listener, server_four, 4);
  open_client(&end, server_four, 4, port_of(&listener));
  cm_destroy_qp(end.id);
  struct ibv_qp_init_attr attributes = {
      .send_cq = end.cq,
      .recv_cq = end.cq,
      .qp_type = IBV_QPT_RC,
      .cap = {UINT32_MAX / 2, 1, 1, 1, 0},
  };
  CHECK(cm_create_qp(end.id, end.pd, &attributes) < 0);
  struct rdma_conn_param param = parameters(NULL);
  CHECK_EQUAL(-EINVAL, cm_connect(end.id, &param)); /* it has none */
  close_end(&end);
  close_end(&listener);
}

static void more_reads_than_the_device_can_do_are_cut(void) {
  struct end listener, end;
  open_listener(&listener, server_four, 4);
  open_client(&end, server_four, 4, port_of(&listener));
  struct rdma_conn_param param = parameters(NULL);
  param.responder_resources = 254;
  param.initiator_depth = 254;
  CHECK_EQUAL(0, cm_connect(end.id, &param));
  struct crail_cm_event event = expect(&listener, RDMA_CM_EVENT_CONNECT_REQUEST);
  CHECK(event.responder_resources > 0 && event.responder_resources < 254);
  CHECK_EQUAL(0, result_of(rdma_destroy_id((struct rdma_cm_id *)(intptr_t)event.id)));
  close_end(&end);
  close_end(&listener);
}

static void a_device_without_its_entry_was_removed(void) {
  struct end end;
  open_listener(&end, server_four, 4);
  struct ibv_device device = *end.id->verbs->device;
  struct ibv_context context = {.device = &device};
  int64_t entry = device_entry(end.id->verbs);
  CHECK(entry > 0);
  CHECK_EQUAL(entry, device_entry(&context));
  CHECK(device_present(&context, entry));
  strcat(device.dev_path, "0000");
  CHECK_EQUAL(NO_ENTRY, device_entry(&context));
  CHECK(!device_present(&context, entry));
  CHECK(!device_present(&context, NO_ENTRY));
  close_end(&end);
}

const struct test rdma_tests[] = {
    TEST(ports_and_addresses_that_cannot_be_bound),
    TEST(a_listener_on_all_addresses),
    TEST(an_id_without_a_device_is_refused),
    TEST(waiting_for_events_ends_in_time),
    TEST(an_address_that_nobody_has_ends_the_wait),
    TEST(a_port_where_nobody_listens_ends_the_wait),
    TEST(a_refusal_says_why),
    TEST(a_listener_that_vanishes_ends_the_wait),
    TEST(an_event_wakes_who_waits_for_several_things),
    TEST(messages_over_four),
    TEST(messages_over_six),
    TEST(reads_and_writes_of_remote_memory),
    TEST(a_wrong_key_is_refused_and_nothing_is_written),
    TEST(the_error_state_flushes_everything),
    TEST(a_full_queue_names_the_first_request_that_was_refused),
    TEST(a_queue_pair_that_is_too_large_is_refused),
    TEST(more_reads_than_the_device_can_do_are_cut),
    TEST(a_device_without_its_entry_was_removed),
    TEST_END,
};
