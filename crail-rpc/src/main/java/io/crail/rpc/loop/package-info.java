/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A loop that a waiting thread drives itself: who drives it, what one round of it does, and the
 * networks that it polls. It knows tasks, deadlines and completions, never a connection or a frame.
 */
package io.crail.rpc.loop;
