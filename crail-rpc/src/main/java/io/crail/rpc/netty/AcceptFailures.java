/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.crail.common.Clock;
import io.crail.common.RateLimitedLog;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says in a line why a server cannot accept connections, mostly for want of descriptors. Netty then
 * waits for a second and tries again; without a handler it would log a trace each time.
 */
public final class AcceptFailures extends ChannelInboundHandlerAdapter {
  private static final Logger LOG = LoggerFactory.getLogger(AcceptFailures.class);

  private final String name;
  private final RateLimitedLog log;

  private AcceptFailures(String name, Clock clock) {
    this.name = name;
    this.log = new RateLimitedLog(LOG, clock);
  }

  /**
   * Watches a channel that listens.
   *
   * @param name the server, for messages
   */
  public static void watch(Channel listener, String name, Clock clock) {
    listener.pipeline().addLast(new AcceptFailures(name, clock));
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    log.warn(
        name
            + " cannot accept a connection: "
            + NettySockets.text(cause)
            + "; who connects waits. If files are too many, close connections or raise the limit of"
            + " this process (ulimit -n, LimitNOFILE of systemd)");
  }
}
