/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.sim;

import io.crail.common.error.CrailException;
import io.crail.rpc.CommitQueue;
import io.crail.rpc.Connection;
import io.crail.rpc.Frame;
import io.crail.rpc.HeldAnswers;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.Session;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Arrays;

/** A connection on the simulated network, with both its ends. */
final class SimulatedLink implements Connection {
  private static final int OUTPUT_CAPACITY = 2 * Frame.MAX_LENGTH;
  private static final int FIRST_CAPACITY = 4096;

  /** The pause before a request is offered again that waits for another connection's answer. */
  private static final long AWAIT_NANOS = 100_000_000;

  private final SimulatedNetwork network;
  private final SimulatedClientLoop loop;
  private final InetSocketAddress address;
  private final Handler handler;
  private final Pipe requests = new Pipe(true);
  private final Pipe responses = new Pipe(false);

  private SimulatedServer server;
  private Session session;
  private RequestBatch batch;
  private HeldAnswers.OfConnection heldAnswers;
  private Responses writer;
  private boolean clientOpen;
  private boolean serverOpen;
  private boolean ended;
  private boolean silent;
  private boolean refused;
  private ByteBuffer output = newBuffer(FIRST_CAPACITY);
  private int position;
  private long stillUntilNanos;

  SimulatedLink(
      SimulatedNetwork network,
      SimulatedClientLoop loop,
      InetSocketAddress address,
      Handler handler) {
    this.network = network;
    this.loop = loop;
    this.address = address;
    this.handler = handler;
  }

  SimulatedServer server() {
    return server;
  }

  SimulatedClientLoop loop() {
    return loop;
  }

  boolean connects(String a, String b) {
    String far = server == null ? "" : server.host();
    return (loop.host().equals(a) && far.equals(b)) || (loop.host().equals(b) && far.equals(a));
  }

  // Establishing.

  void connect(long deadlineNanos) {
    network.add(this);
    long patience = deadlineNanos - network.clock().nanoTime();
    SimulatedServer there = network.find(address);
    String far = there == null ? address.getHostString() : there.host();
    long roundTrip = network.latencyNanos() + network.latencyNanos();
    if (roundTrip >= patience || network.isPartitioned(loop.host(), far)) {
      network.schedule(
          loop.host(), patience, () -> loop.deliver(() -> clientEnds("no connection in time")));
    } else {
      network.schedule(loop.host(), roundTrip, this::arrived);
    }
  }

  private void arrived() {
    if (ended || loop.isClosed()) {
      network.remove(this);
      return;
    }
    server = network.find(address);
    if (server == null) {
      loop.deliver(() -> clientEnds("connection refused: " + address));
      return;
    }
    heldAnswers =
        server
            .answers()
            .of(() -> network.schedule(server.host(), 0, SimulatedLink.this::receivedByServer));
    session = new Session(loop.host() + "/" + loop.name(), heldAnswers);
    batch = new RequestBatch(session);
    writer = new Responses();
    clientOpen = true;
    serverOpen = true;
    loop.deliver(() -> handler.connected(this));
  }

  // The client's end.

  @Override
  public int reserve(int frameLength) {
    if (!clientOpen || requests.underWay >= SimulatedNetwork.WINDOW) {
      refused = true;
      return -1;
    }
    if (output.capacity() - position < frameLength) {
      flush();
      if (output.capacity() < frameLength) {
        output = newBuffer(frameLength);
      }
    }
    return position;
  }

  @Override
  public ByteBuffer output() {
    return output;
  }

  @Override
  public void commit(int frameLength) {
    position += frameLength;
  }

  @Override
  public void flush() {
    if (clientOpen && position > 0) {
      byte[] bytes = new byte[position];
      output.get(0, bytes);
      position = 0;
      requests.write(bytes);
    }
  }

  @Override
  public InetSocketAddress address() {
    return address;
  }

  @Override
  public void close(String cause) {
    if (!clientOpen) {
      return;
    }
    clientOpen = false;
    network.schedule(loop.host(), 0, () -> loop.deliver(() -> clientEnds(cause)));
    requests.send(0, this::serverEnds);
  }

  /** The client's loop has ended. */
  void abandon() {
    boolean wasOpen = clientOpen;
    ended = true;
    clientOpen = false;
    forgetIfOver();
    if (wasOpen) {
      requests.send(0, this::serverEnds);
    }
  }

  private void clientEnds(String cause) {
    if (!ended) {
      ended = true;
      clientOpen = false;
      forgetIfOver();
      handler.closed(cause);
    }
  }

  private void receivedByClient() {
    ByteBuffer bytes = responses.arrived;
    int offset = 0;
    try {
      int length = responses.frameAt(offset);
      while (length >= 0 && clientOpen) {
        handler.received(bytes, offset, length);
        offset += length;
        length = responses.frameAt(offset);
      }
    } catch (CrailException e) {
      close(e.getMessage());
    }
    responses.drop(offset);
  }

  private void requestsDelivered() {
    if (refused && clientOpen && requests.underWay < SimulatedNetwork.WINDOW) {
      refused = false;
      network.schedule(loop.host(), 0, () -> loop.deliver(handler::writable));
    }
  }

  // The server's end.

  void closeServerEnd(String cause) {
    if (serverOpen) {
      serverEnds();
      responses.send(0, () -> loop.deliver(() -> clientEnds(cause)));
    }
  }

  private void serverEnds() {
    if (serverOpen) {
      serverOpen = false;
      heldAnswers.close();
      forgetIfOver();
      server.service().closed(session);
    }
  }

  private void receivedByServer() {
    while (heldAnswers.isAnyLeaving()) {
      heldAnswers.write(writer);
    }
    writer.flush();
    while (serverOpen && writer.look() && requests.hasBytes()) {
      int served;
      try {
        served = serveBatch();
      } catch (CrailException | RuntimeException e) {
        closeServerEnd("closed by the peer");
        return;
      }
      requests.drop(served);
      writer.flush();
      server.sweepLater();
      if (served == 0) {
        return;
      }
    }
  }

  private int serveBatch() throws CrailException {
    int offset = 0;
    batch.reset(requests.arrived);
    int length = requests.frameAt(offset);
    while (length >= 0 && !batch.isFull()) {
      batch.add(offset, length);
      offset += length;
      length = requests.frameAt(offset);
    }
    int offered = batch.count();
    if (offered > 0) {
      server.service().serve(batch, writer);
    }
    int served = batch.count();
    if (session.takeWaitsForAnswer()) {
      network.schedule(server.host(), AWAIT_NANOS, this::receivedByServer);
    }
    return served < offered ? batch.bodyOffset(served) - Frame.HEADER_LENGTH : offset;
  }

  private final class Responses extends ResponseWriter {
    private ByteBuffer own;

    /** What was written and waits for a commit. */
    private final ArrayDeque<byte[]> uncommitted = new ArrayDeque<>();

    /**
     * Looks whether more may be served: not while the client does not take its answers, or while as
     * many are held as may be.
     */
    boolean look() {
      boolean isFull = responses.underWay >= SimulatedNetwork.WINDOW || heldAnswers.isFull();
      setFull(isFull);
      return !isFull;
    }

    @Override
    protected ByteBuffer nextBuffer(int written, int needed) {
      if (written > 0) {
        write(written);
      }
      // The bytes are copied, so the buffer can be reused.
      if (own == null || own.capacity() < needed) {
        own = newBuffer(Math.max(OUTPUT_CAPACITY, needed));
      }
      return own;
    }

    void flush() {
      if (written() > 0) {
        write(written());
        detach();
      }
    }

    private void write(int length) {
      byte[] bytes = new byte[length];
      buffer().get(0, bytes);
      long commit = takeRests(server.commits()) ? server.commits().position() : CommitQueue.NOTHING;
      if (commit == CommitQueue.NOTHING && uncommitted.isEmpty()) {
        responses.write(bytes);
      } else {
        uncommitted.addLast(bytes);
        // One that need not wait leaves after those before it.
        server.commits().await(commit, this::committed);
      }
    }

    private void committed() {
      byte[] bytes = uncommitted.pollFirst();
      if (serverOpen && server.commits().hasFailed()) {
        closeServerEnd("cannot commit");
      } else if (serverOpen) {
        responses.write(bytes);
      }
    }
  }

  // Both ends.

  /** The connection is lost. Both ends learn of it. */
  void breakDown(String cause) {
    closeServerEnd(cause);
    close(cause);
  }

  /** The host of one end is gone, and no end learns of it. */
  void fallSilent(String host) {
    if (loop.host().equals(host) || (server != null && server.host().equals(host))) {
      silent = true;
      if (server != null && server.host().equals(host)) {
        serverEnds();
      }
    }
  }

  /** Bytes that are written from now on do not arrive before a time. */
  void standStill(long nanos) {
    stillUntilNanos = network.clock().nanoTime() + nanos;
  }

  /** A process has ended, and its host closes its connections. */
  void endedAt(String host) {
    if (server != null && server.host().equals(host)) {
      closeServerEnd("closed by the peer");
    } else if (loop.host().equals(host)) {
      abandon();
    }
  }

  void healed() {
    requests.healed();
    responses.healed();
  }

  private void forgetIfOver() {
    if (ended && !serverOpen) {
      network.remove(this);
    }
  }

  private static ByteBuffer newBuffer(int capacity) {
    return ByteBuffer.allocate(capacity).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** One direction: the bytes in flight, and the received bytes of an incomplete frame. */
  private final class Pipe {
    private final boolean toServer;
    private final ArrayDeque<Runnable> held = new ArrayDeque<>();
    private ByteBuffer arrived = newBuffer(FIRST_CAPACITY);
    private long lastArrivalNanos;
    private long underWay;

    Pipe(boolean toServer) {
      this.toServer = toServer;
    }

    private String from() {
      return toServer ? loop.host() : server.host();
    }

    private String to() {
      return toServer ? server.host() : loop.host();
    }

    void write(byte[] bytes) {
      underWay += bytes.length;
      if (network.breaksNext()) {
        network.schedule(0, () -> breakDown("connection reset"));
        return;
      }
      // The receiver sees a stream in pieces, cut at any place.
      int cut = network.random().nextInt(4) == 0 ? network.random().nextInt(bytes.length) : 0;
      if (cut > 0) {
        byte[] piece = Arrays.copyOf(bytes, cut);
        send(cut, () -> arrive(piece));
      }
      byte[] rest = Arrays.copyOfRange(bytes, cut, bytes.length);
      send(rest.length, () -> arrive(rest));
    }

    /** Runs an action at the other end, after all bytes that were sent before. */
    void send(int bytes, Runnable onArrival) {
      long now = network.clock().nanoTime();
      lastArrivalNanos =
          Math.max(Math.max(now, stillUntilNanos) + network.latencyNanos(), lastArrivalNanos + 1)
              + network.transmissionNanos(from(), to(), bytes);
      network.schedule(to(), lastArrivalNanos - now, () -> pass(onArrival));
    }

    private void pass(Runnable onArrival) {
      if (silent) {
        return;
      }
      long stillNanos = stillUntilNanos - network.clock().nanoTime();
      if (stillNanos > 0) {
        network.schedule(to(), stillNanos, () -> pass(onArrival));
        return;
      }
      if (!held.isEmpty() || network.isPartitioned(from(), to())) {
        held.addLast(onArrival);
      } else {
        onArrival.run();
      }
    }

    void healed() {
      if (server != null && !network.isPartitioned(from(), to())) {
        while (!held.isEmpty()) {
          send(0, held.pollFirst());
        }
      }
    }

    private void arrive(byte[] piece) {
      if (!(toServer ? serverOpen : clientOpen)) {
        return;
      }
      underWay -= piece.length;
      append(piece);
      if (toServer) {
        receivedByServer();
        requestsDelivered();
      } else {
        loop.deliver(SimulatedLink.this::receivedByClient);
        // The window has room again, so held-back requests may be served.
        if (requests.hasBytes()) {
          network.schedule(server.host(), 0, SimulatedLink.this::receivedByServer);
        }
      }
    }

    private void append(byte[] piece) {
      if (arrived.remaining() < piece.length) {
        ByteBuffer larger = newBuffer((arrived.position() + piece.length) * 2);
        arrived.flip();
        larger.put(arrived);
        arrived = larger;
      }
      arrived.put(piece);
    }

    boolean hasBytes() {
      return arrived.position() > 0;
    }

    int frameAt(int offset) throws CrailException {
      int kind = toServer ? Frame.KIND_REQUEST : Frame.KIND_RESPONSE;
      return Frame.check(arrived, offset, arrived.position() - offset, kind, Frame.MAX_LENGTH);
    }

    void drop(int bytes) {
      arrived.flip().position(bytes);
      arrived.compact();
    }
  }
}
