/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf;

/**
 * Which queue of which controller a connection is for.
 *
 * @param controller the controller's number; any for the admin queue, which makes the controller
 * @param number the queue's number; 0 is the admin queue
 */
public record QueueId(int controller, int number) {
  /** The admin queue of a controller that the target is asked to make. */
  public static final QueueId ADMIN = new QueueId(NvmeCommand.ANY_CONTROLLER, 0);
}
