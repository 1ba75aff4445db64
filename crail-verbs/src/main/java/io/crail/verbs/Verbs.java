/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import java.io.IOException;
import java.lang.annotation.Native;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The calls of libibverbs and librdmacm for connected queue pairs.
 *
 * <p>Handles and addresses are C pointers and are not checked. A destroyed handle, or an address
 * without memory, crashes the JVM. A handle has one owner, who destroys it once. The order is:
 * queue pair, id, completion queues, completion channel, memory regions, protection domain. The
 * event channel comes after all of its ids. The handles of DiSNI's objects are the same pointers.
 *
 * <p>Threads: several threads may use queues and channels at the same time. Two queues or channels
 * share no lock. An object may be destroyed only after all its users have ended.
 *
 * <p>Errors: posting, polling and waiting return a negative error number of errno.h, without an
 * exception; {@link #errorText} gives its text. All other methods throw {@link VerbsException}.
 * Without the native library each native method throws UnsatisfiedLinkError. {@link #check} never
 * throws, and says beforehand whether the library is there.
 *
 * <p>Times are in milliseconds of the monotonic clock, and never negative. 0 means not to wait.
 * Layouts of memory are in {@link Layouts}.
 */
public final class Verbs {
  /** Version of the interface between this class and the native library. */
  @Native private static final int ABI = 4;

  /** The result when the time is over: -ETIMEDOUT. */
  @Native public static final int TIMED_OUT = -110;

  /** Bit of {@link #await}: the event channel has an event. */
  @Native public static final int READY_CM = 1;

  /** Bit of {@link #await}: the completion channel has an event. */
  @Native public static final int READY_CQ = 2;

  /** Bit of {@link #await}: a thread has called {@link #wake}. */
  @Native public static final int READY_WAKEUP = 4;

  /** As many reads in progress as device and peer allow. */
  @Native public static final int MOST_READS = 255;

  /** RNR retries without a limit. */
  @Native public static final int RNR_RETRY_FOREVER = 7;

  /** Most bytes of private data that {@link #connect} can send. */
  @Native public static final int MAX_CONNECT_DATA = 56;

  /** Most bytes of private data that {@link #accept} can send. */
  @Native public static final int MAX_ACCEPT_DATA = 196;

  /** Most bytes of private data that {@link #reject} can send. */
  @Native public static final int MAX_REJECT_DATA = 148;

  private static final String LOAD_PROBLEM = NativeLibrary.load(Verbs::belongsTogether);

  private Verbs() {}

  // ---- Whether there is RDMA at all

  /** Why the native library is not loaded; empty when it is. */
  static String loadProblem() {
    return LOAD_PROBLEM;
  }

  /**
   * The interface version of the native library. It equals {@link #ABI} when library and class
   * match.
   */
  static native int abi();

  private static boolean belongsTogether() {
    return abi() == ABI;
  }

  // ---- Devices

  /** The names of all devices, including those that this process may not open. */
  public static List<String> devices() throws VerbsException {
    return List.of(deviceNames());
  }

  private static native String[] deviceNames() throws VerbsException;

  /** The properties of a device. Opens and closes the device. */
  public static Device device(String name) throws VerbsException {
    long[] numbers = deviceNumbers(name);
    List<Device.Port> ports = new ArrayList<>();
    for (int port = 1; port <= DeviceReader.ports(numbers); port++) {
      long[] portNumbers = portNumbers(name, port);
      byte[] gids = gidTable(name, port, DeviceReader.gidTableLength(portNumbers));
      ports.add(DeviceReader.port(port, portNumbers, gids));
    }
    return DeviceReader.device(name, numbers, ports);
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

  /** The GID table of a port, 16 bytes for each entry. An empty entry is all zeros. */
  static native byte[] gidTable(String name, int port, int length) throws VerbsException;

  /**
   * How many bytes this process may lock, and therefore register: RLIMIT_MEMLOCK. Long.MAX_VALUE
   * when there is no limit, or when the process may exceed it (CAP_IPC_LOCK).
   */
  public static native long memlockLimitBytes();

  // ---- Memory

  /** The address of a direct buffer's first byte, whatever its position; 0 for a heap buffer. */
  public static native long addressOf(ByteBuffer buffer);

  /**
   * Registers memory.
   *
   * @param pd protection domain
   * @param address its first byte
   * @param lengthBytes its length; the device's limit is {@link Device#maxMrBytes}
   * @param access sum of {@code Layouts.ACCESS_...}
   * @return memory region
   */
  public static native long regMr(long pd, long address, long lengthBytes, int access)
      throws VerbsException;

  /** The key for elements of requests. Never give it to a peer. */
  public static native int lkey(long mr);

  /** The key that a peer needs. */
  public static native int rkey(long mr);

  /** Ends a registration. No operation may be using it. */
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

  /** Destroys an id, connected or not. Its queue pair must have been destroyed before. */
  public static native void destroyId(long id) throws VerbsException;

  /**
   * Binds to a local address.
   *
   * @param address 4 or 16 bytes; all zeros means every address of every device
   * @param port 0 means any free port, see {@link #localAddress}
   * @param scope number of the network interface for a link-local IPv6 address, otherwise 0
   */
  public static native void bind(long id, byte[] address, int port, int scope)
      throws VerbsException;

  /** {@link #bind(long, byte[], int, int)}. */
  public static void bind(long id, InetSocketAddress address) throws IOException {
    bind(id, bytes(address), address.getPort(), scope(address.getAddress()));
  }

  /** Listens. Each peer that wants to connect causes a {@link Layouts#CM_CONNECT_REQUEST}. */
  public static native void listen(long id, int backlog) throws VerbsException;

  /**
   * Begins to resolve an address to a device. Ends with {@link Layouts#CM_ADDRESS_RESOLVED} or
   * {@link Layouts#CM_ADDRESS_ERROR}.
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
   * Begins to find the route to the peer. Ends with {@link Layouts#CM_ROUTE_RESOLVED} or {@link
   * Layouts#CM_ROUTE_ERROR}.
   */
  public static native void resolveRoute(long id, int timeoutMillis) throws VerbsException;

  /**
   * Sets how long the device waits for an acknowledgement before it repeats a packet: 4.096 us *
   * 2^n. Called before {@link #resolveRoute} or {@link #accept}. A peer that vanished is noticed
   * after this time for each retry.
   *
   * @param exponent from 0 (no limit) to 31
   */
  public static native void setAckTimeout(long id, int exponent) throws VerbsException;

  /**
   * Sets whether binding to a port is allowed when an id that no longer listens still occupies it.
   */
  public static native void setReuseAddress(long id, boolean reuse) throws VerbsException;

  /**
   * Begins to connect. Ends with {@link Layouts#CM_ESTABLISHED}, {@link Layouts#CM_REJECTED},
   * {@link Layouts#CM_UNREACHABLE} or {@link Layouts#CM_CONNECT_ERROR}. For an unreachable peer
   * that may take a minute. A caller that cannot wait so long destroys the id.
   *
   * @param responderResources most reads of the peer in progress here, or {@link #MOST_READS}
   * @param initiatorDepth most own reads in progress, or {@link #MOST_READS}
   * @param retries how often a packet is repeated when it is not acknowledged: 0 to 7
   * @param rnrRetries how often a message is repeated when it finds no receive request: 0 to 6, or
   *     {@link #RNR_RETRY_FOREVER}
   * @param privateAddress address of the private data
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
   * Accepts a peer's request. Ends with {@link Layouts#CM_ESTABLISHED} or {@link
   * Layouts#CM_CONNECT_ERROR}. The peer may send before that event arrives here, so receive
   * requests must be posted before.
   *
   * @param id the id from the request
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
   * Refuses a peer's request. The id must still be destroyed.
   *
   * @param privateLength at most {@link #MAX_REJECT_DATA}
   */
  public static native void reject(long id, long privateAddress, int privateLength)
      throws VerbsException;

  /**
   * Ends a connection. Outstanding requests are flushed, and both ends get {@link
   * Layouts#CM_DISCONNECTED}.
   */
  public static native void disconnect(long id) throws VerbsException;

  /**
   * Takes the next event and acknowledges it. An id must not be destroyed while another thread is
   * inside this method and could get an event of the id. So only one thread should read a channel.
   *
   * @param eventAddress {@link Layouts#CM_EVENT_SIZE} bytes that receive the event
   * @return the number of the event, or {@link #TIMED_OUT}
   */
  public static native int getCmEvent(long channel, int timeoutMillis, long eventAddress)
      throws VerbsException;

  /** An event in words, for messages: its name, and the meaning of its status. */
  public static String describe(int event, int status) {
    return EventText.describe(event, status, Verbs::errorText);
  }

  /** The address and port of this end; null when the id is not bound. */
  public static InetSocketAddress localAddress(long id) {
    return socketAddress(address(id, false));
  }

  /** The address and port of the other end; null when unknown. */
  public static InetSocketAddress peerAddress(long id) {
    return socketAddress(address(id, true));
  }

  /**
   * Port (2 bytes) and scope (4 bytes), both big-endian, then the address; null when there is none.
   */
  private static native byte[] address(long id, boolean peer);

  /** The context of an id's device; 0 while the id has no device. */
  public static native long context(long id);

  /** The name of an id's device; null while the id has no device. */
  public static native String deviceOf(long id);

  /** The port of an id's device, counted from 1; 0 while the id has no device. */
  public static native int devicePortOf(long id);

  /**
   * The number of the kernel's entry for a context's device. A device that takes its name later has
   * another number. 0 when the device has no entry any more; negative when this process sees no
   * entry of any device.
   *
   * @param context of an id that is not destroyed
   */
  public static native long entryOf(long context);

  /**
   * Returns false when the device of a context was removed, even if the device is back. Some
   * kernels complete a removal only after each process has destroyed its objects of the device.
   *
   * @param context of an id that is not destroyed
   * @param entry from {@link #entryOf}; when it was negative, the device counts as present
   */
  public static native boolean isPresent(long context, long entry);

  /**
   * Closes the contexts of removed devices: a context without an id now, any other context with its
   * last id. Afterwards nothing of these contexts may be used. Does nothing when this host has no
   * device left.
   */
  public static native void closeRemovedDevices();

  // ---- Queues

  /** A protection domain. A queue pair reaches only memory regions of its own protection domain. */
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
   * @param entries the least size; a queue that overruns is lost, with its queue pairs
   * @param compChannel channel of its events, or 0
   * @param vector from 0 to {@link Device#completionVectors} - 1
   */
  public static native long createCq(long context, int entries, long compChannel, int vector)
      throws VerbsException;

  /** The actual size of the queue. */
  public static native int cqEntries(long cq);

  /** Destroys a completion queue that no queue pair uses. */
  public static native void destroyCq(long cq) throws VerbsException;

  /**
   * Creates the queue pair of an id. The device of the id must be known.
   *
   * @param signalAll whether each send request makes a completion, even without the flag
   * @param capsAddress {@link Layouts#QP_CAPS_SIZE} bytes: the requested capabilities, replaced by
   *     the actual ones, which are at least as large
   */
  public static native long createQp(
      long id, long pd, long sendCq, long recvCq, boolean signalAll, long capsAddress)
      throws VerbsException;

  /** The number of a queue pair, as in completions. */
  public static native int qpNumber(long qp);

  /** The state, such as {@link Layouts#QP_STATE_READY_TO_SEND}. */
  public static native int qpState(long qp) throws VerbsException;

  /** Puts a queue pair into the error state, so that all its requests are flushed. */
  public static native void setQpError(long qp) throws VerbsException;

  /**
   * Destroys the queue pair of an id, if it has one. Completions that were not polled yet are lost.
   *
   * @throws VerbsException when the queue pair still exists
   */
  public static native void destroyQp(long id) throws VerbsException;

  // ---- Hot path

  /**
   * Posts a chain of send requests.
   *
   * @param requestAddress the first request, see {@link Layouts#SEND_WR_SIZE}; the memory of
   *     requests and elements may be reused when the call returns
   * @param badRequestAddress 8 bytes, or 0; on failure they receive the address of the first
   *     request that was not posted. The requests before it were posted
   * @return 0, or negative: -ENOMEM (-12) when the queue is full
   */
  public static native int postSend(long qp, long requestAddress, long badRequestAddress);

  /** Posts a chain of receive requests; like {@link #postSend}. */
  public static native int postRecv(long qp, long requestAddress, long badRequestAddress);

  /**
   * Takes completions.
   *
   * @param max most completions
   * @param completionsAddress room for {@code max} completions of {@link Layouts#WC_SIZE} bytes
   * @return the number of completions, or a negative error number
   */
  public static native int pollCq(long cq, int max, long completionsAddress);

  /**
   * Asks for an event at the next completion. Poll once more afterwards: completions that came in
   * between raise no event.
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

  /** A file descriptor that ends a wait; at least 0. */
  public static native int createWakeup() throws VerbsException;

  /**
   * Ends the wait of a thread, or its next wait if it is not waiting now. Many calls may count as
   * one. Any thread may call it.
   */
  public static native void wake(int wakeup);

  /** Destroys a wake-up. No thread may wait for it or call {@link #wake} any more. */
  public static native void destroyWakeup(int wakeup);

  /**
   * Waits until one of several things is ready. Only the wake-up is taken. Events are then taken
   * with {@link #getCmEvent} or {@link #getCqEvent} and a time of 0.
   *
   * @param eventChannel an event channel, or 0
   * @param compChannel a completion channel, or 0
   * @param wakeup a wake-up, or -1
   * @return sum of {@code READY_...} bits; 0 when the time is over; or negative
   */
  public static native int await(
      long eventChannel, long compChannel, int wakeup, int timeoutMillis);

  /** Most descriptors of {@link #awaitReadable}. */
  @Native public static final int MAX_DESCRIPTORS = 64;

  /**
   * Waits until one of several descriptors is readable, such as those of channels and wake-ups.
   * Takes nothing.
   *
   * @param descriptors at most {@link #MAX_DESCRIPTORS}
   * @return the number of readable descriptors; 0 when the time is over; or negative
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

  /** The processors that the calling thread may use, in the form of {@link #setAffinity}. */
  public static native long[] affinity() throws VerbsException;

  /** Lets another thread of this processor run, if there is one. */
  public static native void yieldProcessor();

  // ---- Texts

  /** The text of an error number, negative or not. */
  public static native String errorText(int errno);

  /** The text of a completion's status. */
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
