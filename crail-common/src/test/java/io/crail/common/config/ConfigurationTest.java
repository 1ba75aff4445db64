/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigurationTest {
  private static final String DARPC =
      "crail.namenode.rpctype org.apache.crail.namenode.rpc.darpc.DaRPCNameNode\n";

  @TempDir Path directory;

  private Configuration load(String text, Map<String, String> environment) throws IOException {
    return Configuration.builder().load(file(text), environment::get).build();
  }

  private Configuration load(String text) throws IOException {
    return load(text, Map.of());
  }

  private Path file(String text) throws IOException {
    return Files.writeString(directory.resolve("site.conf"), text);
  }

  private ConfigException refused(String text) {
    return assertThrows(ConfigException.class, () -> load(text));
  }

  private static Configuration with(String name, String text) {
    return Configuration.builder().set(name, text, "--set").build();
  }

  @Test
  void everyKeyHasItsDefault() {
    Configuration configuration = Configuration.defaults();
    assertEquals(1 << 20, configuration.get(SampleKeys.BLOCK_SIZE));
    assertEquals(Duration.ofSeconds(10), configuration.get(SampleKeys.TIMEOUT));
    assertEquals(List.of("tcp"), configuration.get(SampleKeys.TYPES));
    assertEquals(SampleKeys.Colour.RED, configuration.get(SampleKeys.COLOUR));
    assertFalse(configuration.isSet(SampleKeys.DEBUG));
    assertEquals(Map.of(), configuration.texts());
  }

  @Test
  void readsSpacesEqualsSignsAndComments() throws IOException {
    Configuration configuration =
        load("# a comment\n\n  sample.cores   4  \nsample.debug=true\nsample.path = a b\n");
    assertEquals(4, configuration.get(SampleKeys.CORES));
    assertTrue(configuration.get(SampleKeys.DEBUG));
    assertEquals("a b", configuration.get(SampleKeys.PATH));
    assertEquals(
        Map.of("sample.cores", "4", "sample.debug", "true", "sample.path", "a b"),
        configuration.texts());
  }

  @Test
  void aCommentMayFollowAValue() throws IOException {
    Configuration configuration =
        load(
            "sample.cores 4 # of eight\nsample.path=a#b  #c d\nsample.types\t$NAME\t# $UNSET\n",
            Map.of("NAME", "x #y"));
    assertEquals(
        Map.of("sample.cores", "4", "sample.path", "a#b", "sample.types", "x #y"),
        configuration.texts());
    assertTrue(refused("sample.cores # four\n").getMessage().contains("has the bad value ''"));
  }

  @Test
  void aByteOrderMarkIsNoPartOfTheFirstKey() throws IOException {
    assertEquals("4", load("\uFEFFsample.cores 4\n").texts().get("sample.cores"));
    assertEquals(Map.of(), load("\uFEFF# a comment\n").texts());
    assertTrue(refused("sample.cores 4\n\uFEFFsample.debug true\n").getMessage().contains(":2:"));
  }

  @Test
  void twoDollarsAreOne() throws IOException {
    Map<String, String> environment = Map.of("NAME", "x");
    Map<String, String> texts =
        load("sample.path $$NAME$NAME$$${NAME}$$$$ 5$\n", environment).texts();
    assertEquals("$NAMEx$x$$ 5$", texts.get("sample.path"));
  }

  @Test
  void aFileOfApacheCrailMayNameAKeyInItsOwnWay() throws IOException {
    Configuration configuration =
        load(
            "crail.NameNode.darpc.Polling TRUE\n"
                + DARPC
                + "crail.storage.types org.apache.crail.storage.rdma.RdmaStorageTier, tcp\n"
                + "crail.cachelimit 0\n"
                + "crail.storage.rdma.persistent false\n"
                + "crail.cachepath /dev/hugepages/cache\n");
    assertEquals(
        Map.of(
            "crail.namenode.rpctype",
            "darpc",
            "crail.spintime",
            "always",
            "crail.storage.types",
            "rdma,tcp"),
        configuration.texts());
    String file = directory.resolve("site.conf").toString();
    assertEquals(
        List.of(
            file
                + ":1: key 'crail.namenode.darpc.polling' of Apache Crail is 'crail.spintime always'"
                + " here: true stands for always, false for 0; only with"
                + " crail.namenode.rpctype=darpc",
            file
                + ":4: key 'crail.cachelimit' of Apache Crail has no effect with the value '0': 0,"
                + " which means buffers without a limit there, leaves the default",
            file
                + ":5: key 'crail.storage.rdma.persistent' of Apache Crail has no effect with the"
                + " value 'false': Crail keeps no data over a restart: namenodes and datanodes start"
                + " empty",
            file
                + ":6: key 'crail.cachepath' of Apache Crail has no effect with the value"
                + " '/dev/hugepages/cache': buffers are direct memory of the process"),
        configuration.warnings());
    // A copy has the keys of this Crail.
    assertEquals(List.of(), configuration.toBuilder().build().warnings());
    // The own name of a key has precedence, wherever it is set.
    assertEquals(
        "7",
        load("crail.spintime 7\n" + DARPC + "crail.namenode.darpc.polling true\n")
            .texts()
            .get("crail.spintime"));
    assertEquals(
        "7",
        load(DARPC + "crail.namenode.darpc.polling true\ncrail.spintime 7\n")
            .texts()
            .get("crail.spintime"));
  }

  @Test
  void keysOfMetadataOverRdmaMeanNothingToOtherTransports() throws IOException {
    String keys = "crail.namenode.darpc.polling true\ncrail.namenode.darpc.type active\n";
    for (String type :
        List.of("", "crail.namenode.rpctype org.apache.crail.namenode.rpc.tcp.TcpNameNode\n")) {
      Configuration configuration = load(keys + type);
      assertFalse(configuration.texts().containsKey("crail.spintime"));
      assertFalse(configuration.texts().containsKey("crail.client.driver"));
      List<String> warnings = configuration.warnings();
      assertEquals(2, warnings.size());
      assertTrue(
          warnings.get(0).contains(":1: key 'crail.namenode.darpc.polling' of Apache Crail has no"),
          warnings.get(0));
      assertTrue(warnings.get(0).endsWith("; only with crail.namenode.rpctype=darpc"));
    }
    Map<String, String> texts = load(keys + DARPC).texts();
    assertEquals("always", texts.get("crail.spintime"));
    assertEquals("thread", texts.get("crail.client.driver"));
  }

  @Test
  void spellingAndDefaultsMakeNoDifference() throws IOException {
    Map<String, Object> differences =
        load("sample.blocksize 2m\nsample.cores 2\nsample.secret x\ncrail.buffersize 1m\n")
            .differences();
    assertEquals(
        differences,
        load("crail.buffersize 1m\nsample.secret x\nsample.blocksize 2097152\n").differences());
    assertEquals(Map.of(), load("sample.colour RED\nsample.timeout 10s\n").differences());
    assertNotEquals(
        differences,
        load("crail.buffersize 1m\nsample.secret y\nsample.blocksize 2m\n").differences());
  }

  @Test
  void aKeyOfApacheCrailIsRefusedWhereToIgnoreItWouldBeWrong() {
    String text = refused("crail.storage.rdma.persistent true\n").getMessage();
    assertTrue(text.contains(":1: key 'crail.storage.rdma.persistent' of Apache Crail"), text);
    assertTrue(text.contains("cannot be 'true' here: Crail keeps no data"), text);
    text = refused("crail.namenode.darpc.polling maybe\n").getMessage();
    assertTrue(text.contains("true stands for always"), text);
    text = refused("crail.storage.nvmf.ip 10.0.0.1\n").getMessage();
    assertTrue(text.contains("crail.storage.nvmf.targets"), text);
  }

  @Test
  void theSiteFileIsFoundByTheEnvironment() {
    Map<String, String> both = Map.of("CRAIL_CONF_DIR", "/a", "CRAIL_HOME", "/b");
    assertEquals(Path.of("/a/crail-site.conf"), SiteFile.find(both::get).orElseThrow());
    Map<String, String> home = Map.of("CRAIL_CONF_DIR", "", "CRAIL_HOME", "/b");
    assertEquals(Path.of("/b/conf/crail-site.conf"), SiteFile.find(home::get).orElseThrow());
    assertTrue(SiteFile.find(name -> null).isEmpty());
  }

  @Test
  void textThatHasLostBytesIsNoValueAndNoDirectory() {
    Configuration.Builder builder =
        Configuration.builder().set("sample.path", "m\uFFFD\uFFFDnster", "--set");
    String text = assertThrows(ConfigException.class, builder::build).getMessage();
    assertTrue(text.startsWith("--set: key 'sample.path' has the bad value"), text);
    assertTrue(text.contains("LC_ALL=C.UTF-8"), text);
    Map<String, String> lost = Map.of("CRAIL_CONF_DIR", "/etc/\uFFFD");
    text = assertThrows(ConfigException.class, () -> SiteFile.find(lost::get)).getMessage();
    assertTrue(text.startsWith("CRAIL_CONF_DIR is no path here"), text);
  }

  @Test
  void aTimeToPollIsInMicrosecondsOrAlways() throws IOException {
    assertEquals(50_000, Configuration.defaults().get(SampleKeys.SPIN));
    assertEquals(0, load("sample.spin 0\n").get(SampleKeys.SPIN));
    assertEquals(Long.MAX_VALUE, load("sample.spin Always\n").get(SampleKeys.SPIN));
    for (String bad : List.of("-1", "1000001", "1us", "never", "")) {
      String text = refused("sample.spin " + bad + "\n").getMessage();
      assertTrue(text.contains("0 to 1000000, or always"), text);
    }
  }

  /** This class path has no namenode. */
  @Test
  void aKeyOfAPartThatIsNotHereIsKeptAsText() throws IOException {
    Configuration configuration = load("crail.blocksize 512k\ncrail.NameNode.MaxLeases=5\n");
    Map<String, String> texts = Map.of("crail.blocksize", "512k", "crail.namenode.maxleases", "5");
    assertEquals(texts, configuration.texts());
    assertEquals(texts, configuration.toBuilder().build().texts());
    assertTrue(refused("crail.blocksiz 1m\n").getMessage().contains("'crail.blocksize'"));
  }

  @Test
  void aKeyAloneHasTheEmptyValue() throws IOException {
    assertEquals(List.of(), load("sample.types\n").get(SampleKeys.TYPES));
  }

  @Test
  void variablesComeFromTheEnvironment() throws IOException {
    Configuration configuration =
        load("sample.path ${ROOT}/x/$NAME.d$\n", Map.of("ROOT", "/a$b", "NAME", "n"));
    assertEquals("/a$b/x/n.d$", configuration.get(SampleKeys.PATH));
  }

  @Test
  void missingVariableIsNamedWithItsLine() {
    assertEquals(
        directory.resolve("site.conf") + ":2: environment variable 'NOPE' is not set",
        refused("\nsample.path $NOPE/x\n").getMessage());
  }

  @Test
  void unknownKeyIsNamedWithItsLineAndASuggestion() {
    assertEquals(
        directory.resolve("site.conf")
            + ":3: unknown key 'sample.blocsize'; did you mean 'sample.blocksize'?",
        refused("# 1\n# 2\nsample.blocsize 4k\n").getMessage());
  }

  @Test
  void namesTheRangeOfATime() {
    for (String bad : List.of("99ms", "601")) {
      String text =
          assertThrows(ConfigException.class, () -> with("sample.timeout", bad)).getMessage();
      assertTrue(text.endsWith("must be between 100ms and 10m"), text);
    }
    assertEquals(Duration.ofMinutes(10), with("sample.timeout", "10m").get(SampleKeys.TIMEOUT));
  }

  @Test
  void theLetterCaseOfAKeyDoesNotMatter() {
    assertEquals(4096, with("Sample.blockSize", "4k").get(SampleKeys.BLOCK_SIZE));
    assertEquals(
        directory.resolve("site.conf") + ":2: key 'sample.BLOCKSIZE' was set before, in line 1",
        refused("sample.blocksize 4k\nsample.BLOCKSIZE 8k\n").getMessage());
  }

  @Test
  void farAwayKeyGetsNoSuggestion() {
    assertEquals(
        "--set: unknown key 'entirely.different.thing'",
        assertThrows(ConfigException.class, () -> with("entirely.different.thing", "1"))
            .getMessage());
  }

  @Test
  void badValueIsNamedWithKeyLineAndWhatIsAllowed() {
    String place = directory.resolve("site.conf").toString();
    assertEquals(
        place + ":1: key 'sample.cores' has the bad value 'many': must be a whole number",
        refused("sample.cores many\n").getMessage());
    assertEquals(
        place + ":1: key 'sample.cores' has the bad value '65': must be between 1 and 64",
        refused("sample.cores 65\n").getMessage());
    assertEquals(
        place + ":1: key 'sample.colour' has the bad value 'blue': must be one of: red, green",
        refused("sample.colour blue\n").getMessage());
  }

  @Test
  void keyTwiceInAFileIsRefused() {
    assertEquals(
        directory.resolve("site.conf") + ":3: key 'sample.cores' was set before, in line 1",
        refused("sample.cores 1\n\nsample.cores=2\n").getMessage());
  }

  @Test
  void laterSettingReplacesTheFiles() throws IOException {
    Configuration configuration =
        Configuration.builder()
            .load(file("sample.cores 1\n"), name -> null)
            .set("sample.cores", "3", "--set")
            .build();
    assertEquals(3, configuration.get(SampleKeys.CORES));
  }

  @Test
  void missingFileIsNamed() {
    Path missing = directory.resolve("missing.conf");
    assertEquals("no such file: " + missing, refusedFile(missing).getMessage());
    assertEquals(directory + " is a directory", refusedFile(directory).getMessage());
  }

  private static ConfigException refusedFile(Path file) {
    return assertThrows(
        ConfigException.class, () -> Configuration.builder().load(file, name -> null));
  }

  @Test
  void aFileThatIsNotUtf8IsNamedWithItsLine() throws IOException {
    Path file = directory.resolve("latin.conf");
    Files.write(file, "# \u00e4 is good\n# \n".getBytes(StandardCharsets.UTF_8));
    Files.write(
        file, "# \u00e4 is not\n".getBytes(StandardCharsets.ISO_8859_1), StandardOpenOption.APPEND);
    assertEquals(file + ":3: is not UTF-8", refusedFile(file).getMessage());
    Files.write(file, new byte[] {'#', (byte) 0xc3});
    assertEquals(file + ":1: is not UTF-8", refusedFile(file).getMessage());
  }

  @Test
  void checksOfAKeyAddUp() {
    assertEquals(4, with("sample.even", "4").get(SampleKeys.EVEN));
    assertTrue(
        assertThrows(ConfigException.class, () -> with("sample.even", "3"))
            .getMessage()
            .endsWith("must be even"));
    assertTrue(
        assertThrows(ConfigException.class, () -> with("sample.even", "102"))
            .getMessage()
            .endsWith("must be between 0 and 100"));
  }

  @Test
  void aCopyIsIndependentOfItsOriginal() {
    Configuration original = with("sample.cores", "3");
    Configuration copy = original.toBuilder().set(SampleKeys.CORES, 5).build();
    assertEquals(3, original.get(SampleKeys.CORES));
    assertEquals(5, copy.get(SampleKeys.CORES));
    assertTrue(copy.isSet(SampleKeys.CORES));
  }

  @Test
  void aSecretIsReadFromAFileAndNeverShown() throws IOException {
    Path file = Files.writeString(directory.resolve("secret"), "open sesame\nmore\n");
    Configuration inFile = load("sample.secret file:" + file);
    assertEquals("open sesame", inFile.get(SampleKeys.SECRET).read());
    assertEquals(Map.of("sample.secret", "file:" + file), inFile.shownTexts());
    Configuration own = load("sample.cores 3\nsample.secret sesame");
    assertEquals("sesame", own.get(SampleKeys.SECRET).read());
    assertEquals("sesame", own.toBuilder().build().get(SampleKeys.SECRET).read());
    assertEquals(Map.of("sample.cores", "3", "sample.secret", "(secret)"), own.shownTexts());
    assertEquals("(secret)", own.get(SampleKeys.SECRET).toString());
    assertTrue(Configuration.defaults().get(SampleKeys.SECRET).isEmpty());
    String told = refused("sample.secret shut").getMessage();
    assertTrue(told.contains("has the bad value '(secret)': must be open"), told);
  }

  /** This class path has no flash tier. */
  @Test
  void aSecretOfAMissingPartIsNotShown() throws IOException {
    Configuration configuration =
        load("crail.storage.nvmf.secret sesame\ncrail.storage.nvmf.controllersecret file:/a\n");
    assertEquals(
        Map.of(
            "crail.storage.nvmf.secret", "(secret)",
            "crail.storage.nvmf.controllersecret", "file:/a"),
        configuration.shownTexts());
    assertEquals("sesame", configuration.texts().get("crail.storage.nvmf.secret"));
  }

  /** Only a part that uses the secret has to be able to read the file. */
  @Test
  void theFileOfASecretIsOpenedWhenItIsNeeded() throws IOException {
    Path file = directory.resolve("later");
    Secret secret = load("sample.secret file:" + file).toBuilder().build().get(SampleKeys.SECRET);
    String told = assertThrows(IllegalArgumentException.class, secret::read).getMessage();
    assertTrue(told.contains("cannot be read"), told);
    for (String empty : List.of("", "\n", " \t\nDHHC-1:00:AAAA:\n")) {
      Files.writeString(file, empty);
      told = assertThrows(IllegalArgumentException.class, secret::read).getMessage();
      assertEquals("is a file whose first line is empty", told);
    }
    Files.writeString(file, " sesame ");
    assertEquals("sesame", secret.read());
  }

  @Test
  void textsCannotChangeTheConfiguration() {
    Configuration configuration = with("sample.cores", "3");
    configuration.texts().put("sample.cores", "4");
    assertEquals(Map.of("sample.cores", "3"), configuration.texts());
  }

  @Test
  void allDeclarationsHaveGoodDefaultsAndSentences() {
    for (ConfigKeys room : Configuration.declarations()) {
      for (ConfigKey<?> key : room.keys()) {
        key.parse(key.defaultText());
        assertFalse(key.sentence().isBlank(), key.name());
      }
    }
  }
}
