/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import io.crail.memory.OffHeapBuffer;
import java.nio.ByteBuffer;

/** A client that needs only the client jars: {@code <configuration file>}. */
public final class ReadBackProgram {
  private static final int LENGTH = 100_000;

  private ReadBackProgram() {}

  /** Writes a file, reads it, and says what it has seen. */
  public static void main(String[] arguments) throws Exception {
    CrailStore store =
        CrailStore.newInstance(CrailConfiguration.createConfigurationFromFile(arguments[0]));
    CrailFile file =
        store
            .create(
                "/file",
                CrailNodeType.DATAFILE,
                CrailStorageClass.DEFAULT,
                CrailLocationClass.DEFAULT,
                true)
            .get()
            .asFile();
    ByteBuffer written = ByteBuffer.allocateDirect(LENGTH);
    for (int i = 0; i < LENGTH; i++) {
      written.put(i, (byte) (i * 31));
    }
    CrailOutputStream out = file.getDirectOutputStream(0);
    out.write(OffHeapBuffer.wrap(written.duplicate())).get();
    out.close();
    ByteBuffer read = ByteBuffer.allocateDirect(LENGTH);
    CrailInputStream in = store.lookup("/file").get().asFile().getDirectInputStream(LENGTH);
    long count = in.read(OffHeapBuffer.wrap(read.duplicate())).get().getLen();
    in.close();
    store.close();
    System.out.println("read " + count + ", " + (written.equals(read) ? "the same" : "other"));
  }
}
