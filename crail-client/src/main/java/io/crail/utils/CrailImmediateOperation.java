/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.utils;

import io.crail.CrailResult;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** An operation that has ended already, as a program may return it in place of a real one. */
public class CrailImmediateOperation implements Future<CrailResult>, CrailResult {
  private final long length;

  /**
   * Creates an operation that has ended.
   *
   * @param len the bytes that it moved
   */
  public CrailImmediateOperation(int len) {
    this.length = len;
  }

  @Override
  public long getLen() {
    return length;
  }

  @Override
  public boolean isDone() {
    return true;
  }

  @Override
  public CrailResult get() {
    return this;
  }

  @Override
  public CrailResult get(long timeout, TimeUnit unit) {
    return this;
  }

  @Override
  public boolean cancel(boolean mayInterrupt) {
    return false;
  }

  @Override
  public boolean isCancelled() {
    return false;
  }
}
