/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

/** The types of nodes. */
public enum CrailNodeType {
  /** A file with bytes, in a directory or a multi-file. */
  DATAFILE(0),
  /** Holds nodes of every type except key-values. */
  DIRECTORY(1),
  /** Holds data files that one reader reads as one stream. */
  MULTIFILE(2),
  /** Reserved; cannot be created. */
  STREAMFILE(3),
  /** Holds key-values. */
  TABLE(4),
  /** A value under a key of a table. The last put wins. */
  KEYVALUE(5);

  private final int label;

  CrailNodeType(int label) {
    this.label = label;
  }

  /** {@return the permanent number of this type} */
  public int getLabel() {
    return label;
  }

  /** {@return true for {@link #DIRECTORY}} */
  public boolean isDirectory() {
    return this == DIRECTORY;
  }

  /** {@return true for {@link #DATAFILE}} */
  public boolean isDataFile() {
    return this == DATAFILE;
  }

  /** {@return true for {@link #MULTIFILE}} */
  public boolean isMultiFile() {
    return this == MULTIFILE;
  }

  /** {@return true for {@link #STREAMFILE}} */
  public boolean isStreamFile() {
    return this == STREAMFILE;
  }

  /** {@return true for {@link #TABLE}} */
  public boolean isTable() {
    return this == TABLE;
  }

  /** {@return true for {@link #KEYVALUE}} */
  public boolean isKeyValue() {
    return this == KEYVALUE;
  }

  /** {@return true for a type that has children} */
  public boolean isContainer() {
    return this == DIRECTORY || this == MULTIFILE || this == TABLE;
  }

  /**
   * Returns the type of a number.
   *
   * @param label the permanent number
   * @return the type
   * @throws IllegalArgumentException when no type has this number
   */
  public static CrailNodeType parse(int label) {
    for (CrailNodeType type : values()) {
      if (type.label == label) {
        return type;
      }
    }
    throw new IllegalArgumentException("no node type has the number " + label);
  }
}
