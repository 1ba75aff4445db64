/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A small target of NVMe/TCP, with a thread for each connection. It is for tests: it is strict
 * where a host could be sloppy, and breaks the rules where a test asks for it. Thread-safe.
 */
public final class NvmeTarget implements AutoCloseable {
  /** Chooses what happens to a command. Called by the threads of connections. */
  public interface Plan {
    /**
     * The fate of a command.
     *
     * @param queue its queue; 0 is the admin queue
     * @param opcode its opcode
     * @param number how many commands the queue's connection has had before
     */
    Fate of(int queue, int opcode, int number);
  }

  /** Answers commands in place of the target. Called by the threads of connections. */
  public interface Bend {
    /**
     * Sees a command before the target does, and its data that go along with it.
     *
     * @param queue its queue; -1 before the connect
     * @param entry the command, 64 bytes
     * @return whether the target leaves it alone
     */
    boolean takes(TargetWire wire, int queue, ByteBuffer entry) throws IOException;
  }

  /** Changes the header of a unit. Called by the threads of connections. */
  public interface Damage {
    /**
     * Changes it.
     *
     * @param unit the unit as it would leave
     * @param length bytes of the header and its digest
     */
    void change(byte[] unit, int length);
  }

  /** A controller, made by a connect of an admin queue. */
  static final class Owned {
    final String host;
    final TargetSession admin;
    volatile boolean enabled;
    volatile long enabledNanos;
    final Set<Integer> queues = ConcurrentHashMap.newKeySet();

    Owned(String host, TargetSession admin) {
      this.host = host;
      this.admin = admin;
    }
  }

  private final TargetOptions options;
  private final Map<Integer, TargetNamespace> namespaces = new ConcurrentHashMap<>();
  private final Map<Integer, Owned> controllers = new ConcurrentHashMap<>();
  private final Set<TargetSession> sessions = ConcurrentHashMap.newKeySet();
  private final ConcurrentLinkedQueue<String> complaints = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<Integer> explanations = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<Runnable> kept = new ConcurrentLinkedQueue<>();
  private final AtomicInteger nextController = new AtomicInteger(1);
  private final AtomicInteger connections = new AtomicInteger();
  private final AtomicBoolean held = new AtomicBoolean();
  private final InetSocketAddress address;
  private volatile Plan plan = (queue, opcode, number) -> Fate.NORMAL;
  private volatile Fate spared = Fate.NORMAL;
  private volatile Bend bend = (wire, queue, entry) -> false;
  private volatile Damage damage = (unit, length) -> unit[12] ^= 4;
  private ServerSocket server;
  private Thread acceptor;

  /** Starts a target on any free port of the loopback interface. */
  public NvmeTarget(TargetOptions options, TargetNamespace... namespaces) throws IOException {
    this(InetAddress.getLoopbackAddress(), options, namespaces);
  }

  /** Starts a target on any free port of an address. */
  public NvmeTarget(InetAddress host, TargetOptions options, TargetNamespace... namespaces)
      throws IOException {
    this.options = options;
    for (TargetNamespace namespace : namespaces) {
      this.namespaces.put(namespace.number(), namespace);
    }
    this.address = listen(new InetSocketAddress(host, 0));
  }

  private synchronized InetSocketAddress listen(InetSocketAddress where) throws IOException {
    ServerSocket socket = new ServerSocket();
    socket.setReuseAddress(true);
    socket.bind(where);
    server = socket;
    acceptor = new Thread(() -> accept(socket), "nvme-target");
    acceptor.setDaemon(true);
    acceptor.start();
    return (InetSocketAddress) socket.getLocalSocketAddress();
  }

  private void accept(ServerSocket socket) {
    while (true) {
      try {
        Socket accepted = socket.accept();
        accepted.setTcpNoDelay(true);
        connections.incrementAndGet();
        TargetSession session = new TargetSession(this, accepted);
        sessions.add(session);
        session.start();
      } catch (IOException e) {
        return;
      }
    }
  }

  /** Where it listens. */
  public InetSocketAddress address() {
    return address;
  }

  /** The subsystem's name. */
  public String nqn() {
    return options.nqn;
  }

  /** The target as users name it, {@code host:port/nqn}. */
  public String text() {
    return address.getHostString() + ":" + address.getPort() + "/" + options.nqn;
  }

  /** Sets what happens to commands from now on. */
  public void plan(Plan newPlan) {
    plan = newPlan;
  }

  /** Lets a test answer commands from now on. */
  public void bend(Bend newBend) {
    bend = newBend;
  }

  /** Sets what {@link Fate#DAMAGED_HEADER} does to headers. */
  public void damage(Damage newDamage) {
    damage = newDamage;
  }

  /** Sets what happens to accesses of what is spared; see {@link TargetOptions#spared}. */
  public void spared(Fate fate) {
    spared = fate;
  }

  /** Holds all commands of I/O queues back, or lets them go on. */
  public void hold(boolean holds) {
    synchronized (held) {
      held.set(holds);
      held.notifyAll();
    }
  }

  /** Executes the writes that were kept by plan, and says how many these were. */
  public int executeKept() {
    int count = 0;
    for (Runnable write = kept.poll(); write != null; write = kept.poll()) {
      write.run();
      count++;
    }
    return count;
  }

  /** Adds a namespace, which hosts see when they look again. */
  public void add(TargetNamespace namespace) {
    namespaces.put(namespace.number(), namespace);
  }

  /** Removes a namespace. */
  public void remove(int number) {
    namespaces.remove(number);
  }

  /** Connections that were accepted so far. */
  public int connections() {
    return connections.get();
  }

  /** Connections that are open. */
  public int open() {
    return sessions.size();
  }

  /** What hosts did wrong; empty when they kept to the protocol. */
  public List<String> complaints() {
    return List.copyOf(complaints);
  }

  /** What hosts gave for the failures of authentications, by number. */
  public List<Integer> explanations() {
    return List.copyOf(explanations);
  }

  /** Ends all connections and refuses new ones. */
  public synchronized void down() throws IOException {
    server.close();
    join(acceptor);
    cut();
  }

  /** Ends all connections. */
  public void cut() {
    for (TargetSession session : sessions) {
      session.close();
    }
  }

  /** Listens again, after {@link #down}. */
  public void up() throws IOException {
    listen(address);
  }

  @Override
  public void close() throws IOException {
    List<TargetSession> ending = List.copyOf(sessions);
    down();
    ending.forEach(session -> join(session));
  }

  private static void join(Thread thread) {
    try {
      thread.join(10_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  // For the sessions.

  TargetOptions options() {
    return options;
  }

  void keep(Runnable write) {
    kept.add(write);
  }

  Fate fate(int queue, int opcode, int number) {
    return plan.of(queue, opcode, number);
  }

  Fate fateOfSpared() {
    return spared;
  }

  boolean bends(TargetWire wire, int queue, ByteBuffer entry) throws IOException {
    return bend.takes(wire, queue, entry);
  }

  void damage(byte[] unit, int length) {
    damage.change(unit, length);
  }

  void awaitRelease() throws IOException {
    synchronized (held) {
      while (held.get()) {
        try {
          held.wait(60_000);
        } catch (InterruptedException e) {
          throw new InterruptedIOException();
        }
      }
    }
  }

  /** The namespace of a number; null when there is none. */
  public TargetNamespace namespace(int number) {
    return namespaces.get(number);
  }

  List<Integer> numbers() {
    return namespaces.keySet().stream().sorted().toList();
  }

  int own(String host, TargetSession admin) {
    int id = nextController.getAndIncrement();
    controllers.put(id, new Owned(host, admin));
    return id;
  }

  Owned controller(int id) {
    return controllers.get(id);
  }

  void explained(int explanation) {
    explanations.add(explanation);
  }

  void complain(String what) {
    complaints.add(what);
  }

  /** A connection has ended; the end of an admin queue is the end of its controller. */
  void ended(TargetSession session, int controller, int queue) {
    sessions.remove(session);
    if (queue == 0) {
      controllers.remove(controller);
      sessions.stream().filter(s -> s.controller() == controller).forEach(TargetSession::close);
    }
  }
}
