/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/** The sections of a comparison, in the order in which they are measured. */
enum Part {
  LOOKUP("Lookups, many in flight", LookupSection::new),
  HDFS("Files and streams beside HDFS", HdfsSection::new),
  RANDOM("Random reads", RandomReadSection::new),
  LATENCY("Lookups, one in flight", LatencySection::new),
  CLIENTS("Lookups of many clients, and of two namenodes", ClientsSection::new),
  KEYVALUE("Key-values, and reads and writes on the datanode's host", KeyValueSection::new),
  TCP("Streams over TCP", with -> new StreamSection(with, false)),
  MAPPED("Streams on the datanode's host", with -> new StreamSection(with, true)),
  MEMORY("Memory and allocation of servers", MemorySection::new);

  private final String title;
  private final Function<Comparison, Section> factory;

  Part(String title, Function<Comparison, Section> factory) {
    this.title = title;
    this.factory = factory;
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

  /** Makes the section. */
  Section section(Comparison with) {
    return factory.apply(with);
  }

  /** All names. */
  static List<String> words() {
    return Arrays.stream(values()).map(Part::word).toList();
  }
}
