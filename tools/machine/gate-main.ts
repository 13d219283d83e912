/**
 * The gate into a world's network, run inside it: a Unix socket on which a caller names `host port` in one line and then talks
 * to that address as if it had connected by itself. The answer to the line is `ok` or the error's code.
 */
import { connect, createServer, type Socket } from 'node:net';

const LONGEST_LINE = 300;

function serve(caller: Socket): void {
  let head = Buffer.alloc(0);
  caller.on('error', () => caller.destroy());
  const onData = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\n');
    if (end < 0 && head.length < LONGEST_LINE) return;
    caller.off('data', onData);
    caller.pause();
    const [host = '', port = ''] = head.subarray(0, end).toString('utf8').split(' ');
    join(caller, { host, port: Number(port), rest: head.subarray(end + 1) });
  };
  caller.on('data', onData);
}

function join(caller: Socket, to: { host: string; port: number; rest: Buffer }): void {
  const target = connect({ host: to.host, port: to.port, allowHalfOpen: true });
  const refuse = (error: NodeJS.ErrnoException) => caller.end(`${error.code ?? error.message}\n`);
  target.once('error', refuse);
  target.once('connect', () => {
    target.off('error', refuse);
    target.on('error', () => caller.destroy());
    caller.on('close', () => target.destroy());
    target.on('close', () => caller.destroySoon());
    caller.write('ok\n');
    target.write(to.rest);
    caller.pipe(target);
    target.pipe(caller);
  });
}

const [socketPath] = process.argv.slice(2);
if (socketPath === undefined) throw new Error('usage: gate-main.ts SOCKET');
createServer({ allowHalfOpen: true }, serve).listen(socketPath, () => console.log('gate is open'));
