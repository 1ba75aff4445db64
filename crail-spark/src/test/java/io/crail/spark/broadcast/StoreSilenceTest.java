/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.broadcast;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.ErrorCode;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StoreSilenceTest {
  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
  private final StoreSilence silence = new StoreSilence(now::get);

  @ParameterizedTest
  @EnumSource(names = {"UNAVAILABLE", "TIMED_OUT"})
  void itLastsForAWhile(ErrorCode code) {
    assertFalse(silence.lasts());
    silence.failed(code.exception("/a"));
    assertTrue(silence.lasts());
    now.addAndGet(TimeUnit.SECONDS.toNanos(30) - 1);
    assertTrue(silence.lasts());
    now.addAndGet(1);
    assertFalse(silence.lasts());
  }

  @Test
  void otherFailuresAreAnswers() {
    silence.failed(ErrorCode.DATA_LOST.exception("/a"));
    silence.failed(new IOException("wrong"));
    assertFalse(silence.lasts());
  }
}
