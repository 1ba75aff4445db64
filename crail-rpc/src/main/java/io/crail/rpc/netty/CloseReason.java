/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import java.util.Locale;

/** The reasons why a server ends a connection. */
enum CloseReason {
  /** There are as many connections as allowed. */
  CONNECTION_LIMIT("there are as many connections as may be"),
  /** No whole request came in time. */
  NO_HANDSHAKE("no handshake in time"),
  /** A request has begun to arrive, and the rest does not come. */
  UNENDED_REQUEST("does not end a request that it has begun"),
  /** Answers wait, and the peer does not take them. */
  TAKES_NO_ANSWERS("takes no answers"),
  /** Other connections, whose peers take their answers, needed the memory that it held. */
  HOLDS_MEMORY("holds memory and makes no progress, and others need it"),
  /** There was no memory for its requests or answers. */
  NO_MEMORY("no memory"),
  /** The peer does not keep to the protocol. */
  PROTOCOL("breaks the protocol"),
  /** The network reported an error. This is ordinary: a peer has exited or was killed. */
  NETWORK("the network failed"),
  /** A bug in the service. */
  FAILED("its request failed");

  private final String text;

  CloseReason(String text) {
    this.text = text;
  }

  /** True for an ending that needs no warning. */
  boolean isOrdinary() {
    return this == NETWORK;
  }

  /** The reason, for people. */
  String text() {
    return text;
  }

  /** The reason, for programs. */
  String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
