/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.loop;

import io.crail.common.error.CrailException;
import java.io.IOException;
import java.io.InterruptedIOException;

/** Waits inside methods that may only throw {@link IOException}. */
public final class IoWait {
  private IoWait() {}

  /** A step that may be interrupted. */
  public interface Step<T> {
    T run() throws CrailException, InterruptedException;
  }

  /** Runs a step; an interrupt stays set and becomes an exception. */
  public static <T> T of(Step<T> step) throws IOException {
    try {
      return step.run();
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  /** The exception of an interrupt, which stays set for the caller. */
  public static InterruptedIOException interrupted(InterruptedException e) {
    Thread.currentThread().interrupt();
    InterruptedIOException interrupted = new InterruptedIOException("interrupted");
    interrupted.initCause(e);
    return interrupted;
  }
}
