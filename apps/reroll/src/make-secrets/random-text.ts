import { randomInt } from 'node:crypto';

const CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** 48 letters and digits, which no shell, URL or redis.conf reads as anything else: 285 bits. */
export function randomText(): string {
  return Array.from({ length: 48 }, () => CHARACTERS[randomInt(CHARACTERS.length)]).join('');
}
