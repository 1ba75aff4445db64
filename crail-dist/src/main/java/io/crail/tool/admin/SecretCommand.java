/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.admin;

import io.crail.common.Clock;
import io.crail.common.config.ConfigException;
import io.crail.protocol.secret.SecretFile;
import io.crail.protocol.secret.Secrets;
import io.crail.rpc.login.LoginKey;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.command.ExitCode;
import io.crail.tool.command.OptionsCommand;
import io.crail.tool.command.UsageException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Set;
import org.apache.commons.cli.CommandLine;

/** Makes the secrets of a cluster and the keys of those who may take part. */
public final class SecretCommand extends OptionsCommand {
  private static final String MASTER = "master";

  /** Declares its options. */
  public SecretCommand() {
    super(
        "secret",
        "makes the secret of a cluster, and the keys of its users and datanodes",
        "master|user|datanode [name]",
        """
        Every file that it makes can only be read by its own user. It overwrites none, and prints no
        secret. It works on this host alone; docs/security.md says where the files belong.
          master           makes a master secret, for the secret file of all namenodes
          user <name>      makes the key of a user
          datanode <name>  makes the key of datanodes; several may have the same
        Keys are made from the first master secret in the secret file of this process,
        crail.secret.file. There is no list of them: the same words make the same key again, and a
        line 'revoke user <name> <version>' in the secret file of the namenodes ends it.
        """,
        valued("o", "out", "file", "the file to make"),
        valued("v", "version", "number", "1 or more, to give somebody another key; 1 by default"),
        valued("i", "id", "word", "master: its name; the date by default"));
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail secret master -o /etc/crail/secret", "the secret of a new cluster"),
        new Example("crail secret datanode rack1 -o rack1.key", "a key for datanodes"),
        new Example("crail secret user alice -o alice.key", "a key for a user"),
        new Example("crail secret user alice -v 2 -o new.key", "after the first one was stolen"));
  }

  @Override
  public List<String> operands() {
    return List.of(MASTER, "user", "datanode");
  }

  @Override
  public boolean usesCluster() {
    return false;
  }

  @Override
  protected int run(CommandContext context, CommandLine line) throws Exception {
    List<String> words = line.getArgList();
    if (words.isEmpty() || !operands().contains(words.get(0))) {
      throw new UsageException("what to make: master, user or datanode");
    }
    boolean isMaster = words.get(0).equals(MASTER);
    if (words.size() != (isMaster ? 1 : 2)) {
      throw new UsageException(
          isMaster ? "a master secret has no name; -i gives it an id" : "whose key: one name");
    }
    if (line.hasOption(isMaster ? "v" : "i")) {
      throw new UsageException("-v is for keys, and -i for master secrets");
    }
    if (!line.hasOption("o")) {
      throw new UsageException("where it goes: -o <file>");
    }
    Path file = Path.of(line.getOptionValue("o"));
    String text =
        isMaster
            ? SecretFile.newMaster(
                line.getOptionValue("i", LocalDate.now(ZoneOffset.UTC).toString()),
                new SecureRandom())
            : SecretFile.line(
                newKey(context, words, line.hasOption("v") ? number(line, "v", 1, 1_000_000) : 1));
    try {
      make(file, text + "\n");
    } catch (FileAlreadyExistsException e) {
      context.err().println("crail secret: " + file + " exists, and was not changed");
      return ExitCode.FAILURE;
    }
    context.out().println(isMaster ? "a new master secret is in " + file : said(words, file));
    return 0;
  }

  private static String said(List<String> words, Path file) {
    return "the key of " + words.get(0) + " " + words.get(1) + " is in " + file;
  }

  private static LoginKey newKey(CommandContext context, List<String> words, int version) {
    Secrets secrets = Secrets.of(context.configuration(), Clock.SYSTEM);
    if (secrets == null) {
      throw new ConfigException(
          "crail.secret.file is not set; keys are made from the master secret in that file");
    }
    secrets.requireMasters();
    return secrets.current().newKey(words.get(0), words.get(1), version);
  }

  /** Other users cannot open it at any time. */
  private static void make(Path file, String text) throws IOException {
    try (FileChannel made =
        FileChannel.open(
            file,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
      ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
      while (bytes.hasRemaining()) {
        made.write(bytes);
      }
      made.force(true);
    }
  }
}
