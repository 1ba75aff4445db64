/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.rdma;

import io.crail.verbs.Verbs;
import io.crail.verbs.VerbsException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The devices that one user has opened, by their contexts. The connection manager keeps one context
 * for each device and process. Closed after all queue pairs and registrations. Thread-safe.
 */
public final class RdmaDevices implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaDevices.class);

  private final Map<Long, RdmaDevice> byContext = new HashMap<>();
  private final List<RdmaDevice> opened = new ArrayList<>();

  /**
   * Whether this process sees the kernel's entries of devices. If so, a device without an entry was
   * removed.
   */
  private boolean seesEntries;

  /** Creates an empty set. */
  public RdmaDevices() {}

  /**
   * The device of a context.
   *
   * @param local an address of the device; the port does not matter
   * @throws RdmaException when the device cannot be used, or was removed
   */
  public synchronized RdmaDevice of(long context, String name, InetSocketAddress local)
      throws RdmaException {
    RdmaDevice known = byContext.get(context);
    if (known == null) {
      long entry = Verbs.entryOf(context);
      // Remembered, since a host whose last device is gone has no entries at all.
      seesEntries |= entry >= 0;
      if (seesEntries && entry <= 0) {
        throw RdmaDevice.removed(name);
      }
      try {
        known = new RdmaDevice(name, context, entry, local);
      } catch (IOException e) {
        throw new RdmaException("cannot use " + name + ": " + e.getMessage(), e);
      }
      byContext.put(context, known);
      opened.add(known);
      if (!known.mtuWarning().isEmpty()) {
        LOG.warn("{}", known.mtuWarning());
      }
    }
    return known;
  }

  /**
   * Called for {@link RdmaListener.Acceptor#deviceRemoved}. A context without a device here is
   * ignored.
   */
  public synchronized void deviceRemoved(long context) {
    RdmaDevice known = byContext.get(context);
    if (known != null) {
      known.setRemoved();
    }
  }

  /** The devices that were removed from this host and are not released yet. */
  public synchronized List<RdmaDevice> removed() {
    // Called many times a second, and usually there is none.
    for (int i = 0; i < opened.size(); i++) {
      if (opened.get(i).isRemoved()) {
        return opened.stream().filter(RdmaDevice::isRemoved).toList();
      }
    }
    return List.of();
  }

  /**
   * Closes a removed device, after all its other resources. Some kernels complete the removal only
   * when every process has done so.
   */
  public void release(RdmaDevice device) {
    synchronized (this) {
      if (byContext.remove(device.context(), device)) {
        opened.remove(device);
        close(device);
      }
    }
    Verbs.closeRemovedDevices();
  }

  @Override
  public synchronized void close() {
    opened.forEach(RdmaDevices::close);
    opened.clear();
    byContext.clear();
  }

  private static void close(RdmaDevice device) {
    try {
      device.close();
    } catch (VerbsException e) {
      LOG.warn("cannot release all resources of {}: {}", device, e.getMessage());
    }
  }
}
