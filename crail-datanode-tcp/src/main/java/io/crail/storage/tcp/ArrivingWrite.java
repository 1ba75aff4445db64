/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Generation;
import io.crail.rpc.netty.Receiver;
import io.crail.rpc.netty.RetargetableBuf;
import io.crail.storage.host.HostedRegions;
import io.crail.storage.region.Hazard;
import java.nio.ByteBuffer;

/**
 * The write of a connection whose data are arriving. Data are placed as they come, unless the space
 * was given to another owner. Data that come after a refusal are dropped. Used only by the thread
 * of the connection's event loop.
 */
final class ArrivingWrite {
  private final PieceOfRegion piece = new PieceOfRegion();
  private int length;
  private int missing;
  private long generation;
  private ErrorCode refusal = ErrorCode.OK;
  private long deadlineNanos;

  /**
   * Begins a write.
   *
   * @param bytes hold the checked body of its request at {@code body}
   * @param lastNanos the deadline of its data
   */
  void begin(HostedRegions regions, ByteBuffer bytes, int body, long lastNanos) {
    length = bytes.getInt(body + WriteData.Request.DATA_LENGTH);
    missing = length;
    deadlineNanos = lastNanos;
    generation = bytes.getLong(body + WriteData.Request.GENERATION);
    int index = bytes.getInt(body + WriteData.Request.REGION);
    long offset = bytes.getLong(body + WriteData.Request.REGION_OFFSET);
    refusal = piece.locate(regions, index, offset, length);
    if (refusal == ErrorCode.OK && generation > Generation.MAX) {
      refusal = ErrorCode.INVALID_ARGUMENT;
    }
    if (refusal == ErrorCode.OK) {
      refusal = piece.region().take(piece.offset(), length, generation);
    }
  }

  /** True from its begin to its end. */
  boolean isUnderWay() {
    return length > 0;
  }

  /** Bytes of the whole write. */
  int length() {
    return length;
  }

  /** True when all data have come. */
  boolean isComplete() {
    return missing == 0;
  }

  /** True when data are missing after the deadline. */
  boolean isOverdue(long nowNanos) {
    return missing > 0 && nowNanos - deadlineNanos >= 0;
  }

  /** Notes that bytes have been received at the place that {@link #place} pointed at. */
  void received(int count) {
    missing -= count;
  }

  /**
   * Points a window at the place of the next data, and announces their write.
   *
   * @return false when the data have to go through the receiver; else the caller retracts {@code
   *     hazard}
   */
  boolean place(RetargetableBuf window, int smallest, Hazard hazard) {
    if (missing < smallest || refusal != ErrorCode.OK) {
      return false;
    }
    int target = piece.offset() + length - missing;
    if (!piece.region().isReady(target, missing)) {
      return false;
    }
    window.toReceive(piece.view(), target, missing);
    return mayPlace(target, hazard);
  }

  /**
   * Announces the missing bytes, and checks whether they may still be placed there: another owner
   * may have got the space since the write began. If this is true, the caller has to retract the
   * announcement.
   */
  private boolean mayPlace(int target, Hazard hazard) {
    if (!hazard.announce(piece.region().index(), target, missing, generation)) {
      throw new IllegalStateException("an event loop writes twice at a time");
    }
    refusal = piece.generations().verify(target, missing, generation);
    if (refusal != ErrorCode.OK) {
      hazard.retract();
    }
    return refusal == ErrorCode.OK;
  }

  /** Takes data that have come to the receiver. */
  void take(Receiver receiver, Hazard hazard) {
    int count = Math.min(missing, receiver.available());
    if (count == 0) {
      return;
    }
    int target = piece.offset() + length - missing;
    if (refusal == ErrorCode.OK && mayPlace(target, hazard)) {
      try {
        refusal = piece.region().place(target, receiver.bytes(), receiver.offset(), count);
      } finally {
        hazard.retract();
      }
    }
    receiver.take(count);
    missing -= count;
  }

  /** OK when all data, which have come by now, are placed; else the reason why not. */
  ErrorCode verdict() {
    return refusal == ErrorCode.OK
        ? piece.generations().verifyAfter(piece.offset(), length, generation)
        : refusal;
  }

  /** The detail of a refusal. */
  String describe(ErrorCode code, Object datanode) {
    String what = length + " bytes of generation " + generation;
    return switch (code) {
      case INVALID_ARGUMENT -> what + ", which no namenode gives out";
      case NO_SPACE -> what + ", which the file system of datanode " + datanode + " lacks";
      case SPACE_PINNED -> what + ", where an older write is unfinished";
      default -> what;
    };
  }

  /** Ends the write. */
  void end() {
    length = 0;
    refusal = ErrorCode.OK;
  }

  /** Drops the reference to the region's memory. */
  void letGo() {
    piece.letGo();
  }
}
