/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import io.crail.spark.output.OutputId;
import java.io.IOException;

/** Writes an output in the process of a task, whether Spark wants it or not. */
public final class LateWriter {
  private LateWriter() {}

  /** {@return the name of the error, or "written"} */
  public static String write(int shuffle) {
    try {
      ShuffleManager42.current().open(new OutputId(shuffle, Long.MAX_VALUE), 1).close();
      return "written";
    } catch (IOException e) {
      return e.getClass().getSimpleName();
    }
  }
}
