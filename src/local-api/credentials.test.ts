import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createCredentials } from './credentials.ts';

const DAY = 24 * 3_600_000;
const PEM = (text: string) => `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`;

test('credentials: the kubeconfig follows a certificate that is renewed while the kubelet runs, and failures are tried again', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'local-api-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const clock = createManualClock();
  const errors: string[] = [];
  let certificate: string | Error = PEM('own') + PEM('first');
  const credentials = createCredentials(
    {
      clock,
      log: { ...createSilentLogger(), error: (message) => void errors.push(message) },
      certificate: () => (certificate instanceof Error ? Promise.reject(certificate) : Promise.resolve(certificate)),
      ensureToken: (file) => Promise.resolve(`token of ${file.split('/').at(-1)}`),
    },
    { directory, nodeName: 'n', address: '127.0.0.1', server: 'https://127.0.0.1:10260' },
  );
  assert.equal(credentials.review('token of reader.token'), undefined, 'no one before it is open');
  const { full } = await credentials.open();
  assert.equal(credentials.review('token of reader.token')?.name, 'local-reader');
  assert.equal(credentials.review('token of administrator.token')?.name, 'local-administrator');
  const shown = () => {
    const data = JSON.parse(readFileSync(full, 'utf8')).clusters[0].cluster['certificate-authority-data'];
    return Buffer.from(data, 'base64').toString();
  };
  assert.equal(shown(), PEM('first'));
  const { ino } = statSync(full);
  await clock.advance(DAY);
  assert.equal(statSync(full).ino, ino, 'a file that is right is not written again');
  certificate = new Error('EROFS');
  await clock.advance(DAY);
  assert.equal(errors.length, 1);
  certificate = PEM('own') + PEM('second');
  await clock.advance(DAY);
  while (shown() !== PEM('second')) await new Promise(setImmediate);
  credentials.close();
});
