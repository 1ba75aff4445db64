/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.host;

import io.crail.common.config.ConfigException;
import io.crail.protocol.part.Extent;
import io.crail.rpc.login.Mechanisms;
import io.crail.storage.LastingBytes;
import io.crail.storage.StorageKeys;
import io.crail.storage.region.DataPath;
import io.crail.storage.region.HazardTable;
import io.crail.storage.region.HugePages;
import io.crail.storage.region.RegionDirectory;
import io.crail.storage.region.RegionMemory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * The regions that a datanode lends out of its host's memory, and where they lie. Made and closed
 * by one thread; {@link #beat}, {@link #revoke} and {@link #areIdle} are for one other.
 */
public final class HostedRegions implements AutoCloseable {
  /** Null for anonymous memory. */
  private final DataPath dataPath;

  private final boolean preallocate;

  /** Null when the regions are ordinary files. */
  private final HugePages hugePages;

  private volatile RegionDirectory directory;
  private volatile List<RegionMemory> memories = List.of();
  private HazardTable hazards;

  private HostedRegions(DataPath dataPath, boolean preallocate, HugePages hugePages) {
    this.dataPath = dataPath;
    this.preallocate = preallocate;
    this.hugePages = hugePages;
  }

  /** Regions in the datanode's own memory, which no other process can map. */
  public static HostedRegions anonymous() {
    return new HostedRegions(null, false, null);
  }

  /**
   * Regions in files.
   *
   * @param dataPath parent of the datanode's directory; empty for one in memory
   * @param preallocate whether all memory is taken at once, rather than at its first use
   */
  public static HostedRegions inFiles(String dataPath, boolean preallocate) {
    return new HostedRegions(DataPath.of(dataPath), preallocate, null);
  }

  /**
   * Regions in files whose memory is taken at once, since it is about to be pinned; a file system
   * without room is then an error. They lie in huge pages when the data path is a mount of huge
   * pages.
   *
   * @param dataPath parent of the datanode's directory; empty for one in memory
   * @throws IOException when the data path cannot be looked at
   */
  public static HostedRegions pinned(String dataPath) throws IOException {
    Optional<HugePages> pages =
        dataPath.isEmpty() ? Optional.empty() : HugePages.of(Path.of(dataPath));
    return new HostedRegions(
        DataPath.of(pages.isPresent() ? "" : dataPath), true, pages.orElse(null));
  }

  /** The length of each region is a multiple of this number of bytes. */
  int unit() {
    return hugePages == null ? Extent.MIN_LENGTH : hugePages.pageLength();
  }

  /**
   * Makes the regions, or takes those that an earlier process has left; closes nothing when it
   * fails.
   *
   * @param keeper who keeps their bytes for the next process; null if none are kept
   */
  void make(UUID uuid, List<Integer> lengths, Mechanisms mechanisms, LastingBytes.Owner keeper)
      throws IOException {
    if (dataPath == null) {
      if (keeper != null) {
        throw new ConfigException(
            "'" + StorageKeys.KEEP.name() + "' needs regions in files, and they are in memory");
      }
      makeAnonymous(lengths);
      return;
    }
    RegionDirectory made =
        RegionDirectory.create(
            dataPath.path(),
            uuid,
            lengths,
            new RegionDirectory.Manner(preallocate, hugePages, mechanisms, keeper));
    hazards = made.hazards();
    memories = made.regions();
    directory = made;
  }

  private void makeAnonymous(List<Integer> lengths) throws IOException {
    hazards = HazardTable.anonymous();
    List<RegionMemory> anonymous = new ArrayList<>();
    try {
      for (int i = 0; i < lengths.size(); i++) {
        anonymous.add(RegionMemory.anonymous(i, lengths.get(i), hazards));
      }
    } catch (OutOfMemoryError e) {
      throw new IOException(
          "no direct memory for "
              + lengths.size()
              + " regions of "
              + lengths.get(0)
              + " bytes; see -XX:MaxDirectMemorySize",
          e);
    }
    memories = List.copyOf(anonymous);
  }

  /** The regions, by index; none before they are made, and once this was closed. */
  public List<RegionMemory> all() {
    return memories;
  }

  /** A region, or null when there is none. */
  public RegionMemory get(int index) {
    List<RegionMemory> present = memories;
    return index >= 0 && index < present.size() ? present.get(index) : null;
  }

  /** The table of writes that are under way to the regions. */
  public HazardTable hazards() {
    return hazards;
  }

  /** What is known of the bytes that are kept; empty when none are. */
  public Optional<LastingBytes> kept() {
    RegionDirectory living = directory;
    return living == null ? Optional.empty() : Optional.ofNullable(living.kept());
  }

  /** The directory of the region files, if clients of this host may map them; else empty. */
  public String mappablePath() {
    RegionDirectory living = directory;
    return living == null ? "" : living.mappablePath();
  }

  /**
   * Notices which clients that map the regions have come or ended, and shows the next datanode with
   * the same data path that this one lives. Due every {@link RegionDirectory#BEAT_MILLIS}.
   */
  public void beat() {
    RegionDirectory living = directory;
    if (living != null) {
      living.beat();
    }
  }

  /** As {@link RegionDirectory#revoke}; empty when no client can map the regions. */
  List<Long> revoke(Set<Long> clients) {
    RegionDirectory living = directory;
    return living == null ? List.of() : living.revoke(clients);
  }

  /** As {@link RegionDirectory#areIdle}. */
  boolean areIdle(List<Long> revoked) {
    RegionDirectory living = directory;
    return living == null || living.areIdle(revoked);
  }

  /** Closes the regions and removes their files, unless they are kept. */
  @Override
  public void close() {
    // A reference to a closed server keeps no memory.
    memories = List.of();
    if (directory != null) {
      directory.close();
      dataPath.removeUnused();
    }
  }
}
