/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.ConfigException;
import io.crail.conf.CrailConfiguration;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("once")
class HadoopConfigurationTest {
  private static final String NAMENODES = "crail.namenode.address";

  @TempDir private Path home;

  private final Configuration hadoop = new Configuration(false);
  private final Map<String, String> environment = new HashMap<>();

  @Test
  void theAuthorityNamesTheNamenodes() throws Exception {
    hadoop.set(NAMENODES, "crail://other:1");
    assertEquals("crail://a:1", read("crail://a:1/x").get(NAMENODES));
    assertEquals("crail://a:1,crail://b:2", read("crail://a:1,b:2/x").get(NAMENODES));
    assertEquals("crail://[::1]:2", read("crail://[::1]:2/x").get(NAMENODES));
  }

  @Test
  void withoutAnAuthorityTheConfigurationDoes() throws Exception {
    hadoop.set(NAMENODES, "crail://other:1");
    assertEquals("crail://other:1", read("crail:///x").get(NAMENODES));
  }

  @Test
  void keysOfHadoopAreStrongerThanTheSiteFile() throws Exception {
    Files.createDirectory(home.resolve("conf"));
    Files.writeString(
        home.resolve("conf/crail-site.conf"), "crail.slicesize 4k\ncrail.buffersize 64k\n");
    environment.put("CRAIL_HOME", home.toString());
    hadoop.set("Crail.Slicesize", "8k");
    hadoop.set("fs.crail.block.size", "1g");

    CrailConfiguration both =
        HadoopConfiguration.of(URI.create("crail://a:1/"), hadoop, "hdp", environment::get);
    assertEquals("8k", both.get("crail.slicesize"));
    assertEquals("64k", both.get("crail.buffersize"));
    assertNull(both.get("fs.crail.block.size"));
    both.toConfiguration();
  }

  /** The names of the sources of a cache are part of its keys, so no list has them. */
  @Test
  void keysThatOnlyACacheReadsAreLeftOut() throws Exception {
    hadoop.set("crail.cache.source.logs", "hdfs://nn:9000/logs");
    hadoop.set("crail.cache.impl.s3a", "some.FileSystem");
    read("crail://a:1/").toConfiguration();
  }

  @Test
  void newNodesBelongToHadoopsUserUnlessTheConfigurationSaysOtherwise() throws Exception {
    assertEquals("hdp", read("crail://a:1/").get("crail.user"));
    hadoop.set("crail.user", "somebody");
    assertEquals("somebody", read("crail://a:1/").get("crail.user"));
  }

  @Test
  void theSiteFileSaysNothingOfHadoopsUser() throws Exception {
    Path site = Files.writeString(home.resolve("site.conf"), "crail.user root-owner\n");
    hadoop.set("fs.crail.site.file", site.toString());
    assertEquals("hdp", read("crail://a:1/").get("crail.user"));
    hadoop.set("crail.user", "somebody");
    assertEquals("somebody", read("crail://a:1/").get("crail.user"));
  }

  @Test
  void aSiteFileThatIsNotThereIsNamed() {
    environment.put("CRAIL_HOME", home.toString());
    ConfigException missing =
        assertThrows(
            ConfigException.class,
            () ->
                HadoopConfiguration.of(
                    URI.create("crail://a:1/"), hadoop, "hdp", environment::get));
    assertTrue(missing.getMessage().contains("crail-site.conf"), missing.getMessage());
  }

  @Test
  void theKeyThenTheDirectoryThenTheHomeSayWhereTheSiteFileIs() throws Exception {
    Files.createDirectory(home.resolve("conf"));
    Files.writeString(home.resolve("conf/crail-site.conf"), "crail.slicesize 4k\n");
    environment.put("CRAIL_HOME", home.toString());
    assertEquals("4k", slice());
    Files.writeString(home.resolve("crail-site.conf"), "crail.slicesize 8k\n");
    environment.put("CRAIL_CONF_DIR", home.toString());
    assertEquals("8k", slice());
    Path other = Files.writeString(home.resolve("other.conf"), "crail.slicesize 16k\n");
    hadoop.set("fs.crail.site.file", other.toString());
    assertEquals("16k", slice());
    hadoop.set("fs.crail.site.file", "");
    assertNull(slice());
  }

  private String slice() throws Exception {
    return HadoopConfiguration.of(URI.create("crail://a:1/"), hadoop, "hdp", environment::get)
        .get("crail.slicesize");
  }

  private CrailConfiguration read(String uri) throws Exception {
    return HadoopConfiguration.of(URI.create(uri), hadoop, "hdp", name -> null);
  }
}
