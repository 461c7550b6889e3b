#!/bin/sh
# Makes the password of the Redis of docker-compose.yml, unless there is one: for those who connect the file
# redis-password, for Redis a redis.conf. And a token for admin, unless it has a list of tokens (static-tokens.yaml): for
# people the file admin-token. Their owner and their group can read them. Safe to repeat.
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

# random: 32 bytes in hex.
random() {
  bytes=$(head -c 32 /dev/urandom | od -A n -t x1 | tr -d ' \n')
  [ "${#bytes}" -eq 64 ] || { echo "expected 32 random bytes of /dev/urandom" >&2; exit 1; }
  echo "$bytes"
}

if [ ! -s "$folder/redis-password" ]; then
  password=$(random)
  echo "$password" | write redis-password
fi
password=$(cat "$folder/redis-password")
echo "requirepass $password" | write redis.conf

if [ ! -s "$folder/static-tokens.yaml" ]; then
  token=$(random)
  echo "$token" | write admin-token
  sha256=$(printf %s "$token" | sha256sum | cut -d ' ' -f 1)
  echo "[{ name: compose, sha256: $sha256, access: write, namespaces: ['*'] }]" | write static-tokens.yaml
fi
