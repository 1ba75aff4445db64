/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.rdma;

import io.crail.nvmf.CommandSlots;
import io.crail.nvmf.NvmeCommand;
import io.crail.nvmf.NvmeQueue;
import io.crail.nvmf.NvmeRequest;
import io.crail.nvmf.NvmeStatus;
import io.crail.nvmf.ProtocolError;
import io.crail.nvmf.QueueId;
import io.crail.rpc.rdma.QueuePair;
import io.crail.rpc.rdma.RdmaLoop;
import io.crail.rpc.rdma.memory.RegistrationCache;
import io.crail.rpc.rdma.memory.UserMemory;
import io.crail.verbs.Layouts;
import io.crail.verbs.Verbs;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A queue over one RDMA connection. A command is a message. It says where its data are in this
 * host's memory, which the target then reads or writes; small data of a write go along with it. A
 * completion is a message too.
 *
 * <p>Data of users are registered, and stay so for later uses, or are copied when they are short.
 * Since the target may use memory until the command has ended, a request that is given up ends with
 * the queue. A slot is free again when the completion has arrived and the command is known to have
 * left, for until then the device may send the command's memory once more.
 */
final class RdmaQueue implements NvmeQueue, QueuePair.Handler, RdmaLoop.ConnectListener {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaQueue.class);

  /** What the answers to commands of the admin queue need. */
  private static final int ADMIN_PLACE = NvmeCommand.IDENTIFY_DATA;

  /** Data of at most so many bytes are copied, unless their memory is registered already. */
  private static final int PLACE = 8192;

  private static final int SGL = 0x40;
  private static final int IN_CAPSULE = 0x01;
  private static final int KEYED = 0x40;

  private final UserMemory users;
  private final Consumer<RdmaQueue> ended;
  private final RdmaLoop rdma;
  private final QueueId id;
  private final int entries;
  private final NvmeQueue.Listener listener;
  private final CommandSlots slots;

  // By slot: the user's memory, or null when the data are copied; its address; whether the command
  // was given to the device, whether it has left, and how it ended.
  private final RegistrationCache.Registration[] registrations;
  private final long[] addresses;
  private final boolean[] copied;
  private final boolean[] posted;
  private final boolean[] left;
  private final boolean[] answered;
  private final int[] statuses;
  private final long[] results;

  /** Slots whose memory cannot be registered before other registrations end. */
  private final ArrayDeque<Integer> waiting = new ArrayDeque<>();

  /** Slots whose memory cannot be registered. */
  private final ArrayDeque<Integer> refused = new ArrayDeque<>();

  private QueuePair pair;
  private QueueMemory memory;
  private RegistrationCache userMemory;
  private int inCapsule;

  /** The most requests in flight, for which both sides have receives. */
  private int most;

  private boolean isReported;
  private boolean opened;
  private boolean closed;
  private boolean dispatching;
  private String trouble;

  /**
   * Creates a queue that is not open.
   *
   * @param users the users' memory that targets may read and write
   * @param ended called when the queue has ended, and uses no memory any more
   */
  RdmaQueue(
      RdmaLoop rdma,
      UserMemory users,
      QueueId id,
      int entries,
      NvmeQueue.Listener listener,
      Consumer<RdmaQueue> ended) {
    this.rdma = rdma;
    this.users = users;
    this.ended = ended;
    this.id = id;
    this.entries = entries;
    this.listener = listener;
    int count = this.entries - 1;
    this.slots = new CommandSlots(rdma.loop(), count);
    this.registrations = new RegistrationCache.Registration[count];
    this.addresses = new long[count];
    this.copied = new boolean[count];
    this.posted = new boolean[count];
    this.left = new boolean[count];
    this.answered = new boolean[count];
    this.statuses = new int[count];
    this.results = new long[count];
  }

  void open(InetSocketAddress address, long deadlineNanos) {
    rdma.connect(
        address,
        deadlineNanos,
        new QueuePair.Options(slots.count(), entries, 2, NvmeCommand.LENGTH, Verbs.MOST_READS),
        ConnectData.request(id, entries),
        this);
  }

  // The connection.

  @Override
  public QueuePair.Handler created(QueuePair newPair) {
    if (closed) {
      newPair.close("no longer needed");
      return this;
    }
    pair = newPair;
    trouble = null;
    try {
      memory =
          new QueueMemory(newPair, slots.count(), entries, id.number() == 0 ? ADMIN_PLACE : PLACE);
      for (int receive = 0; receive < entries; receive++) {
        memory.addReceive(receive);
      }
      int error = memory.postReceives();
      if (error < 0) {
        trouble = "the device takes no receive requests: " + Verbs.errorText(error);
      }
    } catch (IOException e) {
      trouble = e.getMessage();
    }
    if (trouble != null) {
      newPair.close(trouble);
      release();
    }
    return this;
  }

  @Override
  public void connected(QueuePair newPair, ByteBuffer peerData) {
    if (closed) {
      newPair.close("no longer needed");
      return;
    }
    most = Math.min(slots.count(), ConnectData.receives(peerData));
    if (most == 0) {
      trouble = "it is no target of NVMe/RDMA";
      newPair.close(trouble);
      failed(trouble, null);
    } else {
      userMemory = users.of(newPair.device());
      opened = true;
      listener.opened();
    }
  }

  @Override
  public void failed(String cause, ByteBuffer peerData) {
    if (!closed) {
      closed = true;
      ended.accept(this);
      listener.lost(trouble != null ? trouble : ConnectData.refusal(peerData, cause));
    }
  }

  @Override
  public void close(String cause) {
    boolean wasOpened = opened;
    closed = true;
    opened = false;
    if (wasOpened) {
      pair.close(cause);
    } else {
      // An attempt that is under way ends by itself.
      ended.accept(this);
    }
  }

  @Override
  public void closed(String cause) {
    boolean report = opened;
    opened = false;
    dispatching = false;
    release();
    waiting.clear();
    refused.clear();
    for (int slot = 0; slot < slots.count(); slot++) {
      if (slots.request(slot) != null) {
        releaseMemory(slot);
        rdma.ended();
      }
    }
    if (report || closed) {
      closed = true;
      ended.accept(this);
      slots.endAll(trouble != null ? trouble : cause);
    }
    if (report) {
      listener.lost(trouble != null ? trouble : cause);
    }
  }

  private void release() {
    if (memory != null) {
      memory.close();
      memory = null;
    }
  }

  // The requests.

  @Override
  public void inCapsule(int bytes) {
    inCapsule = bytes;
  }

  @Override
  public boolean leavesMemoryAlone() {
    return false;
  }

  @Override
  public boolean hasRoom() {
    return opened && slots.inFlight() < most;
  }

  @Override
  public int inFlight() {
    return slots.inFlight();
  }

  @Override
  public void send(NvmeRequest request) {
    int slot = slots.take(request);
    registrations[slot] = null;
    copied[slot] = false;
    posted[slot] = false;
    left[slot] = false;
    answered[slot] = false;
    rdma.begun();
    if (!place(slot, !waiting.isEmpty())) {
      waiting.addLast(slot);
    }
  }

  /**
   * Sends a command once its memory is known.
   *
   * @param others whether requests wait that came before it and need memory
   * @return false when there is no room for its memory now
   */
  private boolean place(int slot, boolean others) {
    NvmeRequest request = slots.request(slot);
    if (request.direction() != NvmeRequest.Direction.NONE) {
      try {
        if (!findMemory(slot, request, others)) {
          return false;
        }
      } catch (IOException e) {
        if (!isReported) {
          LOG.warn("cannot register {} bytes for NVMe/RDMA: {}", request.length(), e.getMessage());
          isReported = true;
        }
        refused.addLast(slot);
        return true;
      }
    }
    encode(slot, request);
    return true;
  }

  private boolean findMemory(int slot, NvmeRequest request, boolean others) throws IOException {
    ByteBuffer root = request.root();
    RegistrationCache.Registration known = userMemory.find(root);
    boolean copies = known == null && request.length() <= memory.placeLength();
    if (!copies) {
      addresses[slot] = Verbs.addressOf(request.view()) + request.offset();
    }
    if (known != null && !known.covers(addresses[slot], request.length())) {
      userMemory.release(known);
      known = null;
    }
    if (known == null && request.length() <= memory.placeLength()) {
      copied[slot] = true;
      addresses[slot] = memory.placeAddress(slot);
      return true;
    }
    // In order: a request that came first must not wait without end.
    if (known == null && !others) {
      known = userMemory.register(root, addresses[slot], request.length());
    }
    registrations[slot] = known;
    return known != null;
  }

  private void encode(int slot, NvmeRequest request) {
    ByteBuffer own = memory.own();
    int at = memory.commandAt(slot);
    for (int i = 0; i < NvmeCommand.LENGTH; i += Long.BYTES) {
      own.putLong(at + i, 0);
    }
    request.encode(own, at);
    posted[slot] = true;
    own.put(at + 1, (byte) SGL);
    own.putShort(at + 2, (short) slots.id(slot));
    if (request.direction() == NvmeRequest.Direction.NONE) {
      own.put(at + 39, (byte) KEYED);
      memory.addSend(slot);
      return;
    }
    boolean write = request.direction() == NvmeRequest.Direction.TO_CONTROLLER;
    int length = request.length();
    if (copied[slot] && write) {
      memory.places().put(memory.placeAt(slot), request.view().clear(), request.offset(), length);
    } else if (copied[slot] && request.mayBeShort()) {
      memory.clearPlace(slot);
    }
    long address = addresses[slot];
    if (write && length <= inCapsule) {
      own.putInt(at + 32, length);
      own.put(at + 39, (byte) IN_CAPSULE);
      memory.addSend(
          slot,
          address,
          length,
          copied[slot] ? memory.placesRegion().lkey() : registrations[slot].lkey());
      return;
    }
    own.putLong(at + 24, address);
    // 3 bytes of length, 4 bytes of key.
    own.putInt(at + 32, length);
    own.putInt(at + 35, copied[slot] ? memory.placesRegion().rkey() : registrations[slot].rkey());
    own.put(at + 39, (byte) KEYED);
    memory.addSend(slot);
  }

  @Override
  public void flush() {
    // Within a batch of completions, receives are posted first: at its end.
    if (!opened || dispatching) {
      return;
    }
    int error = memory.postReceives();
    if (error == 0) {
      error = memory.postSends();
    }
    if (error < 0) {
      pair.close("the device takes no request: " + Verbs.errorText(error));
    }
  }

  // The completions.

  @Override
  public void completed(int request, int opcode, int bytes) {
    if (!opened) {
      return;
    }
    dispatching = true;
    if ((request & QueueMemory.SEND) != 0) {
      int slot = request & ~QueueMemory.SEND;
      left[slot] = true;
      if (answered[slot]) {
        end(slot);
      }
      return;
    }
    try {
      answer(request, bytes);
    } catch (ProtocolError e) {
      trouble = e.getMessage();
      pair.close(trouble);
    }
  }

  private void answer(int receive, int bytes) throws ProtocolError {
    if (bytes != QueueMemory.COMPLETION) {
      throw new ProtocolError("an answer of " + bytes + " bytes");
    }
    ByteBuffer own = memory.own();
    int at = memory.completionAt(receive);
    int slot = slots.slot(own.getShort(at + 12) & 0xffff);
    if (!posted[slot] || answered[slot]) {
      throw new ProtocolError("an answer to a command that has none to come");
    }
    answered[slot] = true;
    statuses[slot] = (own.getShort(at + 14) & 0xffff) >> 1;
    results[slot] = own.getLong(at);
    memory.addReceive(receive);
    if (left[slot]) {
      end(slot);
    }
  }

  private void end(int slot) {
    NvmeRequest request = slots.request(slot);
    if (copied[slot]
        && statuses[slot] == NvmeStatus.OK
        && request.direction() == NvmeRequest.Direction.TO_HOST) {
      request
          .view()
          .clear()
          .put(request.offset(), memory.places(), memory.placeAt(slot), request.length());
    }
    releaseMemory(slot);
    rdma.ended();
    slots.free(slot).ended(statuses[slot], results[slot]);
  }

  private void releaseMemory(int slot) {
    if (registrations[slot] != null) {
      userMemory.release(registrations[slot]);
      registrations[slot] = null;
    }
  }

  @Override
  public void batchEnded() {
    dispatching = false;
    continueWaiting();
  }

  /** Whether requests wait for memory, or to fail because there is none. */
  boolean isWaiting() {
    return !waiting.isEmpty() || !refused.isEmpty();
  }

  /** Continues with such requests, as when other queues have ended some. Not within a send. */
  void continueWaiting() {
    while (!refused.isEmpty()) {
      int slot = refused.pollFirst();
      statuses[slot] = NvmeStatus.HOST_PATH_ERROR;
      results[slot] = 0;
      end(slot);
    }
    while (opened && !waiting.isEmpty() && place(waiting.peekFirst(), false)) {
      waiting.pollFirst();
    }
    flush();
  }

  @Override
  public void failed(int request, int status, String text) {
    if (trouble == null && status != Layouts.WC_FLUSHED) {
      trouble = text;
    }
  }
}
