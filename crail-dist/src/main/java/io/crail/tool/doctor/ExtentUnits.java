/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import io.crail.protocol.cluster.ListExtents.Placed;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.Place;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * The space of many extents: a bit for each whole megabyte, and one for each unit where some are
 * cut. So a terabyte takes 128 KiB if all files are large, and 40 MiB if all are small. Used by one
 * thread.
 */
final class ExtentUnits {
  private static final int CHUNK_BYTES = 1 << 20;
  private static final int UNITS = CHUNK_BYTES / Extent.MIN_LENGTH;

  /** Chunks whose units are kept together. */
  private static final int PAGE = 16;

  private record Region(int datanode, int index) {}

  private static final class Bits {
    private final BitSet whole = new BitSet();
    private final Map<Integer, BitSet> cut = new HashMap<>();

    boolean touches(int chunk, int from, int to) {
      if (whole.get(chunk)) {
        return true;
      }
      BitSet page = cut.get(chunk / PAGE);
      int first = chunk % PAGE * UNITS;
      int next = page == null ? -1 : page.nextSetBit(first + from);
      return next >= 0 && next < first + to;
    }

    void add(int chunk, int from, int to) {
      if (to - from == UNITS) {
        whole.set(chunk);
      } else {
        int first = chunk % PAGE * UNITS;
        cut.computeIfAbsent(chunk / PAGE, any -> new BitSet(PAGE * UNITS))
            .set(first + from, first + to);
      }
    }
  }

  private final Map<Region, Bits> regions = new HashMap<>();

  /** True when no space was added. */
  boolean isEmpty() {
    return regions.isEmpty();
  }

  /** Adds the space of an extent; returns whether a part of it was there before. */
  boolean add(Placed placed) {
    return look(placed, true);
  }

  /** Whether a part of the space of an extent is there. */
  boolean touches(Placed placed) {
    return look(placed, false);
  }

  private boolean look(Placed placed, boolean adds) {
    Place place = placed.place();
    Region region = new Region(place.datanode(), place.region());
    Bits bits = adds ? regions.computeIfAbsent(region, any -> new Bits()) : regions.get(region);
    if (bits == null) {
      return false;
    }
    boolean touches = false;
    long end = place.offset() + placed.allocatedLength();
    for (long at = place.offset(); at < end; ) {
      int chunk = (int) (at / CHUNK_BYTES);
      long next = Math.min(end, (chunk + 1L) * CHUNK_BYTES);
      int from = (int) (at % CHUNK_BYTES) / Extent.MIN_LENGTH;
      int to = (int) ((next - 1) % CHUNK_BYTES) / Extent.MIN_LENGTH + 1;
      touches |= bits.touches(chunk, from, to);
      if (adds) {
        bits.add(chunk, from, to);
      }
      at = next;
    }
    return touches;
  }
}
