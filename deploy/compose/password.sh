#!/bin/sh
# Makes the password of the Redis of docker-compose.yml, unless there is one, and a token for admin, unless admin has a list
# of tokens. Each file has a folder of its own, because each is for others. Its owner and its group can read it. Safe to
# repeat.
#
#   redis/redis-password        for those who connect to Redis
#   redis-config/redis.conf     for Redis
#   admin/static-tokens.yaml    for admin: the hash of the token
#   people/admin-token          the token, for people
#
# Usage: password.sh <folder>
set -eu
umask 077
folder=$1

# write <file>: whole or not at all.
write() {
  mkdir -p "$(dirname "$folder/$1")"
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

if [ ! -s "$folder/redis/redis-password" ]; then
  password=$(random)
  echo "$password" | write redis/redis-password
fi
password=$(cat "$folder/redis/redis-password")
echo "requirepass $password" | write redis-config/redis.conf

if [ ! -s "$folder/admin/static-tokens.yaml" ]; then
  token=$(random)
  echo "$token" | write people/admin-token
  sha256=$(printf %s "$token" | sha256sum | cut -d ' ' -f 1)
  echo "[{ name: compose, sha256: $sha256, access: write, namespaces: ['*'] }]" | write admin/static-tokens.yaml
fi
