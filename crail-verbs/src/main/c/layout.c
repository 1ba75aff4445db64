/* SPDX-License-Identifier: Apache-2.0 */
#include "layout.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stddef.h>

#include "io_crail_verbs_Layouts.h"
#include "io_crail_verbs_Verbs.h"

#define JAVA(name) io_crail_verbs_Layouts_##name
#define SAME(c, java) _Static_assert((long)(c) == (long)(java), #c " is not " #java)
#define FIELD(type, field, width, java)                  \
  SAME(offsetof(type, field), java);                     \
  _Static_assert(sizeof(((type *)0)->field) == (width), \
                 #type "." #field " has another width")

_Static_assert(sizeof(void *) == 8, "handles and addresses have 64 bits");

/* The constants of io.crail.verbs.Layouts. */
SAME(sizeof(struct ibv_sge), JAVA(SGE_SIZE));
FIELD(struct ibv_sge, addr, 8, JAVA(SGE_ADDRESS));
FIELD(struct ibv_sge, length, 4, JAVA(SGE_LENGTH));
FIELD(struct ibv_sge, lkey, 4, JAVA(SGE_LKEY));

SAME(sizeof(struct ibv_recv_wr), JAVA(RECV_WR_SIZE));
FIELD(struct ibv_recv_wr, wr_id, 8, JAVA(WR_ID));
FIELD(struct ibv_recv_wr, next, 8, JAVA(WR_NEXT));
FIELD(struct ibv_recv_wr, sg_list, 8, JAVA(WR_SGES));
FIELD(struct ibv_recv_wr, num_sge, 4, JAVA(WR_SGE_COUNT));

SAME(sizeof(struct ibv_send_wr), JAVA(SEND_WR_SIZE));
FIELD(struct ibv_send_wr, wr_id, 8, JAVA(WR_ID));
FIELD(struct ibv_send_wr, next, 8, JAVA(WR_NEXT));
FIELD(struct ibv_send_wr, sg_list, 8, JAVA(WR_SGES));
FIELD(struct ibv_send_wr, num_sge, 4, JAVA(WR_SGE_COUNT));
FIELD(struct ibv_send_wr, opcode, 4, JAVA(SEND_WR_OPCODE));
FIELD(struct ibv_send_wr, send_flags, 4, JAVA(SEND_WR_FLAGS));
FIELD(struct ibv_send_wr, imm_data, 4, JAVA(SEND_WR_IMMEDIATE));
FIELD(struct ibv_send_wr, wr.rdma.remote_addr, 8, JAVA(SEND_WR_REMOTE_ADDRESS));
FIELD(struct ibv_send_wr, wr.rdma.rkey, 4, JAVA(SEND_WR_RKEY));

SAME(IBV_WR_RDMA_WRITE, JAVA(OPCODE_RDMA_WRITE));
SAME(IBV_WR_RDMA_WRITE_WITH_IMM, JAVA(OPCODE_RDMA_WRITE_WITH_IMMEDIATE));
SAME(IBV_WR_SEND, JAVA(OPCODE_SEND));
SAME(IBV_WR_SEND_WITH_IMM, JAVA(OPCODE_SEND_WITH_IMMEDIATE));
SAME(IBV_WR_RDMA_READ, JAVA(OPCODE_RDMA_READ));
SAME(IBV_SEND_FENCE, JAVA(SEND_FENCE));
SAME(IBV_SEND_SIGNALED, JAVA(SEND_SIGNALED));
SAME(IBV_SEND_SOLICITED, JAVA(SEND_SOLICITED));
SAME(IBV_SEND_INLINE, JAVA(SEND_INLINE));

SAME(sizeof(struct ibv_wc), JAVA(WC_SIZE));
FIELD(struct ibv_wc, wr_id, 8, JAVA(WC_ID));
FIELD(struct ibv_wc, status, 4, JAVA(WC_STATUS));
FIELD(struct ibv_wc, opcode, 4, JAVA(WC_OPCODE));
FIELD(struct ibv_wc, vendor_err, 4, JAVA(WC_VENDOR_ERROR));
FIELD(struct ibv_wc, byte_len, 4, JAVA(WC_LENGTH));
FIELD(struct ibv_wc, imm_data, 4, JAVA(WC_IMMEDIATE));
FIELD(struct ibv_wc, qp_num, 4, JAVA(WC_QP_NUMBER));
FIELD(struct ibv_wc, wc_flags, 4, JAVA(WC_FLAGS));

SAME(IBV_WC_WITH_IMM, JAVA(WC_WITH_IMMEDIATE));
SAME(IBV_WC_SUCCESS, JAVA(WC_SUCCESS));
SAME(IBV_WC_WR_FLUSH_ERR, JAVA(WC_FLUSHED));
SAME(IBV_WC_REM_ACCESS_ERR, JAVA(WC_REMOTE_ACCESS_ERROR));
SAME(IBV_WC_RETRY_EXC_ERR, JAVA(WC_RETRIES_EXCEEDED));
SAME(IBV_WC_RNR_RETRY_EXC_ERR, JAVA(WC_RNR_RETRIES_EXCEEDED));
SAME(IBV_WC_SEND, JAVA(WC_OPCODE_SEND));
SAME(IBV_WC_RDMA_WRITE, JAVA(WC_OPCODE_RDMA_WRITE));
SAME(IBV_WC_RDMA_READ, JAVA(WC_OPCODE_RDMA_READ));
SAME(IBV_WC_RECV, JAVA(WC_OPCODE_RECV));
SAME(IBV_WC_RECV_RDMA_WITH_IMM, JAVA(WC_OPCODE_RECV_RDMA_WITH_IMMEDIATE));

SAME(sizeof(struct ibv_qp_cap), JAVA(QP_CAPS_SIZE));
FIELD(struct ibv_qp_cap, max_send_wr, 4, JAVA(QP_CAPS_SEND_WRS));
FIELD(struct ibv_qp_cap, max_recv_wr, 4, JAVA(QP_CAPS_RECV_WRS));
FIELD(struct ibv_qp_cap, max_send_sge, 4, JAVA(QP_CAPS_SEND_SGES));
FIELD(struct ibv_qp_cap, max_recv_sge, 4, JAVA(QP_CAPS_RECV_SGES));
FIELD(struct ibv_qp_cap, max_inline_data, 4, JAVA(QP_CAPS_INLINE_BYTES));

SAME(sizeof(struct crail_cm_event), JAVA(CM_EVENT_SIZE));
FIELD(struct crail_cm_event, type, 4, JAVA(CM_EVENT_TYPE));
FIELD(struct crail_cm_event, status, 4, JAVA(CM_EVENT_STATUS));
FIELD(struct crail_cm_event, id, 8, JAVA(CM_EVENT_ID));
FIELD(struct crail_cm_event, listen_id, 8, JAVA(CM_EVENT_LISTEN_ID));
FIELD(struct crail_cm_event, qp_number, 4, JAVA(CM_EVENT_QP_NUMBER));
FIELD(struct crail_cm_event, responder_resources, 1, JAVA(CM_EVENT_RESPONDER_RESOURCES));
FIELD(struct crail_cm_event, initiator_depth, 1, JAVA(CM_EVENT_INITIATOR_DEPTH));
FIELD(struct crail_cm_event, retries, 1, JAVA(CM_EVENT_RETRIES));
FIELD(struct crail_cm_event, rnr_retries, 1, JAVA(CM_EVENT_RNR_RETRIES));
FIELD(struct crail_cm_event, private_length, 4, JAVA(CM_EVENT_PRIVATE_LENGTH));
FIELD(struct crail_cm_event, private_data, CRAIL_PRIVATE_DATA_MAX, JAVA(CM_EVENT_PRIVATE));

SAME(RDMA_CM_EVENT_ADDR_RESOLVED, JAVA(CM_ADDRESS_RESOLVED));
SAME(RDMA_CM_EVENT_ADDR_ERROR, JAVA(CM_ADDRESS_ERROR));
SAME(RDMA_CM_EVENT_ROUTE_RESOLVED, JAVA(CM_ROUTE_RESOLVED));
SAME(RDMA_CM_EVENT_ROUTE_ERROR, JAVA(CM_ROUTE_ERROR));
SAME(RDMA_CM_EVENT_CONNECT_REQUEST, JAVA(CM_CONNECT_REQUEST));
SAME(RDMA_CM_EVENT_CONNECT_RESPONSE, JAVA(CM_CONNECT_RESPONSE));
SAME(RDMA_CM_EVENT_CONNECT_ERROR, JAVA(CM_CONNECT_ERROR));
SAME(RDMA_CM_EVENT_UNREACHABLE, JAVA(CM_UNREACHABLE));
SAME(RDMA_CM_EVENT_REJECTED, JAVA(CM_REJECTED));
SAME(RDMA_CM_EVENT_ESTABLISHED, JAVA(CM_ESTABLISHED));
SAME(RDMA_CM_EVENT_DISCONNECTED, JAVA(CM_DISCONNECTED));
SAME(RDMA_CM_EVENT_DEVICE_REMOVAL, JAVA(CM_DEVICE_REMOVAL));
SAME(RDMA_CM_EVENT_ADDR_CHANGE, JAVA(CM_ADDRESS_CHANGE));
SAME(RDMA_CM_EVENT_TIMEWAIT_EXIT, JAVA(CM_TIMEWAIT_EXIT));

SAME(IBV_ACCESS_LOCAL_WRITE, JAVA(ACCESS_LOCAL_WRITE));
SAME(IBV_ACCESS_REMOTE_WRITE, JAVA(ACCESS_REMOTE_WRITE));
SAME(IBV_ACCESS_REMOTE_READ, JAVA(ACCESS_REMOTE_READ));
SAME(IBV_QPS_RTS, JAVA(QP_STATE_READY_TO_SEND));
SAME(IBV_QPS_ERR, JAVA(QP_STATE_ERROR));

SAME(-ETIMEDOUT, io_crail_verbs_Verbs_TIMED_OUT);
SAME(RDMA_MAX_RESP_RES, io_crail_verbs_Verbs_MOST_READS);
SAME(RDMA_MAX_INIT_DEPTH, io_crail_verbs_Verbs_MOST_READS);

/* The numbers that DiSNI's classes have as constants, and do not ask for. */
SAME(sizeof(struct sockaddr_in), 16);
FIELD(struct sockaddr_in, sin_family, 2, 0);
FIELD(struct sockaddr_in, sin_port, 2, 2);
FIELD(struct sockaddr_in, sin_addr, 4, 4);
FIELD(struct ibv_wc, src_qp, 4, 32);
FIELD(struct ibv_wc, pkey_index, 2, 40);
FIELD(struct ibv_wc, slid, 2, 42);
FIELD(struct ibv_wc, sl, 1, 44);
FIELD(struct ibv_wc, dlid_path_bits, 1, 45);
SAME(IBV_QPT_RC, 2);
SAME(IBV_QPT_UC, 3);
SAME(IBV_QPT_UD, 4);
SAME(IBV_ACCESS_REMOTE_ATOMIC, 8);
SAME(IBV_ACCESS_MW_BIND, 16);
SAME(IBV_ACCESS_ON_DEMAND, 64);
SAME(IBV_WR_ATOMIC_CMP_AND_SWP, 5);
SAME(IBV_WR_ATOMIC_FETCH_AND_ADD, 6);
SAME(RDMA_PS_TCP, 0x0106);
SAME(IBV_ODP_SUPPORT_SEND, 1);
SAME(IBV_ODP_SUPPORT_RECV, 2);
SAME(IBV_ODP_SUPPORT_WRITE, 4);
SAME(IBV_ODP_SUPPORT_READ, 8);
SAME(IBV_ODP_SUPPORT_ATOMIC, 16);
