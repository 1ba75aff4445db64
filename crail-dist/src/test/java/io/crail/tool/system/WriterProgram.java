/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import io.crail.memory.OffHeapBuffer;
import java.nio.ByteBuffer;

/**
 * A client that writes and never closes: {@code <configuration file> <path> <bytes to commit>
 * <bytes to write>}. It prints what it has done, and then keeps its lease until it is killed.
 */
public final class WriterProgram {
  private WriterProgram() {}

  /** Runs until it is killed. */
  public static void main(String[] arguments) throws Exception {
    CrailStore store =
        CrailStore.newInstance(CrailConfiguration.createConfigurationFromFile(arguments[0]));
    CrailFile file =
        store
            .create(
                arguments[1],
                CrailNodeType.DATAFILE,
                CrailStorageClass.DEFAULT,
                CrailLocationClass.DEFAULT,
                true)
            .get()
            .asFile();
    int committed = Integer.parseInt(arguments[2]);
    int written = Integer.parseInt(arguments[3]);
    CrailOutputStream out = file.getDirectOutputStream(0);
    write(out, committed);
    out.sync().get();
    System.out.println("committed " + committed);
    write(out, written - committed);
    System.out.println("written " + written);
    Thread.sleep(Long.MAX_VALUE);
  }

  private static void write(CrailOutputStream out, int length) throws Exception {
    if (length > 0) {
      ByteBuffer buffer = ByteBuffer.allocateDirect(length);
      for (int i = 0; i < length; i++) {
        buffer.put(i, (byte) 7);
      }
      out.write(OffHeapBuffer.wrap(buffer)).get();
    }
  }
}
