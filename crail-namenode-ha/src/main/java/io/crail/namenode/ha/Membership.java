/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import io.crail.protocol.cluster.AskPeer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.ratis.protocol.RaftPeerId;

/**
 * What a peer is among the peers of its namenode, as its directory has it. A directory has a random
 * number, which is a part of the name by which the peers know each other. So a peer that has lost
 * its directory is another one than before: nothing that it has confirmed, or whom it has voted
 * for, is expected of it. Immutable. Its file has one line for each of these:
 *
 * <pre>
 *   peer   which of the peers it is
 *   number 16 hexadecimal digits
 *   begins the numbers of all peers with which it has begun; its own alone if it has begun with
 *          the records of a namenode without standbys; or
 *   joins  if it was taken in by others; neither if it has taken part in nothing
 *   started if it has started to take part
 * </pre>
 *
 * @param peer which of the peers it is
 * @param number what tells its directory from others
 * @param begun the numbers of all peers with which it has begun, its own among them; else empty
 * @param joins whether others take it in, or have done so
 * @param isStarted whether it has started to take part
 */
record Membership(int peer, long number, List<Long> begun, boolean joins, boolean isStarted) {
  /** The records that there are beside a directory. */
  enum Records {
    /** None. */
    NONE,
    /** A copy of what peers have agreed on. */
    COPY,
    /** Those of a namenode that has no standbys. */
    LONE
  }

  private static final String FILE = "peer";
  private static final String NAME = "peer-";
  private static final String META = "raft-meta";
  private static final int DEPTH = 3;

  /** That of a new directory. */
  static Membership of(int peer, long number) {
    return new Membership(peer, number, List.of(), false, false);
  }

  /** One that begins with others. */
  Membership begins(List<Long> numbers) {
    return new Membership(peer, number, List.copyOf(numbers), false, false);
  }

  /** One that others take in. */
  Membership joining() {
    return new Membership(peer, number, List.of(), true, false);
  }

  /** One that has started to take part. */
  Membership started() {
    return new Membership(peer, number, begun, joins, true);
  }

  /** Whether it may take part: it has begun with others, or they have let it in. */
  boolean takesPart() {
    return joins || !begun.isEmpty();
  }

  /** Whether it has begun without the others, which it takes in. */
  boolean beginsAlone() {
    return begun.size() == 1;
  }

  /** The name by which the peers know it. */
  RaftPeerId id() {
    return id(peer, number);
  }

  /** The name of a peer with a directory. */
  static RaftPeerId id(int peer, long number) {
    return RaftPeerId.valueOf(NAME + peer + "." + hex(number));
  }

  private static String hex(long number) {
    return String.format(Locale.ROOT, "%016x", number);
  }

  /** Which of the peers has a name. */
  static int peerOf(RaftPeerId id) {
    String name = id.toString();
    return Integer.parseInt(name.substring(NAME.length(), name.indexOf('.')));
  }

  /** What it says to another peer, beside these records. */
  AskPeer.Response answer(Records records) {
    int state = AskPeer.NOTHING;
    if (takesPart() || records == Records.COPY) {
      state = AskPeer.SOMETHING;
    } else if (records == Records.LONE) {
      state = AskPeer.LONE;
    }
    return new AskPeer.Response(peer, state, number, begun);
  }

  /**
   * Reads it.
   *
   * @return null if the directory has lost it, or anything that it says to be there
   * @throws IOException if it is the directory of another peer, or cannot be read
   */
  static Membership read(Path directory, int peer) throws IOException {
    Path file = directory.resolve(FILE);
    if (!Files.exists(file)) {
      return null;
    }
    Membership read = of(-1, 0);
    for (String line : Files.readAllLines(file)) {
      read = read.with(line.split(" "), file);
    }
    if (read.peer != peer) {
      throw new IOException(
          file
              + " is that of peer "
              + read.peer
              + ", but this is peer "
              + peer
              + ": each peer has"
              + " directories of its own, and no copy of them can take part");
    }
    return read.isStarted && !hasMeta(directory) ? null : read;
  }

  private Membership with(String[] words, Path file) throws IOException {
    try {
      return switch (words[0]) {
        case "peer" -> new Membership(Integer.parseInt(words[1]), number, begun, joins, isStarted);
        case "number" ->
            new Membership(peer, Long.parseUnsignedLong(words[1], 16), begun, joins, isStarted);
        case "begins" ->
            begins(Stream.of(words).skip(1).map(each -> Long.parseUnsignedLong(each, 16)).toList());
        case "joins" -> joining();
        case "started" -> started();
        default -> throw new IOException(file + " is damaged: it has a line '" + words[0] + "'");
      };
    } catch (RuntimeException e) {
      throw new IOException(file + " is damaged: " + e.getMessage(), e);
    }
  }

  /** Whether a peer has taken part with a directory, so that it may have voted. */
  static boolean hasMeta(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      return false;
    }
    try (Stream<Path> files = Files.walk(directory, DEPTH)) {
      return files.anyMatch(file -> file.getFileName().toString().equals(META));
    }
  }

  /** Makes it durable. */
  void write(Path directory) throws IOException {
    StringBuilder text = new StringBuilder();
    text.append("peer ").append(peer).append("\nnumber ").append(hex(number)).append('\n');
    if (joins) {
      text.append("joins\n");
    } else if (!begun.isEmpty()) {
      text.append(
          begun.stream().map(Membership::hex).collect(Collectors.joining(" ", "begins ", "\n")));
    }
    if (isStarted) {
      text.append("started\n");
    }
    Files.createDirectories(directory);
    byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
    PeerFiles.write(directory.resolve(FILE), ByteBuffer.wrap(bytes));
  }
}
