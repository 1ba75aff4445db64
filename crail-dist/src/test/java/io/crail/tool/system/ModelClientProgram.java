/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import io.crail.testkit.model.Board;
import io.crail.testkit.model.ModelNames;
import java.nio.file.Path;

/**
 * A client of {@link ModelRun}: {@code <configuration file> <mapped> <board> <clients> <threads>
 * <this client> <how often it was started> <namenodes> <memory runs out> <seed>}. It prints errors
 * and what it has done.
 */
public final class ModelClientProgram {
  private ModelClientProgram() {}

  /** Runs until the board says that it is to finish. */
  public static void main(String[] arguments) throws Exception {
    CrailConfiguration configuration = CrailConfiguration.createConfigurationFromFile(arguments[0]);
    configuration.set("crail.storage.localmap", arguments[1]);
    ModelNames names =
        new ModelNames(
            Integer.parseInt(arguments[3]),
            Integer.parseInt(arguments[4]),
            Integer.parseInt(arguments[7]));
    Board board = Board.open(Path.of(arguments[2]), names.count());
    try (CrailStore store = CrailStore.newInstance(configuration)) {
      Thread[] threads = new Thread[names.threads()];
      for (int i = 0; i < threads.length; i++) {
        ModelWorker.Place place =
            new ModelWorker.Place(
                Integer.parseInt(arguments[5]),
                i,
                Integer.parseInt(arguments[6]),
                Boolean.parseBoolean(arguments[8]));
        long seed = Long.parseLong(arguments[9]);
        threads[i] = new Thread(new ModelWorker(store, board, names, place, seed), "worker-" + i);
        threads[i].start();
      }
      System.out.println("working");
      for (Thread thread : threads) {
        thread.join();
      }
    }
    System.out.println("ended");
  }
}
