/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.limits;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Copies between one buffer and a mapped file, piece by piece from beginning to end, or from pieces
 * at random places: the lower bound for a client on the datanode's host. A client with several
 * operations in flight has as many buffers, used in turns. All memory is touched before.
 *
 * <pre>
 * MemoryCopy directory|file regionBytes [read] [write] [random] pieceBytes[xbuffers]...
 * </pre>
 *
 * Prints a line for each piece length: {@code piece <bytes> read <MB/s> write <MB/s> plain <MB/s>
 * fetched <MB/s> random <ns>}. {@code read} copies out of the region. {@code write} copies into it:
 * it is the faster of {@code plain}, a plain copy, and {@code fetched}, which first reads a byte of
 * each cache line of the next page to write. {@code random} is the time of a copy out of a random
 * piece of the region. With some of the three words as arguments, only these are measured.
 */
public final class MemoryCopy {
  private static final double NANOS_PER_SECOND = 1e9;
  private static final double MEGA = 1e6;
  private static final int ROUNDS = 3;
  private static final int MAX_RANDOM = 1_000_000;
  private static final int MIN_RANDOM = 64;
  private static final long SEED = 42;
  private static final int PAGE = 4 << 10;
  private static final int CACHE_LINE = 64;

  /** The figures. */
  public enum Figure {
    /** Copies out of the region, in order. */
    READ,
    /** Copies into the region, in order. */
    WRITE,
    /** Copies out of the region, from random places. */
    RANDOM;

    private static final List<String> NAMES = Arrays.stream(values()).map(Figure::shown).toList();

    /** The name among the arguments and in the output. */
    public String shown() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** How bytes are copied. */
  enum Way {
    /** From the region to the buffers. */
    OUT,
    /** Into the region, each piece by one copy. */
    PLAIN,
    /** Into the region page by page, after a load of each cache line of the page. */
    FETCHED
  }

  private final ByteBuffer region;
  private final ByteBuffer[] buffers;
  private final int length;

  /** Keeps the fetched bytes. Otherwise the compiler would leave the loads out. */
  private int fetched;

  /**
   * Creates a copier. The length of {@code region} is a multiple of that of each of {@code
   * buffers}.
   */
  MemoryCopy(ByteBuffer region, ByteBuffer... buffers) {
    this.region = region;
    this.buffers = buffers;
    this.length = buffers[0].capacity();
    if (region.capacity() % length != 0) {
      throw new IllegalArgumentException("the region must be a multiple of the piece length");
    }
  }

  /** Measures, as the class comment says. */
  public static void main(String[] args) throws IOException {
    ByteBuffer region = MappedMemory.map(Path.of(args[0]), Integer.parseInt(args[1]));
    Set<Figure> figures = EnumSet.noneOf(Figure.class);
    int at = 2;
    while (at < args.length && Figure.NAMES.contains(args[at])) {
      figures.add(Figure.values()[Figure.NAMES.indexOf(args[at++])]);
    }
    if (figures.isEmpty()) {
      figures = EnumSet.allOf(Figure.class);
    }
    for (; at < args.length; at++) {
      String[] piece = args[at].split("x");
      ByteBuffer[] buffers = new ByteBuffer[piece.length == 1 ? 1 : Integer.parseInt(piece[1])];
      for (int k = 0; k < buffers.length; k++) {
        buffers[k] = ByteBuffer.allocateDirect(Integer.parseInt(piece[0]));
      }
      System.out.println(new MemoryCopy(region, buffers).measure(figures));
    }
  }

  private String measure(Set<Figure> figures) {
    Set<Way> ways = EnumSet.noneOf(Way.class);
    if (figures.contains(Figure.READ)) {
      ways.add(Way.OUT);
    }
    if (figures.contains(Figure.WRITE)) {
      ways.addAll(EnumSet.of(Way.PLAIN, Way.FETCHED));
    }
    // Lets HotSpot compile the loops.
    for (Way way : ways) {
      bytesPerSecond(way, 1);
    }
    Map<Way, Double> medians = medians(ways);
    StringBuilder line = new StringBuilder("piece ").append(length);
    if (figures.contains(Figure.READ)) {
      append(line, Figure.READ.shown(), medians.get(Way.OUT) / MEGA, 0);
    }
    if (figures.contains(Figure.WRITE)) {
      double plain = medians.get(Way.PLAIN) / MEGA;
      double fetched = medians.get(Way.FETCHED) / MEGA;
      append(line, Figure.WRITE.shown(), Math.max(plain, fetched), 0);
      append(line, "plain", plain, 0);
      append(line, "fetched", fetched, 0);
    }
    if (figures.contains(Figure.RANDOM)) {
      int count = Math.max(MIN_RANDOM, Math.min(MAX_RANDOM, region.capacity() / length));
      randomNanos(count);
      append(line, Figure.RANDOM.shown(), randomNanos(count), 1);
    }
    return line.toString();
  }

  private static void append(StringBuilder line, String name, double value, int digits) {
    line.append(String.format(Locale.ROOT, " %s %." + digits + "f", name, value));
  }

  /**
   * The medians of rounds that are taken in turns, since the machine may be busy during some of
   * them.
   */
  private Map<Way, Double> medians(Set<Way> ways) {
    Map<Way, double[]> rounds = new EnumMap<>(Way.class);
    for (int i = 0; i < ROUNDS; i++) {
      for (Way way : ways) {
        rounds.computeIfAbsent(way, any -> new double[ROUNDS])[i] = bytesPerSecond(way, 1);
      }
    }
    Map<Way, Double> medians = new EnumMap<>(Way.class);
    rounds.forEach((way, each) -> medians.put(way, sorted(each)[ROUNDS / 2]));
    return medians;
  }

  private static double[] sorted(double[] values) {
    Arrays.sort(values);
    return values;
  }

  /** Copies some pieces from random places. Returns the nanoseconds of one copy. */
  double randomNanos(int count) {
    SplittableRandom random = new SplittableRandom(SEED);
    int pieces = region.capacity() / length;
    long begin = System.nanoTime();
    for (int i = 0; i < count; i++) {
      buffers[i % buffers.length].put(0, region, random.nextInt(pieces) * length, length);
    }
    return (double) (System.nanoTime() - begin) / count;
  }

  /** Copies the whole region {@code rounds} times. Returns bytes a second. */
  double bytesPerSecond(Way way, int rounds) {
    long begin = System.nanoTime();
    for (int round = 0; round < rounds; round++) {
      for (int at = 0, next = 0; at < region.capacity(); at += length, next++) {
        ByteBuffer buffer = buffers[next % buffers.length];
        switch (way) {
          case OUT -> buffer.put(0, region, at, length);
          case PLAIN -> region.put(at, buffer, 0, length);
          case FETCHED -> fetchAndPut(at, buffer);
        }
      }
    }
    long nanos = Math.max(1, System.nanoTime() - begin);
    return (double) region.capacity() * rounds * NANOS_PER_SECOND / nanos;
  }

  private void fetchAndPut(int at, ByteBuffer buffer) {
    int sum = 0;
    for (int done = 0; done < length; done += PAGE) {
      int count = Math.min(PAGE, length - done);
      for (int line = 0; line < count; line += CACHE_LINE) {
        sum += region.get(at + done + line);
      }
      region.put(at + done, buffer, done, count);
    }
    fetched += sum;
  }
}
