#!/bin/sh
# redis-server as the official image has it: without protected mode, unless a later argument asks for it.
server=/usr/local/lib/redis/redis-server
case "$1" in
'' | -*) exec "$server" --protected-mode no "$@" ;;
*) conf=$1 && shift && exec "$server" "$conf" --protected-mode no "$@" ;;
esac
