/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
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
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example of docs/cache.md runs with the configuration above it, and prints what it says. */
@Tag("once")
class CachePageTest {
  private static final Pattern PRINTED = Pattern.compile("print(?:ln)?\\(.*\\); // (.*)");

  private static final String IMPORTS =
      """
      import java.net.URI;
      import java.nio.charset.StandardCharsets;
      import org.apache.hadoop.conf.Configuration;
      import org.apache.hadoop.fs.*;
      """;

  @TempDir Path directory;

  private static String example(String language) throws IOException {
    Matcher found =
        Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL)
            .matcher(Files.readString(Path.of("../docs/cache.md")));
    assertTrue(found.find(), language);
    return found.group(1);
  }

  private void compile(String example, Path classes) {
    String text =
        IMPORTS
            + "public class Example { public static void run(Configuration hadoop)"
            + " throws Exception {\n"
            + example
            + "}}";
    JavaFileObject source =
        new SimpleJavaFileObject(URI.create("string:///Example.java"), JavaFileObject.Kind.SOURCE) {
          @Override
          public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
          }
        };
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter said = new StringWriter();
    String path =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    List<String> options = List.of("-d", classes.toString(), "-cp", path);
    assertTrue(
        compiler.getTask(said, null, null, options, null, List.of(source)).call(), said::toString);
  }

  @Test
  void theExamplePrintsWhatItSays() throws Exception {
    String example = example("java");
    Path classes = Files.createDirectory(directory.resolve("classes"));
    compile(example, classes);
    Path slow = Files.createDirectory(directory.resolve("slow"));
    PrintStream usual = System.out;
    try (CacheCluster cluster = new CacheCluster(slow, 1);
        URLClassLoader loader = new URLClassLoader(new URL[] {classes.toUri().toURL()})) {
      Configuration hadoop = new Configuration();
      String address = cluster.configuration().get("crail.namenode.address");
      String shown =
          example("xml")
              .replace("crail://localhost:9060", address)
              .replace("hdfs://namenode:9000/logs", slow.toUri().toString());
      hadoop.addResource(new ByteArrayInputStream(shown.getBytes(StandardCharsets.UTF_8)));
      hadoop.set("fs.crail.site.file", "");
      hadoop.set("crail.cache.timeout", "60s");
      hadoop.set("crail.cache.statusage", "10m");
      ByteArrayOutputStream printed = new ByteArrayOutputStream();
      System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
      try {
        loader.loadClass("Example").getMethod("run", Configuration.class).invoke(null, hadoop);
      } finally {
        System.setOut(usual);
      }
      List<String> said = printed.toString(StandardCharsets.UTF_8).lines().toList();
      // The line in the loop is printed three times.
      List<String> expected =
          PRINTED.matcher(example).results().map(line -> line.group(1)).toList();
      assertEquals(List.of(expected.get(0), expected.get(0), expected.get(0)), said.subList(0, 3));
      assertEquals(expected.subList(1, expected.size()), said.subList(3, said.size()));
    }
  }
}
