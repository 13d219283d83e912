/** Runs the bundle once with the given arguments and keeps what was compiled: `node warm-up-main.ts BUNDLE OUTPUT [FLAG…]`. A kubelet that is up is ended. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import v8 from 'node:v8';
import { compileBundle } from './compile.ts';

const HEALTH = { host: '127.0.0.1', port: 10248 };
const LOOK_AGAIN_MS = 20;

const [bundle = '', output = '', ...flags] = process.argv.slice(2);
const { script, run } = compileBundle(readFileSync(bundle, 'latin1'), bundle, undefined);
// Compiled code fits only the flags under which it was kept: here the kubelet must not change them.
v8.setFlagsFromString = () => undefined;
process.on('exit', () => writeFileSync(output, script.createCachedData()));
process.argv = [process.execPath, bundle, ...flags];
run(createRequire(bundle));
if (!flags.includes('--version')) endWhenUp();

/** The health port is the last thing that a kubelet opens. */
function endWhenUp(): void {
  const socket = connect(HEALTH);
  socket.once('error', () => setTimeout(endWhenUp, LOOK_AGAIN_MS));
  socket.once('connect', () => socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'));
  socket.once('data', () => process.kill(process.pid, 'SIGTERM'));
}
