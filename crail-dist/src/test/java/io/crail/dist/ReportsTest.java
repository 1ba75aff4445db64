/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code bin/test} makes of reports: enough to diagnose a failure from its output alone. */
class ReportsTest {
  private static final Path PROGRAM = Path.of("../libexec/reports.awk");

  @TempDir Path directory;

  @BeforeEach
  void writeReport() throws IOException {
    String deep = "\tat io.crail.Some.deep(Some.java:1)\n".repeat(20);
    Files.writeString(
        directory.resolve("TEST-Some.xml"),
        """
        <testsuite name="io.crail.SomeTest" tests="7" errors="1" skipped="4" failures="2">
          <testcase name="passes" classname="io.crail.SomeTest" time="0.1"/>
          <testcase name="fails(String)[1]" classname="io.crail.SomeTest" time="0.1">
            <failure message="expected: &lt;a&gt;" type="E"><![CDATA[E: expected: <a>
        but was: <x ]]]]><![CDATA[> y>

        \tat org.junit.jupiter.api.Assertions.fail(Assertions.java:1)
        \tat io.crail.SomeTest.fails(SomeTest.java:7)
        \tat java.base/java.lang.reflect.Method.invoke(Method.java:569)
        Caused by: java.io.IOException: why
        ]]></failure>
            <system-out><![CDATA[noise
        ]]></system-out>
          </testcase>
          <testcase name="" classname="io.crail.SomeTest" time="0.1">
            <error message="a &quot;b&quot; &amp; c" type="E"/>
          </testcase>
          <testcase name="long" classname="io.crail.SomeTest" time="0.1">
            <error message="m" type="E"><![CDATA[E: m
        %s]]></error>
          </testcase>
          <testcase name="left" classname="io.crail.SomeTest" time="0.0">
            <skipped type="T"><![CDATA[org.opentest4j.TestAbortedException: Assumption failed: no moon
        \tat io.crail.SomeTest.left(SomeTest.java:9)
        ]]></skipped>
          </testcase>
          <testcase name="right" classname="io.crail.SomeTest" time="0.0">
            <skipped message="no &lt;sun&gt;"/>
          </testcase>
          <testcase name="up" classname="io.crail.SomeTest" time="0.0">
            <skipped message="no &lt;sun&gt;"/>
          </testcase>
          <testcase name="down" classname="io.crail.SomeTest" time="0.0">
            <skipped/>
          </testcase>
        </testsuite>
        """
            .formatted(deep));
  }

  private String show(String what) throws Exception {
    Process process =
        new ProcessBuilder(
                "awk",
                "-v",
                "show=" + what,
                "-v",
                "below=" + directory,
                "-f",
                PROGRAM.toString(),
                directory.resolve("TEST-Some.xml").toString())
            .redirectErrorStream(true)
            .start();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), text);
    return text;
  }

  @Test
  void failuresAreShownWithTheFirstLinesOfWhy() throws Exception {
    assertEquals(
        """
          io.crail.SomeTest.fails(String)[1]
            TEST-Some.xml
              E: expected: <a>
              but was: <x ]]> y>
                at io.crail.SomeTest.fails(SomeTest.java:7)
              Caused by: java.io.IOException: why
          io.crail.SomeTest
            TEST-Some.xml
              a "b" & c
          io.crail.SomeTest.long
            TEST-Some.xml
              E: m
        """
            + "        at io.crail.Some.deep(Some.java:1)\n".repeat(14)
            + "      (6 more lines in the report)\n",
        show("failures"));
  }

  @Test
  void skipsAreShownByReason() throws Exception {
    assertEquals(
        """
        skipped: io.crail.SomeTest.left (no moon)
        skipped: 2 tests (no <sun>)
        skipped: io.crail.SomeTest.down (no reason given)
        """,
        show("skips"));
  }
}
