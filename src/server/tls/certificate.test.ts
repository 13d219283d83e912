import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createSystemClock } from '../../base/clock.ts';
import { integer, objectId, time } from '../../base/der.ts';
import { createSilentLogger } from '../../base/logger.ts';
import { createManualClock } from '../../base/manual-clock.ts';
import { createTestSupervisor } from '../../base/supervise-testing.ts';
import { createHost } from '../../host/host.ts';
import { issueCertificate } from './certificate.ts';
import { ensureSelfSigned, readTlsMaterial, watchTlsFiles } from './key-pairs.ts';
import { createSelfSigned, type KeyPair } from './self-signed.ts';

const log = createSilentLogger();
const NOW = Date.UTC(2026, 10, 15, 12);
const DAY = 86_400_000;

describe('certificates', () => {
  it('can be read by OpenSSL, with all requested fields', async () => {
    const ca = await issueCertificate({ kind: 'authority', commonName: 'ca', from: NOW, to: NOW + DAY });
    const request = {
      kind: 'client',
      commonName: 'ada',
      organizations: ['dev', 'ops'],
      from: NOW,
      to: NOW + DAY,
    } as const;
    const leaf = new X509Certificate((await issueCertificate(request, ca)).certificate);
    const authority = new X509Certificate(ca.certificate);
    assert.equal(leaf.subject, 'O=dev\nO=ops\nCN=ada');
    assert.equal(leaf.issuer, 'CN=ca');
    assert.deepEqual([leaf.validFromDate.getTime(), leaf.validToDate.getTime()], [NOW, NOW + DAY]);
    assert.deepEqual(leaf.keyUsage, ['1.3.6.1.5.5.7.3.2']);
    assert.ok(leaf.checkIssued(authority) && leaf.verify(authority.publicKey) && authority.ca && !leaf.ca);
  });

  for (const [host, names] of [
    ['labnode', 'DNS:labnode'],
    ['192.0.2.10', 'IP Address:192.0.2.10'],
    ['2001:db8::1', 'IP Address:2001:DB8:0:0:0:0:0:1'],
  ] as const) {
    it(`of a node are only for its name or address: ${host}`, async () => {
      const { certificate, key } = await createSelfSigned(host, NOW);
      const parsed = new X509Certificate(certificate);
      assert.equal(parsed.subjectAltName, names);
      assert.equal(parsed.subject, `CN=${host}@${NOW / 1000}`);
      assert.equal(parsed.issuer, `CN=${host}-ca@${NOW / 1000}`);
      assert.equal(parsed.validToDate.getTime() - parsed.validFromDate.getTime(), 365 * DAY);
      assert.match(key, /^-----BEGIN EC PRIVATE KEY-----/);
      assert.equal(certificate.match(/BEGIN CERTIFICATE/g)?.length, 2);
    });
  }

  it('follow the rules of DER', () => {
    const hex = (bytes: Buffer) => bytes.toString('hex');
    assert.equal(hex(integer(Uint8Array.of(0, 0, 0x80))), '02020080');
    assert.equal(hex(integer(Uint8Array.of(0))), '020100');
    assert.equal(hex(objectId('1.2.840.10045.4.3.2')), '06082a8648ce3d040302');
    assert.equal(time(NOW).toString('latin1').slice(2), '261115120000Z');
    assert.equal(
      time(Date.UTC(2050, 0, 1))
        .toString('latin1')
        .slice(2),
      '20500101000000Z',
    );
  });
});

describe('files of certificates', () => {
  const directoryOf = (t: { after(done: () => void): void }) => {
    const directory = mkdtempSync(join(tmpdir(), 'tls-'));
    t.after(() => rmSync(directory, { recursive: true }));
    return directory;
  };

  it('are created once, the key for root only, kept while valid, and replaced when they have expired', async (t) => {
    const directory = join(directoryOf(t), 'pki');
    const files = await ensureSelfSigned(directory, 'node', NOW, log);
    assert.equal(statSync(files.key).mode & 0o777, 0o600);
    const first = readFileSync(files.certificate, 'utf8');
    await ensureSelfSigned(directory, 'node', NOW + 300 * DAY, log);
    assert.equal(readFileSync(files.certificate, 'utf8'), first);
    await ensureSelfSigned(directory, 'node', NOW + 366 * DAY, log);
    assert.notEqual(readFileSync(files.certificate, 'utf8'), first);
  });

  it('that the kubelet has not created are never replaced', async (t) => {
    const directory = directoryOf(t);
    const ca = await issueCertificate({ kind: 'authority', commonName: 'corp', from: NOW - DAY, to: NOW + DAY });
    const theirs = await issueCertificate(
      { kind: 'server', commonName: 'node', from: NOW - 2 * DAY, to: NOW - DAY },
      ca,
    );
    writeFileSync(join(directory, 'kubelet.crt'), theirs.certificate);
    writeFileSync(join(directory, 'kubelet.key'), theirs.key);
    await ensureSelfSigned(directory, 'node', NOW, log);
    assert.equal(readFileSync(join(directory, 'kubelet.crt'), 'utf8'), theirs.certificate);
    writeFileSync(join(directory, 'kubelet.key'), 'broken');
    await assert.rejects(ensureSelfSigned(directory, 'node', NOW, log), /failed to read .*kubelet\.key/);
  });

  it('that do not match are refused with their names', async (t) => {
    const directory = directoryOf(t);
    const [one, two] = await Promise.all([createSelfSigned('a', NOW), createSelfSigned('b', NOW)]);
    const files = { certificate: join(directory, 'c'), key: join(directory, 'k'), clientCa: join(directory, 'ca') };
    writeFileSync(files.certificate, one.certificate);
    writeFileSync(files.key, two.key);
    writeFileSync(files.clientCa, 'nothing');
    await assert.rejects(readTlsMaterial(files), /the key in .*\/k does not belong to the certificate in .*\/c/);
    writeFileSync(files.key, one.key);
    await assert.rejects(readTlsMaterial(files), /\/ca contains no certificate/);
    writeFileSync(files.clientCa, one.certificate);
    assert.equal((await readTlsMaterial(files)).clientCa, one.certificate);
    await assert.rejects(readTlsMaterial({ ...files, certificate: join(directory, 'none') }), /ENOENT/);
  });

  it('are read again when they change, as soon as the change is complete', async (t) => {
    const directory = directoryOf(t);
    const [one, two] = await Promise.all([createSelfSigned('a', NOW), createSelfSigned('b', NOW)]);
    const files = { certificate: join(directory, 'c'), key: join(directory, 'k'), clientCa: '' };
    const write = (name: 'c' | 'k', text: string) => writeFileSync(join(directory, name), text);
    write('c', one.certificate);
    write('k', one.key);
    const clock = createManualClock();
    const seen: string[] = [];
    const errors: string[] = [];
    const stopping = new AbortController();
    const logging = { ...log, error: (message: string) => void errors.push(message) };
    const supervisor = createTestSupervisor(clock);
    const deps = { clock, log: logging, supervisor, onChange: ({ key }: { key: string }) => void seen.push(key) };
    const watching = watchTlsFiles(files, await readTlsMaterial(files), deps, stopping.signal);
    const tick = async () => {
      await clock.advance(10_000);
      // The files are read in real time; when it sleeps again, it has seen them.
      while (clock.sleepers() === 0) await new Promise((turn) => setImmediate(turn));
    };
    await tick();
    write('c', two.certificate);
    await tick();
    await tick();
    assert.deepEqual([seen.length, errors.length], [0, 1], 'told once, and nothing taken');
    write('k', two.key);
    await tick();
    assert.deepEqual(seen, [two.key]);
    stopping.abort(new Error('over'));
    await watching;
  });

  it('are read again at once after each kind of change: written, moved, or a new link of a mounted secret', async (t) => {
    const directory = directoryOf(t);
    const host = createHost();
    t.after(() => host.files.inotify.close());
    const pairs = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => createSelfSigned(name, NOW)));
    const [a, b, c, d, e] = pairs as [KeyPair, KeyPair, KeyPair, KeyPair, KeyPair];
    const put = (place: string, { certificate, key }: KeyPair) => {
      mkdirSync(place, { recursive: true });
      writeFileSync(join(place, 'tls.crt'), certificate);
      writeFileSync(join(place, 'tls.key'), key);
    };
    /** As a kubelet brings a secret into a pod: a new directory, then the link to it in one step. */
    const swap = (version: string, pair: KeyPair) => {
      put(join(directory, version), pair);
      symlinkSync(version, join(directory, '..new'));
      renameSync(join(directory, '..new'), join(directory, '..data'));
    };
    swap('..1', a);
    for (const name of ['tls.crt', 'tls.key']) symlinkSync(`..data/${name}`, join(directory, name));
    const files = { certificate: join(directory, 'tls.crt'), key: join(directory, 'tls.key'), clientCa: '' };
    let notify: (key: string) => void = () => undefined;
    const stopping = new AbortController();
    const anHour = 3_600_000;
    const clock = createSystemClock();
    const supervisor = createTestSupervisor(clock);
    const deps = { clock, log, supervisor, inotify: host.files.inotify, everyMs: anHour };
    const watching = watchTlsFiles(
      files,
      await readTlsMaterial(files),
      { ...deps, onChange: ({ key }) => notify(key) },
      stopping.signal,
    );
    const after = async (change: () => void): Promise<string> => {
      const { promise, resolve } = Promise.withResolvers<string>();
      notify = resolve;
      change();
      return await promise;
    };
    assert.equal(await after(() => swap('..2', b)), b.key);
    rmSync(join(directory, '..1'), { recursive: true });
    assert.equal(await after(() => swap('..3', c)), c.key, 'a second time');
    assert.equal(await after(() => put(join(directory, '..3'), d)), d.key, 'written where the link leads to');
    const moveIn = () => {
      put(join(directory, 'new'), e);
      for (const name of ['tls.key', 'tls.crt']) renameSync(join(directory, 'new', name), join(directory, name));
    };
    assert.equal(await after(moveIn), e.key, 'files in place of the links');
    stopping.abort(new Error('over'));
    await watching;
  });
});
