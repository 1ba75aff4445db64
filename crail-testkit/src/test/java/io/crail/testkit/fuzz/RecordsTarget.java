/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import io.crail.common.error.CrailException;
import io.crail.namenode.change.ChangeRecords;
import java.util.ArrayList;
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
    return seeds;
  }
}
