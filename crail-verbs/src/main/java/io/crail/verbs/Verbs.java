/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import java.io.IOException;
import java.lang.annotation.Native;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * libibverbs and librdmacm for connected queue pairs.
 *
 * <p>Handles and addresses are C pointers, not checked: a handle that was destroyed, or an address
 * without memory behind it, ends the JVM. A handle has one owner, who destroys it once, in this
 * order: queue pair, id, completion queues, completion channel, memory regions, protection domain;
 * the event channel after all of its ids. Handles of DiSNI's objects are the same pointers.
 *
 * <p>Threads: queues and channels may be used by several threads at once, without a lock that is
 * shared between two of them. Destroying something needs all of its users to have ended.
 *
 * <p>Errors: posting, polling and waiting return a negative error number of errno.h, without an
 * exception; {@link #errorText} tells what it means. Everything else throws {@link VerbsException}.
 * Without the native library each native method throws UnsatisfiedLinkError; {@link #check} says so
 * beforehand and never throws.
 *
 * <p>Times are in milliseconds, measured on a clock that nobody sets, and never negative; 0 asks
 * without waiting. Layouts of memory are in {@link Layouts}.
 */
public final class Verbs {
  /** Version of what this class and the native library have agreed upon. */
  @Native private static final int ABI = 4;

  /** The time is over: -ETIMEDOUT. */
  @Native public static final int TIMED_OUT = -110;

  /** Bit of {@link #await}: the event channel has an event. */
  @Native public static final int READY_CM = 1;

  /** Bit of {@link #await}: the completion channel has an event. */
  @Native public static final int READY_CQ = 2;

  /** Bit of {@link #await}: somebody called {@link #wake}. */
  @Native public static final int READY_WAKEUP = 4;

  /** As many reads under way as device and peer allow. */
  @Native public static final int MOST_READS = 255;

  /** RNR retries: no end. */
  @Native public static final int RNR_RETRY_FOREVER = 7;

  /** Most bytes of private data that {@link #connect} can send. */
  @Native public static final int MAX_CONNECT_DATA = 56;

  /** Most bytes of private data that {@link #accept} can send. */
  @Native public static final int MAX_ACCEPT_DATA = 196;

  /** Most bytes of private data that {@link #reject} can send. */
  @Native public static final int MAX_REJECT_DATA = 148;

  private static final String LOAD_PROBLEM = NativeLibrary.load();

  private Verbs() {}

  // ---- Whether there is RDMA at all

  /** {@link #check(long)} for next to no memory. */
  public static Availability check() {
    return check(0);
  }

  /**
   * Whether this process can use RDMA: library, devices, permissions, lockable memory. Opens and
   * closes each device; not for hot paths. Never throws.
   *
   * @param registeredBytes how much memory the caller means to register
   */
  public static Availability check(long registeredBytes) {
    return NativeLibrary.check(LOAD_PROBLEM, registeredBytes);
  }

  /** What the native library was built for; {@link #ABI} when the two belong together. */
  static native int abi();

  static boolean belongsTogether() {
    return abi() == ABI;
  }

  // ---- Devices

  /** The names of all devices, whether or not they may be opened. */
  public static List<String> devices() throws VerbsException {
    return List.of(deviceNames());
  }

  private static native String[] deviceNames() throws VerbsException;

  /** What a device says of itself; opens and closes it. */
  public static Device device(String name) throws VerbsException {
    return DeviceReader.read(name);
  }

  /**
   * Numbers of a device in the order of the components of {@link Device}, from nodeGuid to
   * completionVectors, then the number of ports.
   */
  static native long[] deviceNumbers(String name) throws VerbsException;

  /**
   * Numbers of a port: state, active MTU, largest MTU, largest message, link layer, length of the
   * GID table.
   */
  static native long[] portNumbers(String name, int port) throws VerbsException;

  /** The GID table of a port, 16 bytes for each entry; zeros where an entry is empty. */
  static native byte[] gidTable(String name, int port, int length) throws VerbsException;

  /**
   * How many bytes this process may lock, and so register: RLIMIT_MEMLOCK, or Long.MAX_VALUE when
   * there is no limit or the process has the right to pass it (CAP_IPC_LOCK).
   */
  public static native long memlockLimitBytes();

  // ---- Memory

  /** The address of a direct buffer's first byte, whatever its position; 0 for a heap buffer. */
  public static native long addressOf(ByteBuffer buffer);

  /**
   * Registers memory.
   *
   * @param pd protection domain
   * @param address where it begins
   * @param lengthBytes its length; the device's limit is {@link Device#maxMrBytes}
   * @param access sum of {@code Layouts.ACCESS_...}
   * @return memory region
   */
  public static native long regMr(long pd, long address, long lengthBytes, int access)
      throws VerbsException;

  /** The key that goes into elements. Never to be told to a peer. */
  public static native int lkey(long mr);

  /** The key that a peer needs. */
  public static native int rkey(long mr);

  /** Ends a registration. Nothing that uses it may be under way. */
  public static native void deregMr(long mr) throws VerbsException;

  // ---- Connection manager

  /** A queue of events of the connection manager. */
  public static native long createEventChannel() throws VerbsException;

  /** Destroys an event channel whose ids have all been destroyed. */
  public static native void destroyEventChannel(long channel);

  /** The file descriptor of an event channel: readable while there is an event to take. */
  public static native int eventDescriptor(long channel);

  /** An id: one end of a reliable connection, or a listener. */
  public static native long createId(long channel) throws VerbsException;

  /** Destroys an id, connected or not. Its queue pair has to be destroyed before. */
  public static native void destroyId(long id) throws VerbsException;

  /**
   * Binds to a local address.
   *
   * @param address 4 or 16 bytes; all of them zero means every address of every device
   * @param port 0 means any free one, see {@link #localAddress}
   * @param scope number of the network interface of a link-local IPv6 address, else 0
   */
  public static native void bind(long id, byte[] address, int port, int scope)
      throws VerbsException;

  /** {@link #bind(long, byte[], int, int)}. */
  public static void bind(long id, InetSocketAddress address) throws IOException {
    bind(id, bytes(address), address.getPort(), scope(address.getAddress()));
  }

  /** Listens; each peer that asks comes as {@link Layouts#CM_CONNECT_REQUEST}. */
  public static native void listen(long id, int backlog) throws VerbsException;

  /**
   * Starts to look for the device that leads to an address; ends with {@link
   * Layouts#CM_ADDRESS_RESOLVED} or {@link Layouts#CM_ADDRESS_ERROR}.
   *
   * @param address 4 or 16 bytes
   */
  public static native void resolveAddress(
      long id, byte[] address, int port, int scope, int timeoutMillis) throws VerbsException;

  /** {@link #resolveAddress(long, byte[], int, int, int)}. */
  public static void resolveAddress(long id, InetSocketAddress peer, int timeoutMillis)
      throws IOException {
    resolveAddress(id, bytes(peer), peer.getPort(), scope(peer.getAddress()), timeoutMillis);
  }

  /**
   * Starts to look for the way to the peer; ends with {@link Layouts#CM_ROUTE_RESOLVED} or {@link
   * Layouts#CM_ROUTE_ERROR}.
   */
  public static native void resolveRoute(long id, int timeoutMillis) throws VerbsException;

  /**
   * How long the device waits for an acknowledgement before it repeats a packet: 4.096 us * 2^n. To
   * be set before {@link #resolveRoute}, or {@link #accept}. A peer that vanished is noticed after
   * this time, once for each retry.
   *
   * @param exponent from 0 (for ever) to 31
   */
  public static native void setAckTimeout(long id, int exponent) throws VerbsException;

  /** Allows to bind to a port that an id which no longer listens still occupies. */
  public static native void setReuseAddress(long id, boolean reuse) throws VerbsException;

  /**
   * Starts to connect; ends with {@link Layouts#CM_ESTABLISHED}, {@link Layouts#CM_REJECTED},
   * {@link Layouts#CM_UNREACHABLE} or {@link Layouts#CM_CONNECT_ERROR}. An unreachable peer may
   * take a minute: who cannot wait destroys the id.
   *
   * @param responderResources most reads of the peer under way here, or {@link #MOST_READS}
   * @param initiatorDepth most own reads under way, or {@link #MOST_READS}
   * @param retries how often a packet is repeated that is not acknowledged: 0 to 7
   * @param rnrRetries the same for a message that finds no receive request: 0 to 6, or {@link
   *     #RNR_RETRY_FOREVER}
   * @param privateAddress where the private data begins
   * @param privateLength at most {@link #MAX_CONNECT_DATA}
   */
  public static native void connect(
      long id,
      int responderResources,
      int initiatorDepth,
      int retries,
      int rnrRetries,
      long privateAddress,
      int privateLength)
      throws VerbsException;

  /**
   * Accepts a peer's request; ends with {@link Layouts#CM_ESTABLISHED} or {@link
   * Layouts#CM_CONNECT_ERROR}. The peer may send before that event is there, so receive requests
   * are posted before.
   *
   * @param id that came with the request
   * @param privateLength at most {@link #MAX_ACCEPT_DATA}
   */
  public static native void accept(
      long id,
      int responderResources,
      int initiatorDepth,
      int rnrRetries,
      long privateAddress,
      int privateLength)
      throws VerbsException;

  /**
   * Refuses a peer's request. The id still has to be destroyed.
   *
   * @param privateLength at most {@link #MAX_REJECT_DATA}
   */
  public static native void reject(long id, long privateAddress, int privateLength)
      throws VerbsException;

  /**
   * Ends a connection: outstanding requests are flushed, both sides get {@link
   * Layouts#CM_DISCONNECTED}.
   */
  public static native void disconnect(long id) throws VerbsException;

  /**
   * Takes the next event, and acknowledges it. An id may be destroyed as soon as no thread is
   * inside this method that could get an event of it: let one thread read a channel.
   *
   * @param eventAddress {@link Layouts#CM_EVENT_SIZE} bytes that receive the event
   * @return the number of the event, or {@link #TIMED_OUT}
   */
  public static native int getCmEvent(long channel, int timeoutMillis, long eventAddress)
      throws VerbsException;

  /** What an event means, for messages: its name, and what its status says. */
  public static String describe(int event, int status) {
    return EventText.describe(event, status);
  }

  /** This end's address and port, null when the id is not bound. */
  public static InetSocketAddress localAddress(long id) {
    return socketAddress(address(id, false));
  }

  /** The other end's address and port, null when none is known. */
  public static InetSocketAddress peerAddress(long id) {
    return socketAddress(address(id, true));
  }

  /**
   * Port (2 bytes), scope (4 bytes), both big-endian, then the address; null when there is none.
   */
  private static native byte[] address(long id, boolean peer);

  /** The context of an id's device, 0 when the id belongs to none (yet). */
  public static native long context(long id);

  /** The name of an id's device, null when it belongs to none (yet). */
  public static native String deviceOf(long id);

  /** The port of an id's device, counted from 1; 0 when it belongs to none (yet). */
  public static native int devicePortOf(long id);

  /**
   * The number of the kernel's entry of a context's device, which no device gets that takes its
   * place; 0 when it has none any more, negative when this process sees the entry of no device.
   *
   * @param context of an id that has not been destroyed
   */
  public static native long entryOf(long context);

  /**
   * False when the device of a context was removed, even if it is back. Some kernels end the
   * removal only when each process has destroyed what it has of the device.
   *
   * @param context of an id that has not been destroyed
   * @param entry from {@link #entryOf}; when that was negative there is no telling, and it counts
   *     as present
   */
  public static native boolean isPresent(long context, long entry);

  /**
   * Closes the contexts of devices that were removed, those without an id now, the others with
   * their last id. Nothing of such a context may be in use then. Does nothing when no device is
   * left.
   */
  public static native void closeRemovedDevices();

  // ---- Queues

  /** A protection domain: queue pairs reach only the memory regions of their own. */
  public static native long allocPd(long context) throws VerbsException;

  /** Frees a protection domain that is no longer used. */
  public static native void deallocPd(long pd) throws VerbsException;

  /** A channel for the events of completion queues. */
  public static native long createCompChannel(long context) throws VerbsException;

  /** The file descriptor of a completion channel: readable while there is an event to take. */
  public static native int completionDescriptor(long channel);

  /** Destroys a channel whose completion queues have been destroyed. */
  public static native void destroyCompChannel(long channel) throws VerbsException;

  /**
   * Creates a completion queue.
   *
   * @param entries at least so many; a queue that overruns is lost, with its queue pairs
   * @param compChannel channel of its events, or 0
   * @param vector from 0 to {@link Device#completionVectors} - 1
   */
  public static native long createCq(long context, int entries, long compChannel, int vector)
      throws VerbsException;

  /** How many entries the queue really has. */
  public static native int cqEntries(long cq);

  /** Destroys a completion queue that no queue pair uses. */
  public static native void destroyCq(long cq) throws VerbsException;

  /**
   * Creates the queue pair of an id, whose device must be known.
   *
   * @param signalAll whether each send request makes a completion, flag or not
   * @param capsAddress {@link Layouts#QP_CAPS_SIZE} bytes: what is asked for, replaced by what
   *     there is, which is at least that
   */
  public static native long createQp(
      long id, long pd, long sendCq, long recvCq, boolean signalAll, long capsAddress)
      throws VerbsException;

  /** The number that is in completions. */
  public static native int qpNumber(long qp);

  /** The state, such as {@link Layouts#QP_STATE_READY_TO_SEND}. */
  public static native int qpState(long qp) throws VerbsException;

  /** Puts a queue pair into the error state, so that all of its requests are flushed. */
  public static native void setQpError(long qp) throws VerbsException;

  /**
   * Destroys the queue pair of an id, if it has one. Completions that were not polled are lost.
   *
   * @throws VerbsException when it is still there
   */
  public static native void destroyQp(long id) throws VerbsException;

  // ---- Hot path

  /**
   * Posts a chain of send requests.
   *
   * @param requestAddress the first one, see {@link Layouts#SEND_WR_SIZE}; the memory of requests
   *     and elements may be used again when the call returns
   * @param badRequestAddress 8 bytes that receive the address of the first request that was not
   *     posted, on failure only; 0 if that is of no interest. Those before it were posted
   * @return 0, or negative: -ENOMEM (-12) when the queue is full
   */
  public static native int postSend(long qp, long requestAddress, long badRequestAddress);

  /** Posts a chain of receive requests; like {@link #postSend}. */
  public static native int postRecv(long qp, long requestAddress, long badRequestAddress);

  /**
   * Takes completions.
   *
   * @param max most completions
   * @param completionsAddress room for so many times {@link Layouts#WC_SIZE} bytes
   * @return how many there were, or negative
   */
  public static native int pollCq(long cq, int max, long completionsAddress);

  /**
   * Asks for an event at the next completion. Poll once more after it: what came in between raises
   * none.
   *
   * @return 0 or negative
   */
  public static native int reqNotify(long cq, boolean solicitedOnly);

  /**
   * Takes an event of a completion channel, and acknowledges it.
   *
   * @return the completion queue, or negative: {@link #TIMED_OUT} or another error
   */
  public static native long getCqEvent(long compChannel, int timeoutMillis);

  // ---- Waiting for several things at once

  /** Something that ends a wait: a file descriptor, at least 0. */
  public static native int createWakeup() throws VerbsException;

  /**
   * Ends the wait of a thread, or its next one if it does not wait now; many calls may count as
   * one. From any thread.
   */
  public static native void wake(int wakeup);

  /** Destroys it; nobody may wait for it or wake any more. */
  public static native void destroyWakeup(int wakeup);

  /**
   * Waits until one of several things is ready; takes nothing but the wake-up. What is ready is
   * then taken by {@link #getCmEvent} or {@link #getCqEvent}, with a time of 0.
   *
   * @param eventChannel or 0
   * @param compChannel or 0
   * @param wakeup or -1
   * @return sum of {@code READY_...} bits; 0 when the time is over; or negative
   */
  public static native int await(
      long eventChannel, long compChannel, int wakeup, int timeoutMillis);

  /** Most descriptors of {@link #awaitReadable}. */
  @Native public static final int MAX_DESCRIPTORS = 64;

  /**
   * Waits until one of several descriptors is readable, such as those of channels and wake-ups;
   * takes nothing.
   *
   * @param descriptors at most {@link #MAX_DESCRIPTORS}
   * @return how many are; 0 when the time is over; or negative
   */
  public static native int awaitReadable(int[] descriptors, int timeoutMillis);

  // ---- Threads

  /**
   * Binds the calling thread to processors.
   *
   * @param mask bit n of element m stands for processor 64 * m + n
   * @return 0 or negative
   */
  public static native int setAffinity(long[] mask);

  /** The processors that the calling thread may use; as {@link #setAffinity}. */
  public static native long[] affinity() throws VerbsException;

  /** Lets another thread of this processor run, if there is one. */
  public static native void yieldProcessor();

  // ---- Texts

  /** What an error number means, negative or not. */
  public static native String errorText(int errno);

  /** What the status of a completion means. */
  public static native String completionText(int status);

  private static byte[] bytes(InetSocketAddress address) throws UnknownHostException {
    if (address.isUnresolved()) {
      throw new UnknownHostException(address.getHostString());
    }
    return address.getAddress().getAddress();
  }

  private static int scope(InetAddress address) {
    return address instanceof Inet6Address six ? six.getScopeId() : 0;
  }

  private static InetSocketAddress socketAddress(byte[] raw) {
    if (raw == null) {
      return null;
    }
    ByteBuffer buffer = ByteBuffer.wrap(raw);
    int port = Short.toUnsignedInt(buffer.getShort());
    int scope = buffer.getInt();
    byte[] address = new byte[buffer.remaining()];
    buffer.get(address);
    try {
      return new InetSocketAddress(
          scope == 0
              ? InetAddress.getByAddress(address)
              : Inet6Address.getByAddress(null, address, scope),
          port);
    } catch (UnknownHostException e) {
      throw new AssertionError("an address of " + address.length + " bytes", e);
    }
  }
}
