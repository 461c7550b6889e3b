#!/bin/sh
# Makes the password of the Redis of docker-compose.yml, unless there is one: for watcher and worker the file
# redis-password, for Redis a redis.conf. Their owner and their group can read them. Safe to repeat.
#
# Usage: password.sh <folder>
set -eu
umask 077
folder=$1

# write <file>: whole or not at all.
write() {
  cat >"$folder/$1.new"
  chmod 440 "$folder/$1.new"
  mv "$folder/$1.new" "$folder/$1"
}

if [ ! -s "$folder/redis-password" ]; then
  password=$(head -c 32 /dev/urandom | od -A n -t x1 | tr -d ' \n')
  [ "${#password}" -eq 64 ] || { echo "expected 32 random bytes of /dev/urandom" >&2; exit 1; }
  echo "$password" | write redis-password
fi
password=$(cat "$folder/redis-password")
echo "requirepass $password" | write redis.conf
