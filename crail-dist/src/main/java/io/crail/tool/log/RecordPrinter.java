/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.log;

import io.crail.bench.report.Json;
import io.crail.common.Printable;
import io.crail.common.error.CrailException;
import io.crail.namenode.LogRecords;
import io.crail.namenode.log.LogReader;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.OptionsCommand;
import io.crail.tool.command.UsageException;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.commons.cli.CommandLine;

/** Prints those records of a log that its user wants, one a line. For one thread. */
final class RecordPrinter implements LogReader.Visitor {
  private static final Set<String> IDS =
      Set.of("id", "parent", "replaces", "heir", "grant", "rootId");
  private static final Set<String> NAMES = Set.of("name", "path");

  /** What is shown as a time. Other fields in milliseconds are times that pass. */
  private static final Set<String> TIMES =
      Set.of("millis", "modifiedMillis", "accessedMillis", "rootMillis");

  /**
   * Which records are wanted.
   *
   * @param kinds names of kinds; empty for all
   * @param id the id that a record must have somewhere; 0 for any
   * @param name the name or path that it must have; null for any
   */
  private record Filter(long from, long to, Set<String> kinds, long id, String name) {}

  private final PrintStream out;
  private final boolean json;
  private final Filter filter;
  private long millis;

  private RecordPrinter(PrintStream out, boolean json, Filter filter) {
    this.out = out;
    this.json = json;
    this.filter = filter;
  }

  static RecordPrinter of(CommandContext context, CommandLine line) throws UsageException {
    List<String> known = LogRecords.kinds();
    Set<String> kinds = Set.of();
    if (line.hasOption("k")) {
      kinds = Set.of(line.getOptionValue("k").split(","));
      if (!known.containsAll(kinds)) {
        throw OptionsCommand.badValue(
            "k", line.getOptionValue("k"), "must be some of " + String.join(",", known));
      }
    }
    Filter filter =
        new Filter(
            line.hasOption("f") ? number(line, "f", 1) : 1,
            line.hasOption("t") ? number(line, "t", 1) : Long.MAX_VALUE,
            kinds,
            line.hasOption("d") ? number(line, "d", 1) : 0,
            line.getOptionValue("n"));
    return new RecordPrinter(context.out(), line.hasOption("j"), filter);
  }

  /** The value of an option as a large number. */
  static long number(CommandLine line, String letter, long least) throws UsageException {
    String text = line.getOptionValue(letter);
    try {
      long number = Long.parseLong(text);
      if (number >= least) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Falls through to the one message below.
    }
    throw OptionsCommand.badValue(letter, text, "must be a whole number from " + least);
  }

  long from() {
    return filter.from();
  }

  long to() {
    return filter.to();
  }

  @Override
  public void written(long writtenMillis, long nanos) {
    millis = writtenMillis;
  }

  @Override
  public void record(long number, int kind, ByteBuffer bytes, int offset, int length)
      throws IOException {
    String name;
    Map<String, Object> fields;
    try {
      name = LogRecords.kind(kind);
      if (!filter.kinds().isEmpty() && !filter.kinds().contains(name)) {
        return;
      }
      fields = LogRecords.fields(kind, bytes, offset, length);
    } catch (CrailException e) {
      throw new IOException("record " + number + ": " + e.getMessage(), e);
    }
    if ((filter.id() == 0 || has(fields, IDS, filter.id()))
        && (filter.name() == null || has(fields, NAMES, filter.name()))) {
      print(number, name, fields);
    }
  }

  private static boolean has(Map<?, ?> fields, Set<String> names, Object wanted) {
    for (Map.Entry<?, ?> each : fields.entrySet()) {
      boolean isHere =
          each.getValue() instanceof Map<?, ?> below
              ? has(below, names, wanted)
              : names.contains(each.getKey()) && wanted.equals(each.getValue());
      if (isHere) {
        return true;
      }
    }
    return false;
  }

  private void print(long number, String kind, Map<String, Object> fields) {
    String time = Instant.ofEpochMilli(millis).toString();
    if (json) {
      Map<String, Object> line = new LinkedHashMap<>();
      line.put("number", number);
      line.put("time", time);
      line.put("kind", kind);
      line.put("fields", fields);
      out.print(Json.line(line));
      return;
    }
    StringBuilder text = new StringBuilder();
    text.append(number).append(' ').append(time).append(' ').append(kind);
    append(text, fields);
    out.println(Printable.line(text.toString()));
  }

  /** Fields that are zero, false or empty are left out. */
  private static void append(StringBuilder text, Map<?, ?> fields) {
    for (Map.Entry<?, ?> each : fields.entrySet()) {
      Object value = each.getValue();
      if (!isNothing(value)) {
        text.append(' ').append(each.getKey()).append('=');
        if (TIMES.contains(each.getKey())) {
          text.append(Instant.ofEpochMilli(((Number) value).longValue()));
        } else {
          append(text, value);
        }
      }
    }
  }

  private static void append(StringBuilder text, Object value) {
    if (value instanceof Map<?, ?> map) {
      StringBuilder inner = new StringBuilder();
      append(inner, map);
      text.append('{').append(inner.toString().strip()).append('}');
    } else if (value instanceof List<?> list) {
      text.append('[');
      for (int i = 0; i < list.size(); i++) {
        text.append(i == 0 ? "" : ", ");
        append(text, list.get(i));
      }
      text.append(']');
    } else if (value instanceof String) {
      text.append('"').append(value).append('"');
    } else {
      text.append(value.equals(Long.MAX_VALUE) ? "max" : value);
    }
  }

  private static boolean isNothing(Object value) {
    return value instanceof Number number && number.longValue() == 0
        || Boolean.FALSE.equals(value)
        || value instanceof List<?> list && list.isEmpty()
        || "".equals(value);
  }
}
