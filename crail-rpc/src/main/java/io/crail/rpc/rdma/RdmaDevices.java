/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.rdma;

import io.crail.verbs.VerbsException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The devices that one user has opened, found by their contexts, of which the connection manager
 * keeps one for each device and process. Closed when all queue pairs and registrations are. Thread-
 * safe.
 */
public final class RdmaDevices implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaDevices.class);

  private final Map<Long, RdmaDevice> byContext = new LinkedHashMap<>();

  /** Creates an empty set. */
  public RdmaDevices() {}

  /**
   * The device of a context.
   *
   * @throws RdmaException when it cannot be used
   */
  public synchronized RdmaDevice of(long context, String name) throws RdmaException {
    RdmaDevice known = byContext.get(context);
    if (known == null) {
      try {
        known = new RdmaDevice(name, context);
      } catch (VerbsException e) {
        throw new RdmaException("cannot use " + name + ": " + e.getMessage(), e);
      }
      byContext.put(context, known);
    }
    return known;
  }

  @Override
  public synchronized void close() {
    for (RdmaDevice device : byContext.values()) {
      try {
        device.close();
      } catch (VerbsException e) {
        LOG.warn("the protection domain of {} stays: {}", device, e.getMessage());
      }
    }
    byContext.clear();
  }
}
