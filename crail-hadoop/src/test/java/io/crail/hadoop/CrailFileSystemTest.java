/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.StaleNodeException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.CommonPathCapabilities;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FsStatus;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathIOException;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.StorageStatistics;
import org.apache.hadoop.fs.Trash;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** Tests behaviour that Hadoop's contract does not cover. */
class CrailFileSystemTest {
  private static HadoopCluster cluster;

  private FileSystem fileSystem;
  private Path path;

  @BeforeAll
  static void startCluster() throws Exception {
    cluster = new HadoopCluster(2);
  }

  @AfterAll
  static void stopCluster() throws Exception {
    // What contexts have left there.
    FileSystem.closeAll();
    cluster.close();
  }

  @BeforeEach
  void open(TestInfo test) throws Exception {
    fileSystem = newFileSystem();
    path = new Path("/" + test.getTestMethod().orElseThrow().getName());
  }

  @AfterEach
  void close() throws Exception {
    fileSystem.close();
  }

  private static FileSystem newFileSystem() throws IOException {
    return FileSystem.newInstance(cluster.uri(), new Configuration());
  }

  private byte[] written(int length) throws IOException {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("-Dcrail.seed=" + seed);
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    try (FSDataOutputStream out = fileSystem.create(path)) {
      out.write(bytes);
    }
    return bytes;
  }

  @Test
  void theSchemeIsFoundWithoutConfiguration() throws Exception {
    assertSame(CrailFileSystem.class, FileSystem.getFileSystemClass("crail", new Configuration()));
  }

  @Test
  void theRootListsAllNamenodes() throws Exception {
    List<Path> made = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      Path directory = fileSystem.makeQualified(new Path("/" + path.getName() + i));
      assertTrue(fileSystem.mkdirs(directory));
      made.add(directory);
    }
    List<Path> listed =
        Arrays.stream(fileSystem.listStatus(new Path("/"))).map(FileStatus::getPath).toList();
    assertTrue(listed.containsAll(made), listed + " lacks some of " + made);
  }

  @Test
  void othersSeeTheLengthAfterHflush() throws Exception {
    try (FileSystem other = newFileSystem();
        FSDataOutputStream out = fileSystem.create(path)) {
      out.write(new byte[1000]);
      assertEquals(0, other.getFileStatus(path).getLen());
      out.hflush();
      assertEquals(1000, other.getFileStatus(path).getLen());
    }
  }

  @Test
  void aFileSystemThatIsClosedCompletesItsFiles() throws Exception {
    FSDataOutputStream out;
    try (FileSystem writer = newFileSystem()) {
      out = writer.create(path);
      out.write(new byte[1000]);
    }
    assertEquals(1000, fileSystem.getFileStatus(path).getLen());
    assertThrows(IOException.class, () -> out.write(1));
  }

  @Test
  void anOverwriteLeavesNoMomentWithoutAFile() throws Exception {
    // Below one directory, which one namenode has.
    Path file = new Path(path, "file");
    Path fresh = new Path(path, "new");
    fileSystem.create(file).close();
    Configuration configuration = new Configuration();
    configuration.set("fs.AbstractFileSystem.crail.impl", CrailAbstractFileSystem.class.getName());
    configuration.set(
        "crail.namenode.address",
        "crail://" + cluster.uri().getRawAuthority().replace(",", ",crail://"));
    URI configured = URI.create("crail:///");
    FileContext context = FileContext.getFileContext(configured, configuration);
    AtomicBoolean done = new AtomicBoolean();
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      Future<Long> reader =
          threads.submit(
              () -> {
                long looks = 0;
                for (; !done.get() || looks == 0; looks++) {
                  assertTrue(fileSystem.exists(file));
                }
                return looks;
              });
      // Two writers of the same file are no trouble to each other either.
      Future<?> other = threads.submit(() -> overwrites(file));
      overwrites(file);
      for (int i = 0; i < 100; i++) {
        fileSystem.create(fresh).close();
        context.rename(fresh, file, Options.Rename.OVERWRITE);
      }
      other.get(60, TimeUnit.SECONDS);
      done.set(true);
      assertTrue(reader.get(60, TimeUnit.SECONDS) > 0);
      fileSystem.create(fresh).close();
      assertThrows(FileAlreadyExistsException.class, () -> context.rename(fresh, file));
    } finally {
      done.set(true);
      threads.shutdownNow();
    }
  }

  private Void overwrites(Path file) throws IOException {
    for (int i = 0; i < 100; i++) {
      try (FSDataOutputStream out = fileSystem.create(file, true)) {
        out.write(i);
      } catch (FileNotFoundException e) {
        // The other one has overwritten it before it was closed.
        assertTrue(e.getCause() instanceof StaleNodeException, e.toString());
      }
    }
    return null;
  }

  @Test
  void manyThreadsReadPositionsOfOneStream() throws Exception {
    byte[] bytes = written(3 << 20);
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try (FSDataInputStream in = fileSystem.open(path)) {
      List<Future<?>> readers = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        boolean direct = i % 2 == 0;
        Random random = new Random(i);
        readers.add(threads.submit(() -> readPositions(in, bytes, direct, random)));
      }
      for (Future<?> reader : readers) {
        reader.get(60, TimeUnit.SECONDS);
      }
      assertEquals(0, in.getPos());
    } finally {
      threads.shutdownNow();
    }
  }

  private static Void readPositions(
      FSDataInputStream in, byte[] bytes, boolean direct, Random random) throws IOException {
    for (int i = 0; i < 100; i++) {
      int length = 1 + random.nextInt(100_000);
      int from = random.nextInt(bytes.length - length);
      ByteBuffer target =
          direct ? ByteBuffer.allocateDirect(length + 8) : ByteBuffer.allocate(length + 8);
      target.position(4).limit(4 + length);
      in.readFully(from, target);
      assertFalse(target.hasRemaining());
      byte[] read = new byte[length];
      target.get(4, read);
      assertArrayEquals(Arrays.copyOfRange(bytes, from, from + length), read);
    }
    return null;
  }

  @Test
  void aReadBehindTheEndIsTheEnd() throws Exception {
    written(10);
    try (FSDataInputStream in = fileSystem.open(path)) {
      assertEquals(-1, in.read(10, ByteBuffer.allocateDirect(1)));
      assertEquals(-1, in.read(11, ByteBuffer.allocate(1)));
      assertEquals(-1, in.read(11, new byte[1], 0, 1));
      assertEquals(2, in.read(8, ByteBuffer.allocateDirect(4)));
    }
  }

  /** What this thread has read and written. */
  @SuppressWarnings("deprecation")
  private static FileSystem.Statistics.StatisticsData counted() {
    return FileSystem.getStatistics("crail", CrailFileSystem.class).getThreadStatistics();
  }

  @Test
  void bytesAreCountedOnce() throws Exception {
    long written = counted().getBytesWritten();
    long read = counted().getBytesRead();
    try (FSDataOutputStream out = fileSystem.create(path)) {
      out.write(new byte[1000]);
      out.write(1);
    }
    assertEquals(1001, counted().getBytesWritten() - written);
    try (FSDataInputStream in = fileSystem.open(path)) {
      in.readFully(new byte[1000]);
      assertEquals(1, in.read());
      in.readFully(0, new byte[100]);
      in.readFully(0, ByteBuffer.allocateDirect(10));
    }
    assertEquals(1111, counted().getBytesRead() - read);
  }

  private static List<Long> counted(StorageStatistics statistics) {
    return Stream.of("bytesRead", "bytesWritten", "readOps", "writeOps")
        .map(statistics::getLong)
        .toList();
  }

  /** Those that a program finds by the scheme, and those of the file system. */
  @Test
  void bytesAndOperationsAreInHadoopsStorageStatistics() throws Exception {
    for (StorageStatistics statistics :
        List.of(
            FileSystem.getGlobalStorageStatistics().get("crail"),
            fileSystem.getStorageStatistics())) {
      assertEquals("crail", statistics.getScheme());
      List<Long> before = counted(statistics);
      try (FSDataOutputStream out = fileSystem.create(path)) {
        out.write(new byte[1000]);
      }
      try (FSDataInputStream in = fileSystem.open(path)) {
        in.readFully(new byte[100]);
      }
      fileSystem.getFileStatus(path);
      fileSystem.delete(path, false);
      List<Long> after = counted(statistics);
      List<Long> moved = new ArrayList<>();
      for (int i = 0; i < after.size(); i++) {
        moved.add(after.get(i) - before.get(i));
      }
      assertEquals(List.of(100L, 1000L, 2L, 2L), moved);
    }
  }

  @Test
  void aSkipReadsNothingAndEndsAtTheEnd() throws Exception {
    byte[] bytes = written(100_000);
    try (FSDataInputStream in = fileSystem.open(path)) {
      long read = counted().getBytesRead();
      assertEquals(99_990, in.skip(99_990));
      assertEquals(read, counted().getBytesRead());
      assertEquals(0, in.skip(0));
      assertEquals(-1, in.skip(-5), "as HDFS");
      assertEquals(bytes[99_990] & 0xff, in.read());
      assertEquals(9, in.skip(Long.MAX_VALUE));
      assertEquals(0, in.skip(1));
      assertEquals(-1, in.read());
    }
  }

  @Test
  void aReplicationOtherThanOneIsRefused() throws Exception {
    written(1);
    assertTrue(fileSystem.setReplication(path, (short) 1));
    assertFalse(fileSystem.setReplication(path, (short) 3));
    assertFalse(fileSystem.setReplication(path.suffix("-missing"), (short) 1));
    assertFalse(fileSystem.setReplication(new Path("/"), (short) 1));
  }

  @Test
  @SuppressWarnings("deprecation")
  void theBlockSizeIsTheSameForAllClients() throws Exception {
    Configuration configuration = new Configuration();
    configuration.set(CrailFileSystem.BLOCK_SIZE_KEY, "3m");
    try (FileSystem set = FileSystem.newInstance(cluster.uri(), configuration)) {
      assertEquals(3 << 20, set.getDefaultBlockSize());
      assertEquals(3 << 20, set.getDefaultBlockSize(path));
      assertEquals(3 << 20, set.getServerDefaults().getBlockSize());
      assertEquals(3 << 20, set.getServerDefaults(path).getBlockSize());
    }
  }

  @Test
  void theCapabilitiesAreThoseThatThereAre() throws Exception {
    for (String there :
        List.of(CommonPathCapabilities.FS_APPEND, CommonPathCapabilities.FS_PERMISSIONS)) {
      assertTrue(fileSystem.hasPathCapability(path, there), there);
    }
    for (String missing :
        List.of(
            CommonPathCapabilities.FS_ACLS,
            CommonPathCapabilities.FS_CHECKSUMS,
            CommonPathCapabilities.FS_CONCAT,
            CommonPathCapabilities.FS_SNAPSHOTS,
            CommonPathCapabilities.FS_STORAGEPOLICY,
            CommonPathCapabilities.FS_SYMLINKS,
            CommonPathCapabilities.FS_TRUNCATE,
            CommonPathCapabilities.FS_XATTRS)) {
      assertFalse(fileSystem.hasPathCapability(path, missing), missing);
    }
  }

  @Test
  void aRenameToItselfChangesNothing() throws Exception {
    Path file = new Path(path, "file");
    Path directory = new Path(path, "directory");
    fileSystem.create(file).close();
    fileSystem.mkdirs(directory);
    assertTrue(fileSystem.rename(file, path));
    assertTrue(fileSystem.rename(file, file));
    assertTrue(fileSystem.rename(directory, path));
    assertTrue(fileSystem.rename(path, new Path("/")));
    assertFalse(fileSystem.rename(directory, directory), "into itself");
    assertFalse(fileSystem.rename(new Path(path, "missing"), path));
    assertEquals(2, fileSystem.listStatus(path).length);
  }

  @Test
  void aLocatedListingPassesOverWhatIsRemovedMeanwhile() throws Exception {
    for (String name : List.of("a", "b", "c")) {
      try (FSDataOutputStream out = fileSystem.create(new Path(path, name))) {
        out.write(1);
      }
    }
    RemoteIterator<LocatedFileStatus> files = fileSystem.listLocatedStatus(path);
    assertTrue(files.hasNext(), "so the page is here");
    assertTrue(fileSystem.delete(new Path(path, "b"), false));
    List<String> names = new ArrayList<>();
    while (files.hasNext()) {
      LocatedFileStatus file = files.next();
      assertEquals(1, file.getBlockLocations().length);
      names.add(file.getPath().getName());
    }
    assertEquals(List.of("a", "c"), names);
  }

  @Test
  void eachTopLevelDirectoryHasATrashWithSeveralNamenodes() throws Exception {
    Configuration configuration = new Configuration();
    configuration.set("fs.trash.interval", "10");
    Trash trash = new Trash(fileSystem, configuration);
    String user = UserGroupInformation.getCurrentUser().getShortUserName();
    List<Path> roots = new ArrayList<>();
    // So many that each namenode has some.
    for (int i = 0; i < 8; i++) {
      Path top = fileSystem.makeQualified(new Path("/" + path.getName() + i));
      Path file = new Path(top, "a/file");
      fileSystem.create(file).close();
      assertTrue(trash.moveToTrash(file));
      assertFalse(fileSystem.exists(file));
      Path root = new Path(top, ".Trash/" + user);
      assertTrue(fileSystem.exists(new Path(root, "Current" + file.toUri().getPath())));
      assertThrows(IOException.class, () -> trash.moveToTrash(top), "contains its trash");
      roots.add(root);
    }
    for (boolean allUsers : new boolean[] {false, true}) {
      List<Path> found =
          fileSystem.getTrashRoots(allUsers).stream().map(FileStatus::getPath).toList();
      assertTrue(found.containsAll(roots), found + " lacks some of " + roots);
    }
  }

  /** As in HDFS. Its writer learns so from the stream. */
  @Test
  void aFileThatIsGoneKeepsNothingFromClosing() throws Exception {
    Path other = path.suffix("-other");
    FileSystem closed = newFileSystem();
    FSDataOutputStream gone = closed.create(path);
    FSDataOutputStream kept = closed.create(other);
    gone.write(1);
    kept.write(2);
    assertTrue(fileSystem.delete(path, false));
    closed.close();
    assertEquals(1, fileSystem.getFileStatus(other).getLen());
    assertFalse(fileSystem.exists(path));
  }

  @Test
  void aBugWhileItIsClosedLeavesNoStoreOpen() throws Exception {
    CrailFileSystem broken =
        new CrailFileSystem() {
          @Override
          public boolean delete(Path path, boolean recursive) {
            throw new IllegalStateException("a bug");
          }
        };
    broken.initialize(cluster.uri(), new Configuration());
    broken.create(path).close();
    broken.deleteOnExit(path);
    assertThrows(IllegalStateException.class, broken::close);
    IOException closed = assertThrows(IOException.class, () -> broken.getFileStatus(path));
    assertTrue(closed.getMessage().contains("losed"), closed.getMessage());
  }

  @Test
  void nothingIsAppendedToADirectory() throws Exception {
    Path directory = new Path("/appended");
    fileSystem.mkdirs(directory);
    assertThrows(FileAlreadyExistsException.class, () -> fileSystem.append(directory));
    assertThrows(FileNotFoundException.class, () -> fileSystem.append(new Path("/nothing")));
  }

  @Test
  void blocksHaveHosts() throws Exception {
    written(3 << 20);
    Configuration mapping = new Configuration();
    mapping.set("crail.locationmap", "127.0.0.1,elsewhere");
    try (FileSystem mapped = FileSystem.newInstance(cluster.uri(), mapping)) {
      assertHost("127.0.0.1", fileSystem);
      assertHost("elsewhere", mapped);
    }
  }

  /** All blocks of the file are on this host. */
  private void assertHost(String host, FileSystem asked) throws IOException {
    FileStatus status = asked.getFileStatus(path);
    long next = 0;
    for (BlockLocation block : asked.getFileBlockLocations(status, 0, status.getLen())) {
      assertEquals(next, block.getOffset());
      assertArrayEquals(new String[] {host}, block.getHosts());
      assertEquals(1, block.getNames().length);
      assertTrue(block.getNames()[0].startsWith(host + ":"), block.toString());
      next += block.getLength();
    }
    assertEquals(status.getLen(), next);
  }

  @Test
  void theSpaceIsThatOfTheDatanodes() throws Exception {
    written(1 << 20);
    FsStatus status = fileSystem.getStatus();
    assertEquals(64 << 20, status.getCapacity());
    assertTrue(status.getUsed() >= 1 << 20, status.getUsed() + " bytes used");
    assertEquals(status.getCapacity(), status.getUsed() + status.getRemaining());
  }

  private static short bits(FileStatus status) {
    return status.getPermission().toShort();
  }

  @Test
  void attributesAreThoseThatWereSet() throws Exception {
    long before = System.currentTimeMillis();
    written(1);
    FileStatus made = fileSystem.getFileStatus(path);
    String user = UserGroupInformation.getCurrentUser().getShortUserName();
    assertEquals(user, made.getOwner());
    assertEquals(fileSystem.getFileStatus(new Path("/")).getGroup(), made.getGroup());
    assertEquals(0644, bits(made));
    assertTrue(made.getAccessTime() >= before, made.toString());
    fileSystem.setPermission(path, new FsPermission((short) 01751));
    fileSystem.setOwner(path, "somebody", null);
    fileSystem.setOwner(path, null, "some group");
    fileSystem.setTimes(path, 1234, -1);
    fileSystem.setTimes(path, -1, 5678);
    try (FileSystem other = newFileSystem()) {
      for (FileStatus status :
          List.of(other.getFileStatus(path), other.listStatus(path.getParent(), this::isPath)[0])) {
        assertEquals("somebody", status.getOwner());
        assertEquals("some group", status.getGroup());
        assertEquals(01751, bits(status));
        assertEquals(1234, status.getModificationTime());
        assertEquals(5678, status.getAccessTime());
        assertEquals(1, status.getLen());
      }
    }
    assertThrows(PathIOException.class, () -> fileSystem.setOwner(path, null, null));
    Path missing = new Path(path, "missing");
    assertThrows(FileNotFoundException.class, () -> fileSystem.setTimes(missing, 0, 0));
    assertThrows(IOException.class, () -> fileSystem.setOwner(path, "\u0007", null));
  }

  private boolean isPath(Path listed) {
    return listed.getName().equals(path.getName());
  }

  @Test
  void newNodesGetWhatTheMaskLeaves() throws Exception {
    Configuration configuration = new Configuration();
    configuration.set("fs.permissions.umask-mode", "027");
    configuration.set("crail.user", "another");
    try (FileSystem masked = FileSystem.newInstance(cluster.uri(), configuration)) {
      Path below = new Path(path, "a/b");
      masked.mkdirs(below, new FsPermission((short) 0577));
      assertEquals(0550, bits(masked.getFileStatus(below)));
      assertEquals(0750, bits(masked.getFileStatus(below.getParent())), "its owner may use it");
      masked.setOwner(path, null, "inherited");
      Path file = new Path(path, "c/file");
      masked.create(file).close();
      FileStatus status = masked.getFileStatus(file);
      assertEquals(0640, bits(status));
      assertEquals("another", status.getOwner());
      assertEquals("inherited", status.getGroup());
      assertEquals(0750, bits(masked.getFileStatus(file.getParent())));
      masked.setPermission(file, new FsPermission((short) 0600));
      fileSystem.create(file, true).close();
      FileStatus overwritten = masked.getFileStatus(file);
      assertEquals(0644, bits(overwritten), "another file");
      Path renamed = new Path(path, "renamed");
      masked.setPermission(file, new FsPermission((short) 0600));
      masked.rename(file, renamed);
      assertEquals(0600, bits(masked.getFileStatus(renamed)), "the same file");
    }
  }

  @Test
  void aFileContextAppliesItsOwnMaskAndNoOther() throws Exception {
    Configuration configuration = new Configuration();
    configuration.set("fs.AbstractFileSystem.crail.impl", CrailAbstractFileSystem.class.getName());
    configuration.set(
        "crail.namenode.address",
        "crail://" + cluster.uri().getRawAuthority().replace(",", ",crail://"));
    URI configured = URI.create("crail:///");
    try (FileSystem cached = FileSystem.get(configured, configuration)) {
      FileContext context = FileContext.getFileContext(configured, configuration);
      context.setUMask(new FsPermission((short) 0002));
      context.mkdir(path, new FsPermission((short) 0777), false);
      Path file = new Path(path, "file");
      context.create(file, EnumSet.of(CreateFlag.CREATE)).close();
      assertEquals(0775, bits(context.getFileStatus(path)));
      assertEquals(0664, bits(context.getFileStatus(file)));
      context.setPermission(file, new FsPermission((short) 0400));
      context.setOwner(file, "somebody", "some group");
      context.setTimes(file, 12, 34);
      FileStatus status = cached.getFileStatus(file);
      assertEquals(0400, bits(status));
      assertEquals("somebody", status.getOwner());
      assertEquals("some group", status.getGroup());
      assertEquals(12, status.getModificationTime());
      assertEquals(34, status.getAccessTime());
      // The root is there, as any other directory that is made again.
      context.mkdir(new Path("/"), FsPermission.getDirDefault(), false);
      context.msync();
      assertThrows(
          ParentNotDirectoryException.class,
          () -> context.mkdir(new Path(file, "x"), FsPermission.getDirDefault(), false));
    }
  }

  @Test
  void everyUserMayCreateInTheRootOfEachNamenode() throws Exception {
    Path root = new Path("/");
    assertEquals(01777, bits(fileSystem.getFileStatus(root)));
    String group = fileSystem.getFileStatus(root).getGroup();
    fileSystem.setOwner(root, null, "everybody");
    try {
      for (int i = 0; i < 8; i++) {
        Path directory = new Path("/" + path.getName() + i);
        fileSystem.mkdirs(directory);
        assertEquals("everybody", fileSystem.getFileStatus(directory).getGroup());
      }
    } finally {
      fileSystem.setOwner(root, null, group);
    }
  }

  @Test
  void aWrongAuthorityIsNamed() {
    IOException refused =
        assertThrows(
            IOException.class,
            () -> FileSystem.newInstance(URI.create("crail://host/"), new Configuration()));
    assertTrue(refused.getMessage().contains("crail://host"), refused.getMessage());
  }

  @Test
  void aNamenodeThatIsNotThereEndsTheCallInTime() throws Exception {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    Configuration configuration = new Configuration();
    configuration.set("crail.rpctimeout", "2s");
    URI nobody = URI.create("crail://127.0.0.1:" + port + "/");
    try (FileSystem unreachable = FileSystem.newInstance(nobody, configuration)) {
      long began = System.nanoTime();
      IOException failed =
          assertThrows(IOException.class, () -> unreachable.getFileStatus(new Path("/x")));
      long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began);
      assertTrue(
          failed instanceof ConnectException || failed instanceof PathIOException,
          failed.toString());
      assertTrue(failed.getMessage().contains(nobody.toString()), failed.getMessage());
      assertTrue(seconds < 30, seconds + " s");
    }
  }
}
