/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Codecs that are derived from layouts. */
class RecordCodecTest {
  private static final int AT = 3;

  private static ByteBuffer buffer(int length) {
    return ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Writes a message into the middle of other bytes, and reads it again. */
  private static <T> ByteBuffer assertKept(Codec<T> codec, T message) throws CrailException {
    int length = codec.length(message);
    ByteBuffer bytes = buffer(length + 2 * AT);
    for (int i = 0; i < bytes.capacity(); i++) {
      bytes.put(i, (byte) 0x5a);
    }
    codec.encode(message, bytes, AT);
    assertEquals(message, codec.decode(bytes, AT, length));
    for (int i = 0; i < AT; i++) {
      assertEquals(0x5a, bytes.get(i));
      assertEquals(0x5a, bytes.get(bytes.capacity() - 1 - i));
    }
    return bytes.slice(AT, length).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** A component of each form. The order of the layout is a different one. */
  record Fixed(long wide, boolean flag, int word, UUID id, int tiny, int half, boolean wideFlag) {
    static final Layout LAYOUT =
        Layout.of("Fixed")
            .u8("tiny", "")
            .u8("flag", "")
            .u16("half", "")
            .i32("wideFlag", "")
            .i32("word", "")
            .i64("wide", "")
            .struct("id", Codec.UUID);

    static final Codec<Fixed> CODEC = Codec.of(Fixed.class, LAYOUT);
  }

  @Test
  void eachFieldStandsWhereTheLayoutHasIt() throws Exception {
    UUID id = new UUID(11, 12);
    ByteBuffer bytes = assertKept(Fixed.CODEC, new Fixed(-7, true, -5, id, 250, 65_000, false));
    assertEquals(1 + 1 + 2 + 4 + 4 + 8 + 16, bytes.capacity());
    assertEquals((byte) 250, bytes.get(0));
    assertEquals(1, bytes.get(1));
    assertEquals((short) 65_000, bytes.getShort(2));
    assertEquals(0, bytes.getInt(4));
    assertEquals(-5, bytes.getInt(8));
    assertEquals(-7, bytes.getLong(12));
    assertEquals(11, bytes.getLong(20));
    assertEquals(12, bytes.getLong(28));
    assertKept(Fixed.CODEC, new Fixed(Long.MIN_VALUE, false, 0, id, 0, 0, true));
  }

  /** An element of variable length. */
  record Entry(int number, Utf8 name) {
    static final Layout LAYOUT =
        Layout.of("Entry")
            .u16("number", "")
            .u8("nameLength", "")
            .bytes("name", "nameLength", 1, 5, "");

    static final Codec<Entry> CODEC = Codec.of(Entry.class, LAYOUT);
  }

  /** A tail of each form. */
  record Tails(Utf8 text, List<Integer> numbers, int field, List<Entry> entries, SmallValue value) {
    static final Layout LAYOUT =
        Layout.of("Tails")
            .u8("textLength", "")
            .u16("numberCount", "")
            .i32("field", "")
            .u16("entryCount", "")
            .u16("entriesLength", "")
            .i32("valueLength", "")
            .bytes("text", "textLength", 0, 10, "")
            .list("numbers", "numberCount", Codec.ofInt("Number", "number", ""), 4)
            .page("entries", "entryCount", "entriesLength", Entry.CODEC, 100)
            .bytes("value", "valueLength", 0, 20, "");

    static final Codec<Tails> CODEC = Codec.of(Tails.class, LAYOUT);
    static final int FIXED = 1 + 2 + 4 + 2 + 2 + 4;
  }

  private static final Tails SOME =
      new Tails(
          Utf8.of("text"),
          List.of(1, -2, 3),
          9,
          List.of(new Entry(1, Utf8.of("a")), new Entry(2, Utf8.of("five!"))),
          SmallValue.copyOf(ByteBuffer.wrap(new byte[] {7, 8}), 0, 2));

  @Test
  void tailsFollowInTheOrderOfTheLayout() throws Exception {
    ByteBuffer bytes = assertKept(Tails.CODEC, SOME);
    assertEquals(Tails.FIXED + 4 + 3 * 4 + (3 + 1) + (3 + 5) + 2, bytes.capacity());
    assertEquals(4, bytes.get(0));
    assertEquals(3, bytes.getShort(1));
    assertEquals(2, bytes.getShort(7));
    assertEquals(12, bytes.getShort(9));
    assertEquals('t', bytes.get(Tails.FIXED));
    assertEquals(-2, bytes.getInt(Tails.FIXED + 4 + 4));
    assertEquals('!', bytes.get(bytes.capacity() - 3));
    assertEquals(8, bytes.get(bytes.capacity() - 1));
    Tails none = new Tails(Utf8.of(""), List.of(), 0, List.of(), SmallValue.NONE);
    assertEquals(Tails.FIXED, assertKept(Tails.CODEC, none).capacity());
  }

  /** What a message says that has one wrong number in it. */
  private static String refused(int at, int width, int value) {
    ByteBuffer bytes = buffer(Tails.CODEC.length(SOME));
    Tails.CODEC.encode(SOME, bytes, 0);
    if (width == 1) {
      bytes.put(at, (byte) value);
    } else {
      bytes.putShort(at, (short) value);
    }
    CrailException refusal =
        assertThrows(CrailException.class, () -> Tails.CODEC.decode(bytes, 0, bytes.capacity()));
    assertEquals(ErrorCode.PROTOCOL, refusal.code());
    return refusal.getMessage();
  }

  @Test
  void wrongCountsAreRefused() {
    assertTrue(refused(0, 1, 5).contains("wrong length"));
    assertTrue(refused(0, 1, 11).contains("textLength is 11"));
    assertTrue(refused(1, 2, 5).contains("numberCount is 5"));
    // Of the entries one less, some more, and all that there may be.
    assertTrue(refused(7, 2, 1).contains("after the last Entry"));
    assertTrue(refused(7, 2, 3).contains("Entry has the wrong length"));
    assertTrue(refused(7, 2, 65_535).contains("entryCount is 65535"));
    // The name of the first one.
    int name = Tails.FIXED + 4 + 3 * 4 + 2;
    assertTrue(refused(name, 1, 0).contains("Entry"));
    assertTrue(refused(name, 1, 200).contains("Entry"));
  }

  record Other(int number) {}

  private static void assertNoCodec(Layout layout) {
    Codec<Other> codec = Codec.of(Other.class, layout);
    assertThrows(IllegalArgumentException.class, () -> codec.encode(new Other(1), buffer(100), 0));
  }

  @Test
  void recordsThatDoNotMatchAreRefused() {
    assertNoCodec(Layout.of("Other"));
    assertNoCodec(Layout.of("Other").i32("numbers", ""));
    assertNoCodec(Layout.of("Other").i64("number", ""));
    assertNoCodec(Layout.of("Other").i32("number", "").u8("more", ""));
    assertNoCodec(
        Layout.of("Other").i32("number", "").u8("length", "").bytes("more", "length", 0, 9, ""));
    assertNoCodec(Layout.of("Other").u8("length", "").bytes("number", "length", 0, 9, ""));
  }
}
