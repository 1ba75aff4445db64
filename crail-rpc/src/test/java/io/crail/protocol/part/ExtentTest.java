/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.node.Extend;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Extents with one place, as they are today, and with several. */
class ExtentTest {
  private static final Place PLACE = new Place(1, 2, 3 << 20, 4);

  private static Extent copied(int copies) {
    return Extent.of(5, 6, new Checksum(7, 8), PLACE, Collections.nCopies(copies, PLACE));
  }

  private static <T> ByteBuffer encoded(Codec<T> codec, T message) {
    ByteBuffer bytes = ByteBuffer.allocate(codec.length(message)).order(ByteOrder.LITTLE_ENDIAN);
    codec.encode(message, bytes, 0);
    return bytes;
  }

  private static <T> String refused(Codec<T> codec, T message) {
    return refused(codec, encoded(codec, message));
  }

  private static String refused(Codec<?> codec, ByteBuffer bytes) {
    CrailException refusal =
        assertThrows(CrailException.class, () -> codec.decode(bytes, 0, bytes.capacity()));
    assertEquals(ErrorCode.PROTOCOL, refusal.code());
    return refusal.detail();
  }

  @Test
  void fieldsAreWrittenAsAnExtentWithOnePlaceIs() throws Exception {
    Extent extent = new Extent(5, 6, PLACE);
    ByteBuffer bytes = ByteBuffer.allocate(Extent.ONE_PLACE).order(ByteOrder.LITTLE_ENDIAN);
    Extent.encode(bytes, 0, 5, 6, 1, 2, 3 << 20, 4);
    assertEquals(encoded(Extent.CODEC, extent), bytes);
    Extent read = Extent.CODEC.decode(bytes, 0, Extent.ONE_PLACE);
    assertEquals(extent, read);
    assertSame(Checksum.NONE, read.checksum(), "costs nothing");
    assertSame(List.of(), read.copies(), "costs nothing");
  }

  @Test
  void anExtentHasAFewPlaces() throws Exception {
    for (int copies = 0; copies < Extent.MAX_PLACES; copies++) {
      ByteBuffer bytes = encoded(Extent.CODEC, copied(copies));
      assertEquals(copied(copies), Extent.CODEC.decode(bytes, 0, bytes.capacity()));
    }
    assertThrows(IllegalArgumentException.class, () -> copied(Extent.MAX_PLACES));
    assertNotEquals(new Extent(5, 6, PLACE), copied(0), "without the checksum");
    assertNotEquals(copied(0), copied(1), "without the copy");
    int length = Extent.ONE_PLACE + Extent.MAX_PLACES * Place.LAYOUT.fixedLength();
    ByteBuffer bytes = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.put(Extent.ONE_PLACE - 1, (byte) Extent.MAX_PLACES);
    assertEquals("Extent: copiesCount is 4, must be 0 to 3", refused(Extent.CODEC, bytes));
  }

  /** Their bytes alone would fit, since the limit has room for all places. */
  @Test
  void moreExtentsThanAMessageMayHaveAreRefused() throws Exception {
    Extend.Response most = new Extend.Response(Collections.nCopies(Extend.MAX_EXTENTS, copied(3)));
    ByteBuffer bytes = encoded(Extend.Response.CODEC, most);
    assertEquals(most, Extend.Response.CODEC.decode(bytes, 0, bytes.capacity()));
    Extend.Response more =
        new Extend.Response(Collections.nCopies(Extend.MAX_EXTENTS + 1, copied(0)));
    assertEquals(
        "Extend.Response: extentsCount is 65, must be 0 to 64",
        refused(Extend.Response.CODEC, more));
  }

  @Test
  void aValueWithoutAKindOfChecksumIsRefused() {
    ByteBuffer bytes = encoded(Extent.CODEC, new Extent(5, 6, PLACE));
    bytes.put(Extent.LAYOUT.offset("checksum") + 1, (byte) 1);
    CrailException refusal =
        assertThrows(CrailException.class, () -> Extent.CODEC.decode(bytes, 0, Extent.ONE_PLACE));
    assertEquals(ErrorCode.PROTOCOL, refusal.code());
    assertEquals(Checksum.NONE, new Checksum(0, 1));
  }

  @Test
  void aPartHasNoChecksum() {
    Extent whole = copied(1);
    assertSame(whole, whole.before(whole.fileEnd()));
    assertEquals(Extent.of(5, 2, Checksum.NONE, PLACE, List.of(PLACE)), whole.before(7));
  }
}
