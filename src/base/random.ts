/** Random values that can't be guessed. */
import { randomBytes, randomInt } from 'node:crypto';

/** Twice as many hexadecimal digits. */
export function randomHex(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}

/** An integer from 0 to below 2³². */
export function randomNumber(): number {
  return randomInt(2 ** 32);
}
