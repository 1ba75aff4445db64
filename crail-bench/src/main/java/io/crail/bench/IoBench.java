/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench;

import io.crail.CrailStore;
import io.crail.bench.options.BenchOptions;
import io.crail.bench.options.BenchSyntax;
import io.crail.bench.options.LoadType;
import io.crail.bench.record.Workload;
import io.crail.bench.run.Bench;
import io.crail.bench.run.BenchClient;
import io.crail.bench.run.BenchContext;
import io.crail.bench.run.BenchRun;
import io.crail.bench.run.BenchRunner;
import io.crail.client.ClientKeys;
import io.crail.common.config.Configuration;
import io.crail.conf.CrailConfiguration;
import io.crail.protocol.part.NodePath;
import java.util.List;
import java.util.Map;

/** The benchmark of a cluster, seen from one client. Options and type names are Apache Crail's. */
public final class IoBench implements Bench<BenchType, CrailStore> {
  public static final BenchSyntax<BenchType> SYNTAX =
      new BenchSyntax<>(
              "iobench",
              "Measures a cluster, from one client or several.",
              List.of(BenchType.values()),
              NodePath::parse,
              1_000_000)
          .with("b", "batch", "count", "operations in flight, for types that say so (1)")
          .with("c", "storage-class", "number", "storage class of new files (0)")
          .with("p", "location-class", "number", "location class of new files (0)")
          .with("d", "skip-dir", "true|false", "hide new files in listings (false)")
          .with(
              "m", "buffered", "true|false", "buffered streams; false means direct streams (true)")
          .with(
              "n", "names", "count", "files that getMultiFile and getMultiFileAsync use (1000000)");

  private final BenchContext context;
  private Configuration configuration;

  private IoBench(BenchContext context) {
    this.context = context;
  }

  /**
   * Runs a command.
   *
   * @param args the arguments after {@code iobench}
   * @return the exit code, one of those of {@link BenchRunner}
   */
  public static int run(String[] args, BenchContext context) {
    return BenchRunner.run(new IoBench(context), args, context);
  }

  /** Entry point of a process that measures on behalf of another process. */
  public static void main(String[] none) {
    System.exit(BenchClient.run((context, more) -> new IoBench(context)));
  }

  /** All types, as the help lists them. */
  public static List<LoadType> types() {
    return List.of(BenchType.values());
  }

  /** The text that explains options and types. */
  public static String help() {
    return SYNTAX.help();
  }

  @Override
  public BenchSyntax<BenchType> syntax() {
    return SYNTAX;
  }

  @Override
  public BenchOptions<BenchType> begin(BenchOptions<BenchType> options) throws Exception {
    configuration = context.source().open();
    return options.withSizeOr(configuration.get(ClientKeys.BUFFER_SIZE));
  }

  @Override
  public String describe(BenchOptions<BenchType> options) {
    return options.describe(
        ", batch "
            + options.batch()
            + ", storageClass "
            + options.storageClass()
            + ", locationClass "
            + options.locationClass()
            + ", buffered "
            + options.buffered());
  }

  @Override
  public CrailStore open() throws Exception {
    return CrailStore.newInstance(CrailConfiguration.of(configuration));
  }

  @Override
  public long restingBytes(BenchOptions<BenchType> options, CrailStore store) throws Exception {
    switch (options.type()) {
      case WRITE, WRITE_ASYNC, WRITE_INT:
        return store.getSpace().waitingBytes();
      default:
        // They do not need it before they begin.
        return 0;
    }
  }

  @Override
  public Bench.Start client() {
    return new Bench.Start(IoBench.class, configuration, Map.of());
  }

  @Override
  public Workload workload(BenchOptions<BenchType> options, CrailStore store) {
    return options
        .type()
        .workload(
            new BenchRun(
                options,
                store,
                context.embedded(),
                context.results(options),
                context.notices(options),
                context.terminal(),
                options.worker()));
  }
}
