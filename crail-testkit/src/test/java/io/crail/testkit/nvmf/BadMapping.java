/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import java.io.RandomAccessFile;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;

/** A process that uses SPDK, and reads a mapped file that has become shorter. */
final class BadMapping {
  /** What it prints when it learns of that. */
  static final String TOLD = "the JVM tells of the bad access";

  private static final int LENGTH = 1 << 20;

  private BadMapping() {}

  /** Takes the name of the file. */
  public static void main(String[] args) throws Exception {
    TestHost.assumeInitiator("spdk");
    try (RandomAccessFile file = new RandomAccessFile(args[0], "rw")) {
      file.setLength(LENGTH);
      MappedByteBuffer mapped = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, LENGTH);
      file.setLength(0);
      System.out.println(mapped.get(LENGTH / 2));
    } catch (InternalError e) {
      System.out.println(TOLD);
    }
    // SPDK's threads are no concern of the JVM, but the end is not to depend on it.
    System.exit(0);
  }
}
