/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.hadoop;

import io.crail.bench.options.BenchOptions;
import io.crail.bench.options.BenchSyntax;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Workload;
import io.crail.bench.run.Bench;
import io.crail.bench.run.BenchClient;
import io.crail.bench.run.BenchContext;
import io.crail.bench.run.BenchRunner;
import io.crail.client.ClientKeys;
import io.crail.common.Printable;
import io.crail.common.config.Configuration;
import io.crail.hadoop.CrailFileSystem;
import io.crail.protocol.ClusterKeys;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Map;

/**
 * The benchmark of a file system through Hadoop's interface, seen from one client. Options are
 * those of iobench, type names are Apache Crail's. A path without a scheme is a path in the
 * cluster. Any other file system of Hadoop can be measured in the same way.
 *
 * <p>This class and {@link HadoopType} print their help without Hadoop on the class path.
 */
public final class HadoopBench implements Bench<HadoopType, HadoopTarget> {
  private static final String SCHEME = "crail";

  static final BenchSyntax<HadoopType> SYNTAX =
      new BenchSyntax<>(
              "hdfsbench",
              "Measures a file system through Hadoop's interface: the cluster, or"
                  + " with a whole URI any other that Hadoop knows. Apache Crail's arguments are"
                  + " understood too: crail hdfsbench <type> <size> <loop> <path>.",
              List.of(HadoopType.values()),
              HadoopBench::parse,
              1000)
          .with(
              "f", "file", "path", "file or directory, also crail://, hdfs://, file:// (/tmp.dat)")
          .with(
              "n",
              "names",
              "count",
              "files that getMultiFile, enumerateDir and browseDir use (1000)")
          .with("o", "open", "true|false", "one file system for all experiments (false)");

  private final Map<String, String> keys;
  private final BenchContext.ConfigurationSource settings;
  private final BenchContext context;
  private Configuration configuration;
  private URI uri;
  private BenchOptions<HadoopType> options;

  private HadoopBench(
      Map<String, String> keys, BenchContext.ConfigurationSource settings, BenchContext context) {
    this.keys = keys;
    this.settings = settings;
    this.context = context;
  }

  /**
   * Runs a command.
   *
   * @param args the arguments after {@code hdfsbench}
   * @param keys keys of Hadoop's configuration, with their values
   * @param settings gives the configuration of the cluster when the path names a file system; it
   *     starts nothing
   * @param context gives the configuration of the cluster when the path names no file system
   * @return the exit code, one of those of {@link BenchRunner}
   */
  public static int run(
      String[] args,
      Map<String, String> keys,
      BenchContext.ConfigurationSource settings,
      BenchContext context) {
    return BenchRunner.run(new HadoopBench(keys, settings, context), withLetters(args), context);
  }

  /** Entry point of a process that measures on behalf of another process. */
  public static void main(String[] none) {
    System.exit(
        BenchClient.run((context, more) -> new HadoopBench(more, context.source(), context)));
  }

  /** The text that explains options and types. */
  public static String help() {
    return SYNTAX.help();
  }

  /** Translates Apache Crail's arguments into options. */
  private static String[] withLetters(String[] args) {
    if (args.length != 4 || args[0].startsWith("-") || args[2].startsWith("-")) {
      return args;
    }
    return new String[] {"-t", args[0], "-s", args[1], "-k", args[2], "-f", args[3]};
  }

  /**
   * Parses a path as a URI. In a plain path, characters that are special in a URI have no meaning.
   */
  private static URI parse(String path) throws URISyntaxException {
    boolean plain = !path.matches("[a-zA-Z][a-zA-Z0-9+.-]*:.*");
    if (plain && !path.startsWith("/")) {
      throw new URISyntaxException(path, "neither begins with / nor is a whole URI");
    }
    return plain ? new URI(SCHEME, "", path, null, null) : new URI(path);
  }

  @Override
  public BenchSyntax<HadoopType> syntax() {
    return SYNTAX;
  }

  @Override
  public BenchOptions<HadoopType> begin(BenchOptions<HadoopType> given) throws Exception {
    try {
      Class.forName("org.apache.hadoop.fs.FileSystem");
    } catch (ClassNotFoundException e) {
      throw new BenchException("Hadoop is not on the class path: " + e.getMessage());
    }
    uri = parse(given.path());
    configuration = (usesCluster() ? context.source() : settings).open();
    options = given.withSizeOr(configuration.get(ClientKeys.BUFFER_SIZE));
    return options;
  }

  /** Whether the configuration names the namenode, since the path does not. */
  private boolean usesCluster() {
    return SCHEME.equals(uri.getScheme()) && uri.getRawAuthority() == null;
  }

  @Override
  public String describe(BenchOptions<HadoopType> described) {
    StringBuilder set = new StringBuilder();
    keys.forEach((key, value) -> set.append(", ").append(key).append('=').append(value));
    return described.describe(Printable.line(set.toString()));
  }

  @Override
  public HadoopTarget open() throws Exception {
    return HadoopTarget.open(
        uri, hadoopKeys(), options, usesCluster() && context.embedded(), context.err());
  }

  /**
   * The keys of Crail, and the keys for Hadoop, which have precedence. The user is Hadoop's, unless
   * a key names one.
   */
  private Map<String, String> hadoopKeys() {
    Map<String, String> all = configuration.texts();
    all.remove(ClusterKeys.USER.name());
    // All keys are in the map, so the file system reads no site file, which might be another one.
    all.put(CrailFileSystem.SITE_FILE_KEY, "");
    all.putAll(keys);
    return all;
  }

  @Override
  public Bench.Start client() {
    return new Bench.Start(HadoopBench.class, configuration, keys);
  }

  @Override
  public Workload workload(BenchOptions<HadoopType> sized, HadoopTarget target) {
    HadoopTarget own = target.forWorker(sized, context.notices(sized));
    return switch (sized.type()) {
      case WRITE_SEQUENTIAL_HEAP -> new HadoopWrite(own);
      case READ_SEQUENTIAL_HEAP -> new HadoopRead(own, false, false);
      case READ_SEQUENTIAL_DIRECT -> new HadoopRead(own, false, true);
      case READ_RANDOM_HEAP -> new HadoopRead(own, true, false);
      case READ_RANDOM_DIRECT -> new HadoopRead(own, true, true);
      case CREATE_FILE -> new HadoopCreate(own);
      case KEY_GET -> new HadoopKeyGet(own);
      case GET_FILE -> new HadoopLookup(own, false);
      case GET_MULTI_FILE -> new HadoopLookup(own, true);
      case ENUMERATE_DIR -> new HadoopListing(own, false);
      case BROWSE_DIR -> new HadoopListing(own, true);
    };
  }
}
