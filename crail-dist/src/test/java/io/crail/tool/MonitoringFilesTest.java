/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool;

import static io.crail.tool.YamlFiles.at;
import static io.crail.tool.YamlFiles.documents;
import static io.crail.tool.YamlFiles.list;
import static io.crail.tool.YamlFiles.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.bench.report.JsonInput;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The examples for Prometheus and Grafana have the shape that these read. That the metrics exist is
 * a matter of MetricsSystemTest.
 */
@Tag("once")
class MonitoringFilesTest {
  private static final Path EXAMPLES = Path.of("..", "conf", "monitoring");
  private static final String TIME = "[0-9]+[smhd]";

  private static Object yaml(String file) throws IOException {
    return documents(EXAMPLES.resolve(file)).get(0);
  }

  /** Prometheus refuses a file with a field that it does not know. */
  private static void assertFields(Object value, Set<String> known) {
    Set<?> unknown = new HashSet<>(((Map<?, ?>) value).keySet());
    unknown.removeAll(known);
    assertEquals(Set.of(), unknown, value::toString);
  }

  /** True when each bracket and quote of an expression is closed, in the right order. */
  private static boolean isClosed(String expression) {
    Deque<Character> open = new ArrayDeque<>();
    for (char c : expression.toCharArray()) {
      if (open.contains('"')) {
        if (c == '"') {
          open.pop();
        }
      } else if ("([{\"".indexOf(c) >= 0) {
        open.push(c);
      } else if (")]}".indexOf(c) >= 0
          && (open.isEmpty() || "([{".indexOf(open.pop()) != ")]}".indexOf(c))) {
        return false;
      }
    }
    return open.isEmpty();
  }

  private static void assertExpression(Object owner) {
    String expression = text(owner, "expr");
    assertFalse(expression.isBlank(), owner::toString);
    assertTrue(isClosed(expression), expression);
  }

  @Test
  void unclosedBlocksAreFound() {
    for (String wrong : List.of("sum(a", "a)", "rate(a[5m)]", "a{b=\"c}", "{a=\"b\"", "a]")) {
      assertFalse(isClosed(wrong), wrong);
    }
    assertTrue(isClosed("sum by (a) (rate(b{c=\"(]\"}[5m])) > 0"));
  }

  @Test
  void alertsAreRulesOfPrometheus() throws IOException {
    Object alerts = yaml("crail-alerts.yml");
    assertFields(alerts, Set.of("groups"));
    Set<String> names = new HashSet<>();
    for (Object group : list(alerts, "groups")) {
      assertFields(group, Set.of("name", "rules", "interval"));
      assertFalse(text(group, "name").isBlank());
      for (Object rule : list(group, "rules")) {
        assertFields(rule, Set.of("alert", "expr", "for", "labels", "annotations"));
        assertTrue(text(rule, "alert").matches("Crail[A-Za-z]+"), rule::toString);
        assertTrue(names.add(text(rule, "alert")), rule::toString);
        assertExpression(rule);
        // None means at once.
        Object time = ((Map<?, ?>) rule).get("for");
        assertTrue(time == null || time.toString().matches(TIME), rule::toString);
        String summary = text(rule, "annotations/summary");
        String plain = summary.replaceAll("\\{\\{ \\$(value|labels\\.[a-z]+) }}", "");
        assertFalse(plain.isBlank() || plain.matches(".*[{}$].*"), summary);
      }
    }
  }

  @Test
  void prometheusFindsTheServersAndTheAlerts() throws IOException {
    Object configuration = yaml("prometheus.yml");
    assertFields(configuration, Set.of("scrape_configs", "rule_files"));
    for (Object job : list(configuration, "scrape_configs")) {
      assertFields(job, Set.of("job_name", "static_configs"));
      assertTrue(
          text(yaml("crail-alerts.yml"), "groups/0/rules/0/expr")
              .contains("job=\"" + text(job, "job_name") + "\""),
          job::toString);
      for (Object servers : list(job, "static_configs")) {
        assertFields(servers, Set.of("targets"));
        for (Object target : list(servers, "targets")) {
          assertTrue(target.toString().matches("[a-z0-9]+:[0-9]+"), target::toString);
        }
      }
    }
    for (Object file : list(configuration, "rule_files")) {
      assertTrue(Files.exists(EXAMPLES.resolve(file.toString())), file::toString);
    }
  }

  @Test
  void theDashboardHasPanelsWithQueries() throws Exception {
    Object dashboard = JsonInput.parse(Files.readString(EXAMPLES.resolve("crail-dashboard.json")));
    assertFalse(text(dashboard, "title").isBlank());
    assertFalse(text(dashboard, "uid").isBlank());
    String source = "${" + text(dashboard, "templating/list/0/name") + "}";
    Set<Object> ids = new HashSet<>();
    for (Object panel : list(dashboard, "panels")) {
      assertTrue(ids.add(at(panel, "id")), panel::toString);
      assertFalse(text(panel, "title").isBlank(), panel::toString);
      assertFalse(text(panel, "type").isBlank(), panel::toString);
      assertEquals(source, at(panel, "datasource/uid"));
      double right = (double) at(panel, "gridPos/x") + (double) at(panel, "gridPos/w");
      assertTrue(right <= 24 && (double) at(panel, "gridPos/h") > 0, panel::toString);
      Set<Object> queries = new HashSet<>();
      for (Object target : list(panel, "targets")) {
        assertTrue(queries.add(at(target, "refId")), panel::toString);
        assertEquals(source, at(target, "datasource/uid"));
        assertExpression(target);
      }
    }
  }
}
