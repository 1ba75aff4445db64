/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests what {@code bin/test} prints from reports: enough to diagnose a failure from its output
 * alone.
 */
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

  /**
   * What Surefire 3.5 writes when it ran again what failed; the sums in the first line are its own.
   */
  private void writeReportOfSecondRuns() throws IOException {
    Files.writeString(
        directory.resolve("TEST-Again.xml"),
        """
        <testsuite name="io.crail.AgainTest" tests="0" errors="0" skipped="0" failures="0">
          <properties>
            <property name="surefire.rerunFailingTestsCount" value="1"/>
          </properties>
          <testcase name="passes" classname="io.crail.AgainTest" time="0.1"/>
          <testcase name="passes" classname="io.crail.AgainTest" time="0.1"/>
          <testcase name="flaky()[1]" classname="io.crail.AgainTest$Inner" time="0.1">
            <flakyFailure message="m" type="E">
              <stackTrace><![CDATA[E: expected: <a>
        but was: <x ]]]]><![CDATA[> y>
        \tat io.crail.AgainTest.fails(AgainTest.java:7)
        ]]></stackTrace>
              <system-out><![CDATA[
          <testcase name="printed" classname="io.crail.Printed" time="0.1">
            <failure message="printed"/>
        ]]></system-out>
            </flakyFailure>
          </testcase>
          <testcase name="short" classname="io.crail.AgainTest" time="0.1">
            <flakyError message="disk gone" type="E"/>
          </testcase>
          <testcase name="fails" classname="io.crail.AgainTest" time="0.1">
            <failure message="first" type="E"><![CDATA[E: first
        ]]></failure>
            <rerunFailure message="second" type="E">
              <stackTrace><![CDATA[E: second
        ]]></stackTrace>
            </rerunFailure>
          </testcase>
          <testcase name="skippedTheSecondTime" classname="io.crail.AgainTest" time="0.1">
            <failure message="only" type="E"><![CDATA[E: only
        ]]></failure>
            <!-- a skipped test execution in re-run phase -->
          </testcase>
          <testcase name="" classname="io.crail.AgainTest" time="0.1">
            <error message="end of the class" type="E"><![CDATA[E: end of the class
        ]]></error>
          </testcase>
          <testcase name="" classname="io.crail.NeverWellTest" time="0.1">
            <error message="start of the class" type="E"><![CDATA[E: start of the class
        ]]></error>
            <rerunError message="start of the class" type="E"/>
          </testcase>
        </testsuite>
        """);
  }

  private String show(String what) throws Exception {
    return show(what, "TEST-Some.xml");
  }

  private String show(String what, String report) throws Exception {
    Process process =
        new ProcessBuilder(
                "awk",
                "-v",
                "show=" + what,
                "-v",
                "below=" + directory,
                "-f",
                PROGRAM.toString(),
                directory.resolve(report).toString())
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

  @Test
  void testsAreCountedAndNotTheSumsOfTheReport() throws Exception {
    assertEquals("8 1 2 4 0\n", show("counts"));
    writeReportOfSecondRuns();
    assertEquals("7 2 1 0 3\n", show("counts", "TEST-Again.xml"));
  }

  @Test
  void aTestThatPassesTheSecondTimeIsFlaky() throws Exception {
    writeReportOfSecondRuns();
    assertEquals(
        """
        flaky: io.crail.AgainTest$Inner.flaky()[1]
            TEST-Again.xml
              E: expected: <a>
              but was: <x ]]> y>
                at io.crail.AgainTest.fails(AgainTest.java:7)
        flaky: io.crail.AgainTest.short
            TEST-Again.xml
              disk gone
        flaky: io.crail.AgainTest
            TEST-Again.xml
              E: end of the class
        """,
        show("flaky", "TEST-Again.xml"));
  }

  @Test
  void aTestThatFailsTwiceIsAFailure() throws Exception {
    writeReportOfSecondRuns();
    assertEquals(
        """
          io.crail.AgainTest.fails
            TEST-Again.xml
              E: first
          io.crail.AgainTest.skippedTheSecondTime
            TEST-Again.xml
              E: only
          io.crail.NeverWellTest
            TEST-Again.xml
              E: start of the class
        """,
        show("failures", "TEST-Again.xml"));
  }

  @Test
  void runsOverEachTierBelongToTheirClass() throws Exception {
    Files.writeString(
        directory.resolve("TEST-Tiers.xml"),
        """
        <testsuite name="io.crail.TiersTest" tests="0" errors="0" skipped="0" failures="0">
          <properties>
            <property name="surefire.rerunFailingTestsCount" value="1"/>
          </properties>
          <testcase name="passes()[1]" classname="io.crail.TiersTest[1]" time="0.1"/>
          <testcase name="passes()[2]" classname="io.crail.TiersTest[2]" time="0.1"/>
          <testcase name="fails(boolean)[2][1]" classname="io.crail.TiersTest[2]" time="0.1">
            <failure message="over mapped: no" type="E"><![CDATA[E: over mapped: no
        ]]></failure>
            <rerunFailure message="over mapped: no" type="E"/>
          </testcase>
          <testcase name="" classname="io.crail.TiersTest" time="0.1">
            <failure message="over tcp: start" type="E"><![CDATA[E: over tcp: start
        ]]></failure>
          </testcase>
        </testsuite>
        """);
    String report = "TEST-Tiers.xml";
    assertEquals("4 1 0 0 1\n", show("counts", report));
    assertEquals("io.crail.TiersTest\n", show("classes", report));
    assertEquals(
        """
          io.crail.TiersTest.fails(boolean)[2][1]
            TEST-Tiers.xml
              E: over mapped: no
        """,
        show("failures", report));
  }

  @Test
  void reportsOfJUnitsOwnLauncherAreRead() throws Exception {
    Files.writeString(
        directory.resolve("TEST-junit-jupiter.xml"),
        """
        <testsuite name="JUnit Jupiter" tests="4" skipped="1" failures="1" errors="0">
        <testcase name="fails()" classname="io.crail.RdmaTest" time="0.1">
        <failure message="m" type="E"><![CDATA[E: m
        ]]></failure>
        <system-out><![CDATA[
        unique-id: x
        ]]></system-out>
        </testcase>
        <testcase name="flaky()" classname="io.crail.RdmaTest" time="0.1">
        <flakyFailure message="m" type="E"><![CDATA[E: first
        ]]></flakyFailure>
        </testcase>
        <testcase name="left()" classname="io.crail.RdmaTest" time="0.1">
        <skipped><![CDATA[no card]]></skipped>
        </testcase>
        <testcase name="passes()" classname="io.crail.RdmaTest" time="0.1">
        </testcase>
        </testsuite>
        """);
    String report = "TEST-junit-jupiter.xml";
    assertEquals("4 1 0 1 1\n", show("counts", report));
    assertEquals("io.crail.RdmaTest\n", show("classes", report));
    assertEquals("skipped: io.crail.RdmaTest.left() (no card)\n", show("skips", report));
    assertEquals(
        """
        flaky: io.crail.RdmaTest.flaky()
            TEST-junit-jupiter.xml
              E: first
        """,
        show("flaky", report));
  }
}
