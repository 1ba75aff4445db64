/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Each native method has its function in the library, and the library exports nothing else. */
class NativeMethodsTest {
  private static final String DISPATCHER = "com.ibm.disni.verbs.impl.NativeDispatcher";
  private static final String AFFINITY = "com.ibm.disni.util.NativeAffinity";
  private static final String VERBS = "io.crail.verbs.Verbs";

  private static List<Method> nativeMethods(String className) throws ClassNotFoundException {
    // Without initialisation, which would load the library.
    Class<?> type = Class.forName(className, false, NativeMethodsTest.class.getClassLoader());
    return Arrays.stream(type.getDeclaredMethods())
        .filter(method -> Modifier.isNative(method.getModifiers()))
        .collect(Collectors.toList());
  }

  private static String symbol(Method method) {
    return "Java_"
        + (method.getDeclaringClass().getName() + "." + method.getName())
            .replace("_", "_1")
            .replace('.', '_');
  }

  private static TreeSet<String> exported() throws IOException, InterruptedException {
    Process nm;
    try {
      nm =
          new ProcessBuilder("nm", "-D", "--defined-only", Library.file().toString())
              .redirectErrorStream(true)
              .start();
    } catch (IOException e) {
      assumeTrue(false, "nm is not installed");
      throw e;
    }
    String output = new String(nm.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(nm.waitFor(20, TimeUnit.SECONDS) && nm.exitValue() == 0, output);
    return output
        .lines()
        .map(line -> line.substring(line.lastIndexOf(' ') + 1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void theJarOfDisniIsTheOneThatTheLibraryWasWrittenFor() throws Exception {
    assertEquals(48, nativeMethods(DISPATCHER).size());
    assertEquals(2, nativeMethods(AFFINITY).size());
  }

  @Test
  void eachNativeMethodIsExportedAndNothingElse() throws Exception {
    TreeSet<String> wanted = new TreeSet<>();
    for (String className : List.of(DISPATCHER, AFFINITY, VERBS)) {
      Set<String> symbols =
          nativeMethods(className).stream()
              .map(NativeMethodsTest::symbol)
              .collect(Collectors.toSet());
      // For an overloaded name, the symbol would have to contain the signature.
      assertEquals(nativeMethods(className).size(), symbols.size());
      wanted.addAll(symbols);
    }
    TreeSet<String> exported = exported();
    TreeSet<String> missing = new TreeSet<>(wanted);
    missing.removeAll(exported);
    exported.removeAll(wanted);
    assertEquals(Set.of(), missing, "not in the library, or it is old (make -C crail-verbs)");
    assertEquals(Set.of(), exported, "not in Java");
  }
}
