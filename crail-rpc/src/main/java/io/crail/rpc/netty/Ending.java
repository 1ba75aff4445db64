/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import java.util.Locale;

/** Why a server has ended a connection. */
enum Ending {
  /** There are as many as may be. */
  CONNECTION_LIMIT("there are as many connections as may be"),
  /** No whole request came in time. */
  NO_HANDSHAKE("no handshake in time"),
  /** A request has begun and not ended. */
  UNENDED_REQUEST("does not end a request that it has begun"),
  /** Answers wait, and the peer takes nothing. */
  TAKES_NO_ANSWERS("takes no answers"),
  /** The memory that it held was needed by others, who take their answers. */
  HOLDS_MEMORY("holds memory and makes no progress, and others need it"),
  /** There was no memory for what it asked for. */
  NO_MEMORY("no memory"),
  /** The peer does not keep to the protocol. */
  PROTOCOL("breaks the protocol"),
  /** The network's word that the peer has gone, as peers do: they exit, or are killed. */
  NETWORK("the network failed"),
  /** A bug in the service. */
  FAILED("its request failed");

  private final String text;

  Ending(String text) {
    this.text = text;
  }

  /** True for what is nothing to warn of. */
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
