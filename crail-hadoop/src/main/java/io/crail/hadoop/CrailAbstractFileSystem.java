/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.DelegateToFileSystem;

/** {@link CrailFileSystem} for programs that use Hadoop's {@code FileContext}. Thread-safe. */
public class CrailAbstractFileSystem extends DelegateToFileSystem {
  /** Called by Hadoop. */
  public CrailAbstractFileSystem(URI uri, Configuration configuration)
      throws IOException, URISyntaxException {
    super(uri, new CrailFileSystem(), configuration, HadoopConfiguration.SCHEME, false);
  }
}
