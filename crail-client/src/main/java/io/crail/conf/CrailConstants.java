/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.conf;

import io.crail.common.ProcessUser;
import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigType;
import io.crail.common.config.Configuration;
import io.crail.common.config.SiteFile;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Values of the site file that programs for Apache Crail read as static fields. They are read once,
 * from {@link CrailConfiguration#createConfigurationFromFile() the site file} if there is one, and
 * never change. They know nothing of what a program sets by itself. New programs ask their store:
 * {@link io.crail.CrailStore#getBlockSize}, {@link io.crail.CrailStore#getBufferSize} and {@link
 * io.crail.CrailStore#getSliceSize}.
 *
 * <p>A site file that cannot be used is an {@code ExceptionInInitializerError}, whose cause names
 * file and line.
 */
public final class CrailConstants {
  /** The key of {@link #BLOCK_SIZE}. */
  public static final String BLOCK_SIZE_KEY = "crail.blocksize";

  /** The key of {@link #BUFFER_SIZE}. */
  public static final String BUFFER_SIZE_KEY = "crail.buffersize";

  /** The key of {@link #SLICE_SIZE}. */
  public static final String SLICE_SIZE_KEY = "crail.slicesize";

  /** The key of {@link #USER}. */
  public static final String USER_KEY = "crail.user";

  /** The key of {@link #SHADOW_REPLICATION}. */
  public static final String SHADOW_REPLICATION_KEY = "crail.shadowreplication";

  /** The key of {@link #LOCATION_MAP}. */
  public static final String LOCATION_MAP_KEY = "crail.locationmap";

  /** The key of {@link #NAMENODE_ADDRESS}. */
  public static final String NAMENODE_ADDRESS_KEY = "crail.namenode.address";

  private static final Configuration SITE = site();

  /** Bytes of a block. The cluster's true value is that of its namenodes. */
  public static final long BLOCK_SIZE = ConfigType.parseBytes(text(BLOCK_SIZE_KEY, "1m"));

  /** Bytes of a buffer that a store lends. */
  public static final int BUFFER_SIZE = bytes(BUFFER_SIZE_KEY);

  /** Bytes that a buffered stream moves at a time. */
  public static final int SLICE_SIZE = Math.min(bytes(SLICE_SIZE_KEY), BUFFER_SIZE);

  /** The user to whom new nodes belong. */
  public static final String USER = user();

  /** Hosts that block locations report for each block. */
  public static final int SHADOW_REPLICATION = Integer.parseInt(text(SHADOW_REPLICATION_KEY, "1"));

  /** Other names for hosts in block locations. */
  public static final String LOCATION_MAP = text(LOCATION_MAP_KEY, "");

  /** Addresses of the namenodes, separated by commas. */
  public static final String NAMENODE_ADDRESS = text(NAMENODE_ADDRESS_KEY, "");

  private CrailConstants() {}

  private static Configuration site() {
    Configuration.Builder builder = Configuration.builder();
    Path file = SiteFile.find(System::getenv).orElse(null);
    if (file != null && Files.exists(file)) {
      builder.load(file, System::getenv);
    }
    return builder.build();
  }

  /**
   * What the site file sets, or else the default.
   *
   * @param undeclared the default of a key that no module on the class path declares
   */
  private static String text(String name, String undeclared) {
    String set = SITE.texts().get(name);
    return set != null
        ? set
        : Configuration.declarations().stream()
            .flatMap(room -> room.keys().stream())
            .filter(key -> key.name().equals(name))
            .map(ConfigKey::defaultText)
            .findFirst()
            .orElse(undeclared);
  }

  private static int bytes(String name) {
    return Math.toIntExact(ConfigType.parseBytes(text(name, "0")));
  }

  private static String user() {
    String set = text(USER_KEY, "");
    return set.isEmpty() ? ProcessUser.name() : set;
  }
}
