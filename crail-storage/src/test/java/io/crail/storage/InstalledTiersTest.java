/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.common.config.Configuration;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests which tiers are found on a class path with good and bad ones. */
class InstalledTiersTest {
  @TempDir private Path directory;

  /** A tier that can be found. */
  public static class Good implements StorageTier {
    @Override
    public String name() {
      return "good";
    }

    @Override
    public StorageServer createServer(Configuration configuration, List<String> arguments) {
      throw new AssertionError();
    }

    @Override
    public StorageClient createClient(StorageClient.Context context) {
      throw new AssertionError();
    }
  }

  /** Has the name of the other one. */
  public static final class Twin extends Good {}

  /** Cannot be created. */
  public static final class Broken extends Good {
    public Broken() {
      throw new NoClassDefFoundError("a part of the tier");
    }
  }

  @Test
  void aTierThatCannotBeUsedDoesNotHideTheOthers() throws Exception {
    Path services = directory.resolve("META-INF/services/" + StorageTier.class.getName());
    Files.createDirectories(services.getParent());
    Files.write(
        services,
        List.of(
            "io.crail.NoSuchTier",
            Broken.class.getName(),
            Good.class.getName(),
            Twin.class.getName()));
    URL[] path = {directory.toUri().toURL()};
    try (URLClassLoader loader = new URLClassLoader(path, StorageTier.class.getClassLoader())) {
      List<StorageTier> found =
          List.copyOf(InstalledTiers.all(StorageTier.class, loader, StorageTier::name));
      assertEquals(List.of(Good.class), found.stream().map(Object::getClass).toList());
    }
  }
}
