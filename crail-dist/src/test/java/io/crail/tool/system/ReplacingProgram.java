/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import io.crail.memory.OffHeapBuffer;
import io.crail.testkit.model.Units;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;

/**
 * A client that replaces what a path holds again and again, until it is killed: {@code
 * <configuration file> <mapped> <way> <path> <bytes> <number of this writer>}. The way is a {@link
 * Way}.
 */
public final class ReplacingProgram {
  /** Replacements until all classes are loaded. */
  private static final int WARM_UP = 3;

  /** How a path comes to hold other bytes. */
  enum Way {
    /** The value of a key is put. */
    PUT {
      @Override
      void replace(CrailStore store, String path, ByteBuffer bytes) throws Exception {
        store.put(path, OffHeapBuffer.wrap(bytes)).get(60, TimeUnit.SECONDS);
      }
    },

    /** A file is written under another name, and renamed. */
    RENAME {
      @Override
      void replace(CrailStore store, String path, ByteBuffer bytes) throws Exception {
        String aside = path + ".new";
        CrailOutputStream out =
            store
                .create(
                    aside,
                    CrailNodeType.DATAFILE,
                    CrailStorageClass.DEFAULT,
                    CrailLocationClass.DEFAULT,
                    true,
                    true,
                    0644)
                .get(60, TimeUnit.SECONDS)
                .asFile()
                .getDirectOutputStream(bytes.remaining());
        try {
          out.write(OffHeapBuffer.wrap(bytes)).get(60, TimeUnit.SECONDS);
        } finally {
          out.close();
        }
        store.rename(aside, path, true).get(60, TimeUnit.SECONDS);
      }
    };

    abstract void replace(CrailStore store, String path, ByteBuffer bytes) throws Exception;
  }

  private ReplacingProgram() {}

  /** Runs until it is killed, or fails. */
  public static void main(String[] arguments) throws Exception {
    CrailConfiguration configuration = CrailConfiguration.createConfigurationFromFile(arguments[0]);
    configuration.set("crail.storage.localmap", arguments[1]);
    Way way = Way.valueOf(arguments[2]);
    ByteBuffer bytes = ByteBuffer.allocateDirect(Integer.parseInt(arguments[4]));
    int writer = Integer.parseInt(arguments[5]);
    try (CrailStore store = CrailStore.newInstance(configuration)) {
      for (long counter = 1; true; counter++) {
        way.replace(store, arguments[3], filled(bytes, Units.id(writer, counter)));
        if (counter == WARM_UP) {
          System.out.println("replacing");
        }
      }
    }
  }

  /** The bytes of one replacement, which name it. */
  static ByteBuffer filled(ByteBuffer bytes, long id) {
    Units.fill(bytes, id, id, 0);
    return bytes.duplicate();
  }
}
