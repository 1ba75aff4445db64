/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.run;

import io.crail.bench.options.BenchOptions;
import io.crail.bench.options.LoadType;
import io.crail.bench.record.BenchException;
import io.crail.common.Printable;
import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import java.io.IOException;
import java.io.PrintStream;
import java.util.Map;

/**
 * A process that measures on behalf of a parent process, and ends with it. They talk through the
 * standard input and output of this process.
 */
public final class BenchClient {
  /** Makes the benchmark of this process. */
  @FunctionalInterface
  public interface Factory<T extends LoadType, S extends AutoCloseable> {
    /**
     * Makes the benchmark.
     *
     * @param context has the configuration of the parent process
     * @param more the values that the benchmark gave in its {@link Bench.Start}
     */
    Bench<T, S> create(BenchContext context, Map<String, String> more);
  }

  private BenchClient() {}

  /**
   * Measures what the parent process orders.
   *
   * @return the exit code
   */
  public static <T extends LoadType, S extends AutoCloseable> int run(Factory<T, S> factory) {
    PrintStream out = System.out;
    // Other output must not mix with the messages.
    System.setOut(System.err);
    try (ParentLink parent = new ParentLink(System.in, out)) {
      try {
        run(factory, parent);
        return BenchRunner.OK;
      } catch (InterruptedException e) {
        parent.fail("interrupted");
      } catch (BenchException | ConfigException | IOException e) {
        parent.fail(Printable.line(e.getMessage()));
      } catch (Exception e) {
        // The store may throw anything by its signature. Printed in full, since this should not
        // happen.
        e.printStackTrace();
        parent.fail(Printable.line(e.toString()));
      } catch (Error e) {
        parent.fail(Printable.line(e.toString()));
        throw e;
      }
    } catch (IOException e) {
      System.err.println("the process that started this one is gone: " + e.getMessage());
    }
    return BenchRunner.FAILED;
  }

  private static <T extends LoadType, S extends AutoCloseable> void run(
      Factory<T, S> factory, ParentLink parent) throws Exception {
    ParentLink.Orders orders = parent.orders();
    Configuration.Builder builder = Configuration.builder();
    orders.configuration().forEach((key, text) -> builder.set(key, text, "the first process"));
    Configuration configuration = builder.build();
    BenchContext context =
        new BenchContext(() -> configuration, orders.embedded(), System.err, System.err, false);
    Bench<T, S> bench = factory.create(context, orders.more());
    BenchOptions<T> options =
        bench.begin(bench.syntax().parse(orders.arguments().toArray(new String[0])).orElseThrow());
    try (Load<T> load = new LocalLoad<>(bench, context, parent, orders.client())) {
      for (int size : options.sizes()) {
        for (int i = 0; i < options.rounds(); i++) {
          load.experiment(options.withSize(size));
        }
      }
    }
    parent.await(Cues.Cue.END);
  }
}
