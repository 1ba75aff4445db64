/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.common.error.ErrorCode;
import io.crail.storage.host.HostedRegions;
import io.crail.storage.region.GenerationTable;
import io.crail.storage.region.RegionMemory;
import java.nio.ByteBuffer;

/**
 * The place of a request's data. It has a view of its own, since the position of the view changes.
 * Used by one thread.
 */
final class PieceOfRegion {
  private RegionMemory region;
  private ByteBuffer view;
  private int offset;

  /**
   * Finds the region of a request and checks that the bytes lie in it.
   *
   * @return OK or OUT_OF_RANGE
   */
  ErrorCode locate(HostedRegions regions, int index, long regionOffset, int bytes) {
    RegionMemory found = regions.get(index);
    if (found == null || !found.contains(regionOffset, bytes)) {
      return ErrorCode.OUT_OF_RANGE;
    }
    if (found != region) {
      region = found;
      view = found.data().duplicate();
    }
    offset = (int) regionOffset;
    return ErrorCode.OK;
  }

  /** The region that was found. */
  RegionMemory region() {
    return region;
  }

  /** The generations of the region. */
  GenerationTable generations() {
    return region.generations();
  }

  /** All bytes of the region, through this object's own view. */
  ByteBuffer view() {
    return view;
  }

  /** The first byte in the region. */
  int offset() {
    return offset;
  }

  /** Drops the reference to the region's memory. */
  void letGo() {
    region = null;
    view = null;
  }
}
