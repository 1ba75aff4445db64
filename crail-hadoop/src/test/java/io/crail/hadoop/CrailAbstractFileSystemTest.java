/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FsConstants;
import org.apache.hadoop.fs.InvalidPathException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.viewfs.ConfigUtil;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Tests behaviour of a {@code FileContext} that Hadoop's suites do not cover. */
class CrailAbstractFileSystemTest {
  private static HadoopCluster cluster;

  @BeforeAll
  static void startCluster() throws Exception {
    cluster = new HadoopCluster(2);
  }

  @AfterAll
  static void stopCluster() throws Exception {
    FileSystem.closeAll();
    cluster.close();
  }

  private static Configuration configuration() {
    Configuration configuration = new Configuration();
    configuration.set("fs.AbstractFileSystem.crail.impl", CrailAbstractFileSystem.class.getName());
    return configuration;
  }

  private static FileContext context(Configuration configuration) throws Exception {
    return FileContext.getFileContext(cluster.uri(), configuration);
  }

  @Test
  void outlivesEveryFileSystemThatAProgramCloses() throws Exception {
    Path file = new Path("/outlives");
    FileSystem earlier = FileSystem.get(cluster.uri(), configuration());
    FileContext context = context(configuration());
    FileSystem later = FileSystem.get(cluster.uri(), configuration());
    earlier.create(file).close();
    earlier.close();
    later.close();
    assertTrue(context.util().exists(file));
    assertTrue(context.delete(file, false));
  }

  /** Each operation on another file system than the default one makes one of these. */
  @Test
  void allOfAUserHaveOneStore() throws Exception {
    Path file = new Path("/shared-");
    try (FSDataOutputStream first = create(file.suffix("1"))) {
      first.write(1);
      long threads = leaseThreads();
      try (FSDataOutputStream second = create(file.suffix("2"))) {
        second.write(2);
        assertEquals(threads, leaseThreads(), "one for each store that writes");
      }
    }
  }

  /** As programs whose jars have a class loader for each session; Hadoop's cache knows of none. */
  @Test
  void allOfAUserHaveOneStoreOfEachClassLoader() throws Exception {
    Path file = new Path("/loaded-");
    try (FSDataOutputStream first = create(file.suffix("1"))) {
      first.write(1);
      Configuration configuration = configuration();
      configuration.setClassLoader(new OwnClasses());
      try (FSDataOutputStream second = create(configuration, file.suffix("2"))) {
        second.write(2);
        long threads = leaseThreads();
        try (FSDataOutputStream third = create(configuration, file.suffix("3"))) {
          third.write(3);
          assertEquals(threads, leaseThreads(), "one for each store that writes");
        }
      }
    }
  }

  /** A class loader that loads its own copies of the classes of this package. */
  private static final class OwnClasses extends ClassLoader {
    OwnClasses() {
      super(CrailAbstractFileSystem.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith(CrailAbstractFileSystem.class.getPackageName() + ".")) {
        return super.loadClass(name, resolve);
      }
      synchronized (getClassLoadingLock(name)) {
        Class<?> known = findLoadedClass(name);
        return known != null ? known : define(name);
      }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
      try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
        byte[] bytes = in.readAllBytes();
        return defineClass(name, bytes, 0, bytes.length);
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }

  @Test
  void withoutNamenodesInTheUriThoseOfTheConfigurationCount() throws Exception {
    Path file = new Path("/whose");
    try (HadoopCluster another = new HadoopCluster(1)) {
      FileContext here = configured(cluster);
      FileContext there = configured(another);
      here.create(file, EnumSet.of(CreateFlag.CREATE)).close();
      assertTrue(here.util().exists(file));
      assertFalse(there.util().exists(file));
    }
  }

  private static FileContext configured(HadoopCluster with) throws Exception {
    Configuration configuration = configuration();
    StringJoiner addresses = new StringJoiner(",");
    for (String address : with.uri().getRawAuthority().split(",")) {
      addresses.add("crail://" + address);
    }
    configuration.set("crail.namenode.address", addresses.toString());
    return FileContext.getFileContext(URI.create("crail:///"), configuration);
  }

  private static FSDataOutputStream create(Path file) throws Exception {
    return create(configuration(), file);
  }

  private static FSDataOutputStream create(Configuration configuration, Path file)
      throws Exception {
    return context(configuration).create(file, EnumSet.of(CreateFlag.CREATE));
  }

  private static long leaseThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("crail-client-leases"))
        .count();
  }

  @Test
  void withoutNamenodesItHasThoseOfTheDefault() throws Exception {
    Configuration configuration = configuration();
    configuration.set("fs.defaultFS", cluster.uri().toString());
    FileContext context = FileContext.getFileContext(URI.create("crail:///"), configuration);
    assertFalse(context.util().exists(new Path("/nothing")));
  }

  @Test
  void aPathBelongsToAllItsNamenodesOrToAnother() throws Exception {
    String several = "crail://127.0.0.1:1,127.0.0.1:2";
    CrailAbstractFileSystem files =
        new CrailAbstractFileSystem(URI.create(several + "/"), configuration());
    for (String own : List.of("/a", several + "/a", several.toUpperCase(Locale.ROOT) + "/a")) {
      files.checkPath(new Path(own));
    }
    for (String other :
        List.of(
            "crail://127.0.0.1:1,127.0.0.1:3/a",
            "crail://127.0.0.1:1/a",
            "crail:///a",
            "hdfs://127.0.0.1:1,127.0.0.1:2/a")) {
      InvalidPathException refused =
          assertThrows(InvalidPathException.class, () -> files.checkPath(new Path(other)), other);
      assertTrue(refused.getMessage().contains(new Path(other).toString()), refused.getMessage());
    }
  }

  @Test
  void pathsOfAnotherClusterReachIt() throws Exception {
    try (HadoopCluster other = new HadoopCluster(2)) {
      Path file = new Path(other.uri().toString(), "other");
      FileContext context = context(configuration());
      context.mkdir(file, FileContext.DEFAULT_PERM, false);
      assertTrue(context.util().exists(file));
      assertFalse(context.util().exists(new Path("/other")));
      assertEquals(file, context.resolvePath(file));
      FileSystem.closeAll();
    }
  }

  /** Hadoop's mounts refuse several namenodes in a URI. */
  @Test
  void severalNamenodesAreMountedWithoutTheirNames() throws Exception {
    Configuration configuration = configuration();
    configuration.set(
        "crail.namenode.address",
        "crail://" + cluster.uri().getRawAuthority().replace(",", ",crail://"));
    ConfigUtil.addLink(configuration, "/in", URI.create("crail:///mounted"));
    Path mounted = new Path(cluster.uri().toString(), "mounted");
    context(configuration).mkdir(mounted, FileContext.DEFAULT_PERM, false);
    FileContext view = FileContext.getFileContext(FsConstants.VIEWFS_URI, configuration);
    view.mkdir(new Path("/in/below"), FileContext.DEFAULT_PERM, false);
    assertTrue(view.util().exists(new Path("/in/below")));
    assertTrue(context(configuration).util().exists(new Path(mounted, "below")));
  }
}
