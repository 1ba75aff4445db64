/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import java.util.function.IntFunction;

/** Describes events of the connection manager in words. */
final class EventText {
  private static final String[] EVENTS = {
    "address resolved",
    "address not resolved",
    "route resolved",
    "route not resolved",
    "connect request",
    "connect response",
    "connection failed",
    "unreachable",
    "rejected",
    "established",
    "disconnected",
    "device removed",
    "multicast joined",
    "multicast failed",
    "address changed",
    "time-wait ended",
  };

  private EventText() {}

  /**
   * Describes an event.
   *
   * @param errorText the text of a negative error number
   */
  static String describe(int event, int status, IntFunction<String> errorText) {
    String name = event >= 0 && event < EVENTS.length ? EVENTS[event] : "event " + event;
    if (status == 0) {
      return name;
    }
    if (status < 0) {
      return name + ": " + errorText.apply(status) + " (errno " + -status + ")";
    }
    return name + ": " + reason(event, status);
  }

  private static String reason(int event, int status) {
    if (event == Layouts.CM_REJECTED && status == Layouts.REJECTED_NO_LISTENER) {
      return "no program listens there";
    }
    if (event == Layouts.CM_REJECTED && status == Layouts.REJECTED_BY_PEER) {
      return "refused by the peer";
    }
    return (event == Layouts.CM_REJECTED ? "reason " : "status ") + status;
  }
}
