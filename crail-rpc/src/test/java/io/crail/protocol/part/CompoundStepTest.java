/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.Operate;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Lengths inside the steps of a list that are not those of the message. The buffers end with the
 * message, so a look outside of it is another error.
 */
class CompoundStepTest {
  private static final Utf8 PATH = Utf8.of("/t/k");
  private static final int STEPS = 3;

  /** A length of a step, and where it is. */
  private enum Field {
    NAME("nameLength", UserAttribute.MAX_NAME) {
      @Override
      int own(CompoundStep step) {
        return step.name().length();
      }

      @Override
      void put(ByteBuffer bytes, int at, int value) {
        bytes.putShort(at, (short) value);
      }
    },
    DATA("dataLength", SmallValue.MAX_LENGTH) {
      @Override
      int own(CompoundStep step) {
        return step.data().length();
      }
    },
    EXPECTED("expectedLength", SmallValue.MAX_LENGTH) {
      @Override
      int own(CompoundStep step) {
        return step.expected().length();
      }
    };

    private final int offset;
    private final int most;

    Field(String name, int most) {
      this.offset = CompoundStep.LAYOUT.offset(name);
      this.most = most;
    }

    abstract int own(CompoundStep step);

    void put(ByteBuffer bytes, int at, int value) {
      bytes.putInt(at, value);
    }
  }

  private static CompoundStep step(int name, int data, int expected) {
    return new CompoundStep(
        1, 2, true, 3, 4, Utf8.of("n".repeat(name)), value(data), value(expected));
  }

  private static SmallValue value(int length) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (0x41 + i);
    }
    return SmallValue.of(bytes);
  }

  private static ByteBuffer encode(Operate.Request request) {
    ByteBuffer bytes =
        ByteBuffer.allocateDirect(Operate.Request.CODEC.length(request))
            .order(ByteOrder.LITTLE_ENDIAN);
    Operate.Request.CODEC.encode(request, bytes, 0);
    return bytes;
  }

  private static Operate.Request decode(ByteBuffer bytes) throws CrailException {
    return Operate.Request.CODEC.decode(bytes, 0, bytes.capacity());
  }

  /** The bytes of some steps, one of which has another length. */
  private static ByteBuffer changed(List<CompoundStep> steps, int index, Field field, int length) {
    ByteBuffer bytes = encode(new Operate.Request(0640, PATH, steps));
    int at = Operate.Request.LAYOUT.fixedLength() + PATH.length();
    for (CompoundStep before : steps.subList(0, index)) {
      at += CompoundStep.CODEC.length(before);
    }
    field.put(bytes, at + field.offset, length);
    return bytes;
  }

  private static void assertRefused(ByteBuffer bytes, String what) {
    CrailException refusal = assertThrows(CrailException.class, () -> decode(bytes), what);
    assertEquals(ErrorCode.PROTOCOL, refusal.code(), what);
  }

  @Test
  void impossibleLengthsAreRefused() throws Exception {
    CompoundStep[] kinds = {
      step(3, 5, 7), step(0, 5, 0), step(0, 0, 0), step(3, 0, 0), step(0, 0, 7),
    };
    for (CompoundStep kind : kinds) {
      List<CompoundStep> steps = Collections.nCopies(STEPS, kind);
      assertEquals(steps, decode(encode(new Operate.Request(0640, PATH, steps))).steps());
      for (Field field : Field.values()) {
        for (int index = 0; index < STEPS; index++) {
          for (int length : new int[] {-1, field.most + 1, Integer.MAX_VALUE}) {
            assertRefused(
                changed(steps, index, field, length),
                field + " " + length + " of step " + index + " of " + kind);
          }
        }
      }
    }
  }

  /** There are enough bytes behind it, but a field is longer than it may be. */
  @Test
  void tooLongFieldsAreRefused() throws Exception {
    for (Field field : Field.values()) {
      CompoundStep longest =
          step(
              field == Field.NAME ? field.most : 0,
              field == Field.DATA ? field.most : 0,
              field == Field.EXPECTED ? field.most : 0);
      List<CompoundStep> steps = List.of(step(3, 5, 7), longest, step(0, 5, 0));
      assertEquals(steps, decode(encode(new Operate.Request(0640, PATH, steps))).steps());
      assertRefused(changed(steps, 1, field, field.most + 1), field + " above its limit");
    }
  }

  /**
   * A length that is one more or less moves what follows. Where that is a list again, it is one of
   * the same length; after the last step it never is.
   */
  @Test
  void shiftedLengthsAreRefusedUnlessTheyMakeAnotherList() throws Exception {
    int refused = 0;
    for (CompoundStep kind : new CompoundStep[] {step(3, 5, 7), step(0, 5, 0), step(3, 5, 0)}) {
      List<CompoundStep> steps = Collections.nCopies(STEPS, kind);
      for (Field field : Field.values()) {
        for (int index = 0; index < STEPS; index++) {
          for (int more : new int[] {-1, 1}) {
            ByteBuffer bytes = changed(steps, index, field, field.own(kind) + more);
            try {
              Operate.Request other = decode(bytes);
              assertTrue(index < STEPS - 1, () -> field + " of the last step: " + other);
              assertFalse(other.steps().equals(steps));
              assertEquals(bytes.capacity(), Operate.Request.CODEC.length(other));
            } catch (CrailException e) {
              assertEquals(ErrorCode.PROTOCOL, e.code(), e.toString());
              refused++;
            }
          }
        }
      }
    }
    assertTrue(refused > 0);
  }
}
