/** `/logs/`: files of the node's logs, and, if enabled, queries of services in the journal or in their files. */

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { basename } from 'node:path';
import { createGzip } from 'node:zlib';
import { invalid } from '../../api/field-error.ts';
import { formatHttpDate } from '../../api/http-date.ts';
import type { Clock } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import { withDeadline } from '../../base/signal.ts';
import type { GuardedFiles } from '../../host/guarded-files.ts';
import { streamProgram } from '../../host/streamed-program.ts';
import { type Exchange, errorPage, type Route } from '../routes.ts';
import { type NodeFile, openNodeFile } from './node-files.ts';
import { contentType, directoryPage, parseRange } from './rules/file-page.ts';
import {
  joinErrors,
  journalArguments,
  logFilesOf,
  type NodeLogQuery,
  parseNodeLogQuery,
  validateNodeLogQuery,
} from './rules/node-log-query.ts';
import { createResponseWriter, type WriteResponse } from './write-response.ts';

export interface NodeLogDeps {
  readonly clock: Clock;
  readonly files: GuardedFiles;
  /** The environment of programs. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface NodeLogConfig {
  /** Usually /var/log. */
  readonly directory: string;
  /** The gate NodeLogQuery and enableSystemLogQuery. */
  readonly query: boolean;
}

const JOURNAL = 'journalctl';
const QUERY_DEADLINE_MS = 30_000;
const FIRST_BYTES = 512;

export function createNodeLogRoute(deps: NodeLogDeps, config: NodeLogConfig): Route {
  return {
    name: 'logs',
    methods: ['GET'],
    pattern: '/logs/{path:*}',
    access: { subresource: 'log', verb: 'method' },
    port: 'secure',
    switch: 'systemLogs',
    handle: (exchange) => answerLogs(deps, config, exchange),
  };
}

async function answerLogs(deps: NodeLogDeps, config: NodeLogConfig, exchange: Exchange): Promise<void> {
  const path = exchange.parameters['path'] ?? '';
  const parsed = config.query ? parseNodeLogQuery(exchange.query) : ({ kind: 'none' } as const);
  if (parsed.kind === 'undecodable') {
    exchange.answer(errorPage(400, parsed.text));
    return;
  }
  if (parsed.kind === 'none') {
    await giveFile(deps, config.directory, path, exchange);
    return;
  }
  if (path !== '') {
    exchange.answer(errorPage(406, 'path not allowed in query mode'));
    return;
  }
  const { query } = parsed;
  const [file] = query.files;
  const errors = validateNodeLogQuery(query);
  if (errors.length > 0) exchange.answer(errorPage(406, joinErrors(errors)));
  else if (file === undefined) await answerQuery(deps, config.directory, query, exchange);
  else await giveQueriedFile(deps, config.directory, file.replaceAll('\\', '/'), exchange);
}

async function giveQueriedFile(
  { files }: NodeLogDeps,
  directory: string,
  file: string,
  exchange: Exchange,
): Promise<void> {
  const found = await openNodeFile(files, directory, file);
  if (found.kind === 'missing') {
    const problem = invalid('query', [file], `statat ${file}: no such file or directory`);
    exchange.answer(errorPage(406, joinErrors([problem])));
    return;
  }
  await give(found, basename(file), exchange);
}

async function giveFile({ files }: NodeLogDeps, directory: string, path: string, exchange: Exchange): Promise<void> {
  if (path.split('/').includes('..')) {
    exchange.answer(errorPage(400, 'invalid URL path'));
    return;
  }
  const found = await openNodeFile(files, directory, path);
  if (found.kind === 'directory' && path !== '' && !path.endsWith('/')) {
    exchange.answer({ status: 301, headers: { Location: `${encodeURIComponent(basename(path))}/` } });
    return;
  }
  await give(found, basename(path), exchange);
}

async function give(found: NodeFile, name: string, exchange: Exchange): Promise<void> {
  if (found.kind === 'missing') exchange.answer(errorPage(404, '404 page not found'));
  else if (found.kind === 'directory') {
    exchange.answer({ status: 200, body: directoryPage(found.names), type: 'text/html; charset=utf-8' });
  } else {
    try {
      await giveContent(found, name, exchange);
    } finally {
      await found.handle.close();
    }
  }
}

async function giveContent(
  { handle, size, changedAt }: NodeFile & { kind: 'file' },
  name: string,
  { request, response, answer, signal }: Exchange,
): Promise<void> {
  const range = parseRange(request.headers.range, size);
  if (range === 'none') {
    const headers = { 'Content-Range': `bytes */${size}` };
    answer({ ...errorPage(416, 'invalid range: failed to overlap'), headers });
    return;
  }
  const first = Buffer.alloc(FIRST_BYTES);
  const { bytesRead } = await handle.read(first, 0, FIRST_BYTES, 0);
  const { from, to } = range ?? { from: 0, to: size };
  response.writeHead(range === undefined ? 200 : 206, {
    'Content-Type': contentType(name, first.subarray(0, bytesRead)),
    'Content-Length': String(to - from),
    'Accept-Ranges': 'bytes',
    'X-Content-Type-Options': 'nosniff',
    'Last-Modified': formatHttpDate(changedAt),
    ...(range && { 'Content-Range': `bytes ${from}-${to - 1}/${size}` }),
  });
  const writer = createResponseWriter(response);
  if (to > from) {
    // Not more than the announced length, although the file may grow.
    const content = handle.createReadStream({ start: from, end: to - 1, autoClose: false, signal });
    for await (const bytes of content as AsyncIterable<Buffer>) await writer.write(bytes);
  }
  writer.end();
}

async function answerQuery(
  { clock, environment, files }: NodeLogDeps,
  directory: string,
  query: NodeLogQuery,
  { request, response, signal }: Exchange,
): Promise<void> {
  using limit = withDeadline(clock, QUERY_DEADLINE_MS, 'query of logs', signal);
  const isPacked = request.headers['accept-encoding'] === 'gzip';
  response.writeHead(200, {
    'Content-Type': 'text/plain;charset=UTF-8',
    'X-Content-Type-Options': 'nosniff',
    ...(isPacked && { 'Content-Encoding': 'gzip' }),
  });
  const output = openOutput(response, isPacked);
  const search = { environment, files, directory, write: output.write, signal: limit.signal };
  await copyLogs(search, query);
  await output.end();
}

function openOutput(response: ServerResponse, isPacked: boolean): { write: WriteResponse; end(): Promise<void> } {
  const { write, end } = createResponseWriter(response);
  if (!isPacked) return { write, end: async () => end() };
  const packer = createGzip({ level: 1 });
  const sent = (async () => {
    for await (const bytes of packer as AsyncIterable<Buffer>) await write(bytes);
  })();
  // The next write or end reports the error; until then it needs a listener.
  sent.catch(() => undefined);
  return {
    write: async (bytes) => {
      if (!packer.write(bytes)) await Promise.race([once(packer, 'drain'), sent]);
    },
    end: async () => {
      packer.end();
      await sent;
      end();
    },
  };
}

interface Search {
  readonly environment: NodeLogDeps['environment'];
  readonly files: GuardedFiles;
  readonly directory: string;
  readonly write: WriteResponse;
  readonly signal: AbortSignal;
}

/** Errors from here on are part of the text: its beginning may have been sent already. */
async function copyLogs(search: Search, { services, options }: NodeLogQuery): Promise<void> {
  const units = await journalUnits(search);
  const inJournal = services.filter((service) => units.includes(`${service}.service`));
  const inFiles = services.filter((service) => !inJournal.includes(service));
  const say = (text: string) => search.write(Buffer.from(text));
  if (inJournal.length > 0) {
    const program = { path: JOURNAL, args: journalArguments(inJournal, options), environment: search.environment };
    await streamProgram(program, search.write, search.signal).catch(() =>
      say('\nerror: journal output not available\n'),
    );
  }
  if (inFiles.length > 0 && Object.keys(options).length > 0) {
    const names = `[${inFiles.join(' ')}]`;
    await say(`\noptions present and query resolved to log files for ${names}\ntry without specifying options\n`);
    return;
  }
  for (const service of inFiles) {
    const problem = await copyFile(search, service).catch(
      (error) => `error getting log for ${service}: ${describeError(error)}`,
    );
    if (problem !== undefined) await say(`\n${problem}\n`);
  }
}

/** All services in the journal; none without a journal. */
async function journalUnits({ environment, signal }: Search): Promise<string> {
  const parts: Buffer[] = [];
  const program = { path: JOURNAL, args: ['--field', '_SYSTEMD_UNIT'], environment };
  const code = await streamProgram(program, (bytes) => void parts.push(bytes), signal).catch(() => -1);
  return code === 0 ? Buffer.concat(parts).toString() : '';
}

async function copyFile({ files, directory, write, signal }: Search, service: string): Promise<string | undefined> {
  for (const path of logFilesOf(service)) {
    const found = await openNodeFile(files, directory, path);
    if (found.kind !== 'file') continue;
    const content = found.handle.createReadStream({ signal });
    for await (const bytes of content as AsyncIterable<Buffer>) await write(bytes);
    return undefined;
  }
  return `log not found for ${service}`;
}
