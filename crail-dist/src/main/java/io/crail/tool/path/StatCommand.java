/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.path;

import io.crail.CrailAttributes;
import io.crail.CrailBlockLocation;
import io.crail.CrailKeyValue;
import io.crail.CrailNode;
import io.crail.common.ByteText;
import io.crail.common.Printable;
import io.crail.common.error.ErrorCode;
import io.crail.compound.CompoundOperation;
import io.crail.compound.CompoundResult;
import io.crail.tool.command.Example;
import io.crail.tool.command.UsageException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.apache.commons.cli.CommandLine;

/** Shows all that is known of nodes. */
public final class StatCommand extends PathCommand {
  /** Places are asked for in parts, so that a large file takes no memory here. */
  private static final long PART_BYTES = 1L << 30;

  /** Longer values of attributes are not shown. */
  private static final int LONGEST_TEXT = 60;

  private static final CompoundOperation EXTRAS =
      CompoundOperation.builder()
          .readAttributes()
          .readLifetime()
          .readChildrenLifetime()
          .readUsage()
          .orGoOn()
          .build();

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss.SSS xxx", Locale.ROOT)
          .withZone(ZoneId.systemDefault());

  /** Declares its options. */
  public StatCommand() {
    super(
        "stat",
        "shows type, size, owner, times and places of nodes",
        "<path>...",
        """
        Places are the datanodes that have the bytes, with their storage class and how much each has.
        Nodes that lists of steps have changed have a version, an epoch and perhaps attributes. The
        lifetime is shown where it has a limit.
        """);
  }

  @Override
  public List<Example> examples() {
    return List.of(new Example("crail stat /data/part-0", "all that is known of a file"));
  }

  @Override
  void check(CommandLine line) throws UsageException {
    atLeast(1, "a path", line);
  }

  @Override
  void execute(PathRun run, CommandLine line) throws Exception {
    for (String path : line.getArgList()) {
      run.attempt(path, () -> show(run, run.find(path)));
    }
  }

  private static void show(PathRun run, CrailNode node) throws Exception {
    run.print(Printable.line(node.getPath()));
    row(run, "type", NodeTypes.word(node.getType()));
    if (node.getType().isContainer()) {
      row(run, "children", String.valueOf(node.asContainer().files()));
      if (node.asContainer().isSpread()) {
        row(run, "spread", "each namenode has a share of the children");
      }
    } else {
      long size = node.getCapacity();
      row(run, "size", size < 1024 ? size + " B" : ByteText.of(size) + " (" + size + " B)");
    }
    CrailAttributes attributes = node.getAttributes();
    row(run, "owner", attributes.owner() + ":" + attributes.group());
    row(run, "permissions", permissions(attributes.permissions()));
    row(run, "changed", time(attributes.modificationTime()));
    row(run, "accessed", time(attributes.accessTime()));
    if (node.getType().isKeyValue()) {
      CrailKeyValue value = node.asKeyValue();
      row(
          run,
          "value",
          value.isBeingPut() ? "is being put" : value.isAbandoned() ? "none" : "there");
    }
    if (!node.getPath().equals("/")) {
      showExtras(run, node);
    }
    for (Map.Entry<String, Long> place : places(node).entrySet()) {
      row(run, "place", place.getKey() + ", " + ByteText.of(place.getValue()));
    }
  }

  /** What compound operations have given it. */
  private static void showExtras(PathRun run, CrailNode node) throws Exception {
    CompoundResult extras = run.store().operate(node.getPath(), EXTRAS).get();
    if (extras.isSuccess() && extras.number(1) >= 0) {
      row(run, "lifetime", ExpireCommand.text(extras.number(1)));
    }
    if (extras.isSuccess() && extras.number(2) >= 0) {
      boolean sinceAccess = extras.bytes(2).length > 0;
      String since = sinceAccess ? " after the last access" : "";
      row(
          run,
          "children",
          "each new one ends in " + ExpireCommand.seconds(extras.number(2)) + since);
    }
    if (extras.isSuccess() && extras.code(3) == ErrorCode.OK) {
      row(run, "quota", QuotaCommand.text(extras.usage(3)));
    }
    if (!extras.isSuccess() || extras.version() == 0) {
      return;
    }
    row(run, "version", String.valueOf(extras.version()));
    row(run, "epoch", String.valueOf(extras.epoch()));
    for (Map.Entry<String, byte[]> each : extras.attributes(0).entrySet()) {
      row(run, "attribute", each.getKey() + " = " + text(each.getValue()));
    }
  }

  private static String text(byte[] value) {
    String text = new String(value, StandardCharsets.UTF_8);
    return value.length <= LONGEST_TEXT && Printable.isPrintable(text)
        ? text
        : "<" + value.length + " bytes>";
  }

  private static void row(PathRun run, String name, String value) throws Exception {
    run.print(String.format(Locale.ROOT, "  %-12s %s", name, Printable.line(value)));
  }

  private static String time(long millis) {
    return TIME.format(Instant.ofEpochMilli(millis));
  }

  private static String permissions(int bits) {
    StringBuilder text = new StringBuilder();
    for (int i = 8; i >= 0; i--) {
      text.append((bits >> i & 1) == 0 ? '-' : "xwr".charAt(i % 3));
    }
    return text + String.format(Locale.ROOT, " (%04o)", bits);
  }

  /** The bytes at each datanode and class. */
  private static Map<String, Long> places(CrailNode node) throws Exception {
    Map<String, Long> bytes = new TreeMap<>();
    long size = node.getCapacity();
    for (long start = 0; start < size; start += PART_BYTES) {
      long length = Math.min(PART_BYTES, size - start);
      for (CrailBlockLocation each : node.getBlockLocations(start, length)) {
        long within =
            Math.min(start + length, each.getOffset() + each.getLength())
                - Math.max(start, each.getOffset());
        String place = each.getNames()[0] + ", class " + each.getStorageClasses()[0];
        bytes.merge(place, within, Long::sum);
      }
    }
    return bytes;
  }
}
