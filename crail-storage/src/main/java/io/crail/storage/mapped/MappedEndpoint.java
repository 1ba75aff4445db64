/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.mapped;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Place;
import io.crail.rpc.login.Anybody;
import io.crail.rpc.login.Credentials;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.Transfer;
import io.crail.storage.region.Hazard;
import io.crail.storage.region.LocalClient;
import io.crail.storage.region.LocalWriter;
import io.crail.storage.region.MappedRegions;
import io.crail.storage.region.RegionMapping;
import io.crail.storage.region.RegionMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * A datanode on the client's own host, whose region files the client maps: a transfer is a copy in
 * the calling thread, checked against the generations that lie beside the bytes. If the tier checks
 * no generations, none are kept, and the copy relies on the lease of its location, as the tier
 * does. Works for every tier whose regions are files. Thread-safe; a transfer takes no lock and
 * allocates nothing, once its region is mapped. A transfer keeps its region mapped as long as it
 * uses it, and a close unmaps all of them at once after that.
 *
 * <p>After the datanode has ended, transfers fail with UNAVAILABLE, and the regions are unmapped,
 * so that their memory goes back to the host. Whether it lives is checked after each copy, so what
 * has reached the memory of a dead datanode is not acknowledged.
 *
 * <p>The first use of a region may show that it cannot be mapped. For example, its bytes lie in a
 * mount of huge pages that this process does not have, they belong to another user, or too many
 * files are open. Or the datanode refuses the login, which is known a moment after the first use.
 * From then on all transfers go over the network.
 */
public final class MappedEndpoint implements StorageEndpoint {
  /** Bytes from which on a copy takes so long that the clock is read again after it. */
  private static final int LONG_COPY = 64 << 10;

  private final RegionMapping mapping;
  private final Set<Integer> described;
  private final boolean checksGeneration;
  private final LocalClient client;
  private final Clock clock;
  private final Function<String, StorageEndpoint> detour;

  private volatile boolean closed;

  /** The endpoint over the network, once a region could not be mapped. */
  private volatile StorageEndpoint network;

  private MappedEndpoint(
      RegionMapping mapping,
      DatanodeDescription datanode,
      LocalClient client,
      Clock clock,
      Function<String, StorageEndpoint> detour) {
    this.mapping = mapping;
    this.described = datanode.regions().keySet();
    this.checksGeneration = datanode.traits().checksGeneration();
    this.client = client;
    this.clock = clock;
    this.detour = detour;
  }

  /** Opens the region files for a client that proves nothing. */
  public static Optional<MappedEndpoint> open(
      DatanodeDescription datanode,
      long client,
      Clock clock,
      Function<String, StorageEndpoint> detour)
      throws IOException {
    return open(datanode, client, Anybody.CREDENTIALS, clock, detour);
  }

  /**
   * Opens the region files of a datanode, when they are on this host.
   *
   * @param client identity of the client, as known to namenodes
   * @param credentials what the client logs in with
   * @param detour gives the endpoint over the network when a region cannot be mapped, or the
   *     datanode has refused the login, for the reason that it is passed; called at most once, by
   *     any thread
   * @return empty when the files are not here; the datanode is then reached by its tier's network
   * @throws CrailException with UNAVAILABLE when the files are here, but the datanode has ended
   * @throws IOException when the files are here, but may not be used; says why
   */
  public static Optional<MappedEndpoint> open(
      DatanodeDescription datanode,
      long client,
      Credentials credentials,
      Clock clock,
      Function<String, StorageEndpoint> detour)
      throws IOException {
    LocalClient local = new LocalClient(client, credentials);
    return RegionMapping.find(
            datanode.traits().directory().toString(), datanode.uuid(), local, clock.nanoTime())
        .map(mapping -> new MappedEndpoint(mapping, datanode, local, clock, detour));
  }

  @Override
  public boolean isLocal() {
    return network == null;
  }

  @Override
  public void read(Transfer transfer) {
    StorageEndpoint way = network;
    if (way != null) {
      way.read(transfer);
    } else if (transfer.buffer().isReadOnly()) {
      transfer.end(ErrorCode.INVALID_ARGUMENT.exception("a read into a read-only buffer"));
    } else {
      copyOut(transfer);
    }
  }

  @Override
  public void write(Transfer transfer) {
    StorageEndpoint way = network;
    if (way != null) {
      way.write(transfer);
    } else {
      copyIn(transfer);
    }
  }

  private void copyOut(Transfer transfer) {
    MappedRegions regions = mapping.enter();
    if (regions == null) {
      transfer.end(isClosed());
      return;
    }
    ErrorCode code;
    try {
      code = whileAlive(copyOut(regions, transfer), transfer.length());
    } finally {
      regions.exit();
    }
    finish(transfer, code);
  }

  /** The outcome; null when the transfer was ended or sent instead. */
  private ErrorCode copyOut(MappedRegions regions, Transfer transfer) {
    RegionMemory region = admit(regions, transfer, false);
    if (region == null) {
      return null;
    }
    int regionOffset = (int) transfer.regionOffset();
    ByteBuffer memory = transfer.view();
    int offset = transfer.bufferOffset();
    int length = transfer.length();
    long generation = transfer.generation();
    if (checksGeneration) {
      return region.read(regionOffset, memory, offset, length, generation);
    }
    if (region.generations().isFenced(regionOffset, generation)) {
      return ErrorCode.STALE_EXTENT;
    }
    memory.put(offset, region.data(), regionOffset, length);
    return ErrorCode.OK;
  }

  private void copyIn(Transfer transfer) {
    MappedRegions regions = mapping.enter();
    if (regions == null) {
      transfer.end(isClosed());
      return;
    }
    ErrorCode code;
    try {
      code = whileAlive(copyIn(regions, transfer), transfer.length());
    } finally {
      regions.exit();
    }
    finish(transfer, code);
  }

  /** The outcome; null when the transfer was ended or sent instead. */
  private ErrorCode copyIn(MappedRegions regions, Transfer transfer) {
    // Read before the check of the deadline. The datanode knows this writer from then on, so it can
    // keep a thread that is stopped after the check from writing.
    LocalWriter by = regions.writer();
    RegionMemory region = admit(regions, transfer, true);
    if (region == null) {
      return null;
    }
    if (by == null) {
      if (openWriter(regions, transfer)) {
        copyIn(transfer);
      }
      return null;
    }
    int regionOffset = (int) transfer.regionOffset();
    int length = transfer.length();
    long generation = transfer.generation();
    ByteBuffer memory = transfer.view();
    Hazard hazard = by.announce(transfer.region(), regionOffset, length, generation);
    if (hazard == null) {
      letGo(regions, by);
      copyIn(transfer);
      return null;
    }
    if (!checksGeneration && by.isRevoked()) {
      // The lease may have ended while this thread was stopped, so it is checked again.
      hazard.retract();
      letGo(regions, by);
      copyIn(transfer);
      return null;
    }
    try {
      return region.write(
          hazard,
          regionOffset,
          memory,
          transfer.bufferOffset(),
          length,
          generation,
          checksGeneration,
          transfer.extentOffset() == 0 ? transfer.extent().length() : length);
    } finally {
      by.ended();
    }
  }

  /**
   * Makes this process known to the datanode as a writer; false when the transfer was ended or
   * sent.
   */
  private boolean openWriter(MappedRegions regions, Transfer transfer) {
    try {
      synchronized (this) {
        // Not in regions that are let go of: that writer would never be let go of.
        if (regions.writer() == null && !closed && network == null && mapping.isPresent(regions)) {
          regions.openWriter(client);
        }
      }
      return true;
    } catch (IOException e) {
      notMapped(transfer.region(), e, transfer, true);
      return false;
    }
  }

  /** Stops using this writer. The next write makes this process known to the datanode again. */
  private synchronized void letGo(MappedRegions regions, LocalWriter by) {
    regions.letGo(by);
  }

  /**
   * The outcome of a copy: no success once the datanode has ended. After a short copy this reads no
   * clock, which would cost a third of it.
   */
  private ErrorCode whileAlive(ErrorCode code, int length) {
    if (code != ErrorCode.OK
        || (length < LONG_COPY ? !mapping.isOver() : mapping.lives(clock.nanoTime()))) {
      return code;
    }
    drop();
    return ErrorCode.UNAVAILABLE;
  }

  @Override
  public boolean isLost() {
    StorageEndpoint way = network;
    return hasEnded() || (way != null && way.isLost());
  }

  /** Also when further transfers go over the network. */
  @Override
  public boolean hasEnded() {
    MappedRegions regions = mapping.enter();
    if (regions == null) {
      return false;
    }
    try {
      if (mapping.lives(clock.nanoTime())) {
        return false;
      }
      drop();
      return true;
    } finally {
      regions.exit();
    }
  }

  /** Unmaps the regions, each thread's after its transfer. Others may be mapped after that. */
  private synchronized void drop() {
    if (!closed) {
      mapping.letGo();
    }
  }

  /** Fails further transfers, and unmaps the regions when those that have begun are done. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    mapping.close();
    if (network != null) {
      network.close();
    }
  }

  /** The region of a transfer that may begin; null when it was ended or sent instead. */
  private RegionMemory admit(MappedRegions regions, Transfer transfer, boolean write) {
    long now = clock.nanoTime();
    if (closed) {
      transfer.end(isClosed());
      return null;
    }
    if (!mapping.lives(now)) {
      endedWithDatanode(transfer);
      return null;
    }
    CrailException refusal = mapping.refusal();
    if (refusal != null) {
      goAround(refusal.getMessage(), transfer, write);
      return null;
    }
    if (now - transfer.deadlineNanos() >= 0) {
      transfer.end(ErrorCode.TIMED_OUT.exception("the deadline had passed before the copy"));
      return null;
    }
    int index = transfer.region();
    RegionMemory region = regions.region(index);
    if (region == null) {
      try {
        region = map(regions, index, transfer);
      } catch (IOException e) {
        notMapped(index, e, transfer, write);
        return null;
      }
    }
    if (region != null && !region.contains(transfer.regionOffset(), transfer.length())) {
      transfer.end(
          ErrorCode.OUT_OF_RANGE.exception(
              transfer.length()
                  + " bytes at "
                  + transfer.regionOffset()
                  + " of region "
                  + index
                  + " in "
                  + mapping.directory()));
      return null;
    }
    return region;
  }

  /** The region, once it is mapped; null when the transfer was ended instead. */
  private synchronized RegionMemory map(MappedRegions regions, int index, Transfer transfer)
      throws IOException {
    if (index < 0 || index >= RegionMapping.MAX_REGIONS) {
      transfer.end(
          ErrorCode.OUT_OF_RANGE.exception("region " + index + " in " + mapping.directory()));
      return null;
    }
    if (closed) {
      transfer.end(isClosed());
      return null;
    }
    if (network != null) {
      throw new IOException("another region could not be mapped meanwhile");
    }
    // Checked again: otherwise a region could be mapped after all regions were unmapped.
    if (!mapping.look(clock.nanoTime())) {
      endedWithDatanode(transfer);
      return null;
    }
    return regions.map(index);
  }

  /** Goes over the network, if that can help. */
  private void notMapped(int index, IOException cause, Transfer transfer, boolean write) {
    if (network == null && !mapping.look(clock.nanoTime())) {
      endedWithDatanode(transfer);
      return;
    }
    if (!mapping.mayHold(index, described.contains(index))) {
      transfer.end(ErrorCode.UNAVAILABLE.exception("cannot map region " + index + ": " + cause));
      return;
    }
    goAround("region " + index + ": " + cause, transfer, write);
  }

  /** Goes over the network from now on. */
  private void goAround(String reason, Transfer transfer, boolean write) {
    StorageEndpoint way = takeDetour(reason);
    if (way == null) {
      transfer.end(isClosed());
    } else if (write) {
      way.write(transfer);
    } else {
      way.read(transfer);
    }
  }

  /** The endpoint over the network; null when this was closed. */
  private synchronized StorageEndpoint takeDetour(String reason) {
    if (network == null && !closed) {
      network = detour.apply(reason);
      drop();
    }
    return closed ? null : network;
  }

  private CrailException isClosed() {
    return ErrorCode.CLOSED.exception("endpoint of " + mapping.directory());
  }

  private void endedWithDatanode(Transfer transfer) {
    drop();
    transfer.end(mapping.hasEnded());
  }

  private void finish(Transfer transfer, ErrorCode code) {
    if (code == null) {
      return;
    }
    if (code == ErrorCode.OK) {
      transfer.end();
    } else {
      transfer.end(code.exception(describe(transfer.extent().place())));
    }
  }

  private String describe(Place place) {
    return "region "
        + place.region()
        + ", offset "
        + place.offset()
        + ", generation "
        + place.generation()
        + " in "
        + mapping.directory();
  }
}
