/* SPDX-License-Identifier: Apache-2.0 */
/* The structures that Java lays out or reads. layout.c asserts them against both Java layers. */
#ifndef CRAIL_LAYOUT_H
#define CRAIL_LAYOUT_H

#include <stdint.h>

#define CRAIL_PRIVATE_DATA_MAX 255

/* An event of the connection manager, as io.crail.verbs reads it. */
struct crail_cm_event {
  int32_t type;
  int32_t status;
  int64_t id;
  int64_t listen_id; /* -1: none */
  uint32_t qp_number;
  uint8_t responder_resources;
  uint8_t initiator_depth;
  uint8_t retries;
  uint8_t rnr_retries;
  uint32_t private_length;
  uint32_t reserved;
  uint8_t private_data[CRAIL_PRIVATE_DATA_MAX];
};

#endif
