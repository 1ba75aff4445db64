/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathIOException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Operations with bad input end in time, with an exception type that Hadoop's users know and a text
 * that names the problem.
 */
class BadInputTest {
  /** Far above every deadline that is set here, far below what a hanging call would take. */
  private static final long PATIENCE_SECONDS = 40;

  private static HadoopCluster cluster;

  private Path path;

  @BeforeAll
  static void startCluster() throws Exception {
    cluster = new HadoopCluster();
  }

  @AfterAll
  static void stopCluster() {
    cluster.close();
  }

  @BeforeEach
  void name(TestInfo test) {
    path = new Path(cluster.uri().resolve("/" + test.getTestMethod().orElseThrow().getName()));
  }

  private static FileSystem newFileSystem() throws IOException {
    return FileSystem.newInstance(cluster.uri(), new Configuration());
  }

  /** Runs what has to fail in time, with an error of a type that names something. */
  private static <T extends Throwable> T fails(Class<T> type, String named, Executable step) {
    long began = System.nanoTime();
    T error = assertThrows(type, step);
    long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began);
    assertTrue(seconds < PATIENCE_SECONDS, seconds + " s until " + error);
    assertTrue(error.getMessage().contains(named), error.toString());
    return error;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "host",
        "host:",
        "host:port",
        "host:65536",
        "host:-1",
        "host:9060:9061",
        ":9060",
        "user@host:9060",
        "user:word@host:9060",
        "host:9060,",
        ",host:9060",
        "host:9060,other",
        "host:9060,host:9060",
        "[::1]",
        "[::1:9060",
        "[::1]x:9060",
        "%00:1",
        "ho%20st:9060",
        "ho\\st:9060",
        "<host>:9060",
        "::1"
      })
  void aWrongAuthorityIsRefusedByName(String authority) {
    String text = "crail://" + authority + "/x";
    // A text that is no URI is refused by Hadoop's path, as for every other file system.
    Exception refused =
        fails(
            Exception.class,
            authority,
            () -> new Path(text).getFileSystem(uncached(new Configuration())).close());
    assertTrue(
        refused instanceof IOException || refused instanceof IllegalArgumentException,
        refused.toString());
    assertFalse(refused instanceof ConnectException, refused.toString());
  }

  @Test
  void aWrongAuthorityIsRefusedByContextsToo() {
    Configuration configuration = new Configuration();
    configuration.set("fs.AbstractFileSystem.crail.impl", CrailAbstractFileSystem.class.getName());
    fails(
        Exception.class,
        "crail://host",
        () -> FileContext.getFileContext(URI.create("crail://host/"), configuration));
  }

  private static Configuration uncached(Configuration configuration) {
    configuration.setBoolean("fs.crail.impl.disable.cache", true);
    return configuration;
  }

  @Test
  void aWrongValueInTheConfigurationIsNamed() {
    Configuration configuration = new Configuration();
    configuration.set("crail.buffersize", "much");
    fails(
        IOException.class,
        "crail.buffersize",
        () -> FileSystem.newInstance(cluster.uri(), configuration));
  }

  @Test
  void anUnknownHostIsNamed() throws Exception {
    failsEverywhere(
        ConnectException.class, "60s", URI.create("crail://no-such-host.invalid:9060/"));
  }

  @Test
  void aNamenodeThatIsNotThereIsNamed() throws Exception {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    failsEverywhere(ConnectException.class, "60s", URI.create("crail://127.0.0.1:" + port + "/"));
  }

  @Test
  void namesAnImpossiblePort() throws Exception {
    failsEverywhere(ConnectException.class, "60s", URI.create("crail://127.0.0.1:0/"));
  }

  @Test
  void aNamenodeThatNeverAnswersIsNamed() throws Exception {
    // The kernel accepts for it.
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      failsEverywhere(
          PathIOException.class,
          "1s",
          URI.create("crail://127.0.0.1:" + silent.getLocalPort() + "/"));
    }
  }

  /** All at the same time, for each tries for a while. */
  private static void failsEverywhere(Class<? extends IOException> type, String timeout, URI uri)
      throws Exception {
    Configuration configuration = new Configuration();
    // Who is refused knows at once; with a short time, who is slow knows only that it is over.
    configuration.set("crail.rpctimeout", timeout);
    long began = System.nanoTime();
    ExecutorService threads = Executors.newCachedThreadPool();
    try (FileSystem nobody = FileSystem.newInstance(uri, configuration)) {
      Path path = new Path(uri.resolve("/x"));
      List<Future<IOException>> failures = new ArrayList<>();
      for (Executable step : operations(nobody, path).values()) {
        failures.add(threads.submit(() -> fails(IOException.class, path.toString(), step)));
      }
      for (Future<IOException> failure : failures) {
        IOException failed = failure.get(3 * PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertInstanceOf(type, failed);
        assertTrue(failed.getMessage().contains(uri.getAuthority()), failed.getMessage());
      }
    } finally {
      threads.shutdown();
    }
    // With the close of a file system that never met its namenode.
    long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began);
    assertTrue(seconds < 3 * PATIENCE_SECONDS, seconds + " s");
  }

  /** All that takes a path. */
  private static Map<String, Executable> operations(FileSystem system, Path path) {
    Map<String, Executable> steps = new TreeMap<>();
    steps.put("getFileStatus", () -> system.getFileStatus(path));
    steps.put("open", () -> system.open(path));
    steps.put("create", () -> system.create(path, true));
    steps.put("append", () -> system.append(path));
    steps.put("mkdirs", () -> system.mkdirs(path));
    steps.put("delete", () -> system.delete(path, true));
    steps.put("listStatus", () -> system.listStatus(path));
    steps.put("rename", () -> system.rename(path, new Path(path.getParent(), "other")));
    steps.put("getFileBlockLocations", () -> system.getFileBlockLocations(path, 0, 1));
    return steps;
  }

  @Test
  void aClosedFileSystemSaysSo() throws Exception {
    FileSystem closed = newFileSystem();
    closed.create(path).close();
    closed.close();
    closed.close();
    operations(closed, path)
        .forEach(
            (name, step) ->
                fails(PathIOException.class, "Filesystem closed", () -> named(name, step)));
  }

  private static void named(String name, Executable step) throws Throwable {
    try {
      step.execute();
    } catch (RuntimeException e) {
      throw new AssertionError(name, e);
    }
  }

  @Test
  void aStreamOfAClosedFileSystemSaysSo() throws Exception {
    FileSystem closed = newFileSystem();
    FSDataOutputStream out = closed.create(path);
    out.write(new byte[8 << 20]);
    out.close();
    FSDataInputStream in = closed.open(path);
    FSDataOutputStream open = closed.append(path);
    closed.close();
    fails(IOException.class, path.toString(), () -> open.write(1));
    fails(IOException.class, path.toString(), () -> in.readFully(7 << 20, new byte[1 << 20]));
    fails(IOException.class, path.toString(), () -> in.readFully(new byte[8 << 20]));
    in.close();
    open.close();
  }

  @Test
  void aPathThatIsTooLongIsNamed() throws Exception {
    String rest = ("/" + "a".repeat(200)).repeat(6);
    Path longest = path.suffix(rest.substring(0, 1024 - path.toUri().getPath().length()));
    assertEquals(1024, longest.toUri().getPath().length());
    try (FileSystem system = newFileSystem()) {
      assertTrue(system.mkdirs(longest), "as long as may be");
      // The second has 800 characters and 1,200 bytes: the limit is one of bytes.
      for (Path tooLong : List.of(longest.suffix("a"), path.suffix("/\u00e4".repeat(400)))) {
        Map<String, Executable> operations = operations(system, tooLong);
        // What is not there is no error for these.
        operations.keySet().removeAll(Set.of("delete", "rename"));
        operations.forEach(
            (name, step) -> {
              Class<? extends IOException> type =
                  Set.of("create", "mkdirs").contains(name)
                      ? PathIOException.class
                      : FileNotFoundException.class;
              fails(type, tooLong.toString(), () -> named(name, step));
            });
        fails(PathIOException.class, tooLong.toString(), () -> system.rename(longest, tooLong));
        fails(
            PathIOException.class,
            tooLong.toString(),
            () -> system.create(new Path(tooLong, "deep/er")));
      }
      assertTrue(system.delete(path, true));
    }
  }

  @Test
  void aFullStoreEndsTheWriter() throws Exception {
    // A store of its own, for others would not find room.
    try (HadoopCluster small = new HadoopCluster();
        FileSystem system = FileSystem.newInstance(small.uri(), new Configuration())) {
      Path large = new Path(small.uri().resolve("/large"));
      byte[] piece = new byte[1 << 20];
      FSDataOutputStream out = system.create(large);
      PathIOException full =
          fails(
              PathIOException.class,
              large.toString(),
              () -> {
                for (int i = 0; i < 128; i++) {
                  out.write(piece);
                }
                out.hflush();
              });
      assertEquals(ErrorCode.NO_SPACE, ((CrailException) full.getCause()).code());
      fails(IOException.class, large.toString(), out::close);
      out.close();
      // What is there can be removed, and so gives room, after the leases on it.
      assertTrue(system.delete(large, false));
      assertFalse(system.exists(large));
    }
  }

  @Test
  void aFileThatIsRemovedWhileItIsReadIsNamed() throws Exception {
    byte[] bytes = new byte[24 << 20];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (i * 31 >> 7);
    }
    try (FileSystem system = newFileSystem();
        FileSystem other = newFileSystem()) {
      try (FSDataOutputStream out = system.create(path)) {
        out.write(bytes);
      }
      try (FSDataInputStream in = system.open(path)) {
        byte[] head = new byte[4096];
        in.readFully(head);
        assertArrayEquals(Arrays.copyOf(bytes, head.length), head);
        assertTrue(other.delete(path, false));
        // Where the blocks of the tail lie has not been asked for before.
        byte[] read = new byte[bytes.length];
        fails(
            FileNotFoundException.class,
            path.toString(),
            () -> {
              for (int at = head.length; at < bytes.length; ) {
                int count = in.read(read, at, Math.min(1 << 20, bytes.length - at));
                // What is still read is what was written.
                assertArrayEquals(
                    Arrays.copyOfRange(bytes, at, at + count),
                    Arrays.copyOfRange(read, at, at + count));
                at += count;
              }
            });
        fails(
            FileNotFoundException.class,
            path.toString(),
            () -> in.readFully(bytes.length - 4096, new byte[4096]));
      }
      fails(FileNotFoundException.class, path.toString(), () -> system.open(path));
    }
  }

  @Test
  void aFileThatIsRemovedWhileItIsWrittenIsNamed() throws Exception {
    try (FileSystem system = newFileSystem();
        FileSystem other = newFileSystem()) {
      FSDataOutputStream out = system.create(path);
      out.write(new byte[10_000]);
      out.hflush();
      assertTrue(other.delete(path, false));
      lost(out);
      assertFalse(system.exists(path));
    }
  }

  @Test
  void aFileThatIsReplacedWhileItIsWrittenIsNamed() throws Exception {
    try (FileSystem system = newFileSystem();
        FileSystem other = newFileSystem()) {
      FSDataOutputStream out = system.create(path);
      out.write(new byte[10_000]);
      out.hflush();
      try (FSDataOutputStream next = other.create(path, true)) {
        next.write(new byte[100]);
      }
      lost(out);
      assertEquals(100, system.getFileStatus(path).getLen());
    }
  }

  /** Writes to a file that is gone until that is noticed, which is at the latest with hflush. */
  private void lost(FSDataOutputStream out) {
    fails(
        FileNotFoundException.class,
        path.toString(),
        () -> {
          out.write(new byte[4 << 20]);
          out.hflush();
        });
    fails(FileNotFoundException.class, path.toString(), out::close);
  }
}
