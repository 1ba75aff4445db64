/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The sections of a comparison, in the order in which they are measured. */
enum Part {
  LOOKUP("Lookups, many in flight"),
  HDFS("Files and streams beside HDFS"),
  RANDOM("Random reads"),
  LATENCY("Lookups, one in flight"),
  CLIENTS("Lookups of many clients, and of two namenodes"),
  SPREAD("One directory over one to eight namenodes"),
  CHILDREN("A spread directory of many children"),
  KEYVALUE("Key-values, and reads and writes on the datanode's host"),
  APPEND("Appends of many clients to one object, with and without a guard"),
  CACHE("Files of a slow file system, through a cache in Crail"),
  TIERS("Reads under load: memory, flash, and a file on both"),
  TCP("Streams over TCP"),
  MAPPED("Streams on the datanode's host"),
  MEMORY("Memory and allocation of servers");

  private final String title;

  Part(String title) {
    this.title = title;
  }

  /** The name on the command line. */
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The title. */
  String title() {
    return title;
  }

  /**
   * Whether the section uses HDFS. Such sections follow each other, since HDFS takes long to start.
   */
  boolean isBesideHdfs() {
    return this == LOOKUP || this == HDFS || this == RANDOM;
  }

  /** All names. */
  static List<String> words() {
    return Arrays.stream(values()).map(Part::word).toList();
  }
}
