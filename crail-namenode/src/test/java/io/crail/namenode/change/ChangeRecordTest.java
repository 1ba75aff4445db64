/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.change;

import static java.util.stream.Collectors.toSet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.TestStore;
import io.crail.namenode.tree.NodeExtras;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.part.Checksum;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.Place;
import io.crail.protocol.part.Region;
import io.crail.protocol.part.UserAttribute;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests the records of changes: their bytes and numbers are permanent, and bytes of another length
 * are refused. {@code -Dcrail.golden.print=true} prints the bytes after an intended change.
 */
@Tag("once")
class ChangeRecordTest {
  private static final Place PLACE = new Place(0x15, 0x16, 0x13000, 0x12);

  private static final Extent EXTENT = new Extent(0x11, 0x1000, PLACE);

  /** An extent with all that is to come. */
  private static final Extent COPIED =
      Extent.of(
          0x21,
          0x1000,
          new Checksum(0x22, 0x2324252627282920L),
          PLACE,
          List.of(new Place(0x35, 0x36, 0x33000, 0x32)));

  private static final Change.Contents CONTENTS =
      new Change.Contents(
          1,
          2,
          3,
          4,
          6,
          7,
          true,
          8,
          9,
          10,
          Change.Contents.NEW_VALUE,
          11,
          Change.Contents.MOVED,
          List.of(new Change.Held(EXTENT, 0x2000), new Change.Held(COPIED, 0x3000)),
          SmallValue.of(new byte[] {1, 2}),
          Change.Contents.NEW_ATTRIBUTES,
          List.of(
              new NodeExtras(
                  12,
                  13,
                  14,
                  15,
                  16,
                  true,
                  List.of(new UserAttribute(Utf8.of("k"), SmallValue.of(new byte[] {3}))))));

  /** A record of each kind, with its bytes. */
  private static Map<Change, String> golden() {
    Map<Change, String> golden = new LinkedHashMap<>();
    golden.put(
        new Change.Link(21, 22, 23, 24, -1, 4, 25, 26, Utf8.of("name"), CONTENTS),
        "1500000000000000160000000000000017000000000000001800000000000000ffffffffffffffff04191a000400150100006e616d65010000000000000002000000000000000300000000000000040600000000000000070000000000000001080000000000000009000000000000000a00000000000000010b0000000000000001020000007e00000002000000010137000000002000002e1100000000000000001000000000000000000000001500000016000000003001000000000012000000000000000000300000462100000000000000001000002220292827262524231500000016000000003001000000000012000000000000000135000000360000000030030000000000320000000000000001020c000000000000000d000000000000000e000000000000000f000000000000001000000000000000010100080000000100010000006b03");
    golden.put(new Change.Unlink(31, 32), "1f000000000000002000000000000000");
    golden.put(
        new Change.Rename(41, 42, 43, 44, 45, Utf8.of("n")),
        "29000000000000002a000000000000002b000000000000002c000000000000002d0000000000000001006e");
    golden.put(
        new Change.Attributes(51, 52, 53, 54),
        "3300000000000000340000000000000035000000000000003600000000000000");
    golden.put(
        CONTENTS,
        "010000000000000002000000000000000300000000000000040600000000000000070000000000000001080000000000000009000000000000000a00000000000000010b0000000000000001020000007e00000002000000010137000000002000002e1100000000000000001000000000000000000000001500000016000000003001000000000012000000000000000000300000462100000000000000001000002220292827262524231500000016000000003001000000000012000000000000000135000000360000000030030000000000320000000000000001020c000000000000000d000000000000000e000000000000000f000000000000001000000000000000010100080000000100010000006b03");
    golden.put(
        new Change.Grant(61, 62, 63, 64, 65, new Change.Held(EXTENT, 0x1000)),
        "3d000000000000003e000000000000003f0000000000000040410033001000002e11000000000000000010000000000000000000000015000000160000000030010000000000120000000000000000");
    golden.put(new SpaceChange.User(71, Utf8.of("user")), "47000000040075736572");
    golden.put(new SpaceChange.Host(81, Utf8.of("host")), "51000400686f7374");
    golden.put(
        new SpaceChange.Datanode(
            91,
            92,
            SpaceChange.Datanode.FORGOTTEN,
            true,
            TestStore.registration(93, "host", 94, 95, true).description()),
        "5b0000005c00030135005d000000000000005d000000000000005f0000005e0000000000030004000e00746370686f73740100000000000000000100000000");
    golden.put(
        new SpaceChange.LentRegion(101, 102, new Region(103, 104, 105, 106)),
        "65000000660000000000000067000000680000000000000069000000000000006a00000000000000");
    golden.put(
        new ShareChange(91, 92, 93, 94, 1, 4, 17, 95, 96, 97, 98, 99, true, Utf8.of("/s")),
        "5b000000000000005c005d000000000000005e000000000000000104115f60006100000000000000620000000000000063000000000000000102002f73");
    golden.put(
        new LimitChange(111, 112, CONTENTS),
        "6f00000000000000700000000000000015010000" + HexFormat.of().formatHex(encode(CONTENTS)));
    golden.put(new ReserveChange(121, 122, 123), "79000000000000007a0000007b00000000000000");
    golden.put(
        new NumberChange(1, 131, 132, 133), "01830000000000000084000000" + "8500000000000000");
    golden.put(
        new SpaceChange.Kept(
            141,
            142,
            new UUID(143, 144),
            145,
            TestStore.registration(146, "host", 147, 148, true).description()),
        "8d0000008e008f000000000000009000000000000000910000000000000035009200000000000000"
            + "920000000000000094000000930000000000030004000e00746370686f73740100000000000000000100000000");
    golden.put(
        new SpaceChange.HeldBack(151, true, List.of(152L, 153L)),
        "97000000010200" + "9800000000000000" + "9900000000000000");
    return golden;
  }

  @SuppressWarnings("unchecked")
  private static byte[] encode(Change change) {
    Codec<Change> codec = (Codec<Change>) change.codec();
    byte[] bytes = new byte[codec.length(change)];
    codec.encode(change, ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN), 0);
    return bytes;
  }

  private static Change decode(Codec<? extends Change> codec, byte[] bytes) throws CrailException {
    return codec.decode(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN), 0, bytes.length);
  }

  @Test
  void numbersArePermanent() {
    List<Integer> numbers = golden().keySet().stream().map(Change::number).toList();
    assertEquals(List.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16), numbers);
    assertEquals(ChangeRecords.CODECS, golden().keySet().stream().map(Change::codec).toList());
    Set<Class<?>> kinds = new HashSet<>();
    for (Class<?> holder : List.of(Change.class, SpaceChange.class)) {
      kinds.addAll(List.of(holder.getDeclaredClasses()));
    }
    kinds.add(ShareChange.class);
    kinds.add(LimitChange.class);
    kinds.add(ReserveChange.class);
    kinds.add(NumberChange.class);
    kinds.removeIf(kind -> !Change.class.isAssignableFrom(kind));
    assertEquals(kinds, golden().keySet().stream().map(Change::getClass).collect(toSet()));
  }

  @Test
  void noOtherNumberIsThatOfRecords() {
    for (int number : new int[] {-1, 0, 17, Integer.MAX_VALUE}) {
      CrailException refusal =
          assertThrows(CrailException.class, () -> ChangeRecords.codec(number));
      assertEquals(ErrorCode.PROTOCOL, refusal.code());
    }
  }

  @Test
  void bytesArePermanent() throws CrailException {
    for (Map.Entry<Change, String> each : golden().entrySet()) {
      String bytes = HexFormat.of().formatHex(encode(each.getKey()));
      if (Boolean.getBoolean("crail.golden.print")) {
        System.out.println(each.getKey().getClass().getSimpleName() + " " + bytes);
        continue;
      }
      assertEquals(each.getValue(), bytes, each.getKey()::toString);
      assertEquals(
          each.getKey(), decode(each.getKey().codec(), HexFormat.of().parseHex(each.getValue())));
    }
  }

  @Test
  void bytesOfAnotherLengthAreRefused() {
    for (Change change : golden().keySet()) {
      byte[] bytes = encode(change);
      for (int length = 0; length <= bytes.length + 1; length++) {
        byte[] other = Arrays.copyOf(bytes, length);
        if (length != bytes.length) {
          CrailException refusal =
              assertThrows(CrailException.class, () -> decode(change.codec(), other));
          assertEquals(ErrorCode.PROTOCOL, refusal.code());
        }
      }
    }
  }
}
