/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.rdma;

import io.crail.verbs.Layouts;
import io.crail.verbs.Verbs;
import io.crail.verbs.VerbsException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The completion queues of one thread, one for each device, and their queue pairs. The id of a
 * request has a number that leads to its queue pair. The queue pair's own number would not do: it
 * is reused soon, while completions of the old queue pair may still be in the queue. The entries of
 * a completion queue are accounted: a queue pair that could make the queue overrun is refused. Used
 * by one thread at a time.
 */
public final class RdmaQueues implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaQueues.class);

  /** A good number of completions for a poll. */
  public static final int POLL_SIZE = 32;

  private static final int INDEX_BITS = 20;
  private static final int INDEX_MASK = (1 << INDEX_BITS) - 1;
  private static final int GENERATION_MASK = (1 << 32 - INDEX_BITS) - 1;

  private final RdmaDevices devices;
  private final int entries;
  private final int pollSize;
  private final DescriptorListener descriptors;
  private final List<DeviceQueue> queues = new ArrayList<>();
  private final QueuePair[] touched;
  private QueuePair[] pairs = new QueuePair[16];
  private int[] generations = new int[16];
  private int count;
  private int[] awaited;
  private boolean closed;

  /** Learns of descriptors that become readable when a request has completed. */
  public interface DescriptorListener {
    /**
     * A descriptor was opened. It stays open as long as the queues, unless {@link #closing} is
     * called.
     */
    void opened(int descriptor);

    /** A descriptor is about to be closed. */
    default void closing(int descriptor) {}
  }

  /**
   * Creates the set of queues. A device gets its queue with its first queue pair.
   *
   * @param entries size of a completion queue; the device may allow fewer
   * @param pollSize most completions that are taken at once
   */
  public RdmaQueues(
      RdmaDevices devices, int entries, int pollSize, DescriptorListener descriptors) {
    this.devices = devices;
    this.entries = entries;
    this.pollSize = pollSize;
    this.touched = new QueuePair[pollSize];
    this.descriptors = descriptors;
  }

  /** The number of open queue pairs. */
  public int size() {
    return count;
  }

  /**
   * Sleeps until a request completes after {@link #arm}, a thread wakes this one, or the time is
   * over.
   *
   * @param wakeup made by {@link Verbs#createWakeup}
   */
  public void await(int wakeup, int timeoutMillis) {
    if (awaited == null || awaited[0] != wakeup || awaited.length != queues.size() + 1) {
      awaited = new int[queues.size() + 1];
      awaited[0] = wakeup;
      for (int i = 0; i < queues.size(); i++) {
        awaited[i + 1] = Verbs.completionDescriptor(queues.get(i).channel);
      }
    }
    int result = Verbs.awaitReadable(awaited, timeoutMillis);
    if (result > 0) {
      // Takes the wake-up, if there is one.
      result = Verbs.await(0, 0, wakeup, 0);
    }
    if (result < 0 && result != Verbs.TIMED_OUT) {
      throw new IllegalStateException("cannot wait: " + Verbs.errorText(result));
    }
  }

  /**
   * Creates the queue pair of an id whose device is known.
   *
   * @param destroyId destroys the id when the queue pair is closed; when this method fails, the
   *     caller still owns the id
   * @throws RdmaException when the device or the completion queue has no room
   */
  public QueuePair create(long id, QueuePair.Options options, LongConsumer destroyId)
      throws RdmaException {
    if (closed) {
      throw new RdmaException("closed");
    }
    DeviceQueue queue = queueOf(id);
    int needed = options.sends() + options.receives();
    if (queue.used + queue.retired + needed > queue.capacity) {
      throw new RdmaException(
          "the completion queue of "
              + queue.device
              + " has "
              + queue.capacity
              + " entries, "
              + (queue.used + queue.retired)
              + " of them taken; one more connection needs "
              + needed);
    }
    QueuePair pair;
    try {
      pair = new QueuePair(queue.device, queue.cq, id, options, this::remove, destroyId);
    } catch (VerbsException e) {
      throw new RdmaException(
          "no queue pair of "
              + options.sends()
              + " sends and "
              + options.receives()
              + " receives on "
              + queue.device
              + ": "
              + e.getMessage(),
          e);
    }
    queue.used += needed;
    int index = freeIndex();
    pairs[index] = pair;
    generations[index] = generations[index] + 1 & GENERATION_MASK;
    pair.open((long) generations[index] << INDEX_BITS | index);
    count++;
    return pair;
  }

  private int freeIndex() {
    for (int i = 0; i < pairs.length; i++) {
      if (pairs[i] == null) {
        return i;
      }
    }
    int old = pairs.length;
    pairs = Arrays.copyOf(pairs, 2 * old);
    generations = Arrays.copyOf(generations, 2 * old);
    return old;
  }

  private DeviceQueue queueOf(long id) throws RdmaException {
    long context = Verbs.context(id);
    for (DeviceQueue queue : queues) {
      if (queue.device.context() == context) {
        checkPresent(queue.device);
        return queue;
      }
    }
    RdmaDevice device = devices.of(context, Verbs.deviceOf(id), Verbs.localAddress(id));
    checkPresent(device);
    try {
      DeviceQueue queue = new DeviceQueue(device);
      queues.add(queue);
      descriptors.opened(Verbs.completionDescriptor(queue.channel));
      return queue;
    } catch (VerbsException e) {
      throw new RdmaException("no completion queue on " + device + ": " + e.getMessage(), e);
    }
  }

  /**
   * An object of a removed device could be created after its release, and would keep the device.
   */
  private static void checkPresent(RdmaDevice device) throws RdmaException {
    if (device.isRemoved()) {
      throw RdmaDevice.removed(device.name());
    }
  }

  /** Called by a queue pair that is being closed, before it is destroyed. */
  private void remove(QueuePair pair) {
    int index = (int) (pair.slot() & INDEX_MASK);
    if (pairs[index] != pair) {
      return;
    }
    pairs[index] = null;
    count--;
    for (DeviceQueue queue : queues) {
      if (queue.device == pair.device()) {
        int entriesOf = pair.sends() + pair.receives();
        queue.used -= entriesOf;
        // Its completions may still be in the queue.
        queue.retired += entriesOf;
      }
    }
  }

  /** Closes the queue pairs and the queue of a device. Not called within a batch of completions. */
  public void release(RdmaDevice device, String cause) {
    closePairs(device, cause);
    for (DeviceQueue queue : List.copyOf(queues)) {
      if (queue.device == device) {
        queues.remove(queue);
        awaited = null;
        descriptors.closing(Verbs.completionDescriptor(queue.channel));
        queue.close();
      }
    }
  }

  private void closePairs(RdmaDevice device, String cause) {
    for (QueuePair pair : pairs.clone()) {
      if (pair != null && pair.device() == device) {
        pair.close(cause);
      }
    }
  }

  /** Reports the completions that are there. Returns their number. */
  public int poll() {
    int total = 0;
    for (int i = 0; i < queues.size(); i++) {
      total += queues.get(i).poll();
    }
    return total;
  }

  /**
   * Asks for an event at the next completion. Returns false when a request has completed meanwhile.
   */
  public boolean arm() {
    boolean nothing = true;
    for (int i = 0; i < queues.size(); i++) {
      nothing &= queues.get(i).arm();
    }
    return nothing;
  }

  /** Closes all queue pairs and queues. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    for (QueuePair pair : pairs.clone()) {
      if (pair != null) {
        pair.close("closed by this side");
      }
    }
    queues.forEach(DeviceQueue::close);
    queues.clear();
  }

  private final class DeviceQueue {
    private final RdmaDevice device;
    private final long channel;
    private final long cq;
    private final int capacity;
    private final ByteBuffer completions =
        ByteBuffer.allocateDirect(pollSize * Layouts.WC_SIZE).order(ByteOrder.nativeOrder());
    private final long completionsAddress = Verbs.addressOf(completions);
    private int used;
    private int retired;
    private boolean armed;

    DeviceQueue(RdmaDevice device) throws VerbsException {
      this.device = device;
      this.channel = Verbs.createCompChannel(device.context());
      long created = 0;
      try {
        int wanted = Math.min(entries, device.limits().maxCqEntries());
        created = Verbs.createCq(device.context(), wanted, channel, 0);
      } finally {
        if (created == 0) {
          Verbs.destroyCompChannel(channel);
        }
      }
      this.cq = created;
      this.capacity = Verbs.cqEntries(cq);
    }

    int poll() {
      int polled = Verbs.pollCq(cq, pollSize, completionsAddress);
      if (polled < pollSize) {
        // The queue is empty, so it has no completion of a closed queue pair any more.
        retired = 0;
      }
      if (polled <= 0) {
        if (polled < 0) {
          broken(polled);
        }
        return 0;
      }
      int touches = 0;
      for (int i = 0; i < polled; i++) {
        int at = i * Layouts.WC_SIZE;
        long id = completions.getLong(at + Layouts.WC_ID);
        long slot = id >>> 32;
        QueuePair pair = pairs[(int) (slot & INDEX_MASK)];
        if (pair == null || pair.slot() != slot) {
          // Its queue pair was destroyed.
          continue;
        }
        if (pair.dispatch(
            (int) id,
            completions.getInt(at + Layouts.WC_STATUS),
            completions.getInt(at + Layouts.WC_OPCODE),
            completions.getInt(at + Layouts.WC_LENGTH))) {
          touched[touches++] = pair;
        }
      }
      for (int i = 0; i < touches; i++) {
        QueuePair pair = touched[i];
        touched[i] = null;
        pair.endBatch();
      }
      return polled;
    }

    /** A queue that cannot be polled has overrun or lost its device. */
    private void broken(int error) {
      String cause = "the completion queue of " + device + " failed: " + Verbs.errorText(error);
      closePairs(device, cause);
    }

    boolean arm() {
      if (armed && Verbs.getCqEvent(channel, 0) > 0) {
        armed = false;
      }
      if (used == 0) {
        // The device may have been removed. Then the queue can never be armed.
        return poll() == 0;
      }
      if (!armed) {
        armed = Verbs.reqNotify(cq, false) == 0;
      }
      return poll() == 0 && armed;
    }

    void close() {
      try {
        Verbs.destroyCq(cq);
        // In this order, since libibverbs keeps a channel while it has a queue.
        Verbs.destroyCompChannel(channel);
      } catch (IOException e) {
        LOG.warn("cannot destroy the completion queue of {}: {}", device, e.getMessage());
      }
    }
  }
}
