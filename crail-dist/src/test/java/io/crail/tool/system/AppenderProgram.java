/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.conf.CrailConfiguration;
import io.crail.memory.OffHeapBuffer;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Future;

/**
 * A client that waits for a signal: {@code <configuration file> <mapped> <path> <bytes to commit>
 * <bytes after them> <bytes of the last write> <signal file>}. It commits bytes, writes some more,
 * waits for the file, issues the last write, and prints how that and its stream ended.
 */
public final class AppenderProgram {
  /** What the committed bytes are. */
  static final byte COMMITTED = 7;

  /** What all others are. */
  static final byte UNCOMMITTED = 9;

  private AppenderProgram() {}

  private interface Step {
    void run() throws Exception;
  }

  /** Runs until it has lost its lease, or should have. */
  public static void main(String[] arguments) throws Exception {
    CrailConfiguration configuration = CrailConfiguration.createConfigurationFromFile(arguments[0]);
    configuration.set("crail.storage.localmap", arguments[1]);
    CrailStore store = CrailStore.newInstance(configuration);
    CrailFile file =
        store
            .create(
                arguments[2],
                CrailNodeType.DATAFILE,
                CrailStorageClass.DEFAULT,
                CrailLocationClass.DEFAULT,
                true)
            .get()
            .asFile();
    CrailOutputStream out = file.getDirectOutputStream(0);
    write(out, arguments[3], COMMITTED).get();
    out.sync().get();
    write(out, arguments[4], UNCOMMITTED).get();
    System.out.println("written");
    Path signal = Path.of(arguments[6]);
    while (!Files.exists(signal)) {
      Thread.sleep(5);
    }
    report(
        "write",
        () -> {
          Future<CrailResult> last = write(out, arguments[5], UNCOMMITTED);
          System.out.println("issued");
          last.get();
        });
    report("sync", () -> out.sync().get());
    report("close", out::close);
    store.close();
  }

  private static Future<CrailResult> write(CrailOutputStream out, String length, byte value)
      throws Exception {
    ByteBuffer buffer = ByteBuffer.allocateDirect(Integer.parseInt(length));
    for (int i = 0; i < buffer.capacity(); i++) {
      buffer.put(i, value);
    }
    return out.write(OffHeapBuffer.wrap(buffer));
  }

  private static void report(String what, Step step) {
    String outcome = "OK";
    try {
      step.run();
    } catch (Exception e) {
      outcome = e.toString();
      for (Throwable cause = e; cause != null; cause = cause.getCause()) {
        if (cause instanceof CrailException crail) {
          outcome = crail.code() + " " + crail.detail();
          break;
        }
      }
    }
    System.out.println(what + " ended: " + outcome);
  }
}
