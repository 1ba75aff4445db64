/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import java.util.Locale;

/** The table of the targets, one line for each. */
enum Targets {
  MESSAGES("requests and answers of every operation, at the namenode and the datanode") {
    @Override
    Target open() {
      return new MessagesTarget();
    }
  },
  RECORDS("records of the changes of a namenode, as a log has them") {
    @Override
    Target open() {
      return new RecordsTarget();
    }
  },
  LOGINS("messages of a login of several rounds, at either end") {
    @Override
    Target open() {
      return new LoginsTarget();
    }
  },
  FRAMES("the stream of frames of a connection, as its ends cut it into requests") {
    @Override
    Target open() {
      return new FramesTarget();
    }
  },
  HANDSHAKES("private data of a connection over RDMA, of either protocol") {
    @Override
    Target open() {
      return new HandshakesTarget();
    }
  },
  PIECES("frames put together from messages over RDMA, and the account of credits") {
    @Override
    Target open() {
      return new PiecesTarget();
    }
  },
  CONFIGURATION("a configuration file") {
    @Override
    Target open() throws Exception {
      return new ConfigurationTarget();
    }
  },
  VALUES("numbers, sizes, times and addresses, as a user writes them") {
    @Override
    Target open() {
      return new ValuesTarget();
    }
  },
  PATHS("paths, as a user writes them and as they arrive") {
    @Override
    Target open() {
      return new PathsTarget();
    }
  },
  NAMENODE("well-formed requests of three clients and a datanode to a namenode") {
    @Override
    Target open() {
      return new NameNodeTarget();
    }
  },
  DATANODE("data connections to a datanode, over a socket") {
    @Override
    Target open() throws Exception {
      return new DatanodeTarget();
    }
  },
  CLIENT("answers of a namenode that lies, to a client") {
    @Override
    Target open() {
      return new ClientTarget();
    }
  };

  private final String sentence;

  Targets(String sentence) {
    this.sentence = sentence;
  }

  abstract Target open() throws Exception;

  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  String sentence() {
    return sentence;
  }
}
