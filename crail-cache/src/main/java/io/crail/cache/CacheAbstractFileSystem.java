/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.DelegateToFileSystem;

/** The paths of {@code crailcache://} for a {@code FileContext}. Thread-safe. */
public final class CacheAbstractFileSystem extends DelegateToFileSystem {
  /**
   * Called by Hadoop.
   *
   * @param uri {@code crailcache://NAME/}
   * @param configuration names the source
   * @throws IOException when the source cannot be opened
   * @throws URISyntaxException for a URI without a name
   */
  public CacheAbstractFileSystem(URI uri, Configuration configuration)
      throws IOException, URISyntaxException {
    // Hadoop wants no authority where there is no port; one is taken all the same.
    super(uri, new CacheFileSystem(), configuration, CacheFileSystem.SCHEME, false);
  }

  /** None: a name is no address. */
  @Override
  public int getUriDefaultPort() {
    return -1;
  }
}
