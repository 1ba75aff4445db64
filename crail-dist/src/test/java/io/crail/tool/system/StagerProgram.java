/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.compound.StagedBytes;
import io.crail.conf.CrailConfiguration;
import io.crail.memory.OffHeapBuffer;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;

/**
 * A client that stages bytes, says so, and never links them: {@code <configuration file> <table>
 * <path> <bytes>}.
 */
public final class StagerProgram {
  private StagerProgram() {}

  /** Runs until it is killed, or for ten minutes. */
  public static void main(String[] arguments) throws Exception {
    CrailStore store =
        CrailStore.newInstance(CrailConfiguration.createConfigurationFromFile(arguments[0]));
    store
        .create(
            arguments[1],
            CrailNodeType.TABLE,
            CrailStorageClass.DEFAULT,
            CrailLocationClass.DEFAULT,
            true)
        .get();
    ByteBuffer bytes = ByteBuffer.allocateDirect(Integer.parseInt(arguments[3]));
    try (StagedBytes staged = store.stage(arguments[2], OffHeapBuffer.wrap(bytes)).get()) {
      System.out.println("staged");
      TimeUnit.MINUTES.sleep(10);
      System.out.println(staged);
    }
  }
}
