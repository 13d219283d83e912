/** Run inside a node: echo-main.ts PORT MEGABYTES. Sends them to a server that sends them back; prints the milliseconds. */
import { connect } from 'node:net';

const PIECE = Buffer.alloc(1_000_000, 'x');

async function main([port, megabytes]: readonly string[]): Promise<void> {
  if (port === undefined || megabytes === undefined) throw new Error('usage: echo-main.ts PORT MEGABYTES');
  const wanted = Number(megabytes) * PIECE.length;
  const from = performance.now();
  const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
  const send = async () => {
    for (let left = Number(megabytes); left > 0; left -= 1) {
      if (!socket.write(PIECE)) await new Promise((resolve) => socket.once('drain', resolve));
    }
    socket.end();
  };
  const sending = send();
  let received = 0;
  for await (const part of socket) received += (part as Buffer).length;
  await sending;
  if (received !== wanted) throw new Error(`${received} bytes came back of ${wanted}`);
  process.stdout.write(String(performance.now() - from));
}

if (import.meta.main) await main(process.argv.slice(2));
