/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** The calls that wait to be sent, linked through the calls themselves. In the loop. */
final class CallQueue {
  private RpcCall first;
  private RpcCall last;
  private int size;

  /** Calls that wait. */
  int size() {
    return size;
  }

  /** True when none waits. */
  boolean isEmpty() {
    return first == null;
  }

  /** Adds a call. */
  void add(RpcCall call) {
    if (last == null) {
      first = call;
    } else {
      last.next = call;
    }
    last = call;
    size++;
  }

  /** Adds a call at the front. */
  void addFirst(RpcCall call) {
    call.next = first;
    first = call;
    if (last == null) {
      last = call;
    }
    size++;
  }

  /** Takes the first call; there must be one. */
  RpcCall take() {
    RpcCall call = first;
    first = call.next;
    if (first == null) {
      last = null;
    }
    call.next = null;
    size--;
    return call;
  }

  /** Takes all calls, in their order. */
  List<RpcCall> takeAll() {
    List<RpcCall> taken = new ArrayList<>(size);
    while (first != null) {
      taken.add(take());
    }
    return taken;
  }

  /** Removes and returns some of the calls. */
  List<RpcCall> takeIf(Predicate<RpcCall> which) {
    List<RpcCall> taken = new ArrayList<>();
    for (RpcCall call : takeAll()) {
      if (which.test(call)) {
        taken.add(call);
      } else {
        add(call);
      }
    }
    return taken;
  }
}
