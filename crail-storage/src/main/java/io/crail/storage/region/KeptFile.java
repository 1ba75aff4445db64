/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.TextLimits;
import io.crail.storage.LastingBytes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.zip.CRC32C;

/**
 * The file in a datanode's directory by which the next process takes its place. Each part has a
 * checksum, and is on the disk before what it says is true.
 *
 * <pre>
 * offset
 *  0      {@link Identity}, never changed
 *  4096   {@link Standing}, and once more at 8192: they are written in turn, so one is whole
 *  12288  {@link Lent} of region 0, 1, ... in 64 bytes each
 *
 * each:  i32 CRC-32C of the rest, i32 bytes that follow, bytes
 * </pre>
 *
 * <p>If the part of a region is torn, it counts as lent to a namenode that no one knows. That is
 * right, since what it was to say had not happened. Thread-safe.
 */
final class KeptFile implements LastingBytes, AutoCloseable {
  static final String FILE = "kept";

  /** The same before it is whole. */
  static final String NEW_FILE = "kept.new";

  private static final int FORMAT = 1;
  private static final int STANDING = 4096;
  private static final int REGIONS = 3 * 4096;
  private static final int REGION = 64;
  private static final int HEADER = 2 * Integer.BYTES;
  private static final int MOST_BOOT = 64;

  /** In place of a lending that is torn. */
  private static final Lending UNKNOWN = new Lending(-1, 0, 0);

  /**
   * Whose bytes these are.
   *
   * @param format the format of the file
   * @param keeper the identity of the bytes
   * @param regions the number of regions
   * @param length bytes of each region
   * @param cluster the name of the cluster
   * @param tier the name of the tier
   */
  record Identity(int format, UUID keeper, int regions, long length, Utf8 cluster, Utf8 tier) {
    static final Layout LAYOUT =
        Layout.of("KeptFile.Identity")
            .i32("format", "the format of the file")
            .struct("keeper", Codec.UUID, "the identity of the bytes")
            .i32("regions", "the number of regions")
            .i64("length", "bytes of each region")
            .u16("clusterLength", "bytes of cluster")
            .u16("tierLength", "bytes of tier")
            .bytes("cluster", "clusterLength", 0, 255, "the name of the cluster")
            .bytes("tier", "tierLength", 1, TextLimits.TIER, "the name of the tier");

    static final Codec<Identity> CODEC = Codec.of(Identity.class, LAYOUT);
  }

  /**
   * Which process has the bytes.
   *
   * @param start how many processes have had them
   * @param port the port that was configured for the last one
   * @param closed whether that one has ended in order, with all bytes on the disk
   * @param boot the boot of the host during which it ran; empty if that is not known
   */
  record Standing(long start, int port, boolean closed, Utf8 boot) {
    static final Layout LAYOUT =
        Layout.of("KeptFile.Standing")
            .i64("start", "how many processes have had the bytes")
            .i32("port", "the port that was configured for the last one")
            .u8("closed", "whether it has ended in order; 0 or 1")
            .u16("bootLength", "bytes of boot")
            .bytes("boot", "bootLength", 0, MOST_BOOT, "the boot of the host");

    static final Codec<Standing> CODEC = Codec.of(Standing.class, LAYOUT);
  }

  /**
   * To whom a region was lent.
   *
   * @param lent whether it was ever lent; else the other numbers are 0
   * @param datanode as in {@link LastingBytes.Lending}
   * @param lineage as there
   * @param generation as there
   */
  record Lent(boolean lent, int datanode, long lineage, long generation) {
    static final Layout LAYOUT =
        Layout.of("KeptFile.Lent")
            .u8("lent", "whether it was ever lent; 0 or 1")
            .i32("datanode", "id of the datanode at the namenode")
            .i64("lineage", "lineage of the namenode")
            .i64("generation", "generations begin above this");

    static final Codec<Lent> CODEC = Codec.of(Lent.class, LAYOUT);
  }

  private final FileChannel channel;
  private final Identity identity;
  private final List<Lending> lendings;
  private Standing standing;
  private volatile boolean discarded;

  /** Where the next standing goes: 0 or 1. */
  private int nextStanding;

  private KeptFile(
      FileChannel channel,
      Identity identity,
      Standing standing,
      int nextStanding,
      List<Lending> lendings) {
    this.channel = channel;
    this.identity = identity;
    this.standing = standing;
    this.nextStanding = nextStanding;
    this.lendings = lendings;
  }

  /**
   * Makes the file, for the first process, in a directory that has all else.
   *
   * @param lengths bytes of each region, which are the same
   */
  static KeptFile create(
      SafeDirectory files,
      UUID keeper,
      LastingBytes.Owner owner,
      List<Integer> lengths,
      String boot)
      throws IOException {
    files.deleteIfExists(NEW_FILE);
    try (FileChannel made = files.create(NEW_FILE)) {
      write(
          made,
          0,
          Identity.CODEC,
          new Identity(
              FORMAT,
              keeper,
              lengths.size(),
              lengths.get(0),
              Utf8.of(owner.cluster()),
              Utf8.of(owner.tier())));
      write(made, STANDING, Standing.CODEC, new Standing(1, owner.port(), false, Utf8.of(boot)));
      for (int i = 0; i < lengths.size(); i++) {
        write(made, REGIONS + (long) i * REGION, Lent.CODEC, new Lent(false, 0, 0, 0));
      }
      // So that each part of the file is there, also the last one.
      made.write(ByteBuffer.allocate(1), REGIONS + (long) lengths.size() * REGION);
      made.force(true);
    }
    files.rename(NEW_FILE, FILE);
    files.force();
    return open(files);
  }

  /**
   * Opens the file, for a process that is alone with it, or only looks at it.
   *
   * @throws IOException when it is damaged, or of another version
   */
  static KeptFile open(SafeDirectory files) throws IOException {
    FileChannel channel = files.open(FILE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    boolean opened = false;
    try {
      Identity identity = read(channel, 0, Identity.CODEC);
      Standing first = read(channel, STANDING, Standing.CODEC);
      Standing second = read(channel, 2 * STANDING, Standing.CODEC);
      if (identity == null || (first == null && second == null)) {
        throw new IOException("it is damaged, or of another version of Crail");
      }
      if (identity.format() != FORMAT) {
        throw new IOException(
            "it has format " + identity.format() + "; this version reads " + FORMAT);
      }
      boolean isSecond = first == null || (second != null && isLater(second, first));
      List<Lending> lendings = new ArrayList<>();
      for (int i = 0; i < identity.regions(); i++) {
        Lent lent = read(channel, REGIONS + (long) i * REGION, Lent.CODEC);
        lendings.add(lent == null ? UNKNOWN : lending(lent));
      }
      KeptFile file =
          new KeptFile(channel, identity, isSecond ? second : first, isSecond ? 0 : 1, lendings);
      opened = true;
      return file;
    } catch (IOException e) {
      throw new IOException(
          "cannot use "
              + files.path().resolve(FILE)
              + ": "
              + e.getMessage()
              + "; restore it, or"
              + " remove the directory to start with empty regions",
          e);
    } finally {
      if (!opened) {
        channel.close();
      }
    }
  }

  private static boolean isLater(Standing one, Standing other) {
    return one.start() > other.start() || (one.start() == other.start() && one.closed());
  }

  private static Lending lending(Lent lent) {
    return lent.lent() ? new Lending(lent.datanode(), lent.lineage(), lent.generation()) : null;
  }

  @Override
  public UUID keeper() {
    return identity.keeper();
  }

  @Override
  public synchronized long start() {
    return standing.start();
  }

  @Override
  public void discard() {
    discarded = true;
  }

  boolean isDiscarded() {
    return discarded;
  }

  Identity identity() {
    return identity;
  }

  synchronized Standing standing() {
    return standing;
  }

  /** Bytes of each region. */
  List<Integer> lengths() {
    return Collections.nCopies(identity.regions(), (int) identity.length());
  }

  /** Another process has the bytes from now on. */
  synchronized void begin(int port, String boot) throws IOException {
    stand(new Standing(standing.start() + 1, port, false, Utf8.of(boot)));
  }

  /** The process has ended, and all bytes are on the disk. */
  synchronized void end() throws IOException {
    stand(new Standing(standing.start(), standing.port(), true, standing.boot()));
  }

  private void stand(Standing next) throws IOException {
    write(channel, (1L + nextStanding) * STANDING, Standing.CODEC, next);
    channel.force(false);
    standing = next;
    nextStanding = 1 - nextStanding;
  }

  @Override
  public synchronized Lending lending(int region) {
    return lendings.get(region);
  }

  @Override
  public synchronized void lend(int region, Lending lending) throws IOException {
    Lent lent = new Lent(true, lending.datanode(), lending.lineage(), lending.generation());
    write(channel, REGIONS + (long) region * REGION, Lent.CODEC, lent);
    channel.force(false);
    lendings.set(region, lending);
  }

  private static <T> void write(FileChannel channel, long at, Codec<T> codec, T part)
      throws IOException {
    int length = codec.length(part);
    ByteBuffer bytes = ByteBuffer.allocate(HEADER + length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putInt(Integer.BYTES, length);
    codec.encode(part, bytes, HEADER);
    bytes.putInt(0, checksum(bytes));
    while (bytes.hasRemaining()) {
      channel.write(bytes, at + bytes.position());
    }
  }

  /** A part; null when it is not whole. */
  private static <T> T read(FileChannel channel, long at, Codec<T> codec) throws IOException {
    ByteBuffer header = ByteBuffer.allocate(HEADER).order(ByteOrder.LITTLE_ENDIAN);
    if (channel.read(header, at) < HEADER) {
      return null;
    }
    int length = header.getInt(Integer.BYTES);
    if (length < 0 || length > STANDING - HEADER) {
      return null;
    }
    ByteBuffer bytes = ByteBuffer.allocate(HEADER + length).order(ByteOrder.LITTLE_ENDIAN);
    if (channel.read(bytes, at) < bytes.capacity() || bytes.getInt(0) != checksum(bytes)) {
      return null;
    }
    try {
      return codec.decode(bytes, HEADER, length);
    } catch (CrailException e) {
      return null;
    }
  }

  private static int checksum(ByteBuffer part) {
    CRC32C checksum = new CRC32C();
    checksum.update(part.array(), Integer.BYTES, part.capacity() - Integer.BYTES);
    return (int) checksum.getValue();
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
