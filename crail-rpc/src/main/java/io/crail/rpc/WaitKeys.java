/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigKeys;
import io.crail.common.config.ConfigType;
import java.util.List;

/** How the threads of a process wait, with each transport and storage tier. */
public final class WaitKeys implements ConfigKeys {
  /** The threads that may drive a client's connections. */
  public enum Driver {
    /** The thread that waits for an answer; a helper when no thread waits. */
    WAITER,
    /** Always the client's own thread. */
    THREAD
  }

  /** How long to poll before sleeping, in nanoseconds; {@link Long#MAX_VALUE} means without end. */
  public static final ConfigKey<Long> SPIN_TIME =
      ConfigKey.of(
          "crail.spintime",
          ConfigType.MICROS_OR_ALWAYS,
          "50",
          "How many microseconds a thread of a client, a namenode or a datanode polls"
              + " before it sleeps; about the cost of sleeping and waking up. With always it"
              + " never sleeps and needs a core of its own; with 0 it sleeps at once. Over TCP a"
              + " thread polls only while there are many messages or much data, and more and"
              + " more rarely where that does not pay. A server with io_uring cannot poll all"
              + " the time.");

  /** Which threads drive clients. */
  public static final ConfigKey<Driver> CLIENT_DRIVER =
      ConfigKey.of(
          "crail.client.driver",
          ConfigType.oneOf(Driver.class),
          "waiter",
          "Who runs a client's network: waiter is the thread that waits for an answer, which"
              + " saves the hand-over between two threads; thread is one of the client's own.");

  @Override
  public String title() {
    return "Waiting";
  }

  @Override
  public List<ConfigKey<?>> keys() {
    return List.of(SPIN_TIME, CLIENT_DRIVER);
  }
}
