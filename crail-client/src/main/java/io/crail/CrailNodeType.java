/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

/** The types of nodes. */
public enum CrailNodeType {
  /** Bytes; lives in a directory or multi-file. */
  DATAFILE(0),
  /** Holds nodes of every type but key-values. */
  DIRECTORY(1),
  /** Holds data files that one reader takes as one stream. */
  MULTIFILE(2),
  /** Reserved; cannot be created. */
  STREAMFILE(3),
  /** Holds key-values. */
  TABLE(4),
  /** Bytes under a key of a table; the last one put wins. */
  KEYVALUE(5);

  private final int label;

  CrailNodeType(int label) {
    this.label = label;
  }

  /** The permanent number. */
  public int getLabel() {
    return label;
  }

  /** True for {@link #DIRECTORY}. */
  public boolean isDirectory() {
    return this == DIRECTORY;
  }

  /** True for {@link #DATAFILE}. */
  public boolean isDataFile() {
    return this == DATAFILE;
  }

  /** True for {@link #MULTIFILE}. */
  public boolean isMultiFile() {
    return this == MULTIFILE;
  }

  /** True for {@link #STREAMFILE}. */
  public boolean isStreamFile() {
    return this == STREAMFILE;
  }

  /** True for {@link #TABLE}. */
  public boolean isTable() {
    return this == TABLE;
  }

  /** True for {@link #KEYVALUE}. */
  public boolean isKeyValue() {
    return this == KEYVALUE;
  }

  /** True for a type that has children. */
  public boolean isContainer() {
    return this == DIRECTORY || this == MULTIFILE || this == TABLE;
  }

  /**
   * The type of a number.
   *
   * @throws IllegalArgumentException when there is none
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
