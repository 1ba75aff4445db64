# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts in bin/ before they start a process. All of this is optional.

# The directory of Java (17 or newer).
#export JAVA_HOME=/usr/lib/jvm/java-17-openjdk-amd64

# JVM options for every command.
#export CRAIL_EXTRA_JAVA_OPTIONS="-XX:+ExitOnOutOfMemoryError"

# JVM options for one kind of process. A namenode needs about 250 bytes of heap for each file.
#export CRAIL_NAMENODE_OPTS="-Xms4g -Xmx4g"
#export CRAIL_DATANODE_OPTS=""
#export CRAIL_CLIENT_OPTS=""

# The directories for the logs and the pid files of the servers that start-crail starts. A pid file
# has to stay as long as its server runs, so /tmp is no place for it.
#export CRAIL_LOG_DIR=$CRAIL_HOME/logs
#export CRAIL_PID_DIR=$CRAIL_HOME/logs

# How many seconds start-crail waits for each server to serve; a namenode may have a log to read.
#export CRAIL_START_SECONDS=600
#export CRAIL_STOP_SECONDS=30

# How many pools of memory the C library may make in a process.
#export MALLOC_ARENA_MAX=4
