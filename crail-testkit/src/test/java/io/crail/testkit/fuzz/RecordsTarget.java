/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.namenode.change.Change;
import io.crail.namenode.change.ChangeRecords;
import io.crail.namenode.tree.NodeExtras;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.part.Checksum;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.Place;
import io.crail.protocol.part.UserAttribute;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The records of changes of a namenode, as a log has them. The same must hold as for {@link
 * MessagesTarget messages}.
 *
 * <pre>[number of the record][record ...]</pre>
 */
final class RecordsTarget implements Target {
  @Override
  public void run(byte[] bytes) {
    Input input = new Input(bytes);
    int number = input.u8();
    try {
      MessagesTarget.check("record " + number, ChangeRecords.codec(number), input.restBuffer());
    } catch (CrailException e) {
      Require.that(number < 1 || number > ChangeRecords.COUNT, () -> number + ": " + e);
    }
  }

  @Override
  public List<byte[]> seeds() throws CrailException {
    List<byte[]> seeds = new ArrayList<>();
    for (int number = 1; number <= ChangeRecords.COUNT; number++) {
      byte[] record = MessagesTarget.smallest(ChangeRecords.codec(number));
      seeds.add(MessagesTarget.input(number, record));
    }
    for (int copies = 0; copies < Extent.MAX_PLACES; copies++) {
      Change.Held held = new Change.Held(extent(copies), 0x2000);
      Change.Contents contents =
          new Change.Contents(
              1,
              0x1000,
              3,
              0,
              4,
              5,
              true,
              0,
              0x1000,
              0x1000,
              0,
              0,
              0,
              Collections.nCopies(1 + copies, held),
              SmallValue.NONE,
              copies == 0 ? Change.Contents.NO_EXTRAS : Change.Contents.NEW_ATTRIBUTES,
              copies == 0 ? List.of() : List.of(extras(copies)));
      seeds.add(seed(Change.Contents.CODEC, contents));
      seeds.add(
          seed(
              Change.Link.CODEC,
              new Change.Link(1, 2, 3, 0, -1, 0, 0, 0, Utf8.of("name"), contents)));
      seeds.add(seed(Change.Grant.CODEC, new Change.Grant(1, 2, 3, 0, 0, held)));
    }
    return seeds;
  }

  /** An extent with a checksum, unless it has one place only. */
  private static Extent extent(int copies) {
    Place place = new Place(1, 2, 0x3000, 4);
    Checksum checksum = copies == 0 ? Checksum.NONE : new Checksum(copies, -5);
    return Extent.of(0, 0x1000, checksum, place, Collections.nCopies(copies, place));
  }

  private static NodeExtras extras(int attributes) {
    UserAttribute attribute = new UserAttribute(Utf8.of("name"), SmallValue.of(new byte[] {7}));
    return new NodeExtras(1, 2, 3, 4, 5, true, Collections.nCopies(attributes, attribute));
  }

  private static <T extends Change> byte[] seed(Codec<T> codec, T change) {
    ByteBuffer bytes = ByteBuffer.allocate(codec.length(change)).order(ByteOrder.LITTLE_ENDIAN);
    codec.encode(change, bytes, 0);
    return MessagesTarget.input(change.number(), bytes.array());
  }
}
