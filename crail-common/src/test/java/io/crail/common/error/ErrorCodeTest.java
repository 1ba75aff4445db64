/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ErrorCodeTest {
  @Test
  void numbersArePermanent() {
    String[] given = {
      "OK",
      "INTERNAL",
      "PROTOCOL",
      "INVALID_ARGUMENT",
      "INVALID_PATH",
      "NODE_NOT_FOUND",
      "NODE_EXISTS",
      "PARENT_NOT_FOUND",
      "NOT_A_CONTAINER",
      "WRONG_TYPE",
      "NOT_EMPTY",
      "STALE_NODE",
      "WRITE_LEASE_HELD",
      "WRITE_LEASE_LOST",
      "NO_SPACE",
      "UNKNOWN_DATANODE",
      "CROSS_NAMENODE",
      "CYCLE",
      "OUT_OF_RANGE",
      "WRONG_NAMENODE",
      "STALE_EXTENT",
      "UNAVAILABLE",
      "TIMED_OUT",
      "CLOSED",
      "LIMIT_EXCEEDED",
      "ROOT",
      "DATA_LOST",
      "UNSUPPORTED",
      "ADDRESS_TAKEN",
      "SPACE_PINNED",
      "SPACE_TO_COME",
      "SPREAD",
      "NO_SHARE",
      "BEING_REMOVED",
      "CONDITION_FAILED",
      "NOT_KEPT",
      "QUOTA_EXCEEDED"
    };
    for (int number = 0; number < given.length; number++) {
      assertEquals(given[number], ErrorCode.of(number).name());
      assertEquals(number, ErrorCode.of(number).number());
    }
  }

  @Test
  void numbersOfANewerPeerAreInternal() {
    assertSame(ErrorCode.INTERNAL, ErrorCode.of(ErrorCode.values().length));
    assertSame(ErrorCode.INTERNAL, ErrorCode.of(-1));
    assertSame(ErrorCode.INTERNAL, ErrorCode.of(65535));
  }

  @Test
  void textsAreDistinct() {
    Set<String> texts = new HashSet<>();
    for (ErrorCode code : ErrorCode.values()) {
      assertTrue(texts.add(code.text()), code.name());
    }
  }

  @Test
  void everyCodeAProgramMayReactToHasATypeOfItsOwn() {
    EnumSet<ErrorCode> plain = EnumSet.noneOf(ErrorCode.class);
    Set<Class<?>> types = new HashSet<>();
    for (ErrorCode code : ErrorCode.values()) {
      Class<?> type = code.exception("").getClass();
      if (type == CrailException.class) {
        plain.add(code);
      } else if (code == ErrorCode.QUOTA_EXCEEDED) {
        // It is a limit too; the code says of what.
        assertSame(LimitExceededException.class, type);
      } else if (code == ErrorCode.STANDBY) {
        // Only who names one peer sees it.
        assertSame(UnavailableException.class, type);
      } else {
        assertTrue(types.add(type), code.name());
      }
    }
    assertEquals(
        EnumSet.of(
            ErrorCode.OK,
            ErrorCode.INTERNAL,
            ErrorCode.PROTOCOL,
            ErrorCode.UNKNOWN_DATANODE,
            ErrorCode.WRONG_NAMENODE,
            ErrorCode.STALE_EXTENT,
            ErrorCode.ROOT,
            ErrorCode.UNSUPPORTED,
            ErrorCode.ADDRESS_TAKEN,
            ErrorCode.SPACE_PINNED,
            ErrorCode.SPACE_TO_COME,
            ErrorCode.SPREAD,
            ErrorCode.NO_SHARE,
            ErrorCode.BEING_REMOVED,
            ErrorCode.NOT_KEPT,
            ErrorCode.UNAUTHENTICATED,
            ErrorCode.ACCESS_DENIED),
        plain);
  }

  @ParameterizedTest
  @EnumSource(ErrorCode.class)
  void exceptionsCarryCodeAndDetail(ErrorCode code) {
    CrailException plain = code.exception("");
    assertSame(code, plain.code());
    assertEquals(code.text(), plain.getMessage());
    CrailException detailed = code.exception("/a/b");
    assertEquals(code.text() + ": /a/b", detailed.getMessage());
    assertEquals("/a/b", detailed.detail());
  }

  @ParameterizedTest
  @EnumSource(ErrorCode.class)
  void rethrownKeepsTypeAndCause(ErrorCode code) {
    CrailException original = code.exception("/x");
    CrailException copy = original.rethrown();
    assertSame(original.getClass(), copy.getClass());
    assertEquals(original.getMessage(), copy.getMessage());
    assertSame(original, copy.getCause());
  }
}
