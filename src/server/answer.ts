/** Writes answers: through Node's response, or directly to the socket if an upgrade is refused. */
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Answer } from './routes.ts';

const TEXT = 'text/plain; charset=utf-8';
/** A client that reads nothing for this long does not wait for the answer. */
export const SLOWEST_CLIENT_MS = 60_000;

export function answerOn(response: ServerResponse, method: string, answer: Answer): void {
  if (response.destroyed) return;
  if (response.headersSent) {
    // Half the answer is sent: only a broken connection shows the client that the rest is missing.
    response.destroy();
    return;
  }
  const body = bytesOf(answer);
  response.setTimeout(SLOWEST_CLIENT_MS, () => response.destroy());
  response.writeHead(answer.status, headersOf(answer, body));
  response.end(method === 'HEAD' ? undefined : body);
}

export function answerRaw(socket: Socket, answer: Answer): void {
  if (socket.destroyed || socket.writableEnded) return;
  const body = bytesOf(answer);
  const headers = { ...headersOf(answer, body), Connection: 'close' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n`;
  socket.setTimeout(SLOWEST_CLIENT_MS, () => socket.destroy());
  socket.end(Buffer.concat([Buffer.from(head, 'latin1'), body]));
}

function bytesOf({ body = '' }: Answer): Uint8Array {
  return typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
}

function headersOf(answer: Answer, body: Uint8Array): Record<string, string> {
  return {
    'Content-Type': answer.type ?? TEXT,
    'Content-Length': String(body.length),
    // The answer may repeat parts of the request, and a browser must not interpret them as a page.
    'X-Content-Type-Options': 'nosniff',
    ...answer.headers,
  };
}
