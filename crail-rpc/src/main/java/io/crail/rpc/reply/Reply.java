/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.reply;

import io.crail.common.error.ErrorCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;

/**
 * The latest answer in one slot of a peer. A peer uses a slot again only after it has received the
 * answer, or has given up waiting for it; so a request with a higher number acknowledges all before
 * it. One thread at a time has a claim to a reply, and the others come back later.
 */
public final class Reply implements ReplyLog.Answer {
  /** What is to be done with a request. */
  public enum Claim {
    /** It is new: it is served under this claim. */
    NEW,
    /** It was served before: the answer is written under this claim. */
    ANSWERED,
    /** Another thread has the claim. */
    TAKEN,
    /** The peer has sent a later request in this slot, so it does not wait for this answer. */
    PASSED
  }

  /** Answers above this length are not kept longer than necessary. */
  private static final int LARGE = 1024;

  /** Lengths are rounded up to this, so that answers of similar length share their memory. */
  private static final int GRAIN = 64;

  private static final byte[] NONE = {};
  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(Reply.class, "state", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final ReplyMemory memory;
  private final ReplyLog log;
  private final ReplyPeer peer;
  private final int slot;

  /** Before the first request, whose number may be 0. */
  private static final long NO_REQUEST = -1;

  /** The number of the latest request, times two, plus one while a thread has a claim. */
  private volatile long state = NO_REQUEST << 1;

  // Under a claim.
  private byte[] bytes = NONE;
  private int length;
  private int code;
  private boolean lost;
  private volatile boolean held;

  Reply(ReplyMemory memory, ReplyLog log, ReplyPeer peer, int slot) {
    this.memory = memory;
    this.log = log;
    this.peer = peer;
    this.slot = slot;
  }

  /**
   * Claims a request. After {@link Claim#NEW}, {@link #answered}, {@link #waits} or {@link #failed}
   * follows, perhaps with {@link #holds} before; after {@link Claim#ANSWERED}, {@link #written}.
   *
   * @param number greater than that of all earlier requests in the slot
   */
  public Claim claim(long number) {
    long now = state;
    long latest = now >> 1;
    if (number < latest) {
      return Claim.PASSED;
    }
    long claimed = number << 1 | 1;
    if ((now & 1) != 0 || !STATE.compareAndSet(this, now, claimed)) {
      return Claim.TAKEN;
    }
    return number == latest ? Claim.ANSWERED : Claim.NEW;
  }

  private void release(long number) {
    held = false;
    state = number << 1;
  }

  /** True while a thread, or an answer that is held, has a claim. */
  boolean isClaimed() {
    return (state & 1) != 0;
  }

  /** The claim to a new request is now that of its answer, which is held. Under a claim. */
  public void holds() {
    held = true;
    lost = true;
    log.answered(peer, slot, state >> 1, this);
  }

  /** True when the answer is held, so that whoever writes it ends the claim. */
  @Override
  public boolean isHeld() {
    return held;
  }

  /**
   * Notes an answer, and ends the claim. If there is no memory for its bytes, only the fact is
   * noted that the request was served.
   *
   * @param newCode the number of an {@link ErrorCode}
   */
  public void answered(long number, int newCode, ByteBuffer from, int offset, int newLength) {
    lost = true;
    try {
      if (newLength > bytes.length || bytes.length > LARGE) {
        fit(newLength);
      }
      if (newLength <= bytes.length) {
        from.get(offset, bytes, 0, newLength);
        code = newCode;
        length = newLength;
        lost = false;
      }
    } finally {
      noted(number);
    }
  }

  private void fit(int needed) {
    memory.give(bytes.length);
    bytes = NONE;
    int rounded = (needed + GRAIN - 1) / GRAIN * GRAIN;
    if (rounded > 0 && memory.take(rounded)) {
      try {
        bytes = new byte[rounded];
      } finally {
        memory.give(rounded - bytes.length);
      }
    }
  }

  /** Ends the claim to a new request that was not served yet. */
  public void waits(long number) {
    lost = true;
    release(number - 1);
  }

  /** Ends the claim to a request that was served, perhaps in part, and got no answer. */
  public void failed(long number) {
    lost = true;
    noted(number);
  }

  private void noted(long number) {
    try {
      log.answered(peer, slot, number, this);
    } finally {
      release(number);
    }
  }

  /**
   * Remembers an answer of an earlier start.
   *
   * @param wasLost whether the request was served, and the answer is not known
   */
  void restore(long number, int newCode, boolean wasLost, ByteBuffer from) {
    claim(number);
    answered(number, newCode, from, 0, from.limit());
    lost |= wasLost;
  }

  /** The number of the latest request; -1 if there is none. */
  public long number() {
    return state >> 1;
  }

  /** True when the request was served, and the answer is not known. Under a claim. */
  @Override
  public boolean isLost() {
    return lost;
  }

  /** The number of the answer's {@link ErrorCode}. Under a claim. */
  @Override
  public int code() {
    return code;
  }

  /** Bytes of the answer. Under a claim. */
  @Override
  public int length() {
    return length;
  }

  /** Copies the answer. Under a claim. */
  @Override
  public void copyTo(ByteBuffer out, int offset) {
    out.put(offset, bytes, 0, length);
  }

  /** Ends the claim to an answer. */
  public void written(long number) {
    release(number);
  }

  /** Bytes of memory that the answer takes. */
  long size() {
    return bytes.length;
  }
}
