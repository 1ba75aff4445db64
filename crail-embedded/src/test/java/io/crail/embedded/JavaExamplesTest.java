/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.StringWriter;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The examples of the documentation compile, run, and print the output shown beside them. */
class JavaExamplesTest {
  private static final Pattern EXAMPLE = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
  private static final Pattern PAGE = Pattern.compile("\\]\\((\\w+\\.md)\\)");
  private static final Pattern PRINTED = Pattern.compile("println\\(.*\\); // (.*)");

  private static final String IMPORTS =
      """
      import io.crail.*;
      import io.crail.common.error.*;
      import io.crail.compound.*;
      import io.crail.conf.*;
      import io.crail.embedded.*;
      import io.crail.job.*;
      import io.crail.memory.*;
      import io.crail.range.*;
      import java.nio.ByteBuffer;
      import java.nio.charset.StandardCharsets;
      import java.time.Duration;
      import java.util.*;
      import java.util.concurrent.*;
      """;

  @TempDir Path classes;

  /** A source file in memory. */
  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String name, String text) {
      super(URI.create("string:///" + name + ".java"), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }

  /** All but whole programs, which a system test builds and runs. */
  private static List<String> examples(String page) throws IOException {
    List<String> examples = new ArrayList<>();
    Matcher matcher = EXAMPLE.matcher(Files.readString(Path.of("..", page)));
    while (matcher.find()) {
      if (!matcher.group(1).contains("public class ")) {
        examples.add(matcher.group(1));
      }
    }
    return examples;
  }

  /** Those of the pages of the API, in the order in which their index has them. */
  private static List<String> examplesOfTheApi() throws IOException {
    List<String> examples = new ArrayList<>();
    Matcher page = PAGE.matcher(Files.readString(Path.of("../docs/java/README.md")));
    while (page.find()) {
      examples.addAll(examples("docs/java/" + page.group(1)));
    }
    examples.addAll(examples("docs/spread.md"));
    examples.addAll(examples("docs/compound.md"));
    examples.addAll(examples("docs/lifetime.md"));
    examples.addAll(examples("docs/jobs.md"));
    examples.addAll(examples("docs/quotas.md"));
    assertFalse(examples.isEmpty());
    return examples;
  }

  /** An example that shows imports needs no others. */
  private void compile(List<String> examples, String parameters) {
    List<JavaFileObject> sources = new ArrayList<>();
    for (int i = 0; i < examples.size(); i++) {
      String example = examples.get(i);
      String head = "public class Example" + i + " { public static void run(" + parameters + ")";
      int body = 0;
      while (example.startsWith("import ", body)) {
        body = example.indexOf('\n', body) + 1;
      }
      String imports = body == 0 ? IMPORTS : example.substring(0, body);
      String text = imports + head + " throws Exception {\n" + example.substring(body) + "}}";
      sources.add(new Source("Example" + i, text));
    }
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter said = new StringWriter();
    String path =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    List<String> options = List.of("-d", classes.toString(), "-cp", path);
    assertTrue(compiler.getTask(said, null, null, options, null, sources).call(), said::toString);
  }

  @Test
  void thoseOfTheReadmeCompile() throws IOException {
    compile(examples("README.md"), "");
  }

  @Test
  void thoseOfTheApiPrintWhatTheySay() throws Exception {
    List<String> examples = examplesOfTheApi();
    compile(examples, "CrailStore store");
    PrintStream usual = System.out;
    // Lists of steps change bytes that the namenode keeps, and some settings let it keep none.
    try (EmbeddedCrail crail =
            EmbeddedCrail.builder().set("crail.namenode.smallvalue", "64k").start();
        CrailStore store = CrailStore.newInstance(CrailConfiguration.of(crail.configuration()));
        URLClassLoader loader = new URLClassLoader(new URL[] {classes.toUri().toURL()})) {
      for (int i = 0; i < examples.size(); i++) {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
          loader.loadClass("Example" + i).getMethod("run", CrailStore.class).invoke(null, store);
        } finally {
          System.setOut(usual);
        }
        List<String> expected =
            PRINTED.matcher(examples.get(i)).results().map(line -> line.group(1)).toList();
        assertEquals(expected, printed.toString(StandardCharsets.UTF_8).lines().toList());
      }
    }
  }
}
