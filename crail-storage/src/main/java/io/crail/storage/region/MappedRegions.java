/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Regions of a datanode that are mapped until they are let go of together, and this process as
 * their writer. All memory is used between {@link RegionMapping#enter} and {@link #exit} only.
 *
 * <p>{@link #region}, {@link #writer} and {@link #exit} may be called by any thread that has
 * entered; the caller makes sure that all other methods are called one at a time.
 */
public final class MappedRegions {
  private static final RegionMemory[] NONE = {};

  private final Path directory;
  private final Users users;
  private volatile RegionMemory[] regions = NONE;
  private volatile LocalWriter writer;
  private HazardTable hazards;

  MappedRegions(Path directory, Runnable whenUnmapped) {
    this.directory = directory;
    this.users =
        new Users(
            () -> {
              unmap();
              whenUnmapped.run();
            });
  }

  boolean enter() {
    return users.enter();
  }

  /** The calling thread uses no memory of these any more. */
  public void exit() {
    users.exit();
  }

  /** A region that is mapped, or null. */
  public RegionMemory region(int index) {
    RegionMemory[] mapped = regions;
    return index >= 0 && index < mapped.length ? mapped[index] : null;
  }

  /**
   * A region, which is mapped if it is not.
   *
   * @param index below {@link RegionMapping#MAX_REGIONS}
   */
  public RegionMemory map(int index) throws IOException {
    RegionMemory region = region(index);
    if (region == null) {
      region = RegionMemory.open(directory, index, hazards());
      RegionMemory[] grown = Arrays.copyOf(regions, Math.max(regions.length, index + 1));
      grown[index] = region;
      regions = grown;
    }
    return region;
  }

  /** This process as a writer; null before {@link #openWriter}, and after {@link #letGo}. */
  public LocalWriter writer() {
    return writer;
  }

  /**
   * Makes this process known to the datanode as a writer.
   *
   * @param client as whom it logs in
   * @throws IOException when the datanode takes no more writers, or has ended
   */
  public void openWriter(LocalClient client) throws IOException {
    writer = LocalWriter.open(directory, hazards(), client);
  }

  /** Stops using a writer. */
  public void letGo(LocalWriter by) {
    by.close();
    if (writer == by) {
      writer = null;
    }
  }

  private HazardTable hazards() throws IOException {
    if (hazards == null) {
      hazards = HazardTable.open(directory);
    }
    return hazards;
  }

  /** True when there is nothing to unmap. */
  boolean isEmpty() {
    return hazards == null;
  }

  /** Unmaps everything as soon as no thread uses it. */
  void close() {
    LocalWriter by = writer;
    if (by != null) {
      letGo(by);
    }
    for (RegionMemory region : regions) {
      if (region != null) {
        region.close();
      }
    }
    users.close();
  }

  private void unmap() {
    for (RegionMemory region : regions) {
      if (region != null) {
        region.unmap();
      }
    }
    regions = NONE;
    if (hazards != null) {
      hazards.unmap();
    }
  }
}
