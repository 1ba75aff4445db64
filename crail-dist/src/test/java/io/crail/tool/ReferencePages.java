/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool;

import io.crail.common.config.ApacheKeys;
import io.crail.common.config.ApacheKeys.ApacheKey;
import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigKeys;
import io.crail.common.config.ConfigType;
import io.crail.common.config.Configuration;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.NodeType;
import io.crail.protocol.secret.SecretMessage;
import io.crail.protocol.secret.TicketLogin;
import io.crail.rpc.Frame;
import io.crail.spark.application.SparkKeys;
import io.crail.storage.tcp.DataNodeOperations;
import io.crail.tool.metrics.Metric;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Generates the pages in docs/ that follow from declarations in the code. */
final class ReferencePages {
  private static final String NOTICE =
      "<!-- Generated from the code; 'ci/docs --update' writes it anew. -->\n";

  /** Ends a part of a page of which people write the rest. */
  private static final String END = "<!-- End of what is generated. -->";

  private ReferencePages() {}

  /** {@code docs/configuration.md}. */
  static String configuration() {
    StringBuilder page = new StringBuilder(NOTICE);
    page.append(
        """
        # Configuration

        Every process of a cluster, clients included, reads `$CRAIL_CONF_DIR/crail-site.conf`
        (by default `conf/crail-site.conf`). A line is a key, then spaces or `=`, then the value. `#`
        starts a comment, at the beginning of a line or after white space. `$NAME` and `${NAME}` are
        replaced from the environment, and `$$` stands for one `$`. The file is UTF-8. `bin/crail`
        takes `--set key=value` in addition, and a program sets keys through `CrailConfiguration`.

        For a program, `CrailConfiguration.createConfigurationFromFile()` reads that file, or
        `$CRAIL_HOME/conf/crail-site.conf` if `CRAIL_CONF_DIR` is not set; `new CrailConfiguration()`
        reads none.

        A process refuses an unknown key, a key that is set twice and a bad value, and names file and
        line. Keys of Apache Crail are understood: see [porting-keys.md](porting-keys.md). A program that
        has not all of Crail on its class path accepts the keys of the other parts without a check.
        Keys of the cluster (block size, lease, smallest extent) come from the namenode at the first
        connection, so a client cannot disagree about them.

        The letter case of a key does not matter, wherever it is set. Numbers of bytes may end in `k`, `m`, `g` or `t`
        (powers of 1024), times in `ms`, `s` or `m`.
        """);
    for (ConfigKeys room : Configuration.declarations()) {
      page.append("\n## ").append(room.title()).append("\n\n");
      page.append("| key | type | default | meaning |\n|---|---|---|---|\n");
      for (ConfigKey<?> key : room.keys()) {
        row(
            page,
            "`" + key.name() + "`",
            key.type().label(),
            key.defaultText().isEmpty() ? "(empty)" : "`" + key.defaultText() + "`",
            key.sentence());
      }
    }
    return page.toString();
  }

  /**
   * {@code docs/spark/porting.md}: people write it, except a table.
   *
   * @param page as it is
   */
  static String spark(String page) {
    StringBuilder table = new StringBuilder("| its key | why it is refused |\n|---|---|\n");
    for (SparkKeys.Former key : SparkKeys.FORMER) {
      String why = key.now().replaceAll("\\b(spark|io)(\\.\\w+)+", "`$0`");
      row(table, "`" + key.name() + "`", why);
    }
    return withTable(page, table);
  }

  /**
   * {@code docs/metrics.md}: people write it, except a table.
   *
   * @param page as it is
   */
  static String metrics(String page) {
    StringBuilder table =
        new StringBuilder("| name | type | labels | meaning |\n|---|---|---|---|\n");
    for (Metric metric : Metric.values()) {
      row(
          table,
          "`" + metric.fullName() + "`",
          metric.type().name().toLowerCase(Locale.ROOT),
          String.join(", ", metric.labels()),
          metric.help());
    }
    return withTable(page, table);
  }

  /**
   * {@code docs/porting-keys.md}: people write it, except a table.
   *
   * @param page as it is
   */
  static String porting(String page) {
    StringBuilder table =
        new StringBuilder("| its key | here | what became of it |\n|---|---|---|\n");
    for (ApacheKey key : ApacheKeys.ALL) {
      if (!key.now().isEmpty()) {
        String here = "no effect";
        if (!key.key().isEmpty()) {
          here = "`" + key.key() + "`";
        } else if (key.others() == ApacheKeys.Others.REFUSED) {
          here = "refused";
          for (String harmless : key.words().keySet()) {
            here += harmless.isEmpty() ? ", unless empty" : ", except `" + harmless + "`";
          }
        }
        String now = key.now().replaceAll("\\b(crail|io)(\\.\\w+)+(=\\S+[^\\s,])?", "`$0`");
        row(table, "`" + key.name() + "`", here, now);
      }
    }
    String same =
        ApacheKeys.ALL.stream()
            .filter(key -> key.now().isEmpty())
            .map(key -> "`" + key.name() + "`")
            .collect(Collectors.joining(",\n"));
    table.append("\nThese keys mean the same:\n").append(same).append(".\n");
    return withTable(page, table);
  }

  private static String withTable(String page, StringBuilder table) {
    int begin = page.indexOf(NOTICE) + NOTICE.length();
    int end = page.indexOf(END, begin);
    return page.substring(0, begin) + "\n" + table + "\n" + page.substring(end);
  }

  /** The list of all keys, by which each part of Crail knows those of the others, and secrets. */
  static String keys() {
    TreeSet<String> names = new TreeSet<>();
    for (ConfigKeys room : Configuration.declarations()) {
      for (ConfigKey<?> key : room.keys()) {
        names.add(key.name() + (key.type() == ConfigType.SECRET ? " " + key.type().label() : ""));
      }
    }
    return String.join("\n", names) + "\n";
  }

  /** {@code docs/wire-protocol.md}. */
  static String wireProtocol() {
    StringBuilder page = new StringBuilder(NOTICE);
    page.append(
        """
        # Wire protocol

        Little-endian everywhere. Text is UTF-8. A connection carries frames in both directions: a
        client sends requests, the server answers each of them once, in any order.

        ## Frame

        ```text
         0              4      6   7   8                      16
        +--------------+------+---+---+----------------------+----------
        | length       | code | v | k | correlation id       | body ...
        +--------------+------+---+---+----------------------+----------
        ```

        | field | type | meaning |
        |---|---|---|
        | length | u32 | bytes of the frame, these 16 included |
        | code | u16 | the operation in a request, the error code in a response |
        | v | u8 | version of the protocol |
        | k | u8 | kind: 0 request, 1 response |
        | correlation id | u64 | chosen by the client, unique among its unanswered requests, returned unchanged |

        """);
    page.append("The version is ").append(Frame.VERSION);
    page.append(". A frame of the metadata protocol has at most ").append(Frame.MAX_LENGTH);
    page.append(
        " bytes. A response\nwhose code is not 0 carries a detail (path, node id, address)");
    page.append(" of at most ").append(Frame.MAX_DETAIL_LENGTH);
    page.append(
        """
         bytes.
        The first request of a connection is the hello of its protocol. A frame with a bad header, a
        message whose length does not follow from its own counts, and an unknown operation end the
        connection. When a client has lost its connection, it may send a request again, under the same
        correlation id. The answers to operations that change something are remembered: a request that
        comes again gets the first answer, and is not served again. This ends when the client sends
        another request in the same slot, or does not come back within the time of its hello. If the
        answer to a hello tells another incarnation, such requests must not be sent again.
        Offsets and widths below are in bytes; tails follow the fixed part of a message in the order
        given.

        ## Operations of a namenode
        """);
    Map<String, Layout> parts = new TreeMap<>();
    operations(page, NameNodeOperations.all(), parts);
    page.append(
        """

        ## Operations of a TCP datanode

        Data stand after the fixed part of a message and count to the length of its frame, which may be
        longer than 65536 bytes here. Requests of a connection are answered in their order. Data that
        were sent straight from a region are followed by a second response with the same correlation
        id and no body: its code says whether they belonged to the generation until the last of them
        had left.
        """);
    operations(page, DataNodeOperations.all(), parts);
    page.append("\n## Logins\n\n");
    page.append(SecretMessage.DOCUMENTATION);
    layout(page, SecretMessage.LAYOUT);
    page.append('\n').append(TicketLogin.DOCUMENTATION);
    page.append("\n## Parts of messages\n");
    parts.values().forEach(part -> layout(page, part));
    page.append("\n## Node types\n\n| number | type |\n|---|---|\n");
    for (NodeType type : NodeType.values()) {
      row(page, String.valueOf(type.number()), type.name());
    }
    page.append("\n## Error codes\n\n| number | name | text | exception |\n|---|---|---|---|\n");
    for (ErrorCode code : ErrorCode.values()) {
      row(
          page,
          String.valueOf(code.number()),
          code.name(),
          code.text(),
          code == ErrorCode.OK ? "" : "`" + code.exception("").getClass().getSimpleName() + "`");
    }
    return page.toString();
  }

  private static void operations(
      StringBuilder page, Map<Integer, Operation<?, ?>> table, Map<String, Layout> parts) {
    page.append("\n| number | name | remembered | right | routed | what it does |\n");
    page.append("|---|---|---|---|---|---|\n");
    for (Operation<?, ?> operation : table.values()) {
      row(
          page,
          String.valueOf(operation.number()),
          "[" + operation.name() + "](#" + operation.name() + ")",
          operation.changes() ? "yes" : "no",
          operation.right().name().toLowerCase(Locale.ROOT),
          operation.routing().label(),
          operation.sentence());
    }
    for (Operation<?, ?> operation : table.values()) {
      page.append("\n### ").append(operation.name()).append('\n');
      layout(page, operation.request().layout());
      layout(page, operation.response().layout());
      collectParts(operation.request().layout(), parts);
      collectParts(operation.response().layout(), parts);
    }
  }

  private static void layout(StringBuilder page, Layout layout) {
    page.append("\n**").append(layout.name()).append("**: ");
    if (layout.fields().isEmpty()) {
      page.append("no bytes.\n");
      return;
    }
    page.append(layout.fixedLength())
        .append(layout.tails().isEmpty() ? " bytes" : " bytes and tails");
    page.append("\n\n").append("| offset | width | field | meaning |\n|---|---|---|---|\n");
    for (Layout.Field field : layout.fields()) {
      row(
          page,
          String.valueOf(field.offset()),
          String.valueOf(field.width()),
          field.name(),
          field.meaning());
    }
    for (Layout.Tail tail : layout.tails()) {
      row(
          page,
          "tail",
          tail.elementLength() == 1
              ? tail.countField().name()
              : tail.countField().name() + " x " + tail.elementLength(),
          tail.name(),
          tail.meaning() + "; " + tail.minCount() + " to " + tail.maxCount());
    }
  }

  /** The layouts that a message is made of, at any depth. */
  private static void collectParts(Layout layout, Map<String, Layout> parts) {
    for (Codec<?> part : layout.parts()) {
      parts.put(part.layout().name(), part.layout());
      collectParts(part.layout(), parts);
    }
  }

  private static void row(StringBuilder page, String... cells) {
    page.append('|');
    for (String cell : cells) {
      page.append(' ').append(cell.replace("|", "\\|")).append(" |");
    }
    page.append('\n');
  }
}
