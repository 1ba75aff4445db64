/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import java.io.IOException;
import java.util.List;

/** The files of a directory whose names begin with a prefix, which this leaves out. */
record PrefixedDirectory(LogDirectory directory, String prefix) implements LogDirectory {
  @Override
  public List<String> names() throws IOException {
    return directory.names().stream()
        .filter(name -> name.startsWith(prefix))
        .map(name -> name.substring(prefix.length()))
        .toList();
  }

  @Override
  public LogFile create(String name, long bytes) throws IOException {
    return directory.create(prefix + name, bytes);
  }

  @Override
  public LogFile open(String name) throws IOException {
    return directory.open(prefix + name);
  }

  @Override
  public void delete(String name) throws IOException {
    directory.delete(prefix + name);
  }

  @Override
  public void rename(String name, String newName) throws IOException {
    directory.rename(prefix + name, prefix + newName);
  }

  @Override
  public void close() {}
}
