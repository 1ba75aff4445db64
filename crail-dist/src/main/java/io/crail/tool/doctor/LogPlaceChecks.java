/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import io.crail.common.ByteText;
import io.crail.common.config.Configuration;
import io.crail.namenode.conf.Durability;
import io.crail.namenode.conf.NameNodeKeys;
import io.crail.namenode.log.ChangeLog;
import io.crail.tool.report.Finding;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

/** Looks at where the namenodes of this host are to keep their logs. */
final class LogPlaceChecks {
  /** A forced write that takes longer makes each change of one client slow. */
  private static final long SLOW_MICROS = 10_000;

  private static final int WRITES = 9;
  private static final int WRITE_BYTES = 4096;

  private static final Set<String> IN_MEMORY = Set.of("tmpfs", "ramfs");
  private static final Set<String> ELSEWHERE =
      Set.of("nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "glusterfs", "lustre", "afs", "gpfs");

  private final Configuration configuration;
  private final List<Integer> namenodes;
  private final List<Finding> findings = new ArrayList<>();

  /**
   * Creates the checks.
   *
   * @param namenodes the places of this host's namenodes in {@code crail.namenode.address}
   */
  LogPlaceChecks(Configuration configuration, List<Integer> namenodes) {
    this.configuration = configuration;
    this.namenodes = namenodes;
  }

  /** Runs all checks; none on a host without namenodes. */
  List<Finding> run() {
    String key = NameNodeKeys.DATA_PATH.name();
    String text = configuration.get(NameNodeKeys.DATA_PATH);
    boolean isKept = configuration.get(NameNodeKeys.DURABILITY) != Durability.NONE;
    if (namenodes.isEmpty() || (!isKept && text.isEmpty())) {
      return findings;
    }
    if (!isKept) {
      findings.add(
          Finding.warning(
              key + " is set, but " + NameNodeKeys.DURABILITY.name() + " is none: nothing is kept",
              "set " + NameNodeKeys.DURABILITY.name() + " to sync or async, or remove " + key));
    } else if (text.isEmpty()) {
      findings.add(
          Finding.broken(
              key + " is not set, so no namenode starts", "name a directory of a local disk"));
    } else {
      checkPlace(Path.of(text));
    }
    return findings;
  }

  private void checkPlace(Path path) {
    Path directory = path.toAbsolutePath();
    while (directory != null && !Files.exists(directory)) {
      directory = directory.getParent();
    }
    List<Path> places = new ArrayList<>();
    places.add(directory);
    namenodes.stream()
        .map(index -> path.resolve("namenode-" + index))
        .filter(Files::exists)
        .forEach(places::add);
    for (Path place : places) {
      if (place == null || !Files.isDirectory(place) || !Files.isWritable(place)) {
        findings.add(
            Finding.broken(
                "this user cannot write to " + place + ", for the logs of namenodes",
                "change its owner to the user of the namenode, or "
                    + NameNodeKeys.DATA_PATH.name()));
        return;
      }
    }
    try {
      checkKind(path, Files.getFileStore(directory).type());
      checkSpace(path, directory.toFile().getUsableSpace());
      findings.add(speed(directory, writeMicros(directory)));
    } catch (IOException e) {
      findings.add(
          Finding.broken(
              "no log can be written to " + path + ": " + e.getMessage(),
              "choose another disk by " + NameNodeKeys.DATA_PATH.name()));
    }
  }

  /** Says whether a file system can keep a log. */
  private void checkKind(Path path, String type) {
    String problem = problemOf(type);
    if (!problem.isEmpty()) {
      findings.add(
          Finding.warning(
              "the logs of namenodes in " + path + " are " + problem + " (" + type + ")",
              "name a directory of a local disk by " + NameNodeKeys.DATA_PATH.name()));
    }
  }

  /** What is wrong with a type of file systems; empty for nothing. */
  static String problemOf(String type) {
    if (IN_MEMORY.contains(type)) {
      return "in memory, and end with it";
    }
    if (type.equals("overlay")) {
      return "in the container's own files, and end with the container";
    }
    boolean isElsewhere = ELSEWHERE.contains(type) || type.startsWith("fuse");
    return isElsewhere ? "behind a network or a program, which may lose what was forced" : "";
  }

  private void checkSpace(Path path, long free) throws IOException {
    long files = 2 * ChangeLog.SEGMENT_BYTES * namenodes.size();
    long snapshots = 0;
    for (int index : namenodes) {
      snapshots += snapshotBytes(path.resolve("namenode-" + index));
    }
    String text =
        "the logs of namenodes in "
            + path
            + ": "
            + ByteText.of(free)
            + " free; the next files take ";
    String needed =
        ByteText.of(files)
            + (snapshots == 0 ? "" : ", and the next snapshots about " + ByteText.of(snapshots));
    if (free < files) {
      findings.add(Finding.broken(text + needed, "make room there: changes will be refused"));
    } else if (free < files + snapshots) {
      findings.add(Finding.warning(text + needed, "make room there, or the log grows on"));
    } else {
      findings.add(Finding.ok(text + needed));
    }
  }

  /** Bytes of the snapshots that are there, the next one of which is about as large. */
  private static long snapshotBytes(Path place) throws IOException {
    long bytes = 0;
    if (Files.isDirectory(place)) {
      try (Stream<Path> files = Files.list(place)) {
        for (Path file : files.toList()) {
          boolean isOne = file.getFileName().toString().startsWith("snapshot-");
          bytes += isOne ? Files.size(file) : 0;
        }
      }
    }
    return bytes;
  }

  /** The median time of a forced write, in a file that is made and removed again. */
  private static long writeMicros(Path directory) throws IOException {
    Path file = Files.createTempFile(directory, "crail-doctor-", ".tmp");
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.DELETE_ON_CLOSE)) {
      channel.write(ByteBuffer.allocateDirect(WRITES * WRITE_BYTES), 0);
      channel.force(true);
      ByteBuffer bytes = ByteBuffer.allocateDirect(WRITE_BYTES);
      long[] micros = new long[WRITES];
      for (int i = 0; i < WRITES; i++) {
        long begun = System.nanoTime();
        channel.write(bytes.clear(), (long) i * WRITE_BYTES);
        channel.force(false);
        micros[i] = (System.nanoTime() - begun) / 1_000;
      }
      Arrays.sort(micros);
      return micros[WRITES / 2];
    } finally {
      Files.deleteIfExists(file);
    }
  }

  static Finding speed(Path directory, long micros) {
    String text =
        String.format(
            Locale.ROOT,
            "a forced write of 4 KiB to %s takes %.1f ms, and each change waits for one",
            directory,
            micros / 1e3);
    return micros > SLOW_MICROS
        ? Finding.warning(text, "use a disk of its own, or one that is faster")
        : Finding.ok(text);
  }
}
