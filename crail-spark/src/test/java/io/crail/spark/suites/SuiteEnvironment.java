/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.suites;

import io.crail.CrailStore;
import io.crail.embedded.EmbeddedCrail;
import io.crail.spark.Broadcasts;
import io.crail.spark.CrailPlugin;
import io.crail.spark.SparkOnCrail;
import java.io.IOException;
import java.io.InputStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TimeZone;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.apache.commons.io.FileUtils;
import org.apache.spark.SparkConf;
import scala.Tuple2;

/**
 * What Spark's suites find in this process: Crail in each configuration that they make, and files
 * where Spark's sources would have them. For one thread, which runs the suites.
 */
final class SuiteEnvironment implements AutoCloseable {
  private static final String RESOURCES = "sql/core/src/test/resources";
  private static final List<String> UNPACKED = List.of("sql-tests/", "test-data/");

  private final SparkOnCrail crail;
  private final Map<String, String> before = new HashMap<>();
  private final Path warehouse = Files.createTempDirectory("warehouse");
  private final ClassLoader loader = Thread.currentThread().getContextClassLoader();
  private final TimeZone zone = TimeZone.getDefault();
  private final Locale locale = Locale.getDefault();

  /** Starts a cluster. Its settings, and some more, become system properties. */
  SuiteEnvironment(Map<String, String> more) throws Exception {
    Path resources = Path.of(System.getProperty("spark.test.home"), RESOURCES);
    unpack(resources);
    // A task of theirs may fail once only, also where this process gets little of the processors.
    crail = new SparkOnCrail(EmbeddedCrail.builder().set("crail.lease", "300s"));
    SparkConf conf =
        Executors.set(crail.set(new SparkConf(false)))
            .set("spark.plugins", CrailPlugin.class.getName())
            .set("spark.crail.broadcast.minsize", "0")
            .set("spark.sql.warehouse.dir", warehouse.toUri().toString());
    more.forEach(conf::set);
    for (Tuple2<String, String> each : conf.getAll()) {
      before.put(each._1(), System.setProperty(each._1(), each._2()));
    }
    Thread.currentThread().setContextClassLoader(new Resources(resources, loader));
  }

  /** {@return what ended applications have left in the store} */
  List<String> left() throws Exception {
    try (CrailStore store = crail.store()) {
      return Broadcasts.children(store, "/");
    }
  }

  /** Puts back what suites may have changed, too. */
  @Override
  public void close() throws IOException {
    TimeZone.setDefault(zone);
    Locale.setDefault(locale);
    Thread.currentThread().setContextClassLoader(loader);
    before.forEach(
        (key, value) -> {
          if (value == null) {
            System.clearProperty(key);
          } else {
            System.setProperty(key, value);
          }
        });
    crail.close();
    FileUtils.deleteDirectory(warehouse.toFile());
  }

  /** Another process may do the same at the same time. */
  private static void unpack(Path directory) throws Exception {
    Path jar =
        Path.of(
            Class.forName("org.apache.spark.sql.SQLQueryTestSuite")
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
    Path done = directory.resolve(jar.getFileName() + ".unpacked");
    if (Files.exists(done)) {
      return;
    }
    try (ZipFile zip = new ZipFile(jar.toFile())) {
      for (ZipEntry entry : zip.stream().toList()) {
        if (!entry.isDirectory() && UNPACKED.stream().anyMatch(entry.getName()::startsWith)) {
          try (InputStream in = zip.getInputStream(entry)) {
            put(in, directory.resolve(entry.getName()));
          }
        }
      }
    }
    put(InputStream.nullInputStream(), done);
  }

  private static void put(InputStream in, Path file) throws IOException {
    Files.createDirectories(file.getParent());
    Path part = Files.createTempFile(file.getParent(), "", ".part");
    Files.copy(in, part, StandardCopyOption.REPLACE_EXISTING);
    Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
  }

  /** Spark reads some resources as files, which those in a jar are not. */
  private static final class Resources extends ClassLoader {
    private final Path directory;

    Resources(Path directory, ClassLoader parent) {
      super(parent);
      this.directory = directory;
    }

    @Override
    public URL getResource(String name) {
      Path file = directory.resolve(name);
      if (UNPACKED.stream().noneMatch(name::startsWith) || !Files.exists(file)) {
        return super.getResource(name);
      }
      try {
        return file.toUri().toURL();
      } catch (MalformedURLException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
