/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import io.crail.client.ClientKeys;
import io.crail.client.CoreStore;
import io.crail.client.loop.Awaitable;
import io.crail.client.loop.LoopContext;
import io.crail.common.Utf8;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.cluster.Examine;
import io.crail.protocol.node.Locations;
import io.crail.protocol.part.Extent;
import io.crail.tool.admin.AdminClient;
import io.crail.tool.doctor.FsckReport.Damage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;

/**
 * Reads the first byte of each extent of files, several at a time, through the data path of all
 * clients and tiers. An extent that cannot be read is damage only if its file still has it then.
 * Files that are known as lost or silent are left out. Used by one thread.
 */
final class DataCheck implements AutoCloseable {
  private static final int MOST_ASKED = 32;
  private static final int MOST_READ = 64;

  /** Bytes are on cache lines of their own. */
  private static final int SPACING = 64;

  /** A file whose extents are read. */
  private static final class Checked {
    private final Utf8 path;
    private final long id;
    private final long size;
    private int reading;
    private boolean listed;
    private long badBytes;
    private int badDatanode;
    private CrailException cause;

    Checked(Examine.Finding finding) {
      this.path = finding.path();
      this.id = finding.id();
      this.size = finding.size();
    }
  }

  private record Asked(Checked file, OperationCall<Locations.Request, Locations.Response> call) {}

  private record Reading(Checked file, ExtentProbe probe, Room room) {}

  /** A byte to read to. */
  private record Room(ByteBuffer memory, int offset) {}

  private final AdminClient cluster;
  private final CoreStore store;
  private final LoopContext connections;
  private final long timeoutNanos;
  private final double share;
  private final DatanodeNames datanodes;
  private final Consumer<Damage> found;
  private Runnable heartbeat = () -> {};

  private final ArrayDeque<Room> rooms = new ArrayDeque<>();

  /** The files that were begun, and not reported yet. */
  private final Set<Checked> open = new LinkedHashSet<>();

  private final ArrayDeque<Asked> asked = new ArrayDeque<>();
  private final ArrayDeque<Reading> readings = new ArrayDeque<>();

  /** Datanodes that this host cannot reach, which may cost a deadline each time. */
  private final Map<Integer, CrailException> outOfReach = new HashMap<>();

  private long files;
  private long extents;
  private final Sums stale = new Sums();
  private final Sums unread = new Sums();

  private static final class Sums {
    private long files;
    private long bytes;
  }

  /**
   * Opens a check.
   *
   * @param cluster asks the namenodes for their files
   * @param share the part of the files that is checked, 1 for all
   * @param datanodes knows their addresses
   * @param found takes each file that has an extent that cannot be read
   */
  DataCheck(AdminClient cluster, double share, DatanodeNames datanodes, Consumer<Damage> found)
      throws CrailException {
    Configuration configuration = cluster.configuration();
    this.cluster = cluster;
    this.share = share;
    this.datanodes = datanodes;
    this.found = found;
    this.timeoutNanos = configuration.get(ClientKeys.DATA_TIMEOUT).toNanos();
    store = CoreStore.open(configuration);
    connections = store.connections();
  }

  /** Calls something now and then while it reads. */
  void whileReading(Runnable newHeartbeat) {
    heartbeat = newHeartbeat;
  }

  /** Checks the files of a namenode. After an error it can check those of another. */
  void check(int index) throws IOException, InterruptedException {
    try {
      checkAll(index);
    } catch (IOException e) {
      drop();
      throw e;
    }
  }

  /** Ends what is under way, and reports the files with known damage. */
  private void drop() throws InterruptedException {
    asked.clear();
    while (!readings.isEmpty()) {
      end(readings.remove());
    }
    for (Checked file : List.copyOf(open)) {
      file.listed = true;
      if (file.cause != null) {
        report(file);
      }
    }
    open.clear();
  }

  private void checkAll(int index) throws IOException, InterruptedException {
    FileFindings files = new FileFindings((finding, bytes) -> begin(finding));
    Examination.walk(
        cluster,
        index,
        true,
        page -> {
          for (Examine.Finding finding : page.findings()) {
            files.add(finding);
          }
        });
    files.end();
    while (!asked.isEmpty()) {
      endOldestQuestion();
    }
    while (!readings.isEmpty()) {
      endOldestReading();
    }
  }

  private void begin(Examine.Finding finding) throws CrailException, InterruptedException {
    if (finding.kind() != Examine.READABLE || ThreadLocalRandom.current().nextDouble() >= share) {
      return;
    }
    while (asked.size() >= MOST_ASKED) {
      endOldestQuestion();
    }
    Checked file = new Checked(finding);
    open.add(file);
    asked.add(new Asked(file, ask(file, 0, file.size)));
  }

  private OperationCall<Locations.Request, Locations.Response> ask(
      Checked file, long position, long length) {
    return connections
        .namenodes()
        .call(NameNodeOperations.LOCATIONS, new Locations.Request(file.id, position, length));
  }

  private void endOldestQuestion() throws CrailException, InterruptedException {
    Asked oldest = asked.remove();
    Checked file = oldest.file;
    OperationCall<Locations.Request, Locations.Response> call = oldest.call;
    try {
      long position = 0;
      while (true) {
        Locations.Response locations = call.join();
        long end = file.size;
        for (Extent extent : locations.extents()) {
          read(file, extent);
          end = extent.fileEnd();
        }
        if (end >= file.size || locations.extents().isEmpty()) {
          break;
        }
        if (end <= position) {
          throw ErrorCode.PROTOCOL.exception("no extent after " + position + " of " + file.path);
        }
        position = end;
        call = ask(file, end, file.size - end);
      }
    } catch (CrailException e) {
      if (e.code() != ErrorCode.STALE_NODE) {
        throw e;
      }
    }
    file.listed = true;
    report(file);
  }

  private void read(Checked file, Extent extent) throws CrailException, InterruptedException {
    if (extent.place().offset() < 0 || extent.length() <= 0) {
      throw ErrorCode.PROTOCOL.exception(extent.toString());
    }
    CrailException known = outOfReach.get(extent.place().datanode());
    if (known != null) {
      failed(file, extent, known);
      return;
    }
    while (readings.size() >= MOST_READ) {
      endOldestReading();
    }
    if (rooms.isEmpty()) {
      ByteBuffer memory = ByteBuffer.allocateDirect(MOST_READ * SPACING);
      for (int i = 0; i < MOST_READ; i++) {
        rooms.add(new Room(memory, i * SPACING));
      }
    }
    Room room = rooms.remove();
    ExtentProbe probe =
        new ExtentProbe(connections, extent, room.memory, room.offset, timeoutNanos);
    file.reading++;
    readings.add(new Reading(file, probe, room));
    probe.begin();
  }

  private void endOldestReading() throws CrailException, InterruptedException {
    Reading oldest = readings.remove();
    ExtentProbe probe = oldest.probe;
    Checked file = oldest.file;
    CrailException failure = end(oldest);
    extents++;
    if (failure != null) {
      switch (failure.code()) {
        case CLOSED -> throw failure.rethrown();
        case UNAVAILABLE, TIMED_OUT, UNSUPPORTED ->
            outOfReach.put(probe.extent().place().datanode(), failure);
        default -> {
          // Other extents of that datanode may be well.
        }
      }
      failed(file, probe.extent(), failure);
    }
    report(file);
    heartbeat.run();
  }

  /** Waits for the end of a reading; gives its failure, or null. */
  private CrailException end(Reading reading) throws InterruptedException {
    ExtentProbe probe = reading.probe;
    reading.file.reading--;
    if (!connections.loop().await(probe, probe.deadlineNanos() + Awaitable.GRACE_NANOS)) {
      // Its memory is still in use, and never used again.
      return ErrorCode.TIMED_OUT.exception(probe.toString());
    }
    rooms.add(reading.room);
    return probe.failure();
  }

  /** An extent could not be read; notes that, if the file still has it. */
  private void failed(Checked file, Extent extent, CrailException cause)
      throws CrailException, InterruptedException {
    heartbeat.run();
    if (!stillHas(file, extent)) {
      return;
    }
    // Bytes that are gone say more than bytes that this host cannot read.
    if (file.cause == null || isStale(cause) && !isStale(file.cause)) {
      file.cause = cause;
      file.badDatanode = extent.place().datanode();
    }
    file.badBytes += extent.length();
  }

  private boolean stillHas(Checked file, Extent extent)
      throws CrailException, InterruptedException {
    try {
      return ask(file, extent.fileOffset(), 1).join().extents().stream()
          .anyMatch(each -> each.place().equals(extent.place()));
    } catch (CrailException e) {
      if (e.code() == ErrorCode.STALE_NODE) {
        return false;
      }
      throw e;
    }
  }

  /** Whether the datanode itself says that it does not have the bytes. */
  private static boolean isStale(CrailException cause) {
    return switch (cause.code()) {
      case STALE_EXTENT, DATA_LOST, OUT_OF_RANGE, UNKNOWN_DATANODE -> true;
      default -> false;
    };
  }

  private void report(Checked file) {
    if (!file.listed || file.reading > 0) {
      return;
    }
    open.remove(file);
    files++;
    if (file.cause != null) {
      boolean gone = isStale(file.cause);
      Sums sums = gone ? stale : unread;
      sums.files++;
      sums.bytes += file.badBytes;
      found.accept(
          new Damage(
              gone ? Damage.STALE : Damage.UNREAD,
              file.path.toString(),
              file.badBytes,
              file.size,
              file.badDatanode,
              datanodes.of(file.badDatanode),
              (gone ? "lacks them: " : "cannot be read: ") + file.cause.getMessage()));
    }
  }

  /** How far it is, in a few words. */
  String progress() {
    return "read from " + extents + " extents of " + files + " files";
  }

  /** What was found so far. */
  FsckReport.Data report() {
    return new FsckReport.Data(
        share * 100, files, extents, stale.files, stale.bytes, unread.files, unread.bytes);
  }

  @Override
  public void close() throws Exception {
    store.close();
  }
}
