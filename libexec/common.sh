# SPDX-License-Identifier: Apache-2.0
# The common part of the scripts in bin/. Sourced by bash. Sets and needs $root, the directory above
# bin/.

# say <text>: prints a line for the user on stderr, so that it does not mix with results.
say() {
  printf '%s\n' "$*" >&2
}

# die <text>: ends the script with a message.
die() {
  say "${0##*/}: $*"
  exit 1
}

# use_utf8: makes sure that programs take text as UTF-8. In another locale a JVM decodes its arguments,
# its environment and names of files by the locale's charset, and loses what that does not have.
use_utf8() {
  local letter=$'\xc3\xbc' given=${LC_ALL-} name
  for name in '' C.UTF-8 en_US.UTF-8; do
    [ -z "$name" ] || { LC_ALL=$name; } 2>/dev/null
    if [ ${#letter} = 1 ]; then
      [ -z "$name" ] || export LC_ALL
      return 0
    fi
  done
  # There is none.
  if [ -n "$given" ]; then { LC_ALL=$given; } 2>/dev/null; else unset LC_ALL; fi
}

# java_major <java>: prints the feature number of a JVM, such as 17; nothing when it is no JVM.
java_major() {
  local real
  [ -x "$1" ] || return 0
  real=$(readlink -f "$1") || return 0
  real=${real%/bin/java}
  if [ -r "$real/release" ]; then
    sed -n 's/^JAVA_VERSION="\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' "$real/release"
  else
    "$1" -version 2>&1 | sed -n 's/.* version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' | head -n 1
  fi
}

# java_candidates: prints the JVMs in the usual places of this machine, the preferred ones first.
java_candidates() {
  local java
  if [ -n "${JAVA_HOME:-}" ]; then
    printf '%s\n' "$JAVA_HOME/bin/java"
  fi
  command -v java || true
  for java in /usr/lib/jvm/*/bin/java /opt/java/*/bin/java /opt/jdk*/bin/java \
    "${HOME:-/}"/.sdkman/candidates/java/*/bin/java "${HOME:-/}"/.jdks/*/bin/java; do
    [ ! -x "$java" ] || printf '%s\n' "$java"
  done
}

# find_java <least> <most> [tool]: prints the first JVM with a version in that range and with that
# tool beside it; fails when there is none.
find_java() {
  local java major
  while IFS= read -r java; do
    major=$(java_major "$java")
    if [ -n "$major" ] && [ "$major" -ge "$1" ] && [ "$major" -le "$2" ]; then
      java=$(readlink -f "$java")
      if [ -z "${3:-}" ] || [ -x "${java%/java}/$3" ]; then
        printf '%s\n' "$java"
        return 0
      fi
    fi
  done < <(java_candidates)
  return 1
}

# java_flags <java> [layout]: prints the flags that prevent the JVM's warnings about Netty; with a
# layout also the path of its native library.
java_flags() {
  local major
  if [ -n "${2:-}" ]; then
    printf '%s\n' "-Djava.library.path=$2/lib/native${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  fi
  major=$(java_major "$1")
  if [ "${major:-0}" -ge 24 ]; then
    printf '%s\n' --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow
  fi
}

# datanode_lines: prints the lines of conf/datanodes that name a datanode, a host and the
# arguments of 'crail datanode' each. Needs $CRAIL_CONF_DIR.
datanode_lines() {
  local file=$CRAIL_CONF_DIR/datanodes
  [ -r "$file" ] || die "there is no $file"
  sed $'1s/^\xef\xbb\xbf//'"; s/#.*//; s/^[[:space:]]*//; /^\$/d" "$file"
}
