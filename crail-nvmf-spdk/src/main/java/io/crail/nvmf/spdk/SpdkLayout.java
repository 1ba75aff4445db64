/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.spdk;

import java.lang.annotation.Native;

/**
 * What the native library shares with Java, in bytes; it is compiled against these constants and
 * asserts each of them. The memory of a queue has room for as many submissions as there are slots,
 * and then for as many completions. Little-endian.
 */
final class SpdkLayout {
  /** Size of a request. */
  @Native static final int SUBMISSION_SIZE = 80;

  /** 64 bytes: the command, without what belongs to the queue. */
  @Native static final int SUBMISSION_COMMAND = 0;

  /** long: the address of the data. */
  @Native static final int SUBMISSION_ADDRESS = 64;

  /** int: bytes of data. */
  @Native static final int SUBMISSION_LENGTH = 72;

  /** int: the slot of the request. */
  @Native static final int SUBMISSION_SLOT = 76;

  /** Size of a completion. */
  @Native static final int COMPLETION_SIZE = 16;

  /** int: the slot of the request. */
  @Native static final int COMPLETION_SLOT = 0;

  /** int: how it ended; see {@link io.crail.nvmf.NvmeStatus}. */
  @Native static final int COMPLETION_STATUS = 4;

  /** long: the two first words of the controller's completion. */
  @Native static final int COMPLETION_RESULT = 8;

  /** Bytes of the answer to an identify. */
  @Native static final int IDENTIFY_DATA = 4096;

  private SpdkLayout() {}
}
