/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.spdk;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.nvmf.CommandSlots;
import io.crail.nvmf.ControllerData;
import io.crail.nvmf.ControllerLimits;
import io.crail.nvmf.Digests;
import io.crail.nvmf.NamespaceData;
import io.crail.nvmf.NvmeRequest;
import io.crail.nvmf.NvmeStatus;
import io.crail.nvmf.NvmeTransport;
import io.crail.nvmf.Subsystem;
import java.io.IOException;
import java.lang.ref.Reference;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * A controller in SPDK with its queue, and the memory that both use. Other threads make it and end
 * it; in between it belongs to the loop.
 */
final class SpdkConnection {
  private static final int LINE = 64;
  private static final int PAGE = 4096;

  /** Data of at most so many bytes are copied at once, and as many places there are at most. */
  private static final int LONGEST_PLACE = 128 * 1024;

  private static final int MOST_PLACES = 128;

  private final SpdkLoop spdk;
  private final NvmeTransport transport;
  private final List<NamespaceData> namespaces = new ArrayList<>();

  /** 0 after the end. */
  private long handle;

  private ControllerData data;
  private ByteBuffer rings;
  private ByteBuffer places;
  private int depth;

  private SpdkConnection(SpdkLoop spdk, NvmeTransport transport, long handle) {
    this.spdk = spdk;
    this.transport = transport;
    this.handle = handle;
  }

  /**
   * Connects. Blocks, for as long as the steps of a start may take.
   *
   * @param wanted the numbers of the namespaces to use; empty for all
   * @throws CrailException when the controller cannot be used as it is
   * @throws IOException when there is none
   */
  static SpdkConnection open(
      SpdkLoop spdk,
      Subsystem subsystem,
      List<Integer> wanted,
      Digests digests,
      ControllerLimits limits)
      throws CrailException, IOException {
    if (subsystem.host().hasSecrets()) {
      throw ErrorCode.UNSUPPORTED.exception(
          "this host has secrets, and the initiator spdk does not authenticate");
    }
    spdk.startSpdk();
    long handle = connect(subsystem, digests, limits);
    SpdkConnection made = new SpdkConnection(spdk, subsystem.transport(), handle);
    boolean well = false;
    try {
      made.identify(wanted, limits);
      made.openQueue(limits.depth());
      well = true;
      return made;
    } finally {
      if (!well) {
        Spdk.destroy(handle);
      }
    }
  }

  private static long connect(Subsystem subsystem, Digests digests, ControllerLimits limits)
      throws IOException {
    InetSocketAddress address = subsystem.address();
    InetAddress[] hosts =
        address.isUnresolved()
            ? InetAddress.getAllByName(address.getHostString())
            : new InetAddress[] {address.getAddress()};
    IOException last = new IOException("no address of " + address.getHostString());
    for (InetAddress host : hosts) {
      try {
        return connect(subsystem, host, digests, limits);
      } catch (IOException e) {
        last = e;
      }
    }
    throw last;
  }

  private static long connect(
      Subsystem subsystem, InetAddress host, Digests digests, ControllerLimits limits)
      throws IOException {
    String target =
        String.format(
            Locale.ROOT,
            "trtype:%s adrfam:%s traddr:%s trsvcid:%d subnqn:%s",
            subsystem.transport().name(),
            host instanceof Inet6Address ? "IPv6" : "IPv4",
            host.getHostAddress(),
            subsystem.address().getPort(),
            subsystem.nqn());
    ByteBuffer id = ByteBuffer.allocate(16);
    id.putLong(subsystem.host().id().getMostSignificantBits());
    id.putLong(subsystem.host().id().getLeastSignificantBits());
    try {
      return Spdk.connect(
          target,
          subsystem.host().nqn(),
          id.array(),
          (int) limits.keepAlive().toMillis(),
          (int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(limits.timeoutNanos())),
          Math.min(limits.depth(), CommandSlots.MOST),
          digests.header(),
          digests.data());
    } catch (IOException e) {
      throw explained(e);
    }
  }

  /** With the target's answer, for which SPDK has no words. */
  private static IOException explained(IOException failure) {
    int status = Spdk.connectStatus();
    return status == 0
        ? failure
        : new IOException(NvmeStatus.text(status) + "; " + failure.getMessage(), failure);
  }

  private void identify(List<Integer> wanted, ControllerLimits limits) throws CrailException {
    ByteBuffer answer = NvmeRequest.newMemory(SpdkLayout.IDENTIFY_DATA);
    Spdk.data(handle, answer);
    int most = Integer.highestOneBit(Spdk.maxTransfer(handle));
    data =
        ControllerData.of(answer, 0)
            .within(transport == NvmeTransport.RDMA ? Math.min(most, LONGEST_PLACE) : most);
    String problem = data.keepAliveProblem(limits);
    if (problem != null) {
      throw ErrorCode.UNSUPPORTED.exception(problem);
    }
    // Space rests for a time that follows from the one that was asked for.
    long asked = limits.keepAlive().toMillis();
    long reported = Spdk.keepAliveMillis(handle);
    if (reported == 0 || reported > asked) {
      throw ErrorCode.UNSUPPORTED.exception(
          "the target keeps a controller without a sign of its host "
              + (reported == 0 ? "without a limit" : "for " + reported + " ms")
              + ", and was asked for "
              + asked
              + " ms");
    }
    List<Integer> numbers = new ArrayList<>(wanted);
    if (wanted.isEmpty()) {
      for (int next = Spdk.nextNamespace(handle, 0);
          next != 0;
          next = Spdk.nextNamespace(handle, next)) {
        numbers.add(next);
      }
    }
    if (numbers.isEmpty()) {
      throw ErrorCode.UNSUPPORTED.exception("the subsystem has no namespace for this host");
    }
    for (int number : numbers) {
      if (!Spdk.namespaceData(handle, number, answer)) {
        throw ErrorCode.UNSUPPORTED.exception("there is no namespace " + number);
      }
      namespaces.add(NamespaceData.of(answer, number));
    }
  }

  private void openQueue(int wanted) throws IOException {
    depth = Math.min(wanted, Spdk.depth(handle));
    if (data.maxCommands() > 0) {
      depth = Math.max(1, Math.min(depth, data.maxCommands() - 1));
    }
    if (transport == NvmeTransport.RDMA) {
      depth = Math.min(depth, MOST_PLACES);
      places =
          ByteBuffer.allocateDirect(depth * data.maxTransfer() + PAGE - 1)
              .alignedSlice(PAGE)
              .slice(0, depth * data.maxTransfer());
    }
    rings =
        ByteBuffer.allocateDirect(
                depth * (SpdkLayout.SUBMISSION_SIZE + SpdkLayout.COMPLETION_SIZE) + 2 * LINE)
            .alignedSlice(LINE)
            .order(ByteOrder.LITTLE_ENDIAN);
    try {
      Spdk.open(handle, rings, depth, places);
    } catch (IOException e) {
      throw explained(e);
    }
  }

  /** As {@link Spdk#poll}; not after the end. */
  int poll(int submissions) {
    return Spdk.poll(handle, submissions);
  }

  /** As {@link Spdk#pollAdmin}; does nothing after the end. */
  int pollAdmin() {
    return handle == 0 ? 0 : Spdk.pollAdmin(handle);
  }

  /** Most requests in flight. */
  int depth() {
    return depth;
  }

  ControllerData data() {
    return data;
  }

  List<NamespaceData> namespaces() {
    return namespaces;
  }

  /** The memory of requests and completions. */
  ByteBuffer rings() {
    return rings;
  }

  /** The memory for data, {@code maxTransfer} bytes for each request; null when there is none. */
  ByteBuffer places() {
    return places;
  }

  /** Ends it. In the loop, or in the thread that made it. */
  void close() {
    long ending = handle;
    handle = 0;
    Spdk.stop(ending);
    spdk.end(
        () -> {
          Spdk.destroy(ending);
          // This object, and so its memory, stays until that is done.
          Reference.reachabilityFence(this);
        });
  }
}
