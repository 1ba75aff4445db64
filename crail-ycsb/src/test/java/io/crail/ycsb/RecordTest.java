/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.ycsb;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;

class RecordTest {
  private static Map<String, ByteIterator> fields(Object... namesAndValues) {
    Map<String, ByteIterator> fields = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      Object value = namesAndValues[i + 1];
      byte[] bytes = value instanceof byte[] ? (byte[]) value : value.toString().getBytes(UTF_8);
      fields.put((String) namesAndValues[i], new ByteArrayByteIterator(bytes));
    }
    return fields;
  }

  private static Map<String, ByteIterator> decode(byte[] record, Set<String> wanted)
      throws CorruptRecordException {
    Map<String, ByteIterator> result = new LinkedHashMap<>();
    Record.decode(record, wanted, result);
    return result;
  }

  @Test
  void theBytesStayWhatTheyAre() {
    Map<String, ByteIterator> fields =
        fields("a10", "", "a9", new byte[] {4, 5, 6}, "a8", new byte[] {1, 2, 3});
    assertEquals(
        "0103" + "03026138" + "02030100" + "010203040506" + "73fcceae",
        HexFormat.of().formatHex(Record.encode(fields)));
  }

  /** The namenode stores a value of 1 KiB itself, so the value travels with the metadata. */
  @Test
  void theUsualRecordOfYcsbIsASmallValue() {
    Map<String, ByteIterator> fields = new HashMap<>();
    for (int i = 0; i < 10; i++) {
      fields.put("field" + i, new ByteArrayByteIterator(new byte[100]));
    }
    assertEquals(1016, Record.encode(fields).length);
  }

  @Test
  void namesCountUpOrNot() throws Exception {
    List<String> names =
        List.of(
            "", "0", "9", "10", "a", "a9", "a10", "a19", "a20", "a099", "a100", "99", "100",
            "\u00fc9");
    Map<String, ByteIterator> fields = new HashMap<>();
    names.forEach(name -> fields.put(name, new ByteArrayByteIterator(name.getBytes(UTF_8))));
    for (int i = 0; i < 1200; i++) {
      fields.put("field" + i, new ByteArrayByteIterator(("field" + i).getBytes(UTF_8)));
    }
    Map<String, ByteIterator> result = decode(Record.encode(fields), null);
    assertEquals(fields.keySet(), result.keySet());
    result.forEach((name, value) -> assertEquals(name, value.toString()));
  }

  @Test
  void fieldsComeBackAsTheyWere() throws Exception {
    byte[] large = new byte[70_000];
    new Random(1).nextBytes(large);
    byte[] record = Record.encode(fields("f0", "", "f\u00fc", "text", "large", large));
    Map<String, ByteIterator> all = decode(record, null);
    assertEquals(Set.of("f0", "f\u00fc", "large"), all.keySet());
    assertEquals("", all.get("f0").toString());
    assertEquals("text", all.get("f\u00fc").toString());
    assertArrayEquals(large, all.get("large").toArray());
    assertEquals(Set.of("f0"), decode(record, Set.of("f0", "absent")).keySet());
    assertEquals(Map.of(), decode(Record.encode(Map.of()), null));
  }

  @Test
  void everyChangeOfABitAndEveryCutIsNoticed() {
    byte[] record = Record.encode(fields("field0", "value", "field1", new byte[200]));
    for (int i = 0; i < record.length; i++) {
      for (int bit = 0; bit < Byte.SIZE; bit++) {
        byte[] changed = record.clone();
        changed[i] ^= 1 << bit;
        assertThrows(CorruptRecordException.class, () -> decode(changed, null));
      }
      byte[] cut = Arrays.copyOf(record, i);
      assertThrows(CorruptRecordException.class, () -> decode(cut, null));
    }
    byte[] longer = Arrays.copyOf(record, record.length + 1);
    assertThrows(CorruptRecordException.class, () -> decode(longer, null));
  }

  @Test
  void garbageWithARightChecksumIsNoRecord() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int i = 0; i < 20_000; i++) {
      byte[] body = new byte[random.nextInt(24)];
      random.nextBytes(body);
      if (body.length > 1) {
        body[0] = 1;
        body[1] = (byte) (random.nextInt(4) - 1);
      }
      CRC32C check = new CRC32C();
      check.update(body);
      byte[] garbage =
          ByteBuffer.allocate(body.length + 4).put(body).putInt((int) check.getValue()).array();
      try {
        decode(garbage, null);
      } catch (CorruptRecordException e) {
        // Expected; a few random arrays happen to be records.
      } catch (RuntimeException e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }
}
