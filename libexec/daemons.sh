# SPDX-License-Identifier: Apache-2.0
# Servers in the background, for start-crail and stop-crail. Sourced by bash. Needs $root,
# common.sh.

export CRAIL_HOME=${CRAIL_HOME:-$root}
export CRAIL_CONF_DIR=${CRAIL_CONF_DIR:-$CRAIL_HOME/conf}
if [ -r "$CRAIL_CONF_DIR/crail-env.sh" ]; then
  . "$CRAIL_CONF_DIR/crail-env.sh"
fi
log_dir=${CRAIL_LOG_DIR:-$CRAIL_HOME/logs}
pid_dir=${CRAIL_PID_DIR:-/tmp}
who=${USER:-$(id -un)}

# is_local <host>: true when the host is this one.
is_local() {
  local address mine
  case "$1" in
    localhost | 127.* | ::1 | "$(hostname)") return 0 ;;
  esac
  mine=" $(hostname -I 2>/dev/null || true) 127.0.0.1 127.0.1.1 ::1 "
  for address in $(getent ahosts "$1" | awk '{ print $1 }' | sort -u); do
    if [[ $mine == *" $address "* ]]; then
      return 0
    fi
  done
  return 1
}

pid_file() {
  printf '%s/crail-%s-%s.pid\n' "$pid_dir" "$who" "$1"
}

# running_pid <name>: prints the process id of a server that was started from here, if it still
# runs.
running_pid() {
  local file pid
  file=$(pid_file "$1")
  [ -r "$file" ] || return 1
  pid=$(<"$file")
  if [ -n "$pid" ] && tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q io.crail.dist.Main; then
    printf '%s\n' "$pid"
  else
    return 1
  fi
}

# start_here <name> <command and arguments>: starts a server on this host, and waits until it
# serves.
start_here() {
  local name=$1 out pid tries
  shift
  if pid=$(running_pid "$name"); then
    say "$name runs already, process $pid"
    return 0
  fi
  mkdir -p "$log_dir" "$pid_dir"
  out=$log_dir/crail-$who-$name.out
  CRAIL_LOG_FILE=$log_dir/crail-$who-$name.log \
    setsid nohup "$root/bin/crail" "$@" >"$out" 2>&1 </dev/null &
  pid=$!
  printf '%s\n' "$pid" >"$(pid_file "$name")"
  for ((tries = 0; tries < 600; tries++)); do
    if grep -q ' serves ' "$out"; then
      say "$name: $(grep ' serves ' "$out" | head -n 1) (process $pid)"
      return 0
    fi
    if ! kill -0 "$pid" 2>/dev/null; then
      rm -f "$(pid_file "$name")"
      say "$name did not start; its last words, from $out:"
      tail -n 10 "$out" >&2
      return 1
    fi
    sleep 0.1
  done
  say "$name has not begun to serve within 60 s; process $pid goes on; see $out"
  return 1
}

# stop_here <name>: ends a server on this host. It gets time to end by itself first.
stop_here() {
  local name=$1 pid tries
  if ! pid=$(running_pid "$name"); then
    say "$name does not run"
    rm -f "$(pid_file "$name")"
    return 0
  fi
  kill "$pid"
  for ((tries = 0; tries < 300; tries++)); do
    if ! kill -0 "$pid" 2>/dev/null; then
      rm -f "$(pid_file "$name")"
      say "$name has ended"
      return 0
    fi
    sleep 0.1
  done
  kill -9 "$pid" 2>/dev/null || true
  rm -f "$(pid_file "$name")"
  say "$name did not end within 30 s and was killed"
}

# on_host <host> <function> <name> <arguments>: runs start_here or stop_here on a host.
on_host() {
  local host=$1 what=$2 command
  shift 2
  if is_local "$host"; then
    "$what" "$@"
    return
  fi
  command=start-crail
  [ "$what" = start_here ] || command=stop-crail
  # shellcheck disable=SC2029
  ssh -n -o BatchMode=yes -o ConnectTimeout=10 "$host" \
    "CRAIL_HOME=$(printf %q "$CRAIL_HOME") CRAIL_CONF_DIR=$(printf %q "$CRAIL_CONF_DIR")" \
    "$(printf '%q ' "$root/bin/$command" --here "$@")" || {
    say "$host: could not run $command for $1"
    return 1
  }
}

# namenode_hosts: prints the host of each namenode, in their order.
namenode_hosts() {
  "$root/bin/crail" getconf crail.namenode.address | tr ',' '\n' \
    | sed 's|^ *crail://||; s|:[0-9]*/* *$||; s|^\[||; s|\]$||'
}

# datanode_lines: prints the lines of conf/datanodes that name a datanode.
datanode_lines() {
  local file=$CRAIL_CONF_DIR/datanodes
  [ -r "$file" ] || die "there is no $file"
  sed 's/#.*//; s/^[[:space:]]*//; /^$/d' "$file"
}
