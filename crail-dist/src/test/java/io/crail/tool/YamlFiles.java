/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** What files of YAML and JSON say: maps, lists and values. */
public final class YamlFiles {
  private YamlFiles() {}

  /** The documents of a file; a key that is there twice is an error. */
  public static List<Object> documents(Path yaml) throws IOException {
    List<Object> documents = new ArrayList<>();
    LoaderOptions options = new LoaderOptions();
    options.setAllowDuplicateKeys(false);
    new Yaml(new SafeConstructor(options)).loadAll(Files.readString(yaml)).forEach(documents::add);
    assertFalse(documents.isEmpty(), yaml.toString());
    return documents;
  }

  /** The value at a path of names and indexes, which has to be there. */
  public static Object at(Object value, String path) {
    Object found = value;
    for (String step : path.split("/")) {
      found =
          found instanceof List<?> list
              ? list.get(Integer.parseInt(step))
              : ((Map<?, ?>) found).get(step);
      assertTrue(found != null, () -> step + " of " + path + " is not in " + value);
    }
    return found;
  }

  /** The value there as text. */
  public static String text(Object value, String path) {
    return at(value, path).toString();
  }

  /** The list there, which is not empty. */
  public static List<?> list(Object value, String path) {
    List<?> list = (List<?>) at(value, path);
    assertFalse(list.isEmpty(), () -> path + " is empty in " + value);
    return list;
  }
}
