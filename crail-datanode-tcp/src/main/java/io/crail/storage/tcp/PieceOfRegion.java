/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.common.error.ErrorCode;
import io.crail.storage.host.HostedRegions;
import io.crail.storage.region.GenerationTable;
import io.crail.storage.region.RegionMemory;
import java.nio.ByteBuffer;

/**
 * Where the data of a request lie. The view is this one's own, for its position changes. Used by
 * one thread.
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

  /** Its generations. */
  GenerationTable generations() {
    return region.generations();
  }

  /** All its bytes, through a view of this one's own. */
  ByteBuffer view() {
    return view;
  }

  /** The first byte in the region. */
  int offset() {
    return offset;
  }

  /** Lets go of the region's memory. */
  void letGo() {
    region = null;
    view = null;
  }
}
