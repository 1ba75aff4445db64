/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.shell;

import io.crail.cache.CacheFileSystem;
import io.crail.cache.CacheStatistics.Counter;
import io.crail.cache.load.CacheLoader;
import io.crail.common.ByteText;
import io.crail.common.Printable;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.ExitCode;
import io.crail.tool.command.UsageException;
import io.crail.tool.report.ProgressLines;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Loads files into a cache from a command line. It needs Hadoop. */
public final class CacheLoading {
  /** Longer than the longest pause of a cache after an error of Crail. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private CacheLoading() {}

  /**
   * Loads all files below a path.
   *
   * @param crail the cluster
   * @param context has the keys of Hadoop
   * @param text the path, with its scheme
   * @param threads how many pieces of files are loaded at the same time
   * @return the exit code, a failure if a file could not be loaded
   */
  public static int run(
      io.crail.common.config.Configuration crail, CommandContext context, String text, int threads)
      throws Exception {
    Configuration hadoop = new Configuration();
    fill(hadoop, crail, context);
    Path root = path(text);
    try (FileSystem system = FileSystem.newInstance(root.toUri(), hadoop)) {
      if (!(system instanceof CacheFileSystem cache)) {
        throw new UsageException(
            text
                + " is in no cache: its scheme must be crailcache, or fs."
                + root.toUri().getScheme()
                + ".impl must be "
                + CacheFileSystem.class.getName());
      }
      return load(cache, root, threads, context);
    }
  }

  /**
   * Sets the keys of the cluster in Hadoop's configuration, with the precedence that programs find:
   * the command line, then Hadoop's own files, then Crail's.
   */
  private static void fill(
      Configuration hadoop, io.crail.common.config.Configuration crail, CommandContext context) {
    Map<String, String> own = new HashMap<>();
    hadoop.forEach(each -> own.put(each.getKey(), hadoop.get(each.getKey())));
    own.keySet().removeIf(key -> !io.crail.common.config.Configuration.isCrailKey(key));
    own.putAll(context.crailSettings());
    HadoopShell.fill(hadoop, crail, context.hadoopSettings());
    own.forEach(hadoop::set);
  }

  private static Path path(String text) throws UsageException {
    try {
      Path path = new Path(text);
      if (path.toUri().getScheme() != null) {
        return path.toUri().getPath().isEmpty() ? new Path(path, "/") : path;
      }
    } catch (IllegalArgumentException e) {
      // Falls through to the one message below.
    }
    throw new UsageException("--load takes a whole path, such as crailcache://logs/2026");
  }

  private static int load(CacheFileSystem cache, Path root, int threads, CommandContext context)
      throws InterruptedException {
    CacheLoader loader =
        new CacheLoader(
            cache,
            threads,
            PATIENCE,
            (path, cause) -> context.err().println("crail cache: " + failure(path, cause)));
    long evictions = cache.cacheStatistics().count(Counter.EVICTIONS);
    loader.load(root, new ProgressLines(context.err(), () -> "crail cache: " + progress(loader)));
    evictions = cache.cacheStatistics().count(Counter.EVICTIONS) - evictions;
    context.out().println(progress(loader));
    if (evictions > 0) {
      context.out().printf(Locale.ROOT, "%,d older blocks were removed to make room%n", evictions);
    }
    if (loader.failed() > 0) {
      context.out().printf(Locale.ROOT, "%,d failed%n", loader.failed());
    }
    return loader.failed() == 0 ? 0 : ExitCode.FAILURE;
  }

  private static String failure(Path path, Throwable cause) {
    String message = cause.getMessage();
    boolean names = message != null && message.contains(path.toUri().getPath());
    return Printable.line(names ? message : path + ": " + (message == null ? cause : message));
  }

  private static String progress(CacheLoader loader) {
    return String.format(
        Locale.ROOT,
        "%,d files with %s are cached, %s were read from the source",
        loader.files(),
        ByteText.of(loader.bytes()),
        ByteText.of(loader.sourceBytes()));
  }
}
